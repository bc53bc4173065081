/* SPDX-License-Identifier: Apache-2.0 */
/* Each configurable limit takes effect, is named in the reason, and disturbs no other user. */
#include "test/unit/harness.h"

#include <sys/resource.h>

#include "proto/rpc/frame.h"
#include "test/unit/daemon/daemon.h"

static int session_begin(const char *socket, struct producer *p,
			 struct ts_handshake_reason *ret_packet)
{
	int fd = socket_connect(socket, SOCK_SEQPACKET);

	producer_hello(fd, p->memfd);
	producer_hear(fd, ret_packet);
	return fd;
}

static void session_end(int fd, struct producer *p)
{
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	close(fd);
	producer_deinit(p);
}

/* Checks that the service serves a user within the limits. */
static void check_served(const struct service *s)
{
	struct ts_handshake_reason packet;
	struct producer p;
	int fd;

	producer_init(&p, 1, true);
	fd = session_begin(s->inject, &p, &packet);
	ts_check_int(packet.header.type, TS_HANDSHAKE_WELCOME);
	session_end(fd, &p);
}

TS_TEST(sessions)
{
	struct ts_handshake_reason packet;
	struct producer p[2];
	struct service s;
	int fds[2];

	service_begin_with(&s, "--max-sessions", "1");
	for (int i = 0; i < 2; i++) {
		producer_init(&p[i], 1, true);
		fds[i] = session_begin(s.inject, &p[i], &packet);
	}
	ts_check_int(packet.header.type, TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "--max-sessions)"));
	close(fds[1]);
	producer_deinit(&p[1]);
	session_end(fds[0], &p[0]);
	check_served(&s);
	service_end(&s);
}

TS_TEST(session_bytes)
{
	struct ts_handshake_reason packet;
	struct producer p;
	struct service s;

	service_begin_with(&s, "--max-session-bytes", "4M");
	producer_init(&p, 8, true);
	close(session_begin(s.inject, &p, &packet));
	ts_check_int(packet.header.type, TS_HANDSHAKE_REFUSED);
	ts_check_str(packet.text,
		     "the session memory is larger than its limit (see --max-session-bytes)");
	producer_deinit(&p);
	check_served(&s);
	service_end(&s);
}

/* Runs two processes with 600 KiB of names each. Returns the number of names that were not kept. */
static uint64_t arena_full(const char *option, const char *value)
{
	struct ts_handshake_reason packet;
	char name[60 * 1024];
	Ts__Rpc__Answer *answer;
	struct recording r;
	uint64_t n;

	memset(name, 'x', sizeof(name));
	recording_begin_with(&r, option, value);
	for (char i = 0; i < 2; i++) {
		struct producer p;
		int fd;

		producer_init(&p, 1, true);
		producer_claim(&p, 0, 1, "main");
		for (char j = 0; j < 10; j++) {
			name[0] = (char)('0' + j);
			name[1] = (char)('0' + i);
			name[sizeof(name) - 1] = 0;
			producer_string(&p, name);
		}
		fd = session_begin(r.socket, &p, &packet);
		ts_check_int(packet.header.type, TS_HANDSHAKE_WELCOME);
		session_end(fd, &p);
	}
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	n = summary_lost(answer->summary, "arena_full");
	ts_check_int(answer->summary->sessions, 2);
	ts_check_int(answer->summary->dropped, 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	recording_end(&r);
	return n;
}

TS_TEST(definition_bytes)
{
	uint64_t n;

	ts_check_int(arena_full("--max-definition-bytes", "1M"), 0);
	n = arena_full("--max-definition-bytes", "300K");
	ts_check(n >= 2 * 4 && n <= 2 * 7);
	n = arena_full("--max-definition-bytes-all", "1M");
	ts_check(n >= 2 && n <= 6);
}

TS_TEST(connections)
{
	struct ts_handshake_reason packet;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	int fds[5];

	service_begin_with(&s, "--max-connections", "4");
	for (int i = 0; i < 5; i++)
		fds[i] = socket_connect(s.inject, SOCK_SEQPACKET);
	ts_check_int(producer_hear(fds[4], &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "too many connections"));
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	/*
	 * The service reads the hang-ups before the next request, so its answer means that they are
	 * counted.
	 */
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	check_served(&s);
	service_end(&s);
}

TS_TEST(clients)
{
	struct ts_client *clients[5];
	Ts__Rpc__Answer *answer;
	struct service s;
	int r = 0;

	service_begin_with(&s, "--max-clients", "4");
	close(socket_connect(s.control, SOCK_STREAM));
	for (int i = 0; i < 5; i++) {
		ts_check_int(ts_client_connect(s.control, &clients[i]), 0);
		/* The service may still count the client that closed its connection above. */
		r = ts_client_status(clients[i], &answer);
		if (!r)
			ts__rpc__answer__free_unpacked(answer, NULL);
	}
	ts_check_int(r, -EBUSY);
	ts_check(strstr(ts_client_error(clients[4]), "too many clients"));
	check_served(&s);
	for (int i = 0; i < 5; i++)
		ts_client_free(clients[i]);
	service_end(&s);
}

/* Sends a request with field `field`, an empty message. */
static bool ask(int fd, uint8_t field, uint32_t id)
{
	struct ts_frame_header header = ts_frame_header_make(TS_FRAME_REQUEST, id, 2);
	uint8_t bytes[sizeof(header) + 2];

	memcpy(bytes, &header, sizeof(header));
	bytes[sizeof(header)] = (uint8_t)(field << 3 | 2);
	bytes[sizeof(header) + 1] = 0;
	return send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) == sizeof(bytes);
}

