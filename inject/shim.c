/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's life: next to nothing when it is loaded; a session when the driver calls InitializeInjection from the first
 * cuInit(), or at the application's first mark, range or counter, whichever comes first; CUPTI when the driver calls; and
 * an end that waits for nothing without a bound.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include "inject/annotate/annotation-names.h"
#include "inject/context.h"
#include "inject/cuda/recorder.h"
#include "inject/ring/futex.h"
#include "inject/ring/handover.h"
#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"
#include "inject/shim-debug.h"
#include "inject/shim.h"

/* How long cuInit() waits for the session's memory, and for its hand-over; both take about a millisecond. */
#define SETUP_NS UINT64_C(2000000000)
/*
 * How long an ending process waits for CUPTI: while it delivers, so that a second's worth of launches is not thrown
 * away; not when it hangs. And then for a private daemon to complete the file.
 */
#define FLUSH_IDLE_NS UINT64_C(2000000000)
#define FLUSH_NS      UINT64_C(10000000000)
/* Where nothing may be lost a daemon is waited for as a full ring's is, as long as there is one. */
#define FLUSH_LOSSLESS_NS (2 * TS_PRODUCER_LOSSLESS_NS)
/* How long the farewell may take: that it went out, a moment where our thread gets a processor; that the file is complete, longer. */
#define FAREWELL_NS UINT64_C(2000000000)

static int make_gate(struct ts_gate **ret_gate)
{
	const size_t n_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = ts_unlocked_map(n_bytes);

	if (!page)
		return -ENOMEM;
	if (madvise(page, n_bytes, MADV_WIPEONFORK) < 0) {
		int error = -errno;

		munmap(page, n_bytes);
		return error;
	}
	((struct ts_gate *)page)->alive = 1;
	/* Other threads may look at it by now: what they find is whole. */
	__atomic_store_n(ret_gate, page, __ATOMIC_RELEASE);
	return 0;
}

static void at_exit(void)
{
	ts_shim_end(false);
}

static void at_quick_exit_handler(void)
{
	ts_shim_end(true);
}

/* The session's side of the process: memory, definitions, rings, unwinder. Returns 0 or a negative errno. */
static int set_up_session(struct ts_shim *shim, uint32_t parent_session_pid)
{
	struct ts_session_options options = {
		.n_shards = TS_SHARDS_DEFAULT,
		.ring_bytes = shim->config.ring_bytes,
		.arena_bytes = TS_ARENA_BYTES_DEFAULT,
		.lane_bytes = shim->config.capture.max_bytes ? TS_LANE_BYTES_DEFAULT : 0,
		.parent_session_pid = parent_session_pid,
		/* Records from the first call on; the daemon says what it wants when it has them, and keeps to these requests. */
		.command = TS_COMMAND_RECORD | (shim->config.stacks ? TS_COMMAND_STACKS : 0) |
			   (shim->config.lossless ? TS_COMMAND_LOSSLESS : 0) |
			   (shim->config.start_later ? TS_COMMAND_PAUSED : 0),
		.program = shim->config.program,
	};
	/* Rings of the size that was asked for, if need be fewer of them. */
	const uint64_t n_fitting = (TS_SESSION_MAX_BYTES - 2 * TS_ARENA_BYTES_DEFAULT) /
				   (options.ring_bytes + sizeof(struct ts_shard));
	int r;

	if (options.n_shards > n_fitting)
		options.n_shards = (uint32_t)n_fitting;
	r = ts_link_start(&shim->link, &shim->config, shim->gate, &options);
	if (r)
		return r;
	if (!ts_futex_wait_for(&shim->link.session_made, 1, SETUP_NS))
		return -ETIMEDOUT;
	if (shim->link.error)
		return shim->link.error;
	shim->control = shim->link.memory.control;
	r = ts_definitions_init(&shim->definitions, &shim->link.memory);
	if (!r)
		r = ts_producer_init(&shim->producer, shim->gate, shim->control, &shim->definitions,
				     shim->epoch);
	return r;
}

