/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the environment asks for, read once, at the driver's first call.
 *
 *	TRACESMITH_SOCKET      the daemon's socket; none else is tried
 *	TRACESMITH_OUTPUT      the file that a private daemon writes, or a service; %p is the process id
 *	TRACESMITH_DAEMON      the private daemon's program
 *	TRACESMITH_STACKS      python (the default: native, with the functions of Python programs), native or none
 *	TRACESMITH_STACKS_CHECK  1: unwinds every stack fully too; the trace tells how many differ (stack.h)
 *	TRACESMITH_LOSSLESS    1: a full ring is waited for, from the first call on
 *	TRACESMITH_START_LATER 1: nothing is recorded until it is asked for (`tsctl start`)
 *	TRACESMITH_CAPTURE     timing (the default) or replay; replay:SIZE: at most so many bytes of contents, with K, M or G
 *	TRACESMITH_RING_SIZE   bytes of each thread's ring, with K or M; a power of two, rounded up
 *	TRACESMITH_CUPTI       a libcupti to load where none is found otherwise
 *	CUDA_HOME, CUDA_PATH   a toolkit, whose libcupti is the last but one to be tried
 *	TRACESMITH_DEBUG       neither empty nor 0: says on stderr what is done and why not, malformed settings too
 */
#pragma once

#include <limits.h>

#include "inject/process/process-sandbox.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/handshake.h"

#define TS_CONFIG_MAX_DAEMON_VARIABLES 64u
#define TS_CONFIG_ENVIRONMENT_BYTES    (32u * 1024)

struct ts_config {
	uint64_t ring_bytes;
	struct ts_capture_config capture;
	bool stacks;
	bool python_stacks;
	bool check_stacks;
	bool lossless;
	bool start_later;
	bool debug;
	enum ts_sandbox sandbox;
	bool socket_given; /* by the environment: no private daemon is started in its place */
	bool output_given; /* by the environment: a service, too, writes that file */
	char socket[108];
	char cupti[PATH_MAX];
	char cuda_home[PATH_MAX]; /* $CUDA_HOME, else $CUDA_PATH; empty: neither */
	char program[64];

	/* How a private daemon is started. daemon is empty where none was found. */
	char daemon[PATH_MAX];
	char output[PATH_MAX];
	char pid[16];
	char *daemon_argv[14];
	char *daemon_environment[TS_CONFIG_MAX_DAEMON_VARIABLES + 1];
	char daemon_environment_text[TS_CONFIG_ENVIRONMENT_BYTES]; /* what those point into */
};

/*
 * `library` is the path of libtsinject.so; the private daemon is looked for beside it. `filters`: ts_sandbox_count() when it was
 * loaded.
 */
void ts_config_read(struct ts_config *config, const char *library, int filters);

/*
 * True if the program has more rights than its caller: set-user-ID, set-group-ID, file capabilities. The environment is
 * the caller's then: secure_getenv() finds no variable, and no private daemon is started.
 */
bool ts_config_is_privileged(void);

/* TRACESMITH_DEBUG, for who has no settings yet. */
bool ts_config_debug(void);

/* "4M", "65536", "512K". Returns 0, or -EINVAL. */
int ts_config_parse_size(const char *text, uint64_t *ret_bytes);

/* The base name of this process's program. */
void ts_config_program(char *ret_program, size_t n_bytes);

/* The path that TRACESMITH_OUTPUT or its absence means. Returns 0 or -ENAMETOOLONG. */
int ts_config_output(const char *pattern, const char *program, int pid, char *ret_path,
		     size_t n_bytes);
