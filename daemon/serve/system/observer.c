/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer's thread. server-system.c and control.c call this module from the main thread,
 * through fields that `lock` guards. This module calls probed.c (probes), inspector.c (/proc),
 * observed.c (sessions) and daemon/bpf/system.h (events).
 *
 * The thread sleeps until a file is mapped, an event or a request comes, or a timeout. A few times
 * a second it reads all events, makes rows, writes and publishes the list.
 */
#include "daemon/serve/system/observer.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "daemon/serve/system/observed.h"
#include "daemon/serve/system/probed.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/grow.h"
#include "proto/abi/utf8.h"

#define MS_NS	     UINT64_C(1000000)
#define FLOWING_MS   50
#define QUIET_MS     250
#define LEAST_NS     (2 * MS_NS) /* between rounds */
#define SWEEP_NS     (1000 * MS_NS)
#define SHIM_NS	     (3000 * MS_NS) /* maximum time that a shim may take to begin a session */
#define SEAL_ROWS    65536u
#define BUCKETS	     1024u
#define SHIM_MAPPING "/memfd:tracesmith-session"
#define SETTLE_NS \
	(2000 * MS_NS) /* maximum time that a switch waits until mapped files have probes */

/*
 * The charge for the definitions of a user's ended processes. The definitions stay in the file's
 * writer, so they are charged until the observer is freed.
 */
struct charge {
	struct ts_user *user;
	uint64_t bytes;
};

struct ts_observer {
	struct ts_observer_options options;
	struct ts_system *system;
	struct ts_inspector *inspector;
	struct ts_probed *probed;
	pthread_t thread;
	bool started, joined;
	sem_t ready; /* mapped files have probes */
	int wake_fd, epoll_fd;

	pthread_mutex_t lock; /* guards the fields below */
	bool ending, paused;
	pid_t *excluded; /* processes to exclude, requested by the main thread */
	size_t n_excluded, n_allocated;
	struct ts_observer_list list; /* list of sessions at the last round */
	uint64_t seals_asked;	      /* written by the main thread, under the lock */
	uint64_t seals_done;	      /* release in the thread, acquire in the main thread */

	/* Used only by the observer's thread, unless noted. */
	struct ts_observed *processes[BUCKETS];
	struct charge *charges;
	size_t n_charges, n_charges_allocated;
	uint32_t n_sessions;   /* any thread reads it */
	uint64_t unattributed; /* number of calls by processes for which the table had no room */
	bool flowing;
	bool is_paused; /* release in the thread, acquire in the main thread */
	uint64_t seal_ns, sweep_ns;
	/* Error of the file: nothing more is written. Any thread reads it. */
	int error;
	struct ts_observer_sum sum;
};

/* ---- processes ---- */

static struct ts_observed **find(struct ts_observer *observer, uint32_t pid)
{
	struct ts_observed **p = &observer->processes[pid % BUCKETS];

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

/*
 * Binds a process to the account of its user, once the user is known. False: the account has no
 * room.
 */
static bool bind(struct ts_observer *observer, struct ts_observed *observed, uint32_t uid)
{
	struct ts_user *user;

	if (observed->user || uid == UINT32_MAX)
		return true;
	user = ts_users_ref(observer->options.users, uid);
	if (!ts_user_take(user, TS_RESOURCE_OBSERVED_PIDS, 1)) {
		ts_user_unref(user);
		return false;
	}
	observed->user = user;
	return true;
}

/*
 * Returns the entry of a process. `uid` is the uid of the process's user; UINT32_MAX: it is
 * unknown, or the daemon itself makes the request.
 */
static struct ts_observed *get(struct ts_observer *observer, uint32_t pid, uint32_t uid)
{
	struct ts_observed **p = find(observer, pid), *observed;

