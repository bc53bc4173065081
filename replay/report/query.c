/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one query: selects the parts of replay/state and of this folder that answer it, and passes
 * each message to options->give(). tsctl, the daemon's worker and libtracesmith's users call this
 * file.
 */
#include "replay/report/query-lines.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/answers/analysisjson.h"
#include "replay/report/answers/clockjson.h"
#include "replay/report/answers/errorsjson.h"
#include "replay/report/answers/gapsjson.h"
#include "replay/report/answers/graphjson.h"
#include "replay/report/answers/memoryjson.h"
#include "replay/report/answers/misusejson.h"
#include "replay/report/answers/statejson.h"
#include "replay/report/answers/statenear.h"
#include "replay/report/answers/timelinejson.h"
#include "replay/report/info/traceinfo.h"
#include "replay/report/replay/replay.h"
#include "replay/report/rows/rowjson.h"
#include "replay/report/rows/rowlines.h"
#include "replay/report/rows/rowsums.h"
#include "replay/report/rows/rowwalk.h"

#include <inttypes.h>
#include <stdio.h>

#define STEP_ROWS      4096u
#define DEFAULT_PARTS  100u
#define MAX_PARTS      10000u
#define DEFAULT_LISTED 10u
#define MAX_LISTED     (1u << 20)
#define MAX_HOLDERS    (1u << 16) /* largest allocations, summed by call site */
#define DEFAULT_LEAST  10000u	  /* shortest gap, in ns */
#define DEFAULT_FOUND  5u	  /* kernels, and stacks per finding, of an analysis */
#define MAX_FOUND      (1u << 16)
/* Rows that the recording itself writes; no sum includes them. */
#define QUIET_TYPES TS_ROW_BIT(TS_ROW_CLOCK)

struct query {
	struct ts_sbt_reader *reader;
	uint32_t session;
	const struct ts_query_options *options;
	ts_lines_fn *write; /* for lists; NULL: messages */
	struct ts_resolver *resolver;
	struct ts_query_end end;
};

static int give(const struct query *query, unsigned number, const ProtobufCMessage *body)
{
	return query->options->give(query->options->data, number, body);
}

static void note_damage(struct query *query, bool is_damaged)
{
	if (!is_damaged)
		return;
	query->end.is_damaged = true;
	query->end.damage = *ts_sbt_reader_error(query->reader);
}

/* Lost definitions are damage, too: names and stacks are missing in the answer. */
static void note_lost_definitions(struct query *query)
{
	const struct ts_sbt_error *lost = ts_sbt_reader_lost_definitions(query->reader);

	if (!lost || query->end.is_damaged)
		return;
	query->end.is_damaged = true;
	query->end.damage = *lost;
}

static uint64_t absolute(const struct query *query, const Ts__Rpc__Moment *moment)
{
	return ts_query_ns(query->reader, moment);
}

/*
 * Converts a window's moments to nanoseconds. For the readers, 0 means no limit. So a request for
 * `to` = 0 becomes 1: no row ends before the clock's first nanosecond.
 */
static int window(const struct query *query, const Ts__Rpc__Moment *from, const Ts__Rpc__Moment *to,
		  uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	*ret_from_ns = from ? absolute(query, from) : 0;
	*ret_to_ns = to ? absolute(query, to) : 0;
	if (to && !*ret_to_ns)
		*ret_to_ns = 1;
	return to && *ret_to_ns < *ret_from_ns ? TS_QUERY_E_WINDOW : 0;
}

/*
 * Returns the start of a window; NULL: no limit. Clock rows may lie before the trace's start, so
 * only an explicit `from` excludes them.
 */
static const Ts__Rpc__Moment *beginning(const Ts__Rpc__Moment *from)
{
	return from && (from->ns || !from->from_start) ? from : NULL;
}

static int resolve(struct query *query, bool mangled, bool launchers, uint64_t from_ns)
{
	struct ts_resolver_options options = {.mangled = mangled,
					      .launchers = launchers,
					      .session = query->session,
					      .from_ns = from_ns};

	return ts_resolver_new(query->reader, &options, &query->resolver);
}

