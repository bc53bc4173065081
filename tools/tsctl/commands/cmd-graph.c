/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl graph: prints the dependency graph and its critical path, the chain of waits that
 * determines the end. main.c runs it; replay/state/graph builds the graph.
 */
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/answers/doubtsjson.h"
#include "replay/report/answers/graphjson.h"
#include "replay/state/graph/state-graph.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 20u
#define MAX_LISTED     1000000

enum format {
	FORMAT_TEXT,
	FORMAT_DOT,
	FORMAT_JSON,
	FORMAT_UNSET
};

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text", [FORMAT_DOT] = "dot", [FORMAT_JSON] = "json", NULL};

struct asked {
	struct ts_asking asking;
	const char *output;
	unsigned int format; /* enum format */
	bool path;
	struct ts_time from, to;
	uint64_t limit;
};

struct drawing {
	const struct asked *asked;
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
	const struct ts_graph *graph;
	uint64_t origin_ns; /* stored, because the reader searches for it */
	const char *path;
	FILE *file;
};

/* ---- what all forms say ---------------------------------------------------------------------- */

static uint64_t from_origin(const struct drawing *drawing, uint64_t time_ns)
{
	return time_ns > drawing->origin_ns ? time_ns - drawing->origin_ns : 0;
}

/* Begins a progress line, unless the output goes to the same terminal. */
static void start_progress(struct ts_progress *progress, const char *what, uint64_t total,
			   const FILE *file)
{
	ts_progress_init(progress, what, total);
	if (file == stdout && isatty(STDOUT_FILENO))
		progress->is_terminal = false;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

struct printer {
	const struct asked *asked;
	FILE *file;
	struct ts_json json;
	uint64_t n_nodes; /* of the graph, from its summary */
	struct ts_progress progress;
	int r;
};

static void put(struct printer *printer, const ProtobufCMessage *message)
{
	int r = ts_json_message(&printer->json, message);

	if (!printer->r)
		printer->r = r;
	ts_json_raw(&printer->json, "\n");
	fwrite(printer->json.data, 1, printer->json.n_bytes, printer->file);
	ts_progress_add(&printer->progress, 1);
	ts_json_clear(&printer->json);
}

/* Receives the list, possibly in parts: nodes, then edges, then steps, and the summary last. */
static int put_list(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const Ts__Rpc__GraphList *list = (const void *)body;
	struct printer *printer = data;

	for (size_t i = 0; i < list->n_nodes; i++)
		put(printer, &list->nodes[i]->base);
	for (size_t i = 0; i < list->n_edges; i++)
		put(printer, &list->edges[i]->base);
	for (size_t i = 0; i < list->n_steps; i++)
		put(printer, &list->steps[i]->base);
	if (list->summary) {
		printer->n_nodes = list->summary->nodes;
		put(printer, &list->summary->base);
	}
	if (!printer->r)
		return TS_EXIT_OK;
	ts_complain("cannot print the graph as JSON: %s", strerror(-printer->r));
	return TS_EXIT_BAD;
}

/* Receives lines of the list, in any thread. put_list() receives the summary after them. */
static int put_lines(void *data, const char *lines, size_t n_bytes)
{
	struct printer *printer = data;

	fwrite(lines, 1, n_bytes, printer->file);
	if (printer->progress.is_terminal)
		ts_progress_add(&printer->progress, ts_count_lines(lines, n_bytes));
	return TS_EXIT_OK;
}

static int ask_json(const struct asked *asked, struct ts_asking *asking, struct ts_outfile *out)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__Graph graph = TS__RPC__QUERY__GRAPH__INIT;
	struct printer printer = {.asked = asked, .file = out->file};
	Ts__Rpc__Moment from, to;
	int status;

	if (asked->from.is_given)
		graph.from = ts_ask_moment(&asked->from, &from);
	if (asked->to.is_given)
		graph.to = ts_ask_moment(&asked->to, &to);
	TS_RPC_SET(&graph, path, asked->path);
	query.body_case = TS__RPC__QUERY__BODY_GRAPH;
	query.graph = &graph;
	asking->take = put_list;
	asking->take_lines = put_lines;
	asking->data = &printer;
	start_progress(&printer.progress, "writing lines:", 0, out->file);
	status = ts_ask(asking, &query);
	ts_progress_deinit(&printer.progress);
	ts_json_deinit(&printer.json);
	/* A damaged trace still has a graph; an unreadable trace has none. */
	if (status && !asking->is_damaged)
		return status;
	if (ts_outfile_finish(out))
		return TS_EXIT_BAD;
	if (!printer.n_nodes)
		ts_complain("no call and no GPU operation; `tsctl info` lists the rows of the "
			    "trace");
	return status;
}

