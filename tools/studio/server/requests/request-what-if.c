/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST what-if: emulates the first trace with edits, and keeps its times as a layer. GET what-if:
 * the progress of a long emulation. http.c calls this module; it calls replay/emulate for a part or
 * a short trace, and studio-whole.c for a long trace.
 */
#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "replay/emulate/emulate.h"
#include "replay/report/names/names.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/studio/server/requests/studio-part.h"
#include "tools/studio/server/requests/studio-whole.h"

#include <json-c/json.h>
#include <malloc.h>

#define MAX_EDITS 64u
/* Calls and operations that are emulated in one run. A longer trace is emulated in windows. */
#define MAX_ROWS (1u << 20)

struct edits {
	struct ts_emulate_edit at[MAX_EDITS];
	size_t n;
	bool has_view, is_whole;
	uint64_t from_ns, to_ns; /* the view, from the origin */
};

struct making {
	struct ts_studio_call *call;
	uint64_t origin_ns;
	struct ts_studio_times times;
	struct ts_tiles_layer_row *rows;
	size_t n_rows, capacity;
	bool is_part;
	struct ts_studio_part part;
	/* The result. */
	struct ts_studio_whole sums;
	struct ts_emulate_doubts doubts; /* of an emulation in one run */
};

static int read_list(struct ts_studio_call *call, struct json_object *list, struct edits *edits)
{
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > MAX_EDITS)
		return ts_call_fail(call, 400, "\"edits\" is a list of at most %u edits",
				    MAX_EDITS);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *edit = json_object_array_get_idx(list, i);
		const char *text = json_object_is_type(edit, json_type_string)
					   ? json_object_get_string(edit)
					   : NULL;
		char message[TS_EMULATE_TEXT_BYTES] = "not a text";

		if (!text || strlen(text) != (size_t)json_object_get_string_len(edit) ||
		    ts_emulate_edit_parse(text, &edits->at[edits->n++], message))
			return ts_call_fail(call, 400, "%s: %s", text ? text : "an edit", message);
	}
	return 0;
}

/* Reads a time of the view. Returns 0, or -EINVAL if it is missing or wrong. */
static int read_time(struct json_object *body, const char *name, uint64_t *ret_ns)
{
	struct json_object *value;
	int64_t ns;

	if (!json_object_object_get_ex(body, name, &value) ||
	    !json_object_is_type(value, json_type_int))
		return -EINVAL;
	ns = json_object_get_int64(value);
	if (ns < 0)
		return -EINVAL;
	*ret_ns = (uint64_t)ns;
	return 0;
}

static int read_view(struct ts_studio_call *call, struct json_object *body, struct edits *edits)
{
	edits->has_view = json_object_object_get_ex(body, "from", NULL) ||
			  json_object_object_get_ex(body, "to", NULL);
	if (edits->has_view &&
	    (read_time(body, "from", &edits->from_ns) || read_time(body, "to", &edits->to_ns) ||
	     edits->to_ns < edits->from_ns))
		return ts_call_fail(call, 400, "\"from\" and \"to\" are two times in nanoseconds");
	return 0;
}

static int read_whole(struct ts_studio_call *call, struct json_object *body, struct edits *edits)
{
	struct json_object *whole;

	if (!json_object_object_get_ex(body, "whole", &whole))
		return 0;
	if (!json_object_is_type(whole, json_type_boolean))
		return ts_call_fail(call, 400, "\"whole\" is true or false");
	edits->is_whole = json_object_get_boolean(whole);
	return 0;
}

static int read_edits(struct ts_studio_call *call, struct edits *edits)
{
	struct json_object *body, *list;
	int r;

	if (ts_asking_body(call, &body))
		return -1;
	if (json_object_object_get_ex(body, "edits", &list))
		r = read_list(call, list, edits) || read_view(call, body, edits) ||
				    read_whole(call, body, edits)
			    ? -1
			    : 0;
	else
		r = ts_call_fail(call, 400, "the body needs \"edits\"");
	json_object_put(body);
	return r;
}

static const char *kernel_name(void *user, uint32_t name)
{
	return ts_resolver_kernel_name(user, name);
}

static const char *function_name(void *user, uint32_t name)
{
	return ts_name_api(name >> 16, name & 0xffff);
}

static uint64_t since(const struct making *making, uint64_t ns)
{
	return ns > making->origin_ns ? ns - making->origin_ns : 0;
}