/* There is no session to say it through: a daemon that listens is told. */
static void send_refusal(const struct ts_config *config, int error, const char *what)
{
	ts_cleanup(ts_closep) int fd = -1;
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(-error));
	ts_debug(config, "no session: %s", text);
	if (!ts_handover_connect(config->socket, &fd))
		(void)ts_handover_note(fd, TS_EMPTY_NO_MEMORY, config->program, text);
}

/* The application's own profiler has CUPTI: as if it had been given up to it. It is taken when that one is done. */
static void start_yielded(struct ts_shim *shim)
{
	struct ts_yield *yield = &shim->yield;
	char text[256];

	snprintf(text, sizeof(text), "the application's own profiler holds CUPTI: %s", yield->to);
	yield->from_start = true;
	/* CUPTI numbers calls from the first one on. */
	yield->last_seen_id = 0;
	yield->is_last_seen_known = true;
	__atomic_store_n(&yield->state, TS_YIELD_GIVEN, __ATOMIC_SEQ_CST);
	ts_session_wait_for_cupti(shim->control, text);
	ts_flush_record_yield(shim, true);
}

/* The session, without CUPTI. */
static bool start_session(struct ts_shim *shim, uint32_t parent_session_pid)
{
	int r;

	ts_config_read(&shim->config, ts_loaded.library, ts_loaded.filters);
	r = make_gate(&shim->gate);
	if (r) {
		send_refusal(&shim->config, r, "the page that tells a forked child");
		return false;
	}
	r = set_up_session(shim, parent_session_pid);
	ts_debug(&shim->config, "session: %s", strerror(-r));
	if (r) {
		if (shim->control)
			ts_session_refuse(shim->control, TS_EMPTY_NO_MEMORY, strerror(-r));
		else if (!shim->link.error)
			/* Where it has an error, the link thread tells it. */
			send_refusal(&shim->config, r,
				     "the thread that makes the session's memory");
		return false;
	}
	__atomic_store_n(&shim->control->state, TS_SESSION_RECORDING, __ATOMIC_RELEASE);
	at_quick_exit(at_quick_exit_handler);
	ts_link_open_annotations(&shim->link);
	ts_names_session_began(shim);
	/* So that a process that is killed at once has its session in a daemon's hands. */
	(void)ts_futex_wait_for(&shim->link.handed_over, 1, SETUP_NS);
	return true;
}

/* Whether what there is of a session is the parent's, this being a child that it forked: its page is wiped, or not made yet. */
static bool is_parents(const struct ts_shim *shim, uint32_t started)
{
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	pid_t pid = __atomic_load_n(&shim->pid, __ATOMIC_RELAXED);

	if (!started || !pid || (gate && __atomic_load_n(&gate->alive, __ATOMIC_RELAXED)))
		return false;
	return pid != getpid();
}

