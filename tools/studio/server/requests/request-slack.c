/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET slack: the slack of rows in a window, as columns. http.c calls this module; it calls
 * studio-slacks.c.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/parameters.h"
#include "tools/studio/server/studio-call.h"

#define MAX_LANES    64
#define DEFAULT_ROWS 4096u
#define MAX_ROWS     65536u

struct asked {
	uint32_t lanes[MAX_LANES];
	struct ts_tiles_slack_wanted wanted;
	bool has_start, has_end;
	uint64_t start_ns, end_ns; /* the window, from the origin */
	uint64_t trace;
};

struct answer {
	const struct ts_tiles_slack *slack;
	const uint32_t *rows;
	size_t n;
	uint32_t first_lane;
};

/* Reads the lanes, all of one trace. */
static int read_lanes(struct ts_studio_call *call, struct asked *asked)
{
	const char *text = ts_call_parameter(call, "lanes");
	int n = text ? ts_query_numbers(text, asked->lanes, MAX_LANES) : -EINVAL;

	if (n <= 0)
		return ts_call_fail(call, 400, "lanes: expected 1 to %d numbers", MAX_LANES);
	asked->trace = asked->lanes[0] > TS_STUDIO_SECOND_LANES;
	for (int i = 0; i < n; i++) {
		if ((asked->lanes[i] > TS_STUDIO_SECOND_LANES) != asked->trace)
			return ts_call_fail(call, 400, "lanes: all belong to one trace");
		asked->lanes[i] -= asked->trace ? TS_STUDIO_SECOND_LANES : 0;
	}
	asked->wanted.lanes = asked->lanes;
	asked->wanted.n_lanes = (size_t)n;
	return 0;
}

static int read_asked(struct ts_studio_call *call, struct asked *asked)
{
	struct ts_tiles_slack_wanted *wanted = &asked->wanted;
	uint64_t limit = MAX_ROWS;
	int r;

	asked->has_start = ts_call_parameter(call, "start");
	asked->has_end = ts_call_parameter(call, "end");
	if (ts_call_number_or(call, "start", 0, INT64_MAX, 0, &asked->start_ns) ||
	    ts_call_number_or(call, "end", 0, INT64_MAX, 0, &asked->end_ns))
		return -1;
	if (asked->has_end && asked->end_ns < asked->start_ns)
		return ts_call_fail(call, 400, "the window ends before it begins");
	if (ts_call_parameter(call, "op"))
		r = ts_call_number(call, "op", 1, UINT64_MAX, &wanted->op_id) ||
		    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &asked->trace);
	else
		r = ts_call_number(call, "from", 0, INT64_MAX, &wanted->from_ns) ||
		    ts_call_number(call, "to", 0, INT64_MAX, &wanted->to_ns) ||
		    ts_call_number_or(call, "limit", 1, MAX_ROWS, DEFAULT_ROWS, &limit) ||
		    read_lanes(call, asked);
	wanted->limit = limit;
	return r ? -1 : 0;
}

static const char *kind_name(uint32_t kind)
{
	return kind == TS_GRAPH_OP     ? "\"operation\""
	       : kind == TS_GRAPH_CALL ? "\"call\""
				       : "\"return\"";
}

static void put_column(struct ts_json *json, const char *name, const struct answer *answer,
		       void (*put)(struct ts_json *json, const struct answer *answer,
				   const struct ts_tiles_slack_row *row))
{
	ts_json_raw(json, name);
	for (size_t i = 0; i < answer->n; i++) {
		ts_json_raw(json, i ? "," : "");
		put(json, answer, &answer->slack->rows[answer->rows[i]]);
	}
	ts_json_raw(json, "]");
}

static void put_lane(struct ts_json *json, const struct answer *answer,
		     const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->lane ? answer->first_lane + row->lane : 0);
}

static void put_kind(struct ts_json *json, const struct answer *answer,
		     const struct ts_tiles_slack_row *row)
{
	ts_json_raw(json, kind_name(row->kind));
}

static void put_op(struct ts_json *json, const struct answer *answer,
		   const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->op_id);
}

static void put_start(struct ts_json *json, const struct answer *answer,
		      const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->start_ns);
}

static void put_end(struct ts_json *json, const struct answer *answer,
		    const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->end_ns);
}

static void put_slack(struct ts_json *json, const struct answer *answer,
		      const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->slack_ns);
}

static void put_critical(struct ts_json *json, const struct answer *answer,
			 const struct ts_tiles_slack_row *row)
{
	ts_json_uint(json, row->is_critical);
}

static void put_answer(struct ts_json *json, const struct answer *answer, bool more)
{
	ts_json_raw(json, "{\"start_ns\": ");
	ts_json_uint(json, answer->slack->start_ns);
	ts_json_raw(json, ", \"end_ns\": ");
	ts_json_uint(json, answer->slack->end_ns);
	ts_json_raw(json, ", \"nodes\": ");
	ts_json_uint(json, answer->slack->n_rows);
	put_column(json, ",\n\"rows\": {\"lane\": [", answer, put_lane);
	put_column(json, ",\n\"kind\": [", answer, put_kind);
	put_column(json, ",\n\"op\": [", answer, put_op);
	put_column(json, ",\n\"start\": [", answer, put_start);
	put_column(json, ",\n\"end\": [", answer, put_end);
	put_column(json, ",\n\"slack\": [", answer, put_slack);
	put_column(json, ",\n\"critical\": [", answer, put_critical);
	ts_json_raw(json, more ? "},\n\"more\": true}\n" : "},\n\"more\": false}\n");
}

/* Lists the wanted rows of the slack. */
static int list(struct ts_studio_call *call, const struct asked *asked,
		const struct ts_tiles_slack *slack)
{
	ts_cleanup(ts_freep) uint32_t *rows = NULL;
	struct answer answer = {.slack = slack,
				.first_lane = asked->trace ? TS_STUDIO_SECOND_LANES : 0};
	bool more;
	int r = ts_tiles_slack_find(slack, call->tiles->tiles, &asked->wanted, &rows, &answer.n,
				    &more);

	if (r)
		return ts_call_fail_with(call, r);
	if (asked->wanted.op_id && !answer.n)
		return ts_call_fail(call, 404, "the window has no such operation");
	answer.rows = rows;
	put_answer(&call->out, &answer, more);
	return 0;
}

int ts_request_slack(struct ts_studio_call *call)
{
	struct asked asked = {0};
	struct ts_studio_slack *slack;
	uint64_t from_ns, to_ns;
	int r;

	if (read_asked(call, &asked) || ts_call_reader(call, asked.trace) || ts_call_session(call))
		return -1;
	from_ns = asked.has_start ? ts_call_absolute(call, asked.start_ns) : 0;
	to_ns = asked.has_end ? ts_call_absolute_end(call, asked.end_ns) : 0;
	slack = ts_studio_slacks_get(&call->studio->slacks, call, asked.trace, from_ns, to_ns);
	if (!slack)
		return -1;
	r = list(call, &asked, slack->slack);
	ts_studio_slacks_put(&call->studio->slacks, slack);
	return r;
}
