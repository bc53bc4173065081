/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays sound captures: results that are equal, results that differ, and the report of a
 * difference.
 */
#include "test/unit/exec/program.h"

TS_TEST(the_same)
{
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, ADD, BUFFER, 3);
	maker_launch(&maker, ADD, BUFFER, 4);
	maker_read(&maker, 12);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check_int(report.refused, 0);
	ts_check(!report.capture.found);
	ts_check_int(report.n_operations, maker.sequence);
	ts_check_int(report.n_launches, 2);
	ts_check_int(report.n_checks, 1);
	ts_sbt_reader_free(reader);
}

TS_TEST(a_difference_has_a_place)
{
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint32_t words[N];
	uint64_t sequence;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, ADD, BUFFER, 3);
	for (size_t i = 0; i < N; i++)
		words[i] = i == 100 ? 0x1008 : 8;
	row.src = BUFFER;
	row.content = maker_blob(&maker, words, sizeof(words));
	sequence = maker_put(&maker, row);
	/* Only the first difference is reported, not this later one. */
	maker_read(&maker, 99);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check(report.capture.found);
	ts_check_int(report.capture.sequence, sequence);
	ts_check_int(report.capture.op_id, 100 + sequence);
	ts_check_int(report.capture.offset, 401);
	ts_check_int(report.capture.address, BUFFER + 401);
	ts_check_int(report.capture.expected[0], 0x10);
	ts_check_int(report.capture.found_bytes[0], 0);
	/* The bytes before the difference are equal in the capture and the replay. */
	ts_check_int(report.capture.n_before, 8);
	ts_check_int(report.capture.before[7], 8);
	ts_check_int(report.capture.before[6], 0);
	ts_check_int(report.capture.before[3], 8);
	ts_check_int(report.n_checks, 2);
	ts_sbt_reader_free(reader);
}

TS_TEST(replays_that_differ_from_each_other)
{
	const struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_results first = {0}, second = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, CLOCK, BUFFER, 0);
	maker_read(&maker, 0);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, NULL, &first, &report), 0);
	ts_check(!report.first.found);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, &first, NULL, &second, &report), 0);
	ts_check(report.first.found);
	ts_check_int(report.first.sequence, maker.sequence);
	ts_exec_results_deinit(&first);
	ts_exec_results_deinit(&second);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

TS_TEST(memory_at_the_end_is_compared)
{
	const struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_results first = {0}, second = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	maker_launch(&maker, CLOCK, BUFFER, 0);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, NULL, &first, &report), 0);
	/* The buffer and the module's variable; a driver hides the variable. */
	ts_check_int(report.n_memory, IS_VGPU ? 2 : 1);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, &first, NULL, &second, &report), 0);
	ts_check(report.first.found && report.first.kind == TS_EXEC_RESULT_END);
	ts_check_int(report.first.address, BUFFER);
	ts_exec_results_deinit(&first);
	ts_exec_results_deinit(&second);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/* A variable of a module is at the address that the program saw, and has its initial value. */
TS_TEST(variables)
{
	struct ts_row_operation row = maker_copy(4, TS_OPERATION_DST_HOST);
	const uint64_t address = UINT64_C(0x7f7777770010);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint32_t value = 41;

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_VARIABLE, .parent = MODULE, .dst = address, .bytes = 4,
	    .name = maker_string(&maker, "counter"));
	row.src = address;
	row.content = maker_blob(&maker, &value, sizeof(value));
	maker_put(&maker, row);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	ts_check_int(report.n_checks, 1);
	ts_sbt_reader_free(reader);
}

TS_TEST(results_that_come_later)
{
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST | TS_OPERATION_ASYNC);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint32_t words[N];
	uint64_t copy;

	maker_init(&maker);
	maker_begin(&maker);
	row.src = BUFFER;
	copy = maker_put(&maker, row);
	/* The host did not wait for this copy. */
	maker_put(&maker, row);
	maker_launch(&maker, ADD, BUFFER, 1);
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
	    .stream_handle = STREAM);
	for (size_t i = 0; i < N; i++)
		words[i] = 5;
	PUT(&maker, .kind = TS_OPERATION_RESULT, .parent = copy,
	    .content = maker_blob(&maker, words, sizeof(words)));
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	ts_check_int(report.n_checks, 1);
	ts_check_int(report.n_unchecked, 1);
	ts_sbt_reader_free(reader);
}

