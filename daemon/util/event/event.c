/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of a build without libsystemd. It has the functions of sd-event(3) that the daemon
 * calls; the daemon's files include event.h. It calls epoll and notify.c.
 *
 * A round: epoll_wait() and the clock mark sources as pending; the first pending source is
 * dispatched. So a source of higher priority waits for one handler at most, and each source gets
 * its share, because a dispatched source enters the queue again behind the others.
 */
#include "daemon/util/event/event.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/abi/clock.h"

#define ROUND_EVENTS 64
#define NEVER	     UINT64_MAX

enum kind {
	KIND_IO,
	KIND_TIME,
	KIND_SIGNAL
};

struct sd_event_source {
	enum kind kind;
	int enabled;
	int64_t priority;
	void *data;
	sd_event *event;
	sd_event_source *previous, *next;	     /* all sources of the loop */
	sd_event_source *before, *after;	     /* the pending ones */
	sd_event_source *timer_before, *timer_after; /* the times */
	bool is_pending;
	bool is_freed;	/* in its own handler */
	bool is_polled; /* epoll has the descriptor */
	int fd;		/* KIND_IO: of the caller. KIND_SIGNAL: own */
	uint32_t events, arrived;
	uint64_t due_us;
	union {
		sd_event_io_handler_t io;
		sd_event_time_handler_t time;
		sd_event_signal_handler_t signal;
	} handler;
};

struct sd_event {
	int epoll_fd;
	pid_t pid; /* a forked child changes nothing in the epoll that it shares */
	sd_event_source *sources, *timers;
	sd_event_source *first, *last; /* pending */
	sd_event_source *dispatched;
	bool is_exiting;
	int exit_code;
	uint64_t watchdog_us, watched_us; /* period, 0 without; the last message */
};

static uint64_t now_us(void)
{
	return ts_clock_monotonic_ns() / 1000;
}

static uint64_t later(uint64_t usec)
{
	const uint64_t now = now_us();

	return usec < NEVER - now ? now + usec : NEVER;
}

static void set_pending(sd_event_source *source)
{
	sd_event *event = source->event;
	sd_event_source *before = event->last;

	if (source->is_pending)
		return;
	source->is_pending = true;
	while (before && before->priority > source->priority)
		before = before->before;
	source->before = before;
	source->after = before ? before->after : event->first;
	*(before ? &before->after : &event->first) = source;
	*(source->after ? &source->after->before : &event->last) = source;
}

static void clear_pending(sd_event_source *source)
{
	sd_event *event = source->event;

	if (!source->is_pending)
		return;
	source->is_pending = false;
	source->arrived = 0;
	*(source->before ? &source->before->after : &event->first) = source->after;
	*(source->after ? &source->after->before : &event->last) = source->before;
}

static int poll_source(sd_event_source *source)
{
	struct epoll_event wanted = {.events = source->events, .data.ptr = source};
	const int change = source->is_polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (epoll_ctl(source->event->epoll_fd, change, source->fd, &wanted) < 0)
		return -errno;
	source->is_polled = true;
	return 0;
}