/* ---- DOT ------------------------------------------------------------------------------------- */

/* Writes a quoted DOT string. DOT interprets backslashes, so they are escaped. */
static void put_quoted(FILE *file, const char *text)
{
	putc_unlocked('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc_unlocked('\\', file);
		putc_unlocked((unsigned char)*text < 0x20 ? ' ' : *text, file);
	}
	putc_unlocked('"', file);
}

static void put_dot_node(const struct drawing *drawing, uint32_t i)
{
	const struct ts_graph_node *node = &drawing->graph->nodes[i];
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char start[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES], slack[TS_OUT_FIGURE_BYTES];
	const char *name = ts_graphjson_name(drawing->resolver, &pool, node), *label;

	ts_out_seconds(start, from_origin(drawing, node->start_ns));
	ts_out_duration(took, node->end_ns - node->start_ns);
	ts_out_duration(slack, drawing->graph->slack_ns[i]);
	label = ts_pool_printf(&pool, "%s%s (%s %" PRIu64 ") at %s s, %s, slack %s",
			       node->kind == TS_GRAPH_RETURN ? "return of " : "",
			       name && *name ? name : ts_graphjson_kind(node->kind),
			       node->kind == TS_GRAPH_OP ? "stream" : "thread",
			       (uint64_t)(node->kind == TS_GRAPH_OP ? node->stream : node->thread),
			       start, took, slack);
	fprintf(drawing->file, "\tn%" PRIu32 " [shape=%s%s%s, label=", i,
		node->kind == TS_GRAPH_OP ? "box" : "ellipse", node->unsure ? ", style=dashed" : "",
		node->is_critical ? ", color=red, penwidth=2" : "");
	put_quoted(drawing->file, label ? label : "?");
	fputs("];\n", drawing->file);
}

static void put_dot_edges(const struct drawing *drawing, uint32_t to)
{
	const struct ts_graph *graph = drawing->graph;
	const struct ts_graph_node *node = &graph->nodes[to];

	for (uint32_t i = node->first_edge; i < node->first_edge + node->n_edges; i++) {
		const struct ts_graph_edge *edge = &graph->edges[i];
		bool is_critical = graph->nodes[edge->from].is_critical && node->is_critical &&
				   ts_graph_binding(node) == i;

		if (drawing->asked->path && !is_critical)
			continue;
		fprintf(drawing->file, "\tn%" PRIu32 " -> n%" PRIu32 " [label=\"%s\"%s%s];\n",
			edge->from, to, ts_graph_edge_name(edge->kind),
			edge->is_inferred ? ", style=dashed" : "",
			is_critical ? ", color=red, penwidth=2" : "");
	}
}

/* An item of a piece (replay/report/pieces.h); its size determines the nodes of a piece. */
struct dot_item {
	uint32_t node;
	bool is_edges; /* of the node; else the node itself */
	uint64_t reserved[7];
};

static int dot_init(void *data, void *state)
{
	const struct drawing *drawing = data;

	return ts_resolver_share(drawing->resolver, state);
}

static void dot_deinit(void *state)
{
	ts_resolver_freep(state);
}

static int format_dot(void *data, void *state, const uint8_t *items, size_t n_bytes,
		      struct ts_json *text)
{
	const struct dot_item *item = (const void *)items;
	struct drawing drawing = *(const struct drawing *)data;
	ts_cleanup(ts_freep) char *bytes = NULL;
	size_t n = 0;

	drawing.resolver = *(struct ts_resolver **)state;
	drawing.file = open_memstream(&bytes, &n);
	if (!drawing.file)
		return -ENOMEM;
	for (; (const uint8_t *)item < items + n_bytes; item++) {
		if (item->is_edges)
			put_dot_edges(&drawing, item->node);
		else
			put_dot_node(&drawing, item->node);
	}
	if (fclose(drawing.file))
		return -ENOMEM;
	ts_json_bytes(text, bytes, n);
	return 0;
}

