/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET row: one row as `tsctl view --json --stacks` prints it. http.c calls this module; it calls
 * replay/report/ask-json.h and takes the row out of the answer.
 */
#include "proto/abi/base.h"
#include "replay/report/ask-json.h"
#include "tools/studio/server/requests/studio-rows.h"
#include "tools/studio/server/studio-call.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <stdio.h>

/* An operation has the row of its call, and rows of the device. */
static const char operation_types[] = "\"kernel\", \"memcpy\", \"memset\", \"api\"";

/* The row that is wanted; times are from the origin. */
struct wanted {
	uint64_t op_id; /* 0: any */
	bool has_time;
	uint64_t start_ns, end_ns;
	uint64_t first_ns, last_ns; /* absolute: where to look; 0: everywhere */
	const char *types;	    /* of JSON */
	/* If the time is known: rows of other lanes may start together with the wanted one. */
	uint64_t session, tid; /* 0: any */
	struct ts_json name;   /* as JSON; empty: any */
};

/* Returns true if a line has this key with this value. Keys are those of rows, in JSON of ours. */
static bool has_value(const char *line, size_t n, const char *key, uint64_t value)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "\"%s\":%" PRIu64, key, value);
	const char *found = memmem(line, n, text, (size_t)length);
	char after;

	if (!found) {
		length = snprintf(text, sizeof(text), "\"%s\": %" PRIu64, key, value);
		found = memmem(line, n, text, (size_t)length);
	}
	if (!found)
		return false;
	after = found + length < line + n ? found[length] : ',';
	return after < '0' || after > '9';
}

/* Returns true if a line has this name. */
static bool has_name(const char *line, size_t n, const struct ts_json *name)
{
	static const char *const keys[] = {"\"name\":", "\"name\": "};

	for (size_t i = 0; i < TS_ARRAY_LEN(keys); i++) {
		const char *found = memmem(line, n, keys[i], strlen(keys[i]));
		const char *value = found ? found + strlen(keys[i]) : NULL;

		if (value && (size_t)(line + n - value) >= name->n_bytes &&
		    !memcmp(value, name->data, name->n_bytes))
			return true;
	}
	return false;
}

/* Returns true if a line may be the row of the wanted time. */
static bool is_row(const struct wanted *wanted, uint64_t origin_ns, const char *line, size_t n)
{
	/* Rows may start together; their ends differ. Instants have no end. */
	return has_value(line, n, "start_ns", origin_ns + wanted->start_ns) &&
	       (wanted->end_ns == wanted->start_ns ||
		has_value(line, n, "end_ns", origin_ns + wanted->end_ns)) &&
	       (!wanted->session || has_value(line, n, "session", wanted->session)) &&
	       (!wanted->tid || has_value(line, n, "tid", wanted->tid)) &&
	       (!wanted->name.n_bytes || has_name(line, n, &wanted->name));
}

/* Returns the rank of a line: of several rows of an operation, those of the device come first. */
static int rank_of(const char *line, size_t n)
{
	static const char *const types[] = {"\"kernel\"", "\"memcpy\"", "\"memset\"", "\"api\""};

	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++)
		if (memmem(line, n < 40 ? n : 40, types[i], strlen(types[i])))
			return (int)i;
	return TS_ARRAY_LEN(types);
}

/* Leaves the wanted row of the lines in `json`. Returns false if there is none. */
static bool pick(struct ts_json *json, const struct wanted *wanted, uint64_t origin_ns)
{
	const char *best = NULL;
	size_t n_best = 0;
	int best_rank = 100;

	for (size_t at = 0; at < json->n_bytes;) {
		const char *line = json->data + at;
		const char *end = memchr(line, '\n', json->n_bytes - at);
		size_t n = end ? (size_t)(end - line) : json->n_bytes - at;
		int rank = rank_of(line, n);

		at += n + 1;
		if (wanted->has_time && !is_row(wanted, origin_ns, line, n))
			continue;
		if (n && rank < best_rank) {
			best = line;
			n_best = n;
			best_rank = rank;
		}
	}
	if (!best)
		return false;
	memmove(json->data, best, n_best);
	json->n_bytes = n_best;
	ts_json_raw(json, "\n");
	return true;
}

static int ask(struct ts_studio_call *call, struct wanted *wanted)
{
	struct ts_ask_options options = {.no_memory = ts_no_memory, .cancel = &call->is_cancelled};
	struct ts_sbt_reader *reader = call->reader->source.reader;
	char text[512], filter[128] = "", window[160] = "", why[TS_ASK_WHY_BYTES];
	int r;

	if (wanted->op_id)
		snprintf(filter, sizeof(filter),
			 ", \"filter\": {\"first_op\": %" PRIu64 ", \"last_op\": %" PRIu64 "}",
			 wanted->op_id, wanted->op_id);
	if (wanted->has_time)
		snprintf(window, sizeof(window),
			 ", \"from\": {\"ns\": %" PRIu64 ", \"from_start\": true}"
			 ", \"to\": {\"ns\": %" PRIu64 ", \"from_start\": true}",
			 wanted->start_ns, wanted->start_ns);
	else if (wanted->last_ns)
		snprintf(window, sizeof(window),
			 ", \"from\": {\"ns\": %" PRIu64 "}, \"to\": {\"ns\": %" PRIu64 "}",
			 wanted->first_ns, wanted->last_ns);
	snprintf(text, sizeof(text), "{\"stacks\": true, \"types\": [%s]%s%s}", wanted->types,
		 filter, window);
	r = ts_ask_json(reader, call->session, call->trace->path, "rows", text, &options,
			&call->out, why);
	if (r && r != TS_ASK_E_DAMAGED)
		return ts_call_fail(call, r < 0 ? 500 : 400, "%s", why);
	if (call->out.error || pick(&call->out, wanted, ts_sbt_reader_origin_ns(reader)))
		return 0;
	/* Some types of rows have neither a thread nor a name. */
	wanted->tid = 0;
	wanted->name.n_bytes = 0;
	if (pick(&call->out, wanted, ts_sbt_reader_origin_ns(reader)))
		return 0;
	return ts_call_fail(call, 404, "there is no such row");
}

