/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, selections, and the limits of a replay. */
#include "test/unit/exec/program.h"

#include <pthread.h>

#define SECOND UINT64_C(1000000000)

struct done {
	struct ts_exec_results results;
	struct ts_exec_report report;
};

static struct done run(struct ts_exec_program *program, const struct ts_exec_options *options,
		       const struct done *before)
{
	struct done done = {0};

	ts_check_int(ts_exec_run(program, &EXECUTOR, options, before ? &before->results : NULL,
				 NULL, &done.results, &done.report),
		     0);
	return done;
}

/*
 * Makes a program that writes a clock to the buffer and then restores the buffer. Its results and
 * its final memory are equal in all runs.
 */
static struct ts_exec_program *hidden(struct maker *maker, struct ts_sbt_reader **ret_reader,
				      uint64_t *ret_sequence)
{
	struct ts_row_operation fill = {.kind = TS_OPERATION_FILL,
					.dst = BUFFER,
					.bytes = N,
					.height = 1,
					.src = 4,
					.value = 5,
					.stream_handle = STREAM};
	struct ts_exec_program *program;

	maker_init(maker);
	maker_begin(maker);
	maker_launch(maker, ADD, BUFFER, 3);
	maker_launch(maker, CLOCK, BUFFER, 0);
	*ret_sequence = maker->sequence;
	maker_put(maker, fill);
	maker_read(maker, 5);
	*ret_reader = maker_finish(maker);
	ts_check_int(ts_exec_program_new(*ret_reader, 1, &program), 0);
	return program;
}