/* ts_outfile_finish() checks the errors of the file. */
static int write_dot(void *data, const char *text, size_t n_bytes)
{
	const struct drawing *drawing = data;

	fwrite(text, 1, n_bytes, drawing->file);
	return 0;
}

static int add_dot(struct ts_pieces *pieces, uint32_t node, bool is_edges)
{
	void *item;
	int r = ts_pieces_add(pieces, sizeof(struct dot_item), &item);

	if (!r)
		*(struct dot_item *)item = (struct dot_item){.node = node, .is_edges = is_edges};
	return r;
}

static int print_dot(struct drawing *drawing)
{
	const struct ts_graph *graph = drawing->graph;
	const struct ts_pieces_kind kind = {.format = format_dot,
					    .write = write_dot,
					    .writes_anywhere = true,
					    .data = drawing,
					    .state_bytes = sizeof(struct ts_resolver *),
					    .state_init = dot_init,
					    .state_deinit = dot_deinit};
	struct ts_progress progress;
	struct ts_pieces *pieces;
	int r = ts_pieces_new(&kind, &pieces);

	if (r)
		return r;
	start_progress(&progress, "writing nodes and edges:", 2 * (uint64_t)graph->n_nodes,
		       drawing->file);
	fputs("digraph trace {\n\trankdir=LR;\n", drawing->file);
	for (uint32_t i = 0; !r && i < graph->n_nodes; i++) {
		if (!drawing->asked->path || graph->nodes[i].is_critical) {
			ts_graphjson_prepare(drawing->resolver, &graph->nodes[i]);
			r = add_dot(pieces, i, false);
		}
		ts_progress_add(&progress, 1);
	}
	for (uint32_t i = 0; !r && i < graph->n_nodes; i++) {
		r = graph->nodes[i].n_edges ? add_dot(pieces, i, true) : 0;
		ts_progress_add(&progress, 1);
	}
	r = r ? r : ts_pieces_end(pieces);
	ts_progress_deinit(&progress);
	ts_pieces_free(pieces);
	if (!r)
		fputs("}\n", drawing->file);
	return r;
}

/* ---- for people ------------------------------------------------------------------------------ */

