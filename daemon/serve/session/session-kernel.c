/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events of a session. Makes rows of the events in the session's feed (daemon/bpf), of its
 * tallies and losses, and runs the sampler. session-main.c, session-round.c, session-end.c and
 * loop/control.c call this module. This module calls session-kernel-threads.c for threads and
 * names, and session-samples.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "daemon/bpf/hub.h"
#include "daemon/serve/session/session-kernel-internal.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/grow.h"
#include "proto/abi/tablehash.h"
#include "replay/report/names/names.h"

/*
 * Rows of kernel events that are written together: their columns fit in a processor's own cache.
 * With 64 Ki rows they do not, and the daemon's time for an event is a tenth longer.
 */
#define KERNEL_ROWS 16384u
/* Distance at which events are read ahead. */
#define PREFETCH_BYTES 1024u
/*
 * Most events of one round that are handled at their place, so that a process that makes events
 * without end does not keep the session from its other work.
 */
#define ROUND_EVENTS 131072u
#define TALLY_NS     UINT64_C(1000000000) /* interval between two reads of the tallies */
/* The name in rows for a thread of another user. The number of that thread is 0 in these rows. */
#define HIDDEN_THREAD "another user's thread"

static int stack_id(struct ts_session *s, const struct ts_bpf_off_cpu_stack *event,
		    uint32_t *ret_id)
{
	uint32_t n = event->n_frames, flags = n == TS_BPF_STACK_FRAMES ? TS_STACK_TRUNCATED : 0;
	struct kernel_stack *stack;
	uint64_t hash = n;
	int r;

	*ret_id = TS_ID_UNKNOWN;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		hash = ts_hash_add(hash, event->frames[i]);
		hash ^= hash >> 32;
	}
	stack = &s->kernel->stacks[hash % KERNEL_STACKS];
	if (!stack->id || stack->n_frames != n ||
	    memcmp(stack->frames, event->frames, n * sizeof(*stack->frames))) {
		stack->id = TS_ID_UNKNOWN;
		if (!ts_session_charge(s, 0))
			return 0;
		memcpy(stack->frames, event->frames, n * sizeof(*stack->frames));
		stack->n_frames = n;
		r = ts_sbt_session_writer_add_stack(s->writer, stack->frames, n, flags, &stack->id);
		if (r)
			return r < 0 ? ts_session_write_failed(s, r) : r;
	}
	*ret_id = stack->id;
	return 0;
}

/* ---- events ---- */

#ifdef __x86_64__
static uint32_t reason_of_syscall(const struct ts_bpf_off_cpu *event)
{
	switch (event->syscall) {
	case SYS_futex:
	case 449: /* futex_waitv */
	case 455: /* futex_wait */
		return TS_OFF_CPU_FUTEX;
	case SYS_ioctl:
		return TS_OFF_CPU_IOCTL;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return TS_OFF_CPU_SLEEP;
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2 */
		return TS_OFF_CPU_POLL;
	case SYS_wait4:
	case SYS_waitid:
		return TS_OFF_CPU_WAIT;
	default:
		return event->io_wait ? TS_OFF_CPU_IO : TS_OFF_CPU_SYSCALL;
	}
}
#else
/* Knows no system calls, because the BPF programs report none on this architecture. */
static uint32_t reason_of_syscall(const struct ts_bpf_off_cpu *event)
{
	return TS_OFF_CPU_SYSCALL;
}
#endif

/*
 * Bits of task->state (TASK_STOPPED, TASK_TRACED). The kernel's own tools use these numbers, too.
 */
#define STATE_STOPPED 0x4
#define STATE_TRACED  0x8

