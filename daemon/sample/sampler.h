/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host sampler of a session: a process that samples the session's threads on the processor.
 * Each sample has the native and the Python stack. The process has the rights of the session's user
 * and no more. The process reads that user's files and memory, which may block or kill the process;
 * the daemon itself reads none of them. serve/session/session-samples.c makes rows from its
 * messages.
 *
 *     daemon                                     sampler
 *       ts_sampler_new(): spawn ------------------> begin(): become the user, open events
 *       ON, OFF ----------------------------------> enable, disable events
 *       <------------------------------------------ TEXT, SAMPLE, LOST, WHY, RATE
 *       <------------------------------------------ PYTHON: an interpreter was found
 *       ts_sampler_give_program() ----------------> use the eBPF program, if one is given
 *       ts_sampler_report_cost() -----------------> choose the rate by it
 *       FINISH -----------------------------------> last samples
 *       <------------------------------------------ DONE
 *
 * A message is a list of items, 8-byte aligned, each after a struct ts_sampler_item. The daemon
 * checks each item. Not thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "daemon/sample/remote-python.h"

/* First argument of tracesmithd that selects the sampler. */
#define TS_SAMPLER_ARGUMENT	 "--sampler"
#define TS_SAMPLER_MESSAGE_BYTES (64u * 1024)
#define TS_SAMPLER_FRAMES_MAX	 (TS_UNWIND_FRAMES_MAX + TS_REMOTE_PYTHON_FRAMES)
#define TS_SAMPLER_PERIOD_NS	 (UINT64_C(1000000000) / 199)

enum ts_sampler_kind {
	TS_SAMPLER_TEXT = 1,   /* struct ts_sampler_text */
	TS_SAMPLER_SAMPLE = 2, /* struct ts_sampler_sample */
	TS_SAMPLER_LOST = 3,   /* struct ts_sampler_lost */
	TS_SAMPLER_WHY = 4,    /* characters: the missing part and why; at most once */
	TS_SAMPLER_DONE = 5,   /* struct ts_sampler_done; nothing follows */
	/*
	 * The process runs Python. The item has no bytes and comes at most once. Answer it with
	 * ts_sampler_give_program().
	 */
	TS_SAMPLER_PYTHON = 6,
	TS_SAMPLER_RATE = 7, /* struct ts_sampler_rate: of the samples from now on */
};

struct ts_sampler_item {
	uint32_t kind;	  /* enum ts_sampler_kind */
	uint32_t n_bytes; /* bytes that follow, without padding */
};

/*
 * The text "function\nfile" of Python frames, TS_FRAME_PYTHON_AT(id, line). The item comes before
 * the first sample that uses it.
 */
struct ts_sampler_text {
	uint32_t id; /* counts from 1, at most TS_REMOTE_PYTHON_TEXTS */
	uint32_t n_text;
	/* The characters follow. */
};

#define TS_SAMPLER_IN_KERNEL (1u << 0)
#define TS_SAMPLER_TRUNCATED (1u << 1) /* the outermost frames are missing */

struct ts_sampler_sample {
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t period_ns; /* processor time that the sample represents */
	uint32_t tid;
	uint32_t cpu;
	uint32_t flags; /* TS_SAMPLER_* */
	uint32_t n_frames;
	/* Name of the thread. The frames follow it, innermost first, as in proto/abi/record.h. */
	char name[16];
};

struct ts_sampler_lost {
	uint64_t count; /* number of lost samples since the previous message of this kind */
};

struct ts_sampler_rate {
	uint64_t period_ns; /* not 0 */
	uint64_t cost_ns;   /* processor time of a sample, because of which the period changed */
};

struct ts_sampler_done {
	uint64_t n_samples;
	uint64_t processor_ns; /* processor time of the sampler itself */
};

/*
 * Finds the next valid item of a message, from *off on: its sizes, counts and ids are within their
 * limits. Invalid items are skipped. *ret_at points behind the item's head. False: there is no more
 * item. Pure.
 */
bool ts_sampler_next(const uint8_t *message, size_t n_bytes, size_t *off,
		     struct ts_sampler_item *ret_item, const uint8_t **ret_at);

struct ts_sampler;

struct ts_sampler_process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
};

/* Starts a sampler. Returns 0 or a negative errno. */
int ts_sampler_new(const struct ts_sampler_process *process, uint64_t period_ns,
		   struct ts_sampler **ret_sampler);
/* Kills the sampler. NULL is fine. */
void ts_sampler_free(struct ts_sampler *sampler);

/*
 * Turns sampling on or off. This function and the next three never block: if the sampler does not
 * read, the message is dropped.
 */
void ts_sampler_enable(struct ts_sampler *sampler, bool on);
/*
 * Gives the program of ts_bpf_sample_new() to the sampler; the descriptors stay the caller's. NULL:
 * no program, and the sampler continues to read Python stacks itself, right after each sample.
 */
void ts_sampler_give_program(struct ts_sampler *sampler, const int *program_fds);
/* Reports the daemon's processor time for a sample; the sampler chooses its rate by it. */
void ts_sampler_report_cost(struct ts_sampler *sampler, uint64_t ns);
/* Requests the last samples, and DONE. */
void ts_sampler_finish(struct ts_sampler *sampler);
/* Returns a descriptor that is readable when there is a message, or when the sampler has ended. */
int ts_sampler_fd(const struct ts_sampler *sampler);
/*
 * Receives one message, 8-byte aligned and valid until the next call. -EAGAIN: no message yet.
 * -ECONNRESET: the sampler has ended.
 */
int ts_sampler_receive(struct ts_sampler *sampler, const void **ret_bytes, size_t *ret_n_bytes);

/* Runs the sampler process; main() calls it for TS_SAMPLER_ARGUMENT. Returns the exit status. */
int ts_sampler_main(int argc, char **argv);
