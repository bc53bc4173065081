/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs with unordered operations, or with host memory that changes during a copy, the
 * checker reports the operations. For corrected versions of these programs, the checker reports
 * nothing.
 */
#include "test/unit/exec/program.h"

#include "replay/check/check.h"
#include "replay/exec/checked.h"

#define FIRST  UINT64_C(0x10001)
#define SECOND UINT64_C(0x10002)
#define EVENT  UINT64_C(0x20001)
#define PINNED UINT64_C(0x7f1230000000)

struct bench {
	struct maker maker;
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct ts_check *check;
	const struct ts_check_finding *findings;
	size_t n;
};

static void bench_init(struct bench *b, uint32_t non_blocking)
{
	struct maker *maker = &b->maker;

	maker_init(maker);
	maker_begin(maker);
	PUT(maker, .kind = TS_OPERATION_STREAM_CREATE, .object = FIRST, .value = non_blocking);
	PUT(maker, .kind = TS_OPERATION_STREAM_CREATE, .object = SECOND, .value = non_blocking);
	PUT(maker, .kind = TS_OPERATION_EVENT_CREATE, .object = EVENT);
	PUT(maker, .kind = TS_OPERATION_ALLOC, .dst = PINNED, .bytes = 4 * N,
	    .flags = TS_OPERATION_MEMORY_PINNED);
	PUT(maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
}

static void bench_run(struct bench *b)
{
	struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_results results = {0};
	struct ts_exec_report report;

	ts_check_int(ts_check_new(TS_CHECK_ALL, &b->check), 0);
	options.check = b->check;
	b->reader = maker_finish(&b->maker);
	ts_check_int(ts_exec_program_new(b->reader, 1, &b->program), 0);
	ts_check_int(ts_exec_run(b->program, &ts_exec_vgpu, &options, NULL, NULL, &results,
				 &report),
		     0);
	ts_check_int(report.refused, 0);
	b->findings = ts_check_findings(b->check, &b->n);
	ts_exec_results_deinit(&results);
}

static void bench_deinit(struct bench *b)
{
	ts_check_free(b->check);
	ts_exec_program_free(b->program);
	ts_sbt_reader_free(b->reader);
}

static uint64_t add(struct maker *maker, uint64_t stream)
{
	const uint64_t p = BUFFER;
	const uint32_t x = 1;
	uint8_t arguments[12];

	memcpy(arguments, &p, 8);
	memcpy(arguments + 8, &x, 4);
	return PUT(maker, .kind = TS_OPERATION_LAUNCH, .object = ADD, .stream_handle = stream,
		   .content = maker_blob(maker, arguments, sizeof(arguments)), .grid_x = 1,
		   .grid_y = 1, .grid_z = 1, .block_x = N, .block_y = 1, .block_z = 1);
}

/* Copies N equal words from pinned memory. */
static uint64_t upload(struct maker *maker, uint64_t stream, uint32_t value)
{
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_SRC_HOST | TS_OPERATION_ASYNC);
	uint32_t words[N];

	for (size_t i = 0; i < N; i++)
		words[i] = value;
	row.stream_handle = stream;
	row.src = PINNED;
	row.dst = BUFFER;
	row.content = maker_blob(maker, words, sizeof(words));
	return maker_put(maker, row);
}

enum order {
	NOTHING,
	BY_EVENT,
	BY_EVENT_OF_BEFORE,
	BY_STREAM,
	BY_HOST,
	BY_LEGACY,
};

/* Launches the same kernel on the same words in two streams. */
static void two_streams(struct bench *b, enum order order, uint32_t non_blocking)
{
	struct maker *maker = &b->maker;

	bench_init(b, non_blocking);
	if (order == BY_EVENT_OF_BEFORE)
		PUT(maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
		    .stream_handle = FIRST);
	add(maker, FIRST);
	if (order == BY_EVENT)
		PUT(maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
		    .stream_handle = FIRST);
	if (order == BY_EVENT || order == BY_EVENT_OF_BEFORE)
		PUT(maker, .kind = TS_OPERATION_STREAM_WAIT, .object = EVENT,
		    .stream_handle = SECOND);
	if (order == BY_HOST)
		PUT(maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
		    .stream_handle = FIRST);
	if (order == BY_LEGACY)
		PUT(maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = 1, .height = 1,
		    .src = 4, .stream_handle = STREAM);
	add(maker, order == BY_STREAM ? FIRST : SECOND);
	bench_run(b);
}

TS_TEST(what_orders_streams)
{
	static const struct {
		enum order order;
		uint32_t non_blocking;
		bool found;
	} all[] = {
		{NOTHING, 0, true},
		{NOTHING, 1, true},
		{BY_EVENT, 0, false},
		{BY_EVENT, 1, false},
		{BY_EVENT_OF_BEFORE, 1, true},
		{BY_STREAM, 1, false},
		{BY_HOST, 1, false},
		{BY_LEGACY, 0, false},
		{BY_LEGACY, 1, true},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(all); i++) {
		struct bench b;

		two_streams(&b, all[i].order, all[i].non_blocking);
		if ((b.n != 0) != all[i].found)
			fprintf(stderr, "%zu: %zu findings\n", i, b.n);
		ts_check_int(b.n != 0, all[i].found);
		bench_deinit(&b);
	}
}

struct feeder {
	struct ts_check *check;
	uint64_t sequence;
};

static void feed(struct feeder *feeder, struct ts_row_operation row)
{
	row.sequence = row.op_id = ++feeder->sequence;
	row.context = 1;
	ts_check_int(ts_check_begin(feeder->check, &row), 0);
	ts_check_int(ts_exec_checked_record(feeder->check, &row, NULL), 0);
	ts_check_int(ts_check_done(feeder->check), 0);
}

