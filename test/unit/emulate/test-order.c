/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program does not depend on the order in which its device rows were read: in the order of their
 * start, or backwards, and either way if several begin together; with a place that the call
 * reserved, or without one.
 */
#include "test/unit/harness.h"

#include "replay/emulate/emulate-builder.h"

#define N_TRACES 2000
#define MAX_OPS	 100u
#define LAUNCH	 211u

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

struct op {
	uint64_t call_ns, start_ns, end_ns;
	uint32_t stream, thread;
	uint32_t copy_kind; /* 0: a kernel */
};

struct trace {
	struct op ops[MAX_OPS];
	unsigned int n;
};

/* Makes operations of which many begin together, and some take no time. */
static void generate(struct trace *trace)
{
	uint64_t now_ns = 1000;

	trace->n = 1 + below(MAX_OPS);
	for (unsigned int i = 0; i < trace->n; i++) {
		struct op *op = &trace->ops[i];

		now_ns += 10;
		*op = (struct op){.call_ns = now_ns,
				  .start_ns = (now_ns + 40 + below(400)) / 40 * 40,
				  .stream = 7 + below(3),
				  .thread = 1 + below(2),
				  .copy_kind = below(3) ? 0 : 1 + below(2)};
		op->end_ns = op->start_ns + (below(4) ? 10 * below(12) : 0);
	}
}

static void feed(struct ts_emulate_builder *builder, unsigned int type, const void *any)
{
	const struct ts_sbt_row row = {.type = type,
				       .session = 1,
				       .schema = ts_row_schema(type),
				       .any = any};

	ts_check_int(ts_emulate_builder_feed(builder, &row), 0);
}

static void feed_call(struct ts_emulate_builder *builder, const struct op *op, uint64_t op_id,
		      bool is_announced)
{
	const struct ts_row_api row = {.start_ns = op->call_ns,
				       .end_ns = op->call_ns + 5,
				       .op_id = op_id,
				       .thread = op->thread,
				       .context = 1,
				       .domain = TS_API_CUDA_RUNTIME,
				       .cbid = LAUNCH,
				       .flags = is_announced ? TS_API_EXPECTS_DEVICE : 0};

	feed(builder, TS_ROW_API, &row);
}

static void feed_op(struct ts_emulate_builder *builder, const struct op *op, uint64_t op_id)
{
	const struct ts_row_kernel kernel = {.start_ns = op->start_ns,
					     .end_ns = op->end_ns,
					     .op_id = op_id,
					     .context = 1,
					     .stream = op->stream};
	const struct ts_row_memcpy copy = {.start_ns = op->start_ns,
					   .end_ns = op->end_ns,
					   .op_id = op_id,
					   .context = 1,
					   .stream = op->stream,
					   .copy_kind = (uint8_t)op->copy_kind,
					   .async = 1};

	if (op->copy_kind)
		feed(builder, TS_ROW_MEMCPY, &copy);
	else
		feed(builder, TS_ROW_KERNEL, &kernel);
}

/* Streams and engines get their numbers when they are first seen: these are seen first. */
static void feed_first(struct ts_emulate_builder *builder)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct ts_row_stream stream = {.context = 1, .stream = 7 + i};

		feed(builder, TS_ROW_STREAM, &stream);
	}
	for (unsigned int i = 0; i < 3; i++) {
		const struct op op = {.call_ns = 100 + i,
				      .start_ns = 200 + i,
				      .end_ns = 201 + i,
				      .stream = 7,
				      .thread = 1,
				      .copy_kind = i};

		feed_call(builder, &op, 1 + i, true);
		feed_op(builder, &op, 1 + i);
	}
}

enum how {
	BACKWARDS = 1,	    /* the latest rows come first, after all calls */
	ANNOUNCED = 2,	    /* calls reserve places */
	TIES_BACKWARDS = 4, /* of rows that begin together, those of later calls come first */
};

/* Returns the first operation that has not been fed, by start. */
static unsigned int first_left(const struct trace *trace, const bool *is_fed, unsigned int how)
{
	unsigned int first = trace->n;

	for (unsigned int i = 0; i < trace->n; i++)
		if (!is_fed[i] &&
		    (first == trace->n || trace->ops[i].start_ns < trace->ops[first].start_ns ||
		     (how & TIES_BACKWARDS &&
		      trace->ops[i].start_ns == trace->ops[first].start_ns)))
			first = i;
	return first;
}

/* `how`: a set of enum how. */
static struct ts_emulate_program *read_trace(const struct trace *trace, unsigned int how)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	const struct ts_emulate_options options = {0};
	struct ts_emulate_program *program = NULL;
	unsigned int order[MAX_OPS], n_fed = 0;
	bool is_fed[MAX_OPS] = {0}, is_backwards = how & BACKWARDS;

	for (unsigned int i = 0; i < trace->n; i++) {
		order[i] = first_left(trace, is_fed, how);
		is_fed[order[i]] = true;
	}
	ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
	feed_first(builder);
	for (unsigned int i = 0; i <= trace->n; i++) {
		uint64_t to_ns = i < trace->n ? trace->ops[i].call_ns : UINT64_MAX;

		for (;
		     !is_backwards && n_fed < trace->n && trace->ops[order[n_fed]].start_ns < to_ns;
		     n_fed++)
			feed_op(builder, &trace->ops[order[n_fed]], 4 + order[n_fed]);
		if (i < trace->n)
			feed_call(builder, &trace->ops[i], 4 + i, how & ANNOUNCED);
	}
	for (unsigned int i = trace->n; is_backwards && i--;)
		feed_op(builder, &trace->ops[order[i]], 4 + order[i]);
	ts_check_int(ts_emulate_builder_finish(builder, &program), 0);
	return program;
}