static uint32_t reason_of(const struct ts_bpf_off_cpu *event)
{
	if (event->preempted || !event->state)
		return !event->preempted && event->syscall == SYS_sched_yield
			       ? TS_OFF_CPU_YIELDED
			       : TS_OFF_CPU_PREEMPTED;
	if (event->state & (STATE_STOPPED | STATE_TRACED))
		return TS_OFF_CPU_STOPPED;
	if (event->syscall == TS_BPF_NO_SYSCALL)
		return TS_OFF_CPU_PAGE_FAULT;
	return reason_of_syscall(event);
}

/* Adds the rows of a batch and empties it. */
static int put_batch(struct ts_session *s, unsigned type, const void *rows, size_t row_bytes,
		     uint32_t *n)
{
	const uint8_t *row = rows;
	size_t left = *n, n_added;
	int r = 0;

	if (left)
		ts_session_dirty(s);
	*n = 0;
	while (left && !r) {
		r = ts_sbt_session_writer_add_rows(s->writer, type, row, left, &n_added);
		ts_session_count_rows(s, type, n_added);
		row += n_added * row_bytes;
		left -= n_added;
		if (r == TS_SBT_E_FULL)
			r = ts_session_write(s);
		else if (r)
			r = ts_session_write_failed(s, r);
	}
	return r;
}

static int put_off_cpus(struct ts_session *s)
{
	struct kernel_batches *batches = &s->kernel->batches;

	return put_batch(s, TS_ROW_OFF_CPU, batches->off_cpus, sizeof(*batches->off_cpus),
			 &batches->n_off_cpus);
}

static int put_faults(struct ts_session *s)
{
	struct kernel_batches *batches = &s->kernel->batches;

	return put_batch(s, TS_ROW_PAGE_FAULT, batches->faults, sizeof(*batches->faults),
			 &batches->n_faults);
}

static int put_calls(struct ts_session *s)
{
	struct kernel_batches *batches = &s->kernel->batches;

	return put_batch(s, TS_ROW_SYSCALL, batches->calls, sizeof(*batches->calls),
			 &batches->n_calls);
}

/* Makes room for a row in the batch of `n` rows, which `put` empties. */
static inline int make_room(struct ts_session *s, uint32_t n, int (*put)(struct ts_session *))
{
	if (ts_likely(n < KERNEL_BATCH))
		return 0;
	return s->kernel->is_in_place ? KERNEL_E_LATER : put(s);
}

/* Returns the process id of an event; 0 if the event is of the session's own process. */
static uint32_t pid_of(const struct ts_session *s, const struct ts_bpf_event *event)
{
	return (pid_t)event->pid == s->kernel->pid ? 0 : event->pid;
}

/*
 * Finds the ids and the name of another thread that an event names (waker, next thread). Hides them
 * if the peer may not see that thread.
 */
static int other_thread(struct ts_session *s, uint32_t tid, uint32_t pid, const char name[16],
			uint32_t *ret_tid, uint32_t *ret_pid, uint32_t *ret_name)
{
	bool hidden = tid == TS_BPF_HIDDEN;

	*ret_tid = hidden ? 0 : tid;
	*ret_pid = hidden ? 0 : pid;
	if (hidden)
		return ts_session_kernel_name(s, HIDDEN_THREAD, strlen(HIDDEN_THREAD), ret_name);
	/* The idle task has thread id 0 and gets no name. */
	return tid ? ts_session_kernel_name(s, name, 16, ret_name) : 0;
}

static int add_off_cpu(struct ts_session *s, const struct ts_bpf_off_cpu *event, uint32_t thread,
		       uint32_t stack)
{
	struct kernel_batches *batches = &s->kernel->batches;
	struct ts_row_off_cpu row = {
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.woken_ns = event->woken_ns,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.reason = reason_of(event),
		.syscall = event->syscall,
		.waker_context = event->waker_context,
		.cpu = event->cpu,
		.end_cpu = event->end_cpu,
		.migrations = event->migrations,
		.stack = stack,
	};
	int r = make_room(s, batches->n_off_cpus, put_off_cpus);

	if (row.reason == TS_OFF_CPU_FUTEX)
		row.address = event->argument;
	if (!row.end_ns) {
		row.end_ns = ts_clock_monotonic_ns();
		row.end_cpu = row.cpu;
		row.flags = TS_OFF_CPU_OPEN;
	}
	r = r
		    ?: other_thread(s, event->waker_tid, event->waker_pid, event->waker,
				    &row.waker_tid, &row.waker_pid, &row.waker);
	r = r
		    ?: other_thread(s, event->next_tid, event->next_pid, event->next, &row.next_tid,
				    &row.next_pid, &row.next);
	if (r)
		return r;
	batches->off_cpus[batches->n_off_cpus++] = row;
	return 0;
}

