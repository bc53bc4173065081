/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of threads during gaps: fed with rows, see blamer.c. blame.c prepares the gaps, and
 * blame-slices.c feeds slices of a trace. Private to replay/state.
 */
#pragma once

#include "replay/state/gaps/blame.h"
#include "replay/state/state-map.h"

#define TS_BLAMER_ALWAYS UINT64_MAX

/* Kinds of a thread's activity, innermost last. */
enum ts_blamer_activity_kind {
	TS_BLAMER_IN_CALL,
	TS_BLAMER_IN_SYSCALL,
	TS_BLAMER_IN_FAULT,
	TS_BLAMER_IN_RECLAIM,
	TS_BLAMER_IN_OFF_CPU,
	TS_BLAMER_KINDS
};

struct ts_blamer_activity {
	uint64_t end_ns;
	uint64_t runnable_ns; /* OFF_CPU: the thread is runnable from this time on */
	/* number of the row that records the activity; 0: the thread's own code */
	uint64_t row;
	struct ts_gap_key key;
};

struct ts_blamer_window {
	uint64_t from_ns, to_ns;
	uint32_t gap;
	uint32_t thread;
	uint32_t depth;
	/* index of the part that this window explains, in `listed` and in `total` */
	uint32_t listed_parent, total_parent;
};

/* A thread's request to a disk. */
struct ts_blamer_request {
	uint64_t end_ns, issued_ns, row;
	uint32_t disk, operation;
};

struct ts_blamer_thread {
	uint32_t session, tid;
	uint64_t now_ns; /* the thread's time before this time is accounted for */
	struct ts_blamer_activity in[TS_BLAMER_KINDS];
	/* In blamer->windows: [first, end) of the thread; [next, end) open later. */
	size_t first, next, end;
	uint64_t longest_ns; /* of these windows */
	bool is_begun;	     /* in a slice: false until the slice has a row of the thread */
	/* open windows, and windows that open later because the thread is a waker */
	struct ts_blamer_window *opened;
	size_t n_opened, n_allocated;
	struct ts_blamer_request *requests; /* NULL, or an array of fixed length */
	size_t n_requests;
};

struct ts_blamer_loss {
	uint64_t start_ns, end_ns;
	uint32_t session;
};

/*
 * The first row of a thread in a slice of the trace. The time of the thread before this row depends
 * on rows before the slice.
 */
struct ts_blamer_first {
	uint64_t start_ns;
	size_t n_parts; /* of blame->total before the row */
	uint32_t thread;
};

struct ts_blamer {
	struct ts_blame *blame;
	struct ts_sbt_reader *reader;
	struct ts_blamer_thread *threads;
	size_t n_threads;
	struct ts_state_map thread_by_id, thread_by_tid, session_by_pid, sched_by_session;
	uint64_t *sched_ns;		  /* per session: start of scheduling events */
	struct ts_blamer_window *windows; /* windows of all gaps, sorted by thread, then by time */
	size_t n_windows;
	struct ts_blamer_loss *losses;
	size_t n_losses, n_losses_allocated;
	const struct ts_gaps_code *code;
	uint64_t n_rows;
	bool is_slice;
	struct ts_blamer_first *firsts; /* in order of the rows */
	size_t n_firsts, n_firsts_allocated;
};

/* Feeds a row. Rows come in order of time. Returns 0, -ENOMEM or an error of `code`. */
int ts_blamer_feed(struct ts_blamer *blamer, const struct ts_sbt_row *row);

/*
 * Accounts for the thread's time up to `to_ns`. The caller has fed all rows of the thread that
 * begin before `to_ns`. Returns 0 or -ENOMEM.
 */
int ts_blamer_advance(struct ts_blamer *blamer, struct ts_blamer_thread *thread, uint64_t to_ns);

/* Adds time with this cause to the window's gap. Returns 0 or -ENOMEM. */
int ts_blamer_add(struct ts_blamer *blamer, const struct ts_blamer_window *window,
		  const struct ts_gap_key *key, uint64_t row, uint64_t ns, uint64_t waiting_ns);

/* Adds a loss of kernel events, up to a limit. Returns 0 or -ENOMEM. */
int ts_blamer_add_loss(struct ts_blamer *blamer, const struct ts_blamer_loss *loss);
