/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a long trace are the same with any number of threads, whole or damaged, with windows
 * and filters. Calls precede their kernels by so much that slices lack calls of each other.
 */
#include "test/unit/harness.h"

#include "replay/report/rows/rowsums.h"
#include "replay/report/rows/sumpart.h"
#include "sbt/reader-threads.h"
#include "sbt/slices.h"
#include "test/unit/sbt/sbt-test.h"

#define N_OPS	 (165000u / TS_SBT_THREADS_SHARE)
#define SEAL_OPS (16384u / TS_SBT_THREADS_SHARE)
#define N_NAMES	 7u
#define N_STACKS 40u
#define OP_NS	 1000u
#define MODULE	 UINT64_C(0x7f0000000000)
#define END_NS	 (UINT64_C(1000000) + (uint64_t)N_OPS * OP_NS)
#define GRAPH_OP UINT64_C(12) /* its kernels run until the end */
/* A sanitizer sees one number of threads. */
#define IS_SHORT  (TS_TEST_SANITIZED && !ts_soak())
#define MAX_DELAY (N_OPS / 37) /* launches between a call and its kernel */

struct maker {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *sessions[2];
	uint32_t names[N_NAMES], stacks[2][N_STACKS];
	uint64_t random;
};

static uint32_t string(struct maker *maker, const char *format, unsigned n)
{
	char text[32];
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(maker->writer, text,
					  (size_t)snprintf(text, sizeof(text), format, n), &id),
		     0);
	return id;
}

static void add(struct maker *maker, unsigned session, unsigned type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(maker->sessions[session], type, row), 0);
}

/* Another module is mapped at the address in the second half: the first use of a stack counts. */
static void begin_session(struct maker *maker, unsigned session)
{
	const struct ts_row_session row = {.pid = session + 1};
	struct ts_row_module module = {.start_ns = 1,
				       .address = MODULE,
				       .address_end = MODULE + 0x100000,
				       .bias = MODULE,
				       .path = string(maker, "/lib/libfirst%u.so", session)};

	ts_check_int(ts_sbt_session_writer_new(maker->writer, &row, &maker->sessions[session]), 0);
	add(maker, session, TS_ROW_MODULE, &module);
	module.start_ns = END_NS / 2 + 1;
	module.path = string(maker, "/lib/libsecond%u.so", session);
	add(maker, session, TS_ROW_MODULE, &module);
	for (unsigned i = 0; i < N_STACKS; i++) {
		const uint64_t frames[] = {MODULE + 0x100 * i, MODULE + 0x8000 + i % 5};

		ts_check_int(ts_sbt_session_writer_add_stack(maker->sessions[session], frames, 2, 0,
							     &maker->stacks[session][i]),
			     0);
	}
}

/* Stacks of higher numbers are first used later. */
static uint32_t stack_at(const struct maker *maker, unsigned session, uint64_t dice, uint64_t i)
{
	return maker->stacks[session][(dice >> 8) % (2 + (N_STACKS - 2) * i / N_OPS)];
}

static void add_launch(struct maker *maker, uint64_t i)
{
	const uint64_t dice = test_random(&maker->random), now_ns = 1000000 + i * OP_NS;
	const unsigned session = dice % 2;
	struct ts_row_api api = {.start_ns = now_ns,
				 .end_ns = now_ns + 300 + dice % 1000,
				 .op_id = i + GRAPH_OP,
				 .stack = stack_at(maker, session, dice, i),
				 .context = 1,
				 .domain = TS_API_CUDA_RUNTIME,
				 .cbid = (uint16_t)(200 + dice % 3)};
	struct ts_row_kernel kernel = {.start_ns = now_ns + (dice >> 20) % MAX_DELAY * OP_NS,
				       .op_id = dice % 71 ? api.op_id : GRAPH_OP,
				       .context = 1,
				       .stream = (uint32_t)(dice >> 4) % 4,
				       .name = maker->names[(dice >> 40) % N_NAMES]};

	/* Some calls are missing, and some kernels have no operation. */
	if (dice % 97 || !i)
		add(maker, session, TS_ROW_API, &api);
	kernel.end_ns = kernel.start_ns + 100 + (dice >> 12) % 100000;
	kernel.op_id = dice % 101 ? kernel.op_id : 0;
	add(maker, session, TS_ROW_KERNEL, &kernel);
}

