/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artificial captures for tests: a maker puts operations one after the other, like a program's, and
 * an executor replays them.
 */
#pragma once

#include "test/unit/harness.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "proto/abi/hash.h"
#include "replay/exec/exec.h"
#include "sbt/writer.h"

/*
 * The executor under test. The build compiles the tests once for each executor that runs kernels.
 */
#ifndef EXECUTOR
#define EXECUTOR ts_exec_vgpu
#endif
/*
 * True if the executor is the virtual GPU. A driver differs from it: it allocates whole granules,
 * hides the memory of variables, and chooses the addresses of variables.
 */
#define IS_VGPU (!strcmp(EXECUTOR.name, "vgpu"))
#define NOWHERE UINT64_C(0x10000)

#define CONTEXT 1u
#define MODULE	0x1000u
#define STREAM	TS_OPERATION_STREAM_LEGACY
#define ADD	0x2000u
#define CLOCK	0x2001u
#define SPILL	0x2002u
#define SPIN	0x2003u
#define BUFFER	UINT64_C(0x7f1234560000)
#define N	256u

/*
 * add(p, x): p[i] += x. clock(p, x): p[i] = the clock. spill(p, x): writes x after p's 256 words.
 * spin(p, x): loops x times.
 */
#define KERNEL_HEAD(name)                                             \
	".visible .entry " name "(.param .u64 p, .param .u32 x)\n{\n" \
	"	.reg .b32 %r<6>;\n	.reg .b64 %rd<6>;\n"                     \
	"	ld.param.u64 %rd1, [p];\n	ld.param.u32 %r1, [x];\n"         \
	"	mov.u32 %r2, %tid.x;\n	mul.wide.u32 %rd2, %r2, 4;\n"        \
	"	add.s64 %rd3, %rd1, %rd2;\n"

static const char program_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 counter = 41;\n" KERNEL_HEAD(
		"add") "	ld.global.u32 %r3, [%rd3];\n	add.u32 %r3, %r3, %r1;\n"
		       "	st.global.u32 [%rd3], %r3;\n	ret;\n}\n" KERNEL_HEAD(
			       "clock") "	mov.u64 %rd4, %globaltimer;\n	cvt.u32.u64 %r4, %rd4;\n"
					"	st.global.u32 [%rd3], %r4;\n	ret;\n}\n" KERNEL_HEAD("spill") "	st.global.u32 [%rd3+1024], %r1;\n	ret;\n}\n" KERNEL_HEAD(
						"spin") "	.reg .pred %p1;\nagain:\n	sub.u32 %r1, %r1, 1;\n"
							"	setp.ne.u32 %p1, %r1, 0;\n	@%p1 bra again;\n"
							"	st.global.u32 [%rd3], %r1;\n	ret;\n}\n";

struct maker {
	int fd;
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint64_t sequence;
	uint32_t context; /* for the next operation */
};

static inline void maker_init(struct maker *maker)
{
	struct ts_row_session session = {.pid = 42, .start_ns = 1000};

	*maker = (struct maker){.fd = memfd_create("capture", MFD_CLOEXEC), .context = CONTEXT};
	ts_check(maker->fd >= 0);
	ts_check_int(ts_sbt_writer_new(dup(maker->fd), &maker->writer), 0);
	ts_check_int(ts_sbt_session_writer_new(maker->writer, &session, &maker->session), 0);
}

static inline uint32_t maker_blob(struct maker *maker, const void *bytes, size_t n)
{
	struct ts_hash128 hash = ts_hash128(bytes, n);
	const uint64_t words[] = {hash.a, hash.b};
	uint32_t blob;

	ts_check_int(ts_sbt_session_writer_add_blob(maker->session, bytes, (uint32_t)n, 0, words,
						    &blob),
		     0);
	return blob;
}

static inline uint32_t maker_string(struct maker *maker, const char *text)
{
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(maker->writer, text, strlen(text), &id), 0);
	return id;
}

