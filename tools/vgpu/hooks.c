// SPDX-License-Identifier: Apache-2.0
/*
 * The dispatcher between libcuda's facade and the one sink that libcupti attaches. The dispatcher
 * assigns correlation ids, tracks nested calls, and makes attaching and detaching safe while other
 * threads make calls. The dispatcher is linked into libcuda; libcuda, libcudart and libcupti call
 * this file. So the three libraries share one path, and none holds another's lock.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tools/vgpu/hooks.h"

/*
 * Sink calls in progress are counted like SRCU's readers: in one of two phases, spread over shards
 * so that threads do not share a cache line. A waiting thread flips the phase and waits until the
 * old phase has no calls. The thread flips and waits twice, because another thread may read the
 * phase before the flip and count itself after the flip.
 */
#define N_SHARDS 64

struct shard {
	_Alignas(64) _Atomic uint32_t n_inside[2];
};

static struct shard shards[N_SHARDS];
static _Atomic uint32_t phase;
static _Atomic uint32_t next_shard;
static _Atomic(const struct ts_vgpu_sink *) current_sink;
static _Atomic uint32_t last_correlation_id;
/* held while attaching or detaching */
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last_epoch;
static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t n_draining[2]; /* calls in progress whose thread waits in drain() */
static const struct ts_vgpu_queries *the_queries;

_Atomic uint32_t ts_vgpu_armed_epoch;

/*
 * Static TLS: in a child that was forked by a thread without dynamic TLS, allocating it might wait
 * forever.
 */
static __thread struct {
	struct ts_vgpu_api *call; /* innermost call in progress */
	uint32_t shard_plus_one;
	uint32_t n_inside[2]; /* this thread's share of its shard */
} self __attribute__((tls_model("initial-exec")));

void ts_vgpu_section_leave(const struct ts_vgpu_section *section)
{
	self.n_inside[section->phase]--;
	/*
	 * Release, paired with the loads of drain() for set_sink and quiesce: the sink's work
	 * happens before drain() returns.
	 */
	atomic_fetch_sub_explicit(&shards[self.shard_plus_one - 1].n_inside[section->phase], 1,
				  memory_order_release);
}

static bool section_enter(struct ts_vgpu_section *ret_section)
{
	struct ts_vgpu_section section;

	if (!ts_vgpu_armed())
		return false;
	if (self.shard_plus_one == 0)
		self.shard_plus_one =
			atomic_fetch_add_explicit(&next_shard, 1, memory_order_relaxed) % N_SHARDS +
			1;
	section.phase = atomic_load_explicit(&phase, memory_order_relaxed) & 1;
	/*
	 * Sequentially consistent, paired with the stores and loads of drain(). Either the waiting
	 * thread sees this count, or this thread sees the stores that precede the wait (no sink, or
	 * a sink that has let go).
	 */
	atomic_fetch_add_explicit(&shards[self.shard_plus_one - 1].n_inside[section.phase], 1,
				  memory_order_seq_cst);
	self.n_inside[section.phase]++;
	section.sink = atomic_load_explicit(&current_sink, memory_order_seq_cst);
	section.epoch = atomic_load_explicit(&ts_vgpu_armed_epoch, memory_order_seq_cst);
	if (!section.sink || section.epoch == 0) {
		ts_vgpu_section_leave(&section);
		return false;
	}
	*ret_section = section;
	return true;
}

/*
 * Waits until all sink calls have ended in both phases, except calls whose threads wait here.
 * Without this exception two threads that both detach inside a callback would wait for each other.
 */
static void drain(void)
{
	for (unsigned int i = 0; i < 2; i++)
		atomic_fetch_add_explicit(&n_draining[i], self.n_inside[i], memory_order_seq_cst);
	pthread_mutex_lock(&drain_lock);
	for (unsigned int flip = 0; flip < 2; flip++) {
		uint32_t old = atomic_fetch_add_explicit(&phase, 1, memory_order_seq_cst) & 1;

		for (;;) {
			uint32_t n_inside = 0;

			for (unsigned int i = 0; i < N_SHARDS; i++)
				n_inside += atomic_load_explicit(&shards[i].n_inside[old],
								 memory_order_seq_cst);
			if (n_inside <=
			    atomic_load_explicit(&n_draining[old], memory_order_seq_cst))
				break;
			sched_yield();
		}
	}
	pthread_mutex_unlock(&drain_lock);
	for (unsigned int i = 0; i < 2; i++)
		atomic_fetch_sub_explicit(&n_draining[i], self.n_inside[i], memory_order_seq_cst);
}

static int attach(const struct ts_vgpu_sink *sink)
{
	uint32_t epoch;
	int r = 0;

	if (sink->size < sizeof(*sink) || sink->version != TS_VGPU_HOOKS_VERSION)
		return -EINVAL;
	pthread_mutex_lock(&sink_lock);
	if (atomic_load_explicit(&current_sink, memory_order_relaxed)) {
		r = -EBUSY;
	} else {
		do
			epoch = ++last_epoch;
		while (epoch == 0);
		atomic_store_explicit(&current_sink, sink, memory_order_seq_cst);
		atomic_store_explicit(&ts_vgpu_armed_epoch, epoch, memory_order_seq_cst);
	}
	pthread_mutex_unlock(&sink_lock);
	return r;
}