static int add_time(void *data, const struct ts_emulate_time *time)
{
	struct making *making = data;

	if (making->n_rows == making->capacity)
		return -E2BIG;
	ts_studio_times_row(&making->times, time, &making->rows[making->n_rows++]);
	return 0;
}

/* Ends an emulation whose client is gone. */
static int step(void *data, uint64_t done, uint64_t all)
{
	return ts_call_is_cancelled(data) ? -ECANCELED : 0;
}

static void put_uint(struct ts_json *json, const char *text, uint64_t value)
{
	ts_json_raw(json, text);
	ts_json_uint(json, value);
}

/* The numbers that make the result uncertain, unless they are 0, with the names of ReplayDoubts. */
static void put_doubts(struct ts_json *json, const struct making *making)
{
	const struct ts_emulate_doubts *doubts = &making->doubts;
	const struct {
		const char *name;
		uint64_t n;
	} numbers[] = {
		{"without_call", doubts->n_without_call},
		{"without_device", doubts->n_without_device},
		{"without_record", doubts->n_without_record},
		{"started_before", doubts->n_before},
		{"not_waited", doubts->n_not_waited},
		{"backwards", doubts->n_backwards},
		{"unexplained", doubts->n_unexplained},
		{"threads_joined", doubts->n_joins},
		{"let_go", making->sums.n_broken},
		{"damaged", making->sums.is_damaged},
	};
	const char *before = "";

	ts_json_raw(json, ", \"doubts\": {");
	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++) {
		if (!numbers[i].n)
			continue;
		ts_json_raw(json, before);
		ts_json_raw(json, "\"");
		ts_json_raw(json, numbers[i].name);
		put_uint(json, "\": ", numbers[i].n);
		before = ", ";
	}
	ts_json_raw(json, "}");
}

static int answer(struct making *making, struct ts_tiles_layer *layer)
{
	struct ts_studio_call *call = making->call;
	const struct ts_studio_whole *sums = &making->sums;
	uint32_t number = ts_studio_layers_add(&call->studio->layers, call->trace,
					       ts_take_ptr(call->tiles), layer);

	if (!number)
		return ts_call_fail(call, 500, "no memory");
	put_uint(&call->out, "{\"layer\": ", number);
	ts_json_raw(&call->out, making->is_part ? ", \"part\": true" : ", \"part\": false");
	put_uint(&call->out, ", \"windows\": ", sums->n_windows);
	put_uint(&call->out, ", \"start_ns\": ", since(making, making->part.from_ns));
	put_uint(&call->out, ", \"stop_ns\": ", since(making, making->part.to_ns));
	put_uint(&call->out, ", \"before_ns\": ", sums->before_ns);
	put_uint(&call->out, ", \"after_ns\": ", sums->after_ns);
	put_uint(&call->out, ", \"end_ns\": ", sums->end_ns);
	put_uint(&call->out, ", \"operations\": ", sums->n_ops);
	put_uint(&call->out, ", \"calls\": ", sums->n_calls);
	put_uint(&call->out, ", \"edited\": ", sums->n_edited);
	put_doubts(&call->out, making);
	ts_json_raw(&call->out, "}\n");
	return 0;
}

static int fail(struct ts_studio_call *call, int r, const char *message)
{
	if (r == -EINVAL)
		return ts_call_fail(call, 400, "%s", message);
	if (r == -ENOMEM)
		return ts_call_fail(call, 500, "no memory");
	return ts_call_fail_with(call, r);
}

