/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of the inject socket. listen.c creates them, the loop of server.c checks them. This
 * module calls session/ and recording/.
 *
 *   HELLO with a memfd   -> a session, answered by WELCOME
 *   BYE, hang-up         -> the session ends
 *   NOTE                 -> a session row with the reason for an empty trace
 *   malformed handshake  -> REFUSED, and the peer is dropped
 *
 * The end of a session is answered by DONE (after BYE) or STOP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/serve/recording/peer-file.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/handshake.h"
#include "proto/abi/utf8.h"

#define PEER_HELLO_MAX_NS (UINT64_C(10) * 1000000000)

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16, unix(7) */
#endif

static void send_packet(struct ts_peer *peer, const void *packet, size_t n_bytes)
{
	/*
	 * Drops the packet if the peer's socket buffer is full: an honest peer reads its few
	 * packets.
	 */
	if (send(peer->fd, packet, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR) < 0)
		ts_log(TS_LOG_DEBUG, "pid %d: %s", peer->credentials.pid, strerror(errno));
}

static void send_type(struct ts_peer *peer, enum ts_handshake_type type)
{
	struct ts_handshake packet = {TS_HANDSHAKE_MAGIC, (uint16_t)type, sizeof(packet)};

	send_packet(peer, &packet, sizeof(packet));
}

static void disconnect(struct ts_peer *peer)
{
	if (peer->fd < 0)
		return;
	peer->source = sd_event_source_disable_unref(peer->source);
	ts_porter_close(peer->server->porter, peer->connection, ts_take_fd(&peer->fd));
}

static void unlink_peer(struct ts_peer *peer)
{
	struct ts_server *server = peer->server;

	for (struct ts_peer **p = &server->peers; *p; p = &(*p)->next)
		if (*p == peer) {
			*p = peer->next;
			server->n_peers--;
			break;
		}
}

void ts_peer_free(struct ts_peer *peer)
{
	struct ts_server *server = peer->server;

	unlink_peer(peer);
	disconnect(peer);
	ts_session_free(peer->session);
	if (peer->recording != server->recording)
		ts_recording_free(peer->recording);
	ts_user_give(peer->user, TS_RESOURCE_PLACES, 1);
	ts_user_give(peer->user, peer->began ? TS_RESOURCE_SESSIONS : TS_RESOURCE_CONNECTIONS, 1);
	ts_user_unref(peer->user);
	free(peer);
	/* A private daemon serves one process and ends with it. */
	if (server->options.mode == TS_SERVER_PRIVATE)
		server->finish(server, 0);
}

static struct ts_handshake_reason refusal(int error, const char *why)
{
	struct ts_handshake_reason packet = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_REFUSED, sizeof(packet)},
		.reason = (uint32_t)-error,
	};

	snprintf(packet.text, sizeof(packet.text), "%s", why);
	return packet;
}

void ts_peer_reject(struct ts_server *server, const struct ts_incoming *incoming, int error,
		    const char *why)
{
	struct ts_handshake_reason packet = refusal(error, why);

	server->n_refused++;
	if (send(incoming->fd, &packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR) < 0)
		ts_log(TS_LOG_DEBUG, "uid %u: %s", incoming->identity.uid, strerror(errno));
	ts_porter_close(server->porter, incoming->connection, incoming->fd);
}

/* *ret_why: as with ts_peer_file_new(). */
static int begin_recording(struct ts_peer *peer, const struct ts_peer_file *file,
			   const char **ret_why)
{
	struct ts_server *server = peer->server;
	int r;

	if (peer->recording)
		return 0;
	if (server->options.mode == TS_SERVER_SERVICE) {
		r = ts_peer_file_new(peer, file, ret_why);
		if (r)
			return r;
		peer->recording->uid = peer->credentials.uid;
		peer->recording->group = server->all_group;
		return 0;
	}
	if (!server->recording) {
		r = ts_recording_new(server->options.output, true, 0600, server->options.program,
				     NULL, NULL, &server->recording);
		if (r) {
			ts_log(TS_LOG_ERROR, "cannot create %s: %s", server->options.output,
			       strerror(-r));
			return r;
		}
		ts_server_own_recording(server, server->recording);
	}
	peer->recording = server->recording;
	return 0;
}

