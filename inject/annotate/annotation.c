/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records ranges, marks and counters. nvtx-tool.c and annotate-calls.c call this file; this file
 * calls annotation-names.c, annotation-texts.c and the rings (inject/ring/producer.c).
 *
 * Each thread keeps its pushed ranges in its own memory, which grows as ranges nest. Started ranges
 * lie in one table. The id of a started range names its slot, so any thread can end the range
 * without a lock.
 */
#include <sys/mman.h>

#include "inject/annotate/annotation-names.h"
#include "inject/annotate/annotation.h"
#include "inject/capture/capture-link.h"
#include "inject/cuda/switch.h"
#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"
#include "inject/shim.h"

/*
 * Maximum time that the application waits until its pause or resume takes effect. Usually this
 * takes about 1 ms.
 */
#define SWITCH_NS   UINT64_C(2000000000)

#define FIRST_DEPTH 64u
/* A thread takes this many ids at once, because all threads share the counter of ids. */
#define IDS_AT_ONCE 4096u
#define SLOT_FREE   UINT64_C(0)
#define SLOT_BUSY   UINT64_C(1)
#define SLOT_PROBES 64u

/*
 * NVTX reserves one negative number for "no tool follows ranges"; any other negative number is an
 * error.
 */
#define LEVEL_ERROR (-1)

/* An open range, with its attributes at its begin. */
struct open_range {
	uint64_t time;
	uint64_t range_id;
	uint64_t payload;
	uint32_t epoch; /* epoch of the session that has the range's begin record; 0: none */
	uint32_t domain_key;
	uint32_t level;
	uint32_t thread; /* that began the range */
	uint32_t name;
	uint32_t domain;
	uint32_t category;
	uint32_t color;
	uint8_t payload_type;
	bool of_window; /* the range keeps a capture window open */
};

struct ts_ranges {
	uint64_t next_id, end_id; /* ids that the thread holds */
	uint32_t n;
	uint32_t n_allocated;
	uint32_t n_beyond; /* pushed beyond the limit of depth */
	struct open_range *open;
};

struct slot {
	uint64_t id;
	struct open_range range;
};

static struct {
	struct slot *slots; /* mapped when the first range starts */
	uint64_t last_id;
	pthread_key_t key; /* its destructor frees a thread's ranges */
	uint32_t has_key;
} annotations = {.last_id = IDS_AT_ONCE};

/* ---- ranges of a thread ---- */

static void ranges_free(struct ts_ranges *ranges)
{
	if (ranges->open)
		munmap(ranges->open, ranges->n_allocated * sizeof(*ranges->open));
	munmap(ranges, sizeof(*ranges));
}

/*
 * Called when a thread ends. Its open ranges stay open, because the shim does not invent an end.
 * Capture windows no longer wait for these ranges.
 */
static void thread_ended(void *value)
{
	const struct ts_ranges *ranges = value;

	for (uint32_t i = 0; i < ranges->n; i++) {
		const struct open_range *range = &ranges->open[i];

		if (range->epoch && range->epoch == ts_shim.epoch && range->of_window)
			ts_capture_link_range_ends();
	}
	if (ts_tls.ranges == value)
		ts_tls.ranges = NULL;
	ranges_free(value);
}

/*
 * True if the thread-specific key exists. has_key is 0: no key; 1: a thread is creating it; 2: it
 * exists. If it is 1, the calling thread does not record its range.
 */
static bool have_key(void)
{
	uint32_t state = 0;

	if (__atomic_load_n(&annotations.has_key, __ATOMIC_ACQUIRE) == 2)
		return true;
	if (!__atomic_compare_exchange_n(&annotations.has_key, &state, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE))
		return state == 2;
	state = pthread_key_create(&annotations.key, thread_ended) ? 0 : 2;
	__atomic_store_n(&annotations.has_key, state, __ATOMIC_RELEASE);
	return state == 2;
}

static struct ts_ranges *ranges_new(void)
{
	struct ts_ranges *ranges;

	if (!have_key())
		return NULL;
	ranges = ts_unlocked_map(sizeof(*ranges));
	if (!ranges)
		return NULL;
	if (pthread_setspecific(annotations.key, ranges)) {
		ranges_free(ranges);
		return NULL;
	}
	ts_tls.ranges = ranges;
	return ranges;
}

