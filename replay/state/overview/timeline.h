/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as numbers: in each of as many equal parts of a window as are asked for, how long each stream worked; and of each
 * device how much of the window it worked, at what, how much at once, and why it stood still when it did.
 *
 * A device's idle time is what no operation covers. Up to an operation's start it has one cause, the first of these that holds:
 *   HOST        before its call began: nothing was asked for
 *   DEPENDENCY  up to the latest end of what it had to wait for, which was on another device, or was over by then
 *   CALL        until its call returned
 *   DISPATCH    the rest: on its way to the device
 *   UNKNOWN     its call is not recorded
 * and after the last operation of the window END. What the host did instead, gaps.h tells by stream.
 *
 * One pass; memory follows from streams and parts. One thread; nothing is printed. A device is told by its UUID, so that all
 * processes' work on it counts.
 */
#pragma once

#include "replay/state/doubts.h"
#include "replay/state/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_timeline_work {
	TS_TIMELINE_COMPUTE, /* kernels and sets */
	TS_TIMELINE_COPY,
	TS_TIMELINE_WORKS
};

enum ts_timeline_idle {
	TS_TIMELINE_UNKNOWN,
	TS_TIMELINE_HOST,
	TS_TIMELINE_DEPENDENCY,
	TS_TIMELINE_CALL,
	TS_TIMELINE_DISPATCH,
	TS_TIMELINE_END,
	TS_TIMELINE_IDLES
};

/* "host"; NULL for other numbers. */
const char *ts_timeline_idle_name(uint32_t idle);

struct ts_timeline_part {
	uint64_t ns[TS_TIMELINE_WORKS]; /* in which it was at that */
};

struct ts_timeline_stream {
	uint32_t session, device, context, stream;
	uint32_t in;   /* which of the devices */
	uint32_t part; /* within, as the next: the one at hand */
	uint64_t part_from_ns;
	uint64_t n_ops;
	uint64_t busy_ns;				    /* in which an operation ran in it */
	uint64_t until_ns[TS_TIMELINE_WORKS], any_until_ns; /* within */
	struct ts_timeline_part *parts;
};

struct ts_timeline_device {
	uint32_t session, device; /* of the first who used it */
	uint64_t n_ops;
	uint64_t busy_ns; /* in which it was at anything */
	uint64_t ns
		[TS_TIMELINE_WORKS]; /* in which it was at that; more than busy_ns where at both */
	uint64_t overlap_ns;	     /* in which it was at both */
	uint64_t sum_ns; /* of the operations' times: over busy_ns, how many ran at once */
	uint64_t idle_ns[TS_TIMELINE_IDLES];
	uint32_t max_at_once;
	uint32_t reserved;
	uint64_t max_ns;				    /* when so many first ran at once */
	uint64_t until_ns[TS_TIMELINE_WORKS], any_until_ns; /* within */
	uint64_t *ends;					    /* within: of what runs, a heap */
	size_t n_ends, n_ends_allocated;
};

struct ts_timeline {
	struct ts_timeline_device *devices; /* in the order of their first operation */
	size_t n_devices;
	struct ts_timeline_stream *streams; /* by device, session, context, stream */
	size_t n_streams;
	uint64_t from_ns, to_ns; /* the window */
	uint64_t part_ns;
	uint32_t n_parts;
	bool is_damaged;	 /* blocks were left out: what they held is missing here */
	struct ts_doubts doubts; /* of the operations in the window */
};

struct ts_timeline_options {
	uint32_t session;	 /* 0: all */
	uint32_t n_parts;	 /* 1 to TS_TIMELINE_MAX_PARTS */
	uint64_t from_ns, to_ns; /* absolute; 0: from the first operation, to the end of the last */
};

#define TS_TIMELINE_MAX_PARTS 65536u

/* Errors: -ENOMEM, those of sbt/reader.h, TS_E_STREAMS, TS_E_PARTS. */
int ts_timeline_read(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
		     struct ts_timeline **ret_timeline);
void ts_timeline_free(struct ts_timeline *timeline); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_timeline *, ts_timeline_freep, ts_timeline_free)

#ifdef __cplusplus
}
#endif