static int add_fault(struct ts_session *s, const struct ts_bpf_fault *event, uint32_t thread)
{
	struct kernel_batches *batches = &s->kernel->batches;
	int r = make_room(s, batches->n_faults, put_faults);

	if (r)
		return r;
	batches->faults[batches->n_faults++] = (struct ts_row_page_fault){
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.address = event->address,
		.instruction = event->instruction,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.fault = event->fault,
		.memory = event->memory,
	};
	return 0;
}

static int add_syscall(struct ts_session *s, const struct ts_bpf_syscall *event, uint32_t thread)
{
	struct kernel_batches *batches = &s->kernel->batches;
	uint32_t file = TS_ID_UNKNOWN;
	int r = make_room(s, batches->n_calls, put_calls);

	if (!r && event->has_file)
		r = ts_session_kernel_name(s, event->file, sizeof(event->file), &file);
	if (r)
		return r;
	batches->calls[batches->n_calls++] = (struct ts_row_syscall){
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.result = event->result,
		.address = event->address,
		.bytes = event->bytes,
		.offset = event->offset,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.syscall = event->syscall,
		.fd = event->fd,
		.file = file,
		.operation = event->operation,
	};
	return 0;
}

/* Converts blk_status_t to a negative errno. Unknown values become -EIO. */
static int32_t block_result(int32_t error)
{
	static const int32_t errors[] = {
		0,	  -EOPNOTSUPP, -ETIMEDOUT, -ENOSPC, -ENOLINK, -EREMOTEIO, -EBADE,
		-ENODATA, -EILSEQ,     -ENOMEM,	   -EIO,    -EREMCHG, -EAGAIN,	  -EBUSY,
	};

	if (error < 0)
		return error;
	return (size_t)error < TS_ARRAY_LEN(errors) ? errors[error] : -EIO;
}

static int add_block_io(struct ts_session *s, const struct ts_bpf_block_io *event, uint32_t thread)
{
	struct ts_row_block_io row = {
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.issued_ns = event->issued_ns,
		.sector = event->sector,
		.bytes = event->bytes,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.operation = event->operation,
		.result = block_result(event->error),
		.flags = event->flags,
	};
	int r = ts_session_kernel_name(s, event->disk, sizeof(event->disk), &row.disk);

	if (!row.end_ns) {
		row.end_ns = ts_clock_monotonic_ns();
		row.flags |= TS_BLOCK_IO_OPEN;
	}
	return r ?: ts_session_add_row(s, TS_ROW_BLOCK_IO, &row);
}

static int add_pressure(struct ts_session *s, const struct ts_bpf_pressure *event, uint32_t thread)
{
	struct ts_row_pressure row = {
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.pages = event->pages,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.kind = event->kind,
	};
	int r = other_thread(s, event->by_tid, event->by_pid, event->by, &row.by_tid, &row.by_pid,
			     &row.by);

	if (!row.end_ns) {
		row.end_ns = ts_clock_monotonic_ns();
		row.flags = TS_PRESSURE_OPEN;
	}
	return r ?: ts_session_add_row(s, TS_ROW_PRESSURE, &row);
}