static int compare_steps(const void *a, const void *b)
{
	const struct ts_graph_step *x = *(struct ts_graph_step *const *)a;
	const struct ts_graph_step *y = *(struct ts_graph_step *const *)b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Sorts the parts of the path, largest first. */
static size_t sort_parts(const struct ts_graph *graph, uint32_t sorted[TS_GRAPH_PARTS])
{
	size_t n = 0;

	for (uint32_t part = TS_GRAPH_PARTS; part--;) {
		size_t at = n;

		if (!graph->parts_ns[part])
			continue;
		for (; at && graph->parts_ns[sorted[at - 1]] < graph->parts_ns[part]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = part;
		n++;
	}
	return n;
}

static void print_parts(struct drawing *drawing)
{
	const struct ts_graph *graph = drawing->graph;
	uint64_t all_ns = graph->to_ns - graph->from_ns;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char figure[TS_OUT_FIGURE_BYTES], count[TS_OUT_COUNTED_BYTES];
	uint32_t sorted[TS_GRAPH_PARTS];
	size_t n = sort_parts(graph, sorted);

	ts_out_text(drawing->file, drawing->path);
	fprintf(drawing->file, ": critical path of %s in %s", ts_out_duration(figure, all_ns),
		ts_out_counted(count, graph->n_path, "step"));
	fprintf(drawing->file, " (%s,", ts_out_counted(count, graph->n_nodes, "node"));
	fprintf(drawing->file, " %s)\n", ts_out_counted(count, graph->n_edges, "edge"));
	for (size_t i = 0; i < n; i++) {
		const char *part = ts_graph_part_name(sorted[i]);
		uint64_t ns = graph->parts_ns[sorted[i]];

		fprintf(drawing->file, "  %10s %5.1f %%  %-7s  %s\n", ts_out_duration(figure, ns),
			all_ns ? 100.0 * (double)ns / (double)all_ns : 0, ts_text_part(part),
			ts_text_part_sum(part));
	}
	if (graph->n_unsure)
		fprintf(drawing->file,
			"%s had unknown dependencies: a step may belong to another operation.\n",
			ts_out_counted(count, graph->n_unsure, "operation"));
	if (graph->is_modelled)
		ts_text_model_clock(drawing->file);
	ts_text_doubts(drawing->file, "", ts_doubtsjson_make(&pool, &graph->doubts));
}

static void add_step(struct drawing *drawing, struct ts_table *table,
		     const struct ts_graph_step *step)
{
	const struct ts_graph_node *node = &drawing->graph->nodes[step->node];
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	const char *name = ts_graphjson_name(drawing->resolver, &pool, node);
	char figure[TS_OUT_FIGURE_BYTES];

	ts_table_add(table, ts_out_seconds(figure, from_origin(drawing, step->from_ns)));
	ts_table_add(table, ts_out_duration(figure, step->to_ns - step->from_ns));
	ts_table_add(table, ts_text_part(ts_graph_part_name(step->part)));
	ts_table_addf(table, "%" PRIu64, node->op_id);
	if (node->kind == TS_GRAPH_OP)
		ts_table_addf(table, "%" PRIu32, node->stream);
	else
		ts_table_add(table, "");
	ts_table_addf(table, "%s%s",
		      step->part == TS_GRAPH_HOST_GAP || step->part == TS_GRAPH_WAIT ? "before "
										     : "",
		      name ? name : "");
}

static int print_text(struct drawing *drawing)
{
	static const char *const headings[] = {"TIME (s)", "TOOK", "STEP", "OP", "STREAM", "NAME"};
	const struct ts_graph *graph = drawing->graph;
	size_t n = graph->n_path < drawing->asked->limit ? graph->n_path
							 : (size_t)drawing->asked->limit;
	ts_cleanup(ts_freep) const struct ts_graph_step **steps =
		calloc(graph->n_path + 1, sizeof(*steps));
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;

	if (!steps || ts_table_new("rrlrrl", &table))
		return -ENOMEM;
	print_parts(drawing);
	for (size_t i = 0; i < graph->n_path; i++)
		steps[i] = &graph->path[i];
	qsort(steps, graph->n_path, sizeof(*steps), compare_steps);
	for (size_t i = 0; i < TS_ARRAY_LEN(headings); i++)
		ts_table_add(table, headings[i]);
	for (size_t i = 0; i < n; i++)
		add_step(drawing, table, steps[i]);
	if (!n)
		return 0;
	fprintf(drawing->file, "\nLongest steps\n");
	ts_table_print(table, drawing->file, 2, false);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int set_window(const struct asked *asked, struct ts_sbt_reader *reader,
		      struct ts_graph_options *options)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(reader);

	if (asked->from.is_given)
		options->from_ns = ts_time_absolute(&asked->from, origin_ns);
	if (asked->to.is_given) {
		options->to_ns = ts_time_absolute(&asked->to, origin_ns);
		options->to_ns = options->to_ns ? options->to_ns : 1;
	}
	if (!asked->to.is_given || options->to_ns >= options->from_ns)
		return 0;
	ts_complain("--to is before --from");
	return -EINVAL;
}

static int print_graph(struct drawing *drawing)
{
	return drawing->asked->format == FORMAT_DOT ? print_dot(drawing) : print_text(drawing);
}

static int run(const struct asked *asked, struct ts_source *source, struct ts_outfile *out)
{
	struct ts_resolver_options names = {.session = source->session};
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = NULL;
	ts_cleanup(ts_graph_freep) struct ts_graph *graph = NULL;
	struct ts_graph_options options = {.session = source->session};
	struct drawing drawing = {.asked = asked,
				  .reader = source->reader,
				  .origin_ns = ts_sbt_reader_origin_ns(source->reader),
				  .path = source->path,
				  .file = out->file};
	int status, r;

	if (set_window(asked, source->reader, &options))
		return TS_EXIT_BAD;
	ts_source_watch(source);
	r = ts_resolver_new(source->reader, &names, &resolver);
	if (!r)
		r = ts_graph_read(source->reader, &options, &graph);
	ts_source_unwatch(source);
	if (r == TS_E_GRAPH_NODES) {
		ts_complain("%s has more than %zu calls and operations; select a window with "
			    "--from and --to",
			    source->path, TS_GRAPH_MAX_NODES);
		return TS_EXIT_BAD;
	}
	if (!r) {
		drawing.resolver = resolver;
		drawing.graph = graph;
		r = print_graph(&drawing);
	}
	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	status = ts_outfile_finish(out);
	if (!graph->n_nodes)
		ts_complain("%s: no call and no GPU operation; `tsctl info` lists the rows of "
			    "the trace",
			    source->path);
	if (status || !graph->is_damaged)
		return status;
	ts_source_complain(source->path, TS_SBT_E_CORRUPT, ts_sbt_reader_error(source->reader));
	return TS_EXIT_BAD;
}

static int set_json(void *to, const struct ts_option *option, const char *text)
{
	struct asked *asked = to;

	asked->format = FORMAT_JSON;
	return 0;
}

static const struct ts_option command_options[] = {
	{"critical-path", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, path),
	 .help = "print the chain that led to the latest end, and its time\n"
		 "in kernels, copies, launch latency, host and waits"},
	{"format", TS_OPTION_LONG, TS_OPTION_CHOICE(struct asked, format), .words = format_names,
	 .metavar = "FORMAT",
	 .expects = "expected `dot`, `json` or `text` (`text` requires --critical-path)",
	 .help = "write dot (for Graphviz; default), json (one object a\n"
		 "line: nodes with slack, edges, the critical path and its\n"
		 "sums) or text (requires --critical-path; its default)"},
	{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = MAX_LISTED, .metavar = "N",
	 .expects = "expected a number of steps, at most " TS_OPTION_DIGITS(MAX_LISTED),
	 .help = "list at most N of the longest steps as text (default: 20)"},
	{"output", 'o', TS_OPTION_FILE(struct asked, output), .metavar = "FILE",
	 .help = "write to FILE (default: standard output)"},
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, from), .metavar = "TIME",
	 .joint = ", ", .rank = 1},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, to), .metavar = "TIME",
	 .help = "\n"
		 "read this window, as with `tsctl view`",
	 .rank = 1},
	{"session", 's', TS_OPTION_SESSION(struct asked, asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid", .rank = 1},
	{"json", 'j', TS_OPTION_PARSED_FLAG(set_json), .is_letter_unmentioned = true,
	 .help = "write JSON, as --format json does"},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, asking.served),
	 .help = "have the daemon answer (requires --json)"},
	{0},
};

