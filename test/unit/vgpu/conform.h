/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the conformance suite: tests of any libcuda.so.1 and libcudart.so.13. A test
 * includes the header that conform.py makes, which includes this one. The test calls the vendor's
 * functions by their names; each is looked up in the library that the loader finds. With
 * CONFORM_PER_THREAD, each function is the form whose default stream is the thread's own.
 *
 *	CONFORM(name) { ok(cuInit(0)); want(ERROR_INVALID_DEVICE, cuDeviceGet(&d, 99)); }
 *
 * A test of the virtual GPU's own promises begins with only_virtual("why"). refuses() is want() for
 * a single call that crashes or hangs in the vendor's library: only the virtual GPU is tested.
 */
#pragma once

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_runtime.h"
#include "test/unit/harness.h"

/* The handle of the cuIpc functions, passed by value. */
struct ipc_handle {
	char bytes[64];
};

/* The virtual GPU knows this table, the vendor's driver does not. */
static const struct ts_cu_uuid conform_ours = {"TSvgpuK\x1d\x1e\x31\x27\x44\x0b\x72\x6d\x58"};

static inline void *conform_library(const char *name)
{
	bool runtime = !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6);
	void *library = dlopen(runtime ? "libcudart.so.13" : "libcuda.so.1", RTLD_NOW);

	if (!library)
		ts_skip(dlerror());
	return library;
}

static inline void *conform_find(const char *name)
{
	void *library = conform_library(name), *found = NULL;
#ifdef CONFORM_PER_THREAD
	char form[96];

	snprintf(form, sizeof(form), "%s_ptsz", name);
	found = dlsym(library, form);
	snprintf(form, sizeof(form), "%s_ptds", name);
	found = found ? found : dlsym(library, form);
#endif
	found = found ? found : dlsym(library, name);
	if (!found) {
		fprintf(stderr, "skipped: no %s in this library\n", name);
		exit(TS_TEST_SKIPPED);
	}
	return found;
}

static inline bool conform_virtual(void)
{
	int (*get)(const void **, const struct ts_cu_uuid *) =
		dlsym(conform_library("cuInit"), "cuGetExportTable");
	const void *table = NULL;

	return get && !get(&table, &conform_ours) && table;
}

static inline void only_virtual(const char *why)
{
	if (!conform_virtual())
		ts_skip(why);
}

/* Continues after a mismatch, so that a run with another driver shows all differences. */
static int conform_n_wrong;

static inline void conform_check(const char *file, int line, const char *call, int got, int want)
{
	if (got == want)
		return;
	fprintf(stderr, "%s:%d: %s is %d, not %d\n", file, line, call, got, want);
	conform_n_wrong++;
}

/* A call that crashes another driver is reported, and the test continues after it. */
static sigjmp_buf conform_before;
static volatile sig_atomic_t conform_calling;

/*
 * Time limits with another driver. A library that crashed may keep its locks, and later calls then
 * wait for ever.
 */
#define CONFORM_SECONDS		    30
#define CONFORM_SECONDS_AFTER_CRASH 5

static inline void conform_crashed(int signal)
{
	static const char unchecked[] = "a call that no line checks crashes\n";

	(void)signal;
	alarm(CONFORM_SECONDS_AFTER_CRASH);
	if (conform_calling)
		siglongjmp(conform_before, 1);
	(void)!write(STDERR_FILENO, unchecked, sizeof(unchecked) - 1);
	_exit(139);
}

static inline void conform_tell_crash(const char *file, int line, const char *call)
{
	fprintf(stderr, "%s:%d: %s crashes\n", file, line, call);
	conform_n_wrong++;
}

