/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, its misuse and failed calls of a long trace are the same with any number of threads,
 * whole and damaged: their searches for few rows read slices.
 */
#include "test/unit/harness.h"

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/state/memory/misuse.h"
#include "replay/state/memory/state-memory.h"
#include "replay/state/overview/errors.h"
#include "sbt/arrays.h"
#include "sbt/read/reader-internal.h"
#include "test/unit/sbt/sbt-test.h"

#define N_CALLS	   300000u
#define SEAL_CALLS 32768u
#define ADDRESS	   UINT64_C(0x7f0000000000)
#define MEGABYTE   (UINT64_C(1) << 20)

struct maker {
	struct ts_sbt_session_writer *session;
	uint64_t random;
	bool has_kernel_error;
	uint64_t first_failing, last_failing; /* calls */
};

static void add(const struct maker *maker, unsigned type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(maker->session, type, row), 0);
}

/* Allocates at an address, frees it later, and copies to it after that. */
static void add_memory(const struct maker *maker, uint64_t i, uint64_t now_ns, uint64_t dice)
{
	const bool is_free = i / 500 % 2;
	const struct ts_row_memory memory = {.start_ns = now_ns + 5,
					     .op_id = i + 1,
					     .address = ADDRESS + i / 1000 % 256 * MEGABYTE,
					     .bytes = 4096 + i / 1000 % 7 * 512,
					     .stream = TS_NO_DEVICE,
					     .memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
	struct ts_row_access access = {.start_ns = now_ns + 6,
				       .op_id = i + 2,
				       .dst = memory.address,
				       .dst_bytes = 64,
				       .access = TS_ACCESS_COPY};
	const struct ts_row_memcpy copy = {.start_ns = now_ns + 9,
					   .end_ns = now_ns + 20,
					   .op_id = access.op_id,
					   .copy_kind = 1,
					   .dst_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};

	/* Some allocations are never freed. */
	if (!is_free || dice % 3)
		add(maker, is_free ? TS_ROW_FREE : TS_ROW_ALLOC, &memory);
	if (is_free) {
		add(maker, TS_ROW_ACCESS, &access);
		add(maker, TS_ROW_MEMCPY, &copy);
	}
}

static void add_call(const struct maker *maker, uint64_t i, uint64_t dice)
{
	struct ts_row_api api = {.start_ns = 1000000 + i * 1000,
				 .end_ns = 1000000 + i * 1000 + dice % 900,
				 .op_id = i + 1,
				 .thread = 1,
				 .stack = 1 + (uint32_t)(dice >> 8) % 50,
				 .domain = TS_API_CUDA_RUNTIME,
				 .cbid = (uint16_t)(dice >> 20) % 3,
				 .flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_access failed = {.start_ns = api.start_ns + 1,
				       .op_id = api.op_id,
				       .dst_bytes = dice % 65536,
				       .access = TS_ACCESS_ALLOC};

	if (i % 2500 == 77 && i >= maker->first_failing && i <= maker->last_failing) {
		api.result = 2;
		add(maker, TS_ROW_ACCESS, &failed);
	}
	if (maker->has_kernel_error && i == N_CALLS / 2 + 5)
		api.result = 700;
	add(maker, TS_ROW_API, &api);
	if (i % 500 == 0)
		add_memory(maker, i, api.start_ns, dice);
}

static int make_trace_of(struct maker maker)
{
	struct ts_row_session row = {.pid = 1};
	struct ts_sbt_writer *writer;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &maker.session), 0);
	for (uint64_t i = 0; i < N_CALLS; i++) {
		add_call(&maker, i, test_random(&maker.random));
		if (i % SEAL_CALLS == SEAL_CALLS - 1)
			ts_check_int(ts_sbt_session_writer_seal(maker.session, NULL, 0), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(maker.session, NULL, 0), 0);
	ts_sbt_session_writer_free(maker.session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static int make_trace(bool has_kernel_error)
{
	return make_trace_of((struct maker){.random = 1,
					    .has_kernel_error = has_kernel_error,
					    .last_failing = UINT64_MAX});
}

/* ---- results --------------------------------------------------------------------------------- */

struct results {
	uint64_t hash;
	uint64_t n_holders, n_stacks, n_misuses, n_calls, n_errors, n_suspects;
	uint64_t is_damaged; /* as wide as the others: the struct is compared as bytes */
};

static void mix(struct results *results, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		results->hash = (results->hash ^ p[i]) * UINT64_C(0x100000001b3);
}

static void mix_holders(struct results *results, const struct ts_memory_holders *holders)
{
	results->n_holders += holders->n_largest;
	for (size_t i = 0; i < holders->n_largest; i++) {
		const struct ts_memory_holder *holder = &holders->largest[i];

		/* Padding has no defined value, so fields are mixed. */
		mix(results, &holder->session, sizeof(holder->session));
		mix(results, &holder->thread, sizeof(holder->thread));
		mix(results, &holder->stack, sizeof(holder->stack));
		mix(results, &holder->call_ns, sizeof(holder->call_ns));
		mix(results, &holder->row, sizeof(holder->row));
		results->n_stacks += holder->stack != 0;
	}
}

static void add_memory_results(struct ts_sbt_reader *reader, struct results *results)
{
	struct ts_misuses *misuses;
	struct ts_memory *memory;

	ts_check_int(ts_memory_read(reader, 0, 1000, &memory), 0);
	mix_holders(results, &memory->at_peak);
	mix_holders(results, &memory->never_freed);
	results->is_damaged |= memory->is_damaged;
	ts_memory_free(memory);
	ts_check_int(ts_misuses_read(reader, 0, 1000, &misuses), 0);
	results->n_misuses = misuses->n;
	for (size_t i = 0; i < misuses->n_listed; i++)
		results->n_calls += misuses->list[i].use.end_ns != 0;
	mix(results, misuses->list, misuses->n_listed * sizeof(*misuses->list));
	results->is_damaged |= misuses->is_damaged;
	ts_misuses_free(misuses);
}

static struct results read_all(int fd, const char *threads)
{
	struct results results = {.hash = UINT64_C(0xcbf29ce484222325)};
	struct ts_call_errors *errors;
	struct ts_sbt_reader *reader;

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	add_memory_results(reader, &results);
	ts_check_int(ts_call_errors_read(reader, 0, &errors), 0);
	results.n_errors = errors->n_calls;
	results.is_damaged |= errors->is_damaged;
	for (size_t i = 0; i < errors->n; i++) {
		struct ts_call_error error = errors->at[i];

		results.n_suspects += error.n_suspects;
		error.suspects = NULL;
		mix(&results, &error, sizeof(error));
		for (size_t j = 0; j < error.n_suspects; j++)
			mix(&results, &errors->at[i].suspects[j].op_id, sizeof(uint64_t));
	}
	ts_call_errors_free(errors);
	ts_sbt_reader_free(reader);
	return results;
}

static struct results check_same(int fd)
{
	static const char *const threads[] = {"2", "4", "16"};
	struct results one = read_all(fd, "1");

	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++) {
		struct results many = read_all(fd, threads[i]);

		ts_check(!memcmp(&many, &one, sizeof(one)));
	}
	return one;
}

static int whole_trace;

TS_SETUP
{
	whole_trace = make_trace(false);
}

TS_TEST(searches_do_not_depend_on_threads)
{
	struct results results = check_same(whole_trace);

	ts_check(results.n_holders > 100 && results.n_stacks == results.n_holders);
	ts_check(results.n_misuses > 100 && results.n_calls > 100);
	ts_check_int(results.n_errors, N_CALLS / 2500);
	ts_check(!results.n_suspects && !results.is_damaged);
}

/* The launches before an error of a kernel are read in order. */
TS_TEST(an_error_of_a_kernel_has_the_same_suspects)
{
	int fd = make_trace(true);
	struct results results = check_same(fd);

	ts_check_int(results.n_errors, N_CALLS / 2500 + 1);
	ts_check_int(results.n_suspects, TS_ERRORS_MAX_SUSPECTS);
	close(fd);
}

/* Damages a block of calls in the middle of the trace. */
static void damage(int fd)
{
	const uint8_t bad[4] = {0xde, 0xad, 0xbe, 0xef};
	const struct ts_sbt_block *block;
	struct ts_sbt_reader *reader;
	size_t i;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (i = ts_sbt_reader_n_blocks(reader) / 2;
	     ts_sbt_reader_block(reader, i)->type != TS_ROW_API; i++)
		;
	block = ts_sbt_reader_block(reader, i);
	ts_check(pwrite(fd, bad, 4, (off_t)(block->off + block->bytes / 2)) == 4);
	ts_sbt_reader_free(reader);
}

static void count(uint32_t n_rows, void *data)
{
	*(uint64_t *)data += n_rows;
}

/* Blocks of calls that may have a failed one. */
static size_t count_with_results(struct ts_sbt_reader *reader)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_API);
	uint16_t column = schema->columns[ts_row_column(schema, "result")].id;
	size_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		n += ts_sbt_reader_block(reader, i)->type == TS_ROW_API &&
		     ts_sbt_reader_may_have(reader, i, column);
	return n;
}

