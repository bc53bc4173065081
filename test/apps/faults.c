/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults FAULT: makes one mistake for `tsctl replay` to find, and checks no result.
 * test/integration/test-check.py runs it. FAULT is:
 *
 *	none       no mistake
 *	race       a race in shared memory
 *	unwritten  a kernel reads memory that was never written
 *	streams    two streams write the same memory without waiting
 *	host       the host changes memory during a copy from it
 *	bounds     a write past the end of an allocation; the program ends with the driver's error
 *	sum        a sum of floats by atomics: the result depends on the order
 *	stray      a write past the end of an allocation, into another allocation
 *	call       no mistake; the last kernel calls a function
 */
#include <stdio.h>
#include <string.h>

#include "test/apps/gpu.h"

#define N	256u
#define N_BYTES (N * sizeof(uint32_t))

/*
 * Each kernel has one parameter, a pointer to N words. At its start the address of the thread's own
 * word is in %rd3 (global) and %r3 (shared).
 */
#define KERNEL(name, body)                                                                  \
	".visible .entry " name "(.param .u64 p)\n{\n"                                      \
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.shared .align 4 .b8 words_" name "[1024];\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"       \
	"add.s64 %rd3, %rd1, %rd2;\ncvt.u32.u64 %r2, %rd2;\nmov.u32 %r4, words_" name ";\n" \
	"add.u32 %r3, %r4, %r2;\nxor.b32 %r5, %r2, 512;\nadd.u32 %r5, %r4, %r5;\n" body     \
	"ret;\n}\n"
/* A called function, for a debugger that steps out of it. */
#define PLUS                                                                     \
	".func (.param .b32 sum) plus(.param .b32 value)\n{\n.reg .b32 %r<3>;\n" \
	"ld.param.u32 %r1, [value];\nadd.u32 %r2, %r1, 7;\n"                     \
	"st.param.b32 [sum], %r2;\nret;\n}\n"
#define CALL                                                                             \
	"ld.global.u32 %r6, [%rd3];\n{\n.param .b32 value;\n.param .b32 sum;\n"          \
	"st.param.b32 [value], %r6;\ncall.uni (sum), plus, (value);\nld.param.b32 %r7, " \
	"[sum];\n}\nst.global.u32 [%rd3], %r7;\n"
#define TURN(barrier)                                      \
	".loc 1 20 1\nst.shared.u32 [%r3], %r1;\n" barrier \
	".loc 1 22 1\nld.shared.u32 %r6, [%r5];\n"         \
	"st.global.u32 [%rd3], %r6;\n"

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"turn.cu\"\n"
	".const .align 8 .b8 table[64];\n" PLUS KERNEL("turn", TURN("bar.sync 0;\n")) KERNEL(
		"turn_race", TURN("")) KERNEL("increase",
					      "ld.global.u32 %r6, [%rd3];\nadd.u32 %r6, %r6, 1;\n"
					      "st.global.u32 [%rd3], %r6;\n")
		KERNEL("spill", "st.global.u32 [%rd3+4], %r1;\n")
			KERNEL("sum", "cvt.rn.f32.u32 %r6, %r1;\nadd.f32 %r6, %r6, 0f3F800000;\n"
				      "rcp.rn.f32 %r6, %r6;\nred.global.add.f32 [%rd1], %r6;\n")
				KERNEL("added", CALL)
					KERNEL("stray", "st.global.u32 [%rd3+1024], %r1;\n");

enum kernel {
	TURN_WELL,
	TURN_RACE,
	INCREASE,
	SPILL,
	SUM,
	ADDED,
	STRAY
};

static const char *const names[] = {"turn", "turn_race", "increase", "spill",
				    "sum",  "added",	 "stray",    NULL};
static const struct gpu_code code = {.names = names, .ptx = ptx, .capability = 70};

static void launch(enum kernel kernel, uint32_t *words, struct gpu_stream stream)
{
	const struct gpu_shape shape = {{1, 1, 1}, {N, 1, 1}, 0};
	void *arguments[] = {&words};

	gpu_launch(kernel, shape, arguments, stream);
}

int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "none";
	struct gpu_stream first, second;
	uint32_t *words, *more, *pinned;
	void *event;

	gpu_open(&code);
	first = gpu_stream_create(false);
	second = gpu_stream_create(false);
	event = gpu_event_create();
	words = gpu_malloc(N_BYTES);
	more = gpu_malloc(N_BYTES);
	pinned = gpu_host_malloc(N_BYTES);
	memset(pinned, 1, N_BYTES);
	gpu_set(words, 0, N_BYTES);
	gpu_device_sync();
	launch(strcmp(fault, "race") ? TURN_WELL : TURN_RACE, words, first);
	if (strcmp(fault, "streams")) {
		gpu_event_record(event, first);
		gpu_stream_wait(second, event);
	}
	launch(INCREASE, words, second);
	gpu_h2d_async(more, pinned, N_BYTES, first);
	if (strcmp(fault, "host"))
		gpu_stream_sync(first);
	memset(pinned, 2, N_BYTES);
	if (strcmp(fault, "unwritten"))
		gpu_h2d_async(more, pinned, N_BYTES, first);
	else
		more = gpu_malloc(N_BYTES);
	launch(!strcmp(fault, "bounds")	 ? SPILL
	       : !strcmp(fault, "sum")	 ? SUM
	       : !strcmp(fault, "call")	 ? ADDED
	       : !strcmp(fault, "stray") ? STRAY
					 : INCREASE,
	       strcmp(fault, "stray") ? more : words, first);
	gpu_device_sync();
	printf("faults: %s\n", fault);
	return gpu_close();
}