/* A place of a lane. */
struct place {
	uint32_t lane;
	uint64_t at_ns;
	uint64_t depth;	 /* UINT64_MAX: the innermost row */
	uint64_t number; /* of the row, if has_number */
	bool has_number;
};

/* Finds the lane's row at a time: the innermost one, the one of a depth, or the one of a number. */
static int find_row(struct ts_studio_call *call, const struct place *place,
		    struct ts_tile_row *ret_row)
{
	struct ts_tile_rows rows;
	bool is_found = false;
	int r = ts_tiles_rows(call->tiles->tiles, call->reader->source.reader, place->lane,
			      place->at_ns, place->at_ns + 1, 65536, ts_call_is_cancelled, call,
			      &rows);

	if (r)
		return ts_call_fail_with(call, r);
	for (size_t i = 0; i < rows.n; i++)
		if (rows.at[i].start_ns <= place->at_ns &&
		    (place->has_number
			     ? ts_studio_row_number(&rows.at[i]) == place->number
			     : place->depth == UINT64_MAX || rows.at[i].depth == place->depth)) {
			*ret_row = rows.at[i];
			is_found = true;
		}
	free(rows.at);
	return is_found ? 0 : ts_call_fail(call, 404, "there is no row at this time");
}

/* Sets what distinguishes a row of a lane from rows of other lanes that start together with it. */
static void set_lane(struct ts_studio_call *call, uint32_t id, const struct ts_tile_row *row,
		     struct wanted *wanted)
{
	char buffer[TS_TILE_NAME_BYTES];
	const char *name = ts_tile_key_name(call->reader->resolver, row->key, buffer);
	const struct ts_row_thread *thread;
	struct ts_lane lane;

	ts_tiles_lane(call->tiles->tiles, id - 1, &lane);
	thread = ts_sbt_reader_thread(call->reader->source.reader, lane.session, lane.definition);
	wanted->session = lane.session;
	if (lane.kind >= TS_LANE_THREAD && lane.kind < TS_LANE_COUNTER && thread)
		wanted->tid = thread->tid;
	if (*name && (row->type == TS_ROW_MARK || row->type == TS_ROW_RANGE ||
		      row->type == TS_ROW_KERNEL || row->type == TS_ROW_API))
		ts_json_string(&wanted->name, name);
}

static int row_at(struct ts_studio_call *call, uint64_t lane)
{
	bool is_second = lane > TS_STUDIO_SECOND_LANES;
	struct place place = {.lane = (uint32_t)(lane - (is_second ? TS_STUDIO_SECOND_LANES : 0)),
			      .has_number = ts_call_parameter(call, "row")};
	struct wanted wanted = {.has_time = true};
	struct ts_tile_row row = {0};
	char types[32];
	int r;

	if (ts_call_number(call, "at", 0, INT64_MAX, &place.at_ns) ||
	    ts_call_number_or(call, "depth", 0, UINT32_MAX, UINT64_MAX, &place.depth) ||
	    ts_call_number_or(call, "row", 0, UINT64_MAX, 0, &place.number) ||
	    ts_call_reader(call, is_second) || find_row(call, &place, &row))
		return -1;
	snprintf(types, sizeof(types), "\"%s\"", ts_row_schema(row.type)->name);
	wanted.types = types;
	wanted.op_id = row.op_id;
	wanted.start_ns = row.start_ns;
	wanted.end_ns = row.end_ns;
	set_lane(call, place.lane, &row, &wanted);
	r = wanted.name.error ? ts_call_fail_with(call, -ENOMEM) : ask(call, &wanted);
	ts_json_deinit(&wanted.name);
	return r;
}

int ts_request_row(struct ts_studio_call *call)
{
	struct wanted wanted = {.types = operation_types};
	uint64_t lane, trace;

	if (ts_call_number_or(call, "lane", 1, UINT32_MAX, 0, &lane))
		return -1;
	if (lane)
		return row_at(call, lane);
	if (ts_call_number(call, "op", 1, UINT64_MAX, &wanted.op_id) ||
	    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace) ||
	    ts_call_reader(call, trace) || ts_call_session(call) ||
	    ts_studio_rows_span(call, wanted.op_id, &wanted.first_ns, &wanted.last_ns))
		return -1;
	return ask(call, &wanted);
}
