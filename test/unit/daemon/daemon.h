/* SPDX-License-Identifier: Apache-2.0 */
/* Daemons for tests, in each of the three modes, and helpers that look at their results. */
#pragma once

#include <sys/stat.h>

#include <glob.h>

#include "proto/client/client.h"
#include "sbt/reader.h"
#include "test/unit/daemon/producer.h"

static inline void reader_open(const char *path, int *ret_fd, struct ts_sbt_reader **ret_reader)
{
	struct ts_sbt_error error = {0};

	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(*ret_fd >= 0);
	ts_check_int(ts_sbt_reader_open(*ret_fd, ret_reader, &error), 0);
}

static inline pid_t daemon_private(const char *output, int *ret_fd)
{
	char *arguments[] = {(char *)"tracesmithd", (char *)"--private", (char *)"--session-fd",
			     (char *)"3",	    (char *)"--output",	 (char *)(uintptr_t)output,
			     (char *)"--program",   (char *)"producer",	 NULL};
	int fds[2];
	pid_t pid;

	ts_check_int(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	pid = daemon_spawn(arguments, fds[1]);
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static inline void produce(struct producer *p, uint32_t n)
{
	const uint64_t frames[] = {0x1000, 0x2000};
	uint32_t kernel, stack;

	producer_claim(p, 0, 1001, "main");
	producer_claim(p, 1, 1002, "delivery");
	kernel = producer_string(p, "_Z5saxpyifPfS_");
	stack = producer_stack(p, frames, 2);
	for (uint32_t i = 1; i <= n; i++)
		producer_launch(p, i, stack, kernel);
}

/* ---- a recording, as `tsctl record` makes one ---- */

struct recording {
	char directory[128], path[160], socket[160];
	struct ts_client *client;
	pid_t pid;
};

static inline void recording_begin_with(struct recording *r, const char *option, const char *value)
{
	int fds[2];

	directory_make(r->directory, sizeof(r->directory));
	snprintf(r->path, sizeof(r->path), "%s/x.sbt", r->directory);
	snprintf(r->socket, sizeof(r->socket), "%s/i", r->directory);
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	{
		char *arguments[] = {(char *)"tracesmithd",
				     (char *)"--record",
				     (char *)"--control-fd",
				     (char *)"3",
				     (char *)"--inject-socket",
				     r->socket,
				     (char *)"--output",
				     r->path,
				     (char *)(uintptr_t)option,
				     (char *)(uintptr_t)value,
				     NULL};

		r->pid = daemon_spawn(arguments, fds[1]);
	}
	close(fds[1]);
	ts_check_int(ts_client_new_from_fd(fds[0], &r->client), 0);
}

static inline void recording_begin(struct recording *r)
{
	recording_begin_with(r, NULL, NULL);
}

static inline uint64_t summary_lost(const Ts__Rpc__RecordingSummary *summary, const char *key)
{
	for (size_t i = 0; i < summary->n_lost; i++)
		if (!strcmp(summary->lost[i]->key, key))
			return summary->lost[i]->value;
	return 0;
}

static inline uint64_t summary_count(const Ts__Rpc__RecordingSummary *summary, const char *key)
{
	for (size_t i = 0; i < summary->n_counts; i++)
		if (!strcmp(summary->counts[i]->key, key))
			return summary->counts[i]->value;
	return 0;
}

static inline void recording_end(struct recording *r)
{
	ts_client_free(r->client);
	ts_check_int(daemon_wait(r->pid), 0);
	directory_remove(r->directory);
}

/* ---- a service ---- */

struct service {
	char directory[128], inject[160], control[160];
	pid_t pid;
};

static inline pid_t service_spawn(const struct service *s, char *const *arguments)
{
	const char *path = getenv("TRACESMITHD");
	pid_t pid;

	if (!path || !daemon_in_unit())
		return daemon_spawn(arguments, -1);
	if (getuid())
		ts_skip("needs root");
	ts_check_int(chown(s->directory, DAEMON_UNIT_UID, DAEMON_UNIT_UID), 0);
	ts_check_int(chmod(s->directory, 0751), 0);
	pid = fork();
	if (!pid)
		daemon_exec_in_unit(path, arguments, s->directory);
	return pid;
}

/* Writes the path of the service's trace of a process of this test. */
static inline void service_trace_path(const struct service *s, char *path, size_t n_bytes)
{
	snprintf(path, n_bytes, "%s/%u/tracesmith-producer-%d.sbt", s->directory, getuid(),
		 getpid());
}

/* Finds the paths of a service's traces of all users. The caller calls globfree(). */
static inline void service_traces(const char *directory, glob_t *ret_traces)
{
	char pattern[192];

	snprintf(pattern, sizeof(pattern), "%s/*/tracesmith-*.sbt", directory);
	if (glob(pattern, 0, NULL, ret_traces))
		*ret_traces = (glob_t){0};
}

static inline void service_paths(struct service *s)
{
	directory_make(s->directory, sizeof(s->directory));
	snprintf(s->inject, sizeof(s->inject), "%s/i", s->directory);
	snprintf(s->control, sizeof(s->control), "%s/c", s->directory);
}

static inline void service_start(struct service *s, const char *option, const char *value)
{
	char *arguments[] = {(char *)"tracesmithd",
			     (char *)"--inject-socket",
			     s->inject,
			     (char *)"--control-socket",
			     s->control,
			     (char *)"--directory",
			     s->directory,
			     (char *)"--max-sessions-user",
			     (char *)"2",
			     (char *)"--log",
			     (char *)"error",
			     (char *)(uintptr_t)option,
			     (char *)(uintptr_t)value,
			     NULL};

	s->pid = service_spawn(s, arguments);
}

static inline void service_begin_with(struct service *s, const char *option, const char *value)
{
	service_paths(s);
	service_start(s, option, value);
}

static inline void service_begin(struct service *s)
{
	service_begin_with(s, NULL, NULL);
}

/*
 * Checks that a client gets its answer within its default timeout. With a sanitizer on a busy
 * machine the daemon is many times slower, so a later client may get it.
 */
static inline void service_check_answers(const struct service *s)
{
	unsigned n_left = TS_TEST_SANITIZED ? 4 : 1;
	struct ts_client *client;
	Ts__Rpc__Answer *answer = NULL;
	int r;

	do {
		ts_check_int(ts_client_connect(s->control, &client), 0);
		r = ts_client_status(client, &answer);
		ts_client_free(client);
	} while (r == -ETIMEDOUT && --n_left);
	ts_check_int(r, 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
}

static inline void service_end(struct service *s)
{
	kill(s->pid, SIGTERM);
	ts_check_int(daemon_wait(s->pid), 0);
	/* The service removes its sockets when it ends. */
	ts_check(access(s->inject, F_OK) < 0 && access(s->control, F_OK) < 0);
	directory_remove(s->directory);
}