	if (*p)
		return bind(observer, *p, uid) ? *p : NULL;
	observed = calloc(1, sizeof(*observed));
	if (!observed || !bind(observer, observed, uid)) {
		free(observed);
		return NULL;
	}
	observed->pid = pid;
	*p = observed;
	return observed;
}

/* Keeps the charge of a process that ends, because its definitions stay in the file's writer. */
static void keep_charge(struct ts_observer *observer, const struct ts_observed *observed)
{
	size_t i = 0;

	while (i < observer->n_charges && observer->charges[i].user != observed->user)
		i++;
	if (i == observer->n_charges) {
		/* If there is no memory for this entry, the charge is never given back. */
		if (TS_GROW(observer->charges, observer->n_charges_allocated, i + 1))
			return;
		observer->charges[observer->n_charges++] =
			(struct charge){.user = ts_user_ref(observed->user)};
	}
	observer->charges[i].bytes += observed->definition_bytes;
}

static void give_back(struct ts_observer *observer, const struct ts_observed *observed)
{
	if (!observed->user)
		return;
	ts_user_give(observed->user, TS_RESOURCE_OBSERVED_PIDS, 1);
	if (observed->writer)
		ts_user_give(observed->user, TS_RESOURCE_OBSERVED, 1);
	if (observed->definition_bytes)
		keep_charge(observer, observed);
}

static void count_session(struct ts_observer *observer, int more)
{
	__atomic_store_n(&observer->n_sessions, observer->n_sessions + (uint32_t)more,
			 __ATOMIC_RELAXED);
}

static void failed(struct ts_observer *observer, int r)
{
	if (!r || observer->error)
		return;
	/* Pairs with the relaxed load in ts_observer_failed(). The store orders no other data. */
	__atomic_store_n(&observer->error, r < 0 ? r : -EIO, __ATOMIC_RELAXED);
	ts_log(TS_LOG_ERROR,
	       "calls of processes without a preloaded libtsinject.so are no longer recorded in %s: %s",
	       observer->options.recording->path,
	       ts_recording_why_full(observer->options.recording) ?: strerror(-observer->error));
}

/* Ends the session of a process, if any, and removes the process from the table. */
static void remove_process(struct ts_observer *observer, struct ts_observed **p,
			   enum ts_session_end how)
{
	struct ts_observed *observed = *p;
	struct ts_observer_sum *sum = &observer->sum;