static struct ts_ranges *thread_ranges(void)
{
	return ts_likely(ts_tls.ranges != NULL) ? ts_tls.ranges : ranges_new();
}

static uint64_t take_id(struct ts_ranges *ranges)
{
	if (ts_unlikely(ranges->next_id == ranges->end_id)) {
		ranges->next_id =
			__atomic_fetch_add(&annotations.last_id, IDS_AT_ONCE, __ATOMIC_RELAXED);
		ranges->end_id = ranges->next_id + IDS_AT_ONCE;
	}
	return ranges->next_id++;
}

/*
 * Makes room for one more range. Returns false at the limit of depth or without memory; the caller
 * then only counts the range.
 */
static bool grow(struct ts_ranges *ranges)
{
	const uint32_t n = ranges->n_allocated ? ranges->n_allocated * 2 : FIRST_DEPTH;
	struct open_range *grown;

	if (n > TS_RANGES_MAX_DEPTH)
		return false;
	grown = ts_unlocked_map(n * sizeof(*grown));
	if (!grown)
		return false;
	if (ranges->open) {
		memcpy(grown, ranges->open, ranges->n * sizeof(*grown));
		munmap(ranges->open, ranges->n_allocated * sizeof(*grown));
	}
	ranges->open = grown;
	ranges->n_allocated = n;
	return true;
}

/*
 * Returns the innermost range of the domain, or NULL. The first range that the loop checks nearly
 * always matches.
 */
static struct open_range *innermost(struct ts_ranges *ranges, uint32_t domain_key)
{
	for (uint32_t i = ranges->n; i--;)
		if (ranges->open[i].domain_key == domain_key)
			return &ranges->open[i];
	return NULL;
}

/* ---- whether to record ---- */

/*
 * Each function that pushes, pops or records runs between enter() and leave(). If a signal handler
 * interrupted the shim's own code on this thread, enter() returns false, and the function does
 * nothing. A signal handler that pushes also pops, so the levels stay balanced.
 */
static bool enter(void)
{
	if (ts_unlikely(ts_tls.busy))
		return false;
	ts_tls.busy = TS_BUSY_IN_CALL;
	/* A signal handler that runs after this line finds the thread busy. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static void leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ts_tls.busy = TS_BUSY_NOT;
}

/*
 * Returns the calling thread's struct, to record the beginning of a range, a mark or a counter. If
 * no session exists, begins one. Returns NULL if nothing can be recorded.
 */
static struct ts_thread *ready_to_begin(struct ts_shim *shim)
{
	if (ts_unlikely(ts_names_gate(shim) == TS_GATE_CLOSED) &&
	    (__atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED) || !ts_shim_begin() ||
	     ts_names_gate(shim) == TS_GATE_CLOSED))
		return NULL;
	return ts_shim_is_recording(shim) && !ts_shim_is_stopped(shim) ? ts_names_thread(shim)
								       : NULL;
}

void ts_annotation_count(enum ts_loss_reason reason)
{
	struct ts_shim *shim = &ts_shim;

	if (ts_names_gate(shim) != TS_GATE_CLOSED)
		ts_session_count(shim->control, reason, 1);
}

/* ---- records ---- */

static uint32_t name_id(struct ts_shim *shim, struct ts_thread *thread,
			const struct ts_annotation *annotation)
{
	bool cut = annotation->cut;
	uint32_t id = TS_ID_UNKNOWN;

	if (annotation->registered)
		id = ts_texts_id(&shim->definitions, shim->epoch, annotation->registered);
	else if (annotation->text)
		id = ts_definitions_text_cached(&shim->definitions, &thread->strings,
						annotation->text, &cut);
	if (ts_unlikely(cut || annotation->cut))
		ts_thread_count(thread, TS_LOSS_TEXT_CUT, 1);
	if (ts_unlikely(annotation->malformed))
		ts_thread_count(thread, TS_LOSS_BAD_ANNOTATION, 1);
	return id;
}

static void fill(struct ts_record_annotation *out, const struct open_range *range, uint8_t action)
{
	out->range_id = range->range_id;
	out->payload = range->payload;
	out->name = range->name;
	out->domain = range->domain;
	out->category = range->category;
	out->color = range->color;
	out->stack = TS_ID_UNKNOWN;
	out->action = action;
	out->payload_type = range->payload_type;
	out->level = range->level < UINT16_MAX ? (uint16_t)range->level : UINT16_MAX;
}