static int add_driver(struct ts_session *s, const struct ts_bpf_driver *event, uint32_t thread)
{
	struct ts_row_driver row = {
		.start_ns = event->event.start_ns,
		.end_ns = event->event.end_ns,
		.issued_ns = event->issued_ns,
		.context = event->context,
		.number = event->number,
		.thread = thread,
		.pid = pid_of(s, &event->event),
		.kind = event->kind,
		.result = event->error,
	};
	int r = ts_session_kernel_name(s, event->ring, sizeof(event->ring), &row.ring);

	if (!row.end_ns) {
		row.end_ns = ts_clock_monotonic_ns();
		row.flags = TS_DRIVER_OPEN;
	}
	return r ?: ts_session_add_row(s, TS_ROW_DRIVER, &row);
}

/* True if the rows of the program's events have a batch. */
static bool has_batch(uint32_t program)
{
	return program == TS_BPF_SCHED || program == TS_BPF_FAULTS || program == TS_BPF_SYSCALLS;
}

static int add_event(struct ts_session *s, const struct ts_bpf_event *event)
{
	const void *whole = event;
	uint32_t thread, stack;
	int r = s->kernel->is_in_place && !has_batch(event->program) ? KERNEL_E_LATER : 0;

	r = r ?: ts_session_kernel_thread_of(s, event, &thread);
	if (r)
		return r;
	switch (event->program) {
	case TS_BPF_SCHED:
		return add_off_cpu(s, whole, thread, TS_ID_UNKNOWN);
	case TS_BPF_STACKS:
		r = stack_id(s, whole, &stack);
		return r ?: add_off_cpu(s, whole, thread, stack);
	case TS_BPF_FAULTS:
		return add_fault(s, whole, thread);
	case TS_BPF_BLOCK:
		ts_session_count_row(s, TS_ROW_BLOCK_IO);
		return add_block_io(s, whole, thread);
	case TS_BPF_MEMORY:
		ts_session_count_row(s, TS_ROW_PRESSURE);
		return add_pressure(s, whole, thread);
	case TS_BPF_DRIVER:
		ts_session_count_row(s, TS_ROW_DRIVER);
		return add_driver(s, whole, thread);
	default:
		return add_syscall(s, whole, thread);
	}
}

static int put_batches(struct ts_session *s)
{
	return put_off_cpus(s) ?: put_faults(s) ?: put_calls(s);
}

/* ---- tallies ---- */

static void tally_name(const struct ts_bpf_tally_key *key, char *name, size_t n_name)
{
	const char *program = ts_kernel_program_name(key->program), *kind;

	if (key->program == TS_BPF_FAULTS)
		kind = ts_name_fault_kind(key->what);
	else if (key->what == TS_BPF_PREEMPTED)
		kind = "preempted";
	else if (key->what == TS_BPF_NO_SYSCALL)
		kind = "page_fault";
	else
		kind = ts_name_syscall(key->what);
	if (kind)
		snprintf(name, n_name, "%s.%s", program, kind);
	else
		snprintf(name, n_name, "%s.%" PRIu32, program, key->what);
}

/* Returns the count of a tally that was last written to the trace; NULL: out of memory. */
static uint64_t *reported_tally(struct ts_session_kernel *kernel,
				const struct ts_bpf_tally_key *key)
{
	uint64_t at = (uint64_t)key->tid << 32 | (uint64_t)(key->program & 15) << 28 |
		      (key->what & 0x0fffffff);
	uint32_t place = ts_map_get(&kernel->tallied, at);

	if (place)
		return &kernel->tallies[place - 1];
	if (TS_GROW(kernel->tallies, kernel->n_tallies_allocated, kernel->n_tallies + 1) ||
	    ts_map_set(&kernel->tallied, at, kernel->n_tallies + 1))
		return NULL;
	kernel->tallies[kernel->n_tallies] = 0;
	return &kernel->tallies[kernel->n_tallies++];
}

static int add_tally_row(struct ts_session *s, const char *name, const char *unit,
			 struct ts_row_counter *row, uint64_t value)
{
	char text[TS_BPF_FILE_BYTES];
	int r;

