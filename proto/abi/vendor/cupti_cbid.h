/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's callback ids of the calls that TraceSmith knows, with the name and a class for each.
 *
 * cupti_cbids.h lists them; calls.py generates it from cuda_driver.calls and cuda_runtime.calls.
 *
 * X(name, id, kind of call): name is the vendor's spelling after CUPTI_RUNTIME_TRACE_CBID_ or
 * CUPTI_DRIVER_TRACE_CBID_. A runtime name ends in the version of its parameters: if the parameters
 * changed, the call has several ids. Programs built for per-thread default streams call the _ptsz
 * and _ptds forms. For graphics interoperation, textures, surfaces and the like, a separate list
 * has only the calls that matter for a replay: callbacks carry the names of these calls.
 *
 * The class states the purpose of the call, so that a tool can choose which calls to enable and how
 * to show them. QUERY calls change nothing: they are frequent, cheap, and seldom worth a record.
 */
#pragma once

#include <stdint.h>

#include "proto/abi/vendor/cupti_cbids.h"

enum ts_cupti_class {
	TS_CUPTI_CLASS_LAUNCH,	     /* a kernel */
	TS_CUPTI_CLASS_GRAPH_LAUNCH, /* a graph of many operations */
	TS_CUPTI_CLASS_MEMCPY,
	TS_CUPTI_CLASS_MEMSET,
	TS_CUPTI_CLASS_ALLOC,	/* memory is allocated, registered, mapped or imported */
	TS_CUPTI_CLASS_FREE,	/* and released */
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
