/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the replay over the driver's interface: memory that cannot have its old address, reports
 * that use the old address, staged copies, and handles that end with their context.
 */
#include "test/unit/exec/program.h"

#define GRANULE (UINT64_C(2) << 20)

static struct ts_exec_report run(struct maker *maker)
{
	struct ts_sbt_reader *reader = maker_finish(maker);
	struct ts_exec_report report = program_run(reader);

	ts_sbt_reader_free(reader);
	return report;
}

static bool has_note(const struct ts_exec_report *report, const char *text)
{
	for (uint32_t i = 0; i < report->notes.n; i++)
		if (strstr(report->notes.texts[i], text))
			return true;
	return false;
}

static void same(const struct ts_exec_report *report, uint64_t n_checks)
{
	ts_check_str(report->text, "");
	ts_check(!report->capture.found);
	ts_check_int(report->n_checks, n_checks);
}

TS_TEST(where_it_was)
{
	struct ts_exec_report report;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, ADD, BUFFER, 3);
	maker_read(&maker, 8);
	report = run(&maker);
	same(&report, 1);
	ts_check_int(report.notes.n, 0);
	ts_check(strstr(report.notes.device, "CUDA ") != NULL);
}

/*
 * The buffer's old address is in use in this process: kernels get the new address, and contents
 * that come back have the old address.
 */
TS_TEST(elsewhere)
{
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST);
	struct ts_exec_report report;
	struct maker maker;
	uint32_t words[N];
	void *taken =
		mmap(NULL, 2 * GRANULE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t address = (uint64_t)(uintptr_t)taken + 512;
	uint64_t pointers[] = {address + 16, BUFFER, address + 4 * N + 1};

	ts_check(taken != MAP_FAILED);
	for (size_t i = 0; i < N; i++)
		words[i] = i < 2 ? (uint32_t)i : 7;
	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = address, .bytes = 4 * N);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = address, .bytes = N, .height = 1, .src = 4,
	    .value = 3, .stream_handle = STREAM);
	maker_launch(&maker, ADD, address, 4);
	row.src = address;
	for (size_t i = 0; i < N; i++)
		words[i] = 7;
	row.content = maker_blob(&maker, words, sizeof(words));
	maker_put(&maker, row);
	/*
	 * One word of the content is an address inside the content: the replay does not change it.
	 */
	row = maker_copy(sizeof(pointers), TS_OPERATION_SRC_HOST);
	row.dst = BUFFER;
	row.content = maker_blob(&maker, pointers, sizeof(pointers));
	maker_put(&maker, row);
	row = maker_copy(sizeof(pointers), TS_OPERATION_DST_HOST);
	row.src = BUFFER;
	row.content = maker_blob(&maker, pointers, sizeof(pointers));
	maker_put(&maker, row);
	PUT(&maker, .kind = TS_OPERATION_FREE, .dst = address);
	report = run(&maker);
	same(&report, 2);
	ts_check(has_note(&report, "this process already uses that address"));
	ts_check(has_note(&report, "1 words of kernel arguments"));
	ts_check(has_note(&report, "1 words of data copied"));
	for (size_t i = 0; i < 2 * GRANULE; i++)
		ts_check_int(((uint8_t *)taken)[i], 0);
	munmap(taken, 2 * GRANULE);
}

/*
 * Neighbouring allocations share granules. The replay allocates a granule with its first
 * allocation, and frees it with the last one. A later allocation spans the place of former ones.
 */
TS_TEST(neighbours)
{
	struct ts_exec_report report;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 1; i < 20; i++)
			PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER + i * 300000,
			    .bytes = 300000 - (i == 1 ? 0 : i));
		for (uint64_t i = 1; i < 20; i += 2)
			PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER + i * 300000);
		maker_launch(&maker, ADD, BUFFER + 2 * 300000, 1);
		for (uint64_t i = 2; i < 20; i += 2)
			PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER + i * 300000);
		PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER + 4096, .bytes = 3 * GRANULE);
		maker_launch(&maker, ADD, BUFFER + 4096 + 2 * GRANULE, 1);
		PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER + 4096);
	}
	maker_read(&maker, 5);
	report = run(&maker);
	same(&report, 1);
	ts_check_int(report.n_memory, 1);
	ts_check_int(report.notes.n, 0);
}

#define PIECE (UINT64_C(1) << 16)
#define LARGE (320 * PIECE)