bool ts_shim_begin(void)
{
	/* Of all sessions that this process had, and those that it was forked from. */
	static uint32_t last_epoch;
	struct ts_shim *shim = &ts_shim;
	uint32_t started = __atomic_load_n(&shim->started, __ATOMIC_ACQUIRE);
	uint32_t parent_session_pid = 0, was_busy = ts_tls.busy, none = 0;
	const struct ts_gate *gate;
	int saved_errno = errno;

	if (is_parents(shim, started)) {
		parent_session_pid = (uint32_t)shim->pid;
		memset(shim, 0, sizeof(*shim));
	}
	if (__atomic_compare_exchange_n(&shim->started, &none, 1, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_store_n(&shim->pid, getpid(), __ATOMIC_RELAXED);
		shim->epoch = ++last_epoch;
		memset(&ts_tls.call, 0, sizeof(ts_tls.call));
		ts_tls.busy = TS_BUSY_IN_CALL;
		start_session(shim, parent_session_pid);
		ts_tls.busy = was_busy;
		ts_futex_set(&shim->started, 2);
	} else if (none == 1) {
		/* Another thread is at it; this one's own is busy, and does not come here. */
		(void)ts_futex_wait_for(&shim->started, 2, SETUP_NS);
	}
	errno = saved_errno;
	gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	return gate && __atomic_load_n(&gate->annotating, __ATOMIC_ACQUIRE);
}

/* CUPTI joins the session. */
static void start_cuda(struct ts_shim *shim)
{
	enum ts_empty_reason reason;
	char text[256];

	ts_stack_init(&shim->stacks, shim->config.python_stacks, shim->config.check_stacks);
	reason = ts_cupti_load(&shim->cupti, &shim->config, text, sizeof(text));
	/* Since before the driver was initialised, or that is its own cuptiSubscribe()'s doing: that one comes first. */
	if (!reason && ts_yield_is_held(&shim->yield))
		start_yielded(shim);
	shim->control->vendor_version = shim->cupti.version;
	shim->control->driver_version = shim->cupti.driver_version;
	if (!reason && !shim->yield.from_start)
		reason = ts_recorder_start(shim, text, sizeof(text));
	if (*ts_loaded.nvtx_holder)
		ts_names_missing(shim, ts_loaded.nvtx_holder);
	__atomic_store_n(&shim->link.flushes, !reason, __ATOMIC_RELEASE);
	if (!reason && ts_flush_start(&shim->flush, shim)) {
		snprintf(text, sizeof(text), "the flush thread could not be started");
		__atomic_store_n(&shim->link.flushes, 0, __ATOMIC_RELEASE);
		if (!shim->yield.from_start) {
			ts_recorder_disable(shim);
			ts_recorder_unsubscribe(shim);
		}
		reason = TS_EMPTY_NO_MEMORY;
	}
	if (reason) {
		/* Said once, through the session: never on the application's own output. */
		ts_debug(&shim->config, "refused: %s", text);
		ts_session_refuse(shim->control, reason, text);
	}
	/*
	 * Trap: handlers run in reverse order. Registered after CUPTI's own set-up, ours runs while CUPTI still works;
	 * what the application does after it is taken up by the library's destructor.
	 */
	atexit(at_exit);
	at_quick_exit(at_quick_exit_handler);
}

/*
 * Called by the driver inside the first cuInit(), once in a process; by a second library that is found by
 * another path, again. A forked child that gets here anew makes a session of its own. Where the application has
 * annotated before, there is a session already.
 */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	struct ts_shim *shim = &ts_shim;
	bool has = ts_shim_begin();
	int saved_errno = errno;
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&shim->cuda_started, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return 1;
	ts_tls.busy = TS_BUSY_IN_CALL;
	if (has)
		start_cuda(shim);
	ts_tls.busy = TS_BUSY_NOT;
	__atomic_store_n(&shim->cuda_started, 2, __ATOMIC_RELEASE);
	errno = saved_errno;
	/* 1 is success; the driver goes on either way. */
	return 1;
}

static void flush(struct ts_shim *shim, enum ts_flush_request request)
{
	bool lossless =
		__atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_LOSSLESS;

	if (lossless && __atomic_load_n(&shim->gate->served, __ATOMIC_RELAXED))
		ts_flush_now(&shim->flush, request, TS_PRODUCER_LOSSLESS_NS, FLUSH_LOSSLESS_NS);
	else
		ts_flush_now(&shim->flush, request, FLUSH_IDLE_NS, FLUSH_NS);
}

