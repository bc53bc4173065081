/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the graphs of small traces whose critical path is visible in the drawing. Times in drawings
 * are those of the rows, counted from BEGIN_NS.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/graph/state-graph.h"
#include "sbt/writer.h"

#define BEGIN_NS UINT64_C(1000)
#define LAUNCH	 UINT64_C(211)

static struct ts_sbt_writer *writer;
static struct ts_sbt_session_writer *session;
static int trace_fd;

static void begin(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = BEGIN_NS};
	int fd = memfd_create("trace", MFD_CLOEXEC);

	trace_fd = dup(fd);
	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint32_t stream = 1; stream < 4; stream++) {
		const struct ts_row_stream made = {.start_ns = BEGIN_NS,
						   .stream = stream,
						   .context = 1,
						   .stream_flags = 1};

		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_STREAM, &made), 0);
	}
}

static void call(uint64_t op_id, uint32_t thread, uint64_t start, uint64_t end)
{
	const struct ts_row_api row = {.start_ns = BEGIN_NS + start,
				       .end_ns = BEGIN_NS + end,
				       .op_id = op_id,
				       .thread = thread,
				       .context = 1,
				       .domain = TS_API_CUDA_RUNTIME,
				       .cbid = LAUNCH,
				       .flags = TS_API_EXPECTS_DEVICE};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &row), 0);
}

static void kernel(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end)
{
	const struct ts_row_kernel row = {.start_ns = BEGIN_NS + start,
					  .end_ns = BEGIN_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &row), 0);
}

static void copy(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end, bool async)
{
	const struct ts_row_memcpy row = {.start_ns = BEGIN_NS + start,
					  .end_ns = BEGIN_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream,
					  .copy_kind = 1,
					  .async = async};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY, &row), 0);
}

static void waits(uint64_t op_id, uint32_t type, uint32_t stream, uint64_t start, uint64_t end)
{
	const struct ts_row_sync row = {.start_ns = BEGIN_NS + start,
					.end_ns = BEGIN_NS + end,
					.op_id = op_id,
					.sync_type = type,
					.context = 1,
					.stream = stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SYNC, &row), 0);
}

static void event(unsigned int type, uint64_t op_id, uint32_t stream, uint64_t time)
{
	const struct ts_row_event row = {.start_ns = BEGIN_NS + time,
					 .op_id = op_id,
					 .event = 0xe1,
					 .context = 1,
					 .stream = stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, type, &row), 0);
}

static struct ts_graph *finish(void)
{
	const struct ts_graph_options options = {0};
	struct ts_sbt_reader *reader;
	struct ts_graph *graph;

	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(trace_fd, &reader, NULL), 0);
	ts_check_int(ts_graph_read(reader, &options, &graph), 0);
	ts_sbt_reader_free(reader);
	close(trace_fd);
	return graph;
}

struct expected {
	enum ts_graph_part part;
	uint64_t op_id, from, to;
};

static void check_path(const struct ts_graph *graph, const struct expected *expected, size_t n)
{
	for (size_t i = 0; i < n && i < graph->n_path; i++) {
		ts_check_int(graph->path[i].part, expected[i].part);
		ts_check_int(graph->path[i].from_ns, BEGIN_NS + expected[i].from);
		ts_check_int(graph->path[i].to_ns, BEGIN_NS + expected[i].to);
		ts_check_int(graph->nodes[graph->path[i].node].op_id, expected[i].op_id);
	}
	ts_check_int(graph->n_path, n);
}

#define CHECK_PATH(graph, ...)                              \
	check_path(graph, (struct expected[]){__VA_ARGS__}, \
		   sizeof((struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static const struct ts_graph_node *node_of(const struct ts_graph *graph, uint32_t kind,
					   uint64_t op_id)
{
	for (size_t i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].kind == kind && graph->nodes[i].op_id == op_id)
			return &graph->nodes[i];
	ts_check(!"no such node");
	return NULL;
}

static uint64_t slack_of(const struct ts_graph *graph, uint32_t kind, uint64_t op_id)
{
	return graph->slack_ns[node_of(graph, kind, op_id) - graph->nodes];
}

/*
 * Checks that nodes are in order of time, that edges are in order of their node, and that the
 * binding edge is released last.
 */
static void check_order(const struct ts_graph *graph)
{
	uint32_t e = 0;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];
		uint64_t released_ns = 0;

		ts_check(!i || node[-1].start_ns <= node->start_ns);
		ts_check_int(node->first_edge, e);
		for (; e < node->first_edge + node->n_edges; e++) {
			ts_check(graph->edges[e].from < i);
			if (graph->edges[e].release_ns > released_ns)
				released_ns = graph->edges[e].release_ns;
		}
		ts_check_int(ts_graph_binding(node) == TS_GRAPH_NONE, !node->n_edges);
		if (node->n_edges)
			ts_check_int(graph->edges[ts_graph_binding(node)].release_ns, released_ns);
		ts_check(node->end_ns <= graph->to_ns);
	}
	ts_check_int(e, graph->n_edges);
}

