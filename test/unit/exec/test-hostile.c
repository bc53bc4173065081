/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays captures with false contents. Each is refused with a reason, or acts only within the
 * device's limits. No capture changes other memory of this process: the tests check the page
 * `secret`, and sanitizer builds check every access.
 */
#include "test/unit/exec/program.h"

#include "replay/exec/exec-objects.h"

/* Memory that a hostile capture tries to reach. */
static uint8_t secret[4096];

#define SHARED UINT64_C(0x7f2345670000)
static uint8_t spin_bytes[32768];

static void refused(struct maker *maker, const char *why)
{
	struct ts_sbt_reader *reader = maker_finish(maker);
	struct ts_exec_report report = program_run(reader);

	ts_check_int(report.refused, maker->sequence);
	if (!strstr(report.text, why))
		ts_check_str(report.text, why);
	for (size_t i = 0; i < sizeof(secret); i++)
		ts_check_int(secret[i], 0);
	ts_sbt_reader_free(reader);
}

/* This process's own memory is not device memory, so copies to it and from it are refused. */
TS_TEST(copies_to_and_from_this_process)
{
	struct ts_row_operation row = maker_copy(64, TS_OPERATION_SRC_HOST);
	struct maker maker;
	uint8_t bytes[64] = {1};

	maker_init(&maker);
	maker_begin(&maker);
	row.dst = (uint64_t)(uintptr_t)secret;
	row.content = maker_blob(&maker, bytes, sizeof(bytes));
	maker_put(&maker, row);
	refused(&maker, "outside of allocated memory");

	maker_init(&maker);
	maker_begin(&maker);
	row = maker_copy(64, TS_OPERATION_DST_HOST);
	row.src = (uint64_t)(uintptr_t)secret;
	maker_put(&maker, row);
	refused(&maker, "outside of allocated memory");

	maker_init(&maker);
	maker_begin(&maker);
	row = maker_copy(64, 0);
	row.src = BUFFER;
	row.dst = (uint64_t)(uintptr_t)secret;
	maker_put(&maker, row);
	refused(&maker, "outside of allocated memory");

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = (uint64_t)(uintptr_t)secret, .bytes = 16,
	    .height = 1, .src = 4, .value = 5, .stream_handle = STREAM);
	refused(&maker, "outside of allocated memory");

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_HOST_WRITE, .dst = (uint64_t)(uintptr_t)secret,
	    .bytes = 64, .content = maker_blob(&maker, bytes, sizeof(bytes)));
	refused(&maker, "outside of allocated memory");
}

/* An allocation at an address that this process uses is still separate device memory. */
TS_TEST(an_allocation_over_this_process)
{
	struct ts_row_operation row = maker_copy(64, TS_OPERATION_SRC_HOST);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint8_t bytes[64];

	memset(bytes, 7, sizeof(bytes));
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = (uint64_t)(uintptr_t)secret,
	    .bytes = sizeof(secret));
	row.dst = (uint64_t)(uintptr_t)secret;
	row.content = maker_blob(&maker, bytes, sizeof(bytes));
	maker_put(&maker, row);
	row = maker_copy(64, TS_OPERATION_DST_HOST);
	row.src = (uint64_t)(uintptr_t)secret;
	row.content = maker_blob(&maker, bytes, sizeof(bytes));
	maker_put(&maker, row);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	for (size_t i = 0; i < sizeof(secret); i++)
		ts_check_int(secret[i], 0);
	ts_sbt_reader_free(reader);
}

/* Freed memory is no device memory, so a copy from it and a second free are refused. */
TS_TEST(after_a_free)
{
	struct ts_row_operation row = maker_copy(64, TS_OPERATION_DST_HOST);
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER, .flags = TS_OPERATION_ASYNC,
	    .stream_handle = STREAM);
	row.src = BUFFER;
	maker_put(&maker, row);
	refused(&maker, "outside of allocated memory");

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER);
	PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER);
	refused(&maker, "is not the start of an allocation");
}

/*
 * Queues a copy in the second context after a slow kernel. The copy writes to memory of the first
 * context.
 */
static void queue_behind_a_kernel(struct maker *maker, uint32_t device)
{
	struct ts_row_operation row = maker_copy(sizeof(spin_bytes), TS_OPERATION_SRC_HOST);

	maker_init(maker);
	maker_begin(maker);
	PUT(maker, .kind = TS_OPERATION_ALLOC, .dst = SHARED, .bytes = sizeof(spin_bytes));
	maker->context = 2;
	PUT(maker, .kind = TS_OPERATION_CONTEXT_CREATE, .object = 0xbeef, .device = device);
	PUT(maker, .kind = TS_OPERATION_ALLOC, .dst = SHARED + (1u << 30), .bytes = 4 * N);
	maker_function(maker, SPIN, "spin");
	maker_launch(maker, SPIN, SHARED + (1u << 30), 300000);
	row.dst = SHARED;
	row.content = maker_blob(maker, spin_bytes, sizeof(spin_bytes));
	maker_put(maker, row);
	maker->context = CONTEXT;
}

