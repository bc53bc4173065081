/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analyses of a long trace give the same results with any number of threads. The trace has two
 * sessions, events, waits, synchronizations, graph launches, the legacy default stream, missing
 * calls and a damaged block.
 */
#include "test/unit/harness.h"

#include "replay/state/compare/diff.h"
#include "replay/state/gaps/gaps.h"
#include "replay/state/graph/state-graph.h"
#include "replay/state/overview/overview.h"
#include "test/unit/sbt/sbt-test.h"

#define N_STEPS	   1480u
#define STEP_OPS   200u /* of each session */
#define N_STREAMS  4u
#define SEAL_STEPS 20u

/* Adds the rows of one operation: its call and its device row. */
static void add_op(struct ts_sbt_session_writer *session, uint64_t *random, uint64_t op_id,
		   uint64_t now_ns)
{
	const uint64_t dice = test_random(random);
	const uint32_t stream = (uint32_t)(dice % N_STREAMS);
	struct ts_row_api api = {.start_ns = now_ns,
				 .end_ns = now_ns + 900 + dice % 512,
				 .op_id = op_id,
				 .thread = 1,
				 .stack = 1 + (uint32_t)(dice >> 8) % 8,
				 .context = 1,
				 .domain = TS_API_CUDA_RUNTIME,
				 .flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_kernel kernel = {.start_ns = now_ns + 2000 + (dice >> 20) % 3000,
				       .op_id = op_id,
				       .context = 1,
				       .stream = stream,
				       .name = 1 + (uint32_t)(dice >> 40) % 9,
				       .grid_x = 64,
				       .block_x = 128};

	if (dice % 97)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &api), 0);
	kernel.graph = dice % 61 == 0;
	kernel.end_ns = kernel.start_ns + 100 + (dice >> 12) % 2000;
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
}

static void add_order(struct ts_sbt_session_writer *session, uint64_t op_id, uint64_t now_ns,
		      uint32_t stream)
{
	struct ts_row_event event = {.start_ns = now_ns,
				     .op_id = op_id,
				     .event = 7 + stream,
				     .context = 1,
				     .stream = stream};
	struct ts_row_stream_wait wait = {.start_ns = now_ns + 10,
					  .op_id = op_id + 1,
					  .event = 7 + stream,
					  .context = 1,
					  .stream = (stream + 1) % N_STREAMS};
	struct ts_row_sync sync = {.start_ns = now_ns + 20,
				   .end_ns = now_ns + 5000,
				   .op_id = op_id - 1,
				   .sync_type = 4,
				   .context = 1,
				   .stream = stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_EVENT, &event), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_STREAM_WAIT, &wait), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SYNC, &sync), 0);
}

static int make_trace(void)
{
	struct ts_row_session row = {.pid = 1};
	struct ts_sbt_session_writer *sessions[2];
	struct ts_sbt_writer *writer;
	uint64_t random = 1, op_id = 1, now_ns = 1000000;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (unsigned s = 0; s < 2; s++)
		ts_check_int(ts_sbt_session_writer_new(writer, &row, &sessions[s]), 0);
	for (unsigned step = 0; step < N_STEPS; step++) {
		for (unsigned i = 0; i < STEP_OPS; i++, op_id += 3, now_ns += 1100)
			add_op(sessions[test_random(&random) % 2], &random, op_id, now_ns);
		for (unsigned s = 0; s < 2; s++, op_id += 3, now_ns += 100)
			add_order(sessions[s], op_id, now_ns, step % N_STREAMS);
		now_ns += 20000;
		for (unsigned s = 0; s < 2 && step % SEAL_STEPS == SEAL_STEPS - 1; s++)
			ts_check_int(ts_sbt_session_writer_seal(sessions[s], NULL, 0), 0);
	}
	for (unsigned s = 0; s < 2; s++)
		ts_sbt_session_writer_free(sessions[s]);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

/* ---- hashes of results ----------------------------------------------------------------------- */

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ p[i]) * UINT64_C(0x100000001b3);
}

#define MIX(hash, value) mix(hash, &(value), sizeof(value))

static uint64_t hash_overview(struct ts_sbt_reader *reader)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ts_overview overview;

	ts_check_int(ts_overview_read(reader, 0, &overview), 0);
	ts_check(overview.timeline->is_damaged);
	ts_check_int(overview.timeline->n_streams, 2 * N_STREAMS);
	for (size_t i = 0; i < overview.timeline->n_devices; i++) {
		const struct ts_timeline_device *device = &overview.timeline->devices[i];

		MIX(&hash, device->n_ops);
		MIX(&hash, device->busy_ns);
		MIX(&hash, device->overlap_ns);
		MIX(&hash, device->idle_ns);
		MIX(&hash, device->max_at_once);
		MIX(&hash, device->max_ns);
	}
	MIX(&hash, overview.timeline->doubts);
	MIX(&hash, overview.analysis->findings);
	MIX(&hash, overview.analysis->kernels);
	MIX(&hash, overview.analysis->syncs);
	mix(&hash, overview.analysis->groups,
	    overview.analysis->n_groups * sizeof(*overview.analysis->groups));
	for (size_t i = 0; i < overview.n_launches; i++) {
		MIX(&hash, overview.launches[i].name);
		MIX(&hash, overview.launches[i].stack);
		MIX(&hash, overview.launches[i].count);
		MIX(&hash, overview.launches[i].start_ns);
	}
	for (size_t i = 0; i < overview.occupancies->n_kernels; i++)
		MIX(&hash, overview.occupancies->kernels[i].ns);
	ts_overview_deinit(&overview);
	return hash;
}