/* Properties of every graph. */
static void check_sound(const struct ts_graph *graph)
{
	uint64_t sum_ns = 0;

	check_order(graph);
	for (size_t i = 0; i < graph->n_path; i++) {
		sum_ns += graph->path[i].to_ns - graph->path[i].from_ns;
		ts_check(!i || graph->path[i].from_ns == graph->path[i - 1].to_ns);
	}
	ts_check_int(sum_ns, graph->to_ns - graph->from_ns);
	for (size_t i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].is_critical)
			ts_check_int(graph->slack_ns[i], 0);
}

/*
 * Ends node `late` later by delay_ns, and computes all later nodes anew: each keeps its length, and
 * its time from the last release to its start. Returns true if the graph then ends later.
 */
static bool moves_end(const struct ts_graph *graph, size_t late, uint64_t delay_ns)
{
	ts_cleanup(ts_freep) uint64_t *later_ns = calloc(graph->n_nodes + 1, sizeof(*later_ns));
	bool moves = false;

	ts_check(later_ns);
	for (size_t i = late; i < graph->n_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];
		uint64_t released_ns = 0, before_ns = 0;

		for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
			const struct ts_graph_edge *edge = &graph->edges[e];
			uint64_t now_ns = edge->release_ns + later_ns[edge->from];

			released_ns = now_ns > released_ns ? now_ns : released_ns;
			before_ns = edge->release_ns > before_ns ? edge->release_ns : before_ns;
		}
		later_ns[i] = i == late ? delay_ns : released_ns - before_ns;
		if (!node->has_return && node->end_ns + later_ns[i] > graph->to_ns)
			moves = true;
	}
	return moves;
}

/* Slack is the longest delay that does not move the end. */
static void check_slack(const struct ts_graph *graph)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		if (graph->slack_ns[i] != UINT64_MAX) {
			ts_check(!moves_end(graph, i, graph->slack_ns[i]));
			ts_check(moves_end(graph, i, graph->slack_ns[i] + 1));
		} else {
			ts_check(!moves_end(graph, i, UINT32_MAX));
		}
	}
}

/*
 *	host      |1--|  |2-|   |3 waits for the stream                 |
 *	stream 1       [1           ] [2            ]
 *	          0   10 20 30  40  115 118       218 230
 */
TS_TEST(a_stream_that_is_never_idle_is_the_path)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 10);
	kernel(1, 1, 15, 115);
	call(2, 1, 20, 30);
	kernel(2, 1, 118, 218);
	call(3, 1, 40, 230);
	waits(3, 3, 1, 41, 229);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 1, 0, 15}, {TS_GRAPH_COMPUTE, 1, 15, 115},
		   {TS_GRAPH_WAIT, 2, 115, 118}, {TS_GRAPH_COMPUTE, 2, 118, 218},
		   {TS_GRAPH_IN_CALL, 3, 218, 230});
	/* The second launch could have come 85 ns later, when the first kernel was over. */
	ts_check_int(slack_of(graph, TS_GRAPH_CALL, 2), 85);
	ts_check_int(slack_of(graph, TS_GRAPH_CALL, 3), 178);
	ts_check_int(graph->parts_ns[TS_GRAPH_COMPUTE], 200);
	ts_graph_free(graph);
}

/*
 *	host      |1--|         |2-|
 *	stream 1       [1]          [2]
 *	          0   10 15 20  50 60 66 70
 */
TS_TEST(a_host_that_is_late_is_the_path)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 10);
	kernel(1, 1, 15, 20);
	call(2, 1, 50, 60);
	kernel(2, 1, 66, 70);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_IN_CALL, 1, 0, 10}, {TS_GRAPH_HOST_GAP, 2, 10, 50},
		   {TS_GRAPH_LATENCY, 2, 50, 66}, {TS_GRAPH_COMPUTE, 2, 66, 70});
	ts_check_int(slack_of(graph, TS_GRAPH_OP, 1), 40);
	ts_graph_free(graph);
}

/*
 *	host      |1--| 2r |3w |4|
 *	stream 1       [1 copy       ]
 *	stream 2                      [4         ]
 *	          0   10 15           100 103   150
 */
