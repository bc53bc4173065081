/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains gaps by the activity of threads: the second pass of gaps.h. blame.c and blame-slices.c
 * call this file; this file sums time with parts.c.
 *
 * The module reads the rows of threads once, in time order. For each thread it keeps the last
 * activity of each kind. The kinds are: call of the vendor's API, system call, page fault, memory
 * reclaim, interval off the CPU. The time up to the thread's next row goes to the innermost
 * activity, in each window that is open on the thread. A window is an interval in which a thread's
 * activity explains a gap or another thread's wait.
 *
 * Each gap has two windows on the calling thread: one before its call and one inside. If a thread
 * was blocked and another thread woke it, the waker gets a window for the blocked time.
 */
#include "replay/state/gaps/blamer.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/abi/grow.h"

#define MAX_DEPTH 8u /* maximum length of a chain of wakers */
/* maximum number of windows that are open on a thread because it woke other threads */
#define MAX_WINDOWS 65536u
#define MAX_LOSSES  65536u
#define MAX_IN_HAND 256u /* open requests of a thread */

/* ---- sums ------------------------------------------------------------------------------------ */

static int add_part(struct ts_parts *parts, const struct ts_gap_key *key, uint64_t row, uint64_t ns,
		    uint64_t waiting_ns)
{
	struct ts_parts_entry *entry;
	uint32_t index;
	int r = ts_parts_find(parts, key, &index);

	if (r)
		return r;
	entry = &parts->entries[index];
	entry->part.ns += ns;
	if (key->cause == TS_GAP_BLOCK_IO)
		entry->part.queued_ns += waiting_ns;
	else
		entry->part.runnable_ns += waiting_ns;
	/* Own code has no row. Its pieces are not counted, because other activities split it. */
	if (row && entry->last_row != row) {
		entry->last_row = row;
		entry->part.count++;
	}
	return 0;
}

int ts_blamer_add(struct ts_blamer *blamer, const struct ts_blamer_window *window,
		  const struct ts_gap_key *key, uint64_t row, uint64_t ns, uint64_t waiting_ns)
{
	const struct ts_blame_gap *gap = &blamer->blame->gaps[window->gap];
	struct ts_gap_key own = *key;
	int r = 0;

	if (!window->depth)
		blamer->blame->streams[gap->stream].causes_ns[key->cause] += ns;
	if (gap->listed != TS_PARTS_NONE) {
		own.parent = window->listed_parent;
		r = add_part(&blamer->blame->parts[gap->listed], &own, row, ns, waiting_ns);
	}
	own.parent = window->total_parent;
	own.op_id = own.event = 0;
	return r ? r : add_part(&blamer->blame->total, &own, row, ns, waiting_ns);
}

/* ---- time of a thread ------------------------------------------------------------------------ */

static uint64_t sched_since(const struct ts_blamer *blamer, uint32_t session)
{
	uint32_t i = ts_state_map_find(&blamer->sched_by_session, session, 0);

	return i == TS_STATE_MAP_NONE ? TS_BLAMER_ALWAYS : blamer->sched_ns[i];
}

/* Returns the key of activity `kind`, with the call and the file that the thread is in. */
static struct ts_gap_key key_now(const struct ts_blamer_thread *thread, unsigned kind)
{
	struct ts_gap_key key = thread->in[kind].key;

	if (thread->in[TS_BLAMER_IN_CALL].end_ns > thread->now_ns) {
		key.domain = thread->in[TS_BLAMER_IN_CALL].key.domain;
		key.cbid = thread->in[TS_BLAMER_IN_CALL].key.cbid;
	}
	if (kind > TS_BLAMER_IN_SYSCALL && thread->in[TS_BLAMER_IN_SYSCALL].end_ns > thread->now_ns)
		key.file = thread->in[TS_BLAMER_IN_SYSCALL].key.file;
	return key;
}

/*
 * Adds the thread's time from now_ns to `to_ns` to each window that is open. No window opens or
 * closes between these times.
 */
