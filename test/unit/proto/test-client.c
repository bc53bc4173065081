/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the client, with a daemon that has sent everything in advance. A cancelled question leaves
 * nothing that the next call could read as its answer, in any order of the daemon's answers.
 */
#include "test/unit/harness.h"

#include <sys/socket.h>

#include "proto/abi/base.h"
#include "proto/client/client.h"
#include "proto/rpc/frame.h"

#define QUERY  1u
#define CANCEL 2u
#define STATUS 3u

static void say(int fd, uint32_t request, Ts__Rpc__Answer *answer)
{
	uint8_t bytes[256];
	size_t n = ts__rpc__answer__get_packed_size(answer);
	struct ts_frame_header header = ts_frame_header_make(TS_FRAME_ANSWER, request, (uint32_t)n);

	ts_check(n <= sizeof(bytes));
	ts__rpc__answer__pack(answer, bytes);
	ts_check_int(write(fd, &header, sizeof(header)), sizeof(header));
	ts_check_int(write(fd, bytes, n), n);
}

static void say_end(int fd)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__QueryEnd end = TS__RPC__QUERY_END__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_QUERY_END;
	answer.query_end = &end;
	say(fd, QUERY, &answer);
}

static void say_error(int fd, uint32_t request, int code)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Error error = TS__RPC__ERROR__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_ERROR;
	answer.error = &error;
	error.has_code = 1;
	error.code = code;
	say(fd, request, &answer);
}

/* Sends a cancelled question, and then another request. */
static void ask(struct ts_client *client, int want)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__Replay replay = TS__RPC__QUERY__REPLAY__INIT;
	const int cancel = 1;
	struct ts_client_question question = {.query = &query, .cancel = &cancel};
	Ts__Rpc__Answer *answer = NULL;

	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = &replay;
	ts_check_int(ts_client_query(client, &question, &answer), want);
	ts_check(!want == !!answer);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_client_status(client, &answer), -EBUSY);
}

static void test(bool is_end_first, int error)
{
	struct ts_client *client;
	int fds[2];

	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ts_check_int(ts_client_new_from_fd(fds[0], &client), 0);
	if (!is_end_first)
		say_error(fds[1], CANCEL, ENOENT);
	if (error)
		say_error(fds[1], QUERY, error);
	else
		say_end(fds[1]);
	if (is_end_first)
		say_error(fds[1], CANCEL, ENOENT);
	say_error(fds[1], STATUS, EBUSY);
	ask(client, -error);
	ts_client_free(client);
	close(fds[1]);
}

TS_TEST(cancelled)
{
	test(false, 0);
	test(true, 0);
}

TS_TEST(cancelled_and_refused)
{
	test(false, ECANCELED);
	test(true, ECANCELED);
}