static int types(char *const *names, size_t n, uint64_t *ret_types)
{
	*ret_types = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned int type = ts_row_type_by_name(names[i]);

		if (!type || !(TS_ROW_BIT(type) & TS_ROW_EVENTS))
			return TS_QUERY_E_TYPE;
		*ret_types |= TS_ROW_BIT(type);
	}
	return 0;
}

static bool is_outside(const struct query *query, uint64_t ns)
{
	struct ts_sbt_summary summary;

	/*
	 * The end of an unfinished or truncated trace is unknown, so no instant counts as after it.
	 */
	if (ts_sbt_reader_state(query->reader) != TS_SBT_FINISHED ||
	    ts_sbt_reader_summary(query->reader, 0, &summary))
		return false;
	return ns > summary.latest_ns || ns < ts_sbt_reader_origin_ns(query->reader);
}

static int run_state(struct query *query, const Ts__Rpc__Query__State *asked)
{
	ts_cleanup(ts_state_freep) struct ts_state *state = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	Ts__Rpc__StateReport report;
	int r;

	if (!asked->at)
		return TS_QUERY_E_UNKNOWN;
	if (is_outside(query, absolute(query, asked->at)))
		return TS_QUERY_E_OUTSIDE;
	r = resolve(query, asked->mangled, false, 0);
	if (!r)
		r = ts_state_at(query->reader, query->session, absolute(query, asked->at), &state);
	if (r)
		return r;
	note_damage(query, state->is_damaged);
	query->end.has_bad_checkpoints = state->is_checkpoint_bad;
	ts_statejson_make(query->resolver, state, asked->stacks, &pool, &report);
	r = ts_statenear_add(query->resolver, query->session, &pool, &report);
	if (r)
		return r;
	return give(query, TS__RPC__ANSWER__BODY_STATE, &report.base);
}

static int run_timeline(struct query *query, const Ts__Rpc__Query__Timeline *asked)
{
	ts_cleanup(ts_timeline_freep) struct ts_timeline *timeline = NULL;
	ts_cleanup(ts_occupancies_freep) struct ts_occupancies *occupancies = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	struct ts_timeline_options options = {.session = query->session,
					      .n_parts =
						      asked->parts ? asked->parts : DEFAULT_PARTS,
					      .device_parts = asked->device_parts};
	Ts__Rpc__ClockBounds *clocks = NULL;
	Ts__Rpc__TimelineReport report;
	int r;

	if (options.n_parts > MAX_PARTS)
		return TS_QUERY_E_MANY;
	r = window(query, asked->from, asked->to, &options.from_ns, &options.to_ns);
	r = r ? r : resolve(query, false, false, 0);
	r = r ? r : ts_timeline_read(query->reader, &options, &timeline);
	r = r ? r
	      : ts_occupancies_read(query->reader, query->session, timeline->from_ns,
				    timeline->to_ns, &occupancies);
	r = r ? r : ts_clockjson_make(query->reader, query->session, &pool, &clocks);
	if (r)
		return r;
	note_damage(query, timeline->is_damaged);
	ts_timelinejson_make(query->resolver, &pool, timeline, &report);
	ts_timelinejson_occupancies(&pool, occupancies, report.devices, report.n_devices);
	report.clocks = clocks;
	return give(query, TS__RPC__ANSWER__BODY_TIMELINE, &report.base);
}

