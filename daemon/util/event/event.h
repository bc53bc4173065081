/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's event loop and its words to the service manager: sd-event(3) and sd-daemon(3). A
 * build with -Dsystemd=disabled has its own functions of these names (event.c, notify.c), with the
 * subset of the behaviour that the daemon uses. test/unit/daemon/test-event.c runs with both.
 *
 * Functions return 0 or more, or a negative errno. One thread uses a loop.
 */
#pragma once

#ifdef TS_HAVE_SYSTEMD

#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#else

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>

typedef struct sd_event sd_event;
typedef struct sd_event_source sd_event_source;

enum {
	SD_EVENT_OFF = 0,
	SD_EVENT_ON = 1,
	SD_EVENT_ONESHOT = -1
};
enum {
	SD_EVENT_PRIORITY_IMPORTANT = -100,
	SD_EVENT_PRIORITY_NORMAL = 0
};
#define SD_LISTEN_FDS_START 3

/* A handler that returns a negative number disables its source. */
typedef int (*sd_event_io_handler_t)(sd_event_source *source, int fd, uint32_t events, void *data);
typedef int (*sd_event_time_handler_t)(sd_event_source *source, uint64_t usec, void *data);
typedef int (*sd_event_signal_handler_t)(sd_event_source *source,
					 const struct signalfd_siginfo *info, void *data);

/* -ENOMEM, or the error of epoll_create1(). */
int sd_event_new(sd_event **ret_event);
/* Frees the loop and its remaining sources. Accepts NULL; returns NULL. */
sd_event *sd_event_unref(sd_event *event);

/*
 * The new source is enabled and belongs to the caller. With ret_source NULL it belongs to the loop.
 * -ENOMEM, or the error of epoll_ctl(), signalfd().
 */
int sd_event_add_io(sd_event *event, sd_event_source **ret_source, int fd, uint32_t events,
		    sd_event_io_handler_t handler, void *data);
/* Calls the handler once, `usec` from now, by CLOCK_MONOTONIC. `accuracy` has no effect. */
int sd_event_add_time_relative(sd_event *event, sd_event_source **ret_source, clockid_t clock,
			       uint64_t usec, uint64_t accuracy, sd_event_time_handler_t handler,
			       void *data);
/* The signal must be blocked in all threads. */
int sd_event_add_signal(sd_event *event, sd_event_source **ret_source, int number,
			sd_event_signal_handler_t handler, void *data);

/* Sources: NULL is accepted where a source is disabled or asked for. */
int sd_event_source_set_enabled(sd_event_source *source, int enabled);
/* 1 if enabled, 0 if not. `ret_enabled` may be NULL. */
int sd_event_source_get_enabled(sd_event_source *source, int *ret_enabled);
int sd_event_source_set_io_events(sd_event_source *source, uint32_t events);
/* Pending sources are dispatched lowest number first, then in the order of their events. */
int sd_event_source_set_priority(sd_event_source *source, int64_t priority);
int sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
/* Also within the handler of this source, or of another one. Returns NULL. */
sd_event_source *sd_event_source_disable_unref(sd_event_source *source);

/* Sends WATCHDOG=1 in time, if the service manager requires it (WATCHDOG_USEC). */
int sd_event_set_watchdog(sd_event *event, int enabled);
/* Ends the loop before the next event. */
int sd_event_exit(sd_event *event, int code);
/* Returns the code of sd_event_exit(), or a negative errno. */
int sd_event_loop(sd_event *event);

/* Sends `state` to $NOTIFY_SOCKET. 1 if it was sent, 0 without such a socket. */
int sd_notify(int unset_environment, const char *state);
/* Number of descriptors from the service manager, the first one is SD_LISTEN_FDS_START. */
int sd_listen_fds(int unset_environment);
/* 1 if fd is a Unix socket of this type that listens (`listening` 1), 0 if not. `path` is NULL. */
int sd_is_socket_unix(int fd, int type, int listening, const char *path, size_t length);

#endif
