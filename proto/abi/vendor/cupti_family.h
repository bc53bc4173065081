/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries of other vendors that copy CUPTI's interface: names, layouts, clocks, known defects.
 * No other code names such a vendor's numbers. inject/cuda records with this table, tools/vgpu
 * builds a virtual library by it, and `tsctl devices` lists it.
 *
 * A vendor is one entry of ts_pti_vendors[]. Its records either have CUPTI's layout, cut at a
 * length, or a list of fields that the shim copies into CUPTI's layout. `is_inferred` marks a
 * layout or a number that no public source shows; it is taken from CUPTI's version of that level.
 *
 * Sources, public repositories as of August 2026:
 *   [F] flagos-ai/Torch-FL, csrc/profiler/ and docs/architecture/profiler.md
 *   [O] a collector for MACA 3.5.3 by ctypes (metax_activity.py): offsets, version, end of buffer
 *   [A] Ascend/mspti, csrc/include/mspti_{activity,callback,cbid,result}.h and csrc/common/inject
 *   [K] the ports of kineto to MUSA and to GCU; notes on MUSA's driver (MUSA_INJECTION64_PATH)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/record.h"
#include "proto/abi/vendor/cupti_activity.h"

enum ts_pti_id {
	TS_PTI_CUPTI = 0,
	TS_PTI_MCPTI,
	TS_PTI_MUPTI,
	TS_PTI_MSPTI,
	TS_PTI_TOPSPTI,
	TS_PTI_HGPTI,
	TS_PTI_VENDORS
};

/* Room for enum ts_api_domain of the tables that classify calls: CUDA's and HIP's. */
#define TS_PTI_BASES (TS_API_HIP + 1)

/* Change of a field's value while it is copied. */
enum ts_pti_map {
	TS_PTI_MAP_NONE = 0,
	TS_PTI_MAP_COPY_KIND,	/* MSPTI's directions of copies */
	TS_PTI_MAP_MEMORY_KIND, /* MSPTI's kinds of memory */
	TS_PTI_MAP_PLUS_ONE,
};

/* A field of a vendor's record, and its place in CUPTI's. Little-endian; widths in bytes. */
struct ts_pti_field {
	uint8_t from, n_from, to, n_to, map;
};

struct ts_pti_record {
	uint32_t kind;			   /* CUPTI's */
	uint32_t vendor_kind;		   /* the vendor's number of it */
	uint32_t n_bytes;		   /* of the vendor's record */
	const struct ts_pti_field *fields; /* NULL: CUPTI's layout */
	uint32_t n_fields;
	bool is_inferred;
};

struct ts_pti_call {
	uint32_t cbid;
	const char *name;
};

/* The calls of one callback domain of the vendor. */
struct ts_pti_calls {
	uint32_t domain;     /* the vendor's; 0: end of the list */
	const char *prefix;  /* of the vendor's names: mcMalloc has "mc" */
	uint32_t base;	     /* enum ts_api_domain of the table that classifies them */
	const char *instead; /* the prefix in that table: "hip" for hipMalloc */
	/* Ids known without asking the library; `all` of them if the library names none. */
	const struct ts_pti_call *known;
	uint32_t n_known;
};

enum ts_pti_flag {
	/* The completion callback has no context and no stream id. */
	TS_PTI_SHORT_COMPLETION = 1 << 0,
	/* Resource callbacks exist, with CUPTI's ids and layouts. */
	TS_PTI_RESOURCES = 1 << 1,
	/* functionParams has the arguments in the order of the base's call. */
	TS_PTI_ARGUMENTS = 1 << 2,
	/*
	 * Callback data has the site of the call and a name alone. Trap: the library leaves the
	 * result, the arguments and the correlation id uninitialised (ExecuteCallback() of [A]).
	 */
	TS_PTI_BARE_CALLBACK = 1 << 3,
	/* Unsubscribe, then flush for the last time. */
	TS_PTI_UNSUBSCRIBE_FIRST = 1 << 4,
	/* There is no clock function: times are CLOCK_REALTIME. */
	TS_PTI_REALTIME = 1 << 5,
	/* The library must be preloaded when the process starts. */
	TS_PTI_PRELOADED = 1 << 6,
};

