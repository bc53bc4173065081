/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a session. The driver calls InitializeInjection(). preload.c, process-exec.c, yield.c
 * and annotation.c call the functions of shim.h. This module calls all parts of the shim: link
 * thread, producer, recorder, flush thread.
 *
 * - Load: the library does nearly nothing.
 * - Session: begins when the driver calls InitializeInjection() in the first cuInit(), or at the
 *   application's first mark, range or counter, whichever comes first.
 * - CUPTI: joins the session in InitializeInjection().
 * - End: flush, then farewell to the daemon. Each wait has a bound.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include "inject/annotate/annotation-names.h"
#include "inject/context.h"
#include "inject/cuda/recorder.h"
#include "inject/cuda/renumber.h"
#include "inject/hip/hip-recorder.h"
#include "inject/process/at-load.h"
#include "inject/ring/futex.h"
#include "inject/ring/handover.h"
#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"
#include "inject/shim-debug.h"
#include "inject/shim.h"

/*
 * Longest wait of cuInit() for the session's memory, and for the hand-over. Each takes about a
 * millisecond.
 */
#define SETUP_NS UINT64_C(2000000000)
/*
 * Longest waits of an ending process for CUPTI. While CUPTI delivers, the process waits up to
 * FLUSH_NS, so that recent launches are not lost. If nothing arrives for FLUSH_IDLE_NS, CUPTI hangs
 * and the wait ends.
 */
#define FLUSH_IDLE_NS UINT64_C(2000000000)
#define FLUSH_NS      UINT64_C(10000000000)
/*
 * If the session is lossless, the process waits for a daemon as long as for a full ring, while a
 * daemon serves it.
 */
#define FLUSH_LOSSLESS_NS (2 * TS_PRODUCER_LOSSLESS_NS)
/*
 * Longest wait until BYE is sent and, if the daemon writes the process's own file, until the file
 * is complete.
 */
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
	/* Release: other threads may read the gate already; they find a complete page. */
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

/* Sets up memory, definitions and rings. Returns 0 or a negative errno. */
static int set_up_session(struct ts_shim *shim, uint32_t parent_session_pid)
{
	struct ts_session_options options = {
		.n_shards = TS_SHARDS_DEFAULT,
		.ring_bytes = shim->config.ring_bytes,
		.arena_bytes = TS_ARENA_BYTES_DEFAULT,
		.lane_bytes = shim->config.capture.max_bytes ? TS_LANE_BYTES_DEFAULT : 0,
		.parent_session_pid = parent_session_pid,
		/*
		 * Recording begins with the first call. When the daemon has the rings, it writes
		 * its own command, which respects these settings.
		 */
		.command = TS_COMMAND_RECORD | (shim->config.stacks ? TS_COMMAND_STACKS : 0) |
			   (shim->config.lossless ? TS_COMMAND_LOSSLESS : 0) |
			   (shim->config.start_later ? TS_COMMAND_PAUSED : 0),
		.program = shim->config.program,
		.job = shim->config.job,
	};
	/* Keeps the requested ring size, with fewer rings if they do not fit. */
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

/* Reports a refusal to a listening daemon directly, because there is no session to carry it. */
static void send_refusal(const struct ts_config *config, int error, const char *what)
{
	ts_cleanup(ts_closep) int fd = -1;
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(-error));
	ts_debug(config, "no session: %s", text);
	if (!ts_handover_connect(config->socket, &fd))
		(void)ts_handover_note(fd, TS_EMPTY_NO_MEMORY, config->program, text);
}

/*
 * Starts the session in the state YIELDED, because the application's own profiler holds CUPTI. The
 * flush thread takes CUPTI when the profiler releases it.
 */
static void start_yielded(struct ts_shim *shim)
{
	struct ts_yield *yield = &shim->yield;
	char text[256];

	snprintf(text, sizeof(text), "the application's own profiler holds CUPTI: %s", yield->to);
	yield->from_start = true;
	/* CUPTI numbers calls from 1, so all earlier calls can be counted. */
	yield->last_seen_id = 0;
	yield->is_last_seen_known = true;
	__atomic_store_n(&yield->state, TS_YIELD_GIVEN, __ATOMIC_SEQ_CST);
	ts_session_wait_for_cupti(shim->control, text);
	ts_flush_record_yield(shim, true);
}