static int add_to_windows(struct ts_blamer *blamer, struct ts_blamer_thread *thread, uint64_t to_ns,
			  const struct ts_gap_key *key, const struct ts_blamer_activity *activity)
{
	uint64_t ns = to_ns - thread->now_ns, row = activity ? activity->row : 0, runnable_ns = 0;
	int r = 0;

	if (activity && activity->runnable_ns < to_ns)
		runnable_ns =
			to_ns - (activity->runnable_ns > thread->now_ns ? activity->runnable_ns
									: thread->now_ns);
	for (size_t i = 0; i < thread->n_opened && !r; i++)
		if (thread->opened[i].from_ns <= thread->now_ns &&
		    thread->opened[i].to_ns > thread->now_ns)
			r = ts_blamer_add(blamer, &thread->opened[i], key, row, ns, runnable_ns);
	return r;
}

static int open_window(struct ts_blamer_thread *thread, const struct ts_blamer_window *window)
{
	if (TS_GROW(thread->opened, thread->n_allocated, thread->n_opened + 1))
		return -ENOMEM;
	thread->opened[thread->n_opened++] = *window;
	return 0;
}

/*
 * Opens and closes the thread's windows at now_ns. *ret_until is the earliest time at which another
 * window opens or closes. *ret_any is true if a window is open.
 */
static int update_windows(struct ts_blamer *blamer, struct ts_blamer_thread *thread,
			  uint64_t *ret_until, bool *ret_any)
{
	uint64_t until_ns = *ret_until;
	bool any = false;
	size_t n = 0;

	while (thread->next < thread->end &&
	       blamer->windows[thread->next].from_ns <= thread->now_ns) {
		int r = open_window(thread, &blamer->windows[thread->next++]);

		if (r)
			return r;
	}
	if (thread->next < thread->end && blamer->windows[thread->next].from_ns < until_ns)
		until_ns = blamer->windows[thread->next].from_ns;
	for (size_t i = 0; i < thread->n_opened; i++) {
		const struct ts_blamer_window *window = &thread->opened[i];
		uint64_t change_ns = window->from_ns;

		if (window->to_ns <= thread->now_ns)
			continue;
		if (window->from_ns <= thread->now_ns) {
			any = true;
			change_ns = window->to_ns;
		}
		if (change_ns < until_ns)
			until_ns = change_ns;
		thread->opened[n++] = *window;
	}
	thread->n_opened = n;
	*ret_until = until_ns;
	*ret_any = any;
	return 0;
}

static struct ts_gap_key own_code(const struct ts_blamer *blamer,
				  const struct ts_blamer_thread *thread)
{
	bool is_on_cpu = sched_since(blamer, thread->session) <= thread->now_ns;

	return (struct ts_gap_key){
		.cause = is_on_cpu ? TS_GAP_RUNNING : TS_GAP_HOST,
		.session = thread->session,
		.tid = thread->tid,
		.syscall = TS_NO_SYSCALL,
	};
}

static int add_now(struct ts_blamer *blamer, struct ts_blamer_thread *thread, uint64_t *until_ns)
{
	struct ts_gap_key key;
	uint64_t since_ns;

	for (unsigned kind = TS_BLAMER_KINDS; kind--;) {
		if (thread->in[kind].end_ns <= thread->now_ns)
			continue;
		if (thread->in[kind].end_ns < *until_ns)
			*until_ns = thread->in[kind].end_ns;
		key = key_now(thread, kind);
		return add_to_windows(blamer, thread, *until_ns, &key, &thread->in[kind]);
	}
	since_ns = sched_since(blamer, thread->session);
	if (since_ns > thread->now_ns && since_ns < *until_ns)
		*until_ns = since_ns;
	key = own_code(blamer, thread);
	return add_to_windows(blamer, thread, *until_ns, &key, NULL);
}

int ts_blamer_advance(struct ts_blamer *blamer, struct ts_blamer_thread *thread, uint64_t to_ns)
{
	while (thread->now_ns < to_ns) {
		uint64_t until_ns = to_ns;
		bool any;
		int r = update_windows(blamer, thread, &until_ns, &any);

		if (!r && any)
			r = add_now(blamer, thread, &until_ns);
		if (r)
			return r;
		thread->now_ns = until_ns;
	}
	return 0;
}

/* ---- wakers ---------------------------------------------------------------------------------- */

