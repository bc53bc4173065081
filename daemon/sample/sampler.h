/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host sampler of a session: a process that samples the session's threads on the processor and finds the native and Python stack of each sample.
 * It has the rights of the session's user and no more, because it reads that user's files and memory at length: it may wait or die by them, and
 * the daemon does neither. serve/session/session-samples.c makes rows of its messages.
 *
 * The socket's messages are lists of items, 8-byte aligned, each behind a struct ts_sampler_item. The daemon checks each. One thread.
 */
#pragma once

#include <sys/types.h>

#include "daemon/sample/remote-python.h"

/* The first argument of tracesmithd that makes it a sampler. */
#define TS_SAMPLER_ARGUMENT	 "--sampler"
#define TS_SAMPLER_MESSAGE_BYTES (64u * 1024)
#define TS_SAMPLER_FRAMES_MAX	 (TS_UNWIND_FRAMES_MAX + TS_REMOTE_PYTHON_FRAMES)
#define TS_SAMPLER_PERIOD_NS	 (UINT64_C(1000000000) / 199)

enum ts_sampler_kind {
	TS_SAMPLER_TEXT = 1,   /* struct ts_sampler_text */
	TS_SAMPLER_SAMPLE = 2, /* struct ts_sampler_sample */
	TS_SAMPLER_LOST = 3,   /* struct ts_sampler_lost */
	TS_SAMPLER_WHY = 4,    /* characters: what is missing, and why. At most once */
	TS_SAMPLER_DONE = 5,   /* struct ts_sampler_done; nothing follows */
	TS_SAMPLER_PYTHON =
		6, /* nothing: the process runs Python. At most once; ts_sampler_give_program() answers */
};

struct ts_sampler_item {
	uint32_t kind;	  /* enum ts_sampler_kind */
	uint32_t n_bytes; /* that follow, without padding */
};

/* "function\nfile" of Python frames: TS_FRAME_PYTHON_AT(id, line). Before the first sample that has it. */
struct ts_sampler_text {
	uint32_t id; /* counts from 1, at most TS_REMOTE_PYTHON_TEXTS */
	uint32_t n_text;
	/* The characters follow. */
};

#define TS_SAMPLER_IN_KERNEL (1u << 0)
#define TS_SAMPLER_TRUNCATED (1u << 1) /* the outermost frames are missing */

struct ts_sampler_sample {
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t period_ns; /* processor time that it stands for */
	uint32_t tid;
	uint32_t cpu;
	uint32_t flags; /* TS_SAMPLER_* */
	uint32_t n_frames;
	char name[16]; /* of the thread */
		       /* The frames follow, the innermost first, as in proto/abi/record.h. */
};

struct ts_sampler_lost {
	uint64_t count; /* since the last such item */
};

struct ts_sampler_done {
	uint64_t n_samples;
	uint64_t processor_ns; /* of the sampler itself */
};

/*
 * The next item of a message that can be what it says it is, from *off on: sizes, counts and ids are in their bounds. Others are passed over. *ret_at:
 * what follows the item's head. False: there is no more. Pure.
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

/* Starts one. 0 or a negative errno. */
int ts_sampler_new(const struct ts_sampler_process *process, uint64_t period_ns,
		   struct ts_sampler **ret_sampler);
/* Kills it. NULL is fine. */
void ts_sampler_free(struct ts_sampler *sampler);

/* Never block; a sampler that does not read is as one that is gone. */
void ts_sampler_enable(struct ts_sampler *sampler, bool on);
/*
 * program_fds: made by ts_bpf_sample_new(), they stay the caller's. NULL: no program; the sampler goes on reading Python stacks itself, right after each
 * sample.
 */
void ts_sampler_give_program(struct ts_sampler *sampler, const int *program_fds);
/* Asks for the last samples, and DONE. */
void ts_sampler_finish(struct ts_sampler *sampler);
/* Readable when there is a message, or the sampler is gone. */
int ts_sampler_fd(const struct ts_sampler *sampler);
/* One message, 8-byte aligned, valid until the next call. -EAGAIN: there is none so far. -ECONNRESET: the sampler is gone. */
int ts_sampler_receive(struct ts_sampler *sampler, const void **ret_bytes, size_t *ret_n_bytes);

/* The process itself: main() calls it for TS_SAMPLER_ARGUMENT. Returns its exit status. */
int ts_sampler_main(int argc, char **argv);