static void add_others(struct maker *maker, uint64_t i)
{
	const uint64_t dice = test_random(&maker->random), now_ns = 1000000 + i * OP_NS;
	const unsigned session = dice % 2;
	const struct ts_row_memcpy copy = {.start_ns = now_ns + 10,
					   .end_ns = now_ns + 10 + dice % 5000,
					   .op_id = i + GRAPH_OP - dice % 64,
					   .copy_kind = 1 + (uint8_t)(dice >> 8) % 3,
					   .bytes = dice % 65536};
	const struct ts_row_memset set = {.start_ns = now_ns + 20,
					  .end_ns = now_ns + 30,
					  .op_id = i,
					  .value = (uint32_t)dice};
	const struct ts_row_range range = {.start_ns = now_ns,
					   .end_ns = now_ns + 100 * OP_NS,
					   .name = string(maker, "step %u", (unsigned)i),
					   .domain = 0};
	const struct ts_row_sample sample = {.start_ns = now_ns + 40,
					     .period_ns = 1000 + dice % 7,
					     .stack = stack_at(maker, session, dice, i)};
	const struct ts_row_syscall call = {.start_ns = now_ns + 50,
					    .end_ns = now_ns + 50 + dice % 999,
					    .syscall = (uint32_t)dice % 3,
					    .bytes = dice % 100};

	add(maker, session, TS_ROW_MEMCPY, &copy);
	add(maker, session, TS_ROW_MEMSET, &set);
	add(maker, session, TS_ROW_RANGE, &range);
	add(maker, session, TS_ROW_SAMPLE, &sample);
	add(maker, session, TS_ROW_SYSCALL, &call);
}

static int make_trace(void)
{
	struct maker maker = {.random = 1};
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(dup(fd), &maker.writer), 0);
	for (unsigned i = 0; i < N_NAMES; i++)
		maker.names[i] = string(&maker, "kernel%u", i);
	for (unsigned s = 0; s < 2; s++)
		begin_session(&maker, s);
	for (uint64_t i = 0; i < N_OPS; i++) {
		add_launch(&maker, i);
		if (i % 100 == 0)
			add_others(&maker, i);
		for (unsigned s = 0; s < 2 && i % SEAL_OPS == SEAL_OPS - 1; s++)
			ts_check_int(ts_sbt_session_writer_seal(maker.sessions[s], NULL, 0), 0);
	}
	for (unsigned s = 0; s < 2; s++) {
		ts_check_int(ts_sbt_session_writer_seal(maker.sessions[s], NULL, 0), 0);
		ts_sbt_session_writer_free(maker.sessions[s]);
	}
	ts_check_int(ts_sbt_writer_finish(maker.writer), 0);
	ts_sbt_writer_free(maker.writer);
	return fd;
}

static int whole_trace;

TS_SETUP
{
	whole_trace = make_trace();
}