/*
 * Finds the thread with the waker's ids. The kernel's ids are those of the first pid namespace; a
 * process in another pid namespace records other ids for its threads. If a thread has the waker's
 * process id as its tid, the process is in the first namespace, and the ids agree.
 */
static struct ts_blamer_thread *find_waker(struct ts_blamer *blamer, uint32_t pid, uint32_t tid)
{
	uint32_t session = ts_state_map_find(&blamer->session_by_pid, 0, pid), i;

	if (session == TS_STATE_MAP_NONE ||
	    ts_state_map_find(&blamer->thread_by_tid, session, pid) == TS_STATE_MAP_NONE)
		return NULL;
	i = ts_state_map_find(&blamer->thread_by_tid, session, tid);
	return i == TS_STATE_MAP_NONE ? NULL : &blamer->threads[i];
}

static void cut_parts(struct ts_blamer *blamer, const struct ts_blamer_window *window)
{
	uint32_t listed = blamer->blame->gaps[window->gap].listed;

	blamer->blame->total.is_cut = true;
	if (listed != TS_PARTS_NONE)
		blamer->blame->parts[listed].is_cut = true;
}

/*
 * Finds the part of the window that overlaps the thread's current interval off its CPU, up to
 * until_ns. The caller explains this part by the waker's activity or by a disk request.
 */
static int window_below(struct ts_blamer *blamer, const struct ts_blamer_thread *thread,
			const struct ts_blamer_window *window, uint64_t until_ns,
			struct ts_blamer_window *ret_below)
{
	const struct ts_blame_gap *gap = &blamer->blame->gaps[window->gap];
	struct ts_gap_key key = key_now(thread, TS_BLAMER_IN_OFF_CPU);
	struct ts_parts *own =
		gap->listed == TS_PARTS_NONE ? NULL : &blamer->blame->parts[gap->listed];
	struct ts_blamer_window below = *window;
	int r = 0;

	ret_below->from_ns = ret_below->to_ns = 0;
	if (below.from_ns < thread->now_ns)
		below.from_ns = thread->now_ns;
	if (below.to_ns > until_ns)
		below.to_ns = until_ns;
	if (below.from_ns >= below.to_ns)
		return 0;
	if (window->depth >= MAX_DEPTH) {
		cut_parts(blamer, window);
		return 0;
	}
	below.depth = window->depth + 1;
	if (own) {
		key.parent = window->listed_parent;
		r = ts_parts_find(own, &key, &below.listed_parent);
	}
	key.parent = window->total_parent;
	r = r ? r : ts_parts_find(&blamer->blame->total, &key, &below.total_parent);
	if (!r)
		*ret_below = below;
	return r;
}

/*
 * Opens a window on the waker. The window explains the interval in which the woken thread was off
 * its CPU.
 */
static int follow(struct ts_blamer *blamer, const struct ts_blamer_thread *thread,
		  const struct ts_blamer_window *window, struct ts_blamer_thread *waker,
		  uint64_t woken_ns)
{
	struct ts_blamer_window below;
	int r = window_below(blamer, thread, window, woken_ns, &below);

	if (r || below.from_ns >= below.to_ns)
		return r;
	if (waker->n_opened >= MAX_WINDOWS) {
		cut_parts(blamer, window);
		return 0;
	}
	return open_window(waker, &below);
}

static int follow_waker(struct ts_blamer *blamer, struct ts_blamer_thread *thread,
			const struct ts_row_off_cpu *row)
{
	struct ts_blamer_thread *waker = NULL;
	int r = 0;

	if (row->waker_context == TS_WAKER_THREAD && row->waker_tid &&
	    row->woken_ns > thread->now_ns)
		waker = find_waker(blamer, row->waker_pid, row->waker_tid);
	if (!waker || waker == thread)
		return 0;
	for (size_t i = 0; i < thread->n_opened && !r; i++)
		r = follow(blamer, thread, &thread->opened[i], waker, row->woken_ns);
	for (size_t i = thread->next;
	     i < thread->end && blamer->windows[i].from_ns < row->woken_ns && !r; i++)
		r = follow(blamer, thread, &blamer->windows[i], waker, row->woken_ns);
	return r;
}