static int run_graph(int argc, char **argv)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	ts_cleanup(ts_outfile_deinit) struct ts_outfile out = {0};
	struct asked asked = {.format = FORMAT_UNSET, .limit = DEFAULT_LISTED};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_graph, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.asking.session, "graph", ""))
		return TS_EXIT_BAD;
	if (asked.format == FORMAT_UNSET)
		asked.format = asked.path ? FORMAT_TEXT : FORMAT_DOT;
	if (asked.format == FORMAT_TEXT && !asked.path) {
		ts_complain("--format text requires --critical-path; a graph is `dot` or `json`");
		return TS_EXIT_BAD;
	}
	asked.asking.file = operands.words[0];
	if (asked.asking.served && asked.format != FORMAT_JSON) {
		ts_complain("--served requires --format json");
		return TS_EXIT_BAD;
	}
	if (asked.format == FORMAT_JSON)
		return ts_outfile_open(&out, asked.output) ? TS_EXIT_BAD
							   : ask_json(&asked, &asked.asking, &out);
	if (ts_source_open(&source, asked.asking.file, asked.asking.session) ||
	    ts_outfile_open(&out, asked.output))
		return TS_EXIT_BAD;
	return run(&asked, &source, &out);
}

const struct ts_command ts_command_graph = {
	.name = "graph",
	.summary = "print the critical path, or write the graph of dependencies",
	.text = "usage: tsctl graph [OPTION ...] FILE | --session N\n"
		"\n"
		"Write the graph of dependencies. An operation depends on its launch, on earlier\n"
		"operations of its stream, and on events. A call depends on earlier calls of its\n"
		"thread, and on the operations that it waited for.\n"
		"\n",
	.example = "graph --critical-path run.sbt",
	.help_column = 23,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_graph,
};