	snprintf(text, sizeof(text), "%.50s.%s", name, unit);
	r = ts_session_kernel_name(s, text, sizeof(text), &row->name);
	row->value = (double)value;
	row->integer = (int64_t)value;
	ts_session_count_row(s, TS_ROW_COUNTER);
	__atomic_store_n(&s->n_kernel_counters, s->n_kernel_counters + 1, __ATOMIC_RELAXED);
	return r ?: ts_session_add_row(s, TS_ROW_COUNTER, row);
}

/*
 * Adds the rows of a tally. Each thread's counters have their own domain, because viewers of
 * counters ignore the thread.
 */
static int add_tally(struct ts_session *s, const struct ts_kernel_tally *tally, uint64_t now)
{
	struct ts_bpf_event event = {.tid = tally->key.tid, .pid = tally->sum.pid, .start_ns = now};
	struct ts_row_counter row = {.start_ns = now, .value_type = TS_PAYLOAD_I64};
	char name[64], domain[32];
	int r;

	memcpy(event.name, tally->sum.name, sizeof(event.name));
	tally_name(&tally->key, name, sizeof(name));
	snprintf(domain, sizeof(domain), "kernel %" PRIu32, tally->key.tid);
	r = ts_session_kernel_thread_of(s, &event, &row.thread);
	r = r ?: ts_session_kernel_name(s, domain, sizeof(domain), &row.domain);
	r = r ?: add_tally_row(s, name, "count", &row, tally->sum.count);
	return r ?: add_tally_row(s, name, "ns", &row, tally->sum.ns);
}

/* Adds rows for tallies whose count changed. */
static int take_tallies(struct ts_session *s)
{
	struct ts_session_kernel *kernel = s->kernel;
	const struct ts_kernel_tally *tallies;
	uint64_t now = ts_clock_monotonic_ns(), *reported;
	size_t n;
	int r;

	if (!kernel->ended && now - kernel->tally_ns < TALLY_NS)
		return 0;
	kernel->tally_ns = now;
	/* If memory is short, the next round tries again. */
	if (ts_kernel_feed_tallies(kernel->feed, &tallies, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		reported = reported_tally(kernel, &tallies[i].key);
		if (!reported || *reported == tallies[i].sum.count)
			continue;
		*reported = tallies[i].sum.count;
		ts_session_dirty(s);
		r = add_tally(s, &tallies[i], now);
		if (r)
			return r;
	}
	return 0;
}

static int count_losses(struct ts_session *s)
{
	struct ts_session_kernel *kernel = s->kernel;
	uint64_t lost[TS_BPF_N_PROGRAMS];
	int r = 0;

	ts_kernel_feed_losses(kernel->feed, lost);
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS && !r; i++) {
		struct ts_row_loss row;

		if (lost[i] <= kernel->lost_reported[i])
			continue;
		row = ts_loss_row(TS_LOSS_KERNEL_EVENTS, lost[i] - kernel->lost_reported[i],
				  s->loss_ns, ts_clock_monotonic_ns());
		row.context = i + 1;
		kernel->lost_reported[i] = lost[i];
		r = ts_session_add_loss(s, &row);
	}
	return r;
}

void ts_session_kernel_config(struct ts_session *s, const struct ts_kernel_config *config)
{
	struct ts_kernel_config *copy = s->kernel ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return;
	*copy = *config;
	/* Pairs with follow_config(). */
	free(__atomic_exchange_n(&s->kernel->wanted, copy, __ATOMIC_ACQ_REL));
}