TS_TEST(where_replays_differ_first)
{
	struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct done first, second;
	struct maker maker;
	uint64_t sequence;

	program = hidden(&maker, &reader, &sequence);
	first = run(program, &options, NULL);
	second = run(program, &options, &first);
	ts_check(!second.report.first.found && !first.report.n_points);
	ts_exec_results_deinit(&first.results);
	ts_exec_results_deinit(&second.results);

	options.points_every = 1;
	first = run(program, &options, NULL);
	second = run(program, &options, &first);
	/* Two fills and two launches. */
	ts_check_int(first.report.n_points, 4);
	ts_check(second.report.first.found);
	ts_check_int(second.report.first.kind, TS_EXEC_RESULT_POINT);
	ts_check_int(second.report.first.sequence, sequence);
	ts_check_int(second.report.first.op_id, 100 + sequence);
	ts_check_int(second.report.first.address, BUFFER);
	ts_check_int(second.report.first.bytes, 4 * N);
	/*
	 * The first run's value at that point cannot be computed again, so the report has no
	 * values.
	 */
	ts_check_int(ts_exec_values(program, &EXECUTOR, &options, &first.results, &second.results,
				    NULL, &second.report),
		     0);
	ts_check_int(second.report.first.n, 0);
	ts_exec_results_deinit(&first.results);
	ts_exec_results_deinit(&second.results);

	/*
	 * With a checkpoint after every third operation, the first checkpoint is at the second
	 * fill, which has overwritten the clock.
	 */
	options.points_every = 3;
	first = run(program, &options, NULL);
	ts_check_int(first.report.n_points, 1);
	ts_exec_results_deinit(&first.results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/*
 * Two captures that differ in one kernel's argument stand for one program that differs from run to
 * run.
 */
TS_TEST(value_against_value)
{
	struct ts_exec_options options = {.n_threads = 1, .points_every = 1};
	struct ts_exec_program *programs[2];
	struct ts_sbt_reader *readers[2];
	struct done first, second;
	struct maker maker;

	for (uint32_t i = 0; i < 2; i++) {
		maker_init(&maker);
		maker_begin(&maker);
		maker_launch(&maker, ADD, BUFFER, 3);
		maker_launch(&maker, ADD, BUFFER + 16, i ? 0x100 : 0);
		readers[i] = maker_finish(&maker);
		ts_check_int(ts_exec_program_new(readers[i], 1, &programs[i]), 0);
	}
	/*
	 * With N threads, the second kernel writes 16 bytes beyond the buffer. With N - 4 threads
	 * it does not.
	 */
	first = run(programs[0], &options, NULL);
	ts_check(!IS_VGPU || first.report.refused);
	ts_exec_results_deinit(&first.results);
	for (uint32_t i = 0; i < 2; i++)
		for (size_t j = 0; j < programs[i]->n; j++)
			if (programs[i]->operations[j].kind == TS_OPERATION_LAUNCH)
				programs[i]->operations[j].block_x = N - 4;
	first = run(programs[0], &options, NULL);
	second = run(programs[1], &options, &first);
	ts_check_str(second.report.text, "");
	ts_check(second.report.first.found);
	ts_check_int(second.report.first.sequence, maker.sequence);
	ts_check_int(ts_exec_values(programs[0], &EXECUTOR, &options, &first.results,
				    &second.results, NULL, &second.report),
		     0);
	ts_check_int(second.report.first.offset, 17);
	ts_check_int(second.report.first.address, BUFFER + 17);
	ts_check_int(second.report.first.n, 16);
	ts_check_int(second.report.first.expected[0], 0);
	ts_check_int(second.report.first.found_bytes[0], 1);
	ts_exec_results_deinit(&first.results);
	ts_exec_results_deinit(&second.results);
	for (uint32_t i = 0; i < 2; i++) {
		ts_exec_program_free(programs[i]);
		ts_sbt_reader_free(readers[i]);
	}
}

TS_TEST(what_alone_counts)
{
	const struct ts_exec_options options = {.n_threads = 1, .points_every = 1};
	struct ts_exec_point all[8], one, none;
	struct ts_exec_query query = {.has_ops = true};
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST | TS_OPERATION_ASYNC);
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	size_t n = 0, at = 0;
	uint32_t words[N];
	struct maker maker;
	struct done done;
	uint64_t copy;

	maker_init(&maker);
	maker_begin(&maker);
	for (uint32_t i = 0; i < 4; i++)
		maker_launch(&maker, ADD, BUFFER, i);
	row.src = BUFFER;
	copy = maker_put(&maker, row);
	maker_launch(&maker, ADD, NOWHERE, 0);
	for (size_t i = 0; i < N; i++)
		words[i] = 11;
	PUT(&maker, .kind = TS_OPERATION_RESULT, .parent = copy,
	    .content = maker_blob(&maker, words, sizeof(words)));
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);

	/* The last kernel is out of bounds. */
	done = run(program, &options, NULL);
	ts_check_int(done.report.refused, copy + 1);
	while (n < 8 && ts_exec_results_point(&done.results, &at, &all[n]))
		n++;
	ts_exec_results_deinit(&done.results);
	ts_check_int(n, 5);

	for (size_t i = 0; i < 5; i++) {
		query.first_op = query.last_op = all[i].op_id;
		ts_check_int(ts_exec_program_select(program, &query), 0);
		ts_check_int(program->n_selected, 1);
		done = run(program, &options, NULL);
		at = 0;
		ts_check(ts_exec_results_point(&done.results, &at, &one));
		ts_check(!memcmp(&one, &all[i], sizeof(one)));
		ts_check(!ts_exec_results_point(&done.results, &at, &none));
		ts_check_int(done.report.n_operations, 1);
		ts_check_int(done.report.n_before, one.sequence - 1);
		ts_check_int(done.report.n_launches, i > 0);
		ts_check_int(done.report.n_checks, 0);
		ts_exec_results_deinit(&done.results);
	}

	/*
	 * A selected copy includes its result, wherever the result's row is. The operations between
	 * the copy and its result do not run.
	 */
	query.first_op = query.last_op = 100 + copy;
	ts_check_int(ts_exec_program_select(program, &query), 0);
	done = run(program, &options, NULL);
	ts_check_str(done.report.text, "");
	ts_check_int(done.report.n_checks, 1);
	ts_check(!done.report.capture.found);
	ts_check_int(done.report.n_launches, 0);
	ts_exec_results_deinit(&done.results);

	/* Selection by time: operations are one nanosecond apart. */
	query = (struct ts_exec_query){.has_from = true, .has_to = true};
	query.from_ns = 1000 + all[1].sequence;
	query.to_ns = 1000 + all[2].sequence;
	ts_check_int(ts_exec_program_select(program, &query), 0);
	ts_check_int(program->n_selected, 2);
	query = (struct ts_exec_query){.has_stream = true, .stream = 7};
	ts_check_int(ts_exec_program_select(program, &query), TS_EXEC_E_NOTHING);
	query = (struct ts_exec_query){.has_ops = true, .first_op = 1, .last_op = 99};
	ts_check_int(ts_exec_program_select(program, &query), TS_EXEC_E_NOTHING);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/* The calls of a stream are those whose device rows are in that stream. */
TS_TEST(of_a_stream)
{
	const struct ts_exec_query query = {.has_stream = true, .stream = 13};
	struct ts_row_kernel kernel = {.start_ns = 5000, .end_ns = 6000, .stream = 13};
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct maker maker;

	maker_init(&maker);
	maker_begin(&maker);
	for (uint32_t i = 0; i < 4; i++) {
		maker_launch(&maker, ADD, BUFFER, i);
		kernel.op_id = 100 + maker.sequence;
		kernel.stream = i & 1 ? 13 : 14;
		ts_check_int(ts_sbt_session_writer_add_row(maker.session, TS_ROW_KERNEL, &kernel),
			     0);
	}
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_program_select(program, &query), 0);
	ts_check_int(program->n_selected, 2);
	for (size_t i = 0; i < program->n; i++)
		ts_check_int(ts_exec_program_counts(program, i),
			     i == program->n - 1 || i == program->n - 3);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

TS_TEST(the_allocation_of_an_address)
{
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct maker maker;
	uint64_t sequence;

	maker_init(&maker);
	maker_begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FREE, .dst = BUFFER);
	sequence = PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = BUFFER - 64, .bytes = 128);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_program_allocation(program, sequence, BUFFER)->sequence, sequence);
	ts_check_int(ts_exec_program_allocation(program, sequence - 1, BUFFER)->bytes, 4 * N);
	ts_check(!ts_exec_program_allocation(program, sequence, BUFFER + 4 * N));
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/* Makes a program whose kernel has 2^32 rounds, which take longer than any test may. */
static struct ts_exec_program *endless(struct maker *maker, struct ts_sbt_reader **ret_reader)
{
	struct ts_exec_program *program;

