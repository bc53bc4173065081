/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of the GPU's work by rocprofiler-sdk, for runtimes of HIP that report none: builds without
 * hipRegisterTracerCallback(), and later major versions than 7. libtsinject-rocprofiler.so is the
 * SDK's tool; these functions load it and receive its rows.
 *
 * hip-register.c calls the first two functions when a library registers its tables, which HIP does
 * before the first recorded call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/vendor/rocprofiler.h"

struct ts_shim;
struct ts_rocprofiler_library;

/* State of the process, not of a session. The thread that registers HIP's tables writes it. */
struct ts_rocprofiler {
	const struct ts_rocprofiler_library *library; /* the tool; NULL: not loaded */
	ts_rocprofiler_set_api_table set_table;	      /* of the SDK */
	bool prepared;				      /* the decision is made */
	bool hsa_came;				      /* HSA's table was registered before */
	char problem[160];			      /* empty: none */
};

/*
 * Before a table is passed on: loads the SDK and the tool, if HIP's runtime needs them. `name` and
 * version (10000 * major + 100 * minor) are the table's; function: of HIP's runtime, NULL if
 * another library registers. Without the SDK this function changes nothing.
 */
void ts_rocprofiler_prepare(const char *name, const void *function, uint32_t version);

/*
 * After a table was passed on. passed: librocprofiler-register received it. Without that library,
 * this function passes the table to the SDK.
 */
void ts_rocprofiler_passed(const char *name, uint32_t version, void **tables, uint64_t n_tables,
			   bool passed);

/*
 * At the first recorded call: returns true if the SDK reports work. If the tool could not start,
 * the trace gets the reason as a note. The caller has set ts_tls.busy.
 */
bool ts_rocprofiler_attach(struct ts_shim *shim);

/*
 * After each recorded call, if the SDK reports work: notifies the flush thread. After a kernel's
 * error, waits for a flush.
 */
void ts_rocprofiler_returned(struct ts_shim *shim, int32_t result);

/*
 * Flush thread: delivers the finished work that the SDK holds. With `all`, in any case; otherwise
 * if there were calls since the last time, or after a second.
 */
void ts_rocprofiler_flush(struct ts_shim *shim, bool all);