/* Reads the process's name from /proc. Used if the process has sent no name. */
static void process_name(pid_t pid, char *name, size_t n_name)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, (int)n_name, file))
		*name = '\0';
	if (file)
		fclose(file);
	name[strcspn(name, "\n")] = '\0';
	ts_text_clean(name);
}

/* Records a refused process in the trace. A service has no file for that process. */
static void note_refused(struct ts_peer *peer, const char *why)
{
	struct ts_server *server = peer->server;
	char program[64] = "";
	int r;

	if (server->options.mode == TS_SERVER_SERVICE || server->finishing)
		return;
	/* A full file needs no row: the trace has the reason already. */
	if (server->recording && ts_recording_why_full(server->recording)) {
		server->recording->n_refused++;
		return;
	}
	process_name(peer->credentials.pid, program, sizeof(program));
	r = begin_recording(peer, NULL, NULL);
	r = r ?: ts_recording_note_refused(peer->recording, &peer->credentials, program, why);
	if (r)
		ts_log(TS_LOG_ERROR, "cannot add the unrecorded process to the trace: %s",
		       strerror(-r));
}

static void refuse(struct ts_peer *peer, int error, const char *why)
{
	struct ts_handshake_reason packet = refusal(error, why);

	packet.pid = (uint32_t)peer->credentials.pid;
	ts_log(TS_LOG_WARNING, "refused a session of pid %d, uid %u: %s", peer->credentials.pid,
	       peer->credentials.uid, why);
	peer->server->n_refused++;
	note_refused(peer, why);
	send_packet(peer, &packet, sizeof(packet));
	ts_peer_free(peer);
}

/*
 * Charges a session to the user's account, and no longer the connection. Returns the reason if the
 * account has no room.
 */
static const char *take_session(struct ts_peer *peer)
{
	const struct ts_server *server = peer->server;

	if (ts_user_take(peer->user, TS_RESOURCE_SESSIONS, 1)) {
		ts_user_give(peer->user, TS_RESOURCE_CONNECTIONS, 1);
		peer->began = true;
		return NULL;
	}
	if (ts_users_have(server->users, TS_RESOURCE_SESSIONS) >=
	    server->options.limits.max_sessions)
		return "too many sessions at once (see --max-sessions)";
	return "too many sessions of this user at once (see --max-sessions-user)";
}

static const char *may_begin(struct ts_peer *peer)
{
	struct ts_server *server = peer->server;
	const struct ts_limits *limits = &server->options.limits;

	if (peer->session)
		return "this connection already has a session";
	if (server->finishing)
		return "the recording has ended";
	if (server->recording && ts_recording_why_full(server->recording))
		return ts_recording_why_full(server->recording);
	if (server->options.mode == TS_SERVER_SERVICE &&
	    !ts_recording_has_disk(server->options.directory, limits))
		return TS_RECORDING_NOTHING_FREE;
	return ts_server_may_keep(server, peer->user);
}

/* Forbids the peer to pass further descriptors, if the kernel supports it. */
static void refuse_fds(int fd)
{
	int off = 0;

	/*
	 * An older kernel lacks the option: the porter then closes the descriptors that the peer
	 * passes.
	 */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) < 0)
		ts_log(TS_LOG_DEBUG, "SO_PASSRIGHTS: %s", strerror(errno));
}

/*
 * Handles a HELLO packet. `fds`: the session memory, then the trace file twice; -1: none received.
 * `n_fds`: number of descriptors in the packet.
 */