static void set_off(sd_event_source *source)
{
	clear_pending(source);
	source->enabled = SD_EVENT_OFF;
	/* Fails if the descriptor is closed already; then epoll does not have it any more. */
	if (source->is_polled && source->event->pid == getpid())
		epoll_ctl(source->event->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	source->is_polled = false;
}

static int set_on(sd_event_source *source, int enabled)
{
	int r = source->kind == KIND_TIME ? 0 : poll_source(source);

	if (!r)
		source->enabled = enabled;
	return r;
}

/* Links a new source into the loop, and enables it. If that fails, frees it. */
static int add(sd_event *event, sd_event_source *new, int enabled, sd_event_source **ret_source)
{
	int r;

	new->event = event;
	new->next = event->sources;
	if (new->next)
		new->next->previous = new;
	event->sources = new;
	if (new->kind == KIND_TIME) {
		new->timer_after = event->timers;
		if (new->timer_after)
			new->timer_after->timer_before = new;
		event->timers = new;
	}
	r = set_on(new, enabled);
	if (r)
		sd_event_source_disable_unref(new);
	else if (ret_source)
		*ret_source = new;
	return r;
}

int sd_event_add_io(sd_event *event, sd_event_source **ret_source, int fd, uint32_t events,
		    sd_event_io_handler_t handler, void *data)
{
	sd_event_source *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->kind = KIND_IO;
	new->fd = fd;
	new->events = events;
	new->handler.io = handler;
	new->data = data;
	return add(event, new, SD_EVENT_ON, ret_source);
}

int sd_event_add_time_relative(sd_event *event, sd_event_source **ret_source, clockid_t clock,
			       uint64_t usec, uint64_t accuracy, sd_event_time_handler_t handler,
			       void *data)
{
	sd_event_source *new;

	if (clock != CLOCK_MONOTONIC)
		return -EOPNOTSUPP;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->kind = KIND_TIME;
	new->fd = -1;
	new->due_us = later(usec);
	new->handler.time = handler;
	new->data = data;
	return add(event, new, SD_EVENT_ONESHOT, ret_source);
}

int sd_event_add_signal(sd_event *event, sd_event_source **ret_source, int number,
			sd_event_signal_handler_t handler, void *data)
{
	sd_event_source *new;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, number);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	new = calloc(1, sizeof(*new));
	if (!new) {
		close(fd);
		return -ENOMEM;
	}
	new->kind = KIND_SIGNAL;
	new->fd = fd;
	new->events = EPOLLIN;
	new->handler.signal = handler;
	new->data = data;
	return add(event, new, SD_EVENT_ON, ret_source);
}

int sd_event_source_set_enabled(sd_event_source *source, int enabled)
{
	if (!source)
		return enabled == SD_EVENT_OFF ? 0 : -EINVAL;
	if (enabled == source->enabled)
		return 0;
	if (enabled != SD_EVENT_OFF)
		return set_on(source, enabled);
	set_off(source);
	return 0;
}

int sd_event_source_get_enabled(sd_event_source *source, int *ret_enabled)
{
	const int enabled = source ? source->enabled : SD_EVENT_OFF;

	if (ret_enabled)
		*ret_enabled = enabled;
	return enabled != SD_EVENT_OFF;
}

int sd_event_source_set_io_events(sd_event_source *source, uint32_t events)
{
	const uint32_t before = source->events;
	int r;

	if (events == before)
		return 0;
	source->events = events;
	r = source->enabled == SD_EVENT_OFF ? 0 : poll_source(source);
	if (r)
		source->events = before;
	else
		clear_pending(source);
	return r;
}

int sd_event_source_set_priority(sd_event_source *source, int64_t priority)
{
	const bool is_pending = source->is_pending;
	const uint32_t arrived = source->arrived;

	clear_pending(source);
	source->priority = priority;
	source->arrived = arrived;
	if (is_pending)
		set_pending(source);
	return 0;
}

int sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	clear_pending(source);
	source->due_us = later(usec);
	return 0;
}

static void free_source(sd_event_source *source)
{
	sd_event *event = source->event;

	*(source->previous ? &source->previous->next : &event->sources) = source->next;
	if (source->next)
		source->next->previous = source->previous;
	if (source->kind == KIND_TIME) {
		*(source->timer_before ? &source->timer_before->timer_after : &event->timers) =
			source->timer_after;
		if (source->timer_after)
			source->timer_after->timer_before = source->timer_before;
	}
	if (source->kind == KIND_SIGNAL)
		close(source->fd);
	free(source);
}

sd_event_source *sd_event_source_disable_unref(sd_event_source *source)
{
	if (!source)
		return NULL;
	set_off(source);
	if (source->event->dispatched == source)
		source->is_freed = true;
	else
		free_source(source);
	return NULL;
}

int sd_event_new(sd_event **ret_event)
{
	sd_event *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->pid = getpid();
	new->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (new->epoll_fd < 0) {
		const int r = -errno;

		free(new);
		return r;
	}
	*ret_event = new;
	return 0;
}

