/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of sampled launches, copies and sets, for runtimes that report no finished work. A pair of
 * events stands around the call, in the call's stream. hip-calls.c calls this file at the entry and
 * the return of calls, hip-session.c at flushes and at the end. This file calls the runtime's own
 * functions and hip-rows.c.
 *
 *	entry  -> record the start event      FREE -> FILLING
 *	return -> record the stop event       FILLING -> PENDING
 *	later  -> query, read, write the row  PENDING -> FILLING -> FREE
 *
 * HIP gives differences of events alone, as a float of milliseconds. A reference event of each
 * device links them to the host's clock: its time lies in an interval. The first one is polled in
 * an idle stream. Each pair narrows the interval: its start follows the call of hipEventRecord(),
 * and its stop precedes the query that succeeds. A start event replaces the reference after
 * REFERENCE_NS, because a float of a long difference is coarse.
 *
 * The application's work stays as it is:
 *
 * - No event enters a stream while a stream capture is active, or while a call begins one.
 * - An event in the legacy stream waits for all blocking streams, and their later work waits for
 *   the event. So the legacy stream is not timed once the process has created a blocking stream.
 * - The events have no flag. With hipEventDisableSystemFence the runtime may answer
 *   hipStreamQuery() by the event, without making the kernel's results visible to the host.
 * - Own calls replace the thread's last error, also on success. If it holds an error that the
 *   application has not read, there is no own call; an error of an own call is taken away.
 * - TRACESMITH_TIMED_LAUNCHES limits the pairs in a second.
 */
#include <math.h>

#include "inject/annotate/annotation-names.h"
#include "inject/calls/call-record.h"
#include "inject/context.h"
#include "inject/hip/hip-arguments.h"
#include "inject/hip/hip-recorder.h"
#include "inject/hip/hip-slots.h"
#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"

#define MAX_PAIRS   256u
#define MAX_TRIES   16u /* pairs that a call looks at to find a free one */
#define MAX_DEVICES 64u

/* Pairs that are not finished, until a call stops to ask for more. */
#define MAX_UNFINISHED 8u
/* Pairs that wait, until a launch asks for finished ones. */
#define MANY_PAIRS (MAX_PAIRS / 4)

#define SECOND_NS  UINT64_C(1000000000)
/* Longest poll for the first reference of a device, and the number of polls. */
#define POLL_NS	  UINT64_C(1000000)
#define MAX_POLLS 3u
/* A reference is replaced after this time. Meanwhile the two clocks drift apart by at most this. */
#define REFERENCE_NS INT64_C(1000000000)
#define DRIFT_NS     INT64_C(20000)
/* A float has 24 bits: the error of a difference. */
#define FLOAT_SHIFT 24
/* The end waits for another thread that reads pairs. */
#define READER_NS UINT64_C(200000000)

enum state {
	FREE = 0,
	FILLING = 1, /* a call or a reader has it */
	PENDING = 2,
};

struct pair {
	uint32_t state;
	uint32_t device; /* of the events */
	void *start, *stop;
	uint64_t op_id;
	uint64_t submitted_ns; /* before the start event was recorded */
	uint64_t entered_ns;   /* after the row's start, before the runtime's call */
	uint32_t op, kind;     /* of the record */
	/* while a reader has it, finished */
	uint64_t finished_ns; /* when the query succeeded */
	int64_t since_ns;     /* from the reference to the start */
	int64_t length_ns;
};

/* Where the reference lies on CLOCK_MONOTONIC. */
struct reference {
	void *event; /* NULL: none yet */
	int64_t earliest, latest;
	uint32_t n_polls;
};

struct ts_hip_events {
	uint32_t next;	       /* pair that the next call tries first */
	uint32_t n_pending;    /* pairs with recorded stop */
	uint32_t has_blocking; /* 1: a blocking stream was or is created */
	uint32_t n_capturing;  /* calls in progress that begin a stream capture */
	uint32_t is_reading;   /* lock of `references`, and of readers */
	uint64_t interval_ns;  /* of pairs, at the rate that the process may have */
	uint64_t next_ns;      /* time of the next pair at that rate */
	struct reference references[MAX_DEVICES];
	struct pair pairs[MAX_PAIRS];
};