/* Adds a content of n pieces, each filled with the same value. */
static uint32_t content(struct maker *maker, uint8_t value, uint32_t n)
{
	uint8_t *piece = malloc(PIECE);
	struct ts_hash128 hash;
	uint32_t list[LARGE / PIECE], blob;

	memset(piece, value, PIECE);
	for (uint32_t i = 0; i < n; i++)
		list[i] = maker_blob(maker, piece, PIECE);
	free(piece);
	hash = ts_hash128(list, n * sizeof(*list));
	ts_check_int(ts_sbt_session_writer_add_blob(maker->session, list,
						    n * (uint32_t)sizeof(*list), TS_BLOB_LIST,
						    (uint64_t[]){hash.a, hash.b}, &blob),
		     0);
	return blob;
}

/*
 * Copies more bytes than the staging buffer has, in pieces and in one copy, while a kernel delays
 * the stream of the copies.
 */
TS_TEST(much_that_is_staged)
{
	struct ts_row_operation in, out;
	struct ts_exec_report report;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_function(&maker, SPIN, "spin");
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER + GRANULE, .bytes = LARGE);
	for (uint32_t i = 0; i < 9; i++) {
		const uint32_t n = (uint32_t)(LARGE / PIECE) / (i == 8 ? 1 : 4);

		maker_launch(&maker, SPIN, BUFFER, 1000);
		in = maker_copy(n * PIECE, TS_OPERATION_SRC_HOST | TS_OPERATION_ASYNC);
		in.dst = BUFFER + GRANULE + (i < 8 ? i % 4 * (LARGE / 4) : 0);
		in.content = content(&maker, (uint8_t)(i + 1), n);
		maker_put(&maker, in);
		out = maker_copy(n * PIECE, TS_OPERATION_DST_HOST);
		out.src = in.dst;
		out.content = in.content;
		if (i % 4 == 3 || i == 8)
			maker_put(&maker, out);
	}
	report = run(&maker);
	same(&report, 3);
}

/* A context's objects end with it; a later destroy of such an object does no harm. */
TS_TEST(a_context_that_ends)
{
	struct ts_exec_report report;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker.context = 2;
	PUT(&maker, .kind = TS_OPERATION_CONTEXT_CREATE, .object = 0xbeef, .device = 1);
	PUT(&maker, .kind = TS_OPERATION_STREAM_CREATE, .object = 0x77);
	PUT(&maker, .kind = TS_OPERATION_EVENT_CREATE, .object = 0x88);
	PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = 0x88, .stream_handle = 0x77);
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER + GRANULE, .bytes = 4 * N);
	maker_launch(&maker, ADD, BUFFER + GRANULE, 1);
	PUT(&maker, .kind = TS_OPERATION_CONTEXT_DESTROY);
	PUT(&maker, .kind = TS_OPERATION_EVENT_DESTROY, .object = 0x88);
	maker.context = CONTEXT;
	maker_read(&maker, 5);
	report = run(&maker);
	same(&report, 1);
	ts_check_int(report.n_memory, 1);

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_STREAM_CREATE, .object = 0x77);
	PUT(&maker, .kind = TS_OPERATION_CONTEXT_DESTROY);
	PUT(&maker, .kind = TS_OPERATION_STREAM_DESTROY, .object = 0x77);
	report = run(&maker);
	ts_check_str(report.text, "the stream does not exist");
}

/*
 * The kernel has 2^32 rounds, which take longer than any test may. The replay ends at its time
 * limit, and begins no later operation.
 */
TS_TEST(a_kernel_that_is_left)
{
	/* The kernel must begin within the limit. */
	const struct ts_exec_options options = {.n_threads = 1,
						.time_ns = ts_emulated() ? 3000000000 : 100000000};
	struct ts_exec_results results = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_function(&maker, SPIN, "spin");
	maker_launch(&maker, SPIN, BUFFER, 0);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	for (size_t i = 0; i < program->n; i++)
		program->operations[i].block_x = 1;
	ts_check(!ts_exec_cuda_is_left());
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, NULL, &results, &report), 0);
	ts_check(ts_exec_cuda_is_left());
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, NULL, &results, &report),
		     TS_EXEC_E_REFUSED);
	ts_check(strstr(report.text, "still runs") != NULL);
	ts_exec_results_deinit(&results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
	/* Exits like tsctl: the driver's cleanup would wait for the kernel. */
	_exit(0);
}
