/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's event loop: the same answers from libsystemd and from the functions of a build
 * without it. The build makes two programs of this file.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "daemon/util/event/event.h"
#include "test/unit/harness.h"

/* The data of sources. */
static char letters[] = "elabcp";
static char order[64];
static sd_event *event;
static sd_event_source *others[2];

static void note(char letter)
{
	order[strlen(order)] = letter;
}

static int ready(void)
{
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	ts_check(fd >= 0);
	return fd;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	uint64_t n;

	ts_check(events == EPOLLIN && read(fd, &n, sizeof(n)) == sizeof(n));
	note(*(const char *)data);
	return 0;
}

static int on_exit_time(sd_event_source *source, uint64_t usec, void *data)
{
	ts_check(usec > 0);
	sd_event_source_disable_unref(source);
	return sd_event_exit(event, 7);
}

/* The exit comes after all pending sources, however late the machine runs this process. */
static void exit_in(uint64_t usec)
{
	sd_event_source *source;

	ts_check(sd_event_add_time_relative(event, &source, CLOCK_MONOTONIC, usec, 1, on_exit_time,
					    NULL) >= 0);
	ts_check(sd_event_source_set_priority(source, 1000) >= 0);
}

static void run(void)
{
	ts_check_int(sd_event_loop(event), 7);
	event = sd_event_unref(event);
	ts_check(!event);
}

TS_TEST(sources_run_by_priority_then_in_turn)
{
	sd_event_source *late, *early;
	int first = ready(), second = ready();

	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_io(event, &late, first, EPOLLIN, on_io, &letters[1]) >= 0);
	ts_check(sd_event_add_io(event, &early, second, EPOLLIN, on_io, &letters[0]) >= 0);
	ts_check(sd_event_source_set_priority(early, SD_EVENT_PRIORITY_IMPORTANT) >= 0);
	ts_check_int(sd_event_source_get_enabled(late, NULL), 1);
	exit_in(30000);
	ts_check_int(sd_event_loop(event), 7);
	ts_check_str(order, "el");
	ts_check(!sd_event_source_disable_unref(early));
	ts_check(!sd_event_source_disable_unref(late));
	sd_event_unref(event);
	close(first);
	close(second);
}

static int on_endless(sd_event_source *source, int fd, uint32_t events, void *data)
{
	if (strlen(order) < sizeof(order) - 2)
		note(*(const char *)data);
	return strlen(order) < 20 ? 0 : sd_event_exit(event, 7);
}

TS_TEST(a_source_without_end_leaves_the_others_their_turn)
{
	sd_event_source *sources[3];
	int fds[3];

	ts_check_int(sd_event_new(&event), 0);
	for (int i = 0; i < 3; i++) {
		fds[i] = ready();
		ts_check(sd_event_add_io(event, &sources[i], fds[i], EPOLLIN, on_endless,
					 &letters[2 + i]) >= 0);
	}
	ts_check_int(sd_event_loop(event), 7);
	for (int i = 0; i < 3; i++) {
		int n = 0;

		for (const char *c = order; *c; c++)
			n += *c == letters[2 + i];
		ts_check(n >= 6);
		sd_event_source_disable_unref(sources[i]);
		close(fds[i]);
	}
	sd_event_unref(event);
}

static int on_free_all(sd_event_source *source, int fd, uint32_t events, void *data)
{
	note('f');
	for (int i = 0; i < 2; i++)
		others[i] = sd_event_source_disable_unref(others[i]);
	return 0;
}

TS_TEST(a_handler_frees_itself_and_a_pending_source)
{
	int fds[2] = {ready(), ready()};

	ts_check_int(sd_event_new(&event), 0);
	for (int i = 0; i < 2; i++)
		ts_check(sd_event_add_io(event, &others[i], fds[i], EPOLLIN, on_free_all, NULL) >=
			 0);
	exit_in(20000);
	run();
	ts_check_str(order, "f");
	close(fds[0]);
	close(fds[1]);
}

static int on_failure(sd_event_source *source, int fd, uint32_t events, void *data)
{
	note('x');
	return -EIO;
}

