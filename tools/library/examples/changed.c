/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two runs. Prints each kernel, copy, set and call that changed, with the
 * verdict ("slower", "faster", "gone", "new" and others) and the nanoseconds before and after.
 * `tsctl diff` prints the same, and what did not change.
 *
 *     cc changed.c $(pkg-config --cflags --libs tracesmith) -o changed && ./changed BEFORE AFTER
 */
#include "example.h"

static uint64_t total_ns(const Ts__Rpc__DiffSide *side)
{
	return side ? side->total_ns : 0;
}

/* Receives the whole report. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__DiffReport *report = (const Ts__Rpc__DiffReport *)body;

	for (size_t i = 0; i < report->n_names; i++) {
		const Ts__Rpc__DiffName *name = report->names[i];

		if (strcmp(name->verdict, "same") && strcmp(name->verdict, "few"))
			printf("%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n", name->verdict, name->type,
			       name->name, total_ns(name->before), total_ns(name->after));
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct ts_query_options options = {.give = give, .no_memory = example_no_memory};
	Ts__Rpc__DiffQuery query = TS__RPC__DIFF_QUERY__INIT;
	struct ts_sbt_reader *readers[2];
	struct ts_query_side sides[2];
	struct ts_query_end end = {0};
	unsigned side = 0;
	size_t run = 0;
	char why[TS_QUERY_WHY_BYTES];
	int r;

	if (argc != 3) {
		fprintf(stderr, "usage: changed BEFORE AFTER\n");
		return 2;
	}
	for (size_t i = 0; i < 2; i++) {
		readers[i] = example_open(argv[1 + i]);
		sides[i] = (struct ts_query_side){&readers[i], 1, argv[1 + i]};
	}
	r = ts_query_diff(sides, &query, &options, &end, &side, &run);
	if (r) {
		ts_query_why(argv[1 + side], r, ts_sbt_reader_error(readers[side]), why);
		fprintf(stderr, "%s\n", why);
	}
	ts_sbt_reader_free(readers[0]);
	ts_sbt_reader_free(readers[1]);
	return r || end.is_damaged ? 2 : 0;
}