static void describe(struct ts_shim *shim, struct ts_thread *thread,
		     const struct ts_annotation *annotation, struct open_range *ret_range)
{
	ret_range->payload = annotation->payload;
	ret_range->thread = thread->id;
	ret_range->name = name_id(shim, thread, annotation);
	ret_range->domain = ts_names_domain(shim, annotation->domain);
	ret_range->category = annotation->category;
	ret_range->color = annotation->color;
	ret_range->payload_type = annotation->payload_type;
}

static bool begins_window(const struct ts_shim *shim, const struct ts_annotation *annotation)
{
	const struct ts_text *registered = annotation->registered;

	if (ts_likely(!*shim->config.capture.range) || (!registered && !annotation->text))
		return false;
	return registered
		       ? ts_capture_link_range_begins(registered->bytes, registered->n_bytes)
		       : ts_capture_link_range_begins(annotation->text, strlen(annotation->text));
}

/* Records the beginning of a range. Returns whether the record lies in the ring. */
static bool record_begin(struct ts_shim *shim, struct ts_thread *thread, enum ts_record_type type,
			 struct open_range *range, uint8_t action)
{
	struct ts_record_annotation *out;

	range->time = ts_producer_ticks(&shim->producer);
	out = ts_thread_reserve(thread, type, sizeof(*out), shim->producer.clock, range->time);
	if (!out)
		return false;
	fill(out, range, action);
	ts_thread_commit(thread, sizeof(*out));
	return true;
}

static void record_over(struct ts_shim *shim, struct ts_thread *thread,
			const struct open_range *range, uint8_t action)
{
	const uint64_t end = ts_producer_ticks(&shim->producer);
	struct ts_record_range *out = ts_thread_reserve(thread, TS_RECORD_RANGE, sizeof(*out),
							shim->producer.clock, range->time);

	if (!out)
		return;
	fill(&out->as_begun, range, action);
	out->end = end;
	out->begin_thread = range->thread == thread->id ? 0 : range->thread;
	out->reserved = 0;
	ts_thread_commit(thread, sizeof(*out));
}

void ts_annotation_mark(const struct ts_annotation *annotation)
{
	struct ts_shim *shim = &ts_shim;
	struct open_range mark = {0};
	int saved_errno = errno;
	struct ts_thread *thread;

	if (!enter())
		return;
	thread = ready_to_begin(shim);
	if (thread) {
		describe(shim, thread, annotation, &mark);
		(void)record_begin(shim, thread, TS_RECORD_MARK, &mark, 0);
	}
	leave();
	errno = saved_errno;
}

/*
 * Adds an entry for a new range to the thread's list and returns it. Returns NULL if the range is
 * nested too deep.
 */
static struct open_range *follow(struct ts_ranges *ranges, uint32_t domain_key, int *ret_level)
{
	const struct open_range *around;
	struct open_range *range;

	if (ts_unlikely(!ranges))
		return NULL;
	if (ts_unlikely(ranges->n_beyond || (ranges->n == ranges->n_allocated && !grow(ranges)))) {
		/* n_beyond counts ranges without an entry; the next pops belong to those ranges. */
		*ret_level = (int)(ranges->n + ranges->n_beyond++);
		return NULL;
	}
	around = innermost(ranges, domain_key);
	*ret_level = around ? (int)around->level + 1 : 0;
	range = &ranges->open[ranges->n++];
	range->domain_key = domain_key;
	range->level = (uint32_t)*ret_level;
	range->epoch = 0;
	return range;
}

int ts_annotation_push(const struct ts_annotation *annotation)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno, level = LEVEL_ERROR;
	struct ts_thread *thread;
	struct ts_ranges *ranges;
	struct open_range *range;

	if (!enter())
		return LEVEL_ERROR;
	thread = ready_to_begin(shim);
	ranges = thread_ranges();
	range = follow(ranges, annotation->domain_key, &level);
	if (thread && ts_likely(range != NULL)) {
		range->range_id = take_id(ranges);
		describe(shim, thread, annotation, range);
		if (record_begin(shim, thread, TS_RECORD_RANGE_BEGIN, range, TS_RANGE_PUSH))
			range->epoch = shim->epoch;
		range->of_window = range->epoch && begins_window(shim, annotation);
	} else if (thread) {
		ts_thread_count(thread, TS_LOSS_BAD_ANNOTATION, 1);
	}
	leave();
	errno = saved_errno;
	return level;
}