TS_TEST(what_an_event_holds_back_is_on_the_path)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 10);
	copy(1, 1, 15, 100, true);
	event(TS_ROW_EVENT, 2, 1, 12);
	event(TS_ROW_STREAM_WAIT, 3, 2, 14);
	call(4, 1, 20, 25);
	kernel(4, 2, 103, 150);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 1, 0, 15}, {TS_GRAPH_COPY, 1, 15, 100},
		   {TS_GRAPH_WAIT, 4, 100, 103}, {TS_GRAPH_COMPUTE, 4, 103, 150});
	ts_check_int(graph->edges[ts_graph_binding(node_of(graph, TS_GRAPH_OP, 4))].kind,
		     TS_GRAPH_EVENT);
	ts_check_int(ts_graph_event(graph, ts_graph_binding(node_of(graph, TS_GRAPH_OP, 4))), 0xe1);
	ts_graph_free(graph);
}

/*
 *	host      |1 blocks until its copy is over |   |2--|
 *	stream 1     [1                       ]            [2]
 *	          0  5                       90   100 130 140 145 150
 */
TS_TEST(a_blocking_copy_holds_its_thread_up)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 100);
	copy(1, 1, 5, 90, false);
	call(2, 1, 130, 140);
	kernel(2, 1, 145, 150);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 1, 0, 5}, {TS_GRAPH_COPY, 1, 5, 90},
		   {TS_GRAPH_IN_CALL, 1, 90, 100}, {TS_GRAPH_HOST_GAP, 2, 100, 130},
		   {TS_GRAPH_LATENCY, 2, 130, 145}, {TS_GRAPH_COMPUTE, 2, 145, 150});
	ts_graph_free(graph);
}

/*
 *	thread 1  |1-| |3 waits for the context                |
 *	thread 2  |2-|
 *	stream 1      [1       ]
 *	stream 2        [2                              ]
 *	          0  5 6 8     50                      200 210
 */
TS_TEST(waiting_for_a_context_is_for_its_last_stream)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 5);
	call(2, 2, 0, 5);
	kernel(1, 1, 6, 50);
	kernel(2, 2, 8, 200);
	call(3, 1, 6, 210);
	waits(3, 4, TS_NO_DEVICE, 7, 209);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 2, 0, 8}, {TS_GRAPH_COMPUTE, 2, 8, 200},
		   {TS_GRAPH_IN_CALL, 3, 200, 210});
	ts_check_int(slack_of(graph, TS_GRAPH_OP, 1), 160);
	ts_graph_free(graph);
}

/* The second copy waits only for the engine, which the first copy uses. */
TS_TEST(an_engine_that_was_taken_is_inferred)
{
	struct ts_graph *graph;
	const struct ts_graph_edge *edge;

	begin();
	call(1, 1, 0, 10);
	copy(1, 1, 15, 10015, true);
	call(2, 1, 20, 30);
	copy(2, 2, 10020, 20000, true);
	graph = finish();
	check_sound(graph);
	edge = &graph->edges[ts_graph_binding(node_of(graph, TS_GRAPH_OP, 2))];
	ts_check_int(edge->kind, TS_GRAPH_ENGINE);
	ts_check_int(edge->is_inferred, 1);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 1, 0, 15}, {TS_GRAPH_COPY, 1, 15, 10015},
		   {TS_GRAPH_WAIT, 2, 10015, 10020}, {TS_GRAPH_COPY, 2, 10020, 20000});
	ts_graph_free(graph);
}

/*
 * The trace does not have the stream of the launch. Each node stands in the stream where it ran;
 * all nodes have one id:
 *	host             |1--|   |2-|
 *	stream 1              [1     ]
 *	stream 2               [1        ]
 *	legacy stream                      [2  ]
 *	                 0   10 15 17 50 80 84 90
 */
