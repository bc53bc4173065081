/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines, gaps and the sides of a comparison that were read in segments are those that were read
 * by one state machine.
 * Random programs have streams of all kinds, events, graph launches, pauses and missing rows. Each
 * is divided into short segments with a short warm-up, so that many borders lie in the midst of
 * waits. If segments give no result, the program counts as read by one machine.
 */
#include "test/unit/harness.h"

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/state/compare/diff-collect.h"
#include "replay/state/gaps/in-segments.h"
#include "replay/state/overview/passes.h"
#include "replay/state/segments/borders.h"
#include "replay/state/segments/segments.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

#define MAX_STREAMS 12u
#define N_EVENTS    6u
#define N_STEPS	    900u
#define SEAL_ROWS   24u
#define N_PARTS	    7u
/* ThreadSanitizer is the slowest, and each program has many segments in as many threads. */
#if defined(__SANITIZE_THREAD__)
#define IS_RACE_TEST true
#else
#define IS_RACE_TEST false
#endif

/* How often something happens, in 1 of 1,000 steps. */
struct program {
	unsigned n_streams, n_devices;
	unsigned record, wait, launch, pause, long_op, no_call, no_row, old_event, wild_id,
		no_event;
	unsigned sync;
	unsigned silent; /* streams that work rarely */
	bool has_legacy, has_unknown;
};

struct state {
	struct program program;
	struct ts_sbt_session_writer *session;
	uint64_t random, now_ns, op_id;
	uint64_t end_ns[MAX_STREAMS], waits_ns[MAX_STREAMS], event_ns[N_EVENTS];
	uint32_t names[3]; /* strings */
	unsigned n_rows;
};

static uint64_t below(struct state *state, uint64_t n)
{
	return test_random(&state->random) % n;
}

static bool happens(struct state *state, unsigned often)
{
	return below(state, 1000) < often;
}

static uint32_t context_of(const struct state *state, unsigned stream)
{
	return 1 + stream % state->program.n_devices;
}

static void add_row(struct state *state, uint32_t type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(state->session, type, row), 0);
}

static void add(struct state *state, uint32_t type, const void *row)
{
	add_row(state, type, row);
	if (++state->n_rows % SEAL_ROWS == 0)
		ts_check_int(ts_sbt_session_writer_seal(state->session, NULL, 0), 0);
}

static uint64_t call(struct state *state, bool is_awaited)
{
	uint64_t op_id = happens(state, state->program.wild_id) ? 1 + below(state, state->op_id)
								: state->op_id;
	struct ts_row_api api = {.start_ns = state->now_ns,
				 .end_ns = state->now_ns + 50 + below(state, 100),
				 .op_id = op_id,
				 .thread = 1,
				 .context = 1,
				 .domain = TS_API_CUDA_RUNTIME,
				 .flags = is_awaited ? TS_API_EXPECTS_DEVICE : 0};

	state->op_id += 1 + below(state, 3);
	if (!happens(state, state->program.no_call))
		add(state, TS_ROW_API, &api);
	state->now_ns = api.end_ns + below(state, 200);
	return op_id;
}

static bool is_legacy(const struct state *state, unsigned stream)
{
	return state->program.has_legacy && stream < state->program.n_devices;
}

static bool is_free(const struct state *state, unsigned stream)
{
	return stream % 3 == 2;
}

/* Returns the time at which an operation in the stream can begin. */
static uint64_t ready_ns(const struct state *state, unsigned stream)
{
	uint64_t ns = state->now_ns + 100;

	for (unsigned i = 0; i < state->program.n_streams; i++) {
		bool counts = i == stream;

		if (state->program.has_legacy &&
		    context_of(state, i) == context_of(state, stream) && !is_free(state, i) &&
		    !is_free(state, stream))
			counts |= is_legacy(state, i) || is_legacy(state, stream);
		if (counts && state->end_ns[i] > ns)
			ns = state->end_ns[i];
	}
	return state->waits_ns[stream] > ns ? state->waits_ns[stream] : ns;
}