TS_TEST(requests)
{
	struct ts_handshake_reason packet;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	struct producer p;
	int fd;

	service_begin_with(&s, "--max-requests", "1");
	producer_init(&p, 1, true);
	fd = session_begin(s.inject, &p, &packet);
	ts_check_int(packet.header.type, TS_HANDSHAKE_WELCOME);
	ts_check_int(ts_client_connect(s.control, &client), 0);
	/* Asks for a flush that the process does not answer. */
	ts_check(ask(ts_client_fd(client), 4, 1000));
	ts_check_int(ts_client_flush(client, 0, 60000, &answer), -EBUSY);
	ts_check(strstr(ts_client_error(client), "too many waiting requests"));
	ts_client_free(client);
	session_end(fd, &p);
	service_end(&s);
}

/*
 * A client sends requests without end and reads nothing: it is dropped, and other clients are not.
 */
TS_TEST(answers)
{
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	uint32_t n = 0;
	int fd;

	service_begin_with(&s, "--max-answers", "1");
	fd = socket_connect(s.control, SOCK_STREAM);
	while (n < 100000 && ask(fd, 1, n))
		n++;
	ts_check(n < 100000);
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	close(fd);
	service_end(&s);
}

/*
 * The descriptor limit is too low for the configured number of sessions. The service refuses
 * surplus sessions with a reason while clients can still connect.
 */
TS_TEST(descriptors)
{
	/*
	 * The limit has room for clients, queries, traces, everything else, and two sessions. One
	 * user may have one of these sessions.
	 */
	struct rlimit few = {256 + 2 * 64 + 3 * 8 + 4 + 128 + 8,
			     256 + 2 * 64 + 3 * 8 + 4 + 128 + 8};
	struct ts_handshake_reason packet;
	struct producer p[2];
	struct service s;
	int fds[2];

	ts_check_int(setrlimit(RLIMIT_NOFILE, &few), 0);
	service_begin_with(&s, "--max-traces", "4");
	for (int i = 0; i < 2; i++) {
		producer_init(&p[i], 1, true);
		fds[i] = session_begin(s.inject, &p[i], &packet);
		ts_check_int(packet.header.type, i ? TS_HANDSHAKE_REFUSED : TS_HANDSHAKE_WELCOME);
	}
	ts_check(strstr(packet.text, "--max-sessions-user"));
	close(fds[1]);
	producer_deinit(&p[1]);
	session_end(fds[0], &p[0]);
	check_served(&s);
	service_end(&s);
}

/* A service begins no file if the disk has no more free space than the limit keeps free. */
TS_TEST(keep_free)
{
	struct ts_handshake_reason packet;
	struct producer p;
	struct service s;

	service_begin_with(&s, "--keep-free", "1000000000000000");
	producer_init(&p, 1, true);
	close(session_begin(s.inject, &p, &packet));
	ts_check_int(packet.header.type, TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "--keep-free"));
	producer_deinit(&p);
	service_end(&s);
}

TS_TEST(traces)
{
	struct ts_handshake_reason packet;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	int fd, trace;

	/* The limit of one user is a quarter of --max-traces. */
	service_begin_with(&s, "--max-traces", "8");
	for (int i = 0; i < 3; i++) {
		struct producer p;

		producer_init(&p, 2, true);
		produce(&p, 1);
		fd = session_begin(s.inject, &p, &packet);
		ts_check_int(packet.header.type, TS_HANDSHAKE_WELCOME);
		session_end(fd, &p);
	}
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_open_trace(client, 1, 0, &answer, &trace), -ENOENT);
	for (uint32_t i = 2; i <= 3; i++) {
		ts_check_int(ts_client_open_trace(client, i, 0, &answer, &trace), 0);
		ts__rpc__answer__free_unpacked(answer, NULL);
		close(trace);
	}
	ts_client_free(client);
	service_end(&s);
}