/* A free waits for all operations that use the memory, on every context and device. */
TS_TEST(memory_that_goes_while_others_write_to_it)
{
	for (uint32_t device = 0; device < 2; device++)
		for (int with_context = 0; with_context < 2; with_context++) {
			struct ts_sbt_reader *reader;
			struct ts_exec_report report;
			struct maker maker;

			queue_behind_a_kernel(&maker, device);
			if (with_context)
				PUT(&maker, .kind = TS_OPERATION_CONTEXT_DESTROY);
			else
				PUT(&maker, .kind = TS_OPERATION_FREE, .dst = SHARED);
			reader = maker_finish(&maker);
			report = program_run(reader);
			ts_check_str(report.text, "");
			ts_check_int(report.n_operations, maker.sequence);
			ts_sbt_reader_free(reader);
		}
}

TS_TEST(sizes_that_overflow)
{
	static const uint64_t odd[] = {4 * N + 1, 3 * 4 * N, UINT64_MAX, UINT64_C(1) << 63,
				       UINT64_MAX / 2 + 3};
	struct maker maker;

	for (size_t i = 0; i < TS_ARRAY_LEN(odd); i++)
		for (unsigned field = 0; field < 5; field++) {
			struct ts_row_operation row = maker_copy(4 * N, 0);
			struct ts_sbt_reader *reader;

			row.bytes = field == 0 ? odd[i] : 4 * N;
			row.height = field == 1 ? odd[i] : 1 + (field == 3);
			row.depth = field == 2 ? odd[i] : 1;
			row.src_pitch = field == 3 ? odd[i] : row.src_pitch;
			row.src = field == 4 ? BUFFER + odd[i] : BUFFER;
			row.dst = BUFFER;
			maker_init(&maker);
			maker_begin(&maker);
			maker_put(&maker, row);
			reader = maker_finish(&maker);
			ts_check_int(program_run(reader).refused, maker.sequence);
			ts_sbt_reader_free(reader);
		}
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER + 8, .bytes = 8);
	refused(&maker, "is in use or invalid");
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = UINT64_MAX - 4096, .bytes = 8192);
	refused(&maker, "is in use or invalid");
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = UINT64_C(1) << 40,
	    .bytes = UINT64_C(1) << 46);
	refused(&maker, "the device is out of memory");
}

TS_TEST(kernels_out_of_bounds)
{
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, IS_VGPU ? SPILL : ADD, IS_VGPU ? BUFFER : NOWHERE, 1);
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
	refused(&maker, "a kernel faulted: ");

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, ADD, (uint64_t)(uintptr_t)secret, 1);
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
	refused(&maker, "a kernel faulted: ");
}

/* The virtual GPU has no clusters, and the sizes of some clusters exist nowhere. */
TS_TEST(launches_in_clusters)
{
	static const uint64_t sizes[] = {TS_OPERATION_CLUSTER(2, 1, 1),
					 TS_OPERATION_CLUSTER(16, 1, 1), UINT64_MAX};

	for (size_t i = 0; i < TS_ARRAY_LEN(sizes); i++) {
		struct maker maker;

		maker_init(&maker);
		maker_begin(&maker);
		PUT(&maker, .kind = TS_OPERATION_LAUNCH, .object = ADD, .stream_handle = STREAM,
		    .content = maker_blob(&maker, "argument.bytes", 12), .value = sizes[i],
		    .grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = N, .block_y = 1,
		    .block_z = 1);
		refused(&maker, "clusters of blocks");
	}
}

