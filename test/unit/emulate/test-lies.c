/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates rows that cannot be trusted: ids that occur twice or never, missing halves, waits of a
 * row for itself. Times are random or at the limits of their type. Every operation that can run
 * runs once, and the path covers all time.
 */
#include "test/unit/emulate/lies.h"

#include "replay/emulate/emulate.h"

#define N_TRACES 4000
#define MAX_ROWS 300u

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
	r = ts_emulate_run(program, edits, n, &names, SIZE_MAX, &result, message);
	if (r == -EINVAL) {
		ts_check(n && message[0]);
		return;
	}
	ts_check_int(r, 0);
	ts_emulate_doubts(program, &doubts);
	ts_check_int(result->n_ops, doubts.n_ops);
	if (!n)
		ts_check_int(result->n_calls, doubts.n_calls);
	for (size_t i = 0; i < result->n_longest; i++) {
		ts_check_int(result->longest[i].from_ns, time_ns);
		time_ns = result->longest[i].to_ns;
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
	union lie row;

	lie_seed = 3;
	for (unsigned int i = 0; i < N_TRACES; i++) {
		ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
		const struct ts_emulate_options options = {.has_ops = !lie_below(4),
							   .has_stream = !lie_below(8),
							   .stream = lie_below(3),
							   .first_op = lie_below(30),
							   .last_op = 30 + lie_below(30)};
		unsigned int n_rows = lie_below(MAX_ROWS), how = lie_below(2), which;
		uint64_t now_ns = 1000;

		ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
		for (unsigned int k = 0; k < n_rows; k++) {
			struct ts_sbt_row its = {
				.type = lie_types[lie_below(TS_ARRAY_LEN(lie_types))],
				.session = 1 + lie_below(2),
				.any = &row};

			its.schema = ts_row_schema(its.type);
			lie_fill(its.schema, &row, how, now_ns);
			now_ns += lie_below(50);
			ts_check_int(ts_emulate_builder_feed(builder, &its), 0);
		}
		ts_check_int(ts_emulate_builder_finish(builder, &program), 0);
		ts_check_int(ts_emulate_recorded(program, &recorded), 0);
		check_run(program, NULL, 0);
		which = lie_below(TS_ARRAY_LEN(texts));
		check_run(program, texts[which], 1 + lie_below(3));
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
	lie_seed = 4;
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int n = lie_below(sizeof(text) - 1);

		for (unsigned int k = 0; k < n; k++)
			text[k] = "kernel copysplitmerge=,x12.e-*?"[lie_below(31)];
		text[n] = '\0';
		ts_emulate_edit_parse(text, &edit, message);
	}
}