/* ---- disks ----------------------------------------------------------------------------------- */

static int note_request(struct ts_blamer *blamer, struct ts_blamer_thread *thread,
			const struct ts_row_block_io *row)
{
	size_t n = 0, first = 0;

	if (!thread->requests)
		thread->requests = malloc(MAX_IN_HAND * sizeof(*thread->requests));
	if (!thread->requests)
		return -ENOMEM;
	for (size_t i = 0; i < thread->n_requests; i++)
		if (thread->requests[i].end_ns > row->start_ns)
			thread->requests[n++] = thread->requests[i];
	for (size_t i = 1; i < n; i++)
		if (thread->requests[i].end_ns < thread->requests[first].end_ns)
			first = i;
	/* If there is no room, the new request replaces the one that ends first. */
	thread->requests[n < MAX_IN_HAND ? n++ : first] =
		(struct ts_blamer_request){.end_ns = row->end_ns,
					   .issued_ns = row->issued_ns,
					   .row = ++blamer->n_rows,
					   .disk = row->disk,
					   .operation = row->operation};
	thread->n_requests = n;
	return 0;
}

static int follow_request(struct ts_blamer *blamer, const struct ts_blamer_thread *thread,
			  const struct ts_blamer_window *window,
			  const struct ts_blamer_request *request)
{
	struct ts_gap_key key = {
		.cause = TS_GAP_BLOCK_IO,
		.session = thread->session,
		.tid = thread->tid,
		.syscall = TS_NO_SYSCALL,
		.disk = request->disk,
		.operation = request->operation,
	};
	struct ts_blamer_window below;
	uint64_t queued_ns = request->issued_ns;
	int r = window_below(blamer, thread, window, request->end_ns, &below);

	if (r || below.from_ns >= below.to_ns)
		return r;
	if (queued_ns > below.to_ns)
		queued_ns = below.to_ns;
	queued_ns = queued_ns > below.from_ns ? queued_ns - below.from_ns : 0;
	return ts_blamer_add(blamer, &below, &key, request->row, below.to_ns - below.from_ns,
			     queued_ns);
}

/*
 * Explains a wait for I/O by a request to the disk: among the thread's requests, the one that ended
 * last before the thread was woken. In a page fault, the kernel does not record the reason for a
 * wait. Then the wait counts as I/O only if an interrupt woke the thread.
 */
static int follow_disk(struct ts_blamer *blamer, const struct ts_blamer_thread *thread,
		       const struct ts_row_off_cpu *row)
{
	const struct ts_blamer_request *found = NULL;
	int r = 0;

	if (row->reason != TS_OFF_CPU_IO &&
	    (row->reason != TS_OFF_CPU_PAGE_FAULT || row->waker_context != TS_WAKER_INTERRUPT))
		return 0;
	for (size_t i = 0; i < thread->n_requests; i++)
		if (thread->requests[i].end_ns > row->start_ns &&
		    thread->requests[i].end_ns <= row->woken_ns &&
		    (!found || thread->requests[i].end_ns > found->end_ns))
			found = &thread->requests[i];
	if (!found)
		return 0;
	for (size_t i = 0; i < thread->n_opened && !r; i++)
		r = follow_request(blamer, thread, &thread->opened[i], found);
	for (size_t i = thread->next;
	     i < thread->end && blamer->windows[i].from_ns < found->end_ns && !r; i++)
		r = follow_request(blamer, thread, &blamer->windows[i], found);
	return r;
}

/* ---- samples --------------------------------------------------------------------------------- */

static int count_sample(struct ts_parts *parts, struct ts_gap_key *key, uint32_t parent,
			uint64_t period_ns)
{
	uint32_t index;
	int r;

	key->parent = parent;
	r = ts_parts_find(parts, key, &index);
	if (r)
		return r;
	parts->entries[index].part.samples++;
	ts_parts_add_sampled(&parts->entries[index].sampled_ns, period_ns);
	return 0;
}

/*
 * Counts a sample of the thread's own code, and finds the code's number. The sample is ignored
 * while the thread is in a call, in a page fault or off its CPU.
 */