/* Starts the session, without CUPTI. */
static bool start_session(struct ts_shim *shim, uint32_t parent_session_pid)
{
	int r;

	ts_config_read(&shim->config, ts_library.path, ts_library.filters);
	if (ts_library.lacks_threads) {
		send_refusal(&shim->config, -ENOSYS,
			     "glibc before 2.34: preload libpthread.so.0 and libdl.so.2 too");
		return false;
	}
	r = make_gate(&shim->gate);
	if (r) {
		send_refusal(&shim->config, r, "the page that marks a forked child");
		return false;
	}
	r = set_up_session(shim, parent_session_pid);
	ts_debug(&shim->config, "session: %s", strerror(-r));
	if (r) {
		if (shim->control)
			ts_session_refuse(shim->control, TS_EMPTY_NO_MEMORY, strerror(-r));
		else if (!shim->link.error)
			/* If link.error is set, the link thread reports it. */
			send_refusal(&shim->config, r,
				     "the thread that allocates the session's memory");
		return false;
	}
	__atomic_store_n(&shim->control->state, TS_SESSION_RECORDING, __ATOMIC_RELEASE);
	at_quick_exit(at_quick_exit_handler);
	ts_link_open_annotations(&shim->link);
	ts_names_session_began(shim);
	/*
	 * Waits until the daemon has the session, so that the session survives a process that is
	 * killed at once.
	 */
	(void)ts_futex_wait_for(&shim->link.handed_over, 1, SETUP_NS);
	return true;
}

/*
 * True if this process is a forked child and the session in memory is the parent's. The child's
 * gate page is wiped, or was not made yet.
 */
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
	/* Epoch of the newest session of this process and of its ancestors. */
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
		__atomic_store_n(&ts_library.has_begun, true, __ATOMIC_RELAXED);
		__atomic_store_n(&shim->pid, getpid(), __ATOMIC_RELAXED);
		shim->epoch = ++last_epoch;
		memset(&ts_tls.call, 0, sizeof(ts_tls.call));
		ts_tls.busy = TS_BUSY_IN_CALL;
		start_session(shim, parent_session_pid);
		ts_tls.busy = was_busy;
		ts_futex_set(&shim->started, 2);
	} else if (none == 1) {
		/*
		 * Another thread is setting the session up. That thread itself does not get here,
		 * because its ts_tls.busy is set.
		 */
		(void)ts_futex_wait_for(&shim->started, 2, SETUP_NS);
	}
	errno = saved_errno;
	gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	return gate && __atomic_load_n(&gate->annotating, __ATOMIC_ACQUIRE);
}

/*
 * Returns true to the one caller that does the work of this word, and sets the word to
 * ONCE_DONE. The others wait for it, with a bound.
 */
#define ONCE_BEGUN 1u
#define ONCE_DONE  2u

