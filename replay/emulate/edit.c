/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses what-if edits and applies them to a program: see emulate.h. emulate.c and replay/report
 * call this file. An edit changes durations, waits or streams of the program; the simulation finds
 * the consequences.
 */
#include "proto/abi/grow.h"
#include "replay/emulate/emulate-program.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE	  TS_EMULATE_NONE
#define MAX_PARTS 64u

const char *const ts_emulate_edit_help =
	"  kernel NAME=2x      Run kernels named NAME (with * and ?) 2 times faster.\n"
	"  kernel NAME=30us    Set the duration of each of these kernels to 30 us.\n"
	"  copy htod=2x        Run copies faster: htod, dtoh, dtod, ptop, or * for all.\n"
	"  set=2x              Run memory sets faster.\n"
	"  host=2x             Run the host faster between its calls.\n"
	"  call NAME=2x        Run the calls named NAME faster, but not their waits.\n"
	"  launch-latency=5us  Set the time from a call to the start of its operation.\n"
	"  no-sync NAME        Remove the waits of the calls named NAME.\n"
	"  no-sync op=14       Remove the wait of call 14 (its op_id).\n"
	"  graph               Put consecutive launches into one graph.\n"
	"  graph=3             Put at most 3 launches into each graph.\n"
	"  merge 7,8           Move the operations of stream 8 to stream 7.\n"
	"  split 7=2           Divide the iterations of stream 7 between 2 streams: the\n"
	"                      second, fourth, ... iteration moves to a new stream.\n"
	"                      An iteration begins with the operation that the stream\n"
	"                      has most often.\n"
	"  split 7=2,NAME      Begin an iteration with each kernel named NAME instead.\n"
	"  pinned              Run pageable copies as fast as pinned ones.\n"
	"  pinned=25GB/s       Run pageable copies at this rate.\n"
	"  h2d-engines=2       Set the number of engines for copies to the device.\n"
	"  d2h-engines=2       Set the number of engines for copies to the host.\n"
	"  multiprocessors=66  Set the number of multiprocessors of the device.\n";

static int say(char *ret_message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say(char *ret_message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ret_message, TS_EMULATE_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* ---- from text ------------------------------------------------------------------------------- */

/* Parses a change of a duration: "2x" means 2 times faster; any other text is a time. */
static int parse_change(const char *text, struct ts_emulate_edit *edit)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0) || value > 1e15)
		return -EINVAL;
	if (!strcmp(end, "x")) {
		if (value < 1e-6)
			return -EINVAL;
		edit->factor = 1 / value;
		return 0;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(units); i++)
		if (!strcmp(end, units[i].unit)) {
			if (value * units[i].ns >= (double)TS_EMULATE_MAX_NS)
				return -EINVAL;
			edit->is_time = true;
			edit->time_ns = (uint64_t)(value * units[i].ns);
			return 0;
		}
	return -EINVAL;
}

static int parse_count(const char *text, char behind, uint64_t max, uint64_t *ret_count,
		       const char **ret_end)
{
	char *end;
	unsigned long long count;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	count = strtoull(text, &end, 10);
	if (errno || *end != behind || count > max)
		return -EINVAL;
	*ret_count = count;
	if (ret_end)
		*ret_end = end + (behind != '\0');
	return 0;
}

static int parse_rate(const char *text, double *ret_bytes_per_s)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = {{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; end != text && i < TS_ARRAY_LEN(units); i++)
		if (!strcmp(end, units[i].unit) && value > 0 && value < 1e12) {
			*ret_bytes_per_s = value * units[i].bytes;
			return 0;
		}
	return -EINVAL;
}

/* Syntax of the text after an edit's keyword. */
enum form {
	FORM_CHANGE,	   /* =2x */
	FORM_NAMED_CHANGE, /* NAME=2x */
	FORM_NO_SYNC,	   /* NAME, or op=N */
	FORM_GRAPH,	   /* nothing, or =N */
	FORM_MERGE,	   /* A,B */
	FORM_SPLIT,	   /* A=N, or A=N,NAME */
	FORM_PINNED,	   /* nothing, or =RATE */
	FORM_COUNT,	   /* =N */
};