	*p = observed->next;
	if (observed->writer) {
		if (!observer->error)
			failed(observer, ts_observed_end(observed, how));
		if (observer->error)
			ts_observed_drop(observed);
		for (unsigned i = 0; i < TS_ROW_EVENT_END; i++) {
			sum->counts[i] += observed->counts[i];
			sum->n_rows += observed->counts[i];
		}
		for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
			sum->lost[i] += observed->lost[i];
		sum->n_stopped += how == TS_SESSION_END_STOPPED;
		count_session(observer, -1);
	}
	give_back(observer, observed);
	ts_observed_free(observed);
}

/*
 * Stops observing a process, because its shim records more than the probes. The calls observed so
 * far stay in the file.
 */
static void exclude(struct ts_observer *observer, uint32_t pid, bool by_shim)
{
	struct ts_observed **p = find(observer, pid), *observed;

	if (*p && (*p)->excluded && by_shim)
		return;
	if (*p)
		remove_process(observer, p, TS_SESSION_END_BYE);
	observed = get(observer, pid, UINT32_MAX);
	if (!observed)
		return;
	observed->excluded = true;
	observed->by_shim = by_shim;
	observed->shim_ns = ts_clock_monotonic_ns();
}

/* ---- events ---- */

/*
 * True if the process has a session with any daemon, which it shows by mapping a session's memory.
 * For a process that is gone, true if it had mapped the shim.
 */
static bool is_served(struct ts_observer *observer, const struct ts_observed *observed,
		      char ret_command_line[TS_INSPECTOR_COMMAND_LINE_BYTES])
{
	int r = ts_inspector_has(observer->inspector, (pid_t)observed->pid, SHIM_MAPPING,
				 ret_command_line);

	ts_text_clean(ret_command_line);

	/*
	 * The process is gone. Events of its mappings before this call are in the queue by now, so
	 * has_shim is up to date.
	 */
	if (r < 0 && !observed->has_shim)
		ts_probed_take(observer->probed);
	return r > 0 || (r < 0 && observed->has_shim);
}

/* Returns the session of an event's process. NULL: the process is not recorded. */
static struct ts_observed *session_of(struct ts_observer *observer,
				      const struct ts_call_event *event)
{
	struct ts_observed *observed = get(observer, event->pid, event->uid);
	char command_line[TS_INSPECTOR_COMMAND_LINE_BYTES];
	int r;

	if (observed && (observed->writer || observed->excluded))
		return observed->excluded ? NULL : observed;
	if (observed && is_served(observer, observed, command_line)) {
		ts_system_exclude(observer->system, (pid_t)event->pid, true);
		exclude(observer, event->pid, true);
		return NULL;
	}
	if (!observed || !ts_user_take(observed->user, TS_RESOURCE_OBSERVED, 1)) {
		observer->unattributed++;
		return NULL;
	}
	r = ts_observed_begin(observed, observer->options.recording, event, command_line);
	if (r) {
		if (!observed->writer)
			ts_user_give(observed->user, TS_RESOURCE_OBSERVED, 1);
		failed(observer, r);
		return NULL;
	}
	observed->number = __atomic_add_fetch(observer->options.last_number, 1, __ATOMIC_RELAXED);
	count_session(observer, 1);
	observer->sum.n_sessions++;
	ts_log(TS_LOG_INFO,
	       "recording the calls of pid %" PRIu32 ", uid %" PRIu32
	       " by probes: it has no preloaded libtsinject.so",
	       event->pid, event->uid);
	return observed;
}

static void preloaded(void *data, pid_t pid, uid_t uid)
{
	struct ts_observed *observed = get(data, (uint32_t)pid, uid);

	if (observed)
		observed->has_shim = true;
}

static void take_call(struct ts_observer *observer, const struct ts_call_event *event)
{
	struct ts_observed *observed = session_of(observer, event);

	if (!observed)
		return;
	failed(observer, ts_observed_call(observed, observer->options.recording, event));
	if (ts_sbt_session_writer_pending_rows(observed->writer) >= SEAL_ROWS)
		failed(observer, ts_observed_seal(observed));
}

static void take_over(struct ts_observer *observer, const struct ts_call_event *event)
{
	struct ts_observed **p = find(observer, event->pid);

	if (!*p)
		return;
	if ((*p)->writer && !observer->error)
		failed(observer, ts_observed_lose(*p, TS_LOSS_KERNEL_EVENTS, event->bytes));
	remove_process(observer, p, TS_SESSION_END_BYE);
}

static void take_event(void *data, const struct ts_call_event *event)
{
	struct ts_observer *observer = data;
	struct ts_observed *observed;

	observer->flowing = true;
	if (event->type == TS_CALL_EVENT_OVER) {
		take_over(observer, event);
		return;
	}
	if (event->type == TS_CALL_EVENT_SHIM) {
		exclude(observer, event->pid, true);
		return;
	}
	if (observer->error)
		return;
	if (event->type == TS_CALL_EVENT_CALL) {
		take_call(observer, event);
		return;
	}
	observed = get(observer, event->pid, event->uid);
	if (!observed || observed->excluded)
		return;
	if (event->type == TS_CALL_EVENT_NAME)
		failed(observer,
		       ts_observed_name(observed, observer->options.recording,
					(const struct ts_call_name *)(const void *)event));
	else if (event->type == TS_CALL_EVENT_ALIAS)
		failed(observer, ts_observed_alias(observed, observer->options.recording,
						   event->handle, event->bytes));
}

/* ---- periodic work ---- */

static void seal_all(struct ts_observer *observer)
{
	struct ts_recording *recording = observer->options.recording;

	for (size_t i = 0; i < BUCKETS; i++)
		for (struct ts_observed *p = observer->processes[i]; p && !observer->error;
		     p = p->next)
			if (p->writer)
				failed(observer, ts_observed_seal(p));
	if (observer->error)
		return;
	ts_recording_rotate(recording);
	if (ts_recording_full(recording))
		failed(observer, -ENOSPC);
}

static void describe(const struct ts_observer *observer, const struct ts_observed *observed,
		     struct ts_observer_session *session)
{
	struct ts_session_status *status = &session->status;

