/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast would it be if? Runs the trace again in virtual time, with and without an edit, and
 * prints the nanoseconds of the recorded, the repeated and the edited run. `tsctl replay --what-if`
 * prints the same.
 *
 *     cc what-if.c $(pkg-config --cflags --libs tracesmith) -o what-if && ./what-if FILE set=2x
 */
#include "example.h"

static void print_run(const char *name, const Ts__Rpc__ReplayRun *run)
{
	if (run)
		printf("%s\t%" PRIu64 "\n", name, run->makespan_ns);
}

/* Receives progress a few times per second, and the report at the end. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__ReplayAnswer *answer = (const Ts__Rpc__ReplayAnswer *)body;

	if (number != TS__RPC__ANSWER__BODY_REPLAY)
		return 0;
	if (answer->complaint)
		fprintf(stderr, "%s\n", answer->complaint);
	if (!answer->emulated)
		return answer->failed ? EXAMPLE_PRINTED : 0;
	print_run("recorded", answer->emulated->recorded);
	print_run("repeated", answer->emulated->emulated);
	print_run("edited", answer->emulated->edited);
	return 0;
}

int main(int argc, char **argv)
{
	Ts__Rpc__Query__Replay replay = TS__RPC__QUERY__REPLAY__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	char executor[] = "emulate";

	if (argc < 3) {
		fprintf(stderr, "usage: what-if FILE EDIT ...\n");
		return 2;
	}
	replay.executor = executor;
	replay.what_if = argv + 2;
	replay.n_what_if = (size_t)argc - 2;
	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = &replay;
	return example_ask(argv[1], &query, give);
}