/* Emulates a part or a short trace in one run, whose memory is free afterwards. */
static int run(struct making *making, const struct edits *edits,
	       const struct ts_emulate_names *names, char *ret_message)
{
	struct ts_studio_call *call = making->call;
	struct ts_emulate_options options = {.session = call->reader->source.session,
					     .step = step,
					     .step_data = call};
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *before = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *after = NULL;
	struct ts_sbt_reader *reader = call->reader->source.reader;
	int r = making->is_part ? ts_studio_part_read(reader, &options, &making->part, &program)
				: ts_emulate_read(reader, &options, &program);

	r = r ? r : ts_emulate_recorded(program, &before);
	if (r)
		return r;
	making->capacity = before->n_ops + before->n_calls;
	making->rows = malloc((making->capacity + 1) * sizeof(*making->rows));
	if (!making->rows)
		return -ENOMEM;
	r = ts_emulate_run_times(program, edits->at, edits->n, names, add_time, making, &after,
				 ret_message);
	if (r)
		return r;
	making->sums = (struct ts_studio_whole){.before_ns = before->makespan_ns,
						.after_ns = after->makespan_ns,
						.n_ops = after->n_ops,
						.n_calls = after->n_calls,
						.n_edited = after->n_edited,
						.n_windows = 1,
						.n_broken = after->n_broken};
	ts_emulate_doubts(program, &making->doubts);
	making->sums.is_damaged = making->doubts.is_damaged;
	for (size_t i = 0; i < making->n_rows; i++)
		if (making->rows[i].end_ns > making->sums.end_ns)
			making->sums.end_ns = making->rows[i].end_ns;
	return 0;
}

static int emulate_short(struct making *making, const struct edits *edits,
			 const struct ts_emulate_names *names, struct ts_tiles_layer **ret_layer,
			 char *ret_message)
{
	struct ts_studio_layers *layers = &making->call->studio->layers;
	int r = ts_studio_layers_enter(layers, &making->call->is_cancelled);

	if (r)
		return r;
	/* The memory of a window of a long emulation, which waits, too. */
	malloc_trim(0);
	r = run(making, edits, names, ret_message);
	r = r ? r
	      : ts_tiles_layer_new(making->call->tiles->tiles, making->rows, making->n_rows,
				   ret_layer);
	free(making->rows);
	making->rows = NULL;
	/* An emulation needs much memory for a moment, which the system shall have back. */
	malloc_trim(0);
	ts_studio_layers_leave(layers);
	return r;
}

static int emulate(struct making *making, const struct edits *edits)
{
	struct ts_studio_call *call = making->call;
	struct ts_emulate_names names = {.kernel = kernel_name,
					 .function = function_name,
					 .user = call->reader->resolver};
	const struct ts_studio_whole_options options = {.call = call,
							.edits = edits->at,
							.n_edits = edits->n,
							.names = &names,
							.from_ns = edits->from_ns};
	char message[TS_EMULATE_TEXT_BYTES] = "";
	struct ts_tiles_layer *layer = NULL;
	bool is_long =
		!making->is_part && ts_studio_part_count(call->reader->source.reader,
							 call->reader->source.session) > MAX_ROWS;
	int r = is_long ? ts_studio_whole_emulate(&options, &layer, &making->sums, message)
			: emulate_short(making, edits, &names, &layer, message);

	return r ? fail(call, r, message) : answer(making, layer);
}

/* Chooses what is emulated. */
static void choose(struct making *making, const struct edits *edits)
{
	struct ts_studio_call *call = making->call;
	uint64_t origin_ns = ts_tiles_origin_ns(call->tiles->tiles);

	making->origin_ns = origin_ns;
	making->times = (struct ts_studio_times){.tiles = call->tiles->tiles};
	if (edits->has_view && !edits->is_whole)
		making->is_part =
			ts_studio_part_choose(call->reader->source.reader,
					      call->reader->source.session,
					      ts_call_absolute(call, edits->from_ns),
					      ts_call_absolute(call, edits->to_ns), &making->part);
	if (!making->is_part)
		making->part =
			(struct ts_studio_part){.from_ns = origin_ns,
						.to_ns = origin_ns +
							 ts_tiles_duration_ns(call->tiles->tiles)};
}

int ts_request_what_if(struct ts_studio_call *call)
{
	struct making making = {.call = call};
	struct edits *edits = calloc(1, sizeof(*edits));
	int r;

	if (!edits)
		return ts_call_fail(call, 500, "no memory");
	r = read_edits(call, edits);
	r = r ? r : ts_call_reader(call, 0);
	if (!r) {
		choose(&making, edits);
		r = emulate(&making, edits);
	}
	free(edits);
	return r;
}

int ts_request_what_if_progress(struct ts_studio_call *call)
{
	struct ts_studio_layers *layers = &call->studio->layers;
	uint64_t all = atomic_load(&layers->all), done = atomic_load(&layers->done);

	put_uint(&call->out, "{\"done\": ", done < all ? done : all);
	put_uint(&call->out, ", \"all\": ", all);
	ts_json_raw(&call->out, "}\n");
	return 0;
}