/* Blocks of calls without a failed one are not decoded, and counted as read. */
TS_TEST(failed_calls_of_a_few_blocks)
{
	int fd = make_trace_of((struct maker){.random = 1,
					      .first_failing = N_CALLS / 2,
					      .last_failing = N_CALLS / 2 + 10000});
	struct ts_call_errors *errors;
	struct ts_sbt_reader *reader;
	uint64_t n_rows = 0;
	struct results results;

	ts_check_int(check_same(fd).n_errors, 4);
	ts_check_int(setenv("TRACESMITH_THREADS", "1", 1), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_sbt_reader_watch(reader, count, &n_rows);
	ts_check_int(ts_call_errors_read(reader, 0, &errors), 0);
	ts_check_int(errors->n_calls, 4);
	ts_check(n_rows > N_CALLS);
	/* One has failed calls, and the last one is short. */
	ts_check_int(count_with_results(reader), 2);
	ts_call_errors_free(errors);
	ts_sbt_reader_free(reader);
	/* A damaged block may have had failed calls. */
	damage(fd);
	results = check_same(fd);
	ts_check(results.is_damaged && results.n_errors <= 4);
	close(fd);
}

TS_TEST(searches_of_a_damaged_trace_do_not_depend_on_threads)
{
	int fd = test_copy_of(whole_trace);
	struct results results;

	damage(fd);
	results = check_same(fd);
	ts_check(results.is_damaged && results.n_errors > 100 && results.n_errors < N_CALLS / 2500);
	close(fd);
}