#define conform_call(code, call)                                                            \
	do {                                                                                \
		conform_calling = 1;                                                        \
		if (sigsetjmp(conform_before, 1))                                           \
			conform_tell_crash(__FILE__, __LINE__, #call);                      \
		else                                                                        \
			conform_check(__FILE__, __LINE__, #call, call, CONFORM_CODE(code)); \
		conform_calling = 0;                                                        \
	} while (0)
#define want(code, call) conform_call(code, call)
#define ok(call)	 conform_call(SUCCESS, call)
#define refuses(code, call)               \
	do {                              \
		if (conform_virtual())    \
			want(code, call); \
	} while (0)
/* For calls without a result code: the lines that follow check their effect. */
#define done(call) (call)

/* Like TS_TEST, but the vendor's driver may keep files open. */
#define CONFORM(name_)                                     \
	static void conform_run_##name_(void);             \
	TS_TEST(name_)                                     \
	{                                                  \
		if (!conform_virtual()) {                  \
			signal(SIGSEGV, conform_crashed);  \
			alarm(CONFORM_SECONDS);            \
		}                                          \
		conform_run_##name_();                     \
		if (conform_n_wrong || ts_test_has_failed) \
			exit(1);                           \
		if (!conform_virtual())                    \
			exit(0);                           \
	}                                                  \
	static void conform_run_##name_(void)

/* Calls a function by its address with zeros, enough for every signature. */
static inline int conform_call_zeros(void *function)
{
	typedef int any(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

	return ((any *)function)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static inline uint64_t conform_at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/*
 * Kernels: fill (out[thread] = value), empty. Variables: answer (42), managed (of host and device).
 */
static const char conform_ptx[] __attribute__((unused)) =
	".version 8.0\n.target sm_75\n.address_size 64\n"
	".visible .global .align 4 .u32 answer = 42;\n"
	".visible .entry fill(.param .u64 out, .param .u32 value)\n.maxntid 256, 1, 1\n{\n"
	".reg .b32 %r<3>; .reg .b64 %d<4>;\n"
	"ld.param.u64 %d1, [out]; ld.param.u32 %r1, [value]; cvta.to.global.u64 %d1, %d1;\n"
	"mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2;\n"
	"st.global.u32 [%d3], %r1; ret;\n}\n"
	".visible .entry empty()\n{\nret;\n}\n";

/*
 * PTX as nvcc embeds it in programs: the same bytes as "fatbinary --64 --compress=false
 * --image3=kind=ptx,sm=75,file=..." of CUDA 13.0 writes. The vendor's driver follows the offset of
 * the options without a check.
 */
struct conform_fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* behind these 16 bytes */
	uint16_t kind, entry_version;
	uint32_t entry_header_bytes;
	uint64_t payload_bytes;
	uint32_t compressed_bytes, options_at; /* options_at: place of options_off in the entry */
	uint16_t ptx_minor, ptx_major;
	uint32_t cc, name_off, name_bytes;
	uint64_t flags, zero, uncompressed_bytes;
	uint64_t options_off; /* offset in the entry */
	char options[8];
	char ptx[1024];
};

_Static_assert(offsetof(struct conform_fatbin, kind) == 16, "as loaders read it");
_Static_assert(offsetof(struct conform_fatbin, cc) == 16 + 28, "as loaders read it");
_Static_assert(offsetof(struct conform_fatbin, options_off) == 16 + 64, "as loaders read it");
_Static_assert(offsetof(struct conform_fatbin, ptx) == 16 + 80, "as loaders read it");
_Static_assert(sizeof(conform_ptx) <= 1024, "it fits");

static inline void conform_fatbin(struct conform_fatbin *fatbin, const char *ptx)
{
	/* At least one zero ends the text; its size is a multiple of 8. */
	size_t bytes = (strlen(ptx) + 8) / 8 * 8;

	ts_check(bytes <= sizeof(fatbin->ptx));
	*fatbin = (struct conform_fatbin){
		.magic = 0xba55ed50,
		.version = 1,
		.header_bytes = 16,
		.bytes = 80 + bytes,
		.kind = 1,
		.entry_version = 0x101,
		.entry_header_bytes = 80,
		.payload_bytes = bytes,
		.options_at = 64,
		.ptx_major = 8,
		.cc = 75,
		.flags = 0x11,
		.options_off = 72,
	};
	strcpy(fatbin->ptx, ptx);
}

/* __fatBinC_Wrapper_t of the vendor's fatbinary_section.h, version 1. */
struct conform_wrapper {
	uint32_t magic, version;
	const void *data;
	void *file_name;
};

#define CONFORM_WRAPPER(fatbin_)               \
	{                                      \
		0x466243b1, 1, (fatbin_), NULL \
	}