sd_event *sd_event_unref(sd_event *event)
{
	if (!event)
		return NULL;
	while (event->sources)
		sd_event_source_disable_unref(event->sources);
	close(event->epoll_fd);
	free(event);
	return NULL;
}

int sd_event_set_watchdog(sd_event *event, int enabled)
{
	const char *period = secure_getenv("WATCHDOG_USEC"), *pid = secure_getenv("WATCHDOG_PID");
	uint64_t usec = period ? strtoull(period, NULL, 10) : 0;

	if (!enabled || (pid && strtol(pid, NULL, 10) != getpid()))
		usec = 0;
	event->watchdog_us = usec;
	event->watched_us = now_us();
	if (usec)
		sd_notify(0, "WATCHDOG=1");
	return usec > 0;
}

int sd_event_exit(sd_event *event, int code)
{
	event->is_exiting = true;
	event->exit_code = code;
	return 0;
}

/* Marks the times that have come; returns the next one, or NEVER. */
static uint64_t look_at_timers(sd_event *event, uint64_t now)
{
	uint64_t next = NEVER;

	for (sd_event_source *timer = event->timers; timer; timer = timer->timer_after) {
		if (timer->enabled == SD_EVENT_OFF || timer->is_pending)
			continue;
		if (timer->due_us <= now)
			set_pending(timer);
		else if (timer->due_us < next)
			next = timer->due_us;
	}
	return next;
}

/* Sends the watchdog's message after half of its period; returns the time of the next one. */
static uint64_t look_at_watchdog(sd_event *event, uint64_t now)
{
	const uint64_t half = event->watchdog_us / 2;

	if (!event->watchdog_us)
		return NEVER;
	if (now - event->watched_us >= half) {
		sd_notify(0, "WATCHDOG=1");
		event->watched_us = now;
	}
	return event->watched_us + half;
}

/* Waits for events, not at all if a source is pending, and marks the sources of the events. */
static int wait_for_events(sd_event *event)
{
	struct epoll_event arrived[ROUND_EVENTS];
	const uint64_t now = now_us(), watchdog = look_at_watchdog(event, now);
	uint64_t next = look_at_timers(event, now), ms;
	int n, timeout = -1;

	if (watchdog < next)
		next = watchdog;
	if (event->first) {
		timeout = 0;
	} else if (next != NEVER) {
		ms = (next - now + 999) / 1000;
		timeout = ms < INT_MAX ? (int)ms : INT_MAX;
	}
	n = epoll_wait(event->epoll_fd, arrived, ROUND_EVENTS, timeout);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		sd_event_source *source = arrived[i].data.ptr;

		source->arrived |= arrived[i].events;
		set_pending(source);
	}
	if (timeout)
		look_at_timers(event, now_us());
	return 0;
}

static int call_handler(sd_event_source *source, uint32_t arrived)
{
	struct signalfd_siginfo info;

	switch (source->kind) {
	case KIND_IO:
		return source->handler.io(source, source->fd, arrived, source->data);
	case KIND_TIME:
		return source->handler.time(source, source->due_us, source->data);
	case KIND_SIGNAL:
		break;
	}
	if (read(source->fd, &info, sizeof(info)) != sizeof(info))
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return source->handler.signal(source, &info, source->data);
}

static void dispatch(sd_event *event)
{
	sd_event_source *source = event->first;
	const uint32_t arrived = source->arrived;
	int r;

	clear_pending(source);
	if (source->enabled == SD_EVENT_ONESHOT)
		set_off(source);
	event->dispatched = source;
	r = call_handler(source, arrived);
	event->dispatched = NULL;
	if (r < 0 && !source->is_freed)
		set_off(source);
	if (source->is_freed)
		free_source(source);
}

int sd_event_loop(sd_event *event)
{
	int r;

	while (!event->is_exiting) {
		r = wait_for_events(event);
		if (r)
			return r;
		if (event->first)
			dispatch(event);
	}
	return event->exit_code;
}
