/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for numbers: the vendor's kinds, errors and flags, and TraceSmith's own. callname.h names
 * calls. Each function returns a static string, or NULL if this version does not know the number.
 * Callers then print the number: a trace may come from a newer version.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "replay/report/names/callname.h"

const char *ts_name_api_error(uint32_t domain, uint32_t result); /* "cudaErrorInvalidValue" */
const char *ts_name_memcpy_kind(uint32_t kind);			 /* "htod" */
const char *ts_name_memory_kind(uint32_t kind);			 /* "pinned" */
const char *ts_name_sync_type(uint32_t type);			 /* "stream_synchronize" */
const char *ts_name_overhead_kind(uint32_t kind);		 /* "cupti_buffer_flush" */
const char *ts_name_object_action(uint32_t action);		 /* "created" */
const char *ts_name_operation_kind(uint32_t kind);		 /* "launch" */
const char *ts_name_pause_cause(uint32_t cause);		 /* "request" */
const char *ts_name_access_kind(uint32_t access);		 /* "copy" */
const char *ts_name_range_action(uint32_t action);		 /* "push" */
const char *ts_name_off_cpu_reason(uint32_t reason);		 /* "futex" */
const char *ts_name_waker_context(uint32_t context);		 /* "interrupt" */
const char *ts_name_fault_kind(uint32_t kind);			 /* "minor" */
const char *ts_name_fault_memory(uint32_t memory);		 /* "anonymous" */
const char *ts_name_block_operation(uint32_t operation);	 /* "read" */
const char *ts_name_pressure_kind(uint32_t kind);		 /* "direct" */
const char *ts_name_driver_kind(uint32_t kind);			 /* "fence_wait" */
const char *ts_name_syscall(uint32_t number);			 /* "ioctl" */
const char *ts_name_loss_reason(uint32_t reason);		 /* "ring_full" */
const char *ts_name_clock(uint32_t clock);			 /* "tsc" */
const char *ts_name_empty_reason(uint32_t reason);		 /* "cupti_held" */

/* Explains a loss reason in plain words, with the remedy. Never NULL. */
const char *ts_name_loss_text(const char *reason);

/*
 * Demangles kernel names, which are mangled C++. Uses the C++ library's demangler if the machine
 * has the library; otherwise names stay mangled. Results are cached, so each row costs a look-up.
 * Not thread-safe.
 */
struct ts_demangler;

/*
 * Creates a demangler, which the caller frees. Returns 0 or -ENOMEM. A machine without the C++
 * library is no error.
 */
int ts_demangler_new(struct ts_demangler **ret_demangler);
void ts_demangler_free(struct ts_demangler *demangler);
void ts_demangler_freep(struct ts_demangler **demangler);
/*
 * Returns the demangled name. Returns `name` itself if it is not mangled, if demangling fails, or
 * if `demangler` is NULL. Valid as long as `demangler` and `name`.
 */
const char *ts_demangle(struct ts_demangler *demangler, const char *name);
