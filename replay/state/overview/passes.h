/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes over a trace as objects that a caller feeds. The functions that read a trace for one
 * answer feed one pass; overview.c feeds several of them with one walk. Private to replay/state.
 *
 * A pass is fed in order of time. All functions return 0, -ENOMEM or an error of their subject;
 * after an error a pass can only be freed. A finished pass can only be freed. Not thread-safe.
 */
#pragma once

#include "replay/state/occupancy.h"
#include "replay/state/overview/analysis.h"
#include "replay/state/overview/errors.h"
#include "replay/state/overview/overview.h"
#include "replay/state/overview/timeline.h"
#include "replay/state/segments/segments.h"

/*
 * Segments of a trace (segments.h) have passes of their own. _start() is for a segment that is not
 * the first one, and _join() adds a segment to those before it.
 */

/*
 * The timeline: fed with all operations. `options` need not outlive the call. The end adds the
 * doubts of `machine`, if it is not NULL.
 */
struct ts_timeline_pass;
int ts_timeline_pass_new(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
			 struct ts_timeline_pass **ret_pass);
int ts_timeline_pass_take(struct ts_timeline_pass *pass, const struct ts_state_op *op);
void ts_timeline_pass_finish(struct ts_timeline_pass *pass, const struct ts_state_machine *machine,
			     bool is_damaged, struct ts_timeline **ret_timeline);
void ts_timeline_pass_free(struct ts_timeline_pass *pass);
int ts_timeline_pass_new_segment(struct ts_sbt_reader *reader,
				 const struct ts_timeline_options *options, bool is_first,
				 struct ts_timeline_pass **ret_pass);
void ts_timeline_pass_start(struct ts_timeline_pass *pass, const struct ts_segments_counts *counts);
int ts_timeline_pass_join(struct ts_timeline_pass *all, const struct ts_timeline_pass *pass,
			  const struct ts_segments_counts *counts);
/*
 * As ts_timeline_read(), but only in segments, of these sizes (NULL: the default ones). Returns
 * TS_SEGMENTS_NONE if there is no such result.
 */
int ts_timeline_read_segments(struct ts_sbt_reader *reader,
			      const struct ts_timeline_options *options,
			      const struct ts_segments_options *sizes,
			      struct ts_timeline **ret_timeline);
TS_DEFINE_CLEANUP(struct ts_timeline_pass *, ts_timeline_pass_freep, ts_timeline_pass_free)

/*
 * Findings: fed with all operations and synchronizations. ts_analysis_pass_row() gets the rows of
 * calls and synchronizations before the machine does, and returns true and *ret_sync for a
 * synchronization of the host. It may be called while another thread calls
 * ts_analysis_pass_take() or ts_analysis_pass_sync(). Keeps a reference to the machine.
 */
struct ts_analysis_sync {
	uint64_t start_ns, ns;
	uint32_t session, stack;
	bool is_awaited; /* device rows of calls were missing */
};
struct ts_analysis_pass;
int ts_analysis_pass_new(const struct ts_state_machine *machine,
			 struct ts_analysis_pass **ret_pass);
bool ts_analysis_pass_row(struct ts_analysis_pass *pass, const struct ts_sbt_row *row,
			  struct ts_analysis_sync *ret_sync);
int ts_analysis_pass_sync(struct ts_analysis_pass *pass, const struct ts_analysis_sync *sync);
int ts_analysis_pass_take(struct ts_analysis_pass *pass, const struct ts_state_op *op);
void ts_analysis_pass_finish(struct ts_analysis_pass *pass, bool is_damaged,
			     struct ts_analysis **ret_analysis);
void ts_analysis_pass_start(struct ts_analysis_pass *pass, const struct ts_segments_counts *counts);
int ts_analysis_pass_join(struct ts_analysis_pass *all, const struct ts_analysis_pass *pass,
			  const struct ts_segments_counts *counts);
void ts_analysis_pass_free(struct ts_analysis_pass *pass);
TS_DEFINE_CLEANUP(struct ts_analysis_pass *, ts_analysis_pass_freep, ts_analysis_pass_free)

/* Occupancy: fed with kernels. Keeps a reference to the reader. */
struct ts_occupancy_pass;
int ts_occupancy_pass_new(struct ts_sbt_reader *reader, struct ts_occupancy_pass **ret_pass);
int ts_occupancy_pass_take(struct ts_occupancy_pass *pass, uint32_t session,
			   const struct ts_row_kernel *row);
int ts_occupancy_pass_finish(struct ts_occupancy_pass *pass, bool is_damaged,
			     struct ts_occupancies **ret_occupancies);
int ts_occupancy_pass_join(struct ts_occupancy_pass *all, const struct ts_occupancy_pass *pass);
void ts_occupancy_pass_free(struct ts_occupancy_pass *pass);
TS_DEFINE_CLEANUP(struct ts_occupancy_pass *, ts_occupancy_pass_freep, ts_occupancy_pass_free)

/* Failed calls: fed with the rows of TS_ERRORS_ROWS. The end reads the kernels of suspects. */
#define TS_ERRORS_ROWS \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_ACCESS))
struct ts_errors_pass;
int ts_errors_pass_new(struct ts_errors_pass **ret_pass);
int ts_errors_pass_take(struct ts_errors_pass *pass, const struct ts_sbt_row *row);
int ts_errors_pass_finish(struct ts_errors_pass *pass, struct ts_sbt_reader *reader,
			  uint32_t session, bool is_damaged, struct ts_call_errors **ret_errors);
void ts_errors_pass_free(struct ts_errors_pass *pass);
TS_DEFINE_CLEANUP(struct ts_errors_pass *, ts_errors_pass_freep, ts_errors_pass_free)

/* As ts_overview_read(), but only in segments: see ts_timeline_read_segments(). */
int ts_overview_read_segments(struct ts_sbt_reader *reader, uint32_t session,
			      const struct ts_segments_options *sizes,
			      struct ts_overview *overview);
