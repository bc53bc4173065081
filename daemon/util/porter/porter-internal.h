/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the daemon's half of the porter (porter.c) and its process (porter-process.c): messages
 * on a SOCK_SEQPACKET pair, and one shared page. Both halves are one program, so messages have no
 * version.
 */
#pragma once

#include <sys/socket.h>

#include "daemon/util/porter/porter.h"

enum porter_kind {
	PORTER_KEEP = 1,    /* the request has the socket; no answer */
	PORTER_CLOSE = 2,   /* no answer */
	PORTER_RECEIVE = 3, /* n bytes; the answer has the session's files */
	PORTER_HOLD = 4,    /* n bytes */
	PORTER_SEND = 5,    /* n files; with a socket and the bytes */
	PORTER_RELEASE = 6, /* n files; no answer */
};

struct porter_request {
	uint32_t kind; /* enum porter_kind */
	uint32_t user;
	uint64_t number;
	uint64_t n;
};

/* Received bytes follow the struct. */
struct porter_answer {
	int64_t r; /* bytes, or a negative errno */
	uint64_t n_fds;
	uint32_t has_memory; /* the first descriptor of the answer is a memory file */
	uint32_t reserved;
};

struct porter_shared {
	uint32_t n_open; /* open descriptors of the porter; written by its process, relaxed */
	uint32_t most;
};

/*
 * Part of the descriptor table that is kept free for descriptors that are in flight when the porter
 * becomes full.
 */
#define PORTER_SPARE_FDS 1024u

union porter_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * TS_PORTER_SESSION_FDS)];
};

/* Adds descriptors to a message, in `control`. */
static inline void porter_put_fds(struct msghdr *message, union porter_control *control,
				  const int *fds, size_t n_fds)
{
	*control = (union porter_control){0};
	control->align.cmsg_level = SOL_SOCKET;
	control->align.cmsg_type = SCM_RIGHTS;
	control->align.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
	__builtin_memcpy(CMSG_DATA(&control->align), fds, sizeof(int) * n_fds);
	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
}

/* Reads the descriptors of a received message. Returns their number. */
static inline size_t porter_take_fds(struct msghdr *message, int ret_fds[TS_PORTER_SESSION_FDS])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	size_t n_bytes;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return 0;
	n_bytes = header->cmsg_len - CMSG_LEN(0);
	__builtin_memcpy(ret_fds, CMSG_DATA(header), n_bytes);
	return n_bytes / sizeof(int);
}

/* Returns the descriptor of a received message that has at most one; -1: it has none. */
static inline int porter_take_fd(struct msghdr *message)
{
	int fds[TS_PORTER_SESSION_FDS];

	return porter_take_fds(message, fds) ? fds[0] : -1;
}

/* Runs the porter's process: serves requests until the daemon's end of the pair is closed. */
_Noreturn void ts_porter_process(int fd, pid_t daemon, struct porter_shared *shared);