/* First: everything that CUPTI holds goes into the rings. */
static void end_flush(struct ts_shim *shim)
{
	bool dirty = __atomic_load_n(&shim->producer.dirty, __ATOMIC_ACQUIRE), again;

	if (__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE))
		return;
	/*
	 * Once at exit(), while the driver lives; again only if calls were recorded since then (by
	 * destructors), which shows that it still does, and only where this library's destructor comes before the
	 * driver's: preloaded, not loaded by the driver. Never where no work was submitted.
	 */
	again = __atomic_exchange_n(&shim->flushed, 1, __ATOMIC_ACQ_REL);
	if (again && (!dirty || !ts_loaded.interposes))
		return;
	/*
	 * On the flush thread, and waited for with a bound: this thread may have been interrupted, by the signal
	 * handler that called exit(), anywhere: holding our locks, or CUPTI's.
	 */
	flush(shim, again ? TS_FLUSH_AGAIN : TS_FLUSH_END);
}

static bool waits_for_file(const struct ts_link *link)
{
	return link->is_private || __atomic_load_n(&link->waits_for_file, __ATOMIC_RELAXED);
}

/* Then: no record follows, and the daemon is told. */
static void end_link(struct ts_shim *shim)
{
	if (__atomic_exchange_n(&shim->ended, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_store_n(&shim->gate->recording, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shim->gate->mode, TS_GATE_CLOSED, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shim->gate->rows, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&shim->gate->annotating, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shim->gate->annotations, TS_GATE_CLOSED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shim->control->state, __ATOMIC_RELAXED) != TS_SESSION_REFUSED)
		__atomic_store_n(&shim->control->state, TS_SESSION_ENDED, __ATOMIC_RELEASE);
	ts_futex_set(&shim->link.request, TS_LINK_BYE);
	/* The process's own file is complete when the command returns; else a service needs but to be told. */
	(void)ts_futex_wait_for(&shim->link.farewell,
				waits_for_file(&shim->link) ? TS_LINK_HEARD_DONE : TS_LINK_SAID_BYE,
				FAREWELL_NS);
}

/* getpid() for the child of a vfork(), which shares the page; `alive` for that of a fork(). */
static bool has_session(const struct ts_shim *shim)
{
	return __atomic_load_n(&shim->started, __ATOMIC_ACQUIRE) == 2 &&
	       __atomic_load_n(&shim->cuda_started, __ATOMIC_ACQUIRE) != 1 && shim->gate &&
	       shim->gate->alive && shim->pid == getpid() && shim->control;
}

void ts_shim_yield(void)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;

	/* On the flush thread, where all of CUPTI is done that is not done in a callback; and waited for where it takes back. */
	if (has_session(shim) && !__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE) &&
	    shim->flush.shim && ts_tls.busy != TS_BUSY_OURS &&
	    __atomic_load_n(&shim->yield.state, __ATOMIC_SEQ_CST) != TS_YIELD_GIVEN)
		flush(shim, TS_FLUSH_DETACH);
	errno = saved_errno;
}

void ts_shim_leave(void)
{
	struct ts_shim *shim = &ts_shim;
	uint32_t recording = TS_SESSION_RECORDING;
	int saved_errno = errno;

	/* Once exit() has begun, its flush has been, or is under way. */
	if (has_session(shim) && !__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE)) {
		if (ts_cupti_is_ours(&shim->cupti) && shim->flush.shim)
			flush(shim, TS_FLUSH_LEAVE);
		/* The daemon hears of it as of a death, by the connection's end. */
		__atomic_compare_exchange_n(&shim->control->state, &recording, TS_SESSION_ENDED,
					    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	errno = saved_errno;
}

void ts_shim_stay(void)
{
	struct ts_shim *shim = &ts_shim;
	uint32_t ended = TS_SESSION_ENDED;
	int saved_errno = errno;

	if (has_session(shim) && !__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE))
		__atomic_compare_exchange_n(&shim->control->state, &ended, TS_SESSION_RECORDING,
					    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	errno = saved_errno;
}

void ts_shim_end(bool last)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;

	if (!has_session(shim))
		return;
	if (ts_cupti_is_ours(&shim->cupti) && shim->flush.shim)
		end_flush(shim);
	if (last)
		end_link(shim);
	errno = saved_errno;
}
