/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon's half of the porter (porter.c) and its process (porter-process.c) share: messages on a SOCK_SEQPACKET pair, and a
 * page. Both halves are one program: the messages have no version.
 */
#pragma once

#include <sys/socket.h>

#include "daemon/util/porter.h"

enum porter_kind {
	PORTER_KEEP = 1,    /* comes with the socket; no answer */
	PORTER_CLOSE = 2,   /* no answer */
	PORTER_RECEIVE = 3, /* n bytes; the answer comes with the memory file */
	PORTER_HOLD = 4,    /* n bytes */
	PORTER_SEND = 5,    /* n files; comes with a socket and the bytes */
	PORTER_RELEASE = 6, /* n files; no answer */
};

struct porter_request {
	uint32_t kind; /* enum porter_kind */
	uint32_t user;
	uint64_t number;
	uint64_t n;
};

/* Received bytes follow. */
struct porter_answer {
	int64_t r; /* bytes, or a negative errno */
	uint64_t n_fds;
};

struct porter_shared {
	uint32_t n_open; /* of the porter: written by it, relaxed */
	uint32_t most;
};

#define PORTER_SPARE_FDS 1024u /* room for what is on its way to the porter when it is full */

union porter_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Makes room for one descriptor in a message, and puts `fd` there. */
static inline void porter_put_fd(struct msghdr *message, union porter_control *control, int fd)
{
	*control = (union porter_control){0};
	control->align.cmsg_level = SOL_SOCKET;
	control->align.cmsg_type = SCM_RIGHTS;
	control->align.cmsg_len = CMSG_LEN(sizeof(int));
	__builtin_memcpy(CMSG_DATA(&control->align), &fd, sizeof(fd));
	message->msg_control = control->bytes;
	message->msg_controllen = sizeof(control->bytes);
}

/* The descriptor of a received message; -1: none came. */
static inline int porter_take_fd(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		__builtin_memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* The porter's process: serves requests until the daemon's end of the pair is gone. */
_Noreturn void ts_porter_process(int fd, pid_t daemon, struct porter_shared *shared);
