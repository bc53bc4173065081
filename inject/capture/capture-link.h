/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's side of capture level `replay`: loads libtsinject-capture.so, and does the little that
 * needs no library. The functions may be called by any thread, and do nothing at other levels.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/abi/session.h"

struct ts_shim;
struct ts_capture;

/*
 * Begins to capture CUDA's calls if the session has a lane. libcuda.so.1 must be loaded already. If
 * the library or memory lacks, the lane ends with the reason, or capture.shim stays NULL.
 */
void ts_capture_link_start(struct ts_shim *shim);

/*
 * Begins to capture HIP's calls, before the first recorded call; later calls do nothing. The lane
 * ends with a reason if the process also uses a library like CUPTI, whose calls are not captured.
 */
void ts_capture_link_start_hip(struct ts_shim *shim);

/* Ends a session's capture; if it has not started, it never starts. */
void ts_capture_link_refuse(struct ts_shim *shim, enum ts_lane_end why);

/*
 * Records the captured bytes and the time spent as counters in the trace. Records nothing if the
 * time has not changed since the last report. The flush thread calls this.
 */
void ts_capture_link_report(struct ts_capture *capture);

/*
 * Report that a range of the application begins or ends, on any thread.
 * ts_capture_link_range_begins() returns true if the range requests a window; only then the caller
 * reports the end.
 */
bool ts_capture_link_range_begins(const char *text, size_t n_bytes);
void ts_capture_link_range_ends(void);
