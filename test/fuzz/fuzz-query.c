/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes an untrusted trace with every kind of query, as the daemon's worker runs them. Each query
 * must end with an answer, and every part of it must pack (fuzz-ask.h).
 */
#include "proto/abi/base.h"
#include "test/fuzz/fuzz-ask.h"
#include "test/fuzz/fuzz-sbt.h"

#define MAX_ROWS 20000u /* limit: a few bytes can decode to many rows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Replays in virtual time with edits, and on a small virtual GPU with a time limit; each also as a
 * dry run.
 */
static void ask_replays(struct ts_sbt_reader *reader, Ts__Rpc__Query *query)
{
	static char *const executors[] = {(char *)(uintptr_t) "emulate",
					  (char *)(uintptr_t) "vgpu"};
	char *edits[] = {(char *)(uintptr_t) "kernel *=2x", (char *)(uintptr_t) "host=2x"};
	char *checks[] = {(char *)(uintptr_t) "all"};

	for (unsigned i = 0; i < 2 * TS_ARRAY_LEN(executors); i++) {
		Ts__Rpc__Query__Replay replay = TS__RPC__QUERY__REPLAY__INIT;

		replay.executor = executors[i / 2];
		TS_RPC_SET(&replay, dry_run, i % 2);
		TS_RPC_SET(&replay, points, true);
		TS_RPC_SET(&replay, time_limit_ns, TS_FUZZ_MAX_REPLAY_NS);
		replay.what_if = edits;
		replay.n_what_if = TS_ARRAY_LEN(edits);
		replay.check = checks;
		replay.n_check = TS_ARRAY_LEN(checks);
		query->body_case = TS__RPC__QUERY__BODY_REPLAY;
		query->replay = &replay;
		ts_fuzz_ask(reader, query);
	}
}

static void ask_sums(struct ts_sbt_reader *reader, Ts__Rpc__Query *query)
{
	Ts__Rpc__Query__Gaps gaps = TS__RPC__QUERY__GAPS__INIT;
	Ts__Rpc__Query__Analyze analyze = TS__RPC__QUERY__ANALYZE__INIT;
	Ts__Rpc__Query__Info info = TS__RPC__QUERY__INFO__INIT;
	Ts__Rpc__Moment from = TS__RPC__MOMENT__INIT, to = TS__RPC__MOMENT__INIT;

	TS_RPC_SET(&from, ns, 1000);
	TS_RPC_SET(&from, from_start, true);
	TS_RPC_SET(&to, ns, 100000);
	TS_RPC_SET(&to, from_start, true);
	TS_RPC_SET(&gaps, least_ns, 1);
	TS_RPC_SET(&gaps, stacks, true);
	TS_RPC_SET(&info, columns, true);
	query->body_case = TS__RPC__QUERY__BODY_GAPS;
	query->gaps = &gaps;
	ts_fuzz_ask(reader, query);
	gaps.from = &from;
	gaps.to = &to;
	ts_fuzz_ask(reader, query);
	query->body_case = TS__RPC__QUERY__BODY_ANALYZE;
	query->analyze = &analyze;
	ts_fuzz_ask(reader, query);
	query->body_case = TS__RPC__QUERY__BODY_INFO;
	query->info = &info;
	ts_fuzz_ask(reader, query);
}

static void ask_all(struct ts_sbt_reader *reader)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__State state = TS__RPC__QUERY__STATE__INIT;
	Ts__Rpc__Query__Timeline timeline = TS__RPC__QUERY__TIMELINE__INIT;
	Ts__Rpc__Query__Rows rows = TS__RPC__QUERY__ROWS__INIT;
	Ts__Rpc__Query__Stats stats = TS__RPC__QUERY__STATS__INIT;
	Ts__Rpc__Query__Memory memory = TS__RPC__QUERY__MEMORY__INIT;
	Ts__Rpc__Query__Graph graph = TS__RPC__QUERY__GRAPH__INIT;
	Ts__Rpc__Moment at = TS__RPC__MOMENT__INIT;

	TS_RPC_SET(&at, ns, 5000);
	TS_RPC_SET(&at, from_start, true);
	TS_RPC_SET(&state, stacks, true);
	TS_RPC_SET(&rows, stacks, true);
	TS_RPC_SET(&memory, stacks, true);
	TS_RPC_SET(&memory, points, 50);
	TS_RPC_SET(&timeline, device_parts, true);
	state.at = graph.from = &at;
	query.body_case = TS__RPC__QUERY__BODY_STATE;
	query.state = &state;
	ts_fuzz_ask(reader, &query);
	query.body_case = TS__RPC__QUERY__BODY_TIMELINE;
	query.timeline = &timeline;
	ts_fuzz_ask(reader, &query);
	query.body_case = TS__RPC__QUERY__BODY_ROWS;
	query.rows = &rows;
	ts_fuzz_ask(reader, &query);
	query.body_case = TS__RPC__QUERY__BODY_STATS;
	query.stats = &stats;
	ts_fuzz_ask(reader, &query);
	query.body_case = TS__RPC__QUERY__BODY_MEMORY;
	query.memory = &memory;
	ts_fuzz_ask(reader, &query);
	query.body_case = TS__RPC__QUERY__BODY_GRAPH;
	query.graph = &graph;
	ts_fuzz_ask(reader, &query);
	ask_sums(reader, &query);
	ask_replays(reader, &query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ts_fuzz_sbt_look(data, size, MAX_ROWS, ask_all);
	return 0;
}
