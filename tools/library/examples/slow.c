/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where did the time go? Prints the kernels with the most time: nanoseconds, launches, name, and
 * the code that launched most of them. `tsctl view --stats` prints the same.
 *
 *     cc slow.c $(pkg-config --cflags --libs tracesmith) -o slow && ./slow FILE
 */
#include "example.h"

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__TraceStats *stats = (const Ts__Rpc__TraceStats *)body;

	if (number != TS__RPC__ANSWER__BODY_STATS)
		return 0;
	for (size_t i = 0; i < stats->n_kernels; i++) {
		const Ts__Rpc__Aggregate *kernel = stats->kernels[i];
		const char *frame = kernel->n_launched_by ? kernel->launched_by[0]->frame : NULL;

		printf("%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n", kernel->total_ns, kernel->count,
		       kernel->name, frame ? frame : "-");
	}
	return 0;
}

int main(int argc, char **argv)
{
	Ts__Rpc__Query__Stats stats = TS__RPC__QUERY__STATS__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	char kernels[] = "kernel", *types[] = {kernels};

	if (argc != 2) {
		fprintf(stderr, "usage: slow FILE\n");
		return 2;
	}
	stats.types = types;
	stats.n_types = 1;
	TS_RPC_SET(&stats, limit, 10);
	query.body_case = TS__RPC__QUERY__BODY_STATS;
	query.stats = &stats;
	return example_ask(argv[1], &query, give);
}