TS_TEST(each_node_of_a_launch_is_waited_for_itself)
{
	const struct ts_row_stream made = {.start_ns = BEGIN_NS,
					   .stream = 9,
					   .context = 1,
					   .stream_flags = 3};
	const struct ts_row_graph_launch launched = {
		.start_ns = BEGIN_NS, .op_id = 1, .context = 1, .stream = TS_NO_DEVICE, .graph = 7};
	const uint64_t ends[] = {50, 80};
	struct ts_graph *graph;
	const struct ts_graph_node *last;
	unsigned int n_found = 0;

	begin();
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_STREAM, &made), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_GRAPH_LAUNCH, &launched), 0);
	call(1, 1, 0, 10);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ts_row_kernel row = {.start_ns = BEGIN_NS + 15 + 2 * i,
						  .end_ns = BEGIN_NS + ends[i],
						  .op_id = 1,
						  .context = 1,
						  .stream = 1 + i,
						  .graph = 7,
						  .graph_node = 1 + i};

		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &row), 0);
	}
	call(2, 1, 20, 25);
	kernel(2, 9, 84, 90);
	graph = finish();
	check_sound(graph);
	last = node_of(graph, TS_GRAPH_OP, 2);
	for (uint32_t i = last->first_edge; i < last->first_edge + last->n_edges; i++) {
		const struct ts_graph_edge *edge = &graph->edges[i];

		if (edge->kind != TS_GRAPH_LEGACY)
			continue;
		ts_check_int(graph->nodes[edge->from].stream, 1 + n_found);
		ts_check_int(edge->release_ns, BEGIN_NS + ends[n_found]);
		ts_check_int(graph->nodes[edge->from].end_ns, edge->release_ns);
		n_found++;
	}
	ts_check_int(n_found, 2);
	CHECK_PATH(graph, {TS_GRAPH_LATENCY, 1, 0, 17}, {TS_GRAPH_COMPUTE, 1, 17, 80},
		   {TS_GRAPH_WAIT, 2, 80, 84}, {TS_GRAPH_COMPUTE, 2, 84, 90});
	ts_graph_free(graph);
}

TS_TEST(a_call_that_is_missing_ends_the_path)
{
	struct ts_graph *graph;

	begin();
	call(1, 1, 0, 10);
	kernel(1, 1, 15, 20);
	kernel(2, 2, 50, 90);
	graph = finish();
	check_sound(graph);
	CHECK_PATH(graph, {TS_GRAPH_UNKNOWN, 2, 0, 50}, {TS_GRAPH_COMPUTE, 2, 50, 90});
	ts_check(graph->n_unsure);
	ts_graph_free(graph);
}

/*
 * Two threads wait, and return in the opposite order; the next call of each follows its own return.
 */
TS_TEST(calls_that_wait_at_the_same_time_return_in_order)
{
	struct ts_graph *graph;
	const struct ts_graph_node *node;

	begin();
	call(1, 1, 0, 5);
	kernel(1, 1, 6, 50);
	call(2, 2, 0, 5);
	kernel(2, 2, 7, 30);
	call(3, 1, 10, 60);
	waits(3, 3, 1, 11, 59);
	call(4, 2, 12, 40);
	waits(4, 3, 2, 13, 39);
	call(5, 2, 45, 70);
	call(6, 1, 62, 65);
	graph = finish();
	check_sound(graph);
	for (uint32_t i = 0; i < 2; i++) {
		node = node_of(graph, TS_GRAPH_RETURN, 3 + i);
		ts_check_int(node->n_edges, 2);
		ts_check_int(graph->edges[ts_graph_binding(node)].kind, TS_GRAPH_SYNC);
		ts_check(&graph->nodes[graph->edges[ts_graph_binding(node)].from] ==
			 node_of(graph, TS_GRAPH_OP, 1 + i));
		node = node_of(graph, TS_GRAPH_CALL, 6 - i);
		ts_check_int(node->n_edges, 1);
		ts_check(&graph->nodes[graph->edges[ts_graph_binding(node)].from] ==
			 node_of(graph, TS_GRAPH_RETURN, 3 + i));
	}
	ts_check(node_of(graph, TS_GRAPH_RETURN, 4) < node_of(graph, TS_GRAPH_RETURN, 3));
	ts_graph_free(graph);
}

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % n;
}

/*
 * Random rows, with repeated ids and ends before starts: no crash, no cycle, and all time is
 * accounted for.
 */
TS_TEST(whatever_lies_makes_no_cycle)
{
	for (unsigned int round = 0; round < 300; round++) {
		struct ts_graph *graph;

		seed = round;
		begin();
		for (unsigned int i = 0; i < 60; i++) {
			uint64_t at = below(400), end = at + below(50), id = 1 + below(30);

			switch (below(6)) {
			case 0:
			case 1:
				call(id, (uint32_t)below(3), at, end);
				break;
			case 2:
				kernel(id, (uint32_t)below(4), at, end);
				break;
			case 3:
				copy(id, (uint32_t)below(4), at, end, below(2));
				break;
			case 4:
				waits(id, (uint32_t)below(6), (uint32_t)below(4), at, end);
				break;
			default:
				event(below(2) ? TS_ROW_EVENT : TS_ROW_STREAM_WAIT, id,
				      (uint32_t)below(4), at);
			}
		}
		graph = finish();
		check_sound(graph);
		check_slack(graph);
		ts_graph_free(graph);
	}
}