static void damage(int fd, unsigned type)
{
	const uint8_t bad[4] = {0xde, 0xad, 0xbe, 0xef};
	const struct ts_sbt_block *block;
	struct ts_sbt_reader *reader;
	size_t i;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (i = ts_sbt_reader_n_blocks(reader) / 2; ts_sbt_reader_block(reader, i)->type != type;
	     i++)
		;
	block = ts_sbt_reader_block(reader, i);
	ts_check(pwrite(fd, bad, 4, (off_t)(block->off + block->bytes / 2)) == 4);
	ts_sbt_reader_free(reader);
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct answer {
	uint8_t *bytes; /* the message, or the damage */
	size_t n;
	bool is_damaged;
	uint64_t n_steps, n_kernels;
};

static void count_step(void *data, uint64_t n_rows)
{
	++*(uint64_t *)data;
}

static struct answer sum(int fd, const char *threads, const struct ts_sbt_cursor_options *options,
			 const Ts__Rpc__RowFilter *filter)
{
	const struct ts_resolver_options names = {.launchers = true, .from_ns = options->from_ns};
	struct ts_pool pool = {.no_memory = abort};
	struct ts_row_sums sums = {0};
	struct ts_resolver *resolver;
	struct ts_sbt_reader *reader;
	struct answer answer = {0};
	Ts__Rpc__TraceStats stats;
	size_t n_text;

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_resolver_new(reader, &names, &resolver), 0);
	ts_check_int(ts_row_sums_read(&sums, resolver, options, filter, abort, count_step,
				      &answer.n_steps),
		     0);
	ts_row_sums_message(&sums, &pool, 0, &stats);
	answer.is_damaged = sums.is_damaged;
	for (size_t i = 0; i < stats.n_kernels; i++)
		answer.n_kernels += stats.kernels[i]->count;
	n_text = sums.is_damaged ? strlen(sums.damage.text) : 0;
	answer.n = ts__rpc__trace_stats__get_packed_size(&stats) + n_text;
	answer.bytes = malloc(answer.n + 1);
	ts_check(answer.bytes);
	ts__rpc__trace_stats__pack(&stats, answer.bytes + n_text);
	memcpy(answer.bytes, sums.damage.text, n_text);
	ts_row_sums_deinit(&sums);
	ts_pool_deinit(&pool);
	ts_resolver_free(resolver);
	ts_sbt_reader_free(reader);
	return answer;
}

/* Returns the number of kernels of the sums, which are those of one thread. */
static uint64_t check_same(int fd, const struct ts_sbt_cursor_options *options,
			   const Ts__Rpc__RowFilter *filter, bool is_damaged)
{
	static const char *const threads[] = {"2", "4", "16"};
	struct answer one = sum(fd, "1", options, filter);

	ts_check_int(one.is_damaged, is_damaged);
	for (size_t i = IS_SHORT ? TS_ARRAY_LEN(threads) - 1 : 0; i < TS_ARRAY_LEN(threads); i++) {
		struct answer many = sum(fd, threads[i], options, filter);

		ts_check_int(many.is_damaged, is_damaged);
		ts_check_int(many.n, one.n);
		ts_check(!memcmp(many.bytes, one.bytes, one.n));
		free(many.bytes);
	}
	free(one.bytes);
	return one.n_kernels;
}

TS_TEST(sums_do_not_depend_on_threads)
{
	const struct ts_sbt_cursor_options all = {0};
	const struct ts_sbt_cursor_options kernels = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	const struct ts_sbt_cursor_options window = {.from_ns = END_NS / 8, .to_ns = END_NS - 7000};
	Ts__Rpc__RowFilter filter = TS__RPC__ROW_FILTER__INIT;

	ts_check_int(check_same(whole_trace, &all, NULL, false), N_OPS);
	ts_check_int(check_same(whole_trace, &kernels, NULL, false), N_OPS);
	ts_check(check_same(whole_trace, &window, NULL, false) > N_OPS / 2);
	filter.has_stream = true;
	filter.stream = 2;
	ts_check(check_same(whole_trace, &all, &filter, false) > N_OPS / 5);
	filter.name = (char *)(uintptr_t) "kernel3";
	ts_check(check_same(whole_trace, &all, &filter, false) > N_OPS / 40);
}

TS_TEST(sums_of_a_damaged_trace_do_not_depend_on_threads)
{
	const struct ts_sbt_cursor_options all = {0};
	const struct ts_sbt_cursor_options kernels = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	int fd = test_copy_of(whole_trace);

	damage(fd, TS_ROW_API);
	ts_check_int(check_same(fd, &all, NULL, true), N_OPS);
	/* Damaged calls are no damage of kernels. */
	ts_check_int(check_same(fd, &kernels, NULL, false), N_OPS);
	damage(fd, TS_ROW_KERNEL);
	ts_check(check_same(fd, &all, NULL, true) < N_OPS);
	close(fd);
}

/* A part of slices: rows and their order. */
struct part {
	uint64_t n, first_ns, last_ns;
};