TS_TEST(a_failed_handler_is_disabled)
{
	sd_event_source *source;
	int fd = ready(), enabled = 5;

	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_io(event, &source, fd, EPOLLIN, on_failure, NULL) >= 0);
	exit_in(20000);
	ts_check_int(sd_event_loop(event), 7);
	ts_check_str(order, "x");
	ts_check_int(sd_event_source_get_enabled(source, &enabled), 0);
	ts_check_int(enabled, SD_EVENT_OFF);
	sd_event_source_disable_unref(source);
	sd_event_unref(event);
	close(fd);
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	note('t');
	if (strlen(order) == 1) {
		ts_check_int(sd_event_source_get_enabled(source, NULL), 0);
		ts_check(sd_event_source_set_time_relative(source, 1000) >= 0);
		ts_check(sd_event_source_set_enabled(source, SD_EVENT_ONESHOT) >= 0);
	} else {
		exit_in(37000);
	}
	return 0;
}

TS_TEST(a_time_comes_once_and_not_early)
{
	sd_event_source *soon, *never, *far;
	struct timespec before, after;

	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_time_relative(event, &soon, CLOCK_MONOTONIC, 2000, 1, on_time,
					    NULL) >= 0);
	ts_check(sd_event_add_time_relative(event, &never, CLOCK_MONOTONIC, 2000, 1, on_time,
					    NULL) >= 0);
	ts_check(sd_event_add_time_relative(event, &far, CLOCK_MONOTONIC, UINT64_MAX - 1, 1,
					    on_time, NULL) >= -EOVERFLOW);
	ts_check(sd_event_source_set_enabled(never, SD_EVENT_OFF) >= 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	ts_check_int(sd_event_loop(event), 7);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ts_check((after.tv_sec - before.tv_sec) * 1000000 +
			 (after.tv_nsec - before.tv_nsec) / 1000 >=
		 39000);
	ts_check_str(order, "tt");
	sd_event_source_disable_unref(soon);
	sd_event_source_disable_unref(never);
	sd_event_unref(event);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	ts_check_int((int)info->ssi_signo, SIGUSR1);
	note('s');
	return sd_event_exit(event, 7);
}

TS_TEST(a_signal_is_received)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_signal(event, NULL, SIGUSR1, on_signal, NULL) >= 0);
	raise(SIGUSR1);
	run();
	ts_check_str(order, "s");
}

static int on_pair(sd_event_source *source, int fd, uint32_t events, void *data)
{
	note(events & EPOLLOUT ? 'o' : 'h');
	if (events & EPOLLHUP)
		return sd_event_exit(event, 7);
	ts_check(sd_event_source_set_io_events(source, EPOLLIN) >= 0);
	close(*(int *)data);
	return 0;
}

TS_TEST(events_change)
{
	sd_event_source *source;
	int pair[2];

	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_io(event, &source, pair[0], EPOLLIN, on_pair, &pair[1]) >= 0);
	ts_check(sd_event_source_set_io_events(source, EPOLLIN | EPOLLOUT) >= 0);
	ts_check(sd_event_source_set_enabled(source, SD_EVENT_OFF) >= 0);
	ts_check(sd_event_source_set_enabled(source, SD_EVENT_ON) >= 0);
	ts_check_int(sd_event_loop(event), 7);
	ts_check_str(order, "oh");
	sd_event_source_disable_unref(source);
	sd_event_unref(event);
	close(pair[0]);
}

TS_TEST(what_cannot_be_watched_is_an_error)
{
	sd_event_source *source = NULL;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ts_check_int(sd_event_new(&event), 0);
	ts_check_int(sd_event_add_io(event, &source, 1000, EPOLLIN, on_io, letters), -EBADF);
	ts_check_int(sd_event_add_io(event, &source, file, EPOLLIN, on_io, letters), -EPERM);
	ts_check(!source);
	ts_check_int(sd_event_source_set_enabled(NULL, SD_EVENT_OFF), 0);
	exit_in(0);
	run();
	close(file);
}

/* A child that lets go of the loop takes nothing from its parent. */
TS_TEST(a_forked_child_changes_nothing)
{
	sd_event_source *source;
	int fd = ready(), status;
	pid_t pid;

	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_add_io(event, &source, fd, EPOLLIN, on_io, &letters[5]) >= 0);
	pid = fork();
	if (!pid) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		_exit(0);
	}
	ts_check(waitpid(pid, &status, 0) == pid && !status);
	exit_in(20000);
	ts_check_int(sd_event_loop(event), 7);
	ts_check_str(order, "p");
	sd_event_source_disable_unref(source);
	sd_event_unref(event);
	close(fd);
}

/* The socket of a service manager, abstract if it has a name. */
static int manager(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "ts-test-event-%d",
			 getpid());

	ts_check_int(bind(fd, (struct sockaddr *)&address,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
		     0);
	address.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	return fd;
}

