/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's recordings: owners, totals of their sessions, and the list of ended sessions.
 * server.c, peers.c and server-system.c call this module. control.c looks up ended sessions, and
 * expire.c removes them from the list.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/serve/loop/server.h"

void ts_server_own_recording(struct ts_server *server, struct ts_recording *recording)
{
	struct ts_user *user = ts_users_ref(server->users, getuid());

	recording->uid = getuid();
	ts_recording_limit(recording, &server->options.limits, user);
	ts_user_unref(user);
}

void ts_server_account(struct ts_server *server, struct ts_recording *recording,
		       const struct ts_session *session, enum ts_session_end how)
{
	struct ts_session_status status;

	ts_session_status(session, &status);
	for (unsigned i = 0; i < TS_ROW_EVENT_END; i++)
		recording->counts[i] += status.counts[i];
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		recording->lost[i] += status.lost[i];
	recording->n_kernel_counters += status.n_kernel_counters;
	recording->n_own_rows += status.n_own_rows;
	recording->n_captured += status.capture != TS_CAPTURE_STATE_NONE;
	recording->captured_bytes += status.captured_bytes;
	recording->captured_ns += status.captured_ns;
	recording->n_unsupported += status.n_unsupported;
	recording->capture_ended = recording->capture_ended ?: status.capture_ended;
	recording->n_stopped += how == TS_SESSION_END_STOPPED;
	recording->n_died += how == TS_SESSION_END_DIED;
	recording->n_dropped += how == TS_SESSION_END_BAD_DATA;
	if (how == TS_SESSION_END_DAEMON && recording->writer && !recording->error)
		recording->error = ts_sbt_writer_error(recording->writer);
	ts_recording_empty(recording, status.reason, status.program, status.reason_text);
	server->n_rows += status.rows;
}

/* ---- ended sessions ---- */

static void forget(struct ts_ended **p)
{
	struct ts_ended *ended = *p;

	*p = ended->next;
	ts_user_give(ended->recording->user, TS_RESOURCE_TRACES, 1);
	ts_recording_free(ended->recording);
	free(ended);
}

/*
 * Drops one trace from the list to make room. If the user's traces in the list use up the user's
 * share, drops the user's oldest trace; otherwise drops the oldest trace of all users.
 */
static void forget_for(struct ts_server *server, const struct ts_user *user)
{
	const uint64_t most = ts_users_quarter(server->options.limits.max_traces);
	const bool has_share = ts_user_has(user, TS_RESOURCE_TRACES) >= most;
	struct ts_ended **oldest = NULL;

	for (struct ts_ended **p = &server->ended; *p; p = &(*p)->next)
		if (!has_share || (*p)->recording->user == user)
			oldest = p;
	if (oldest)
		forget(oldest);
}

static bool is_of(const struct ts_recording *recording, dev_t device, ino_t inode)
{
	struct stat status;

	return !fstat(recording->read_fd, &status) && status.st_dev == device &&
	       status.st_ino == inode;
}

void ts_server_forget_file(struct ts_server *server, dev_t device, ino_t inode)
{
	struct ts_ended **p = &server->ended;

	while (*p && !is_of((*p)->recording, device, inode))
		p = &(*p)->next;
	if (*p)
		forget(p);
}

void ts_server_forget_all(struct ts_server *server)
{
	while (server->ended)
		forget(&server->ended);
}

struct ts_recording *ts_server_find_ended(const struct ts_server *server,
					  const struct ts_identity *asker, uint32_t number,
					  uint32_t pid)
{
	for (const struct ts_ended *ended = server->ended; ended; ended = ended->next)
		if ((number ? ended->number == number : (uint32_t)ended->pid == pid) &&
		    ts_identity_may_see(asker, ended->recording->uid))
			return ended->recording;
	return server->recording;
}

void ts_server_remember(struct ts_server *server, struct ts_recording *recording, uint32_t number,
			pid_t pid)
{
	struct ts_ended *ended = malloc(sizeof(*ended));

	if (!ended) {
		ts_recording_free(recording);
		return;
	}
	if (!ts_user_take(recording->user, TS_RESOURCE_TRACES, 1)) {
		forget_for(server, recording->user);
		if (!ts_user_take(recording->user, TS_RESOURCE_TRACES, 1)) {
			free(ended);
			ts_recording_free(recording);
			return;
		}
	}
	*ended = (struct ts_ended){server->ended, recording, number, pid};
	server->ended = ended;
}