/* Applies a new configuration. While recording is paused, the feed watches nothing. */
static void follow_config(struct ts_session *s)
{
	/* Pairs with ts_session_kernel_config(). */
	struct ts_kernel_config *wanted =
		__atomic_exchange_n(&s->kernel->wanted, NULL, __ATOMIC_ACQ_REL);
	bool quiet = !s->ending && __atomic_load_n(&s->memory.control->command, __ATOMIC_RELAXED) &
					   TS_COMMAND_PAUSED;
	struct ts_kernel_config none = {0};
	int r;

	if (!wanted && quiet == s->kernel->quiet)
		return;
	if (wanted)
		s->kernel->config = *wanted;
	free(wanted);
	s->kernel->quiet = quiet;
	ts_session_samples_enable(s->kernel->samples,
				  !quiet && s->kernel->config.programs & 1u << TS_BPF_SAMPLES);
	if (!s->kernel->feed)
		return;
	r = ts_kernel_feed_change(s->kernel->feed, quiet ? &none : &s->kernel->config);
	if (r)
		ts_log(TS_LOG_WARNING, "pid %" PRIu32 " is recorded without kernel events: %s",
		       s->row.pid, strerror(-r));
}

/* Writes the rows if there are enough. */
static int write_many(struct ts_session *s)
{
	return ts_sbt_session_writer_pending_rows(s->writer) < KERNEL_ROWS ? 0
									   : ts_session_write(s);
}

/* Makes rows of the events that the feed has copied. */
static int take_copies(struct ts_session *s, const uint8_t *bytes, size_t n_bytes)
{
	int r = 0;

	for (size_t off = 0; off < n_bytes && !r;) {
		/* Aligned: ts_kernel_feed_take() guarantees it. */
		const struct ts_bpf_event *event = (const void *)(bytes + off);

		/* The hub's thread wrote them on another CPU. */
		__builtin_prefetch(bytes + off + PREFETCH_BYTES);
		__builtin_prefetch(bytes + off + PREFETCH_BYTES + 64);
		if (ts_unlikely(!s->dirty))
			ts_session_dirty(s);
		r = add_event(s, event);
		off += ts_kernel_event_bytes(event);
		r = r ?: write_many(s);
	}
	return r ?: put_batches(s);
}

static bool take_in_place(void *data, const struct ts_bpf_event *event)
{
	struct ts_session *s = data;

	if (add_event(s, event))
		return false;
	s->kernel->n_in_place++;
	return true;
}

/*
 * Makes rows of events where the kernel wrote them, until no event is left, or the feed has copied
 * the next event. Gives the rows to the writer afterwards, because other threads that need the
 * events wait meanwhile.
 */
static int read_in_place(struct ts_session *s, bool *ret_has_more)
{
	int r;

	s->kernel->is_in_place = true;
	*ret_has_more = ts_kernel_feed_read(s->kernel->feed, take_in_place, s);
	s->kernel->is_in_place = false;
	r = put_batches(s);
	return r ?: write_many(s);
}

/* Makes rows of the events that were copied, and then of those that wait. */
static int take_events(struct ts_session *s, const void *events, size_t n_bytes)
{
	struct ts_session_kernel *kernel = s->kernel;
	bool has_more = true;
	int r = 0;

	kernel->n_in_place = 0;
	while (has_more) {
		r = n_bytes ? take_copies(s, events, n_bytes) : 0;
		if (r || kernel->n_in_place >= ROUND_EVENTS)
			return r;
		r = read_in_place(s, &has_more);
		kernel->flowing |= kernel->n_in_place != 0;
		if (r)
			return r;
		if (has_more)
			(void)ts_kernel_feed_take(kernel->feed, &events, &n_bytes);
	}
	return 0;
}

static int take_feed(struct ts_session *s)
{
	const void *events;
	size_t n_bytes;
	int r;

	s->kernel->flowing = ts_kernel_feed_take(s->kernel->feed, &events, &n_bytes);
	/* Recording has ended (TS_COMMAND_RECORD is clear). */
	if (!(__atomic_load_n(&s->memory.control->command, __ATOMIC_RELAXED) & TS_COMMAND_RECORD) &&
	    !s->ending)
		return count_losses(s);
	r = take_events(s, events, n_bytes);
	r = r ?: take_tallies(s);
	return r ?: count_losses(s);
}