static uint64_t hash_timeline(struct ts_sbt_reader *reader)
{
	const struct ts_timeline_options options = {.n_parts = 50};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ts_timeline *timeline;

	ts_check_int(ts_timeline_read(reader, &options, &timeline), 0);
	ts_check_int(timeline->n_streams, 2 * N_STREAMS);
	for (size_t i = 0; i < timeline->n_streams; i++) {
		MIX(&hash, timeline->streams[i].n_ops);
		MIX(&hash, timeline->streams[i].busy_ns);
		mix(&hash, timeline->streams[i].parts, 50 * sizeof(struct ts_timeline_part));
	}
	MIX(&hash, timeline->doubts);
	ts_timeline_free(timeline);
	return hash;
}

static uint64_t hash_gaps(struct ts_sbt_reader *reader)
{
	const struct ts_gaps_options options = {.least_ns = 10000, .max_longest = 10};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ts_gaps *gaps;

	ts_check_int(ts_gaps_read(reader, &options, &gaps), 0);
	ts_check(gaps->is_damaged && gaps->n > 1000);
	mix(&hash, gaps->streams, gaps->n_streams * sizeof(*gaps->streams));
	for (size_t i = 0; i < gaps->n_longest; i++) {
		MIX(&hash, gaps->longest[i].op.op_id);
		MIX(&hash, gaps->longest[i].start_ns);
		MIX(&hash, gaps->longest[i].before_op_id);
	}
	MIX(&hash, gaps->doubts);
	ts_gaps_free(gaps);
	return hash;
}

static uint64_t hash_graph(struct ts_sbt_reader *reader)
{
	const struct ts_graph_options options = {0};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ts_graph *graph;

	ts_check_int(ts_graph_read(reader, &options, &graph), 0);
	ts_check(graph->is_damaged && graph->n_path > 100);
	for (size_t i = 0; i < graph->n_nodes; i++) {
		MIX(&hash, graph->nodes[i].op_id);
		MIX(&hash, graph->nodes[i].start_ns);
		MIX(&hash, graph->nodes[i].unsure);
	}
	for (size_t i = 0; i < graph->n_edges; i++) {
		MIX(&hash, graph->edges[i].from);
		MIX(&hash, graph->edges[i].release_ns);
	}
	mix(&hash, graph->slack_ns, graph->n_nodes * sizeof(*graph->slack_ns));
	MIX(&hash, graph->parts_ns);
	MIX(&hash, graph->doubts);
	ts_graph_free(graph);
	return hash;
}

static int trace_fd;

/* The sides have their own readers: a reader on both sides is read by one thread. */
static uint64_t hash_diff(struct ts_sbt_reader *reader)
{
	const struct ts_diff_options options = {.alpha = 0.01, .least = 0.01, .max_slower = 10};
	struct ts_sbt_reader *readers[2] = {reader};
	const struct ts_diff_runs runs[2] = {{&readers[0], 1}, {&readers[1], 1}};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ts_diff *diff;
	unsigned side;
	size_t run;

	ts_check_int(ts_sbt_reader_open(trace_fd, &readers[1], NULL), 0);
	ts_check_int(ts_diff_read(runs, &options, &diff, &side, &run), 0);
	for (unsigned i = 0; i < 2; i++) {
		ts_check(diff->totals[i].is_damaged);
		MIX(&hash, diff->totals[i].n_ops);
		MIX(&hash, diff->totals[i].busy_ns);
		MIX(&hash, diff->totals[i].doubts);
	}
	for (size_t i = 0; i < diff->n_names; i++)
		MIX(&hash, diff->names[i].sides[0].median_ns);
	MIX(&hash, diff->n_aligned);
	ts_diff_free(diff);
	ts_sbt_reader_free(readers[1]);
	return hash;
}

TS_TEST(results_do_not_depend_on_threads)
{
	static uint64_t (*const analyses[])(struct ts_sbt_reader *) = {hash_overview, hash_timeline,
								       hash_gaps, hash_graph,
								       hash_diff};
	static const char *const threads[] = {"1", "2", "4", "16"};
	const uint8_t bad[4] = {0xde, 0xad, 0xbe, 0xef};
	const struct ts_sbt_block *block;
	struct ts_sbt_reader *reader;
	int fd = make_trace();
	size_t i;

	trace_fd = fd;
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (i = ts_sbt_reader_n_blocks(reader) / 2;
	     ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL; i++)
		;
	block = ts_sbt_reader_block(reader, i);
	ts_check(pwrite(fd, bad, 4, (off_t)(block->off + block->bytes / 2)) == 4);
	/* ThreadSanitizer needs most of the time limit for one analysis; TS_SOAK=1 has more. */
	for (unsigned a = 0; a < (TS_TEST_SANITIZED && !ts_soak() ? 1 : TS_ARRAY_LEN(analyses));
	     a++) {
		uint64_t first = 0;

		for (unsigned t = 0; t < TS_ARRAY_LEN(threads); t++) {
			uint64_t hash;

			ts_check_int(setenv("TRACESMITH_THREADS", threads[t], 1), 0);
			hash = analyses[a](reader);
			first = t ? first : hash;
			ts_check_int(hash, first);
		}
	}
	ts_sbt_reader_free(reader);
	close(fd);
}