static void operate(struct state *state, unsigned stream, uint64_t op_id, uint32_t graph)
{
	struct ts_row_kernel kernel = {.start_ns = ready_ns(state, stream) + below(state, 300),
				       .op_id = op_id,
				       .device = stream % state->program.n_devices,
				       .context = context_of(state, stream),
				       .stream = 7 + stream,
				       .graph = graph,
				       .name = state->names[below(state, 3)]};
	uint64_t ns = happens(state, state->program.long_op) ? 400000 : 100 + below(state, 2000);
	struct ts_row_memcpy copy = {.op_id = op_id,
				     .device = kernel.device,
				     .context = kernel.context,
				     .stream = kernel.stream,
				     .graph = graph,
				     .bytes = 100,
				     .copy_kind = 1};

	copy.start_ns = kernel.start_ns;
	copy.end_ns = kernel.end_ns = kernel.start_ns + ns;
	if (graph)
		copy.stream = kernel.stream += 100;
	if (!graph || kernel.end_ns > state->end_ns[stream])
		state->end_ns[stream] = kernel.end_ns;
	if (happens(state, state->program.no_row))
		return;
	if (below(state, 5))
		add(state, TS_ROW_KERNEL, &kernel);
	else
		add(state, TS_ROW_MEMCPY, &copy);
}

static void launch_graph(struct state *state, unsigned stream)
{
	uint64_t op_id = call(state, true);
	struct ts_row_graph_launch row = {.start_ns = state->now_ns - 1,
					  .op_id = op_id,
					  .context = context_of(state, stream),
					  .stream = 7 + stream};

	for (uint64_t n = 1 + below(state, 5); n; n--)
		operate(state, stream, op_id, 1);
	add(state, TS_ROW_GRAPH_LAUNCH, &row);
}

static void record(struct state *state, unsigned stream)
{
	unsigned event = (unsigned)below(state, N_EVENTS);
	struct ts_row_event row = {.event = 0x100 + event,
				   .context = context_of(state, stream),
				   .stream = 7 + stream};

	row.op_id = call(state, false);
	row.start_ns = state->now_ns;
	state->event_ns[event] = ready_ns(state, stream);
	if (!happens(state, state->program.no_event))
		add(state, TS_ROW_EVENT, &row);
}

static void wait_event(struct state *state, unsigned stream, unsigned event)
{
	struct ts_row_stream_wait row = {.event = 0x100 + event,
					 .context = context_of(state, stream),
					 .stream = 7 + stream};

	row.op_id = call(state, false);
	row.start_ns = state->now_ns;
	if (state->event_ns[event] > state->waits_ns[stream])
		state->waits_ns[stream] = state->event_ns[event];
	add(state, TS_ROW_STREAM_WAIT, &row);
}

/* The host waits for all work. */
static void synchronize(struct state *state)
{
	struct ts_row_sync row = {
		.start_ns = state->now_ns,
		.context = 1,
		.stream = TS_NO_DEVICE,
		.sync_type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
	};

	row.op_id = call(state, false);
	for (unsigned i = 0; i < state->program.n_streams; i++)
		if (state->end_ns[i] > state->now_ns)
			state->now_ns = state->end_ns[i];
	row.end_ns = state->now_ns += 10;
	add(state, TS_ROW_SYNC, &row);
}

static void add_streams(struct state *state)
{
	for (unsigned i = 0; i < state->program.n_streams; i++) {
		struct ts_row_stream row = {
			.start_ns = state->now_ns,
			.context = context_of(state, i),
			.stream = 7 + i,
			.stream_flags = is_legacy(state, i)
						? TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
					: is_free(state, i)
						? TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
						: TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
		};

		if (!state->program.has_unknown || i % 2)
			add(state, TS_ROW_STREAM, &row);
	}
}

static void step(struct state *state)
{
	const struct program *program = &state->program;
	unsigned stream = (unsigned)below(state, program->n_streams);
	unsigned event = (unsigned)below(state, N_EVENTS);

	if (stream >= program->n_streams - program->silent && below(state, 60))
		stream = 0;
	if (happens(state, program->pause))
		state->now_ns += 1000 + below(state, 300000);
	/* The host does not run far ahead of its devices. */
	if (state->end_ns[stream] > state->now_ns + 20000)
		state->now_ns = state->end_ns[stream];
	if (happens(state, program->record))
		record(state, stream);
	if (happens(state, program->wait) &&
	    (state->event_ns[event] + 40000 > state->now_ns || happens(state, program->old_event)))
		wait_event(state, stream, event);
	if (happens(state, program->launch))
		launch_graph(state, stream);
	operate(state, stream, call(state, true), 0);
	for (unsigned i = 0; happens(state, program->sync) && i < 2; i++)
		synchronize(state);
}

