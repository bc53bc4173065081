/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on a stream socket: a 24-byte header, then the packed protobuf message. Little-endian.
 *
 * 	 0  u32  magic         "TSRP"
 * 	 4  u16  version       TS_FRAME_VERSION
 * 	 6  u8   kind          enum ts_frame_kind
 * 	 7  u8   n_fds         file descriptors that come with its first byte (SCM_RIGHTS)
 * 	 8  u32  request_id    chosen by the client, not 0; its answers repeat it
 * 	12  u32  deadline_ms   request: time that the client waits, 0: no limit; answer: 0
 * 	16  u32  n_bytes       of the message
 * 	20  u32  flags         TS_FRAME_MORE; others must be 0
 *
 * The parser accepts bytes in any pieces and returns whole frames. It holds at most one frame of
 * the largest allowed size. It uses no socket, so it can be fuzzed. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_FRAME_MAGIC		   0x50525354u /* "TSRP" */
#define TS_FRAME_VERSION	   1u
#define TS_FRAME_MAX_FDS	   64u
#define TS_FRAME_RECEIVE_MAX_FDS   253u /* the kernel's limit per message (SCM_MAX_FD) */

#define TS_FRAME_REQUEST_MAX_BYTES (64u * 1024)
#define TS_FRAME_ANSWER_MAX_BYTES  (16u * 1024 * 1024)

enum ts_frame_kind {
	TS_FRAME_REQUEST = 1,
	TS_FRAME_ANSWER = 2,
};

/* flags */
#define TS_FRAME_MORE (1u << 0) /* another answer to the same request follows */

struct ts_frame_header {
	uint32_t magic;
	uint16_t version;
	uint8_t kind;
	uint8_t n_fds;
	uint32_t request_id;
	uint32_t deadline_ms;
	uint32_t n_bytes;
	uint32_t flags;
};
TS_ASSERT_SIZE(struct ts_frame_header, 24);
TS_ASSERT_FIELD(struct ts_frame_header, version, 4);
TS_ASSERT_FIELD(struct ts_frame_header, kind, 6);
TS_ASSERT_FIELD(struct ts_frame_header, n_fds, 7);
TS_ASSERT_FIELD(struct ts_frame_header, request_id, 8);
TS_ASSERT_FIELD(struct ts_frame_header, deadline_ms, 12);
TS_ASSERT_FIELD(struct ts_frame_header, n_bytes, 16);
TS_ASSERT_FIELD(struct ts_frame_header, flags, 20);

/* A whole frame. `data` lies in the parser and is valid until the next call on it. */
struct ts_frame {
	struct ts_frame_header header;
	const uint8_t *data;
};

/* ts_frame_parser_next(): the frame is incomplete. */
#define TS_FRAME_E_MORE 1

struct ts_frame_parser {
	uint8_t *buffer;
	size_t n_allocated;
	size_t n_filled;
	size_t n_taken; /* part of n_filled that was returned already */
	uint32_t max_bytes;
	uint8_t kind; /* the only accepted kind */
};

/* `max_bytes` limits a frame's message and thus the memory. */
void ts_frame_parser_init(struct ts_frame_parser *parser, enum ts_frame_kind kind,
			  uint32_t max_bytes);
void ts_frame_parser_deinit(struct ts_frame_parser *parser);

/* Adds bytes. Returns 0 or -ENOMEM. Read all whole frames before you add more. */
int ts_frame_parser_feed(struct ts_frame_parser *parser, const void *data, size_t n_bytes);

/*
 * Returns the next whole frame. Returns 0; TS_FRAME_E_MORE; -EPROTO if the bytes are not a valid
 * frame; -EPROTONOSUPPORT for another version; -EMSGSIZE if the frame is larger than allowed. After
 * an error the stream is unusable.
 */
int ts_frame_parser_next(struct ts_frame_parser *parser, struct ts_frame *ret_frame);

/* Fills a header. */
struct ts_frame_header ts_frame_header_make(enum ts_frame_kind kind, uint32_t request_id,
					    uint32_t n_bytes);

/*
 * Send and receive on a socket, blocking or not. Like sendmsg() and recvmsg(), but they never raise
 * SIGPIPE and they retry on EINTR. Received descriptors are close-on-exec; descriptors beyond the
 * caller's room are closed. A close() can block, so a caller with untrusted peers has room for
 * TS_FRAME_RECEIVE_MAX_FDS. Return the count of bytes (0 from receive: end of stream) or -errno.
 * `fds` go with the first byte.
 */
ssize_t ts_frame_send_some(int socket_fd, const void *data, size_t n_bytes, const int *fds,
			   unsigned n_fds);
ssize_t ts_frame_receive_some(int socket_fd, void *data, size_t n_bytes, int *fds, unsigned max_fds,
			      unsigned *ret_n_fds);

/*
 * Send and receive whole frames on a non-blocking socket, until `deadline_ns` of CLOCK_MONOTONIC
 * (0: no limit). Return 0, -ETIMEDOUT, -ECONNRESET if the peer closed the connection, an error of
 * the parser, or another -errno. Received descriptors are appended to `fds`, which has *n_fds
 * entries and room for max_fds.
 */
int ts_frame_send_all(int socket_fd, const void *data, size_t n_bytes, const int *fds,
		      unsigned n_fds, uint64_t deadline_ns);
int ts_frame_receive(int socket_fd, struct ts_frame_parser *parser, int *fds, unsigned max_fds,
		     unsigned *n_fds, uint64_t deadline_ns, struct ts_frame *ret_frame);

#ifdef __cplusplus
}
#endif