static const struct word {
	const char *word;
	uint32_t kind;
	enum form form;
} words[] = {
	{"kernel", TS_EMULATE_KERNEL, FORM_NAMED_CHANGE},
	{"copy", TS_EMULATE_COPY, FORM_NAMED_CHANGE},
	{"set", TS_EMULATE_SET, FORM_CHANGE},
	{"host", TS_EMULATE_HOST, FORM_CHANGE},
	{"call", TS_EMULATE_CALL, FORM_NAMED_CHANGE},
	{"launch-latency", TS_EMULATE_LAUNCH, FORM_CHANGE},
	{"no-sync", TS_EMULATE_NO_SYNC, FORM_NO_SYNC},
	{"graph", TS_EMULATE_GRAPH, FORM_GRAPH},
	{"merge", TS_EMULATE_MERGE, FORM_MERGE},
	{"split", TS_EMULATE_SPLIT, FORM_SPLIT},
	{"pinned", TS_EMULATE_PINNED, FORM_PINNED},
	{"h2d-engines", TS_EMULATE_H2D_ENGINES, FORM_COUNT},
	{"d2h-engines", TS_EMULATE_D2H_ENGINES, FORM_COUNT},
	{"multiprocessors", TS_EMULATE_MULTIPROCESSORS, FORM_COUNT},
};

static int copy_pattern(struct ts_emulate_edit *edit, const char *text, size_t n)
{
	if (!n || n >= sizeof(edit->pattern))
		return -EINVAL;
	memcpy(edit->pattern, text, n);
	edit->pattern[n] = '\0';
	return 0;
}

static int parse_named_change(const char *text, struct ts_emulate_edit *edit)
{
	/* Names may contain an = themselves. */
	const char *equals = strrchr(text, '=');

	if (!equals || copy_pattern(edit, text, (size_t)(equals - text)))
		return -EINVAL;
	return parse_change(equals + 1, edit);
}

static int parse_split(const char *text, struct ts_emulate_edit *edit)
{
	const char *comma = strchr(text, ','), *end;
	int r = parse_count(text, '=', UINT32_MAX, &edit->first, &end);

	if (!r)
		r = parse_count(end, comma ? ',' : '\0', MAX_PARTS, &edit->second, &end);
	if (!r && edit->second < 2)
		r = -EINVAL;
	return r || !comma ? r : copy_pattern(edit, end, strlen(end));
}

static int parse_form(enum form form, const char *text, struct ts_emulate_edit *edit)
{
	const char *value = *text == '=' ? text + 1 : NULL, *end;
	int r;

	switch (form) {
	case FORM_CHANGE:
		return value ? parse_change(value, edit) : -EINVAL;
	case FORM_NAMED_CHANGE:
		return parse_named_change(text, edit);
	case FORM_NO_SYNC:
		if (strncmp(text, "op=", 3))
			return copy_pattern(edit, text, strlen(text));
		edit->kind = TS_EMULATE_NO_SYNC_OP;
		return parse_count(text + 3, '\0', UINT64_MAX, &edit->first, NULL);
	case FORM_GRAPH:
		return value   ? parse_count(value, '\0', UINT32_MAX, &edit->first, NULL)
		       : *text ? -EINVAL
			       : 0;
	case FORM_MERGE:
		r = parse_count(text, ',', UINT32_MAX, &edit->first, &end);
		return r ? r : parse_count(end, '\0', UINT32_MAX, &edit->second, NULL);
	case FORM_SPLIT:
		return parse_split(text, edit);
	case FORM_PINNED:
		return value ? parse_rate(value, &edit->bytes_per_s) : *text ? -EINVAL : 0;
	default:
		r = value ? parse_count(value, '\0', UINT32_MAX - 1, &edit->second, NULL) : -EINVAL;
		return r || edit->second ? r : -EINVAL;
	}
}