TS_TEST(launches_that_cannot_be)
{
	static const uint32_t odd[] = {0, 1025, 65536, UINT32_MAX};
	struct ts_sbt_reader *reader;
	struct maker maker;

	for (size_t i = 0; i < TS_ARRAY_LEN(odd); i++)
		for (unsigned field = 0; field < 7; field++) {
			struct ts_row_operation row = {
				.kind = TS_OPERATION_LAUNCH,
				.object = ADD,
				.stream_handle = STREAM,
				.grid_x = field == 0 ? (odd[i] ? UINT32_MAX - i : 0) : 1,
				.grid_y = field == 1 ? (odd[i] ? UINT32_MAX - i : 0) : 1,
				.grid_z = field == 2 ? (odd[i] ? UINT32_MAX - i : 0) : 1,
				.block_x = field == 3 ? odd[i] : 1,
				.block_y = field == 4 ? odd[i] : 1,
				.block_z = field == 5 ? odd[i] : 1,
				.shared_bytes = field == 6 ? UINT32_MAX - i : 0,
			};
			uint8_t arguments[12] = {0};

			maker_init(&maker);
			maker_begin(&maker);
			row.content = maker_blob(&maker, arguments, sizeof(arguments));
			maker_put(&maker, row);
			reader = maker_finish(&maker);
			ts_check_int(program_run(reader).refused, maker.sequence);
			ts_sbt_reader_free(reader);
		}
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_LAUNCH, .object = ADD, .stream_handle = STREAM,
	    .content = maker_blob(&maker, "short", 5), .grid_x = 1, .grid_y = 1, .grid_z = 1,
	    .block_x = 1, .block_y = 1, .block_z = 1);
	refused(&maker, "the arguments of the launch are too short");
}

TS_TEST(images)
{
	static const struct {
		uint32_t words[8];
		const char *why;
	} images[] = {
		{{0x466243b1, 1, 0x41414141, 0x41414141}, "a fatbin wrapper"},
		{{0xba55ed50, 0x00100001, 0x7fffffff, 0x7fffffff},
		 "longer than its captured bytes"},
		{{0xba55ed50, 0xffff0001, 8, 0}, "longer than its captured bytes"},
		/* ELF, with tables beyond its end. */
		{{0x464c457f, 0x00010102, 0, 0, 0x00be0002, 1, 0, 0x7fff},
		 "longer than its captured bytes"},
	};
	struct maker maker;

	for (size_t i = 0; i < TS_ARRAY_LEN(images); i++) {
		maker_init(&maker);
		PUT(&maker, .kind = TS_OPERATION_CONTEXT_CREATE);
		PUT(&maker, .kind = TS_OPERATION_MODULE_LOAD, .object = MODULE,
		    .content = maker_blob(&maker, images[i].words, sizeof(images[i].words)));
		refused(&maker, images[i].why);
	}
	maker_init(&maker);
	PUT(&maker, .kind = TS_OPERATION_CONTEXT_CREATE);
	PUT(&maker, .kind = TS_OPERATION_MODULE_LOAD, .object = MODULE, .content = 77);
	refused(&maker, "the trace lacks the operation's data");
}

/*
 * An operation of any kind with unknown handles is refused or has no effect, in an empty program
 * and after a whole one.
 */
/* Makes a bundle of one entry behind its head, and checks the reason why it is refused. */
static void check_bundle(uint64_t n_entries, uint64_t offset, uint64_t size, uint64_t id_bytes,
			 const char *code, const char *why)
{
	static const char id[] = "hip-ptx64-tracesmith--ptx";
	uint8_t bytes[256] = "__CLANG_OFFLOAD_BUNDLE__";
	const uint64_t words[] = {n_entries, offset, size, id_bytes};
	const struct ts_exec_content image = {.bytes = bytes, .n = 128};
	const char *got;

	memcpy(bytes + 24, words, sizeof(words));
	memcpy(bytes + 56, id, sizeof(id) - 1);
	strcpy((char *)bytes + 96, code);
	got = ts_exec_image_check(&image);
	if (why)
		ts_check_str(got, why);
	else
		ts_check(!got);
}

TS_TEST(bundles)
{
	static const char cut[] = "longer than its captured bytes";
	const uint8_t ccob[32] = {'C', 'C', 'O', 'B', 2, 0, 1, 0, 0xff, 0xff, 0xff, 0x7f};
	const struct ts_exec_content packed = {.bytes = (uint8_t *)(uintptr_t)ccob, .n = 32};
	struct ts_exec_content ptx;

	check_bundle(1, 96, 32, 25, ".version 7.0", NULL);
	check_bundle(1, 96, 33, 25, "", cut);
	check_bundle(1, UINT64_MAX, 2, 25, "", cut);
	check_bundle(1, 96, 32, UINT64_MAX, "", cut);
	check_bundle(UINT64_MAX, 96, 32, 25, "", cut);
	/* AMD's code inside, without its tables. */
	check_bundle(1, 96, 32, 25, "\177ELF", cut);
	ts_check_str(ts_exec_image_check(&packed), cut);
	ts_check(ts_exec_image_ptx(&packed, &ptx));
}