/* Results may come in another order than their copies; each is compared with its own copy. */
TS_TEST(results_in_any_order)
{
	enum {
		COPIES = 300,
		WRONG = 17
	};
	struct ts_row_operation row = maker_copy(4, TS_OPERATION_DST_HOST | TS_OPERATION_ASYNC);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	uint64_t copies[COPIES];
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	row.src = BUFFER;
	for (uint32_t i = 0; i < COPIES; i++) {
		maker_launch(&maker, ADD, BUFFER, 1);
		copies[i] = maker_put(&maker, row);
	}
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
	    .stream_handle = STREAM);
	/* 7 and 300 have no common divisor, so each copy occurs once. */
	for (uint32_t k = 0; k < COPIES; k++) {
		uint32_t i = k * 7 % COPIES, word = i == WRONG ? 0 : 6 + i;

		PUT(&maker, .kind = TS_OPERATION_RESULT, .parent = copies[i],
		    .content = maker_blob(&maker, &word, sizeof(word)));
	}
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check_int(report.n_checks, COPIES);
	ts_check(report.capture.found);
	ts_check_int(report.capture.sequence, copies[WRONG]);
	ts_sbt_reader_free(reader);
}

/* Four rows of eight bytes, 32 apart, are copied into a buffer with rows 64 apart, and back. */
TS_TEST(rows)
{
	struct ts_row_operation in = maker_copy(8, TS_OPERATION_SRC_HOST);
	struct ts_row_operation out = maker_copy(8, TS_OPERATION_DST_HOST);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint8_t bytes[32];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	maker_init(&maker);
	maker_begin(&maker);
	in.height = out.height = 4;
	in.src_pitch = 32;
	in.dst_pitch = out.src_pitch = 64;
	out.dst_pitch = 8;
	in.dst = out.src = BUFFER + 16;
	in.content = out.content = maker_blob(&maker, bytes, sizeof(bytes));
	maker_put(&maker, in);
	maker_put(&maker, out);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	ts_sbt_reader_free(reader);
}

TS_TEST(what_host_memory_had)
{
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint32_t words[N];

	for (size_t i = 0; i < N; i++)
		words[i] = 70;
	maker_init(&maker);
	PUT(&maker, .kind = TS_OPERATION_CONTEXT_CREATE);
	PUT(&maker, .kind = TS_OPERATION_MODULE_LOAD, .object = MODULE,
	    .content = maker_blob(&maker, program_ptx, sizeof(program_ptx)));
	maker_function(&maker, ADD, "add");
	PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER, .bytes = 4 * N,
	    .flags = TS_OPERATION_MEMORY_PINNED);
	PUT(&maker, .kind = TS_OPERATION_HOST_WRITE, .dst = BUFFER, .bytes = 4 * N,
	    .content = maker_blob(&maker, words, sizeof(words)));
	maker_launch(&maker, ADD, BUFFER, 7);
	maker_read(&maker, 77);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	ts_sbt_reader_free(reader);
}

/* A list of blobs is one content. */
TS_TEST(a_content_in_chunks)
{
	struct ts_row_operation in = maker_copy(4 * N, TS_OPERATION_SRC_HOST);
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct ts_hash128 hash;
	struct maker maker;
	uint32_t words[N], list[2];

	for (size_t i = 0; i < N; i++)
		words[i] = 6;
	maker_init(&maker);
	maker_begin(&maker);
	list[0] = list[1] = maker_blob(&maker, words, sizeof(words) / 2);
	hash = ts_hash128(list, sizeof(list));
	ts_check_int(ts_sbt_session_writer_add_blob(maker.session, list, sizeof(list), TS_BLOB_LIST,
						    (uint64_t[]){hash.a, hash.b}, &in.content),
		     0);
	in.dst = BUFFER;
	maker_put(&maker, in);
	maker_launch(&maker, ADD, BUFFER, 1);
	maker_read(&maker, 7);
	reader = maker_finish(&maker);
	report = program_run(reader);
	ts_check_str(report.text, "");
	ts_check(!report.capture.found);
	ts_sbt_reader_free(reader);
}
