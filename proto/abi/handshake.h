/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets between the shim and the daemon: SOCK_SEQPACKET, one message a packet, native byte order
 * (both run on one machine). The socket is $TRACESMITH_SOCKET, else TS_INJECT_SOCKET, else one end
 * of a socket pair whose other end the private daemon inherited.
 *
 * 	shim                                  daemon
 * 	HELLO + memfd (SCM_RIGHTS)  ------->  checks peer, seals, layout
 * 	       [+ output, twice]              checks that it is the peer's own new file
 * 	                            <-------  WELCOME, or REFUSED and close
 * 	            ... records cross the ring; the daemon writes ts_control.command ...
 * 	BYE (everything is flushed) ------->  drains to the end, writes, seals
 * 	                            <-------  DONE
 *
 * NOTE is sent alone: a process that cannot make a session reports the reason. STOP ends the
 * recording: the shim detaches and passes calls through. A close without BYE means the death of a
 * peer. If the shim died, the daemon drains the committed records. If the daemon died, the shim
 * tries to connect again, with the same memfd and `resumed` set.
 *
 * Output: if $TRACESMITH_OUTPUT is set, the shim creates the trace's file as its own user. After
 * the memfd it passes two descriptors of the file: the first to read and write, the second to read
 * only. A flag in WELCOME states whether the daemon writes that file; if not, the shim removes it.
 * Earlier minor versions have no output: HELLO is shorter then, or WELCOME's flag is 0.
 */
#pragma once

#include <stdio.h>

#include "proto/abi/session.h"

#define TS_INJECT_SOCKET	"/run/tracesmith/inject.sock"
#define TS_SOCKET_ENVIRONMENT	"TRACESMITH_SOCKET"
#define TS_OUTPUT_ENVIRONMENT	"TRACESMITH_OUTPUT"
#define TS_LOSSLESS_ENVIRONMENT "TRACESMITH_LOSSLESS"
#define TS_LATER_ENVIRONMENT	"TRACESMITH_START_LATER"
#define TS_CAPTURE_ENVIRONMENT	"TRACESMITH_CAPTURE"
#define TS_TIMED_ENVIRONMENT	"TRACESMITH_TIMED_LAUNCHES"
#define TS_CAPTURE_BYTES	(UINT64_C(4) << 30) /* default limit of contents */
#define TS_HANDSHAKE_MAGIC	0x4853u		    /* "SH" */
#define TS_HANDSHAKE_MAX_BYTES	4096u

/*
 * Replaces each character that is not permitted in the default name of a trace by a `_`. A blank is
 * such a character.
 */
static inline void ts_output_clean(char *program)
{
	for (; *program; program++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-",
			    *program))
			*program = '_';
}

/*
 * Returns the numbered name of a trace: "-NUMBER" is inserted before the ".sbt" of `path`, or
 * appended to a path without it. With number 0 the name is the path itself. Returns 0 or
 * -ENAMETOOLONG.
 */
static inline int ts_output_number(const char *path, unsigned number, char *ret_name,
				   size_t n_bytes)
{
	size_t n = strlen(path), n_stem = n;
	int written;

	if (n > 4 && !strcmp(path + n - 4, ".sbt"))
		n_stem = n - 4;
	written = number ? snprintf(ret_name, n_bytes, "%.*s-%u%s", (int)n_stem, path, number,
				    path + n_stem)
			 : snprintf(ret_name, n_bytes, "%s", path);
	return written < 0 || (size_t)written >= n_bytes ? -ENAMETOOLONG : 0;
}

#define TS_OUTPUT_MAX_NUMBER 1000u /* the last number that is tried */

enum ts_handshake_type {
	TS_HANDSHAKE_HELLO = 1,
	TS_HANDSHAKE_WELCOME = 2,
	TS_HANDSHAKE_REFUSED = 3,
	TS_HANDSHAKE_NOTE = 4,
	TS_HANDSHAKE_BYE = 5,
	TS_HANDSHAKE_DONE = 6,
	TS_HANDSHAKE_STOP = 7,
};

struct ts_handshake {
	uint16_t magic;
	uint16_t type;	  /* enum ts_handshake_type */
	uint32_t n_bytes; /* size of the whole packet, header included */
};
TS_ASSERT_SIZE(struct ts_handshake, 8);

struct ts_handshake_hello {
	struct ts_handshake header;
	uint16_t major; /* TS_ABI_MAJOR */
	uint16_t minor;
	uint32_t resumed; /* 1: an earlier daemon had this memfd */
	uint8_t session_id[16];
	uint32_t has_output;	/* 1: two descriptors of the output follow the memfd */
	uint32_t output_number; /* N of the "-N" in the file's name; 0: no number */
};
TS_ASSERT_SIZE(struct ts_handshake_hello, 40);

/* Before minor version 7 a HELLO ends before `has_output`. */
#define TS_HANDSHAKE_HELLO_MIN_BYTES 32u
/* Descriptors of a HELLO: the memfd, and the output twice. */
#define TS_HANDSHAKE_HELLO_FDS 3u

struct ts_handshake_welcome {
	struct ts_handshake header;
	uint32_t session; /* the daemon's number of the session */
	uint32_t flags;	  /* TS_WELCOME_* */
};
TS_ASSERT_SIZE(struct ts_handshake_welcome, 16);

#define TS_WELCOME_OUTPUT (UINT32_C(1) << 0) /* the daemon writes HELLO's output file */

/* REFUSED and NOTE. `text` is the reason for a person, terminated. */
struct ts_handshake_reason {
	struct ts_handshake header;
	uint32_t reason; /* NOTE: enum ts_empty_reason. REFUSED: an errno. */
	uint32_t pid;	 /* NOTE: the process's pid in its own namespace */
	char program[64];
	char text[256];
};
TS_ASSERT_SIZE(struct ts_handshake_reason, 336);