/* The experience with the vendor's own library. */
enum ts_pti_state {
	TS_PTI_TRIED,	 /* recorded on the vendor's hardware */
	TS_PTI_UNTESTED, /* recorded with a virtual library, or by the table's tests alone */
	TS_PTI_REFUSED,	 /* not recorded: `missing` names the unknown part */
};

struct ts_pti_vendor {
	enum ts_pti_id id;	  /* its place in the table */
	const char *name;	  /* the library's name, as in `interfaces` of a session: "mcpti" */
	const char *maker;	  /* "MetaX MACA" */
	const char *library;	  /* prefix of the file's name */
	const char *prefix;	  /* prefix of the functions' names */
	const char *other_prefix; /* a second set of the same functions; NULL: none */
	const char *paths[4];	  /* for dlopen(), in this order */
	const char *runtime;	  /* prefix of the runtime's file name; it shows the vendor */
	/* Variable that makes the driver load a tool and call InitializeInjection; empty: none. */
	char injection[24];
	/* Function (kind, cbid, name); NULL: GetCallbackName(domain, cbid, name). */
	const char *name_function;
	/* A call without effect, whose callback shows the library's newest id; NULL: none. */
	const char *probe;
	uint32_t version;			      /* CUPTI's version of the same level */
	uint32_t flags;				      /* enum ts_pti_flag */
	uint32_t limit_reached, multiple_subscribers; /* result codes */
	const struct ts_pti_record *records;
	uint32_t n_records;
	struct ts_pti_calls calls[3];
	uint16_t api_domain[TS_PTI_BASES]; /* enum ts_api_domain of a row, by base */
	enum ts_pti_state state;
	const char *missing; /* state REFUSED */
	const char
		*defects; /* known ones, and what the recorder does about them; NULL: none known */
};

/*
 * Functions that a program calls before it uses the device. If a vendor's driver loads no tool by
 * itself, the preloaded shim stands before these functions, and the first call begins the session.
 * Each has at most six integer arguments.
 */
#define TS_PTI_ENTRIES(X)                 \
	X(MCPTI, mcInit)                  \
	X(MCPTI, mcGetDeviceCount)        \
	X(MCPTI, mcGetDeviceProperties)   \
	X(MCPTI, mcSetDevice)             \
	X(MCPTI, mcGetDevice)             \
	X(MCPTI, mcDriverGetVersion)      \
	X(MCPTI, mcMalloc)                \
	X(MCPTI, mcStreamCreateWithFlags) \
	X(MCPTI, mcModuleLoadData)        \
	X(MSPTI, aclInit)                 \
	X(MSPTI, aclrtSetDevice)

#define TS_PTI_N(array) (sizeof(array) / sizeof((array)[0]))

/* ---- MetaX: libmcpti ------------------------------------------------------------------------ */

/* [F] [O]: Kernel8, Memcpy5, Memset4 and API. The other layouts are CUPTI 18's. */
static const struct ts_pti_record ts_mcpti_records[] = {
	{TS_CUPTI_ACTIVITY_KIND_MEMCPY, 1, 88, NULL, 0, false},
	{TS_CUPTI_ACTIVITY_KIND_MEMSET, 2, 88, NULL, 0, false},
	{TS_CUPTI_ACTIVITY_KIND_KERNEL, 3, 200, NULL, 0, false},
	{TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10, 200, NULL, 0, false},
	{TS_CUPTI_ACTIVITY_KIND_DEVICE, 8, 176, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_CONTEXT, 9, 16, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_OVERHEAD, 17, 40, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_MEMCPY2, 22, 96, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_STREAM, 37, 24, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 38, 40, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_MEMORY2, 49, 120, NULL, 0, true},
};

/* [F], for libraries without mcptiActivityGetApiName. */
static const struct ts_pti_call ts_mcpti_calls[] = {
	{18, "mcDeviceSynchronize"},
	{19, "mcGetDevice"},
	{20, "mcGetDeviceCount"},
	{22, "mcGetDeviceProperties"},
	{23, "mcSetDevice"},
	{46, "mcStreamSynchronize"},
	{47, "mcStreamWaitEvent"},
	{56, "mcLaunchKernel"},
	{60, "mcModuleLaunchKernel"},
	{62, "mcLaunchKernelExC"},
	{74, "mcEventRecord"},
	{76, "mcEventSynchronize"},
	{107, "mcMalloc"},
	{108, "mcFree"},
	{118, "mcMemcpy"},
	{119, "mcMemcpyAsync"},
	{146, "mcMemset"},
	{147, "mcMemsetAsync"},
};