static int detach(void)
{
	bool held;

	pthread_mutex_lock(&sink_lock);
	held = atomic_load_explicit(&current_sink, memory_order_relaxed) != NULL;
	atomic_store_explicit(&ts_vgpu_armed_epoch, 0, memory_order_seq_cst);
	atomic_store_explicit(&current_sink, NULL, memory_order_seq_cst);
	pthread_mutex_unlock(&sink_lock);
	if (!held)
		return -ENOENT;
	drain();
	return 0;
}

static int set_sink(const struct ts_vgpu_sink *sink)
{
	return sink ? attach(sink) : detach();
}

bool ts_vgpu_api_enter(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section)
{
	call->epoch = 0;
	if (call->cbid == 0 || !section_enter(ret_section))
		return false;

	call->epoch = ret_section->epoch;
	call->correlation_data = 0;
	call->sink_word = 0;
	call->outer = self.call;
	if (call->outer && call->outer->epoch == ret_section->epoch) {
		call->correlation_id = call->outer->correlation_id;
	} else {
		do
			call->correlation_id = atomic_fetch_add_explicit(&last_correlation_id, 1,
									 memory_order_relaxed) +
					       1;
		while (call->correlation_id == 0);
	}
	self.call = call;
	the_queries->current_context(&call->context, &call->context_uid);
	return true;
}

bool ts_vgpu_api_exit(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section)
{
	self.call = call->outer;
	if (!section_enter(ret_section))
		return false;
	if (ret_section->epoch != call->epoch) {
		ts_vgpu_section_leave(ret_section);
		return false;
	}
	the_queries->current_context(&call->context, &call->context_uid);
	return true;
}

uint32_t ts_vgpu_correlation_id(void)
{
	return self.call ? self.call->correlation_id : 0;
}

void ts_vgpu_report_resource(const struct ts_vgpu_resource_event *event)
{
	struct ts_vgpu_section section;

	if (!section_enter(&section))
		return;
	section.sink->resource(event);
	ts_vgpu_section_leave(&section);
}

void ts_vgpu_report_memory(const struct ts_vgpu_memory_event *event)
{
	struct ts_vgpu_section section;

	if (!section_enter(&section))
		return;
	section.sink->memory(event, ts_vgpu_correlation_id());
	ts_vgpu_section_leave(&section);
}

void ts_vgpu_report_wait(const struct ts_vgpu_wait_event *event)
{
	struct ts_vgpu_section section;

	if (!section_enter(&section))
		return;
	section.sink->wait(event, ts_vgpu_correlation_id());
	ts_vgpu_section_leave(&section);
}

void ts_vgpu_report_submitted(struct ts_vgpu_operation *op)
{
	struct ts_vgpu_section section;

	op->epoch = 0;
	op->sink_buffer = NULL;
	op->sink_offset = 0;
	op->sink_word = 0;
	if (!section_enter(&section))
		return;
	op->epoch = section.epoch;
	section.sink->operation_submitted(op);
	ts_vgpu_section_leave(&section);
}

void ts_vgpu_report_started(struct ts_vgpu_operation *op)
{
	struct ts_vgpu_section section;

	if (!op->sink_buffer || !section_enter(&section))
		return;
	if (op->epoch == section.epoch)
		section.sink->operation_started(op);
	ts_vgpu_section_leave(&section);
}

void ts_vgpu_report_completed(struct ts_vgpu_operation *op)
{
	struct ts_vgpu_section section;

	if (!op->sink_buffer || !section_enter(&section))
		return;
	if (op->epoch == section.epoch)
		section.sink->operation_completed(op);
	ts_vgpu_section_leave(&section);
}

static struct ts_vgpu_hooks hooks = {
	.size = sizeof(hooks),
	.version = TS_VGPU_HOOKS_VERSION,
	.armed = &ts_vgpu_armed_epoch,
	.set_sink = set_sink,
	.quiesce = drain,
	.api_enter = ts_vgpu_api_enter,
	.api_exit = ts_vgpu_api_exit,
	.section_leave = ts_vgpu_section_leave,
	.correlation_id = ts_vgpu_correlation_id,
};

/*
 * Called in a forked child: detaches the sink. The child has no device threads, and a thread that
 * only the parent has may have held the sink's locks. So the child's calls must not wait for them.
 */
static void disarm_child(void)
{
	atomic_store_explicit(&ts_vgpu_armed_epoch, 0, memory_order_relaxed);
	atomic_store_explicit(&current_sink, NULL, memory_order_relaxed);
	self.call = NULL;
}

const struct ts_vgpu_hooks *ts_vgpu_hooks_init(const struct ts_vgpu_queries *queries)
{
	pthread_atfork(NULL, NULL, disarm_child);
	the_queries = queries;
	hooks.queries = queries;
	return &hooks;
}