static void take_hello(struct ts_peer *peer, const struct ts_handshake_hello *hello, int *fds,
		       unsigned n_fds)
{
	struct ts_server *server = peer->server;
	struct ts_session_options options = {
		.command = server->options.command,
		.notify_fd = server->notify_fd,
		.peer = peer->credentials,
		.peer_fd = peer->fd,
		.kernel = server->kernel,
		.seal_age_ms = server->options.seal_age_ms,
		.ends_file = server->options.mode != TS_SERVER_RECORD,
		.resumed = hello->resumed,
		.decides = server->options.mode == TS_SERVER_RECORD,
	};
	struct ts_handshake_welcome welcome = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_WELCOME, sizeof(welcome)}};
	struct ts_memory memory;
	uint64_t start_ticks;
	const char *why = may_begin(peer) ?: take_session(peer);
	int r;

	if (why) {
		refuse(peer, -EBUSY, why);
		return;
	}
	if (hello->major != TS_ABI_MAJOR) {
		refuse(peer, -EPROTONOSUPPORT,
		       "its libtsinject.so has another major version of the session ABI; use the one installed with this daemon");
		return;
	}
	if (fds[0] < 0) {
		refuse(peer, -EBADF,
		       n_fds ? "the session memory is not a memfd"
			     : "its HELLO carries no session memory");
		return;
	}
	r = ts_memory_open(fds[0], server->options.limits.max_session_bytes, &memory, &why);
	if (r) {
		refuse(peer, r, why);
		return;
	}
	why = NULL;
	r = begin_recording(peer,
			    &(struct ts_peer_file){
				    .resumed = hello->resumed,
				    .has_output = hello->has_output,
				    .output_number = hello->output_number,
				    .program = memory.program,
				    .fds = fds,
			    },
			    &why);
	r = r ?: ts_session_new(peer->recording, &memory, &options, &peer->session);
	if (r) {
		ts_log(TS_LOG_ERROR, "cannot record pid %d: %s", peer->credentials.pid,
		       strerror(-r));
		ts_memory_close(&memory);
		/* The file of a service belongs to this session alone, which did not begin. */
		if (server->options.mode == TS_SERVER_SERVICE && peer->recording) {
			why = why ?: ts_recording_why_full(peer->recording);
			ts_peer_file_discard(peer->recording);
		}
		refuse(peer, r, why ?: strerror(-r));
		return;
	}
	/*
	 * Confirm the pid first: the process may have ended, and its pid may belong to a new
	 * process, which must stay observed.
	 */
	if (server->observer && !ts_identity_confirm(peer->fd, &peer->credentials, &start_ticks))
		ts_observer_exclude(server->observer, peer->credentials.pid);
	refuse_fds(peer->fd);
	server->n_sessions++;
	peer->recording->n_sessions++;
	welcome.session = peer->number;
	welcome.flags = peer->recording->is_theirs ? TS_WELCOME_OUTPUT : 0;
	send_packet(peer, &welcome, sizeof(welcome));
	ts_log(TS_LOG_INFO, "session %" PRIu32 ": pid %d, uid %u, into %s", peer->number,
	       peer->credentials.pid, peer->credentials.uid, peer->recording->path);
}

static void take_note(struct ts_peer *peer, const struct ts_handshake_reason *packet)
{
	struct ts_handshake_reason note = *packet;
	int r;

	note.program[sizeof(note.program) - 1] = '\0';
	note.text[sizeof(note.text) - 1] = '\0';
	ts_text_clean(note.program);
	ts_text_clean(note.text);
	ts_log(TS_LOG_INFO, "pid %d cannot be recorded: %s", peer->credentials.pid, note.text);
	/* A service creates no file for a process that only has a NOTE. */
	if (peer->server->options.mode != TS_SERVER_SERVICE && !peer->server->finishing) {
		r = begin_recording(peer, NULL, NULL);
		r = r
			    ?: ts_recording_note(peer->recording, &peer->credentials,
						 (enum ts_empty_reason)note.reason, note.program,
						 note.text);
		if (r)
			ts_log(TS_LOG_ERROR, "cannot add the unrecorded process to the trace: %s",
			       strerror(-r));
	}
	ts_peer_free(peer);
}