/* Returns the operation's sequence number. */
static inline uint64_t maker_put(struct maker *maker, struct ts_row_operation row)
{
	row.start_ns = 1000 + ++maker->sequence;
	row.sequence = maker->sequence;
	row.op_id = 100 + maker->sequence;
	row.context = maker->context;
	ts_check_int(ts_sbt_session_writer_add_row(maker->session, TS_ROW_OPERATION, &row), 0);
	return maker->sequence;
}

#define PUT(maker, ...) maker_put(maker, (struct ts_row_operation){__VA_ARGS__})

static inline void maker_function(struct maker *maker, uint64_t handle, const char *name)
{
	PUT(maker, .kind = TS_OPERATION_FUNCTION, .object = handle, .parent = MODULE,
	    .name = maker_string(maker, name));
}

/* Puts a context, the module and its functions, and a buffer of N words that are all 5. */
static inline void maker_begin(struct maker *maker)
{
	PUT(maker, .kind = TS_OPERATION_CONTEXT_CREATE, .object = 0xc0ffee);
	PUT(maker, .kind = TS_OPERATION_MODULE_LOAD, .object = MODULE,
	    .content = maker_blob(maker, program_ptx, sizeof(program_ptx)));
	maker_function(maker, ADD, "add");
	maker_function(maker, CLOCK, "clock");
	maker_function(maker, SPILL, "spill");
	PUT(maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER, .bytes = 4 * N);
	PUT(maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = N, .height = 1, .src = 4,
	    .value = 5, .stream_handle = STREAM);
}

static inline void maker_launch(struct maker *maker, uint64_t function, uint64_t p, uint32_t x)
{
	uint8_t arguments[12];

	memcpy(arguments, &p, 8);
	memcpy(arguments + 8, &x, 4);
	PUT(maker, .kind = TS_OPERATION_LAUNCH, .object = function, .stream_handle = STREAM,
	    .content = maker_blob(maker, arguments, sizeof(arguments)), .grid_x = 1, .grid_y = 1,
	    .grid_z = 1, .block_x = N, .block_y = 1, .block_z = 1);
}

static inline struct ts_row_operation maker_copy(uint64_t bytes, uint32_t flags)
{
	return (struct ts_row_operation){.kind = TS_OPERATION_COPY,
					 .stream_handle = STREAM,
					 .bytes = bytes,
					 .height = 1,
					 .depth = 1,
					 .dst_pitch = bytes,
					 .src_pitch = bytes,
					 .dst_slice = bytes,
					 .src_slice = bytes,
					 .flags = flags};
}

/* Reads the buffer back; each of its words was `value` at the capture. */
static inline uint64_t maker_read(struct maker *maker, uint32_t value)
{
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST);
	uint32_t words[N];

	for (size_t i = 0; i < N; i++)
		words[i] = value;
	row.src = BUFFER;
	row.dst = 0x5555000;
	row.content = maker_blob(maker, words, sizeof(words));
	return maker_put(maker, row);
}

/* Finishes the file and opens it. */
static inline struct ts_sbt_reader *maker_finish(struct maker *maker)
{
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	char path[64];
	int fd;

	ts_check_int(ts_sbt_session_writer_seal(maker->session, NULL, 0), 0);
	ts_sbt_session_writer_free(maker->session);
	ts_check_int(ts_sbt_writer_finish(maker->writer), 0);
	ts_sbt_writer_free(maker->writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", maker->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(fd >= 0);
	close(maker->fd);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), 0);
	close(fd);
	return reader;
}

/*
 * Replays the program once, one kernel after the other, with a checkpoint after each points_every
 * operations.
 */
static inline struct ts_exec_report program_run_with(struct ts_sbt_reader *reader,
						     uint64_t points_every,
						     const struct ts_exec_query *query)
{
	const struct ts_exec_options options = {.n_threads = 1, .points_every = points_every};
	struct ts_exec_results results = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;

	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	if (query)
		ts_check_int(ts_exec_program_select(program, query), 0);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, NULL, &results, &report), 0);
	ts_exec_results_deinit(&results);
	ts_exec_program_free(program);
	return report;
}

static inline struct ts_exec_report program_run(struct ts_sbt_reader *reader)
{
	return program_run_with(reader, 0, NULL);
}