static bool begin_once(uint32_t *word)
{
	uint32_t none = 0;

	if (__atomic_compare_exchange_n(word, &none, ONCE_BEGUN, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return true;
	(void)ts_futex_wait_for(word, ONCE_DONE, SETUP_NS);
	return false;
}

/* Sets up the stack walker, once in a session. */
static void start_stacks(struct ts_shim *shim)
{
	if (!begin_once(&shim->stacks_started))
		return;
	ts_stack_init(&shim->stacks, shim->config.python_stacks, shim->config.check_stacks);
	ts_futex_set(&shim->stacks_started, ONCE_DONE);
}

/* Starts the flush thread, once in a session. Returns 0 or a negative errno. */
static int start_flush(struct ts_shim *shim)
{
	if (begin_once(&shim->flush_started)) {
		/*
		 * Set before the flush thread starts: from now on the flush thread, and not the
		 * link thread, answers the daemon's flush requests.
		 */
		__atomic_store_n(&shim->link.flushes, 1, __ATOMIC_RELEASE);
		shim->flush_error = ts_flush_start(&shim->flush, shim);
		if (shim->flush_error)
			__atomic_store_n(&shim->link.flushes, 0, __ATOMIC_RELEASE);
		ts_futex_set(&shim->flush_started, ONCE_DONE);
	}
	return shim->flush_error;
}

bool ts_shim_run(struct ts_shim *shim)
{
	start_stacks(shim);
	if (start_flush(shim))
		return false;
	/*
	 * at_exit() runs before the exit handlers that the vendor's library has registered so far.
	 */
	atexit(at_exit);
	return true;
}

/* Loads CUPTI, or the like library of another vendor (NULL: CUPTI). */
static enum ts_empty_reason load_cupti(struct ts_shim *shim, const struct ts_pti_vendor *vendor,
				       char *ret_text, size_t n_text_bytes)
{
	if (vendor)
		return ts_family_load(&shim->cupti, vendor, &shim->family, &shim->config, ret_text,
				      n_text_bytes);
	return ts_cupti_load(&shim->cupti, &shim->config, ret_text, n_text_bytes);
}

/* Joins CUPTI, or the like library of another vendor (NULL: CUPTI), to the session. */
static void start_cuda(struct ts_shim *shim, const struct ts_pti_vendor *vendor)
{
	enum ts_empty_reason reason;
	char text[256];

	/* If HIP came first, CUDA's operations, devices and contexts get numbers above HIP's. */
	if (!ts_shim_claim_numbers(shim, TS_API_CUDA_DRIVER)) {
		__atomic_store_n(&shim->widen.reference, TS_OP_ID_SECOND, __ATOMIC_RELAXED);
		shim->first_cuda_device = TS_BESIDE_DEVICE;
	}
	start_stacks(shim);
	reason = load_cupti(shim, vendor, text, sizeof(text));
	/*
	 * The application held CUPTI before cuInit(), or its cuptiSubscribe() initialised the
	 * driver. The application comes first.
	 */
	if (!reason && ts_yield_is_held(&shim->yield))
		start_yielded(shim);
	shim->control->vendor_version = shim->cupti.version;
	shim->control->driver_version = shim->cupti.driver_version;
	if (!reason && !shim->yield.from_start)
		reason = ts_recorder_start(shim, text, sizeof(text));
	if (!reason)
		__atomic_fetch_or(&shim->control->interfaces,
				  vendor ? TS_INTERFACE_PTI << vendor->id : TS_INTERFACE_CUPTI,
				  __ATOMIC_RELAXED);
	if (ts_library.nvtx_holder)
		ts_names_missing(shim, ts_library.nvtx_holder);
	if (vendor && shim->config.capture.max_bytes) {
		char note[128];

		snprintf(note, sizeof(note),
			 "capture for replay knows CUDA's calls, not those of %s", vendor->maker);
		ts_names_note(shim, note);
	}
	if (!reason && start_flush(shim)) {
		snprintf(text, sizeof(text), "the flush thread could not be started");
		if (!shim->yield.from_start) {
			ts_recorder_disable(shim);
			ts_recorder_unsubscribe(shim);
		}
		reason = TS_EMPTY_NO_MEMORY;
	}
	if (reason) {
		/*
		 * The refusal is reported once, through the session, and never on the application's
		 * output.
		 */
		ts_debug(&shim->config, "refused: %s", text);
		ts_session_refuse(shim->control, reason, text);
	}
	/*
	 * Trap: exit handlers run in reverse order. This one is registered after CUPTI's set-up, so
	 * it runs while CUPTI still works. The library's destructor handles calls that the
	 * application makes later.
	 */
	atexit(at_exit);
	at_quick_exit(at_quick_exit_handler);
}

void ts_shim_start_gpu(const struct ts_pti_vendor *vendor)
{
	struct ts_shim *shim = &ts_shim;
	bool has = ts_shim_begin();
	int saved_errno = errno;
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&shim->cuda_started, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED)) {
		/* The thread that starts CUPTI may come here, through its own calls. */
		if (none == 1 && !ts_tls.busy)
			(void)ts_futex_wait_for(&shim->cuda_started, 2, SETUP_NS);
		errno = saved_errno;
		return;
	}
	ts_tls.busy = TS_BUSY_IN_CALL;
	if (has)
		start_cuda(shim, vendor);
	ts_tls.busy = TS_BUSY_NOT;
	ts_futex_set(&shim->cuda_started, 2);
	errno = saved_errno;
}