static int read_part(void *data, const struct ts_slice *slice, void *shared)
{
	const struct ts_sbt_cursor_options *options = shared;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct part *part = data;
	struct ts_sbt_row row;
	int r = ts_slice_cursor(slice, options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r)
			break;
		ts_check(ts_row_start_ns(row.any) >= part->last_ns);
		part->last_ns = ts_row_start_ns(row.any);
		part->first_ns = part->n++ ? part->first_ns : part->last_ns;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static struct part whole;
static uint64_t n_parts;

static int merge_part(void *data, void *shared)
{
	const struct part *part = data;

	ts_check(part->n && part->first_ns > whole.last_ns);
	whole.n += part->n;
	whole.last_ns = part->last_ns;
	n_parts++;
	return 0;
}

static void deinit_part(void *data)
{
}

/* Each row is in one slice, and slices have about the same number of rows. */
TS_TEST(slices_have_each_row_once)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API) |
							 TS_ROW_BIT(TS_ROW_KERNEL)};
	const struct ts_slices_work work = {.part_bytes = sizeof(struct part),
					    .run = read_part,
					    .merge = merge_part,
					    .part_deinit = deinit_part,
					    .data = &options};
	struct part serial = {0};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_reader *reader;
	struct ts_slices *slices;
	struct ts_sbt_row row;

	ts_check_int(setenv("TRACESMITH_THREADS", "1", 1), 0);
	ts_check_int(ts_sbt_reader_open(whole_trace, &reader, NULL), 0);
	ts_check_int(ts_slices_new(reader, &options, &slices), 0);
	ts_check(!slices);
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row))
		serial.n++;
	ts_sbt_cursor_free(cursor);
	ts_check_int(setenv("TRACESMITH_THREADS", "4", 1), 0);
	ts_check_int(ts_slices_new(reader, &options, &slices), 0);
	ts_check(slices);
	ts_check_int(ts_slices_run(slices, &work), 0);
	ts_check_int(whole.n, serial.n);
	ts_check(n_parts >= 4);
	ts_slices_free(slices);
	ts_sbt_reader_free(reader);
}

/* The resolver goes on after a damaged block of calls. */
TS_TEST(launchers_are_known_after_damage)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL),
						      .from_ns = END_NS - 1000 * OP_NS};
	const struct ts_resolver_options names = {.launchers = true};
	struct ts_resolver *resolver;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_reader *reader;
	uint64_t n = 0, n_known = 0;
	struct ts_launcher launcher;
	struct ts_sbt_row row;
	int fd = test_copy_of(whole_trace);

	damage(fd, TS_ROW_API);
	ts_check_int(setenv("TRACESMITH_THREADS", "1", 1), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_resolver_new(reader, &names, &resolver), 0);
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	for (; !ts_sbt_cursor_next(cursor, &row); n++)
		n_known += ts_resolver_launcher(resolver, &row, &launcher);
	ts_check(n > 1000 && n_known > n * 9 / 10);
	ts_sbt_cursor_free(cursor);
	ts_resolver_free(resolver);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* Rows of many names whose lengths are far apart take a table each. */
TS_TEST(the_memory_of_a_part_is_bounded)
{
	struct ts_sum_part part = {0};
	int r = ts_sum_part_init(&part, false, true);

	for (uint32_t i = 0; !r && i < TS_SUM_PART_NAMES * 200; i++) {
		const struct ts_row_kernel kernel = {.end_ns = UINT64_C(1) << i % 60,
						     .name = 1 + i / 200};
		const struct ts_sbt_row row = {.type = TS_ROW_KERNEL,
					       .schema = ts_row_schema(TS_ROW_KERNEL),
					       .any = &kernel};

		r = ts_sum_part_add(&part, &row);
	}
	ts_check_int(r, TS_SBT_E_LIMIT);
	ts_check(part.n_names > 100 && part.n_names < 1000);
	ts_check(ts_sum_part_is_large(&part));
	ts_sum_part_clear(&part);
	ts_check(!ts_sum_part_is_large(&part));
	ts_sum_part_deinit(&part);
}