int ts_session_kernel_round(struct ts_session *s)
{
	int r;

	if (!s->kernel)
		return 0;
	follow_config(s);
	r = s->kernel->feed ? take_feed(s) : 0;
	return r ?: ts_session_samples_round(s, s->kernel->samples);
}

uint64_t ts_session_kernel_memory(const struct ts_session *s)
{
	const struct ts_session_kernel *kernel = s->kernel;

	if (!kernel)
		return 0;
	return sizeof(*kernel) + ts_map_bytes(&kernel->threads) + ts_map_bytes(&kernel->tallied) +
	       kernel->n_tallies_allocated * sizeof(*kernel->tallies) +
	       (kernel->feed ? ts_kernel_feed_memory(kernel->feed) : 0) +
	       ts_session_samples_memory(kernel->samples);
}

bool ts_session_kernel_flows(const struct ts_session *s)
{
	return s->kernel && s->kernel->flowing;
}

int ts_session_kernel_end(struct ts_session *s)
{
	int r;

	if (!s->kernel)
		return 0;
	if (s->kernel->feed)
		ts_kernel_feed_end(s->kernel->feed);
	s->kernel->ended = true;
	r = ts_session_kernel_round(s);
	return r ?: ts_session_samples_end(s, s->kernel->samples);
}

/*
 * Confirms that the pid is still the process that connected, and not a new process with the same
 * pid.
 */
static int confirm_process(const struct ts_session *s, struct ts_kernel_process *ret_process)
{
	const struct ts_identity *peer = &s->options.peer;

	*ret_process =
		(struct ts_kernel_process){.pid = peer->pid, .uid = peer->uid, .gid = peer->gid};
	return ts_identity_confirm(s->options.peer_fd, peer, &ret_process->start_ticks);
}

static void complain(const struct ts_session *s, const char *what, int r)
{
	ts_log(TS_LOG_WARNING, "pid %" PRIu32 " is recorded without %s: %s", s->row.pid, what,
	       strerror(-r));
}

/*
 * Begins kernel events and samples. If some are unavailable, logs the reason, and the session runs
 * without them.
 */
int ts_session_kernel_begin(struct ts_session *s)
{
	struct ts_session_kernel *kernel;
	struct ts_kernel_process process;
	char path[32];
	int r;

	if (!s->options.kernel || !ts_kernel_hub_programs(s->options.kernel))
		return 0;
	r = confirm_process(s, &process);
	if (r) {
		complain(s, "kernel events", r);
		return 0;
	}
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return ts_error_origin(-ENOMEM);
	kernel->config = *ts_kernel_hub_config(s->options.kernel);
	kernel->pid = (pid_t)s->row.pid;
	r = ts_kernel_feed_new(s->options.kernel, &process, &kernel->feed);
	if (r)
		complain(s, "kernel events", r);
	if (kernel->config.programs & 1u << TS_BPF_SAMPLES) {
		r = ts_session_samples_new(&process, kernel->config.threshold_ns[TS_BPF_SAMPLES],
					   &kernel->samples);
		if (r)
			complain(s, "samples", r);
	}
	if (!kernel->feed && !kernel->samples) {
		free(kernel);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", s->row.pid);
	kernel->inner = ts_session_kernel_inner_number(path) != 0;
	s->kernel = kernel;
	return 0;
}

void ts_session_kernel_deinit(struct ts_session *s)
{
	if (!s->kernel)
		return;
	ts_kernel_feed_free(s->kernel->feed);
	ts_session_samples_free(s->kernel->samples);
	ts_map_deinit(&s->kernel->tallied);
	free(s->kernel->tallies);
	ts_map_deinit(&s->kernel->threads);
	free(s->kernel->wanted);
	free(s->kernel);
}
