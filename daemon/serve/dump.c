/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording has so far, kept on request: by tsctl, with a signal, or by a mark of the application's. Sessions write what
 * they hold first, after a flush of their processes, so that nothing of before is missing.
 */
#include <signal.h>

#include "daemon/serve/server.h"
#include "daemon/util/error.h"
#include "proto/abi/clock.h"

#define DUMP_FLUSH_MS 5000u
/* For those that answer nothing. */
#define DUMP_WAIT_NS (UINT64_C(10000) * 1000000)

static void dump_begin(struct ts_server *server)
{
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		peer->dump_ticket =
			peer->session ? ts_session_seal(peer->session, DUMP_FLUSH_MS) : 0;
	server->dump_deadline_ns = ts_clock_monotonic_ns() + DUMP_WAIT_NS;
	ts_server_watch(server);
}

static bool dump_is_ready(const struct ts_server *server, uint64_t now)
{
	enum ts_session_end how;
	const char *why;

	for (const struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (peer->session && peer->dump_ticket &&
		    !ts_session_sealed(peer->session, peer->dump_ticket) &&
		    !ts_session_ended(peer->session, &how, &why) && now < server->dump_deadline_ns)
			return false;
	return true;
}

void ts_server_dump_check(struct ts_server *server, bool is_end)
{
	struct ts_recording *recording = server->recording;
	bool wanted =
		recording && __atomic_exchange_n(&recording->dump_wanted, false, __ATOMIC_RELAXED);

	/* One that is wanted while another is made is the same. */
	if (wanted && !server->dump_deadline_ns)
		dump_begin(server);
	if (!server->dump_deadline_ns ||
	    (!is_end && !dump_is_ready(server, ts_clock_monotonic_ns())))
		return;
	server->dump_deadline_ns = 0;
	ts_recording_dump(recording);
}

static int dump_on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct ts_server *server = data;

	if (server->recording)
		__atomic_store_n(&server->recording->dump_wanted, true, __ATOMIC_RELAXED);
	ts_server_look(server);
	return 0;
}

int ts_server_dump_setup(struct ts_server *server)
{
	const char *mark = server->options.dump_on_mark;
	sigset_t set;
	int r;

	if (server->options.mode != TS_SERVER_RECORD || !server->recording)
		return 0;
	if (mark) {
		r = ts_sbt_writer_string(server->recording->writer, mark, strlen(mark),
					 &server->recording->dump_name);
		if (r)
			return ts_error_origin(r < 0 ? r : -EIO);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ts_error_origin(-errno);
	r = sd_event_add_signal(server->event, NULL, SIGUSR1, dump_on_signal, server);
	return r < 0 ? ts_error_origin(r) : 0;
}