/* ---- Moore Threads: libmupti ---------------------------------------------------------------- */

/* [F] [K]: Kernel6, Memcpy4 and Memset3 by name; their layouts and all numbers are CUPTI's. */
static const struct ts_pti_record ts_mupti_records[] = {
	{TS_CUPTI_ACTIVITY_KIND_MEMCPY, 1, 80, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_MEMSET, 2, 80, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_KERNEL, 3, 168, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10, 168, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_MEMCPY2, 22, 88, NULL, 0, true},
	{TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 38, 40, NULL, 0, true},
};

/* ---- Ascend: libmspti ----------------------------------------------------------------------- */

/* All of [A]: packed structures of their own, with 64-bit correlation ids. */
#define TS_PTI_TO(type, field)                            \
	offsetof(struct ts_cupti_activity_##type, field), \
		sizeof(((struct ts_cupti_activity_##type *)0)->field)

static const struct ts_pti_field ts_mspti_kernel[] = {
	{4, 8, TS_PTI_TO(kernel, start), 0},	       {12, 8, TS_PTI_TO(kernel, end), 0},
	{20, 4, TS_PTI_TO(kernel, device_id), 0},      {24, 4, TS_PTI_TO(kernel, stream_id), 0},
	{28, 8, TS_PTI_TO(kernel, correlation_id), 0}, {44, 8, TS_PTI_TO(kernel, name), 0},
};
static const struct ts_pti_field ts_mspti_memcpy[] = {
	{4, 4, TS_PTI_TO(memcpy, copy_kind), TS_PTI_MAP_COPY_KIND},
	{8, 8, TS_PTI_TO(memcpy, bytes), 0},
	{16, 8, TS_PTI_TO(memcpy, start), 0},
	{24, 8, TS_PTI_TO(memcpy, end), 0},
	{32, 4, TS_PTI_TO(memcpy, device_id), 0},
	{36, 4, TS_PTI_TO(memcpy, stream_id), 0},
	{40, 8, TS_PTI_TO(memcpy, correlation_id), 0},
	{48, 1, TS_PTI_TO(memcpy, flags), 0},
};
static const struct ts_pti_field ts_mspti_memset[] = {
	{4, 4, TS_PTI_TO(memset, value), 0},	       {8, 8, TS_PTI_TO(memset, bytes), 0},
	{16, 8, TS_PTI_TO(memset, start), 0},	       {24, 8, TS_PTI_TO(memset, end), 0},
	{32, 4, TS_PTI_TO(memset, device_id), 0},      {36, 4, TS_PTI_TO(memset, stream_id), 0},
	{40, 8, TS_PTI_TO(memset, correlation_id), 0}, {48, 1, TS_PTI_TO(memset, flags), 0},
};
/* The record has the time of the call's begin and of its end; the begin is the allocation's. */
static const struct ts_pti_field ts_mspti_memory[] = {
	{4, 4, TS_PTI_TO(memory, memory_operation_type), TS_PTI_MAP_PLUS_ONE},
	{8, 4, TS_PTI_TO(memory, memory_kind), TS_PTI_MAP_MEMORY_KIND},
	{12, 8, TS_PTI_TO(memory, correlation_id), 0},
	{20, 8, TS_PTI_TO(memory, timestamp), 0},
	{36, 8, TS_PTI_TO(memory, address), 0},
	{44, 8, TS_PTI_TO(memory, bytes), 0},
	{52, 4, TS_PTI_TO(memory, process_id), 0},
	{56, 4, TS_PTI_TO(memory, device_id), 0},
	{60, 4, TS_PTI_TO(memory, stream_id), 0},
};

static const struct ts_pti_record ts_mspti_records[] = {
	{TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2, 56, ts_mspti_kernel,
	 TS_PTI_N(ts_mspti_kernel), false},
	{TS_CUPTI_ACTIVITY_KIND_MEMORY2, 5, 64, ts_mspti_memory, TS_PTI_N(ts_mspti_memory), false},
	{TS_CUPTI_ACTIVITY_KIND_MEMSET, 6, 56, ts_mspti_memset, TS_PTI_N(ts_mspti_memset), false},
	{TS_CUPTI_ACTIVITY_KIND_MEMCPY, 7, 56, ts_mspti_memcpy, TS_PTI_N(ts_mspti_memcpy), false},
};

/* One name for each id: an id stands for several functions of the runtime. */
static const struct ts_pti_call ts_mspti_calls[] = {
	{1, "aclrtSetDevice"},	       {2, "aclrtDeviceReset"},
	{7, "aclrtStreamCreate"},      {8, "aclrtStreamDestroy"},
	{9, "aclrtStreamSynchronize"}, {10, "aclrtLaunchKernel"},
	{15, "aclrtMalloc"},	       {16, "aclrtFree"},
	{17, "aclrtMallocHost"},       {18, "aclrtFreeHost"},
	{22, "aclrtMemcpy"},	       {24, "aclrtMemcpyAsync"},
	{25, "aclrtMemcpy2D"},	       {26, "aclrtMemcpy2DAsync"},
	{27, "aclrtMemset"},	       {28, "aclrtMemsetAsync"},
};

/* ---- The vendors ---------------------------------------------------------------------------- */

#ifdef TS_PTI_VENDORS_ELSEWHERE
/* One file of the library has the table. */
extern const struct ts_pti_vendor ts_pti_vendors[TS_PTI_VENDORS];
#else
#ifndef TS_PTI_LINKAGE
#define TS_PTI_LINKAGE static
#endif
TS_PTI_LINKAGE const struct ts_pti_vendor ts_pti_vendors[TS_PTI_VENDORS] = {
	[TS_PTI_CUPTI] =
		{
			.id = TS_PTI_CUPTI,
			.name = "cupti",
			.maker = "NVIDIA CUDA",
			.library = "libcupti",
			.prefix = "cupti",
			.runtime = "libcuda",
			.injection = "CUDA_INJECTION64_PATH",
			.flags = TS_PTI_RESOURCES | TS_PTI_ARGUMENTS,
			.limit_reached = TS_CUPTI_ERROR_MAX_LIMIT_REACHED,
			.multiple_subscribers = TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
			.api_domain = {0, TS_API_CUDA_DRIVER, TS_API_CUDA_RUNTIME, 0},
			.state = TS_PTI_TRIED,
		},
	[TS_PTI_MCPTI] =
		{
			.id = TS_PTI_MCPTI,
			.name = "mcpti",
			.maker = "MetaX MACA",
			.library = "libmcpti",
			.prefix = "mcpti",
			.other_prefix = "cupti",
			.paths = {"libmcpti.so", "/opt/maca/lib/libmcpti.so"},
			.runtime = "libmcruntime",
			.name_function = "mcptiActivityGetApiName",
			.probe = "mcDriverGetVersion",
			.version = 18, /* [O] */
			.flags = TS_PTI_RESOURCES,
			.limit_reached = TS_CUPTI_ERROR_MAX_LIMIT_REACHED, /* [O] */
			.multiple_subscribers = TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
			.records = ts_mcpti_records,
			.n_records = TS_PTI_N(ts_mcpti_records),
			.calls = {{2, "mc", TS_API_HIP, "hip", ts_mcpti_calls,
				   TS_PTI_N(ts_mcpti_calls)}},
			.api_domain = {0, 0, 0, TS_API_MACA},
			.state = TS_PTI_UNTESTED,
			.defects =
				"call names are asked for at the start alone, because asking in a "
				"buffer callback hangs; records after external correlation ids may "
				"repeat (3.8.0), so none are enabled and each record's place is "
				"checked; arguments of calls are not read",
		},
	[TS_PTI_MUPTI] =
		{
			.id = TS_PTI_MUPTI,
			.name = "mupti",
			.maker = "Moore Threads MUSA",
			.library = "libmupti",
			.prefix = "mupti",
			.paths = {"libmupti.so", "libmupti.so.1.2",
				  "/usr/local/musa/lib/libmupti.so"},
			.runtime = "libmusa",
			.injection = "MUSA_INJECTION64_PATH", /* [K] */
			.probe = "muDriverGetVersion",
			.version = 15,
			.limit_reached = TS_CUPTI_ERROR_MAX_LIMIT_REACHED,
			.multiple_subscribers = TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
			.records = ts_mupti_records,
			.n_records = TS_PTI_N(ts_mupti_records),
			.calls = {{2, "musa", TS_API_CUDA_RUNTIME, "cuda", NULL, 0},
				  {1, "mu", TS_API_CUDA_DRIVER, "cu", NULL, 0}},
			.api_domain = {0, TS_API_MUSA_DRIVER, TS_API_MUSA_RUNTIME, 0},
			.state = TS_PTI_UNTESTED,
			.defects =
				"the layouts of its records are inferred; arguments of calls are not "
				"read",
		},
	[TS_PTI_MSPTI] =
		{
			.id = TS_PTI_MSPTI,
			.name = "mspti",
			.maker = "Huawei Ascend",
			.library = "libmspti",
			.prefix = "mspti",
			.paths = {"libmspti.so"},
			.runtime = "libascendcl",
			.version = 13,
			.flags = TS_PTI_SHORT_COMPLETION | TS_PTI_BARE_CALLBACK |
				 TS_PTI_UNSUBSCRIBE_FIRST | TS_PTI_REALTIME | TS_PTI_PRELOADED,
			.limit_reached = 3,
			.multiple_subscribers = 2,
			.records = ts_mspti_records,
			.n_records = TS_PTI_N(ts_mspti_records),
			.calls = {{1, "aclrt", TS_API_HIP, "hip", ts_mspti_calls,
				   TS_PTI_N(ts_mspti_calls)}},
			.api_domain = {0, 0, 0, TS_API_ACL},
			.state = TS_PTI_UNTESTED,
			.defects =
				"kernels have no grid and no block; without LD_PRELOAD of libmspti.so "
				"there are no calls, copies and sets; physical device numbers; "
				"callbacks have no ids, results and arguments, so calls and device "
				"rows are not joined",
		},
	[TS_PTI_TOPSPTI] =
		{
			.id = TS_PTI_TOPSPTI,
			.name = "topspti",
			.maker = "Enflame GCU",
			.library = "libtopspti",
			.prefix = "topspti",
			.paths = {"libtopspti.so", "/opt/tops/extras/TOPSPTI/lib64/libtopspti.so"},
			.runtime = "libtopsrt",
			.flags = TS_PTI_SHORT_COMPLETION,
			.calls = {{2, "tops", TS_API_HIP, "hip", NULL, 0}},
			.state = TS_PTI_REFUSED,
			.missing = "numbers and layouts of its records are in no public source",
		},
	[TS_PTI_HGPTI] =
		{
			.id = TS_PTI_HGPTI,
			.name = "hgpti",
			.maker = "T-Head PPU",
			.library = "libhgpti",
			.prefix = "cupti",
			.paths = {"libhgpti.so"},
			.runtime = "libhggc",
			.state = TS_PTI_REFUSED,
			.missing =
				"result codes and record layouts behind its CUPTI names are in no "
				"public source",
		},
};
#endif

/* Returns the vendor's entry for a record of this kind of the vendor's; NULL: unknown. */
static inline const struct ts_pti_record *ts_pti_find(const struct ts_pti_vendor *vendor,
						      uint32_t vendor_kind)
{
	for (uint32_t i = 0; i < vendor->n_records; i++)
		if (vendor->records[i].vendor_kind == vendor_kind)
			return &vendor->records[i];
	return NULL;
}

/* Returns the vendor's entry for CUPTI's kind; NULL: the vendor has none. */
static inline const struct ts_pti_record *ts_pti_find_kind(const struct ts_pti_vendor *vendor,
							   uint32_t kind)
{
	for (uint32_t i = 0; i < vendor->n_records; i++)
		if (vendor->records[i].kind == kind)
			return &vendor->records[i];
	return NULL;
}