	*session = (struct ts_observer_session){.number = observed->number};
	memcpy(session->program, observed->program, sizeof(session->program));
	status->number = ts_sbt_session_writer_number(observed->writer);
	status->pid = observed->pid;
	status->uid = observed->row.uid;
	status->state = TS_SESSION_RECORDING;
	status->paused = observer->is_paused;
	status->start_ns = observed->row.start_ns;
	memcpy(status->counts, observed->counts, sizeof(status->counts));
	memcpy(status->lost, observed->lost, sizeof(status->lost));
	for (unsigned i = 0; i < TS_ROW_EVENT_END; i++)
		status->rows += observed->counts[i];
}

/*
 * Publishes the list of sessions, so that the main thread never waits for a round that waits for
 * the disk. If memory is short, the old list stays.
 */
static void publish(struct ts_observer *observer)
{
	ts_cleanup(ts_freep) struct ts_observer_session *before = NULL;
	struct ts_observer_list list = {.n_ever = observer->sum.n_sessions,
					.n_rows = observer->sum.n_rows};

	list.sessions = calloc(observer->n_sessions + 1, sizeof(*list.sessions));
	if (!list.sessions)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct ts_observed *p = observer->processes[i]; p; p = p->next)
			if (p->writer && list.n < observer->n_sessions)
				describe(observer, p, &list.sessions[list.n++]);
	pthread_mutex_lock(&observer->lock);
	before = observer->list.sessions;
	observer->list = list;
	pthread_mutex_unlock(&observer->lock);
}

/*
 * Checks a process for facts that no event reports: the process is gone, or its shim has not begun
 * a session.
 */
static void sweep_process(struct ts_observer *observer, struct ts_observed **p, uint64_t now)
{
	struct ts_observed *observed = *p;
	char command_line[TS_INSPECTOR_COMMAND_LINE_BYTES];
	pid_t pid = (pid_t)observed->pid;
	int r;

	if (kill(pid, 0) < 0 && errno == ESRCH) {
		if (!observed->gone_ns) {
			observed->gone_ns = now;
			return;
		}
		if (observed->writer && !observer->error)
			failed(observer, ts_observed_lose(observed, TS_LOSS_KERNEL_EVENTS,
							  ts_system_lost(observer->system, pid)));
		ts_system_forget(observer->system, pid);
		remove_process(observer, p, TS_SESSION_END_BYE);
		return;
	}
	if (!observed->by_shim || now - observed->shim_ns < SHIM_NS)
		return;
	r = ts_inspector_has(observer->inspector, pid, SHIM_MAPPING, command_line);
	observed->by_shim = observed->by_shim && r <= 0;
	if (r)
		return;
	ts_log(TS_LOG_INFO,
	       "pid %d has a preloaded libtsinject.so and no session: its calls are recorded from outside",
	       pid);
	observed->by_shim = observed->excluded = false;
	ts_system_exclude(observer->system, pid, false);
}

static void sweep(struct ts_observer *observer, uint64_t now)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct ts_observed **p = &observer->processes[i]; *p;) {
			struct ts_observed *observed = *p;

			sweep_process(observer, p, now);
			if (*p == observed)
				p = &observed->next;
		}
}

/* Waits until mapped files have probes, for at most SETTLE_NS. */
static void settle(struct ts_observer *observer)
{
	uint64_t until_ns = ts_clock_monotonic_ns() + SETTLE_NS;
	struct epoll_event event;

	ts_probed_scan(observer->probed);
	while (ts_probed_is_busy(observer->probed) && ts_clock_monotonic_ns() < until_ns) {
		(void)epoll_wait(ts_probed_fd(observer->probed), &event, 1, FLOWING_MS);
		ts_probed_take(observer->probed);
		ts_system_take(observer->system, take_event, observer);
	}
}