int ts_emulate_edit_parse(const char *text, struct ts_emulate_edit *ret_edit, char *ret_message)
{
	size_t n = strcspn(text, " =");

	for (size_t i = 0; i < TS_ARRAY_LEN(words); i++) {
		struct ts_emulate_edit edit = {.kind = words[i].kind, .factor = 1};
		const char *rest = text + n;

		if (strlen(words[i].word) != n || memcmp(words[i].word, text, n))
			continue;
		while (*rest == ' ')
			rest++;
		if (parse_form(words[i].form, rest, &edit))
			return say(ret_message, "the value after `%s` is not understood",
				   words[i].word);
		*ret_edit = edit;
		return 0;
	}
	return say(ret_message, "`%.*s` is not an edit", (int)(n < 40 ? n : 40), text);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* True if the text matches the pattern: `*` matches any text, `?` any one byte. */
static bool fits(const char *pattern, const char *text, size_t n)
{
	const char *star = NULL, *end = text + n, *again = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/*
 * True if the pattern matches the whole name, the name without parameters, or the name without
 * template arguments.
 */
static bool fits_name(const char *pattern, const char *name)
{
	return name &&
	       (fits(pattern, name, strlen(name)) || fits(pattern, name, strcspn(name, "(")) ||
		fits(pattern, name, strcspn(name, "<(")));
}

struct edit {
	struct ts_emulate_program *program;
	const struct ts_emulate_edit *edit;
	const struct ts_emulate_names *names;
	/* maps a name's number to 1 if the pattern matches the name, else to 0 */
	struct ts_state_map known;
	uint64_t n_edited;
	char *message;
};

static bool fits_known(struct edit *e, uint32_t name, const char *(*find)(void *, uint32_t))
{
	uint32_t known = ts_state_map_find(&e->known, 0, name);

	if (known == NONE) {
		known = e->names && find && fits_name(e->edit->pattern, find(e->names->user, name));
		/* If the insertion fails, the name is looked up again next time. */
		(void)!ts_state_map_set(&e->known, 0, name, known);
	}
	return known;
}

static bool fits_kernel(struct edit *e, const struct ts_emulate_item *item)
{
	return item->kind == TS_EMULATE_OP && item->type == TS_ROW_KERNEL &&
	       fits_known(e, item->name, e->names ? e->names->kernel : NULL);
}

static bool fits_call(struct edit *e, const struct ts_emulate_call *call)
{
	return !(call->flags & TS_EMULATE_CALL_PSEUDO) &&
	       fits_known(e, call->name, e->names ? e->names->function : NULL);
}

/* ---- durations ------------------------------------------------------------------------------- */

/* Returns the array if the program has it, else a new one for n times. NULL: no memory. */
static uint64_t *times_of(uint64_t *old, size_t n)
{
	return old ? old : ts_largearray_alloc(n + 1, sizeof(*old));
}

/* The items are the copy's own. */
static uint64_t *duration_at(struct ts_emulate_program *program, size_t item)
{
	return program->durations_ns ? &program->durations_ns[item]
				     : &program->items[item].duration_ns;
}

static bool is_meant(struct edit *e, const struct ts_emulate_item *item)
{
	const char *engine;

	if (item->kind != TS_EMULATE_OP)
		return false;
	switch (e->edit->kind) {
	case TS_EMULATE_KERNEL:
		return fits_kernel(e, item);
	case TS_EMULATE_COPY:
		engine = ts_emulate_engine_name(ts_emulate_engine_of(item->type, item->copy_kind));
		return item->type == TS_ROW_MEMCPY &&
		       fits(e->edit->pattern, engine, strlen(engine));
	default:
		return item->type == TS_ROW_MEMSET;
	}
}

static int edit_durations(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	uint64_t *durations_ns = times_of(program->durations_ns, program->n_items);

	if (!durations_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->n_items; i++) {
		uint64_t ns = ts_emulate_duration_ns(program, i);
		bool is_edited = is_meant(e, &program->items[i]);

		durations_ns[i] = is_edited ? ts_emulate_changed(e->edit, ns) : ns;
		e->n_edited += is_edited;
	}
	program->durations_ns = durations_ns;
	return 0;
}

/* Applies the edit to the gaps of all calls. If the copy shares its calls, the run applies it. */
static int edit_gaps(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	int r;

	if (program->changes & TS_EMULATE_CHANGES_CALLS) {
		for (size_t i = 0; i < program->n_calls; i++)
			if (!(program->calls[i].flags & TS_EMULATE_CALL_PSEUDO))
				program->calls[i].gap_ns =
					ts_emulate_changed(e->edit, program->calls[i].gap_ns);
		return 0;
	}
	r = TS_GROW(program->gap_edits, program->n_gap_edits_allocated, program->n_gap_edits + 1);
	if (!r)
		program->gap_edits[program->n_gap_edits++] = e->edit;
	return r;
}

static int edit_host(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	int r = edit_gaps(e);

	if (r)
		return r;
	e->n_edited += program->n_calls - program->n_pseudo;
	/* A pseudo call begins no thread, so no join belongs to one. */
	for (size_t i = 0; i < program->n_joins; i++)
		program->joins[i].gap_ns = ts_emulate_changed(e->edit, program->joins[i].gap_ns);
	return 0;
}

static int edit_calls(struct edit *e)
{
	for (size_t i = 0; i < e->program->n_calls; i++) {
		struct ts_emulate_call *call = &e->program->calls[i];

		if (!fits_call(e, call))
			continue;
		call->cost_ns = ts_emulate_changed(e->edit, call->cost_ns);
		e->n_edited++;
	}
	return 0;
}

static int edit_launch(struct edit *e)
{
	for (size_t i = 0; i < e->program->n_items; i++) {
		struct ts_emulate_item *item = &e->program->items[i];

		if (item->kind != TS_EMULATE_OP ||
		    item->flags & (TS_EMULATE_ITEM_NODE | TS_EMULATE_ITEM_ORPHAN))
			continue;
		item->launch_ns = ts_emulate_changed(e->edit, item->launch_ns);
		e->n_edited++;
	}
	return 0;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/*
 * Removes the waits of the selected calls. A call that only waits is skipped. A call that waited
 * for its own operations then costs as much as a launch.
 */
static int edit_sync(struct edit *e)
{
	for (size_t i = 0; i < e->program->n_calls; i++) {
		struct ts_emulate_call *call = &e->program->calls[i];

		if ((!call->wait && !(call->flags & TS_EMULATE_CALL_SYNC)) ||
		    (e->edit->kind == TS_EMULATE_NO_SYNC
			     ? !fits_call(e, call)
			     : e->program->recorded_calls[i].op_id != e->edit->first))
			continue;
		if (call->flags & TS_EMULATE_CALL_SYNC)
			call->flags |= TS_EMULATE_CALL_SKIPPED;
		else if (call->wait == TS_EMULATE_WAIT_OWN)
			call->cost_ns = e->program->launch_cost_ns;
		call->wait = TS_EMULATE_WAIT_NONE;
		e->n_edited++;
	}
	return e->n_edited ? 0
	       : e->edit->kind == TS_EMULATE_NO_SYNC
		       ? say(e->message, "no-sync %s: no call of that name waited",
			     e->edit->pattern)
		       : say(e->message, "no-sync op=%llu: no call with that number waited",
			     (unsigned long long)e->edit->first);
}

static bool is_launch(const struct ts_emulate_program *program, const struct ts_emulate_call *call)
{
	if (call->wait || !call->n_items || call->flags & TS_EMULATE_CALL_PSEUDO)
		return false;
	for (uint32_t i = call->first_item; i < call->first_item + call->n_items; i++)
		if (program->items[i].kind == TS_EMULATE_OPEN)
			return false;
	return true;
}

/*
 * Makes one graph launch of n launches and of the calls between them. The last call costs as much
 * as a graph launch; the other calls cost nothing.
 */
static void group(struct edit *e, uint32_t first, uint32_t n)
{
	struct ts_emulate_program *program = e->program;
	uint32_t at = first;

	for (uint32_t i = 1; i < n; i++) {
		program->calls[at].cost_ns = 0;
		at = program->calls[at].next;
		program->calls[at].gap_ns = 0;
	}
	program->calls[at].cost_ns = program->graph_cost_ns;
	e->n_edited += n;
}

static int edit_graph(struct edit *e)
{
	struct ts_emulate_program *program = e->program;

	for (size_t i = 0; i < program->n_threads; i++) {
		uint32_t first = NONE, n = 0, next;

		for (uint32_t at = program->threads[i].first_call; at != NONE; at = next) {
			const struct ts_emulate_call *call = &program->calls[at];
			bool goes_on = is_launch(program, call) && call->join == NONE &&
				       (!e->edit->first || n < e->edit->first);

			next = call->next;
			if (n && !goes_on) {
				if (n > 1)
					group(e, first, n);
				n = 0;
			}
			if (is_launch(program, call)) {
				first = n ? first : at;
				n++;
			}
		}
		if (n > 1)
			group(e, first, n);
	}
	return e->n_edited ? 0
			   : say(e->message,
				 "graph: no thread launched two operations without a wait between "
				 "them");
}

/* ---- streams --------------------------------------------------------------------------------- */

static void move_stream(struct ts_emulate_program *program, uint32_t from, uint32_t to,
			uint64_t *n_edited)
{
	for (size_t i = 0; i < program->n_items; i++)
		if (program->items[i].stream == from) {
			program->items[i].stream = to;
			*n_edited += program->items[i].kind != TS_EMULATE_SEED;
		}
	for (size_t i = 0; i < program->n_calls; i++)
		if (program->calls[i].wait == TS_EMULATE_WAIT_STREAM &&
		    program->calls[i].wait_of == from)
			program->calls[i].wait_of = to;
}

static int edit_merge(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	const struct ts_emulate_queue *queues = program->queues;

	for (uint32_t i = 0; i < program->n_queues; i++)
		for (uint32_t j = 0; j < program->n_queues; j++)
			if (i != j && queues[i].context == queues[j].context &&
			    queues[i].stream == e->edit->first &&
			    queues[j].stream == e->edit->second)
				move_stream(program, j, i, &e->n_edited);
	return e->n_edited ? 0
			   : say(e->message,
				 "merge %llu,%llu: these are not two streams of one context, or "
				 "the second stream has no operations",
				 (unsigned long long)e->edit->first,
				 (unsigned long long)e->edit->second);
}

static int add_part(struct ts_emulate_program *program, uint32_t of, uint32_t *ret_part)
{
	struct ts_emulate_context *context = &program->contexts[program->queues[of].context];
	size_t n_allocated = context->n_allocated;
	uint32_t part = (uint32_t)program->n_queues;
	int r = ts_largearray_grow(&program->queues, part, &program->n_queues_allocated,
				   sizeof(*program->queues));

	if (!r)
		r = ts_largearray_grow(&context->streams, context->n_streams, &n_allocated,
				       sizeof(*context->streams));
	if (r)
		return r;
	context->n_allocated = (uint32_t)n_allocated;
	context->streams[context->n_streams++] = part;
	program->n_queues++;
	program->queues[part] = program->queues[of];
	program->queues[of].next_part = part;
	program->queues[part].kind.is_legacy = false;
	*ret_part = part;
	return 0;
}

static uint64_t kind_of(const struct ts_emulate_item *item)
{
	return (uint64_t)item->type << 32 | item->name;
}

/*
 * Finds the most frequent kind of operation in the stream; ties go to the first. An iteration
 * begins with it.
 */
static int find_iteration(const struct ts_emulate_program *program, uint32_t queue,
			  uint64_t *ret_kind)
{
	ts_cleanup(ts_state_map_deinit) struct ts_state_map counts = {0};
	uint32_t most = 0;
	int r = 0;

	for (size_t i = 0; !r && i < program->n_items; i++) {
		const struct ts_emulate_item *item = &program->items[i];
		uint32_t n;

		if (item->stream != queue || item->kind != TS_EMULATE_OP)
			continue;
		n = ts_state_map_find(&counts, 0, kind_of(item));
		n = n == NONE ? 1 : n + 1;
		r = ts_state_map_set(&counts, 0, kind_of(item), n);
	}
	for (size_t i = 0; !r && i < program->n_items; i++) {
		const struct ts_emulate_item *item = &program->items[i];

		if (item->stream != queue || item->kind != TS_EMULATE_OP ||
		    ts_state_map_find(&counts, 0, kind_of(item)) <= most)
			continue;
		most = ts_state_map_find(&counts, 0, kind_of(item));
		*ret_kind = kind_of(item);
	}
	return r;
}

static int split_stream(struct edit *e, uint32_t queue)
{
	struct ts_emulate_program *program = e->program;
	uint32_t parts[MAX_PARTS] = {queue}, n_parts = (uint32_t)e->edit->second;
	uint64_t n_iterations = 0, iteration_kind = 0;
	int r = find_iteration(program, queue, &iteration_kind);

	for (uint32_t i = 1; !r && i < n_parts; i++)
		r = add_part(program, queue, &parts[i]);
	for (size_t i = 0; !r && i < program->n_items; i++) {
		struct ts_emulate_item *item = &program->items[i];

		if (item->stream != queue || item->flags & TS_EMULATE_ITEM_NODE)
			continue;
		if (item->kind == TS_EMULATE_OP &&
		    (e->edit->pattern[0] ? fits_kernel(e, item) : kind_of(item) == iteration_kind))
			n_iterations++;
		item->stream = parts[(n_iterations ? n_iterations - 1 : 0) % n_parts];
		e->n_edited += item->kind != TS_EMULATE_SEED;
	}
	return r;
}

static int edit_split(struct edit *e)
{
	size_t n = e->program->n_queues;
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++)
		if (e->program->queues[i].stream == e->edit->first)
			r = split_stream(e, i);
	return r || e->n_edited ? r
				: say(e->message,
				      "split %llu: the trace has no such stream, or the stream "
				      "has no operations",
				      (unsigned long long)e->edit->first);
}

/* ---- copies and devices ---------------------------------------------------------------------- */

#define N_COPY_KINDS 16u
#define N_SIZES	     256u

/* One pinned copy of the trace for each kind and size class. Each power of two has four classes. */
struct pinned {
	struct {
		uint64_t bytes, ns;
	} at[N_COPY_KINDS][N_SIZES];
};

static uint32_t size_of(uint64_t bytes)
{
	return bytes ? (uint32_t)(4 * log2((double)bytes)) % N_SIZES : 0;
}

static void learn_pinned(const struct ts_emulate_program *program, struct pinned *pinned)
{
	for (uint32_t i = 0; i < program->n_items; i++) {
		const struct ts_emulate_item *item = &program->items[i];
		uint64_t bytes = program->recorded_items[i].bytes;
		uint32_t kind = item->copy_kind % N_COPY_KINDS, size = size_of(bytes);

		if (item->kind != TS_EMULATE_OP || item->type != TS_ROW_MEMCPY || !bytes ||
		    item->flags & TS_EMULATE_ITEM_PAGEABLE || pinned->at[kind][size].bytes)
			continue;
		pinned->at[kind][size].bytes = bytes;
		pinned->at[kind][size].ns = ts_emulate_duration_ns(program, i);
	}
}

/*
 * Computes the duration of a pinned copy of the same kind from the nearest size. Returns false if
 * there is none.
 */
static bool pinned_ns(const struct pinned *pinned, uint32_t copy_kind, uint64_t bytes,
		      uint64_t *ret_ns)
{
	uint32_t kind = copy_kind % N_COPY_KINDS, size = size_of(bytes);

	for (uint32_t apart = 0; apart < N_SIZES; apart++)
		for (int sign = -1; sign <= 1; sign += 2) {
			uint32_t at = size + (uint32_t)sign * apart;
			double scale;

			if (at >= N_SIZES || !pinned->at[kind][at].bytes)
				continue;
			scale = (double)bytes / (double)pinned->at[kind][at].bytes;
			*ret_ns = (uint64_t)((double)pinned->at[kind][at].ns * fmax(scale, 1));
			return true;
		}
	return false;
}

static int edit_pinned(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	ts_cleanup(ts_freep) struct pinned *pinned = calloc(1, sizeof(*pinned));
	double rate = e->edit->bytes_per_s;

	if (!pinned)
		return -ENOMEM;
	learn_pinned(program, pinned);
	for (size_t i = 0; i < program->n_items; i++) {
		struct ts_emulate_item *item = &program->items[i];
		struct ts_emulate_call *call = &program->calls[item->call];
		uint64_t bytes = program->recorded_items[i].bytes, ns, *duration_ns;

		if (item->kind != TS_EMULATE_OP || item->type != TS_ROW_MEMCPY ||
		    !(item->flags & TS_EMULATE_ITEM_PAGEABLE))
			continue;
		if (rate > 0)
			ns = (uint64_t)fmin((double)bytes / rate * 1e9, (double)TS_EMULATE_MAX_NS);
		else if (!pinned_ns(pinned, item->copy_kind, bytes, &ns))
			return say(e->message,
				   "pinned: the trace has no pinned copy in that direction; give "
				   "the rate, like pinned=25GB/s");
		duration_ns = duration_at(program, i);
		*duration_ns = ts_emulate_less(*duration_ns, ns);
		if (item->flags & TS_EMULATE_ITEM_ASYNC && call->wait == TS_EMULATE_WAIT_OWN) {
			call->wait = TS_EMULATE_WAIT_NONE;
			call->cost_ns = program->launch_cost_ns;
		}
		item->flags &= (uint8_t)~TS_EMULATE_ITEM_PAGEABLE;
		e->n_edited++;
	}
	return e->n_edited ? 0
			   : say(e->message, "pinned: the trace has no copy from or to "
					     "pageable memory");
}

/* Gives one kind of copy an engine of its own. */
static int part_engine(struct ts_emulate_program *program, uint32_t engine, uint32_t kind)
{
	struct ts_emulate_engine own = program->engines[engine];
	uint32_t part = (uint32_t)program->n_engines;
	int r = ts_largearray_grow(&program->engines, part, &program->n_engines_allocated,
				   sizeof(*program->engines));

	if (r)
		return r;
	own.kind = kind;
	own.kinds = 1u << kind;
	program->engines[part] = own;
	program->n_engines++;
	program->engines[engine].kinds &= ~(1u << kind);
	for (uint32_t i = 0; i < TS_EMULATE_ENGINE_KINDS; i++)
		if (program->engines[engine].kinds & 1u << i) {
			program->engines[engine].kind = i;
			break;
		}
	for (size_t i = 0; i < program->n_items; i++) {
		struct ts_emulate_item *item = &program->items[i];

		if (item->kind == TS_EMULATE_OP && item->engine == engine &&
		    ts_emulate_engine_of(item->type, item->copy_kind) == kind)
			item->engine = part;
	}
	return 0;
}

static int edit_engines(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	uint32_t kind = e->edit->kind == TS_EMULATE_H2D_ENGINES ? TS_EMULATE_H2D : TS_EMULATE_D2H;
	int r = 0;

	for (uint32_t i = 0; !r && i < program->n_engines; i++) {
		if (!(program->engines[i].kinds & 1u << kind))
			continue;
		if (program->engines[i].kinds != 1u << kind) {
			/* The new engine is the last of `engines`, so this loop visits it later. */
			r = part_engine(program, i, kind);
			continue;
		}
		program->engines[i].capacity = (uint32_t)e->edit->second;
		e->n_edited++;
	}
	return r || e->n_edited ? r : say(e->message, "the trace has no copy in that direction");
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/*
 * Returns a number proportional to the kernel's duration on n multiprocessors. For dense blocks,
 * this is the number of blocks per multiprocessor. For other blocks, it is the number of waves,
 * because a wave takes equally long with fewer blocks.
 */
static uint64_t load_of(const struct ts_emulate_recorded_item *kernel, bool is_dense, uint64_t n)
{
	uint64_t taken = divide_up(kernel->blocks, kernel->blocks_each);

	if (is_dense)
		return divide_up(kernel->blocks, ts_emulate_less(n, taken));
	return divide_up(kernel->blocks, kernel->blocks_each * n);
}

static int edit_multiprocessors(struct edit *e)
{
	struct ts_emulate_program *program = e->program;
	uint64_t n = e->edit->second;

	for (size_t i = 0; i < program->n_items; i++) {
		struct ts_emulate_item *item = &program->items[i];
		const struct ts_emulate_recorded_item *its = &program->recorded_items[i];
		bool is_dense = item->flags & TS_EMULATE_ITEM_DENSE;
		uint64_t old, *duration_ns = duration_at(program, i);

		if (item->kind != TS_EMULATE_OP || item->type != TS_ROW_KERNEL || !its->blocks ||
		    !its->blocks_each)
			continue;
		old = program->engines[item->engine].capacity;
		*duration_ns = (uint64_t)((double)*duration_ns * (double)load_of(its, is_dense, n) /
					  (double)load_of(its, is_dense, old));
		item->demand =
			(uint32_t)ts_emulate_less(n, divide_up(its->blocks, its->blocks_each));
		e->n_edited++;
	}
	for (size_t i = 0; i < program->n_engines; i++)
		if (program->engines[i].kind == TS_EMULATE_COMPUTE && program->engines[i].capacity)
			program->engines[i].capacity = (uint32_t)n;
	return e->n_edited ? 0
			   : say(e->message,
				 "multiprocessors: the trace lacks the number of blocks that "
				 "fit on a multiprocessor");
}

#define CALLS TS_EMULATE_CHANGES_CALLS
#define ITEMS TS_EMULATE_CHANGES_ITEMS

static const struct {
	int (*apply)(struct edit *);
	unsigned changes; /* enum ts_emulate_changes */
} edit_kinds[] = {
	[TS_EMULATE_KERNEL] = {edit_durations, 0},
	[TS_EMULATE_COPY] = {edit_durations, 0},
	[TS_EMULATE_SET] = {edit_durations, 0},
	[TS_EMULATE_HOST] = {edit_host, 0},
	[TS_EMULATE_CALL] = {edit_calls, CALLS},
	[TS_EMULATE_LAUNCH] = {edit_launch, ITEMS},
	[TS_EMULATE_NO_SYNC] = {edit_sync, CALLS},
	[TS_EMULATE_NO_SYNC_OP] = {edit_sync, CALLS},
	[TS_EMULATE_GRAPH] = {edit_graph, CALLS},
	[TS_EMULATE_MERGE] = {edit_merge, CALLS | ITEMS},
	[TS_EMULATE_SPLIT] = {edit_split, ITEMS},
	[TS_EMULATE_PINNED] = {edit_pinned, CALLS | ITEMS},
	[TS_EMULATE_H2D_ENGINES] = {edit_engines, ITEMS},
	[TS_EMULATE_D2H_ENGINES] = {edit_engines, ITEMS},
	[TS_EMULATE_MULTIPROCESSORS] = {edit_multiprocessors, ITEMS},
};

static bool is_known(const struct ts_emulate_edit *edit)
{
	return edit->kind < TS_ARRAY_LEN(edit_kinds) && edit_kinds[edit->kind].apply;
}

unsigned ts_emulate_edit_changes(const struct ts_emulate_edit *edit)
{
	return is_known(edit) ? edit_kinds[edit->kind].changes : 0;
}

int ts_emulate_edit(struct ts_emulate_program *program, const struct ts_emulate_edit *edit,
		    const struct ts_emulate_names *names, uint64_t *n_edited, char *ret_message)
{
	ts_cleanup(ts_state_map_deinit) struct ts_state_map none = {0};
	struct edit e = {.program = program,
			 .edit = edit,
			 .names = names,
			 .known = none,
			 .message = ret_message};
	int r = is_known(edit) ? edit_kinds[edit->kind].apply(&e)
			       : say(ret_message, "unknown edit %u", edit->kind);

	none = e.known;
	*n_edited += e.n_edited;
	if (!r && !e.n_edited)
		r = say(ret_message, "`%s`: nothing in the trace has that name",
			edit->pattern[0] ? edit->pattern : "edit");
	return r;
}
