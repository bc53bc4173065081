/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVTX that TraceSmith uses, in the project's own words. Every library and program that
 * includes NVTX's headers has its own instance of NVTX. This header states how an instance finds a
 * tool and passes its table of functions, and the arguments of these functions. The reading rules
 * are those of cuda_driver.h: the vendor's NVTX_X is TS_NVTX_X here. Values and layouts are those
 * of version 3, tested against its headers; a version 2 library passes the same data.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_NVTX_VERSION		     3
#define TS_NVTX_NO_PUSH_POP_TRACKING (-2) /* result of push and pop if no tool counts levels */

/* NVTX's modules. The callback ids of each module are indices of the module's table. */
#define TS_NVTX_CB_MODULE_CORE	 1
#define TS_NVTX_CB_MODULE_CUDA	 2
#define TS_NVTX_CB_MODULE_CUDART 4
#define TS_NVTX_CB_MODULE_CORE2	 5

/* X(function without its nvtx, id) */
#define TS_NVTX_CORE(X)      \
	X(MarkEx, 1)         \
	X(MarkA, 2)          \
	X(MarkW, 3)          \
	X(RangeStartEx, 4)   \
	X(RangeStartA, 5)    \
	X(RangeStartW, 6)    \
	X(RangeEnd, 7)       \
	X(RangePushEx, 8)    \
	X(RangePushA, 9)     \
	X(RangePushW, 10)    \
	X(RangePop, 11)      \
	X(NameCategoryA, 12) \
	X(NameCategoryW, 13) \
	X(NameOsThreadA, 14) \
	X(NameOsThreadW, 15)
#define TS_NVTX_CORE2(X)             \
	X(DomainMarkEx, 1)           \
	X(DomainRangeStartEx, 2)     \
	X(DomainRangeEnd, 3)         \
	X(DomainRangePushEx, 4)      \
	X(DomainRangePop, 5)         \
	X(DomainResourceCreate, 6)   \
	X(DomainResourceDestroy, 7)  \
	X(DomainNameCategoryA, 8)    \
	X(DomainNameCategoryW, 9)    \
	X(DomainRegisterStringA, 10) \
	X(DomainRegisterStringW, 11) \
	X(DomainCreateA, 12)         \
	X(DomainCreateW, 13)         \
	X(DomainDestroy, 14)         \
	X(Initialize, 15)
#define TS_NVTX_CUDA(X)      \
	X(NameCuDeviceA, 1)  \
	X(NameCuDeviceW, 2)  \
	X(NameCuContextA, 3) \
	X(NameCuContextW, 4) \
	X(NameCuStreamA, 5)  \
	X(NameCuStreamW, 6)  \
	X(NameCuEventA, 7)   \
	X(NameCuEventW, 8)
#define TS_NVTX_CUDART(X)     \
	X(NameCudaDeviceA, 1) \
	X(NameCudaDeviceW, 2) \
	X(NameCudaStreamA, 3) \
	X(NameCudaStreamW, 4) \
	X(NameCudaEventA, 5)  \
	X(NameCudaEventW, 6)

/*
 * A function of any type; a module's table: for each id, the address of the pointer to its
 * function; NULL for id 0.
 */
typedef void (*ts_nvtx_function)(void);
typedef ts_nvtx_function **ts_nvtx_table;

#define TS_NVTX_ETID_CALLBACKS	 1
#define TS_NVTX_ETID_VERSIONINFO 3

/* Argument of the tool's InitializeInjectionNvtx2(): returns the table with that id, or NULL. */
typedef const void *(*ts_nvtx_get_export_table_fn)(uint32_t table);

/* Returns 1 and the number of ids, 0 included; returns 0 if the instance lacks the module. */
typedef int (*ts_nvtx_get_table_fn)(uint32_t module, ts_nvtx_table *ret_table, unsigned *ret_n);
typedef void (*ts_nvtx_set_version_fn)(uint32_t version);

struct ts_nvtx_callbacks {
	size_t struct_size;
	ts_nvtx_get_table_fn get_module_function_table;
};

struct ts_nvtx_version_info {
	size_t struct_size;
	uint32_t version; /* of the program's NVTX */
	uint32_t reserved0;
	ts_nvtx_set_version_fn set_injection_nvtx_version;
};

#define TS_NVTX_COLOR_UNKNOWN		    0
#define TS_NVTX_COLOR_ARGB		    1

#define TS_NVTX_MESSAGE_UNKNOWN		    0
#define TS_NVTX_MESSAGE_TYPE_ASCII	    1
#define TS_NVTX_MESSAGE_TYPE_UNICODE	    2 /* wchar_t */
#define TS_NVTX_MESSAGE_TYPE_REGISTERED	    3 /* result of the tool's RegisterString */

#define TS_NVTX_PAYLOAD_UNKNOWN		    0
#define TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 1
#define TS_NVTX_PAYLOAD_TYPE_INT64	    2
#define TS_NVTX_PAYLOAD_TYPE_DOUBLE	    3
#define TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 4
#define TS_NVTX_PAYLOAD_TYPE_INT32	    5
#define TS_NVTX_PAYLOAD_TYPE_FLOAT	    6

union ts_nvtx_payload {
	uint64_t ull_value;
	int64_t ll_value;
	double d_value;
	uint32_t ui_value;
	int32_t i_value;
	float f_value;
};

union ts_nvtx_message {
	const char *ascii;
	const wchar_t *unicode;
	const void *registered;
};

struct ts_nvtx_event_attributes {
	uint16_t version;
	uint16_t size; /* size of the structure in the NVTX version of the program */
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved0;
	union ts_nvtx_payload payload;
	int32_t message_type;
	union ts_nvtx_message message;
};

/* A resource's type: its class above 16 bits of number. */
#define TS_NVTX_RESOURCE_TYPE_UNKNOWN		    0
#define TS_NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE (1 << 16 | 3)
#define TS_NVTX_RESOURCE_TYPE_CUDA_DEVICE	    (4 << 16 | 1)
#define TS_NVTX_RESOURCE_TYPE_CUDA_CONTEXT	    (4 << 16 | 2)
#define TS_NVTX_RESOURCE_TYPE_CUDA_STREAM	    (4 << 16 | 3)
#define TS_NVTX_RESOURCE_TYPE_CUDA_EVENT	    (4 << 16 | 4)
#define TS_NVTX_RESOURCE_TYPE_CUDART_DEVICE	    (5 << 16 | 0)
#define TS_NVTX_RESOURCE_TYPE_CUDART_STREAM	    (5 << 16 | 1)
#define TS_NVTX_RESOURCE_TYPE_CUDART_EVENT	    (5 << 16 | 2)

union ts_nvtx_identifier {
	const void *p_value;
	uint64_t ull_value;
};

struct ts_nvtx_resource_attributes {
	uint16_t version;
	uint16_t size;
	int32_t identifier_type;
	union ts_nvtx_identifier identifier;
	int32_t message_type;
	union ts_nvtx_message message;
};