static void switch_all(struct ts_observer *observer, bool paused)
{
	uint64_t one = 1;

	/* Read the events of calls before the pause, so that they are recorded. */
	if (paused) {
		ts_probed_remove(observer->probed);
		ts_system_take(observer->system, take_event, observer);
	} else {
		settle(observer);
	}
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct ts_observed *p = observer->processes[i]; p && !observer->error;
		     p = p->next)
			failed(observer, ts_observed_pause(p, paused));
	/* Pairs with ts_observer_switched(). */
	__atomic_store_n(&observer->is_paused, paused, __ATOMIC_RELEASE);
	/*
	 * This write fails only on overflow of the eventfd. The main thread is awake in that case.
	 */
	if (write(observer->options.notify_fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * Completes the requested seals. Called after a round, so the events before the requests have rows.
 */
static void seal_asked(struct ts_observer *observer)
{
	uint64_t one = 1, asked;

	pthread_mutex_lock(&observer->lock);
	asked = observer->seals_asked;
	pthread_mutex_unlock(&observer->lock);
	if (asked == observer->seals_done)
		return;
	ts_system_take(observer->system, take_event, observer);
	seal_all(observer);
	publish(observer);
	/* Pairs with ts_observer_sealed(). */
	__atomic_store_n(&observer->seals_done, asked, __ATOMIC_RELEASE);
	if (write(observer->options.notify_fd, &one, sizeof(one)) < 0)
		return;
}

/* Handles requests of the main thread. True: the observer ends. */
static bool take_requests(struct ts_observer *observer)
{
	ts_cleanup(ts_freep) pid_t *excluded = NULL;
	size_t n_excluded;
	uint64_t n;
	bool ending, paused;

	if (read(observer->wake_fd, &n, sizeof(n)) < 0)
		return false;
	pthread_mutex_lock(&observer->lock);
	ending = observer->ending;
	paused = observer->paused;
	excluded = ts_take_ptr(observer->excluded);
	n_excluded = observer->n_excluded;
	observer->n_excluded = observer->n_allocated = 0;
	pthread_mutex_unlock(&observer->lock);
	/* Do not hold the lock here, because excluding a process writes the end of its session. */
	for (size_t i = 0; i < n_excluded; i++)
		exclude(observer, (uint32_t)excluded[i], false);
	if (!ending && paused != observer->is_paused)
		switch_all(observer, paused);
	return ending;
}

/* ---- the thread ---- */

static void look(struct ts_observer *observer)
{
	uint64_t now;

	if (!observer->is_paused && !observer->error)
		ts_probed_take(observer->probed);
	observer->flowing = false;
	ts_system_take(observer->system, take_event, observer);
	now = ts_clock_monotonic_ns();
	if (now - observer->seal_ns >= observer->options.seal_age_ms * MS_NS) {
		observer->seal_ns = now;
		seal_all(observer);
	}
	if (now - observer->sweep_ns >= SWEEP_NS) {
		observer->sweep_ns = now;
		sweep(observer, now);
	}
	if (observer->error)
		ts_probed_remove(observer->probed);
	publish(observer);
	seal_asked(observer);
}

/* Records calls without a known process as losses of a separate session. */
static void write_unattributed(struct ts_observer *observer)
{
	uint64_t n = observer->unattributed + ts_system_unattributed(observer->system);
	const struct ts_call_event event = {.uid = UINT32_MAX,
					    .start_ns = ts_clock_monotonic_ns(),
					    .name = "(too many)"};
	struct ts_observed *observed = n && !observer->error ? get(observer, 0, UINT32_MAX) : NULL;

	if (!observed)
		return;
	failed(observer, ts_observed_begin(observed, observer->options.recording, &event, ""));
	if (!observed->writer)
		return;
	count_session(observer, 1);
	observer->sum.n_sessions++;
	failed(observer, ts_observed_lose(observed, TS_LOSS_KERNEL_EVENTS, n));
}

static void finish(struct ts_observer *observer)
{
	ts_probed_remove(observer->probed);
	ts_system_take(observer->system, take_event, observer);
	write_unattributed(observer);
	for (size_t i = 0; i < BUCKETS; i++)
		while (observer->processes[i]) {
			struct ts_observed *observed = observer->processes[i];

			if (observed->writer && !observer->error)
				failed(observer,
				       ts_observed_lose(observed, TS_LOSS_KERNEL_EVENTS,
							ts_system_lost(observer->system,
								       (pid_t)observed->pid)));
			remove_process(observer, &observer->processes[i], TS_SESSION_END_STOPPED);
		}
}

static void *observe(void *data)
{
	struct ts_observer *observer = data;
	struct epoll_event events[4];

	if (!observer->is_paused)
		settle(observer);
	sem_post(&observer->ready);
	for (;;) {
		(void)epoll_wait(observer->epoll_fd, events, TS_ARRAY_LEN(events),
				 observer->flowing ? FLOWING_MS : QUIET_MS);
		if (take_requests(observer))
			break;
		look(observer);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, LEAST_NS}, NULL);
	}
	finish(observer);
	return NULL;
}