TS_TEST(handles_of_nothing)
{
	for (uint32_t kind = 0; kind < TS_OPERATION_COUNT + 3; kind++)
		for (int whole = 0; whole < 2; whole++) {
			struct ts_row_operation row = maker_copy(64, 0);
			struct ts_exec_report report;
			struct ts_sbt_reader *reader;
			struct maker maker;

			maker_init(&maker);
			if (whole)
				maker_begin(&maker);
			row.kind = kind;
			row.object = row.parent = row.stream_handle = 0x123456789;
			row.dst = row.src = BUFFER + 0x100000;
			row.device = 7;
			maker_put(&maker, row);
			reader = maker_finish(&maker);
			report = program_run(reader);
			ts_check(report.refused == maker.sequence || report.refused == 0);
			ts_sbt_reader_free(reader);
		}
}

/* A copy whose content does not match its hash is refused. */
TS_TEST(contents_that_are_not_what_they_say)
{
	struct ts_row_operation row = maker_copy(64, TS_OPERATION_SRC_HOST);
	uint8_t bytes[64] = {0};
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	row.dst = BUFFER;
	ts_check_int(ts_sbt_session_writer_add_blob(maker.session, bytes, sizeof(bytes), 0,
						    (uint64_t[]){1, 2}, &row.content),
		     0);
	maker_put(&maker, row);
	refused(&maker, "the data are damaged");
}

/*
 * A variable is requested again and again, and in ever more contexts: memory and search time do not
 * grow.
 */
TS_TEST(variables_asked_for_again)
{
	enum {
		ASKED = 1000
	};
	struct ts_exec_variables variables = {0};
	struct ts_state_map handles = {0};
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint32_t name;

	maker_init(&maker);
	maker_begin(&maker);
	name = maker_string(&maker, "counter");
	for (uint32_t context = CONTEXT; context <= ASKED; context++) {
		maker.context = context;
		for (uint64_t i = 0; i < (context == CONTEXT ? ASKED : 2); i++)
			PUT(&maker, .kind = TS_OPERATION_VARIABLE, .parent = MODULE, .name = name,
			    .dst = BUFFER + context * 1000 + i);
		ts_check_int(ts_state_map_set(&handles, TS_EXEC_HANDLE_CONTEXT, context, context),
			     0);
	}
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_variables_init(&variables, program), 0);
	ts_check_int(variables.n, ASKED);
	for (uint32_t context = CONTEXT; context <= 100; context++)
		ts_check_int(ts_exec_variables_find(&variables, &handles, 0, context, "counter"),
			     BUFFER + context * 1000);
	ts_check_int(ts_exec_variables_find(&variables, &handles, 0, ASKED, "counter"), 0);
	ts_check_int(ts_exec_variables_find(&variables, &handles, 0, CONTEXT, "count"), 0);
	ts_check_int(ts_exec_variables_find(&variables, &handles, 1, CONTEXT, "counter"), 0);
	free(variables.all);
	ts_state_map_deinit(&handles);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/*
 * Operations have random values in every column. The replay ends, and accesses no memory of this
 * process besides the replay's own allocations.
 */
TS_TEST(chance)
{
	/* Selects all operations but the first and the last few. */
	const struct ts_exec_query query = {.has_ops = true, .first_op = 104, .last_op = 120};
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < 300; i++) {
		struct ts_exec_report report;
		struct ts_sbt_reader *reader;
		struct maker maker;

		maker_init(&maker);
		maker_begin(&maker);
		for (int j = 0; j < 20; j++) {
			static const uint64_t some[] = {0,	1,	2,   64,	 4 * N,
							BUFFER, MODULE, ADD, UINT64_MAX, STREAM};
			struct ts_row_operation row = {0};
			uint64_t *words = (uint64_t *)(void *)&row;

			for (size_t w = 0; w < sizeof(row) / 8; w++) {
				state ^= state << 13;
				state ^= state >> 7;
				state ^= state << 17;
				words[w] = some[state % TS_ARRAY_LEN(some)];
			}
			row.kind = (uint32_t)(state >> 32) % TS_OPERATION_COUNT;
			row.content = (uint32_t)(state >> 40) % 3;
			row.flags &= 0x1ff;
			row.thread = 0;
			row.name = (uint32_t)(state >> 20) % 3;
			/*
			 * Limits the grid, because a kernel with many more blocks would run too
			 * long.
			 */
			row.grid_x &= 0xff;
			row.grid_y &= 1;
			row.grid_z &= 1;
			maker_put(&maker, row);
		}
		reader = maker_finish(&maker);
		report = program_run_with(reader, (uint64_t)i % 4, i & 8 ? &query : NULL);
		ts_check(report.refused <= maker.sequence);
		for (size_t b = 0; b < sizeof(secret); b++)
			ts_check_int(secret[b], 0);
		ts_sbt_reader_free(reader);
	}
}
