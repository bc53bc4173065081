/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: any split of the bytes gives the same frames, and an invalid frame is reported at its
 * header.
 */
#include "test/unit/harness.h"

#include <sys/socket.h>

#include "proto/rpc/frame.h"

static size_t put_frame(uint8_t *to, uint32_t id, uint32_t n_bytes)
{
	struct ts_frame_header header = ts_frame_header_make(TS_FRAME_REQUEST, id, n_bytes);

	memcpy(to, &header, sizeof(header));
	for (uint32_t i = 0; i < n_bytes; i++)
		to[sizeof(header) + i] = (uint8_t)(id + i);
	return sizeof(header) + n_bytes;
}

TS_TEST(any_split)
{
	static uint8_t bytes[20000];
	size_t n_bytes = 0;
	unsigned n_frames = 0;

	for (uint32_t id = 1; n_bytes < 18000; id++, n_frames++)
		n_bytes += put_frame(bytes + n_bytes, id, id * 37 % 500);
	for (size_t step = 1; step < 700; step = step * 3 / 2 + 1) {
		struct ts_frame_parser parser;
		struct ts_frame frame;
		uint32_t id = 0;

		ts_frame_parser_init(&parser, TS_FRAME_REQUEST, 1000);
		for (size_t at = 0; at < n_bytes; at += step) {
			size_t n = n_bytes - at < step ? n_bytes - at : step;
			int r;

			ts_check_int(ts_frame_parser_feed(&parser, bytes + at, n), 0);
			while (!(r = ts_frame_parser_next(&parser, &frame))) {
				id++;
				ts_check_int(frame.header.request_id, id);
				ts_check_int(frame.header.n_bytes, id * 37 % 500);
				for (uint32_t i = 0; i < frame.header.n_bytes; i++)
					ts_check_int(frame.data[i], (uint8_t)(id + i));
			}
			ts_check_int(r, TS_FRAME_E_MORE);
		}
		ts_check_int(id, n_frames);
		ts_check(parser.n_allocated < 4096);
		ts_frame_parser_deinit(&parser);
	}
}

static int parse_one(const struct ts_frame_header *header)
{
	struct ts_frame_parser parser;
	struct ts_frame frame;
	int r;

	ts_frame_parser_init(&parser, TS_FRAME_REQUEST, 1000);
	r = ts_frame_parser_feed(&parser, header, sizeof(*header));
	r = r ? r : ts_frame_parser_next(&parser, &frame);
	ts_frame_parser_deinit(&parser);
	return r;
}

TS_TEST(bad_headers)
{
	const struct ts_frame_header good = ts_frame_header_make(TS_FRAME_REQUEST, 1, 0);
	struct ts_frame_header bad;

	ts_check_int(parse_one(&good), 0);
	bad = good, bad.magic++;
	ts_check_int(parse_one(&bad), -EPROTO);
	bad = good, bad.version++;
	ts_check_int(parse_one(&bad), -EPROTONOSUPPORT);
	bad = good, bad.kind = TS_FRAME_ANSWER;
	ts_check_int(parse_one(&bad), -EPROTO);
	bad = good, bad.request_id = 0;
	ts_check_int(parse_one(&bad), -EPROTO);
	bad = good, bad.n_fds = TS_FRAME_MAX_FDS + 1;
	ts_check_int(parse_one(&bad), -EPROTO);
	bad = good, bad.flags = 2;
	ts_check_int(parse_one(&bad), -EPROTO);
	bad = good, bad.n_bytes = 1000;
	ts_check_int(parse_one(&bad), TS_FRAME_E_MORE);
	/* Reported at once, without waiting for a gigabyte. */
	bad = good, bad.n_bytes = 1001;
	ts_check_int(parse_one(&bad), -EMSGSIZE);
	bad = good, bad.n_bytes = UINT32_MAX;
	ts_check_int(parse_one(&bad), -EMSGSIZE);
}

/* The receiver gets as many descriptors as its array has room for, and closes the others. */
TS_TEST(descriptors)
{
	int fds[2], sent[4], got[2];
	unsigned n_got;
	char bytes[16];

	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	for (int i = 0; i < 4; i++)
		sent[i] = dup(0);
	ts_check_int(ts_frame_send_some(fds[0], "hello", 5, sent, 4), 5);
	ts_check_int(ts_frame_receive_some(fds[1], bytes, sizeof(bytes), got, 2, &n_got), 5);
	ts_check_int(n_got, 2);
	for (int i = 0; i < 2; i++)
		close(got[i]);
	for (int i = 0; i < 4; i++)
		close(sent[i]);
	close(fds[0]);
	ts_check_int(ts_frame_receive_some(fds[1], bytes, sizeof(bytes), NULL, 0, NULL), 0);
	ts_check_int(ts_frame_send_some(fds[1], "x", 1, NULL, 0), -EPIPE);
	close(fds[1]);
}

/*
 * Sends and receives whole frames with a deadline: one that is larger than the socket's buffer and
 * has a descriptor, one that is too late, and one over a closed socket.
 */
TS_TEST(until_a_deadline)
{
	static uint8_t bytes[4 * 1024 * 1024], *sent = bytes;
	size_t n_bytes = put_frame(bytes, 7, sizeof(bytes) - 64);
	struct ts_frame_parser parser;
	struct ts_frame frame;
	int fds[2], got[2], in = 0, status;
	unsigned n_got = 0;
	pid_t pid;

	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	ts_frame_parser_init(&parser, TS_FRAME_REQUEST, sizeof(bytes));
	ts_check_int(ts_frame_receive(fds[1], &parser, got, 2, &n_got, 1, &frame), -ETIMEDOUT);
	pid = fork();
	if (!pid)
		_exit(ts_frame_send_all(fds[0], sent, n_bytes, &in, 1, 0) ? 1 : 0);
	ts_check_int(ts_frame_receive(fds[1], &parser, got, 2, &n_got, 0, &frame), 0);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	ts_check_int(frame.header.request_id, 7);
	ts_check_int(frame.header.n_bytes, n_bytes - sizeof(frame.header));
	ts_check(!memcmp(frame.data, bytes + sizeof(frame.header), frame.header.n_bytes));
	ts_check_int(n_got, 1);
	close(got[0]);
	ts_check_int(ts_frame_send_all(fds[0], bytes, n_bytes, NULL, 0, 1), -ETIMEDOUT);
	close(fds[1]);
	ts_check_int(ts_frame_send_all(fds[0], bytes, n_bytes, NULL, 0, 0), -ECONNRESET);
	ts_check_int(ts_frame_receive(fds[0], &parser, got, 2, &n_got, 0, &frame), -ECONNRESET);
	close(fds[0]);
	ts_frame_parser_deinit(&parser);
}