/*
 * Removes the range from the thread's list and returns a copy of it. Ranges of other domains may
 * lie above it in the list.
 */
static struct open_range take_out(struct ts_ranges *ranges, struct open_range *range)
{
	struct open_range taken = *range;
	uint32_t i = (uint32_t)(range - ranges->open);

	ranges->n--;
	if (ts_unlikely(i < ranges->n))
		memmove(range, range + 1, (ranges->n - i) * sizeof(*range));
	return taken;
}

/*
 * Records the end of a range. A range whose begin was recorded also gets its end recorded, even if
 * recording is stopped. Any other range makes no record at its end.
 */
static void range_is_over(struct ts_shim *shim, const struct open_range *range, uint8_t action)
{
	struct ts_thread *thread;

	if (!range->epoch || range->epoch != shim->epoch)
		return;
	if (ts_unlikely(range->of_window))
		ts_capture_link_range_ends();
	thread = ts_names_thread(shim);
	if (thread)
		record_over(shim, thread, range, action);
}

int ts_annotation_pop(uint32_t domain_key)
{
	struct ts_ranges *ranges = ts_tls.ranges;
	int saved_errno = errno, level = LEVEL_ERROR;
	struct open_range *range, taken;

	if (!enter())
		return LEVEL_ERROR;
	range = ranges && !ranges->n_beyond ? innermost(ranges, domain_key) : NULL;
	if (ts_likely(range != NULL)) {
		taken = take_out(ranges, range);
		level = (int)taken.level;
		range_is_over(&ts_shim, &taken, TS_RANGE_PUSH);
	} else if (ranges && ranges->n_beyond) {
		level = (int)(ranges->n + --ranges->n_beyond);
	} else {
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	}
	leave();
	errno = saved_errno;
	return level;
}

/* ---- ranges that any thread ends ---- */

static struct slot *all_slots(void)
{
	struct slot *slots = __atomic_load_n(&annotations.slots, __ATOMIC_ACQUIRE), *none = NULL;
	const size_t n_bytes = TS_RANGES_MAX_OPEN * sizeof(*slots);

