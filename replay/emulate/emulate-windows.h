/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates a trace of any length in windows, one after another, with the memory of one window:
 *
 *	ts_emulate_windows_new(&options, edits, n_edits, &names, &windows);
 *	while (!(r = ts_emulate_windows_next(windows, take, data, message)))
 *		...
 *	r is TS_SBT_E_END; ts_emulate_windows_sums(windows) has the figures.
 *
 * A window has a fixed number of calls and operations. The ends of threads, streams, events and
 * engines are carried to the next window, so that the windows are one program. Differences to
 * ts_emulate_run() without windows:
 * - Unedited, none: each operation starts at its recorded time.
 * - Edited, an operation never delays operations of earlier windows. Unrecorded delays are medians
 *   of the window instead of the trace, and edits that look at several calls (graph, split) begin
 *   anew in each window. Measured in test/unit/emulate/test-windows.c.
 */
#pragma once

#include "replay/emulate/emulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls and operations of a window, and of the part of the next one that is read with it. */
#define TS_EMULATE_WINDOW_ITEMS (1u << 17)
#define TS_EMULATE_WINDOW_AHEAD (1u << 15)

struct ts_emulate_windows;

struct ts_emulate_windows_options {
	struct ts_sbt_reader *reader;
	uint32_t session; /* 0: all */
	size_t n_items;	  /* 0: TS_EMULATE_WINDOW_ITEMS */
	size_t n_ahead;	  /* 0: TS_EMULATE_WINDOW_AHEAD */
	/*
	 * Reports progress at least once per TS_EMULATE_STEP rows: rows that were read, and all
	 * rows. A nonzero return value ends the function, which then returns it.
	 */
	int (*step)(void *data, uint64_t done, uint64_t all);
	void *step_data;
};

/* Sums over the windows so far. Times are absolute. */
struct ts_emulate_sums {
	uint64_t recorded_from_ns, recorded_to_ns; /* first start, latest end: as recorded */
	uint64_t from_ns, to_ns;		   /* as emulated */
	uint64_t n_ops, n_calls;
	uint64_t n_edited, n_broken;
	uint64_t n_windows;
	/*
	 * Rows of later windows start at this emulated time or later, except for threads and
	 * streams that the read part of the next window does not show. UINT64_MAX: there is none.
	 */
	uint64_t settled_ns;
	bool is_damaged; /* damaged blocks were left out */
};

/*
 * The edits and `names` are used until ts_emulate_windows_free(). Returns 0, -ENOMEM, or the errors
 * of sbt/reader.h. The caller frees *ret_windows.
 */
int ts_emulate_windows_new(const struct ts_emulate_windows_options *options,
			   const struct ts_emulate_edit *edits, size_t n_edits,
			   const struct ts_emulate_names *names,
			   struct ts_emulate_windows **ret_windows);
void ts_emulate_windows_free(struct ts_emulate_windows *windows); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_windows *, ts_emulate_windows_freep, ts_emulate_windows_free)

/*
 * Emulates the next window and passes its times to `take`, in no order; NULL: to nobody. Returns 0,
 * TS_SBT_E_END after the last window, -EINVAL if an edit matched nothing in the whole trace, which
 * the call after the last window reports in ret_message (of TS_EMULATE_TEXT_BYTES), or the errors
 * of ts_emulate_read() and ts_emulate_run_times().
 */
int ts_emulate_windows_next(struct ts_emulate_windows *windows,
			    int (*take)(void *data, const struct ts_emulate_time *time), void *data,
			    char *ret_message);
const struct ts_emulate_sums *ts_emulate_windows_sums(const struct ts_emulate_windows *windows);

#ifdef __cplusplus
}
#endif
