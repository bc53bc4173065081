/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon that records a growing trace: see studio-daemon.h. studio-trace.c asks it to write
 * while a page follows the trace, and request-live.c switches the recording. Without a flush, the
 * rows of GPU operations stay in the process until the vendor's buffers are full, and the daemon
 * writes at its own interval.
 */
#include "tools/studio/server/studio-daemon.h"

#include "proto/abi/clock.h"
#include "tools/tsctl/options/values.h"

#include <sys/stat.h>

/* Limit for the process's flush; a stopped process does not hold the page up for longer. */
#define FLUSH_MS 300u
/* Time between two searches for a daemon. */
#define SEARCH_NS UINT64_C(5000000000)

static bool is_file(const char *path, const struct stat *file)
{
	struct stat status;

	return path && !stat(path, &status) && status.st_dev == file->st_dev &&
	       status.st_ino == file->st_ino;
}

/* Returns the daemon that writes the trace's file. */
static const struct ts_live_daemon *find_by_file(const struct ts_live *live, const char *path,
						 uint32_t *ret_session, uint32_t *ret_pid)
{
	struct stat file;

	if (stat(path, &file))
		return NULL;
	for (size_t i = 0; i < live->n_daemons; i++) {
		const struct ts_live_daemon *daemon = &live->daemons[i];
		const Ts__Rpc__SessionList *list =
			daemon->answer ? daemon->answer->session_list : NULL;

		for (size_t k = 0; list && k < list->n_sessions; k++) {
			const Ts__Rpc__LiveSession *session = list->sessions[k];

			if (!is_file(session->path, &file))
				continue;
			*ret_session = daemon->is_recording ? 0 : session->session;
			*ret_pid = daemon->is_recording ? 0 : session->pid;
			return daemon;
		}
	}
	return NULL;
}

static uint32_t pid_of(const struct ts_live_daemon *daemon, uint32_t session)
{
	const Ts__Rpc__SessionList *list = daemon->answer->session_list;

	for (size_t i = 0; i < list->n_sessions; i++)
		if (list->sessions[i]->session == session)
			return list->sessions[i]->pid;
	return 0;
}

const struct ts_live_daemon *ts_studio_daemon_find(const struct ts_live *live,
						   const struct ts_studio_trace *trace,
						   uint32_t *ret_session, uint32_t *ret_pid)
{
	const struct ts_live_daemon *daemon;
	unsigned long long number;

	if (!trace->session || ts_parse_number(trace->session, 1, UINT32_MAX, &number))
		return find_by_file(live, trace->path, ret_session, ret_pid);
	daemon = ts_source_find_session(live, (uint32_t)number, ret_session);
	if (!daemon)
		return NULL;
	*ret_pid = pid_of(daemon, *ret_session);
	return *ret_pid ? daemon : NULL;
}

static void forget(struct ts_studio_daemon *daemon)
{
	ts_live_free(daemon->live);
	daemon->live = NULL;
	daemon->daemon = NULL;
}

static void search(struct ts_studio_daemon *daemon, struct ts_studio_trace *trace)
{
	uint32_t pid;

	daemon->tried_ns = ts_clock_monotonic_ns();
	/* tsctl's messages are not for several threads at once. */
	pthread_mutex_lock(&trace->lock);
	if (!ts_live_new(&daemon->live) && !ts_live_list(daemon->live))
		daemon->daemon = ts_studio_daemon_find(daemon->live, trace, &daemon->session, &pid);
	pthread_mutex_unlock(&trace->lock);
	if (!daemon->daemon)
		forget(daemon);
}

uint64_t ts_studio_daemon_flush(struct ts_studio_daemon *daemon, struct ts_studio_trace *trace)
{
	uint64_t now_ns = ts_clock_monotonic_ns();
	Ts__Rpc__Answer *answer = NULL;
	bool is_written;
	int r;

	if (!daemon->daemon && (!daemon->tried_ns || now_ns - daemon->tried_ns > SEARCH_NS))
		search(daemon, trace);
	if (!daemon->daemon)
		return 0;
	now_ns = ts_clock_monotonic_ns();
	r = ts_client_flush(daemon->daemon->client, daemon->session, FLUSH_MS, &answer);
	is_written = !r && answer->body_case == TS__RPC__ANSWER__BODY_FLUSHED &&
		     answer->flushed->sessions && !answer->flushed->timed_out;
	if (answer)
		ts__rpc__answer__free_unpacked(answer, NULL);
	/* The session or its daemon has ended. */
	if (r)
		forget(daemon);
	return is_written ? now_ns : 0;
}

void ts_studio_daemon_deinit(struct ts_studio_daemon *daemon)
{
	forget(daemon);
}