/*
 * The driver calls this function inside the first cuInit(), once in a process. If the driver finds
 * a second library by another path, it calls again. A forked child gets a session of its own here.
 * If the application made annotations before, a session exists already. Drivers of vendors that
 * copied CUDA's interface call it too.
 */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	ts_shim_start_gpu(ts_family_find());
	/* 1 means success; the driver continues in either case. */
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

/*
 * First step of the end: flushes CUPTI, so that all its records are in the rings. The flush thread
 * also reports once more, and follows the libraries of the last stacks.
 */
static void end_flush(struct ts_shim *shim)
{
	bool dirty = __atomic_load_n(&shim->producer.dirty, __ATOMIC_ACQUIRE), again;

	if (__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE))
		return;
	/*
	 * The flush runs once at exit(), while the driver lives. It runs again only if calls were
	 * recorded after that (by destructors), which shows that the driver still works. The second
	 * flush also needs this library's destructor to run before the driver's: the library is
	 * preloaded, not loaded by the driver. Without work, no flush runs.
	 */
	again = __atomic_exchange_n(&shim->flushed, 1, __ATOMIC_ACQ_REL);
	if (again && (!dirty || !ts_library.interposes))
		return;
	/*
	 * The flush thread flushes, and this thread waits with a bound. A signal handler that
	 * called exit() may have interrupted this thread while it held a lock of the shim or of
	 * CUPTI.
	 */
	flush(shim, again ? TS_FLUSH_AGAIN : TS_FLUSH_END);
}

/* True if the end has something to flush, and a thread that does it. */
static bool is_flushed(const struct ts_shim *shim)
{
	return (ts_cupti_is_ours(&shim->cupti) ||
		__atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE)) &&
	       shim->flush.shim && !shim->flush_error;
}

static bool waits_for_file(const struct ts_link *link)
{
	return link->is_private || __atomic_load_n(&link->waits_for_file, __ATOMIC_RELAXED);
}

/* Second step of the end: stops recording and sends BYE to the daemon. */
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
	/*
	 * A private daemon's file must be complete when the command returns. For a service, it is
	 * enough that BYE is sent.
	 */
	(void)ts_futex_wait_for(&shim->link.farewell,
				waits_for_file(&shim->link) ? TS_LINK_HEARD_DONE : TS_LINK_SAID_BYE,
				FAREWELL_NS);
}

/*
 * True if this process has a session. getpid() excludes the child of a vfork(), which shares the
 * gate's page; `alive` excludes the child of a fork().
 */
TS_CALLED_AT_LOAD static bool has_session(const struct ts_shim *shim)
{
	return __atomic_load_n(&ts_library.has_begun, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&shim->started, __ATOMIC_ACQUIRE) == 2 &&
	       __atomic_load_n(&shim->cuda_started, __ATOMIC_ACQUIRE) != 1 && shim->gate &&
	       shim->gate->alive && shim->pid == getpid() && shim->control;
}

void ts_shim_yield(void)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;

	/*
	 * The flush thread makes all CUPTI calls outside callbacks. If it is taking CUPTI back,
	 * this thread waits for that too.
	 */
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

	/* After exit() has begun, its flush is done or running. */
	if (has_session(shim) && !__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE)) {
		if (is_flushed(shim))
			flush(shim, TS_FLUSH_LEAVE);
		ts_hip_wait(shim);
		/* The daemon sees the end of the connection, as after the process's death. */
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

TS_CALLED_AT_LOAD void ts_shim_end(bool last)
{
	struct ts_shim *shim = &ts_shim;
	int saved_errno = errno;

	if (!has_session(shim))
		return;
	if (is_flushed(shim))
		end_flush(shim);
	if (!__atomic_load_n(&shim->ended, __ATOMIC_ACQUIRE))
		ts_hip_wait(shim);
	if (last)
		end_link(shim);
	errno = saved_errno;
}
