/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gaps of a long trace have the same causes with any number of threads. Five threads of the
 * program call functions, some of which nest or take no time. One of them calls only at the start
 * and at the end of the trace, so its gap lasts over all borders of slices.
 */
#include "test/unit/harness.h"

#include "replay/state/gaps/gaps.h"
#include "sbt/reader-threads.h"
#include "test/unit/sbt/sbt-test.h"

#define N_CALLS	   (280000u / TS_SBT_THREADS_SHARE) /* with kernels, enough for threads */
#define N_THREADS  5u
#define RARE	   (N_THREADS - 1) /* the thread that seldom calls */
#define SEAL_CALLS (9000u / TS_SBT_THREADS_SHARE)
#define FIRST_NS   UINT64_C(1000000)

struct maker {
	struct ts_sbt_session_writer *session;
	uint64_t random, now_ns, op_id;
	uint64_t end_ns[N_THREADS]; /* of the last operation in the stream of each thread */
	unsigned n_functions;
};

static uint64_t below(struct maker *maker, uint64_t n)
{
	return test_random(&maker->random) % n;
}

static void add(struct maker *maker, uint32_t type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(maker->session, type, row), 0);
}

/* Each thread launches in its own stream. */
static void call(struct maker *maker, uint32_t thread, bool is_launch)
{
	const uint64_t took_ns = below(maker, 8) ? below(maker, 900) : 0;
	const struct ts_row_api api = {.start_ns = maker->now_ns,
				       .end_ns = maker->now_ns + took_ns,
				       .op_id = ++maker->op_id,
				       .thread = thread + 1,
				       .context = 1,
				       .domain = TS_API_CUDA_RUNTIME,
				       .cbid = (uint16_t)below(maker, maker->n_functions),
				       .flags = is_launch ? TS_API_EXPECTS_DEVICE : 0};
	struct ts_row_kernel kernel = {.start_ns = api.end_ns + below(maker, 300),
				       .op_id = api.op_id,
				       .context = 1,
				       .stream = 7 + thread};

	add(maker, TS_ROW_API, &api);
	/* Sometimes the next call begins within this one. */
	maker->now_ns += below(maker, 700);
	if (!is_launch)
		return;
	if (kernel.start_ns < maker->end_ns[thread])
		kernel.start_ns = maker->end_ns[thread];
	kernel.end_ns = kernel.start_ns + 50 + below(maker, 200);
	maker->end_ns[thread] = kernel.end_ns;
	add(maker, TS_ROW_KERNEL, &kernel);
}

static void add_loss(struct maker *maker)
{
	const struct ts_row_loss loss = {.start_ns = maker->now_ns,
					 .end_ns = maker->now_ns + 100000,
					 .reason = TS_LOSS_KERNEL_EVENTS,
					 .count = 1};

	add(maker, TS_ROW_LOSS, &loss);
}

static void add_rows(struct maker *maker)
{
	for (uint32_t i = 0; i < N_CALLS; i++) {
		/* A few hundred rows at a time come from other threads, too. */
		const bool is_shared = i / 512 % 3 == 0;
		uint32_t thread = is_shared ? (uint32_t)below(maker, RARE) : 0;

		if (i < 100 || i > N_CALLS - 100)
			thread = RARE;
		call(maker, thread, below(maker, 4) == 0);
		if (i % (N_CALLS / 5) == 77)
			add_loss(maker);
		if (i % SEAL_CALLS == 0)
			ts_check_int(ts_sbt_session_writer_seal(maker->session, NULL, 0), 0);
	}
}

static struct ts_sbt_reader *make(int fd, unsigned n_functions)
{
	const struct ts_row_session begun = {.pid = 1};
	struct maker maker = {.random = 1, .now_ns = FIRST_NS, .n_functions = n_functions};
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &begun, &maker.session), 0);
	for (uint32_t i = 0; i < N_THREADS; i++) {
		const struct ts_row_thread thread = {.tid = 100 + i};
		uint32_t number;

		ts_check_int(ts_sbt_session_writer_add_thread(maker.session, &thread, &number), 0);
	}
	add_rows(&maker);
	ts_check_int(ts_sbt_session_writer_seal(maker.session, NULL, 0), 0);
	ts_sbt_session_writer_free(maker.session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

static void check_parts(const struct ts_gap_parts *a, const struct ts_gap_parts *b)
{
	ts_check_int(a->n, b->n);
	ts_check_int(a->is_cut, b->is_cut);
	for (size_t i = 0; i < a->n; i++) {
		ts_check(!memcmp(&a->at[i].key, &b->at[i].key, sizeof(a->at[i].key)));
		ts_check_int(a->at[i].ns, b->at[i].ns);
		ts_check_int(a->at[i].count, b->at[i].count);
		ts_check_int(a->at[i].depth, b->at[i].depth);
	}
}

static void check_same(const struct ts_gaps *a, const struct ts_gaps *b)
{
	ts_check_int(a->n, b->n);
	ts_check_int(a->ns, b->ns);
	ts_check_int(a->n_streams, b->n_streams);
	for (size_t i = 0; i < a->n_streams; i++)
		ts_check(!memcmp(a->streams[i].causes_ns, b->streams[i].causes_ns,
				 sizeof(a->streams[i].causes_ns)));
	ts_check_int(a->n_longest, b->n_longest);
	for (size_t i = 0; i < a->n_longest; i++) {
		ts_check_int(a->longest[i].start_ns, b->longest[i].start_ns);
		ts_check_int(a->longest[i].op.unsure, b->longest[i].op.unsure);
		check_parts(&a->longest[i].parts, &b->longest[i].parts);
	}
	check_parts(&a->parts, &b->parts);
}

/* Returns the parts of all gaps. */
static size_t check_threads(struct ts_sbt_reader *reader, const struct ts_gaps_options *options)
{
	static const char *const threads[] = {"1", "2", "3", "16"};
	ts_cleanup(ts_gaps_freep) struct ts_gaps *alone = NULL;

	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++) {
		struct ts_gaps *gaps;

		ts_check_int(setenv("TRACESMITH_THREADS", threads[i], 1), 0);
		ts_check_int(ts_gaps_read(reader, options, i ? &gaps : &alone), 0);
		if (!i)
			continue;
		check_same(gaps, alone);
		ts_gaps_free(gaps);
	}
	ts_check(alone->n > N_CALLS / 50 && alone->n_streams == N_THREADS);
	return alone->parts.is_cut ? 0 : alone->parts.n;
}

TS_TEST(causes_do_not_depend_on_threads)
{
	const struct ts_gaps_options all = {.max_longest = 30};
	const struct ts_gaps_options window = {.least_ns = 200,
					       .max_longest = 5,
					       .from_ns = FIRST_NS + N_CALLS * 6ul,
					       .to_ns = FIRST_NS + N_CALLS * 333ul};
	int fd = test_file();
	struct ts_sbt_reader *reader = make(fd, 7);

	ts_check(check_threads(reader, &all) > N_THREADS * 7);
	ts_check(check_threads(reader, &window) > (N_THREADS - 1) * 7);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* More functions than a sum has parts: each row may decide in which part its time counts. */
TS_TEST(cut_causes_do_not_depend_on_threads)
{
	const struct ts_gaps_options all = {.max_longest = 10};
	int fd = test_file();
	struct ts_sbt_reader *reader = make(fd, 3000);

	ts_check_int(check_threads(reader, &all), 0);
	ts_sbt_reader_free(reader);
	close(fd);
}
