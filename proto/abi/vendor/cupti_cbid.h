/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's callback ids of the calls that TraceSmith knows, with the name and a class for each.
 *
 * cupti_cbids.h lists them; calls.py makes it from cuda_driver.calls and cuda_runtime.calls.
 * X(name, id, kind of call): name is how the vendor spells it after CUPTI_RUNTIME_TRACE_CBID_ or
 * CUPTI_DRIVER_TRACE_CBID_ (a runtime name ends in the version that brought its parameters: a
 * call whose parameters changed has several ids). _ptsz and _ptds are the forms that programs built
 * for per-thread default streams call. Of calls of graphics interoperation, textures, surfaces
 * and the like only those are listed, apart, that matter for a replay: callbacks carry their name themselves.
 *
 * The class says what the call is for, so that a tool can choose what to enable and how to show it.
 * QUERY is what asks and changes nothing: such calls are frequent, cheap, and seldom worth a
 * record.
 */
#pragma once

#include <stdint.h>

#include "proto/abi/vendor/cupti_cbids.h"

enum ts_cupti_class {
	TS_CUPTI_CLASS_LAUNCH,	     /* a kernel */
	TS_CUPTI_CLASS_GRAPH_LAUNCH, /* a graph of many operations */
	TS_CUPTI_CLASS_MEMCPY,
	TS_CUPTI_CLASS_MEMSET,
	TS_CUPTI_CLASS_ALLOC,	/* memory is had, registered, mapped or imported */
	TS_CUPTI_CLASS_FREE,	/* and given up */
	TS_CUPTI_CLASS_SYNC,	/* the thread waits for the device */
	TS_CUPTI_CLASS_EVENT,	/* created, recorded, waited for by a stream, destroyed */
	TS_CUPTI_CLASS_STREAM,	/* created, destroyed, configured; host functions in it */
	TS_CUPTI_CLASS_MODULE,	/* code and the functions in it */
	TS_CUPTI_CLASS_GRAPH,	/* built, captured, instantiated, changed */
	TS_CUPTI_CLASS_CONTEXT, /* contexts, the current device, peer access, limits */
	TS_CUPTI_CLASS_QUERY,
	TS_CUPTI_CLASS_OTHER,
	TS_CUPTI_N_CLASSES,
};

enum ts_cupti_runtime_cbid {
	TS_CUPTI_RUNTIME_CBID_INVALID = 0,
#define TS_CUPTI_CBID_(name, id, kind) TS_CUPTI_RUNTIME_CBID_##name = id,
	TS_CUPTI_RUNTIME_CBIDS(TS_CUPTI_CBID_)
#undef TS_CUPTI_CBID_
};

enum ts_cupti_driver_cbid {
	TS_CUPTI_DRIVER_CBID_INVALID = 0,
#define TS_CUPTI_CBID_(name, id, kind) TS_CUPTI_DRIVER_CBID_##name = id,
	TS_CUPTI_DRIVER_CBIDS(TS_CUPTI_CBID_) TS_CUPTI_DRIVER_UNTRACED_CBIDS(TS_CUPTI_CBID_)
#undef TS_CUPTI_CBID_
};

/* One past the highest id that CUDA 13.0 knows, for tables indexed by id. */
#define TS_CUPTI_RUNTIME_CBID_SIZE 523
#define TS_CUPTI_DRIVER_CBID_SIZE  807
