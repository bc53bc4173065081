/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of observing (`--system`). server.c starts and ends it, control.c finds
 * observed sessions. A recording has observed sessions beside its own. A service writes them all to
 * one file, which stays the daemon's: the sessions belong to several users.
 */
#include <stdio.h>

#include "daemon/serve/loop/answers.h"
#include "daemon/serve/loop/server.h"
#include "daemon/util/daemon-error.h"

static int describe(const struct ts_server *server, struct ts_recording *recording)
{
	int r = server->system_missing[0]
			? ts_sbt_writer_metadata(recording->writer, TS_METADATA_SYSTEM_MISSING,
						 server->system_missing)
			: ts_sbt_writer_metadata(recording->writer, TS_METADATA_SYSTEM, "calls");

	r = r ?: ts_sbt_writer_flush(recording->writer);
	return r > 0 ? ts_error_origin(-EIO) : r;
}

static int open_recording(struct ts_server *server, const char **ret_why)
{
	const struct ts_server_options *options = &server->options;
	struct ts_user *user = ts_users_ref(server->users, getuid());
	const struct ts_recording_account account = {&options->limits, user, server->disk};
	char path[4096];
	int r;

	if (snprintf(path, sizeof(path), "%s/tracesmith-system.sbt", options->directory) >=
	    (int)sizeof(path))
		r = ts_error_origin(-ENAMETOOLONG);
	else
		r = ts_recording_new(path, true, 0600, NULL, &account, ret_why, &server->observed);
	ts_user_unref(user);
	if (r)
		return ts_error_trace(r);
	server->observed->uid = getuid();
	server->observed->group = server->all_group;
	return ts_recording_quantum(server->observed, options->quantum_ns);
}

static int start(struct ts_server *server, struct ts_recording *recording)
{
	const struct ts_server_options *options = &server->options;
	const struct ts_observer_options observer = {
		.recording = recording,
		.users = server->users,
		.worker = options->worker,
		.seal_age_ms = options->seal_age_ms,
		.paused = options->command & TS_COMMAND_PAUSED,
		.notify_fd = server->notify_fd,
		.last_number = &server->last_number,
	};

	return ts_observer_new(&observer, &server->observer, server->system_missing);
}

int ts_server_open_system(struct ts_server *server)
{
	bool service = server->options.mode == TS_SERVER_SERVICE;
	const char *why = NULL;
	int r = 0;

	if (!server->options.system || server->options.mode == TS_SERVER_PRIVATE)
		return 0;
	if (service)
		r = open_recording(server, &why);
	/* A service with a full disk still serves its existing traces. */
	if (r == -ENOSPC || r == -EDQUOT) {
		snprintf(server->system_missing, sizeof(server->system_missing), "%s",
			 why ?: strerror(-r));
	} else if (r) {
		ts_log(TS_LOG_ERROR,
		       "cannot write the trace of processes without a preloaded libtsinject.so in %s: %s",
		       server->options.directory, strerror(-r));
		return r;
	}
	if (r || start(server, service ? server->observed : server->recording)) {
		ts_log(TS_LOG_WARNING,
		       "calls of processes without a preloaded libtsinject.so are not recorded: %s",
		       server->system_missing);
		if (service) {
			if (server->observed)
				ts_recording_discard(server->observed);
			ts_recording_free(ts_take_ptr(server->observed));
			return 0;
		}
	}
	return describe(server, service ? server->observed : server->recording);
}

struct ts_recording *ts_server_find_observed(const struct ts_server *server,
					     const struct ts_identity *asker, uint32_t number,
					     uint32_t pid, uint32_t *ret_number,
					     uint32_t *ret_in_file)
{
	struct ts_observer_list list = {0};
	bool found = false;

	if (!server->observer || (!number && !pid) || ts_observer_list(server->observer, &list))
		return NULL;
	for (size_t i = 0; i < list.n && !found; i++) {
		const struct ts_session_status *status = &list.sessions[i].status;

		found = (number ? list.sessions[i].number == number : status->pid == pid) &&
			ts_identity_may_see(asker, status->uid);
		if (found) {
			*ret_number = list.sessions[i].number;
			*ret_in_file = status->number;
		}
	}
	free(list.sessions);
	return found ? server->observed ?: server->recording : NULL;
}

void ts_server_close_system(struct ts_server *server)
{
	struct ts_recording *recording = server->observed ?: server->recording;
	const struct ts_observer_sum *sum;

	if (!server->observer)
		return;
	ts_observer_end(server->observer);
	sum = ts_observer_sum(server->observer);
	for (unsigned i = 0; i < TS_ROW_EVENT_END; i++)
		recording->counts[i] += sum->counts[i];
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		recording->lost[i] += sum->lost[i];
	recording->n_sessions += sum->n_sessions;
	recording->n_observed += sum->n_sessions;
	recording->n_observed_calls += sum->counts[TS_ROW_API];
	server->n_rows += sum->n_rows;
	if (server->observed) {
		if (ts_recording_finish(server->observed))
			ts_log(TS_LOG_ERROR, "%s is incomplete: %s", server->observed->path,
			       strerror(-server->observed->error));
		ts_recording_grant(server->observed);
		if (!sum->n_sessions)
			ts_recording_discard(server->observed);
	}
	ts_observer_free(ts_take_ptr(server->observer));
}
