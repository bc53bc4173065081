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
#include "replay/state/overview/timeline.h"

/* The timeline: fed with all operations. `options` need not outlive the call. */
struct ts_timeline_pass;
int ts_timeline_pass_new(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
			 struct ts_timeline_pass **ret_pass);
int ts_timeline_pass_take(struct ts_timeline_pass *pass, const struct ts_state_op *op);
void ts_timeline_pass_finish(struct ts_timeline_pass *pass, const struct ts_state_machine *machine,
			     bool is_damaged, struct ts_timeline **ret_timeline);
void ts_timeline_pass_free(struct ts_timeline_pass *pass);
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
void ts_analysis_pass_free(struct ts_analysis_pass *pass);
TS_DEFINE_CLEANUP(struct ts_analysis_pass *, ts_analysis_pass_freep, ts_analysis_pass_free)

/* Occupancy: fed with kernels. Keeps a reference to the reader. */
struct ts_occupancy_pass;
int ts_occupancy_pass_new(struct ts_sbt_reader *reader, struct ts_occupancy_pass **ret_pass);
int ts_occupancy_pass_take(struct ts_occupancy_pass *pass, uint32_t session,
			   const struct ts_row_kernel *row);
int ts_occupancy_pass_finish(struct ts_occupancy_pass *pass, bool is_damaged,
			     struct ts_occupancies **ret_occupancies);
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