/* Handles one packet of n_bytes, after checking its header. May free the peer. */
static void take_packet(struct ts_peer *peer, const uint8_t *bytes, size_t n_bytes, int *fds,
			unsigned n_fds)
{
	union {
		struct ts_handshake header;
		struct ts_handshake_hello hello;
		struct ts_handshake_reason reason;
	} packet = {0};

	memcpy(&packet, bytes, n_bytes < sizeof(packet) ? n_bytes : sizeof(packet));
	if (n_bytes < sizeof(packet.header) || packet.header.magic != TS_HANDSHAKE_MAGIC ||
	    packet.header.n_bytes != n_bytes) {
		if (!peer->session)
			refuse(peer, -EPROTO,
			       "its message does not have the format of the handshake");
		return;
	}
	switch (packet.header.type) {
	case TS_HANDSHAKE_HELLO:
		if (!peer->session && n_bytes >= TS_HANDSHAKE_HELLO_MIN_BYTES)
			take_hello(peer, &packet.hello, fds, n_fds);
		break;
	case TS_HANDSHAKE_NOTE:
		if (!peer->session && n_bytes >= sizeof(packet.reason))
			take_note(peer, &packet.reason);
		break;
	case TS_HANDSHAKE_BYE:
		if (peer->session)
			ts_session_end(peer->session, TS_SESSION_END_BYE);
		break;
	default:
		/* A newer shim may send other types; they are ignored. */
		break;
	}
}

static void gone(struct ts_peer *peer)
{
	if (!peer->session) {
		ts_peer_free(peer);
		return;
	}
	disconnect(peer);
	ts_session_end(peer->session, TS_SESSION_END_DIED);
}

/* Receives one packet. False: no packet waits, or the peer is gone (and perhaps freed). */
static bool receive(struct ts_peer *peer)
{
	struct ts_porter *porter = peer->server->porter;
	uint8_t bytes[TS_HANDSHAKE_MAX_BYTES];
	int fds[TS_PORTER_SESSION_FDS];
	unsigned n_fds, reset = 0;
	ssize_t n;

	/*
	 * If the peer left an answer unread, the socket reports ECONNRESET once, before the packets
	 * that the peer had sent, for example BYE.
	 */
	do
		n = ts_porter_receive_session(porter, peer->connection, peer->fd, bytes,
					      sizeof(bytes), fds, &n_fds);
	while (n == -ECONNRESET && !reset++);
	if (n == -EAGAIN)
		return false;
	if (n == -EBUSY && !peer->session) {
		refuse(peer, -EBUSY,
		       "busy: too many descriptors that this user passed are still open; retry later");
		return false;
	}
	if (n <= 0) {
		gone(peer);
		return false;
	}
	take_packet(peer, bytes, (size_t)n, fds, n_fds);
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++)
		ts_closep(&fds[i]);
	return true;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	/*
	 * Receives one packet per turn of the loop, so that many packets from one peer do not delay
	 * the others.
	 */
	receive(data);
	return 0;
}