static int add_to_epoll(struct ts_observer *observer, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(observer->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int start(struct ts_observer *observer)
{
	sigset_t all, old;
	int r;

	observer->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	observer->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (observer->epoll_fd < 0 || observer->wake_fd < 0)
		return ts_error_origin(-errno);
	r = add_to_epoll(observer, observer->wake_fd);
	r = r ?: add_to_epoll(observer, ts_system_fd(observer->system));
	r = r ?: add_to_epoll(observer, ts_probed_fd(observer->probed));
	if (r)
		return ts_error_origin(r);
	observer->seal_ns = observer->sweep_ns = ts_clock_monotonic_ns();
	/* The thread blocks all signals: the main thread handles them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&observer->thread, NULL, observe, observer);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return ts_error_origin(-r);
	observer->started = true;
	while (sem_wait(&observer->ready) < 0)
		;
	pthread_setname_np(observer->thread, "observer");
	return 0;
}

/* ---- called by the main thread ---- */

int ts_observer_new(const struct ts_observer_options *options, struct ts_observer **ret_observer,
		    char why[TS_SYSTEM_WHY_BYTES])
{
	struct ts_observer *observer = calloc(1, sizeof(*observer));
	struct ts_probed_options probed = {.worker = options->worker,
					   .users = options->users,
					   .preloaded = preloaded,
					   .data = observer};
	int r;

	*why = '\0';
	if (!observer) {
		snprintf(why, TS_SYSTEM_WHY_BYTES, "out of memory");
		return ts_error_origin(-ENOMEM);
	}
	observer->options = *options;
	observer->paused = observer->is_paused = options->paused;
	observer->wake_fd = observer->epoll_fd = -1;
	pthread_mutex_init(&observer->lock, NULL);
	sem_init(&observer->ready, 0, 0);
	r = ts_system_new(false, &observer->system, why);
	r = r ?: ts_inspector_new(options->users, &observer->inspector);
	probed.system = observer->system;
	probed.inspector = observer->inspector;
	r = r ?: ts_probed_new(&probed, &observer->probed, why);
	r = r ?: start(observer);
	if (r) {
		if (!*why)
			snprintf(why, TS_SYSTEM_WHY_BYTES, "%s", strerror(-r));
		ts_observer_free(observer);
		return ts_error_trace(r);
	}
	*ret_observer = observer;
	return 0;
}

static void wake(struct ts_observer *observer)
{
	uint64_t one = 1;

	/* This write fails only on overflow of the eventfd. The thread is awake in that case. */
	if (write(observer->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void ts_observer_end(struct ts_observer *observer)
{
	if (!observer->started || observer->joined)
		return;
	pthread_mutex_lock(&observer->lock);
	observer->ending = true;
	pthread_mutex_unlock(&observer->lock);
	wake(observer);
	pthread_join(observer->thread, NULL);
	observer->joined = true;
}

void ts_observer_free(struct ts_observer *observer)
{
	if (!observer)
		return;
	ts_observer_end(observer);
	for (size_t i = 0; i < BUCKETS; i++)
		while (observer->processes[i])
			remove_process(observer, &observer->processes[i], TS_SESSION_END_STOPPED);
	for (size_t i = 0; i < observer->n_charges; i++) {
		ts_user_give(observer->charges[i].user, TS_RESOURCE_DEFINITION_BYTES,
			     observer->charges[i].bytes);
		ts_user_unref(observer->charges[i].user);
	}
	free(observer->charges);
	ts_probed_free(observer->probed);
	ts_inspector_free(observer->inspector);
	ts_system_free(observer->system);
	ts_closep(&observer->wake_fd);
	ts_closep(&observer->epoll_fd);
	pthread_mutex_destroy(&observer->lock);
	sem_destroy(&observer->ready);
	free(observer->excluded);
	free(observer->list.sessions);
	free(observer);
}

void ts_observer_exclude(struct ts_observer *observer, pid_t pid)
{
	/* Excludes the process in the kernel at once, whatever the thread is doing. */
	ts_system_exclude(observer->system, pid, true);
	pthread_mutex_lock(&observer->lock);
	if (!TS_GROW(observer->excluded, observer->n_allocated, observer->n_excluded + 1))
		observer->excluded[observer->n_excluded++] = pid;
	pthread_mutex_unlock(&observer->lock);
	wake(observer);
}

bool ts_observer_switch(struct ts_observer *observer, bool paused)
{
	bool before;

	pthread_mutex_lock(&observer->lock);
	before = observer->paused;
	observer->paused = paused;
	pthread_mutex_unlock(&observer->lock);
	wake(observer);
	return before != paused;
}

bool ts_observer_switched(const struct ts_observer *observer)
{
	/* Pairs with switch_all(). Only this thread changes `paused`. */
	return __atomic_load_n(&observer->is_paused, __ATOMIC_ACQUIRE) == observer->paused;
}

bool ts_observer_failed(const struct ts_observer *observer)
{
	return __atomic_load_n(&observer->error, __ATOMIC_RELAXED) != 0;
}

uint32_t ts_observer_n_sessions(const struct ts_observer *observer)
{
	return __atomic_load_n(&observer->n_sessions, __ATOMIC_RELAXED);
}

int ts_observer_list(struct ts_observer *observer, struct ts_observer_list *ret_list)
{
	struct ts_observer_list list;

	pthread_mutex_lock(&observer->lock);
	list = observer->list;
	list.sessions = calloc(list.n + 1, sizeof(*list.sessions));
	if (list.sessions && list.n)
		memcpy(list.sessions, observer->list.sessions, list.n * sizeof(*list.sessions));
	pthread_mutex_unlock(&observer->lock);
	if (!list.sessions)
		return ts_error_origin(-ENOMEM);
	for (size_t i = 0; i < list.n; i++)
		list.sessions[i].status.program = list.sessions[i].program;
	*ret_list = list;
	return 0;
}

uint64_t ts_observer_seal(struct ts_observer *observer)
{
	uint64_t ticket;

	pthread_mutex_lock(&observer->lock);
	ticket = ++observer->seals_asked;
	pthread_mutex_unlock(&observer->lock);
	wake(observer);
	return ticket;
}

bool ts_observer_sealed(const struct ts_observer *observer, uint64_t ticket)
{
	/* Pairs with seal_asked(). */
	return __atomic_load_n(&observer->seals_done, __ATOMIC_ACQUIRE) >= ticket;
}

const struct ts_observer_sum *ts_observer_sum(const struct ts_observer *observer)
{
	return &observer->sum;
}
