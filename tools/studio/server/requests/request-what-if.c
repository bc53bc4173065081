/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST what-if: emulates the first trace with edits, and keeps its times as a layer. http.c calls
 * this module; it calls replay/emulate.
 */
#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "replay/emulate/emulate.h"
#include "replay/report/names/names.h"
#include "tools/studio/server/requests/studio-asking.h"
#include "tools/studio/server/requests/studio-part.h"

#include <json-c/json.h>
#include <malloc.h>

#define MAX_EDITS 64u
/* Calls and operations in a layer. */
#define MAX_ROWS (2u << 20)

struct edits {
	struct ts_emulate_edit at[MAX_EDITS];
	size_t n;
	bool has_view;
	uint64_t from_ns, to_ns; /* the view, from the origin */
};

struct making {
	struct ts_studio_call *call;
	uint64_t origin_ns;
	struct ts_tiles_layer_row *rows;
	size_t n_rows, capacity;
	/* The last place and its lane, because most rows follow one of the same place. */
	struct ts_lane place;
	uint32_t lane;
	bool is_part;
	struct ts_studio_part part;
};

static int read_list(struct ts_studio_call *call, struct json_object *list, struct edits *edits)
{
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > MAX_EDITS)
		return ts_call_fail(call, 400, "\"edits\" is a list of at most %u edits",
				    MAX_EDITS);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));
		char message[TS_EMULATE_TEXT_BYTES] = "";

		if (!text || ts_emulate_edit_parse(text, &edits->at[edits->n++], message))
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

static int read_edits(struct ts_studio_call *call, struct edits *edits)
{
	struct json_object *body, *list;
	int r;

	if (ts_asking_body(call, &body))
		return -1;
	if (json_object_object_get_ex(body, "edits", &list))
		r = read_list(call, list, edits) || read_view(call, body, edits) ? -1 : 0;
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

static uint32_t key_of(const struct ts_emulate_time *time)
{
	switch (time->type) {
	case TS_ROW_MEMCPY:
		return ts_tile_key(time->type, time->copy_kind);
	case TS_ROW_MEMSET:
		return ts_tile_key(time->type, 0);
	default:
		return ts_tile_key(time->type, time->name);
	}
}

static int add_time(void *data, const struct ts_emulate_time *time)
{
	struct making *making = data;
	bool is_call = time->type == TS_ROW_API;
	struct ts_lane place = {.session = time->session,
				.kind = is_call ? TS_LANE_THREAD : TS_LANE_STREAM,
				.thread = time->thread,
				.device = is_call ? 0 : time->device,
				.context = is_call ? 0 : time->context,
				.stream = is_call ? 0 : time->stream};

	if (making->n_rows == MAX_ROWS)
		return -E2BIG;
	if (TS_GROW(making->rows, making->capacity, making->n_rows + 1))
		return -ENOMEM;
	if (!making->n_rows || memcmp(&place, &making->place, sizeof(place)))
		making->lane = ts_tiles_find_lane(making->call->tiles->tiles, &place);
	making->place = place;
	making->rows[making->n_rows++] =
		(struct ts_tiles_layer_row){.start_ns = since(making, time->start_ns),
					    .end_ns = since(making, time->end_ns),
					    .op_id = time->op_id,
					    .key = key_of(time),
					    .lane = making->lane};
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

static int answer(struct making *making, const struct ts_emulate_result *before,
		  const struct ts_emulate_result *after)
{
	struct ts_studio_call *call = making->call;
	struct ts_tiles_layer *layer;
	uint64_t end_ns = 0;
	uint32_t number;

	for (size_t i = 0; i < making->n_rows; i++)
		end_ns = making->rows[i].end_ns > end_ns ? making->rows[i].end_ns : end_ns;
	if (ts_tiles_layer_new(call->tiles->tiles, making->rows, making->n_rows, &layer))
		return ts_call_fail(call, 500, "no memory");
	number = ts_studio_layers_add(&call->studio->layers, call->trace, ts_take_ptr(call->tiles),
				      layer);
	if (!number)
		return ts_call_fail(call, 500, "no memory");
	put_uint(&call->out, "{\"layer\": ", number);
	ts_json_raw(&call->out, making->is_part ? ", \"part\": true" : ", \"part\": false");
	put_uint(&call->out, ", \"start_ns\": ", since(making, making->part.from_ns));
	put_uint(&call->out, ", \"stop_ns\": ", since(making, making->part.to_ns));
	put_uint(&call->out, ", \"before_ns\": ", before->makespan_ns);
	put_uint(&call->out, ", \"after_ns\": ", after->makespan_ns);
	put_uint(&call->out, ", \"end_ns\": ", end_ns);
	put_uint(&call->out, ", \"operations\": ", after->n_ops);
	put_uint(&call->out, ", \"calls\": ", after->n_calls);
	put_uint(&call->out, ", \"edited\": ", after->n_edited);
	ts_json_raw(&call->out, "}\n");
	return 0;
}

static int fail_too_long(struct ts_studio_call *call)
{
	return ts_call_fail(call, 400,
			    "the trace has more than %u calls and operations, too many to draw its "
			    "whole emulation; `tsctl replay --what-if` computes its length",
			    MAX_ROWS);
}

static int emulate(struct making *making, const struct edits *edits)
{
	struct ts_studio_call *call = making->call;
	struct ts_emulate_names names = {.kernel = kernel_name,
					 .function = function_name,
					 .user = call->reader->resolver};
	struct ts_emulate_options options = {.session = call->reader->source.session,
					     .step = step,
					     .step_data = call};
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *before = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *after = NULL;
	char message[TS_EMULATE_TEXT_BYTES] = "";
	struct ts_sbt_reader *reader = call->reader->source.reader;
	int r;

	if (!making->is_part && ts_studio_part_count(reader, options.session) > MAX_ROWS)
		return fail_too_long(call);
	r = making->is_part ? ts_studio_part_read(reader, &options, &making->part, &program)
			    : ts_emulate_read(reader, &options, &program);

	r = r ? r : ts_emulate_recorded(program, &before);
	r = r ? r
	      : ts_emulate_run_times(program, edits->at, edits->n, &names, add_time, making, &after,
				     message);
	if (r == -EINVAL)
		return ts_call_fail(call, 400, "%s", message);
	if (r == -E2BIG)
		return fail_too_long(call);
	return r ? ts_call_fail_with(call, r) : answer(making, before, after);
}

/* Chooses what is emulated. */
static void choose(struct making *making, const struct edits *edits)
{
	struct ts_studio_call *call = making->call;
	uint64_t origin_ns = ts_tiles_origin_ns(call->tiles->tiles);

	making->origin_ns = origin_ns;
	if (edits->has_view)
		making->is_part = ts_studio_part_choose(call->reader->source.reader,
							call->reader->source.session,
							origin_ns + edits->from_ns,
							origin_ns + edits->to_ns, &making->part);
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
	free(making.rows);
	free(edits);
	/* An emulation needs much memory for a moment, which the system shall have back. */
	malloc_trim(0);
	return r;
}