static void check_same(const struct ts_emulate_program *a, const struct ts_emulate_program *b)
{
	ts_check_int(a->n_items, b->n_items);
	ts_check_int(a->n_ops, b->n_ops);
	ts_check_int(a->n_engines, b->n_engines);
	ts_check(!memcmp(a->items, b->items, a->n_items * sizeof(*a->items)));
	ts_check(!memcmp(a->recorded_items, b->recorded_items,
			 a->n_items * sizeof(*a->recorded_items)));
	ts_check(!memcmp(a->by_start, b->by_start, a->n_ops * sizeof(*a->by_start)));
	for (size_t i = 0; i < a->n_engines; i++) {
		ts_check_int(a->engines[i].capacity, b->engines[i].capacity);
		ts_check_int(a->engines[i].kinds, b->engines[i].kinds);
		ts_check_int(a->engines[i].n_ops, b->engines[i].n_ops);
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		ts_check_int(a->calls[i].first_item, b->calls[i].first_item);
		ts_check_int(a->calls[i].n_items, b->calls[i].n_items);
		ts_check_int(a->calls[i].join, b->calls[i].join);
		ts_check_int(a->calls[i].gap_ns, b->calls[i].gap_ns);
	}
}

/* Ids in a row, then with gaps, below the first one, and of a second session: each has its call. */
TS_TEST(ids_of_calls)
{
	enum {
		N_IDS = 4096,
		BASE = 1000
	};

	seed = 5;
	for (unsigned int i = 0; i < 50; i++) {
		uint32_t calls[2][N_IDS];
		struct ts_emulate_ids ids = {0};
		unsigned int at = below(N_IDS), in_a_row = below(N_IDS);

		memset(calls, 0xff, sizeof(calls));
		for (uint32_t k = 0; k < N_IDS; k++) {
			unsigned int session = 0;

			if (k >= in_a_row) {
				session = below(2);
				at = below(N_IDS);
			}
			ts_check_int(ts_emulate_ids_set(&ids, 1 + session, BASE + at, k), 0);
			calls[session][at] = k;
			at = (at + 1) % N_IDS;
		}
		for (uint32_t k = 0; k < N_IDS; k++)
			for (uint32_t session = 0; session < 2; session++)
				ts_check_int(ts_emulate_ids_find(&ids, 1 + session, BASE + k),
					     calls[session][k]);
		ts_check_int(ts_emulate_ids_find(&ids, 1, 0), TS_EMULATE_NONE);
		ts_check_int(ts_emulate_ids_find(&ids, 1, UINT64_MAX), TS_EMULATE_NONE);
		ts_check_int(ts_emulate_ids_find(&ids, 3, BASE), TS_EMULATE_NONE);
		ts_emulate_ids_deinit(&ids);
	}
}

TS_TEST(order_of_rows)
{
	struct trace trace;

	seed = 5;
	for (unsigned int i = 0; i < ts_cases(N_TRACES); i++) {
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;

		generate(&trace);
		program = read_trace(&trace, ANNOUNCED);
		for (unsigned int how = 0; how < 8; how++) {
			ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *other =
				read_trace(&trace, how);

			check_same(program, other);
		}
	}
}

/* Copies of both directions wait for each other. Each begins together with a kernel. */
TS_TEST(one_engine_for_copies)
{
	struct trace trace = {.n = 20};

	for (unsigned int i = 0; i < trace.n; i++)
		trace.ops[i] = (struct op){.call_ns = 1000 * (i + 1),
					   .start_ns = 100000 * (1 + i / 2),
					   .end_ns = 100000 * (1 + i / 2) + (i % 2 ? 10 : 100000),
					   .stream = i % 2 ? 9 : 7 + i / 2 % 2,
					   .thread = 1,
					   .copy_kind = i % 2 ? 0 : 1 + i / 2 % 2};
	for (unsigned int how = 0; how < 8; how++) {
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program =
			read_trace(&trace, how);
		size_t n_shared = 0;

		for (size_t i = 0; i < program->n_engines; i++)
			n_shared += program->engines[i].kinds ==
				    (1u << TS_EMULATE_H2D | 1u << TS_EMULATE_D2H);
		ts_check_int(n_shared, 1);
	}
}

/* A call whose operation was lost keeps its place only while few others were lost. */
TS_TEST(lost_operations)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	const struct ts_emulate_options options = {0};
	struct ts_emulate_doubts doubts;
	struct op op = {.stream = 7, .thread = 1};
	const uint64_t n = 100000;

	ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
	for (uint64_t i = 1; i <= n; i++) {
		op.call_ns = 10 * i;
		op.start_ns = op.end_ns = 10 * i + 1;
		feed_call(builder, &op, i, true);
		if (i % 10000 == 0)
			feed_op(builder, &op, i);
	}
	ts_check(builder->n_places < n);
	ts_check_int(ts_emulate_builder_finish(builder, &program), 0);
	ts_check_int(program->n_items, n / 10000);
	for (size_t i = 0; i < program->n_items; i++) {
		ts_check_int(program->recorded_items[i].op_id, 10000 * (i + 1));
		ts_check_int(program->items[i].call, 10000 * (i + 1) - 1);
	}
	ts_emulate_doubts(program, &doubts);
	ts_check_int(doubts.n_without_device, n - n / 10000);
}