static int give_rows(struct query *query, struct ts_row_walk *walk, struct ts_rowjson *rowjson,
		     uint64_t limit)
{
	Ts__Rpc__RowList list = TS__RPC__ROW_LIST__INIT;
	Ts__Rpc__Row message, *messages[1] = {&message};
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	list.n_rows = 1;
	list.rows = messages;
	while (!r && (!limit || n < limit)) {
		r = ts_row_walk_next(walk, &row);
		r = r ? r : ts_rowjson_make(rowjson, &row, &message);
		r = r ? r : give(query, TS__RPC__ANSWER__BODY_ROWS, &list.base);
		if (!r && ++n % STEP_ROWS == 0 && query->options->step)
			query->options->step(query->options->data, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* As give_rows(), as lines. The lines before an error are written. */
static int write_rows(struct query *query, struct ts_row_walk *walk, struct ts_rowjson *rowjson,
		      bool is_shared, uint64_t limit)
{
	ts_cleanup(ts_row_lines_freep) struct ts_row_lines *lines = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_row_lines_new(query->resolver, rowjson, is_shared, query->write,
				 query->options->data, &lines);
	int written;

	if (r)
		return r;
	while (!r && (!limit || n < limit)) {
		r = ts_row_walk_next(walk, &row);
		r = r ? r : ts_row_lines_add(lines, &row);
		if (!r && ++n % STEP_ROWS == 0 && query->options->step)
			query->options->step(query->options->data, n);
	}
	written = ts_row_lines_end(lines);
	return r && r != TS_SBT_E_END ? r : written;
}

static int run_rows(struct query *query, const Ts__Rpc__Query__Rows *asked)
{
	ts_cleanup(ts_row_walk_deinit) struct ts_row_walk walk = {0};
	ts_cleanup(ts_rowjson_freep) struct ts_rowjson *rowjson = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool stacks = {.no_memory = query->options->no_memory};
	struct ts_sbt_cursor_options rows = {.session = query->session};
	uint64_t limit = asked->limit ? asked->limit : TS_ROW_LONGEST_DEFAULT;
	bool launchers = asked->stacks || ts_row_filter_asks_threads(asked->filter);
	int r = types(asked->types, asked->n_types, &rows.types);

	if (asked->longest_first && limit > TS_ROW_LONGEST_MAX)
		return TS_QUERY_E_MANY;
	r = r ? r : window(query, beginning(asked->from), asked->to, &rows.from_ns, &rows.to_ns);
	r = r ? r : resolve(query, asked->mangled, launchers, rows.from_ns);
	r = r ? r
	      : ts_row_walk_init(&walk, query->resolver, &rows, asked->filter,
				 rows.types & TS_ROW_BIT(TS_ROW_RANGE_BEGIN));
	if (!r && asked->longest_first)
		r = ts_row_walk_longest(&walk, (size_t)limit, query->options->step,
					query->options->data);
	r = r ? r : ts_rowjson_new(query->resolver, asked->stacks ? &stacks : NULL, &rowjson);
	if (!r && query->write)
		r = write_rows(query, &walk, rowjson, !launchers, asked->limit);
	else if (!r)
		r = give_rows(query, &walk, rowjson, asked->limit);
	query->end.is_damaged = walk.is_damaged;
	query->end.damage = walk.damage;
	return r;
}

static int run_stats(struct query *query, const Ts__Rpc__Query__Stats *asked)
{
	ts_cleanup(ts_row_sums_deinit) struct ts_row_sums sums = {0};
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	struct ts_sbt_cursor_options rows = {.session = query->session};
	Ts__Rpc__TraceStats stats;
	int r = types(asked->types, asked->n_types, &rows.types);

	if (!rows.types)
		rows.types = TS_ROW_EVENTS & ~QUIET_TYPES;
	r = r ? r : window(query, beginning(asked->from), asked->to, &rows.from_ns, &rows.to_ns);
	r = r ? r : resolve(query, asked->mangled, true, rows.from_ns);
	r = r ? r
	      : ts_row_sums_read(&sums, query->resolver, &rows, asked->filter,
				 query->options->no_memory, query->options->step,
				 query->options->data);
	if (r)
		return r;
	query->end.is_damaged = sums.is_damaged;
	query->end.damage = sums.damage;
	ts_row_sums_message(&sums, &pool, asked->limit, &stats);
	return give(query, TS__RPC__ANSWER__BODY_STATS, &stats.base);
}

static int run_memory(struct query *query, const Ts__Rpc__Query__Memory *asked)
{
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = NULL;
	ts_cleanup(ts_misuses_freep) struct ts_misuses *misuses = NULL;
	ts_cleanup(ts_lifetimes_freep) struct ts_lifetimes *lifetimes = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	uint32_t limit = asked->has_limit ? asked->limit : DEFAULT_LISTED;
	Ts__Rpc__MemoryReport report;
	bool is_damaged;
	int r;

	if (limit > MAX_LISTED || asked->points > TS_MEMORY_MAX_PARTS)
		return TS_QUERY_E_MANY;
	r = resolve(query, false, false, 0);
	r = r ? r
	      : ts_memory_read_curves(query->reader, query->session, MAX_HOLDERS, asked->points,
				      &memory);
	r = r ? r : ts_misuses_read(query->reader, query->session, limit, &misuses);
	if (!r && asked->has_address)
		r = ts_lifetimes_read(query->reader, query->session, asked->address, &lifetimes);
	if (r)
		return r;
	/* The three readers read different rows, so damage may affect only one of them. */
	is_damaged =
		memory->is_damaged || misuses->is_damaged || (lifetimes && lifetimes->is_damaged);
	note_damage(query, is_damaged);
	ts_memoryjson_make(query->resolver, &pool, memory, limit, asked->stacks, &report);
	r = ts_memoryjson_sites(query->resolver, &pool, memory, &report);
	if (r)
		return r;
	ts_misusejson_fill(query->resolver, &pool, misuses, asked->stacks, &report);
	if (lifetimes)
		ts_memoryjson_alive(query->resolver, &pool, lifetimes, limit, &report);
	r = ts_errorsjson_make(query->resolver, &pool, query->session, &report.n_errors,
			       &report.errors, &report.failed_calls, &is_damaged);
	if (r)
		return r;
	report.has_failed_calls = report.failed_calls != 0;
	TS_RPC_SET(&report, damaged, is_damaged);
	return give(query, TS__RPC__ANSWER__BODY_MEMORY, &report.base);
}

/* Sends one element per message, so the graph's messages are never all in memory. */
enum element {
	NODE,
	STEP,
	SUMMARY
};

static int give_element(const struct query *query, const struct ts_graph *graph,
			enum element element, uint32_t i)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	Ts__Rpc__GraphList list = TS__RPC__GRAPH_LIST__INIT;
	Ts__Rpc__GraphNode *node;
	Ts__Rpc__GraphStep *step;

	switch (element) {
	case NODE:
		node = ts_graphjson_node(query->resolver, &pool, graph, i);
		list.n_nodes = 1;
		list.nodes = &node;
		return give(query, TS__RPC__ANSWER__BODY_GRAPH, &list.base);
	case STEP:
		step = ts_graphjson_step(query->resolver, &pool, graph, &graph->path[i]);
		list.n_steps = 1;
		list.steps = &step;
		return give(query, TS__RPC__ANSWER__BODY_GRAPH, &list.base);
	case SUMMARY:
	default:
		list.summary = ts_graphjson_summary(&pool, graph);
		return give(query, TS__RPC__ANSWER__BODY_GRAPH, &list.base);
	}
}

static int give_edges(const struct query *query, const struct ts_graph *graph, uint32_t to)
{
	const struct ts_graph_node *node = &graph->nodes[to];
	int r = 0;

	for (uint32_t i = 0; !r && i < node->n_edges; i++) {
		ts_cleanup(ts_pool_deinit) struct ts_pool pool = {
			.no_memory = query->options->no_memory};
		Ts__Rpc__GraphList list = TS__RPC__GRAPH_LIST__INIT;
		Ts__Rpc__GraphEdge *edge =
			ts_graphjson_edge(&pool, graph, to, node->first_edge + i);

		list.n_edges = 1;
		list.edges = &edge;
		r = give(query, TS__RPC__ANSWER__BODY_GRAPH, &list.base);
	}
	return r;
}

static int give_graph(struct query *query, const struct ts_graph *graph, bool only_path)
{
	int r = 0;

	for (uint32_t i = 0; !r && !only_path && i < graph->n_nodes; i++)
		r = give_element(query, graph, NODE, i);
	for (uint32_t i = 0; !r && !only_path && i < graph->n_nodes; i++)
		r = give_edges(query, graph, i);
	for (uint32_t i = 0; !r && i < graph->n_path; i++)
		r = give_element(query, graph, STEP, i);
	return r;
}

static int run_graph(struct query *query, const Ts__Rpc__Query__Graph *asked)
{
	ts_cleanup(ts_graph_freep) struct ts_graph *graph = NULL;
	struct ts_graph_options options = {.session = query->session};
	int r = window(query, asked->from, asked->to, &options.from_ns, &options.to_ns);

	if (asked->has_max_nodes && asked->max_nodes && asked->max_nodes < TS_GRAPH_MAX_NODES)
		options.max_nodes = asked->max_nodes;
	r = r ? r : resolve(query, false, false, 0);
	r = r ? r : ts_graph_read(query->reader, &options, &graph);
	if (r)
		return r;
	note_damage(query, graph->is_damaged);
	if (query->write)
		r = ts_graphjson_write(query->resolver, graph, asked->path,
				       query->options->no_memory, query->write,
				       query->options->data);
	else
		r = give_graph(query, graph, asked->path);
	return r ? r : give_element(query, graph, SUMMARY, 0);
}

static int run_gaps(struct query *query, const Ts__Rpc__Query__Gaps *asked)
{
	ts_cleanup(ts_codes_freep) struct ts_codes *codes = NULL;
	ts_cleanup(ts_gaps_freep) struct ts_gaps *gaps = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	struct ts_gaps_options options = {.session = query->session,
					  .least_ns = asked->op_id	    ? 0
						      : asked->has_least_ns ? asked->least_ns
									    : DEFAULT_LEAST,
					  .op_id = asked->op_id,
					  .max_longest =
						  asked->has_limit ? asked->limit : DEFAULT_LISTED};
	Ts__Rpc__GapsReport report;
	int r = window(query, asked->from, asked->to, &options.from_ns, &options.to_ns);

	if (options.max_longest > MAX_FOUND)
		return TS_QUERY_E_MANY;
	r = r ? r : resolve(query, asked->mangled, false, 0);
	r = r ? r : ts_codes_new(query->resolver, &codes);
	if (r)
		return r;
	options.code = ts_codes_find(codes);
	r = ts_gaps_read(query->reader, &options, &gaps);
	if (r)
		return r;
	note_damage(query, gaps->is_damaged);
	ts_gapsjson_make(query->resolver, codes, gaps, options.least_ns, asked->stacks, &pool,
			 &report);
	return give(query, TS__RPC__ANSWER__BODY_GAPS, &report.base);
}

static int run_analyze(struct query *query, const Ts__Rpc__Query__Analyze *asked)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	uint32_t limit = asked->has_limit ? asked->limit : DEFAULT_FOUND;
	Ts__Rpc__AnalysisReport report;
	int r;

	if (limit > MAX_FOUND)
		return TS_QUERY_E_MANY;
	r = resolve(query, false, false, 0);
	r = r ? r : ts_analysisjson_make(query->resolver, query->session, limit, &pool, &report);
	if (r)
		return r;
	note_damage(query, report.damaged);
	return give(query, TS__RPC__ANSWER__BODY_ANALYZE, &report.base);
}

static int run_info(struct query *query, const Ts__Rpc__Query__Info *asked, const char *path)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = query->options->no_memory};
	bool is_damaged = false, is_column_damaged = false;
	Ts__Rpc__TraceInfo info;
	int r = resolve(query, asked->mangled, false, 0);

	r = r ? r
	      : ts_traceinfo_make(query->resolver, path, query->session, 0, asked->no_errors, &pool,
				  &info, &is_damaged);
	if (!r && asked->columns)
		r = ts_traceinfo_columns(query->reader, query->session, &pool, &info,
					 &is_column_damaged);
	if (r)
		return r;
	note_damage(query, is_damaged || is_column_damaged);
	note_lost_definitions(query);
	if (query->end.is_damaged)
		TS_RPC_SET(&info, damaged_at, query->end.damage.off);
	return give(query, TS__RPC__ANSWER__BODY_INFO, &info.base);
}

