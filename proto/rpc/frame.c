/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the control protocol; the client, the daemon and its worker call this file. This file
 * has an incremental parser that uses no socket, and the two socket calls that transfer bytes and
 * descriptors. The input is untrusted: sizes are checked before memory is allocated, and
 * unrequested descriptors are closed.
 */
#include "proto/rpc/frame.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "proto/abi/clock.h"
#include "proto/abi/grow.h"

#define FRAME_HEADER_BYTES sizeof(struct ts_frame_header)

void ts_frame_parser_init(struct ts_frame_parser *parser, enum ts_frame_kind kind,
			  uint32_t max_bytes)
{
	*parser = (struct ts_frame_parser){.max_bytes = max_bytes, .kind = (uint8_t)kind};
}

void ts_frame_parser_deinit(struct ts_frame_parser *parser)
{
	free(parser->buffer);
	*parser = (struct ts_frame_parser){0};
}

int ts_frame_parser_feed(struct ts_frame_parser *parser, const void *data, size_t n_bytes)
{
	size_t n_left = parser->n_filled - parser->n_taken, n_wanted;

	if (parser->n_taken) {
		memmove(parser->buffer, parser->buffer + parser->n_taken, n_left);
		parser->n_filled = n_left;
		parser->n_taken = 0;
	}
	if (!n_bytes)
		return 0;
	if (__builtin_add_overflow(n_left, n_bytes, &n_wanted) ||
	    TS_GROW(parser->buffer, parser->n_allocated, n_wanted))
		return -ENOMEM;
	memcpy(parser->buffer + n_left, data, n_bytes);
	parser->n_filled += n_bytes;
	return 0;
}

static int frame_header_check(const struct ts_frame_parser *parser,
			      const struct ts_frame_header *header)
{
	if (header->magic != TS_FRAME_MAGIC)
		return -EPROTO;
	if (header->version != TS_FRAME_VERSION)
		return -EPROTONOSUPPORT;
	if (header->kind != parser->kind || header->n_fds > TS_FRAME_MAX_FDS ||
	    !header->request_id || header->flags & ~TS_FRAME_MORE)
		return -EPROTO;
	if (header->n_bytes > parser->max_bytes)
		return -EMSGSIZE;
	return 0;
}

int ts_frame_parser_next(struct ts_frame_parser *parser, struct ts_frame *ret_frame)
{
	size_t n_left = parser->n_filled - parser->n_taken;
	struct ts_frame_header header;
	int r;

	if (n_left < FRAME_HEADER_BYTES)
		return TS_FRAME_E_MORE;
	memcpy(&header, parser->buffer + parser->n_taken, sizeof(header));
	/*
	 * Check the header before the data arrives, so that a wrong length does not wait for its
	 * bytes.
	 */
	r = frame_header_check(parser, &header);
	if (r)
		return r;
	if (n_left - FRAME_HEADER_BYTES < header.n_bytes)
		return TS_FRAME_E_MORE;
	ret_frame->header = header;
	ret_frame->data = parser->buffer + parser->n_taken + FRAME_HEADER_BYTES;
	parser->n_taken += FRAME_HEADER_BYTES + header.n_bytes;
	return 0;
}

struct ts_frame_header ts_frame_header_make(enum ts_frame_kind kind, uint32_t request_id,
					    uint32_t n_bytes)
{
	return (struct ts_frame_header){
		.magic = TS_FRAME_MAGIC,
		.version = TS_FRAME_VERSION,
		.kind = (uint8_t)kind,
		.request_id = request_id,
		.n_bytes = n_bytes,
	};
}

/*
 * Room for as many descriptors as the kernel allows in one message. With less room, the kernel
 * would close the other descriptors within this thread's recvmsg(). A sender could choose
 * descriptors whose close() is slow.
 */
union frame_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * TS_FRAME_RECEIVE_MAX_FDS)];
};

ssize_t ts_frame_send_some(int socket_fd, const void *data, size_t n_bytes, const int *fds,
			   unsigned n_fds)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = n_bytes};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	union frame_control control;
	ssize_t n;

	if (n_fds > TS_FRAME_MAX_FDS)
		return -EINVAL;
	if (n_fds) {
		struct cmsghdr *header;

		memset(&control, 0, sizeof(control));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t ts_frame_receive_some(int socket_fd, void *data, size_t n_bytes, int *fds, unsigned max_fds,
			      unsigned *ret_n_fds)
{
	struct iovec iov = {.iov_base = data, .iov_len = n_bytes};
	union frame_control control;
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	unsigned n_fds = 0;
	ssize_t n;

	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
	     header = CMSG_NXTHDR(&message, header)) {
		size_t n_here;

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		n_here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n_here; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			if (n_fds < max_fds)
				fds[n_fds++] = fd;
			else
				close(fd);
		}
	}
	if (ret_n_fds)
		*ret_n_fds = n_fds;
	return n;
}

static int wait_for(int socket_fd, short events, uint64_t deadline_ns)
{
	struct pollfd fd = {.fd = socket_fd, .events = events};

	for (;;) {
		const uint64_t now = ts_clock_monotonic_ns();
		int timeout_ms = -1, n;

		if (deadline_ns) {
			uint64_t left_ms;

			if (now >= deadline_ns)
				return -ETIMEDOUT;
			left_ms = (deadline_ns - now) / 1000000 + 1;
			timeout_ms = left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
		}
		n = poll(&fd, 1, timeout_ms);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

int ts_frame_send_all(int socket_fd, const void *data, size_t n_bytes, const int *fds,
		      unsigned n_fds, uint64_t deadline_ns)
{
	const uint8_t *at = data;

	while (n_bytes) {
		ssize_t n = ts_frame_send_some(socket_fd, at, n_bytes, fds, n_fds);

		if (n == -EAGAIN) {
			int r = wait_for(socket_fd, POLLOUT, deadline_ns);

			if (r)
				return r;
			continue;
		}
		if (n < 0)
			return n == -EPIPE ? -ECONNRESET : (int)n;
		at += n;
		n_bytes -= (size_t)n;
		n_fds = 0;
	}
	return 0;
}

int ts_frame_receive(int socket_fd, struct ts_frame_parser *parser, int *fds, unsigned max_fds,
		     unsigned *n_fds, uint64_t deadline_ns, struct ts_frame *ret_frame)
{
	uint8_t bytes[16 * 1024];

	for (;;) {
		unsigned n_more = 0;
		int r = ts_frame_parser_next(parser, ret_frame);
		ssize_t n;

		if (r != TS_FRAME_E_MORE)
			return r;
		n = ts_frame_receive_some(socket_fd, bytes, sizeof(bytes), fds + *n_fds,
					  max_fds - *n_fds, &n_more);
		*n_fds += n_more;
		if (n == -EAGAIN) {
			r = wait_for(socket_fd, POLLIN, deadline_ns);
			if (r)
				return r;
			continue;
		}
		if (n <= 0)
			return n ? (int)n : -ECONNRESET;
		r = ts_frame_parser_feed(parser, bytes, (size_t)n);
		if (r)
			return r;
	}
}