/* ---- the runtime ----------------------------------------------------------------------------- */

/* True if the calling thread may call the runtime. */
static bool may_call(const struct ts_shim *shim)
{
	hipPeekAtLastError_fn *peek_error = ts_hip_next(hipPeekAtLastError);

	return !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&shim->hip.events->n_capturing, __ATOMIC_SEQ_CST) && peek_error &&
	       !peek_error();
}

/* Takes away the error of an own call. Returns the call's success. */
static bool succeeded(int32_t result)
{
	hipGetLastError_fn *reset_error = ts_hip_next(hipGetLastError);

	if (result)
		(void)reset_error();
	return !result;
}

static bool create(void **event)
{
	hipEventCreateWithFlags_fn *create_event = ts_hip_next(hipEventCreateWithFlags);

	if (*event)
		return true;
	if (succeeded(create_event(event, TS_HIP_EVENT_DEFAULT)))
		return true;
	*event = NULL;
	return false;
}

static void destroy(void **event)
{
	hipEventDestroy_fn *destroy_event = ts_hip_next(hipEventDestroy);

	if (*event)
		(void)succeeded(destroy_event(*event));
	*event = NULL;
}

static bool enqueue(void *event, void *stream)
{
	hipEventRecord_fn *record = ts_hip_next(hipEventRecord);

	return succeeded(record(event, stream));
}

static bool difference_ns(void *from, void *to, int64_t *ret)
{
	hipEventElapsedTime_fn *elapsed = ts_hip_next(hipEventElapsedTime);
	float ms;

	if (!succeeded(elapsed(&ms, from, to)) || !isfinite(ms))
		return false;
	*ret = (int64_t)((double)ms * 1e6 + (ms < 0 ? -0.5 : 0.5));
	return true;
}

/* ---- references ------------------------------------------------------------------------------ */

/* Acquire and release: readers pair with each other. */
static bool lock(struct ts_hip_events *events)
{
	return !__atomic_exchange_n(&events->is_reading, 1, __ATOMIC_ACQUIRE);
}

static void unlock(struct ts_hip_events *events)
{
	__atomic_store_n(&events->is_reading, 0, __ATOMIC_RELEASE);
}

/*
 * Records the device's first reference in an idle stream, and polls it. A stream with work keeps
 * the poll waiting; pairs then show where the reference lies.
 */
static void poll_reference(struct ts_hip_events *events, uint32_t device, void *stream)
{
	hipEventQuery_fn *query = ts_hip_next(hipEventQuery);
	struct reference *reference = &events->references[device];
	uint64_t before, now;
	void *event = NULL;
	bool is_done = false;

	if (reference->n_polls == MAX_POLLS || !create(&event))
		return;
	reference->n_polls++;
	before = ts_clock_monotonic_ns();
	if (enqueue(event, stream)) {
		do {
			is_done = succeeded(query(event));
			now = ts_clock_monotonic_ns();
		} while (!is_done && now - before < POLL_NS);
	}
	if (is_done) {
		reference->earliest = (int64_t)before;
		reference->latest = (int64_t)now;
		__atomic_store_n(&reference->event, event, __ATOMIC_RELAXED);
	} else {
		destroy(&event);
	}
}

/* Narrows the interval of a reference. If the two contradict, the clocks have drifted. */
static void narrow(struct reference *reference, int64_t earliest, int64_t latest)
{
	if (earliest > reference->latest || latest < reference->earliest) {
		reference->earliest = earliest;
		reference->latest = latest;
		return;
	}
	if (earliest > reference->earliest)
		reference->earliest = earliest;
	if (latest < reference->latest)
		reference->latest = latest;
}