static int run(struct query *query, const Ts__Rpc__Query *asked)
{
	switch (asked->body_case) {
	case TS__RPC__QUERY__BODY_STATE:
		return run_state(query, asked->state);
	case TS__RPC__QUERY__BODY_TIMELINE:
		return run_timeline(query, asked->timeline);
	case TS__RPC__QUERY__BODY_ROWS:
		return run_rows(query, asked->rows);
	case TS__RPC__QUERY__BODY_STATS:
		return run_stats(query, asked->stats);
	case TS__RPC__QUERY__BODY_MEMORY:
		return run_memory(query, asked->memory);
	case TS__RPC__QUERY__BODY_GRAPH:
		return run_graph(query, asked->graph);
	case TS__RPC__QUERY__BODY_REPLAY:
		return ts_replay_query(query->reader, query->session, asked, query->options,
				       &query->end);
	case TS__RPC__QUERY__BODY_GAPS:
		return run_gaps(query, asked->gaps);
	case TS__RPC__QUERY__BODY_ANALYZE:
		return run_analyze(query, asked->analyze);
	case TS__RPC__QUERY__BODY_INFO:
		return run_info(query, asked->info, asked->path);
	default:
		return TS_QUERY_E_UNKNOWN;
	}
}

int ts_query_lines(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		   const struct ts_query_options *options, ts_lines_fn *write,
		   struct ts_query_end *ret_end)
{
	struct query running = {.reader = reader,
				.session = session,
				.options = options,
				.write = write};
	const volatile int *before;
	bool is_replay;
	int r;

