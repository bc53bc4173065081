/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are there races? Runs the recorded kernels on the virtual GPU with all checks, and prints the
 * verdict, the number of replays and each finding. The trace was recorded with `--capture replay`.
 * `tsctl replay --on vgpu --check` prints the same.
 *
 *     cc races.c $(pkg-config --cflags --libs tracesmith) -o races && ./races FILE
 */
#include "example.h"

/* Receives progress a few times per second, and the result at the end. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__ReplayAnswer *answer = (const Ts__Rpc__ReplayAnswer *)body;

	if (number != TS__RPC__ANSWER__BODY_REPLAY)
		return 0;
	if (answer->complaint)
		fprintf(stderr, "%s\n", answer->complaint);
	if (!answer->result)
		return answer->failed ? EXAMPLE_PRINTED : 0;
	printf("%s\t%" PRIu32 "\n", answer->result->verdict, answer->result->replays);
	for (size_t i = 0; i < answer->result->n_findings; i++) {
		const Ts__Rpc__ReplayFinding *finding = answer->result->findings[i];

		printf("%s\t%s\t%" PRIu64 "\n", finding->kind,
		       finding->kernel ? finding->kernel : "-", finding->times);
	}
	return 0;
}

int main(int argc, char **argv)
{
	Ts__Rpc__Query__Replay replay = TS__RPC__QUERY__REPLAY__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	char executor[] = "vgpu", all[] = "all", *checks[] = {all};

	if (argc != 2) {
		fprintf(stderr, "usage: races FILE\n");
		return 2;
	}
	replay.executor = executor;
	replay.check = checks;
	replay.n_check = 1;
	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = &replay;
	return example_ask(argv[1], &query, give);
}