	maker_init(maker);
	maker_begin(maker);
	maker_function(maker, SPIN, "spin");
	maker_launch(maker, SPIN, BUFFER, 0);
	PUT(maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
	*ret_reader = maker_finish(maker);
	ts_check_int(ts_exec_program_new(*ret_reader, 1, &program), 0);
	/*
	 * With one GPU thread, the block has one warp and its turns are short. The engine checks
	 * the time limit and the cancellation after a few turns, so it soon stops the kernel.
	 */
	for (size_t i = 0; i < program->n; i++)
		if (program->operations[i].kind == TS_OPERATION_LAUNCH)
			program->operations[i].block_x = 1;
	return program;
}

TS_TEST(a_kernel_without_end)
{
	const struct ts_exec_options options = {.n_threads = 1, .time_ns = SECOND / 10};
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct maker maker;
	struct done done;

	program = endless(&maker, &reader);
	done = run(program, &options, NULL);
	ts_check(done.report.refused);
	ts_check(!strncmp(done.report.text, TS_EXEC_TIME_IS_UP, strlen(TS_EXEC_TIME_IS_UP)));
	ts_exec_results_deinit(&done.results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

static void *interrupts(void *userdata)
{
	usleep(100000);
	__atomic_store_n((volatile int *)userdata, 1, __ATOMIC_RELAXED);
	return NULL;
}

TS_TEST(interrupted)
{
	const struct ts_exec_options options = {.n_threads = 1};
	struct ts_exec_results results = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	volatile int cancel = 0;
	struct maker maker;
	pthread_t thread;

	program = endless(&maker, &reader);
	ts_check_int(pthread_create(&thread, NULL, interrupts, (void *)(uintptr_t)&cancel), 0);
	ts_check_int(ts_exec_run(program, &EXECUTOR, &options, NULL, &cancel, &results, &report),
		     -ECANCELED);
	pthread_join(thread, NULL);
	ts_exec_results_deinit(&results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/*
 * The replay keeps at most kept_bytes of its results until the capture's results come. It counts
 * further results, and does not compare them.
 */
TS_TEST(kept_results_are_bounded)
{
	const struct ts_exec_options options = {.n_threads = 1, .kept_bytes = 10 * N};
	struct ts_row_operation row = maker_copy(4 * N, TS_OPERATION_DST_HOST | TS_OPERATION_ASYNC);
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	uint64_t copies[4];
	uint32_t words[N], content;
	struct maker maker;
	struct done done;

	for (size_t i = 0; i < N; i++)
		words[i] = 5;
	maker_init(&maker);
	maker_begin(&maker);
	content = maker_blob(&maker, words, sizeof(words));
	row.src = BUFFER;
	for (int i = 0; i < 4; i++)
		copies[i] = maker_put(&maker, row);
	for (int i = 0; i < 4; i++)
		PUT(&maker, .kind = TS_OPERATION_RESULT, .parent = copies[i], .content = content);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	done = run(program, &options, NULL);
	ts_check_str(done.report.text, "");
	ts_check_int(done.report.n_checks, 2);
	ts_check_int(done.report.n_unchecked, 2);
	ts_exec_results_deinit(&done.results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}