	if (ts_likely(slots != NULL))
		return slots;
	slots = ts_unlocked_map(n_bytes);
	if (!slots)
		return NULL;
	if (__atomic_compare_exchange_n(&annotations.slots, &none, slots, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return slots;
	munmap(slots, n_bytes);
	return none;
}

/* Returns a free slot, marked busy, and an id that names it. NULL: too many ranges are open. */
static struct slot *take_slot(struct ts_ranges *ranges, uint64_t *ret_id)
{
	struct slot *slots = all_slots();

	for (uint32_t i = 0; slots && i < SLOT_PROBES; i++) {
		uint64_t id = take_id(ranges), free_slot = SLOT_FREE;
		struct slot *slot = &slots[id % TS_RANGES_MAX_OPEN];

		/* Acquire pairs with the release in take_started(). */
		if (__atomic_load_n(&slot->id, __ATOMIC_RELAXED) == SLOT_FREE &&
		    __atomic_compare_exchange_n(&slot->id, &free_slot, SLOT_BUSY, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			*ret_id = id;
			return slot;
		}
	}
	return NULL;
}

static uint64_t start(struct ts_shim *shim, struct ts_thread *thread,
		      const struct ts_annotation *annotation)
{
	struct ts_ranges *ranges = thread_ranges();
	uint64_t id = 0;
	struct slot *slot = ranges ? take_slot(ranges, &id) : NULL;

	if (!slot) {
		ts_thread_count(thread, TS_LOSS_BAD_ANNOTATION, 1);
		return 0;
	}
	slot->range = (struct open_range){.range_id = id, .epoch = shim->epoch};
	describe(shim, thread, annotation, &slot->range);
	if (!record_begin(shim, thread, TS_RECORD_RANGE_BEGIN, &slot->range, TS_RANGE_START))
		id = SLOT_FREE;
	slot->range.of_window = id && begins_window(shim, annotation);
	/* Release pairs with the acquire in take_started(). */
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
	return id;
}

uint64_t ts_annotation_start(const struct ts_annotation *annotation)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;
	struct ts_thread *thread;
	uint64_t id = 0;

	if (!enter())
		return 0;
	thread = ready_to_begin(shim);
	if (thread)
		id = start(shim, thread, annotation);
	leave();
	errno = saved_errno;
	return id;
}

/*
 * Finds an open range by its id and removes it. Returns false if no range has this id, or if
 * another call has ended it.
 */
static bool take_started(uint64_t id, struct open_range *ret_range)
{
	struct slot *slots = __atomic_load_n(&annotations.slots, __ATOMIC_ACQUIRE), *slot;

	if (!slots || id <= SLOT_BUSY)
		return false;
	slot = &slots[id % TS_RANGES_MAX_OPEN];
	/* Acquire pairs with start(). If two threads end one range, one of them succeeds. */
	if (!__atomic_compare_exchange_n(&slot->id, &id, SLOT_BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	*ret_range = slot->range;
	/* Release pairs with the acquire in take_slot(). */
	__atomic_store_n(&slot->id, SLOT_FREE, __ATOMIC_RELEASE);
	return true;
}

void ts_annotation_end(uint64_t id)
{
	int saved_errno = errno;
	struct open_range taken;

	/* Id 0 means that the start was not recorded. */
	if (!id || !enter())
		return;
	if (take_started(id, &taken))
		range_is_over(&ts_shim, &taken, TS_RANGE_START);
	else
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	leave();
	errno = saved_errno;
}

void ts_annotation_counter(const struct ts_annotation *annotation, uint32_t value_type,
			   double value, int64_t integer)
{
	struct ts_shim *shim = &ts_shim;
	struct ts_record_counter *out;
	int saved_errno = errno;
	struct ts_thread *thread;
	uint32_t name, domain;

	if (!enter())
		return;
	thread = ready_to_begin(shim);
	if (thread) {
		name = name_id(shim, thread, annotation);
		domain = ts_names_domain(shim, annotation->domain);
		out = ts_thread_reserve(thread, TS_RECORD_COUNTER, sizeof(*out),
					shim->producer.clock, ts_producer_ticks(&shim->producer));
		if (out) {
			out->value = value_type == TS_PAYLOAD_I64 ? (double)integer : value;
			out->name = name;
			out->domain = domain;
			out->integer = value_type == TS_PAYLOAD_I64 ? integer : 0;
			out->value_type = value_type;
			out->reserved = 0;
			ts_thread_commit(thread, sizeof(*out));
		}
	}
	leave();
	errno = saved_errno;
}

/* ---- names ---- */

void ts_annotation_name(enum ts_name_kind kind, struct ts_domain *domain, uint64_t object,
			const char *name, size_t n_bytes)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;
	bool full, news;

	if (!enter())
		return;
	news = ts_texts_name(kind, domain, object, name, n_bytes, &full);
	if (full)
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	/* The text is registered, so this finds the entry with the same bytes. */
	if (news && ts_names_gate(shim) != TS_GATE_CLOSED)
		ts_names_publish(shim, kind, domain, object, ts_texts_register(name, n_bytes));
	leave();
	errno = saved_errno;
}

void ts_annotation_switch(bool on)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;

	if (__atomic_exchange_n(&ts_producer_stopped, !on, __ATOMIC_SEQ_CST) == !on || !enter())
		return;
	/*
	 * If another thread is setting CUPTI up, the flush thread that it starts reads the new
	 * state.
	 */
	if (ts_names_gate(shim) == TS_GATE_OPEN &&
	    __atomic_load_n(&shim->cuda_started, __ATOMIC_ACQUIRE) != 1) {
		/*
		 * If CUPTI is used, the flush thread carries out the pause or resume
		 * (cuda/switch.c). Calls that begin after this wait come after the change.
		 */
		if (__atomic_load_n(&shim->link.flushes, __ATOMIC_ACQUIRE)) {
			ts_flush_now(&shim->flush, 0, SWITCH_NS, SWITCH_NS);
		} else {
			shim->pause.paused = !on;
			shim->pause.by_application = true;
			ts_switch_record(shim, ts_producer_ticks(&shim->producer));
		}
	}
	leave();
	errno = saved_errno;
}
