/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline in numbers. It divides a window into equal parts and sums the work of each stream in
 * each part. For each device it sums the time at work, by kind and by overlap, and the causes of
 * idle time.
 *
 * A device is idle while no operation covers the time. The idle time before an operation is split
 * among these causes, in order:
 *   HOST        before its call began: no work was requested
 *   DEPENDENCY  until its dependencies on other devices ended; those on this device ended before
 *               the idle time
 *   CALL        until its call returned
 *   DISPATCH    the rest: on the way to the device
 *   UNKNOWN     all of it, if the call is not recorded
 * The time after the last operation of the window is END. gaps.h explains the activity of the host,
 * by stream.
 *
 * The module reads the rows once. Memory is bounded by streams and parts. Not thread-safe; prints
 * nothing. A device is identified by its UUID, so the work of all processes on it counts.
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

/* Returns the name of a cause of idle time, such as "host"; NULL for other numbers. */
const char *ts_timeline_idle_name(uint32_t idle);

struct ts_timeline_part {
	uint64_t ns[TS_TIMELINE_WORKS]; /* time at work of each kind */
};

struct ts_timeline_stream {
	uint32_t session, device, context, stream;
	uint32_t in;   /* index of its device */
	uint32_t part; /* `part` and the next field are internal: the current part */
	uint64_t part_from_ns;
	uint64_t n_ops;
	uint64_t busy_ns;				    /* time with at least one operation */
	uint64_t until_ns[TS_TIMELINE_WORKS], any_until_ns; /* internal */
	struct ts_timeline_part *parts;
};

struct ts_timeline_device {
	uint32_t session, device; /* of the first session that used it */
	uint64_t n_ops;
	uint64_t busy_ns;		/* time with at least one operation */
	uint64_t ns[TS_TIMELINE_WORKS]; /* time at work of each kind */
	uint64_t overlap_ns;		/* time with operations of both kinds at once */
	uint64_t sum_ns;		/* sum of durations; divided by busy_ns: mean concurrency */
	uint64_t idle_ns[TS_TIMELINE_IDLES];
	uint32_t max_at_once;
	uint32_t reserved;
	/* first time at which max_at_once operations ran */
	uint64_t max_ns;
	uint64_t until_ns[TS_TIMELINE_WORKS], any_until_ns; /* internal */
	struct ts_timeline_part *parts;			    /* NULL unless requested */
	uint64_t *ends; /* internal: a heap of ends of running operations */
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
	bool is_damaged;	 /* damaged blocks were left out */
	struct ts_doubts doubts; /* of operations in the window */
};

struct ts_timeline_options {
	uint32_t session;  /* 0: all */
	uint32_t n_parts;  /* 1 to TS_TIMELINE_MAX_PARTS */
	bool device_parts; /* also divide the work of each device */
	/* Absolute times. 0: from the first operation, or to the end of the last one. */
	uint64_t from_ns, to_ns;
};

#define TS_TIMELINE_MAX_PARTS 65536u

/*
 * Computes the timeline. Returns 0, -ENOMEM, TS_E_STREAMS, TS_E_PARTS, or the errors of
 * sbt/reader.h. The caller frees *ret_timeline.
 */
int ts_timeline_read(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
		     struct ts_timeline **ret_timeline);
void ts_timeline_free(struct ts_timeline *timeline); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_timeline *, ts_timeline_freep, ts_timeline_free)

#ifdef __cplusplus
}
#endif