	if (!options->give || !options->no_memory)
		return -EINVAL;
	/*
	 * Query.body is a union of pointers, so query->state is NULL if the request has no body,
	 * whatever kind it names.
	 */
	if (!query->state)
		return TS_QUERY_E_UNKNOWN;
	/* A replay that is cancelled still has to report. */
	is_replay = query->body_case == TS__RPC__QUERY__BODY_REPLAY;
	before = ts_sbt_reader_cancel(reader, is_replay ? NULL : options->cancel);
	if (!is_replay && !options->cancel)
		ts_sbt_reader_cancel(reader, before);
	r = run(&running, query);
	ts_sbt_reader_cancel(reader, before);
	ts_resolver_free(running.resolver);
	if (r)
		return r;
	/* A replay reports missing definitions in its own answer. */
	if (!is_replay)
		note_lost_definitions(&running);
	*ret_end = running.end;
	return 0;
}

int ts_query_run(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		 const struct ts_query_options *options, struct ts_query_end *ret_end)
{
	return ts_query_lines(reader, session, query, options, NULL, ret_end);
}

void ts_query_why(const char *path, int r, const struct ts_sbt_error *error,
		  char ret_why[TS_QUERY_WHY_BYTES])
{
	size_t n = TS_QUERY_WHY_BYTES;
	char limit[TS_LIMIT_TEXT_BYTES];

	if (r == TS_QUERY_E_WINDOW)
		snprintf(ret_why, n, "the window ends before it begins");
	else if (r == TS_QUERY_E_OUTSIDE)
		snprintf(ret_why, n,
			 "the time is outside the trace %.72s; `tsctl info` prints its duration",
			 path);
	else if (r == TS_QUERY_E_TYPE)
		snprintf(ret_why, n, "no type of row has this name");
	else if (r == TS_QUERY_E_UNKNOWN)
		snprintf(ret_why, n, "this version does not know the query");
	else if (r == TS_QUERY_E_MANY)
		snprintf(ret_why, n,
			 "the query exceeds a limit: %u parts of a timeline, %u lines of a list, "
			 "or %u rows by duration",
			 MAX_PARTS, MAX_LISTED, TS_ROW_LONGEST_MAX);
	else if (r == TS_E_GRAPH_NODES)
		snprintf(ret_why, n,
			 "%.72s has more than %zu calls and operations; select a window with "
			 "--from and --to",
			 path, TS_GRAPH_MAX_NODES);
	else if (ts_limit_text(r, error, limit))
		snprintf(ret_why, n, "%.72s %s", path, limit);
	else if (r == TS_SBT_E_NOT_SBT)
		snprintf(ret_why, n, "%.72s is no trace: %s", path, error->text);
	else if (r == TS_SBT_E_VERSION)
		snprintf(ret_why, n, "%.72s has a version that this program cannot read: %s", path,
			 error->text);
	else if (r > 0 && error->code == r)
		snprintf(ret_why, n, "%.72s is damaged at byte %" PRIu64 ": %s", path, error->off,
			 error->text);
	else if (r > 0)
		snprintf(ret_why, n, "cannot read %.72s: unknown error %d", path, r);
	else
		snprintf(ret_why, n, "cannot read %.72s: %s", path, strerror(-r));
}