static int count_messages(int fd, const char *wanted)
{
	char text[100];
	ssize_t n;
	int count = 0;

	while ((n = recv(fd, text, sizeof(text) - 1, 0)) >= 0) {
		text[n] = 0;
		ts_check_str(text, wanted);
		count++;
	}
	return count;
}

TS_TEST(the_manager_is_notified)
{
	int fd;

	unsetenv("NOTIFY_SOCKET");
	ts_check_int(sd_notify(0, "READY=1"), 0);
	fd = manager();
	ts_check(sd_notify(0, "READY=1") > 0);
	ts_check_int(count_messages(fd, "READY=1"), 1);
	setenv("NOTIFY_SOCKET", "relative", 1);
	ts_check(sd_notify(0, "READY=1") < 0);
	setenv("NOTIFY_SOCKET", "/nothing/there", 1);
	ts_check(sd_notify(1, "READY=1") < 0);
	ts_check(!getenv("NOTIFY_SOCKET"));
	close(fd);
}

static int on_message(sd_event_source *source, int fd, uint32_t events, void *data)
{
	*(int *)data += count_messages(fd, "WATCHDOG=1");
	return *(int *)data < 4 ? 0 : sd_event_exit(event, 7);
}

TS_TEST(the_watchdog_is_fed)
{
	int n_messages = 0;
	char pid[20];
	int fd = manager();

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_USEC", "40000", 1);
	setenv("WATCHDOG_PID", pid, 1);
	ts_check_int(sd_event_new(&event), 0);
	ts_check(sd_event_set_watchdog(event, 1) > 0);
	ts_check(sd_event_add_io(event, NULL, fd, EPOLLIN, on_message, &n_messages) >= 0);
	run();
	setenv("WATCHDOG_PID", "1", 1);
	ts_check_int(sd_event_new(&event), 0);
	ts_check_int(sd_event_set_watchdog(event, 1), 0);
	exit_in(50000);
	run();
	ts_check_int(count_messages(fd, ""), 0);
	close(fd);
}

static void inherit(int first, int second)
{
	ts_check(dup2(first, SD_LISTEN_FDS_START) == SD_LISTEN_FDS_START);
	ts_check(dup2(second, SD_LISTEN_FDS_START + 1) == SD_LISTEN_FDS_START + 1);
}

/* In a process of its own, which may close the harness's descriptors. */
static void check_inherited(void)
{
	char pid[20];
	int listening = fcntl(socket(AF_UNIX, SOCK_STREAM, 0), F_DUPFD, 20);
	int connected = fcntl(socket(AF_UNIX, SOCK_SEQPACKET, 0), F_DUPFD, 20);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	/* A name that the kernel chooses. */
	ts_check_int(bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	ts_check_int(listen(listening, 1), 0);
	ts_check_int(sd_is_socket_unix(listening, SOCK_STREAM, 1, NULL, 0), 1);
	ts_check_int(sd_is_socket_unix(listening, SOCK_SEQPACKET, 1, NULL, 0), 0);
	ts_check_int(sd_is_socket_unix(connected, SOCK_SEQPACKET, 1, NULL, 0), 0);
	ts_check_int(sd_is_socket_unix(connected, SOCK_SEQPACKET, -1, NULL, 0), 1);
	ts_check_int(sd_is_socket_unix(connected, 0, 0, NULL, 0), 1);
	inherit(listening, connected);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", "1", 1);
	setenv("LISTEN_FDS", "2", 1);
	ts_check_int(sd_listen_fds(0), 0);
	setenv("LISTEN_PID", pid, 1);
	ts_check_int(sd_listen_fds(0), 2);
	ts_check_int(fcntl(SD_LISTEN_FDS_START + 1, F_GETFD), FD_CLOEXEC);
	setenv("LISTEN_FDS", "two", 1);
	ts_check(sd_listen_fds(0) < 0);
	setenv("LISTEN_FDS", "2", 1);
	ts_check_int(sd_listen_fds(1), 2);
	ts_check_int(sd_listen_fds(1), 0);
	close(listening);
	ts_check_int(sd_is_socket_unix(listening, SOCK_STREAM, 1, NULL, 0), -EBADF);
	listening = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ts_check_int(sd_is_socket_unix(listening, SOCK_STREAM, 1, NULL, 0), 0);
	close(listening);
}

TS_TEST(inherited_sockets)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		check_inherited();
		_exit(0);
	}
	ts_check(waitpid(pid, &status, 0) == pid && !status);
}