static int feed_sample(struct ts_blamer *blamer, struct ts_blamer_thread *thread,
		       const struct ts_sbt_row *row)
{
	const struct ts_row_sample *sample = row->sample;
	uint64_t until_ns = TS_BLAMER_ALWAYS;
	struct ts_gap_key key;
	bool any;
	int r = ts_blamer_advance(blamer, thread, sample->start_ns);

	r = r ? r : update_windows(blamer, thread, &until_ns, &any);
	if (r || !any)
		return r;
	for (unsigned kind = 0; kind < TS_BLAMER_KINDS; kind++)
		if (thread->in[kind].end_ns > thread->now_ns)
			return 0;
	key = own_code(blamer, thread);
	r = blamer->code->find(blamer->code->data, row->session, sample->stack, sample->start_ns,
			       &key.code);
	for (size_t i = 0; i < thread->n_opened && !r; i++) {
		const struct ts_blamer_window *window = &thread->opened[i];
		uint32_t listed = blamer->blame->gaps[window->gap].listed;

		if (window->from_ns > thread->now_ns)
			continue;
		if (listed != TS_PARTS_NONE)
			r = count_sample(&blamer->blame->parts[listed], &key, window->listed_parent,
					 sample->period_ns);
		r = r ? r
		      : count_sample(&blamer->blame->total, &key, window->total_parent,
				     sample->period_ns);
	}
	return r;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t thread_of(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		return row->api->thread;
	case TS_ROW_OFF_CPU:
		return row->off_cpu->thread;
	case TS_ROW_PAGE_FAULT:
		return row->page_fault->thread;
	case TS_ROW_BLOCK_IO:
		return row->block_io->thread;
	case TS_ROW_PRESSURE:
		return row->pressure->thread;
	case TS_ROW_SAMPLE:
		return row->sample->thread;
	default:
		return row->syscall->thread;
	}
}

static void set_off_cpu(struct ts_blamer_activity *activity, const struct ts_row_off_cpu *row)
{
	bool could_run = row->reason == TS_OFF_CPU_PREEMPTED || row->reason == TS_OFF_CPU_YIELDED;

	activity->key.cause = TS_GAP_OFF_CPU;
	activity->key.reason = row->reason;
	activity->key.syscall = row->syscall;
	activity->key.waker_context = could_run ? TS_WAKER_NONE : row->waker_context;
	/*
	 * If an interrupt woke the thread, the recorded waker is only the interrupted thread, and
	 * not the cause.
	 */
	if (could_run) {
		activity->key.waker_tid = row->next_tid;
		activity->key.waker = row->next;
	} else if (row->waker_context == TS_WAKER_THREAD) {
		activity->key.waker_tid = row->waker_tid;
		activity->key.waker = row->waker;
	}
	activity->runnable_ns = could_run	? row->start_ns
				: row->woken_ns ? row->woken_ns
						: TS_BLAMER_ALWAYS;
}

static unsigned set_activity(struct ts_blamer_activity *activity, const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		activity->key.cause = TS_GAP_CALL;
		activity->key.domain = row->api->domain;
		activity->key.cbid = row->api->cbid;
		return TS_BLAMER_IN_CALL;
	case TS_ROW_OFF_CPU:
		set_off_cpu(activity, row->off_cpu);
		return TS_BLAMER_IN_OFF_CPU;
	case TS_ROW_PAGE_FAULT:
		activity->key.cause = TS_GAP_PAGE_FAULT;
		activity->key.fault = row->page_fault->fault;
		activity->key.memory = row->page_fault->memory;
		return TS_BLAMER_IN_FAULT;
	case TS_ROW_PRESSURE:
		activity->key.cause = TS_GAP_RECLAIM;
		activity->key.operation = row->pressure->kind;
		return TS_BLAMER_IN_RECLAIM;
	default:
		activity->key.cause = TS_GAP_SYSCALL;
		activity->key.syscall = row->syscall->syscall;
		activity->key.file = row->syscall->file;
		return TS_BLAMER_IN_SYSCALL;
	}
}