static struct program make_program(struct state *state)
{
	struct program program = {.n_streams = 1 + (unsigned)below(state, MAX_STREAMS),
				  .n_devices = 1 + (unsigned)below(state, 2),
				  .record = (unsigned)below(state, 200),
				  .wait = (unsigned)below(state, 200),
				  .launch = below(state, 3) ? 0 : (unsigned)below(state, 60),
				  .pause = (unsigned)below(state, 30),
				  .long_op = below(state, 4) ? 0 : 2,
				  .no_call = below(state, 3) ? 0 : (unsigned)below(state, 30),
				  .no_row = below(state, 3) ? 0 : (unsigned)below(state, 30),
				  .old_event = below(state, 4) ? 0 : 100,
				  .wild_id = below(state, 8) ? 0 : 2,
				  .no_event = below(state, 8) ? 0 : 20,
				  .sync = (unsigned)below(state, 100),
				  .has_legacy = below(state, 2),
				  .has_unknown = !below(state, 6)};

	program.n_devices = program.n_streams == 1 ? 1 : program.n_devices;
	program.silent = below(state, 2) ? 0 : (unsigned)below(state, program.n_streams);
	return program;
}

static int make_trace(uint64_t seed)
{
	struct state state = {.random = seed, .now_ns = 1000000, .op_id = 1};
	struct ts_row_session row = {.pid = 1};
	struct ts_sbt_writer *writer;
	int fd = test_file();

	(void)below(&state, 2);
	state.program = make_program(&state);
	/* Files of SBT 1.1, whose short blocks take long to write, are few. */
	ts_check_int(seed % 8 ? ts_sbt_writer_new_plain(dup(fd), &writer)
			      : ts_sbt_writer_new(dup(fd), &writer),
		     0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &state.session), 0);
	/* The names of some traces have no text. */
	for (unsigned i = 0; i < 3; i++) {
		const char text[] = {(char)('a' + i)};

		state.names[i] = 1 + i;
		if (seed % 5)
			ts_check_int(ts_sbt_writer_string(writer, text, 1, &state.names[i]), 0);
	}
	add_streams(&state);
	for (unsigned i = 0; i < N_STEPS; i++)
		step(&state);
	ts_sbt_session_writer_free(state.session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

/* ---- comparing ------------------------------------------------------------------------------- */

#define SAME(a, b, field) ts_check_int((a)->field, (b)->field)

static void compare_devices(const struct ts_timeline_device *a, const struct ts_timeline_device *b,
			    size_t n_parts)
{
	SAME(a, b, session);
	SAME(a, b, device);
	SAME(a, b, n_ops);
	SAME(a, b, busy_ns);
	SAME(a, b, overlap_ns);
	SAME(a, b, sum_ns);
	SAME(a, b, max_at_once);
	SAME(a, b, max_ns);
	for (unsigned i = 0; i < TS_TIMELINE_IDLES; i++)
		SAME(a, b, idle_ns[i]);
	ts_check(!memcmp(a->ns, b->ns, sizeof(a->ns)));
	ts_check(!n_parts || !memcmp(a->parts, b->parts, n_parts * sizeof(*a->parts)));
}

static void compare(const struct ts_timeline *a, const struct ts_timeline *b)
{
	SAME(a, b, n_devices);
	SAME(a, b, n_streams);
	for (size_t i = 0; i < a->n_devices; i++)
		compare_devices(&a->devices[i], &b->devices[i], N_PARTS);
	for (size_t i = 0; i < a->n_streams; i++) {
		SAME(&a->streams[i], &b->streams[i], context);
		SAME(&a->streams[i], &b->streams[i], stream);
		SAME(&a->streams[i], &b->streams[i], in);
		SAME(&a->streams[i], &b->streams[i], n_ops);
		SAME(&a->streams[i], &b->streams[i], busy_ns);
		ts_check(!memcmp(a->streams[i].parts, b->streams[i].parts,
				 N_PARTS * sizeof(*a->streams[i].parts)));
	}
	SAME(a, b, doubts.n_ops);
	SAME(a, b, doubts.n_no_call);
	SAME(a, b, doubts.n_overlaps);
	SAME(a, b, doubts.n_unknown);
	SAME(a, b, doubts.n_unanswered);
	SAME(a, b, doubts.n_twice);
}

static void compare_parts(const struct ts_gap_parts *a, const struct ts_gap_parts *b)
{
	SAME(a, b, n);
	for (size_t i = 0; i < a->n; i++)
		ts_check(!memcmp(&a->at[i].key, &b->at[i].key, sizeof(a->at[i].key)) &&
			 a->at[i].ns == b->at[i].ns && a->at[i].count == b->at[i].count);
}

static void compare_gaps(const struct ts_gaps *a, const struct ts_gaps *b)
{
	SAME(a, b, n_streams);
	for (size_t i = 0; i < a->n_streams; i++)
		ts_check(!memcmp(&a->streams[i], &b->streams[i], sizeof(a->streams[i])));
	SAME(a, b, n);
	SAME(a, b, ns);
	SAME(a, b, n_longest);
	for (size_t i = 0; i < a->n_longest; i++) {
		SAME(&a->longest[i], &b->longest[i], start_ns);
		SAME(&a->longest[i], &b->longest[i], before_op_id);
		SAME(&a->longest[i], &b->longest[i], op.op_id);
		SAME(&a->longest[i], &b->longest[i], op.unsure);
		compare_parts(&a->longest[i].parts, &b->longest[i].parts);
	}
	compare_parts(&a->parts, &b->parts);
	SAME(a, b, doubts.n_ops);
	SAME(a, b, doubts.n_no_call);
	SAME(a, b, doubts.n_overlaps);
	SAME(a, b, doubts.n_unknown);
	SAME(a, b, doubts.n_unanswered);
	SAME(a, b, doubts.n_twice);
}

static void set_threads(const char *threads)
{
	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
}

/* Half of the warm-up rows lie before the segment's lowest ids. */
static const struct ts_segments_options sizes = {.n_rows = 100, .n_warm_rows = 150};

/* Return true if segments gave a result. */
static bool check_timeline(struct ts_sbt_reader *reader, uint64_t seed)
{
	struct ts_timeline_options options = {.n_parts = N_PARTS, .device_parts = true};
	struct ts_timeline *expected, *timeline;
	int r;

	if (seed % 4 == 0)
		options.from_ns = 1200000;
	if (seed % 5 == 0)
		options.to_ns = 1600000;
	set_threads("1");
	ts_check_int(ts_timeline_read_segments(reader, &options, &sizes, &timeline),
		     TS_SEGMENTS_NONE);
	ts_check_int(ts_timeline_read(reader, &options, &expected), 0);
	set_threads("16");
	r = ts_timeline_read_segments(reader, &options, &sizes, &timeline);
	ts_check(r == 0 || r == TS_SEGMENTS_NONE);
	if (!r) {
		compare(expected, timeline);
		ts_timeline_free(timeline);
	}
	ts_timeline_free(expected);
	return !r;
}

/* Chooses a window: both of its ends, or one. */
static void choose_window(struct ts_sbt_reader *reader, uint64_t seed,
			  struct ts_gaps_options *options)
{
	struct ts_sbt_summary summary;
	uint64_t random = seed, length_ns, from_ns;

	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	length_ns = summary.latest_ns - summary.earliest_ns;
	from_ns = summary.earliest_ns + test_random(&random) % length_ns;
	if (seed % 7)
		options->from_ns = from_ns;
	if (seed % 7 < 6)
		options->to_ns = from_ns + 1 + test_random(&random) % (length_ns / 4);
}

static bool check_gaps(struct ts_sbt_reader *reader, uint64_t seed, bool has_window)
{
	struct ts_gaps_options options = {.least_ns = seed % 3 * 500, .max_longest = 40};
	struct ts_gaps *expected, *gaps;
	int r;

	if (has_window)
		choose_window(reader, seed, &options);
	set_threads("1");
	ts_check_int(ts_gaps_read(reader, &options, &expected), 0);
	set_threads("16");
	r = ts_gaps_read_segments(reader, &options, &sizes, &gaps);
	ts_check(r == 0 || r == TS_SEGMENTS_NONE);
	if (!r) {
		compare_gaps(expected, gaps);
		ts_gaps_free(gaps);
	}
	ts_gaps_free(expected);
	return !r;
}

static void compare_analyses(const struct ts_analysis *a, const struct ts_analysis *b)
{
	for (unsigned i = 0; i < TS_ANALYSIS_FINDINGS; i++) {
		SAME(a, b, findings[i].count);
		SAME(a, b, findings[i].ns);
		SAME(a, b, findings[i].bytes);
	}
	ts_check(!memcmp(&a->kernels, &b->kernels, sizeof(a->kernels)));
	ts_check(!memcmp(&a->copies, &b->copies, sizeof(a->copies)));
	ts_check(!memcmp(&a->syncs, &b->syncs, sizeof(a->syncs)));
	SAME(a, b, n_groups);
	ts_check(!memcmp(a->groups, b->groups, a->n_groups * sizeof(*a->groups)));
}

static void compare_overviews(const struct ts_overview *a, const struct ts_overview *b)
{
	SAME(a, b, timeline->n_devices);
	SAME(a, b, timeline->doubts.n_overlaps);
	for (size_t i = 0; i < a->timeline->n_devices; i++)
		compare_devices(&a->timeline->devices[i], &b->timeline->devices[i], 0);
	compare_analyses(a->analysis, b->analysis);
	SAME(a, b, occupancies->n_kernels);
	for (size_t i = 0; i < a->occupancies->n_kernels; i++) {
		SAME(a, b, occupancies->kernels[i].count);
		ts_check(a->occupancies->kernels[i].share == b->occupancies->kernels[i].share);
		ts_check(a->occupancies->kernels[i].waves == b->occupancies->kernels[i].waves);
	}
	SAME(a, b, n_launches);
	for (size_t i = 0; i < a->n_launches; i++) {
		SAME(a, b, launches[i].name);
		SAME(a, b, launches[i].stack);
		SAME(a, b, launches[i].count);
		SAME(a, b, launches[i].start_ns);
	}
	SAME(a, b, errors->n_calls);
}

static bool check_overview(struct ts_sbt_reader *reader)
{
	struct ts_overview expected, overview;
	int r;

	set_threads("1");
	ts_check_int(ts_overview_read(reader, 0, &expected), 0);
	set_threads("16");
	r = ts_overview_read_segments(reader, 0, &sizes, &overview);
	ts_check(r == 0 || r == TS_SEGMENTS_NONE);
	if (!r)
		compare_overviews(&expected, &overview);
	ts_overview_deinit(&overview);
	ts_overview_deinit(&expected);
	return !r;
}

static void compare_names(const struct ts_diff_collected *a, const struct ts_diff_collected *b)
{
	SAME(a, b, type);
	SAME(a, b, kind);
	SAME(a, b, size_class);
	SAME(a, b, text_bytes);
	ts_check(!a->text == !b->text && (!a->text || !strcmp(a->text, b->text)));
	ts_check(!memcmp(&a->sums, &b->sums, sizeof(a->sums)));
	SAME(a, b, samples.n);
	ts_check(!memcmp(a->samples.at, b->samples.at, a->samples.n * sizeof(*a->samples.at)));
	for (uint32_t i = 1; i < a->samples.n; i++)
		ts_check(a->samples.at[i - 1] <= a->samples.at[i]);
	ts_check(!memcmp(&a->extremes, &b->extremes, sizeof(a->extremes)));
	ts_check(!a->configs == !b->configs);
	ts_check(!a->configs || !memcmp(a->configs, b->configs, sizeof(*a->configs)));
}

static void compare_collections(const struct ts_diff_collection *a,
				const struct ts_diff_collection *b)
{
	SAME(a, b, n_names);
	for (size_t i = 0; i < a->n_names; i++)
		compare_names(&a->names[i], &b->names[i]);
	ts_check(!memcmp(&a->total, &b->total, sizeof(a->total)));
	SAME(a, b, n_streams);
	for (size_t i = 0; i < a->n_streams; i++) {
		const struct ts_diff_stream *x = &a->streams[i], *y = &b->streams[i];

		SAME(x, y, session);
		SAME(x, y, stream);
		SAME(x, y, session_at);
		SAME(x, y, first_op_id);
		SAME(x, y, n);
		for (size_t j = 0; j < x->n; j++) {
			SAME(x, y, ops[j].start_ns);
			SAME(x, y, ops[j].duration_ns);
			SAME(x, y, ops[j].op_id);
			SAME(x, y, ops[j].name);
		}
	}
	SAME(a, b, n_ops);
	SAME(a, b, first_ns);
	SAME(a, b, n_sessions);
}

/* Collects a side that has the same run once, or twice. */
static bool check_side(struct ts_sbt_reader *reader, size_t n_runs,
		       const struct ts_segments_options *of_segments)
{
	struct ts_sbt_reader *const readers[] = {reader, reader};
	const struct ts_diff_runs runs = {readers, n_runs};
	struct ts_diff_collection expected = {0}, collection = {0};
	bool has_segments;
	size_t run;

	set_threads("1");
	ts_check_int(ts_diff_collect(&runs, of_segments, &expected, &run), 0);
	ts_check_int(expected.n_segments, 0);
	set_threads("16");
	ts_check_int(ts_diff_collect(&runs, of_segments, &collection, &run), 0);
	compare_collections(&expected, &collection);
	has_segments = collection.n_segments;
	ts_diff_collection_deinit(&expected);
	ts_diff_collection_deinit(&collection);
	return has_segments;
}

TS_TEST(segments_give_the_results_of_one_machine)
{
	const uint64_t n = ts_soak() ? 20000 : IS_RACE_TEST ? 12 : TS_TEST_SANITIZED ? 60 : 500;
	const char *only = getenv("TS_TEST_PROGRAM");
	const uint64_t first = only ? strtoull(only, NULL, 10) : 1;
	uint64_t n_timelines = 0, n_gaps = 0, n_windows = 0, n_overviews = 0, n_sides = 0;

	for (uint64_t seed = first; seed < (only ? first + 1 : n + 1); seed++) {
		struct ts_sbt_reader *reader;
		int fd = make_trace(seed);

		ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
		n_timelines += check_timeline(reader, seed);
		n_gaps += check_gaps(reader, seed, false);
		n_windows += check_gaps(reader, seed, true);
		n_overviews += check_overview(reader);
		if (seed % 3 == 0)
			n_sides += check_side(reader, 1 + seed % 2, &sizes);
		ts_sbt_reader_free(reader);
		close(fd);
	}
	/* Some programs are regular enough for such short warm-ups. */
	ts_check(n < 500 || only ||
		 (n_timelines > n / 10 && n_gaps > n / 20 && n_windows > n / 20 &&
		  n_overviews > n / 50 && n_sides > n / 20));
}

/*
 * The side of a comparison keeps some of many durations, by their number in the whole run, and a
 * device has more pauses than a segment remembers. Long operations last across the borders.
 */
TS_TEST(a_side_with_many_operations)
{
	const struct ts_segments_options some = {.n_rows = 9000, .n_warm_rows = 1000};
	const uint64_t n = TS_DIFF_MAX_SAMPLES + 25000;
	const struct ts_row_session session = {.pid = 1};
	struct ts_row_kernel kernel = {0};
	struct ts_row_api api = {.domain = 1, .cbid = 9};
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct state state = {.random = 1};
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new_plain(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &state.session), 0);
	ts_check_int(ts_sbt_writer_string(writer, "k", 1, &kernel.name), 0);
	for (uint64_t i = 0; i < n; i++) {
		const bool is_long = i % 1000 == 980;

		api.op_id = i + 1;
		api.start_ns = 1000 + 100 * i;
		api.end_ns = api.start_ns + below(&state, i % 7 ? 90 : 600000);
		add_row(&state, TS_ROW_API, &api);
		kernel.op_id = api.op_id;
		kernel.start_ns = api.start_ns + 5;
		kernel.end_ns = kernel.start_ns + 10 + below(&state, 80) + (is_long ? 5000 : 0);
		kernel.stream = is_long ? 8 : 7;
		kernel.grid_x = 1 + (uint32_t)(i / 12000);
		if (i % 4 == 0)
			add_row(&state, TS_ROW_KERNEL, &kernel);
		if (i % 1000 == 999)
			ts_check_int(ts_sbt_session_writer_seal(state.session, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(state.session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check(check_side(reader, 1, &some));
	ts_sbt_reader_free(reader);
	close(fd);
}

/* Times of a damaged clock, further apart than half of all time, have no warm-up. */
TS_TEST(times_far_apart)
{
	const struct ts_segments_options few = {.n_rows = 100, .n_warm_rows = 50};
	const struct ts_row_session row = {.pid = 1};
	struct ts_segment_plan *plans;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct state state = {0};
	int fd = test_file();
	size_t n;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &state.session), 0);
	for (uint64_t i = 0; i < 300; i++) {
		struct ts_row_kernel kernel = {.op_id = i + 1, .start_ns = 1000 + 100 * i};

		kernel.start_ns += i < 204 ? 0 : UINT64_C(3) << 62;
		kernel.end_ns = kernel.start_ns + 50;
		add(&state, TS_ROW_KERNEL, &kernel);
	}
	ts_sbt_session_writer_free(state.session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_segment_plans(reader, &few, 16, &plans, &n), 0);
	ts_check(n > 1);
	for (size_t i = 1; i < n; i++)
		ts_check(plans[i - 1].from_ns < plans[i].warm_ns &&
			 plans[i].warm_ns < plans[i].floor_ns &&
			 plans[i].floor_ns < plans[i].from_ns);
	free(plans);
	ts_sbt_reader_free(reader);
	close(fd);
}