/* Makes the pair's start event the reference, `since` after the one before. */
static void set_reference(struct reference *reference, struct pair *pair)
{
	const int64_t drift = reference->event ? DRIFT_NS : 0;
	void *old = reference->event;

	reference->earliest += pair->since_ns - drift;
	reference->latest += pair->since_ns + drift;
	__atomic_store_n(&reference->event, pair->start, __ATOMIC_RELAXED);
	pair->start = NULL;
	destroy(&old);
}

/* Measures a finished pair, which narrows the reference. Returns false if it has no times. */
static bool measure(struct ts_hip_events *events, struct pair *pair, uint64_t now)
{
	struct reference *reference = &events->references[pair->device];
	int64_t earliest = (int64_t)pair->submitted_ns, latest;

	pair->finished_ns = now;
	pair->since_ns = 0;
	if (!difference_ns(pair->start, pair->stop, &pair->length_ns) || pair->length_ns < 0)
		return false;
	latest = (int64_t)now - pair->length_ns;
	if (!reference->event) {
		reference->earliest = earliest;
		reference->latest = latest;
		set_reference(reference, pair);
		return true;
	}
	if (!difference_ns(reference->event, pair->start, &pair->since_ns))
		return false;
	narrow(reference, earliest - pair->since_ns, latest - pair->since_ns);
	return true;
}

