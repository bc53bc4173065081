/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --on emulate`: parses what-if edits and prints the results in virtual time.
 * cmd-replay.c calls this file; replay/emulate parses one edit.
 */
#include "proto/abi/base.h"
#include "replay/emulate/emulate.h"
#include "replay/report/replay/replay.h"
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/tsctl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int add_edit(struct ts_replay_asked *asked, const char *text, const char *where)
{
	Ts__Rpc__Query__Replay *query = &asked->query;
	struct ts_emulate_edit edit;
	char message[TS_EMULATE_TEXT_BYTES];

	if (query->n_what_if == TS_REPLAY_MAX_EDITS) {
		ts_complain("%s: more than %u edits", where, TS_REPLAY_MAX_EDITS);
		return -EINVAL;
	}
	if (ts_emulate_edit_parse(text, &edit, message)) {
		ts_complain("%s %s: %s; `tsctl replay --what-if help` lists the edits", where, text,
			    message);
		return -EINVAL;
	}
	if (!query->what_if)
		query->what_if =
			ts_pool_alloc(&asked->pool, TS_REPLAY_MAX_EDITS, sizeof(*query->what_if));
	query->what_if[query->n_what_if++] = ts_pool_copy(&asked->pool, text);
	return 0;
}

static int read_edits(struct ts_replay_asked *asked, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int r = 0;

	if (!file) {
		ts_complain("--what-if @%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	while (!r && fgets(line, sizeof(line), file)) {
		size_t n = strcspn(line, "#\r\n");
		char *text = line;

		if (!strchr(line, '\n') && !feof(file)) {
			ts_complain("--what-if @%s: a line is too long to be an edit", path);
			r = -EINVAL;
			break;
		}
		while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
			n--;
		line[n] = '\0';
		while (*text == ' ' || *text == '\t')
			text++;
		if (*text)
			r = add_edit(asked, text, path);
	}
	if (!r && ferror(file)) {
		ts_complain("--what-if @%s: cannot read the file", path);
		r = -EINVAL;
	}
	fclose(file);
	return r;
}

int ts_replayemulate_add(struct ts_replay_asked *asked, const char *text)
{
	return text[0] == '@' ? read_edits(asked, text + 1) : add_edit(asked, text, "--what-if");
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void print_makespan(const char *what, uint64_t ns, uint64_t of_ns)
{
	char figure[TS_OUT_FIGURE_BYTES];

	printf("  %-10s %12s", what, ts_out_duration(figure, ns));
	if (of_ns)
		printf("  %+.2f %%", percent(ns, of_ns) - 100);
	putchar('\n');
}

/*
 * Adds a cell with the busy share in one run, if there is such a run. The table has a row for each
 * stream and engine of the last run, with a cell for each run.
 */
static void add_share(struct ts_table *table, uint64_t busy_ns, const Ts__Rpc__ReplayRun *run)
{
	if (!run)
		return;
	ts_table_addf(table, "%.1f %%", percent(busy_ns, run->makespan_ns));
}

/* A run's streams and engines, sorted by the keys that runs have in common. */
struct busy {
	Ts__Rpc__ReplayStream **streams;
	Ts__Rpc__ReplayEngine **engines;
	size_t n_streams, n_engines;
};

static void busy_deinit(struct busy *busy)
{
	free(busy->streams);
	free(busy->engines);
}

#define COMPARE(x, y)                              \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_streams(const void *a, const void *b)
{
	const Ts__Rpc__ReplayStream *x = *(Ts__Rpc__ReplayStream *const *)a;
	const Ts__Rpc__ReplayStream *y = *(Ts__Rpc__ReplayStream *const *)b;

	COMPARE(x->session, y->session);
	COMPARE(x->context, y->context);
	COMPARE(x->stream, y->stream);
	return 0;
}

static int compare_engines(const void *a, const void *b)
{
	const Ts__Rpc__ReplayEngine *x = *(Ts__Rpc__ReplayEngine *const *)a;
	const Ts__Rpc__ReplayEngine *y = *(Ts__Rpc__ReplayEngine *const *)b;

	COMPARE(x->session, y->session);
	COMPARE(x->device, y->device);
	return strcmp(x->n_does ? x->does[0] : "", y->n_does ? y->does[0] : "");
}

/*
 * Sorts a run's streams and engines. `run` NULL: there was no such run. Returns false if memory is
 * short.
 */
static bool busy_init(struct busy *busy, const Ts__Rpc__ReplayRun *run)
{
	if (!run)
		return true;
	busy->streams = calloc(run->n_streams + 1, sizeof(*busy->streams));
	busy->engines = calloc(run->n_engines + 1, sizeof(*busy->engines));
	if (!busy->streams || !busy->engines)
		return false;
	for (; busy->n_streams < run->n_streams; busy->n_streams++)
		busy->streams[busy->n_streams] = run->streams[busy->n_streams];
	for (; busy->n_engines < run->n_engines; busy->n_engines++)
		busy->engines[busy->n_engines] = run->engines[busy->n_engines];
	qsort(busy->streams, busy->n_streams, sizeof(*busy->streams), compare_streams);
	qsort(busy->engines, busy->n_engines, sizeof(*busy->engines), compare_engines);
	return true;
}

static uint64_t engine_busy(const struct busy *busy, const Ts__Rpc__ReplayEngine *engine)
{
	Ts__Rpc__ReplayEngine **found = engine->n_does && busy->n_engines
						? bsearch(&engine, busy->engines, busy->n_engines,
							  sizeof(*busy->engines), compare_engines)
						: NULL;

	return found ? (*found)->busy_ns : 0;
}

static uint64_t stream_busy(const struct busy *busy, const Ts__Rpc__ReplayStream *stream)
{
	Ts__Rpc__ReplayStream **all = busy->streams;
	size_t low = 0, high = busy->n_streams;
	uint64_t busy_ns = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_streams(&all[middle], &stream) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Parts of a split stream have the stream's number. */
	for (; low < busy->n_streams && !compare_streams(&all[low], &stream); low++)
		busy_ns += all[low]->busy_ns;
	return busy_ns;
}

static void print_busy(const Ts__Rpc__ReplayReport *report)
{
	char counted[TS_OUT_COUNTED_BYTES];
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	ts_cleanup(busy_deinit) struct busy recorded = {0};
	ts_cleanup(busy_deinit) struct busy edited = {0};

	if (!busy_init(&recorded, report->recorded) || !busy_init(&edited, report->edited) ||
	    ts_table_new(report->edited ? "lrrr" : "lrr", &table))
		return;
	ts_table_add(table, "BUSY");
	ts_table_add(table, "RECORDED");
	ts_table_add(table, "EMULATED");
	if (report->edited)
		ts_table_add(table, "EDITED");
	for (size_t i = 0; i < report->emulated->n_engines; i++) {
		const Ts__Rpc__ReplayEngine *engine = report->emulated->engines[i];
		char does[128] = "";

		for (size_t j = 0; j < engine->n_does; j++) {
			size_t at = strlen(does);

			snprintf(does + at, sizeof(does) - at, "%s%s", j ? "+" : "",
				 engine->does[j]);
		}
		ts_table_addf(table, "device %u, %s", engine->device, does);
		add_share(table, engine_busy(&recorded, engine), report->recorded);
		add_share(table, engine->busy_ns, report->emulated);
		add_share(table, engine_busy(&edited, engine), report->edited);
	}
	for (size_t i = 0; i < report->emulated->n_streams; i++) {
		const Ts__Rpc__ReplayStream *stream = report->emulated->streams[i];

		ts_table_addf(table, "stream %u (%s)", stream->stream,
			      ts_out_counted(counted, stream->operations, "operation"));
		add_share(table, stream_busy(&recorded, stream), report->recorded);
		add_share(table, stream->busy_ns, report->emulated);
		add_share(table, stream_busy(&edited, stream), report->edited);
	}
	putchar('\n');
	ts_table_print(table, stdout, 2, true);
}

static uint64_t part_ns(const Ts__Rpc__ReplayRun *run, const char *part)
{
	for (size_t i = 0; run && i < run->n_parts; i++)
		if (!strcmp(run->parts[i]->part, part))
			return run->parts[i]->ns;
	return 0;
}

/* Lists the parts of the path in either run, sorted by time in the last run, longest first. */
static size_t sort_parts(const Ts__Rpc__ReplayReport *report, const char *sorted[TS_GRAPH_PARTS])
{
	const Ts__Rpc__ReplayRun *last = report->edited ? report->edited : report->emulated;
	size_t n = 0;

	for (uint32_t part = TS_GRAPH_PARTS; part--;) {
		const char *name = ts_graph_part_name(part);
		size_t at = n;

		if (!part_ns(report->emulated, name) && !part_ns(report->edited, name))
			continue;
		for (; at && part_ns(last, sorted[at - 1]) < part_ns(last, name); at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = name;
		n++;
	}
	return n;
}

static void add_part(struct ts_table *table, const Ts__Rpc__ReplayRun *run, const char *name)
{
	char figure[TS_OUT_FIGURE_BYTES];

	if (!run)
		return;
	ts_table_add(table, ts_out_duration(figure, part_ns(run, name)));
	add_share(table, part_ns(run, name), run);
}

static void print_parts(const Ts__Rpc__ReplayReport *report)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	const char *sorted[TS_GRAPH_PARTS];
	size_t n = sort_parts(report, sorted);

	if (!n || ts_table_new(report->edited ? "lrrrrl" : "lrrl", &table))
		return;
	ts_table_add(table, "CRITICAL PATH");
	ts_table_add(table, "EMULATED");
	ts_table_add(table, "SHARE");
	if (report->edited) {
		ts_table_add(table, "EDITED");
		ts_table_add(table, "SHARE");
	}
	ts_table_add(table, "MEANS");
	for (size_t i = 0; i < n; i++) {
		ts_table_add(table, ts_text_part(sorted[i]));
		add_part(table, report->emulated, sorted[i]);
		add_part(table, report->edited, sorted[i]);
		ts_table_add(table, ts_text_part_sum(sorted[i]));
	}
	putchar('\n');
	ts_table_print(table, stdout, 2, false);
}

static void add_step(struct ts_table *table, const Ts__Rpc__ReplayStep *step)
{
	bool is_before = !strcmp(step->part, "host_gap") || !strcmp(step->part, "wait");
	char figure[TS_OUT_FIGURE_BYTES];

	ts_table_add(table, ts_out_seconds(figure, step->start_ns));
	ts_table_add(table, ts_out_duration(figure, step->end_ns - step->start_ns));
	ts_table_add(table, ts_text_part(step->part));
	ts_table_addf(table, "%" PRIu64, step->op_id);
	if (step->has_stream)
		ts_table_addf(table, "%" PRIu32, step->stream);
	else
		ts_table_add(table, "");
	ts_table_addf(table, "%s%s", is_before ? "before " : "", step->name ? step->name : "");
}

/*
 * Prints the steps of a run's critical path. Times count from the run's start, which is its first
 * call.
 */
static void print_steps(const Ts__Rpc__ReplayRun *run, const char *of)
{
	static const char *const headings[] = {"RUN TIME (s)", "TOOK",	 "STEP",
					       "OP",	       "STREAM", "NAME"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;

	if (!run->n_longest || ts_table_new("rrlrrl", &table))
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(headings); i++)
		ts_table_add(table, headings[i]);
	for (size_t i = 0; i < run->n_longest; i++)
		add_step(table, run->longest[i]);
	printf("\nLongest steps%s\n", of);
	ts_table_print(table, stdout, 2, false);
}

static void print_doubts(const Ts__Rpc__ReplayReport *report)
{
	const Ts__Rpc__ReplayDoubts *doubts = report->doubts;
	const Ts__Rpc__ReplayRun *last = report->edited ? report->edited : report->emulated;
	const struct {
		uint64_t n;
		const char *text;
	} lines[] = {
		{doubts->without_call, "operations without their calls: they run after the earlier "
				       "operations of their streams"},
		{doubts->without_device, "calls without a recorded operation: none runs"},
		{doubts->without_record, "waits for events without a record: they do not wait"},
		{doubts->started_before, "operations started before their dependency ended"},
		{doubts->not_waited, "calls returned before their apparent dependency ended"},
		{doubts->backwards, "times run backwards"},
		{doubts->unexplained,
		 "operations were delayed by unrecorded causes, over 1 ms each"},
		{doubts->threads_joined,
		 "starts and ends of threads were inferred: in the emulation the main thread "
		 "starts and joins them"},
		{last->let_go, "waits in a circle, or for an event that never came, were released"},
	};
	char figure[TS_OUT_FIGURE_BYTES];
	const char *before = "\nUncertain\n";

	for (size_t i = 0; i < TS_ARRAY_LEN(lines); i++) {
		if (!lines[i].n)
			continue;
		printf("%s  %10s %s\n", before, ts_out_count(figure, lines[i].n), lines[i].text);
		before = "";
	}
}

void ts_replayemulate_print(const Ts__Rpc__ReplayReport *report)
{
	char calls[TS_OUT_COUNTED_BYTES], operations[TS_OUT_COUNTED_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, report->path);
	printf("%s: %s, %s\n", ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_counted(calls, report->emulated->calls, "call"),
	       ts_out_counted(operations, report->emulated->operations, "operation"));
	print_makespan("recorded", report->recorded->makespan_ns, 0);
	print_makespan("emulated", report->emulated->makespan_ns, report->recorded->makespan_ns);
	if (report->edited)
		print_makespan("edited", report->edited->makespan_ns,
			       report->emulated->makespan_ns);
	print_parts(report);
	print_busy(report);
	if (report->edited)
		print_steps(report->edited, ", edited");
	else
		print_steps(report->emulated, "");
	print_doubts(report);
}
