/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates rows that cannot be trusted: ids that occur twice or never, missing halves, waits of a
 * row for itself. Times are random or at the limits of their type. Every operation that can run
 * runs once, and the path covers all time.
 */
#include "test/unit/harness.h"

#include "replay/emulate/emulate.h"

#define N_TRACES 4000
#define MAX_ROWS 300u

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

union any_row {
	struct ts_row_api api;
	struct ts_row_kernel kernel;
	struct ts_row_memcpy copy;
	struct ts_row_memset set;
	struct ts_row_sync sync;
	struct ts_row_event event;
	struct ts_row_stream_wait wait;
	struct ts_row_graph_launch launch;
	struct ts_row_stream stream;
	uint64_t words[TS_ROW_MAX_BYTES / 8];
};

static const unsigned int types[] = {
	TS_ROW_API,  TS_ROW_API,   TS_ROW_API,	       TS_ROW_KERNEL, TS_ROW_KERNEL,
	TS_ROW_SYNC, TS_ROW_EVENT, TS_ROW_STREAM_WAIT, TS_ROW_MEMCPY, TS_ROW_MEMSET,
	TS_ROW_SYNC, TS_ROW_EVENT, TS_ROW_STREAM_WAIT, TS_ROW_STREAM, TS_ROW_GRAPH_LAUNCH,
};

static uint64_t any_time(unsigned int how, uint64_t now_ns)
{
	switch (below(how ? 40 : 400)) {
	case 0:
		return UINT64_MAX - below(3);
	case 1:
		return below(3);
	case 2:
		return (uint64_t)below(1u << 30) << 30;
	default:
		return now_ns + below(100);
	}
}

static void fill(const struct ts_row_schema *schema, union any_row *row, unsigned int how,
		 uint64_t now_ns)
{
	memset(row, 0, sizeof(*row));
	for (unsigned int i = 0; i < schema->n_columns; i++) {
		const struct ts_column *column = &schema->columns[i];
		uint8_t *at = (uint8_t *)row + column->offset;
		uint64_t value = below(3);

		if (column->role == TS_ROLE_TIME_START || column->role == TS_ROLE_TIME_END)
			value = any_time(how, now_ns);
		else if (column->role == TS_ROLE_OP)
			value = below(60);
		else if (column->role == TS_ROLE_STREAM || column->role == TS_ROLE_DEVICE)
			value = below(20) ? below(3) : TS_NO_DEVICE;
		else if (column->role == TS_ROLE_ENUM || column->role == TS_ROLE_FLAGS)
			value = below(5);
		else if (column->role == TS_ROLE_COUNT || column->role == TS_ROLE_BYTES)
			value = below(4) ? below(2000) : UINT64_MAX;
		memcpy(at, &value, column->width);
	}
	if (schema->type == TS_ROW_API && below(8))
		row->api.flags = TS_API_EXPECTS_DEVICE;
	/* Most rows are no nodes of a graph. */
	if (schema->type == TS_ROW_KERNEL && below(4))
		row->kernel.graph = 0, row->kernel.graph_node = 0;
}

static const char *name_of(void *user, uint32_t name)
{
	(void)user;
	return name % 2 ? "odd" : NULL;
}

static void check_run(const struct ts_emulate_program *program, const char *const *texts, size_t n)
{
	static const struct ts_emulate_names names = {.kernel = name_of, .function = name_of};
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	struct ts_emulate_edit edits[4] = {0};
	struct ts_emulate_doubts doubts;
	char message[TS_EMULATE_TEXT_BYTES] = "";
	uint64_t time_ns = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		ts_check_int(ts_emulate_edit_parse(texts[i], &edits[i], message), 0);
	r = ts_emulate_run(program, edits, n, &names, &result, message);
	if (r == -EINVAL) {
		ts_check(n && message[0]);
		return;
	}
	ts_check_int(r, 0);
	ts_emulate_doubts(program, &doubts);
	ts_check_int(result->n_ops, doubts.n_ops);
	if (!n)
		ts_check_int(result->n_calls, doubts.n_calls);
	for (size_t i = 0; i < result->n_path; i++) {
		ts_check_int(result->path[i].from_ns, time_ns);
		time_ns = result->path[i].to_ns;
	}
	ts_check(time_ns >= result->makespan_ns);
}

TS_TEST(rows_that_lie)
{
	static const char *const texts[][3] = {
		{"kernel *=2x", "merge 1,2", "graph"},
		{"no-sync *", "split 1=3", "h2d-engines=2"},
		{"split 0=2,odd", "pinned=1GB/s", "launch-latency=0ns"},
		{"merge 0,1", "merge 1,2", "host=100000x"},
		{"copy *=0.00001x", "multiprocessors=7", "graph=2"},
	};
	union any_row row;

	seed = 3;
	for (unsigned int i = 0; i < N_TRACES; i++) {
		ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
		const struct ts_emulate_options options = {.has_ops = !below(4),
							   .has_stream = !below(8),
							   .stream = below(3),
							   .first_op = below(30),
							   .last_op = 30 + below(30)};
		unsigned int n_rows = below(MAX_ROWS), how = below(2), which;
		uint64_t now_ns = 1000;

		ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
		for (unsigned int k = 0; k < n_rows; k++) {
			struct ts_sbt_row its = {.type = types[below(TS_ARRAY_LEN(types))],
						 .session = 1 + below(2),
						 .any = &row};

			its.schema = ts_row_schema(its.type);
			fill(its.schema, &row, how, now_ns);
			now_ns += below(50);
			ts_check_int(ts_emulate_builder_feed(builder, &its), 0);
		}
		ts_check_int(ts_emulate_builder_finish(builder, &program), 0);
		ts_check_int(ts_emulate_recorded(program, &recorded), 0);
		check_run(program, NULL, 0);
		which = below(TS_ARRAY_LEN(texts));
		check_run(program, texts[which], 1 + below(3));
	}
}

/* Any text that is no edit is rejected. */
TS_TEST(edits_that_are_none)
{
	static const char *const bad[] = {
		"",
		"kernel",
		"kernel a",
		"kernel =2x",
		"kernel a=",
		"kernel a=2",
		"kernel a=-1x",
		"kernel a=0x",
		"kernel a=nanx",
		"kernel a=1e30s",
		"copy =2x",
		"set",
		"host=",
		"graph=x",
		"graph 3",
		"merge",
		"merge 1",
		"merge 1,",
		"merge a,b",
		"split 1",
		"split 1=1",
		"split 1=999",
		"split 1=2,",
		"pinned=3",
		"pinned=-1GB/s",
		"h2d-engines=",
		"h2d-engines=0",
		"multiprocessors=",
		"no-sync",
		"no-sync op=x",
		"overclock=2x",
		"launch-latency",
		"merge 1,2,3",
		"split 1=2=3,a",
		"graph=-1",
	};
	char message[TS_EMULATE_TEXT_BYTES];
	struct ts_emulate_edit edit;
	char text[64];

	for (size_t i = 0; i < TS_ARRAY_LEN(bad); i++) {
		message[0] = '\0';
		ts_check_int(ts_emulate_edit_parse(bad[i], &edit, message), -EINVAL);
		ts_check(message[0]);
	}
	seed = 4;
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int n = below(sizeof(text) - 1);

		for (unsigned int k = 0; k < n; k++)
			text[k] = "kernel copysplitmerge=,x12.e-*?"[below(31)];
		text[n] = '\0';
		ts_emulate_edit_parse(text, &edit, message);
	}
}
