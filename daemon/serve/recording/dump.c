/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps: a copy of the records so far. SIGUSR1 dumps all recordings; a mark of the application
 * dumps one. First the processes flush and the sessions write, so no earlier record is missing.
 * server.c and peers.c call this module; this module calls recording-rotation.c.
 */
#include <signal.h>

#include "daemon/serve/loop/server.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

#define DUMP_FLUSH_MS 5000u
/* Maximum time that a dump waits for sessions to write their rows. */
#define DUMP_WAIT_NS (UINT64_C(10000) * 1000000)

static bool waits_for(const struct ts_peer *peer, const struct ts_recording *recording)
{
	return peer->session && peer->recording == recording;
}

static void begin(struct ts_server *server, struct ts_recording *recording)
{
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (waits_for(peer, recording))
			peer->dump_ticket = ts_session_seal(peer->session, DUMP_FLUSH_MS);
	recording->dump_deadline_ns = ts_clock_monotonic_ns() + DUMP_WAIT_NS;
}

static bool is_ready(const struct ts_server *server, const struct ts_recording *recording)
{
	enum ts_session_end how;
	const char *why;

	if (ts_clock_monotonic_ns() >= recording->dump_deadline_ns)
		return true;
	for (const struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (waits_for(peer, recording) && peer->dump_ticket &&
		    !ts_session_sealed(peer->session, peer->dump_ticket) &&
		    !ts_session_ended(peer->session, &how, &why))
			return false;
	return true;
}

void ts_server_dump_check(struct ts_server *server, struct ts_recording *recording, bool is_end)
{
	struct ts_recording_files files;

	/* If a dump is in progress, a new request starts no second dump. */
	if (__atomic_exchange_n(&recording->dump_wanted, false, __ATOMIC_RELAXED) &&
	    !recording->dump_deadline_ns)
		begin(server, recording);
	if (!recording->dump_deadline_ns || (!is_end && !is_ready(server, recording)))
		return;
	recording->dump_deadline_ns = 0;
	if (!ts_recording_dump(recording, &files))
		ts_server_keep_files(server, recording->user, &files);
}

static void look(struct ts_server *server, struct ts_recording *recording)
{
	ts_server_dump_check(server, recording, false);
	server->dumping |= recording->dump_deadline_ns != 0;
}

void ts_server_dump_check_all(struct ts_server *server)
{
	server->dumping = false;
	if (server->recording)
		look(server, server->recording);
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (peer->recording && peer->recording != server->recording)
			look(server, peer->recording);
	/* Arm the timer, because sessions might not answer before the dump's deadline. */
	if (server->dumping)
		ts_server_watch(server);
}

static void want(struct ts_recording *recording)
{
	if (recording)
		__atomic_store_n(&recording->dump_wanted, true, __ATOMIC_RELAXED);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct ts_server *server = data;

	want(server->recording);
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		want(peer->recording);
	ts_server_look(server);
	return 0;
}

int ts_server_dump_setup(struct ts_server *server)
{
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ts_error_origin(-errno);
	r = sd_event_add_signal(server->event, NULL, SIGUSR1, on_signal, server);
	return r < 0 ? ts_error_origin(r) : 0;
}

int ts_server_dump_prepare(const struct ts_server *server, struct ts_recording *recording)
{
	const char *mark = server->options.dump_on_mark;
	int r;

	r = mark ? ts_sbt_writer_string(recording->writer, mark, strlen(mark),
					&recording->dump_name)
		 : 0;
	return r ? ts_error_origin(r < 0 ? r : -EIO) : 0;
}