#define FEED(feeder, ...) feed(feeder, (struct ts_row_operation){__VA_ARGS__})

/*
 * If there are more event records than the checker keeps, a wait still covers exactly the
 * operations before the record.
 */
TS_TEST(more_events_than_are_kept)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct feeder f = {0};
		size_t n;

		ts_check_int(ts_check_new(TS_CHECK_ORDER, &f.check), 0);
		FEED(&f, .kind = TS_OPERATION_STREAM_CREATE, .object = FIRST, .value = 1);
		FEED(&f, .kind = TS_OPERATION_STREAM_CREATE, .object = SECOND, .value = 1);
		FEED(&f, .kind = TS_OPERATION_ALLOC, .dst = BUFFER, .bytes = 64);
		for (uint64_t i = 0; i < 65536; i++)
			FEED(&f, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT + 1 + i,
			     .stream_handle = SECOND);
		if (is_late)
			FEED(&f, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
			     .stream_handle = FIRST);
		FEED(&f, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = 4, .height = 1,
		     .src = 4, .stream_handle = FIRST);
		if (!is_late)
			FEED(&f, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
			     .stream_handle = FIRST);
		FEED(&f, .kind = TS_OPERATION_STREAM_WAIT, .object = EVENT,
		     .stream_handle = SECOND);
		FEED(&f, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = 4, .height = 1,
		     .src = 4, .stream_handle = SECOND);
		(void)ts_check_findings(f.check, &n);
		ts_check_int(n, is_late);
		ts_check_free(f.check);
	}
}

TS_TEST(both_operations_are_named)
{
	struct bench b;

	two_streams(&b, NOTHING, 1);
	ts_check_int(b.n, 1);
	ts_check_int(b.findings[0].kind, TS_CHECK_FOUND_UNORDERED);
	ts_check_int(b.findings[0].access.sequence, b.maker.sequence);
	ts_check_int(b.findings[0].earlier.sequence, b.maker.sequence - 1);
	ts_check_int(b.findings[0].address, BUFFER);
	ts_check_int(b.findings[0].allocation_bytes, 4 * N);
	bench_deinit(&b);
}

/*
 * Memory that is allocated again counts as new memory: earlier accesses to the old memory at this
 * address do not matter.
 */
TS_TEST(freed_and_allocated)
{
	struct maker *maker;
	struct bench b;

	bench_init(&b, 1);
	maker = &b.maker;
	add(maker, FIRST);
	PUT(maker, .kind = TS_OPERATION_FREE, .dst = BUFFER, .flags = TS_OPERATION_ASYNC,
	    .stream_handle = FIRST);
	PUT(maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER, .bytes = 4 * N,
	    .flags = TS_OPERATION_ASYNC, .stream_handle = SECOND);
	upload(maker, SECOND, 3);
	bench_run(&b);
	ts_check_int(b.n, 0);
	bench_deinit(&b);
}

TS_TEST(host_memory_that_changes)
{
	for (int waits = 0; waits < 2; waits++) {
		struct maker *maker;
		struct bench b;
		uint64_t first, second;

		bench_init(&b, 1);
		maker = &b.maker;
		first = upload(maker, FIRST, 3);
		if (waits)
			PUT(maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
			    .stream_handle = FIRST);
		second = upload(maker, FIRST, 4);
		bench_run(&b);
		ts_check_int(b.n, !waits);
		if (!waits) {
			ts_check_int(b.findings[0].kind, TS_CHECK_FOUND_HOST_CHANGED);
			ts_check_int(b.findings[0].earlier.sequence, first);
			ts_check_int(b.findings[0].access.sequence, second);
			ts_check_int(b.findings[0].address, PINNED);
		}
		bench_deinit(&b);
	}
}

TS_TEST(host_memory_that_stays)
{
	struct bench b;

	bench_init(&b, 1);
	upload(&b.maker, FIRST, 3);
	upload(&b.maker, FIRST, 3);
	bench_run(&b);
	ts_check_int(b.n, 0);
	bench_deinit(&b);
}

/* A kernel that faults is reported, and later operations do not run. */
TS_TEST(out_of_bounds)
{
	struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_results results = {0};
	struct ts_exec_report report;
	struct bench b;
	uint64_t sequence;

	bench_init(&b, 1);
	maker_launch(&b.maker, SPILL, BUFFER, 7);
	sequence = b.maker.sequence;
	maker_read(&b.maker, 5);
	ts_check_int(ts_check_new(TS_CHECK_BOUNDS, &b.check), 0);
	options.check = b.check;
	b.reader = maker_finish(&b.maker);
	ts_check_int(ts_exec_program_new(b.reader, 1, &b.program), 0);
	ts_check_int(ts_exec_run(b.program, &ts_exec_vgpu, &options, NULL, NULL, &results, &report),
		     0);
	ts_check_int(report.refused, sequence);
	b.findings = ts_check_findings(b.check, &b.n);
	ts_check_int(b.n, 1);
	ts_check_int(b.findings[0].kind, TS_CHECK_FOUND_OUT_OF_BOUNDS);
	ts_check_int(b.findings[0].access.sequence, sequence);
	ts_check_int(b.findings[0].address, BUFFER + 4 * N);
	ts_check_int(b.findings[0].allocation, BUFFER);
	ts_check_str(b.findings[0].kernel, "spill");
	ts_exec_results_deinit(&results);
	bench_deinit(&b);
}