static bool lives(const struct ts_server *server, uint32_t number)
{
	for (const struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (peer->number == number)
			return true;
	return false;
}

void ts_peer_receive_pending(struct ts_peer *peer)
{
	struct ts_server *server = peer->server;
	uint32_t number = peer->number;

	/*
	 * An honest peer sends at most HELLO and BYE, and closes the connection: four calls are
	 * enough.
	 */
	for (int i = 0; i < 4; i++)
		if (!lives(server, number) || peer->fd < 0 || !receive(peer))
			return;
}

int ts_peer_new(struct ts_server *server, const struct ts_incoming *incoming)
{
	struct ts_peer *peer = calloc(1, sizeof(*peer));
	int r;

	if (!peer) {
		ts_porter_close(server->porter, incoming->connection, incoming->fd);
		ts_user_give(incoming->user, TS_RESOURCE_PLACES, 1);
		ts_user_give(incoming->user, TS_RESOURCE_CONNECTIONS, 1);
		ts_user_unref(incoming->user);
		return ts_error_origin(-ENOMEM);
	}
	peer->server = server;
	peer->user = incoming->user;
	peer->fd = incoming->fd;
	peer->connection = incoming->connection;
	peer->since_ns = ts_clock_monotonic_ns();
	peer->number = __atomic_add_fetch(&server->last_number, 1, __ATOMIC_RELAXED);
	peer->credentials = incoming->identity;
	peer->next = server->peers;
	server->peers = peer;
	server->n_peers++;
	r = sd_event_add_io(server->event, &peer->source, peer->fd, EPOLLIN, on_io, peer);
	if (r < 0) {
		ts_peer_free(peer);
		return ts_error_origin(r);
	}
	return 0;
}

/* Rows that a session has although recording never started. */
#define PEER_ROWS_WHILE_STOPPED                                                              \
	(TS_ROW_BIT(TS_ROW_PAUSE) | TS_ROW_BIT(TS_ROW_STREAM) | TS_ROW_BIT(TS_ROW_CONTEXT) | \
	 TS_ROW_BIT(TS_ROW_GPU_MODULE) | TS_ROW_BIT(TS_ROW_COUNTER))

/*
 * True if the trace has only clock and kernel rows, no losses but those of kernel events, and no
 * reason for an empty trace.
 */
static bool is_empty(const struct ts_recording *recording)
{
	uint64_t n = recording->empty_reason, nothing = TS_ROW_BIT(TS_ROW_CLOCK) | TS_ROW_KERNELS;

	if (recording->counts[TS_ROW_PAUSE])
		nothing |= PEER_ROWS_WHILE_STOPPED;
	for (unsigned i = 0; i < TS_ROW_EVENT_END; i++)
		n += nothing & TS_ROW_BIT(i) ? 0 : recording->counts[i];
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		n += i == TS_LOSS_KERNEL_EVENTS ? 0 : recording->lost[i];
	if (!(nothing & TS_ROW_BIT(TS_ROW_COUNTER)))
		n -= recording->n_kernel_counters;
	return !n;
}

static uint64_t file_bytes(const struct ts_recording *recording)
{
	struct stat status;

	return fstat(recording->read_fd, &status) < 0 ? 0 : (uint64_t)status.st_size;
}

/*
 * Handles the end of a session. A file of this session alone is finished before DONE is sent, so a
 * process that waits for DONE finds the file complete.
 */
static void session_over(struct ts_peer *peer, enum ts_session_end how, const char *why)
{
	struct ts_server *server = peer->server;
	struct ts_recording *recording = peer->recording;
	bool own = server->options.mode != TS_SERVER_RECORD;
	bool empty, handed_over;

	ts_server_account(server, recording, peer->session, how);
	empty = is_empty(recording);
	handed_over = ts_session_is_handed_over(peer->session);
	ts_session_free(ts_take_ptr(peer->session));
	if (own) {
		if (ts_recording_finish(recording))
			ts_log(TS_LOG_ERROR, "%s is incomplete: %s", recording->path,
			       strerror(-recording->error));
		else if (recording->cut_short)
			ts_log(TS_LOG_WARNING, "%s ends before its process: %s", recording->path,
			       recording->cut_short);
		if (server->options.mode == TS_SERVER_SERVICE)
			ts_recording_grant(recording);
		/* A service does not keep a file without GPU work and without an error. */
		if (server->options.mode == TS_SERVER_SERVICE && empty)
			ts_peer_file_discard(recording);
		else if (server->options.mode == TS_SERVER_SERVICE)
			ts_server_dump_check(server, recording, true);
		if (server->options.mode == TS_SERVER_SERVICE && !empty)
			ts_server_keep(server, recording);
		server->n_bytes += file_bytes(recording);
		if (server->options.mode == TS_SERVER_SERVICE && !empty)
			ts_server_remember(server, ts_take_ptr(peer->recording), peer->number,
					   peer->credentials.pid);
		ts_server_expire(server);
	}
	if (how == TS_SESSION_END_BAD_DATA)
		ts_log(TS_LOG_WARNING, "dropped pid %d, uid %u: %s", peer->credentials.pid,
		       peer->credentials.uid, why);
	/* Without a packet the process waits for the next daemon. */
	if (peer->fd >= 0 && !handed_over) {
		if (how == TS_SESSION_END_BYE)
			send_type(peer, TS_HANDSHAKE_DONE);
		else
			send_type(peer, TS_HANDSHAKE_STOP);
	}
	ts_peer_free(peer);
}

void ts_peer_check(struct ts_peer *peer, uint64_t now_ns)
{
	enum ts_session_end how;
	const char *why;

	if (peer->session) {
		if (ts_session_ended(peer->session, &how, &why))
			session_over(peer, how, why);
	} else if (now_ns - peer->since_ns > PEER_HELLO_MAX_NS) {
		refuse(peer, -ETIMEDOUT, "it connected and sent no HELLO within 10 s");
	}
}
