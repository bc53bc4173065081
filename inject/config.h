/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings from the environment, read once, when the session begins.
 *
 *	TRACESMITH_SOCKET        the daemon's socket; the shim tries no other socket
 *	TRACESMITH_OUTPUT        the file that a private daemon or a service writes; %p is the
 *	                         process id
 *	TRACESMITH_DAEMON        the private daemon's program
 *	TRACESMITH_STACKS        python (native, with the functions of Python programs), native or
 *	                         none (default: python)
 *	TRACESMITH_STACKS_CHECK  1: also unwinds each stack fully; the trace counts the differences
 *	                         (stack.h)
 *	TRACESMITH_LOSSLESS      1: waits if a ring is full, from the first call on
 *	TRACESMITH_START_LATER   1: records nothing until `tsctl start`
 *	TRACESMITH_CAPTURE       timing, replay[:SIZE] or window[:SIZE][,PART ...] (default:
 *	                         timing); SIZE limits the bytes of contents (capture-config.h)
 *	TRACESMITH_RING_SIZE     bytes of each thread's ring, with K, M or G; rounded up to a power
 *	                         of two
 *	TRACESMITH_TIMED_LAUNCHES
 *	                         launches and copies in a second that HIP's events time, if the
 *	                         runtime reports no work (default: 500); 0: none
 *	TRACESMITH_CUPTI         a libcupti to load if no other is found before
 *	TRACESMITH_ROCPROFILER   0: loads no rocprofiler-sdk. rocprofiler-link.c reads it when HIP
 *	                         registers its tables
 *	RANK, SLURM_JOB_ID and others: the process's place in a job; job.h lists them
 *	CUDA_HOME, CUDA_PATH     a toolkit; its libcupti comes next to last
 *	TRACESMITH_DEBUG         neither empty nor 0: prints actions and refusals to stderr,
 *	                         malformed settings too
 */
#pragma once

#include <limits.h>

#include "inject/job.h"
#include "inject/process/process-sandbox.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/handshake.h"

#define TS_CONFIG_MAX_DAEMON_VARIABLES 64u
#define TS_CONFIG_ENVIRONMENT_BYTES    (32u * 1024)
#define TS_CONFIG_TIMED		       500u
#define TS_CONFIG_TIMED_MAX	       1000000u

struct ts_config {
	uint64_t ring_bytes;
	struct ts_capture_config capture;
	bool stacks;
	bool python_stacks;
	bool check_stacks;
	uint32_t timed_per_second; /* hip-events.c */
	bool lossless;
	bool start_later;
	bool debug;
	enum ts_sandbox sandbox;
	bool socket_given; /* TRACESMITH_SOCKET is set: no private daemon is started */
	bool output_given; /* TRACESMITH_OUTPUT is set: a service writes this file too */
	char socket[108];
	char cupti[PATH_MAX];
	char cuda_home[PATH_MAX]; /* $CUDA_HOME, else $CUDA_PATH; empty: neither */
	char program[64];
	struct ts_job job;

	/* Command of the private daemon. `daemon` is empty if none was found. */
	char daemon[PATH_MAX];
	char output[PATH_MAX];
	char pid[16];
	char *daemon_argv[14];
	char *daemon_environment[TS_CONFIG_MAX_DAEMON_VARIABLES + 1];
	char daemon_environment_text
		[TS_CONFIG_ENVIRONMENT_BYTES]; /* storage of daemon_environment */
};

/*
 * Reads all settings. `library` is the path of libtsinject.so; the private daemon is searched
 * beside it. `filters` is the result of ts_sandbox_count() at load.
 */
void ts_config_read(struct ts_config *config, const char *library, int filters);

/*
 * True if the program has more rights than the user who starts it (set-user-ID, set-group-ID, file
 * capabilities). This user controls the environment. So secure_getenv() finds no variable, and no
 * private daemon is started.
 */
bool ts_config_is_privileged(void);

/* Reads TRACESMITH_DEBUG, for code that runs before ts_config_read(). */
bool ts_config_debug(void);

/* Parses "4M", "65536" or "512K". Returns 0, or -EINVAL. */
int ts_config_parse_size(const char *text, uint64_t *ret_bytes);

/* Gets the base name of this process's program. */
void ts_config_program(char *ret_program, size_t n_bytes);

/*
 * Builds the output path from TRACESMITH_OUTPUT, or the default path if it is unset. Returns 0 or
 * -ENAMETOOLONG.
 */
int ts_config_output(const char *pattern, const char *program, int pid, char *ret_path,
		     size_t n_bytes);