/* Converts a measured pair to CLOCK_MONOTONIC. */
static void convert(struct ts_shim *shim, const struct pair *pair, uint64_t *ret_begin,
		    uint64_t *ret_end)
{
	const struct reference *reference = &shim->hip.events->references[pair->device];
	const int64_t since = pair->since_ns;
	int64_t error = (reference->latest - reference->earliest) / 2;
	const int64_t begin = reference->earliest + error + since, end = begin + pair->length_ns;

	error += (since < 0 ? -since : since) >> FLOAT_SHIFT;
	if ((uint64_t)error > __atomic_load_n(&shim->control->hip_time_error_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&shim->control->hip_time_error_ns, (uint64_t)error,
				 __ATOMIC_RELAXED);
	/* The start event of an idle stream is over before the work is there. */
	*ret_begin = begin > (int64_t)pair->entered_ns ? (uint64_t)begin : pair->entered_ns;
	*ret_end = end < (int64_t)pair->finished_ns ? (uint64_t)end : pair->finished_ns;
	if (*ret_end < *ret_begin)
		*ret_end = *ret_begin;
}

/* ---- finished pairs -------------------------------------------------------------------------- */

static void release(struct pair *pair)
{
	/* Pairs with the acquire in claim(). */
	__atomic_store_n(&pair->state, FREE, __ATOMIC_RELEASE);
}

/* The work of a pair gets no row. */
static void lose(struct ts_shim *shim, uint64_t op_id)
{
	ts_hip_works_done(&shim->hip.works, op_id);
	ts_session_count(shim->control, TS_LOSS_UNTIMED, 1);
}

/* Takes a pending pair for the caller alone. */
static bool take(struct ts_hip_events *events, struct pair *pair)
{
	uint32_t pending = PENDING;

	if (__atomic_load_n(&pair->state, __ATOMIC_RELAXED) != PENDING ||
	    !__atomic_compare_exchange_n(&pair->state, &pending, FILLING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	__atomic_fetch_sub(&events->n_pending, 1, __ATOMIC_RELAXED);
	return true;
}

static void give_back(struct ts_hip_events *events, struct pair *pair)
{
	__atomic_fetch_add(&events->n_pending, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in take(). */
	__atomic_store_n(&pair->state, PENDING, __ATOMIC_RELEASE);
}

enum answer {
	UNFINISHED,
	FINISHED,
	LOST,
};

static enum answer ask(struct ts_shim *shim, struct pair *pair)
{
	hipEventQuery_fn *query = ts_hip_next(hipEventQuery);
	const int32_t result = query(pair->stop);
	const uint64_t now = ts_clock_monotonic_ns();

	if (!succeeded(result) && result == TS_HIP_ERROR_NOT_READY)
		return UNFINISHED;
	if (!result && measure(shim->hip.events, pair, now))
		return FINISHED;
	/* The events belong to a device that was reset. */
	lose(shim, pair->op_id);
	pair->start = pair->stop = NULL;
	return LOST;
}

static void write_row(struct ts_shim *shim, const struct pair *pair)
{
	struct ts_hip_activity_record record = {
		.domain = TS_HIP_ACTIVITY_DOMAIN_OPS,
		.kind = pair->kind,
		.op = pair->op,
		.correlation_id = pair->op_id,
	};

	convert(shim, pair, &record.begin_ns, &record.end_ns);
	/* As times of the hardware. */
	record.begin_ns += shim->hip.ahead_ns;
	record.end_ns += shim->hip.ahead_ns;
	ts_hip_deliver(&record);
}

/*
 * Oldest first. Holds the lock. Rows are written when all finished pairs have narrowed their
 * reference. all: asks for each pair, however many are not finished.
 */
static void read_pairs(struct ts_shim *shim, bool all)
{
	struct ts_hip_events *events = shim->hip.events;
	const uint32_t oldest = __atomic_load_n(&events->next, __ATOMIC_RELAXED);
	struct pair *finished[MAX_PAIRS];
	uint32_t n_unfinished = 0, n = 0;
	uint64_t moved = 0; /* devices */

	for (uint32_t i = 0; i < MAX_PAIRS && (all || n_unfinished < MAX_UNFINISHED); i++) {
		struct pair *pair = &events->pairs[(oldest + i) % MAX_PAIRS];
		enum answer answer;

		if (!take(events, pair))
			continue;
		answer = ask(shim, pair);
		if (answer == FINISHED) {
			finished[n++] = pair;
		} else if (answer == UNFINISHED) {
			give_back(events, pair);
			n_unfinished++;
		} else {
			release(pair);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		write_row(shim, finished[i]);
	/* From the newest on. The others were measured from the old reference. */
	for (uint32_t i = n; i-- > 0;) {
		const uint64_t bit = UINT64_C(1) << finished[i]->device;

		if (finished[i]->since_ns > REFERENCE_NS && !(moved & bit)) {
			set_reference(&events->references[finished[i]->device], finished[i]);
			moved |= bit;
		}
		release(finished[i]);
	}
}

void ts_hip_events_read(struct ts_shim *shim, bool all)
{
	struct ts_hip_events *events = shim->hip.events;

	if (!events || !__atomic_load_n(&events->n_pending, __ATOMIC_RELAXED) || !may_call(shim) ||
	    !lock(events))
		return;
	read_pairs(shim, all);
	unlock(events);
}

void ts_hip_events_end(struct ts_shim *shim)
{
	struct ts_hip_events *events = shim->hip.events;
	const uint64_t began = ts_clock_monotonic_ns();
	const struct timespec step = {.tv_nsec = 100000};

	if (!events)
		return;
	while (!lock(events)) {
		if (ts_clock_monotonic_ns() - began > READER_NS)
			return;
		nanosleep(&step, NULL);
	}
	/* After exit() has begun, the lock stays: a later reader may find a runtime torn down. */
	if (!__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE))
		unlock(events);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* True if the rate allows a further pair. Two threads may both get the last one. */
static bool spend(struct ts_hip_events *events)
{
	const uint64_t now = ts_clock_monotonic_ns();
	uint64_t next = __atomic_load_n(&events->next_ns, __ATOMIC_RELAXED);

	if (!events->interval_ns || next > now)
		return false;
	/* Unused pairs of the last second may follow each other. */
	if (next + SECOND_NS < now)
		next = now - SECOND_NS;
	__atomic_store_n(&events->next_ns, next + events->interval_ns, __ATOMIC_RELAXED);
	return true;
}

/* Returns a free pair with events of the device; NULL: none. */
static struct pair *claim(struct ts_hip_events *events, uint32_t device)
{
	for (uint32_t i = 0; i < MAX_TRIES; i++) {
		const uint32_t n = __atomic_fetch_add(&events->next, 1, __ATOMIC_RELAXED);
		struct pair *pair = &events->pairs[n % MAX_PAIRS];
		uint32_t is_free = FREE;

		/* Acquire: pairs with the release in release(). */
		if (!__atomic_compare_exchange_n(&pair->state, &is_free, FILLING, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		if (pair->device != device) {
			destroy(&pair->start);
			destroy(&pair->stop);
			pair->device = device;
		}
		if (create(&pair->start) && create(&pair->stop))
			return pair;
		release(pair);
		return NULL;
	}
	return NULL;
}

/* Stores the handle for the call's stream. Returns false if events there may change the order. */
static bool find_stream(struct ts_hip_events *events, uint32_t call, const void *params, void **ret)
{
	const struct ts_hip_stream stream = ts_hip_stream_of(call, params);

	*ret = stream.handle;
	if (!stream.handle && stream.per_thread)
		*ret = TS_HIP_STREAM_PER_THREAD;
	/* The runtime creates this stream, a blocking one, at its first use. */
	if (*ret == TS_HIP_STREAM_PER_THREAD)
		__atomic_store_n(&events->has_blocking, 1, __ATOMIC_SEQ_CST);
	if (*ret && *ret != TS_HIP_STREAM_LEGACY)
		return true;
	return !__atomic_load_n(&events->has_blocking, __ATOMIC_SEQ_CST);
}

static uint32_t begin_pair(struct ts_shim *shim, uint32_t call, const void *params, uint32_t device)
{
	struct ts_hip_events *events = shim->hip.events;
	struct pair *pair;
	void *stream;

	if (device >= MAX_DEVICES || __atomic_load_n(&shim->flushed, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&shim->hip.stopped, __ATOMIC_RELAXED) ||
	    !find_stream(events, call, params, &stream) || !spend(events) || !may_call(shim))
		return 0;
	if (!__atomic_load_n(&events->references[device].event, __ATOMIC_RELAXED) && lock(events)) {
		if (!events->references[device].event)
			poll_reference(events, device, stream);
		unlock(events);
	}
	if (__atomic_load_n(&events->n_pending, __ATOMIC_RELAXED) >= MANY_PAIRS)
		ts_hip_events_read(shim, false);
	pair = claim(events, device);
	if (!pair)
		return 0;
	pair->submitted_ns = ts_clock_monotonic_ns();
	/* Fails for a stream of another device than the current one. */
	if (!enqueue(pair->start, stream)) {
		release(pair);
		return 0;
	}
	return (uint32_t)(pair - events->pairs) + 1;
}

/* Before hipDeviceReset(): the device's events go with it. */
static void forget(struct ts_shim *shim, uint32_t device)
{
	struct ts_hip_events *events = shim->hip.events;

	if (device >= MAX_DEVICES || !may_call(shim) || !lock(events))
		return;
	read_pairs(shim, true);
	for (uint32_t i = 0; i < MAX_PAIRS; i++) {
		struct pair *pair = &events->pairs[i];
		uint32_t is_free = FREE;

		if (pair->device != device)
			continue;
		if (take(events, pair))
			lose(shim, pair->op_id);
		else if (!__atomic_compare_exchange_n(&pair->state, &is_free, FILLING, false,
						      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		destroy(&pair->start);
		destroy(&pair->stop);
		release(pair);
	}
	destroy(&events->references[device].event);
	events->references[device].n_polls = 0;
	unlock(events);
}

uint32_t ts_hip_events_enter(struct ts_shim *shim, uint32_t call, const void *params,
			     uint32_t device)
{
	struct ts_hip_events *events = shim->hip.events;
	const unsigned kind = ts_call_table_class(TS_API_HIP, call);
	uint32_t flags = 0;
	int32_t priority;

	switch (kind) {
	case TS_CUPTI_CLASS_LAUNCH:
		return begin_pair(shim, call, params, device);
	case TS_CUPTI_CLASS_MEMCPY:
	case TS_CUPTI_CLASS_MEMSET:
		return ts_call_table_expect_device(TS_API_HIP, call, params)
			       ? begin_pair(shim, call, params, device)
			       : 0;
	case TS_CUPTI_CLASS_CONTEXT:
		if (call == TS_HIP_CALL_hipDeviceReset)
			forget(shim, device);
		else if (call == TS_HIP_CALL_hipDevicePrimaryCtxReset)
			forget(shim, *(const uint32_t *)params);
		return 0;
	default:
		break;
	}
	if (ts_call_table_stream_create(TS_API_HIP, call, params, &flags, &priority) &&
	    !(flags & TS_HIP_STREAM_NON_BLOCKING))
		__atomic_store_n(&events->has_blocking, 1, __ATOMIC_SEQ_CST);
	else if (ts_call_table_stream_capture(TS_API_HIP, call) > 0)
		__atomic_fetch_add(&events->n_capturing, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ts_hip_events_entered(struct ts_shim *shim, uint32_t number)
{
	shim->hip.events->pairs[number - 1].entered_ns = ts_clock_monotonic_ns();
}

bool ts_hip_events_leave(struct ts_shim *shim, uint32_t number, uint32_t call, const void *params,
			 int32_t result)
{
	struct ts_hip_events *events = shim->hip.events;
	struct pair *pair;
	void *stream;

	if (!number)
		return false;
	pair = &events->pairs[number - 1];
	if (result || !find_stream(events, call, params, &stream) || !may_call(shim) ||
	    !enqueue(pair->stop, stream)) {
		release(pair);
		return false;
	}
	pair->op_id = ts_tls.call.op_id;
	pair->op = ts_call_table_class(TS_API_HIP, call) == TS_CUPTI_CLASS_LAUNCH
			   ? TS_HIP_ACTIVITY_OP_DISPATCH
			   : TS_HIP_ACTIVITY_OP_COPY;
	switch (ts_call_table_class(TS_API_HIP, call)) {
	case TS_CUPTI_CLASS_LAUNCH:
		pair->kind = TS_HIP_COMMAND_NDRANGE_KERNEL;
		break;
	case TS_CUPTI_CLASS_MEMSET:
		pair->kind = TS_HIP_COMMAND_FILL_BUFFER;
		break;
	default:
		/* The call has the direction: only such copies have a pair. */
		pair->kind = TS_HIP_COMMAND_COPY_BUFFER;
	}
	give_back(events, pair);
	return true;
}

void ts_hip_events_captured(struct ts_shim *shim)
{
	__atomic_fetch_sub(&shim->hip.events->n_capturing, 1, __ATOMIC_SEQ_CST);
}

void ts_hip_events_cancel(struct ts_shim *shim, uint32_t number)
{
	if (number)
		release(&shim->hip.events->pairs[number - 1]);
}

bool ts_hip_events_install(struct ts_shim *shim)
{
	const uint32_t rate = shim->config.timed_per_second;
	struct ts_hip_events *events;

	if (!rate || !ts_hip_next(hipEventCreateWithFlags) || !ts_hip_next(hipEventDestroy) ||
	    !ts_hip_next(hipEventRecord) || !ts_hip_next(hipEventQuery) ||
	    !ts_hip_next(hipEventElapsedTime) || !ts_hip_next(hipPeekAtLastError) ||
	    !ts_hip_next(hipGetLastError))
		return false;
	events = ts_unlocked_map(sizeof(*events));
	if (!events)
		return false;
	events->interval_ns = SECOND_NS / rate;
	/* Earlier calls, with an error unread, may have created a blocking stream. */
	events->has_blocking = __atomic_load_n(&shim->hip.n_streams, __ATOMIC_RELAXED) != 0;
	ts_hip_read_clocks(shim);
	*(void **)&shim->hip.name_of_function = ts_hip_next(hipKernelNameRef);
	*(void **)&shim->hip.name_of_pointer = ts_hip_next(hipKernelNameRefByPtr);
	/* Release: pairs with the acquire in ts_hip_enter(). */
	__atomic_store_n(&shim->hip.events, events, __ATOMIC_RELEASE);
	ts_names_note(shim,
		      "GPU times are those of a sample of the work, by pairs of HIP's events");
	return true;
}