int ts_blamer_add_loss(struct ts_blamer *blamer, const struct ts_blamer_loss *loss)
{
	if (blamer->n_losses == MAX_LOSSES)
		return 0;
	if (TS_GROW(blamer->losses, blamer->n_losses_allocated, blamer->n_losses + 1))
		return -ENOMEM;
	blamer->losses[blamer->n_losses++] = *loss;
	return 0;
}

static int note_loss(struct ts_blamer *blamer, uint32_t session, const struct ts_row_loss *row)
{
	const struct ts_blamer_loss loss = {row->start_ns, row->end_ns, session};

	return row->reason == TS_LOSS_KERNEL_EVENTS ? ts_blamer_add_loss(blamer, &loss) : 0;
}

/* Returns the first of the thread's windows that ends after `ns`, or one before it. */
static size_t find_window(const struct ts_blamer *blamer, const struct ts_blamer_thread *thread,
			  uint64_t ns)
{
	size_t low = thread->first, high = thread->end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ns > thread->longest_ns &&
		    blamer->windows[middle].from_ns < ns - thread->longest_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Begins a thread of a slice with its first row: opens the windows of that time. */
static int begin_thread(struct ts_blamer *blamer, struct ts_blamer_thread *thread,
			uint64_t start_ns)
{
	size_t i = find_window(blamer, thread, start_ns);
	int r = TS_GROW(blamer->firsts, blamer->n_firsts_allocated, blamer->n_firsts + 1);

	if (r)
		return r;
	blamer->firsts[blamer->n_firsts++] =
		(struct ts_blamer_first){.start_ns = start_ns,
					 .n_parts = blamer->blame->total.n,
					 .thread = (uint32_t)(thread - blamer->threads)};
	thread->is_begun = true;
	thread->now_ns = start_ns;
	for (; !r && i < thread->end && blamer->windows[i].from_ns <= start_ns; i++)
		if (blamer->windows[i].to_ns > start_ns)
			r = open_window(thread, &blamer->windows[i]);
	thread->next = i;
	return r;
}

int ts_blamer_feed(struct ts_blamer *blamer, const struct ts_sbt_row *row)
{
	struct ts_blamer_activity activity = {.runnable_ns = TS_BLAMER_ALWAYS,
					      .key.syscall = TS_NO_SYSCALL};
	struct ts_blamer_thread *thread;
	unsigned kind;
	uint32_t i;
	int r;

	if (row->type == TS_ROW_LOSS)
		return note_loss(blamer, row->session, row->loss);
	/* An OOM kill is not an activity of the thread, and it ends the thread. */
	if (row->type == TS_ROW_PRESSURE && row->pressure->kind == TS_PRESSURE_OOM_KILL)
		return 0;
	i = ts_state_map_find(&blamer->thread_by_id, row->session, thread_of(row));
	if (i == TS_STATE_MAP_NONE)
		return 0;
	thread = &blamer->threads[i];
	if (row->type == TS_ROW_BLOCK_IO)
		return note_request(blamer, thread, row->block_io);
	if (row->type == TS_ROW_SAMPLE)
		return feed_sample(blamer, thread, row);
	activity.row = ++blamer->n_rows;
	activity.end_ns = ts_row_end_ns(row->schema, row->any);
	activity.key.session = thread->session;
	activity.key.tid = thread->tid;
	kind = set_activity(&activity, row);
	r = blamer->is_slice && !thread->is_begun
		    ? begin_thread(blamer, thread, ts_row_start_ns(row->any))
		    : ts_blamer_advance(blamer, thread, ts_row_start_ns(row->any));
	if (r)
		return r;
	thread->in[kind] = activity;
	/* An activity of length 0 has no time, but it is counted. */
	if (activity.end_ns <= thread->now_ns) {
		uint64_t until_ns = TS_BLAMER_ALWAYS;
		bool any;

		r = update_windows(blamer, thread, &until_ns, &any);
		activity.key = key_now(thread, kind);
		return r ? r
			 : add_to_windows(blamer, thread, thread->now_ns, &activity.key, &activity);
	}
	if (kind != TS_BLAMER_IN_OFF_CPU)
		return 0;
	r = follow_waker(blamer, thread, row->off_cpu);
	return r ? r : follow_disk(blamer, thread, row->off_cpu);
}
