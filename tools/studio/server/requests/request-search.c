/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET search: the next row whose name contains a text, or matches a regular expression. http.c
 * calls this module.
 */
#include "proto/abi/base.h"
#include "proto/abi/map.h"
#include "tools/studio/server/parameters.h"
#include "tools/studio/server/requests/studio-rows.h"

#include <regex.h>

#define MAX_TEXT 1024u
/* Names longer than this are compared up to here, so that a pattern's time has a limit. */
#define MAX_NAME 512u

/* Results by key. */
#define WANTED	 1u
#define UNWANTED 2u

struct finding {
	struct ts_studio_call *call;
	const char *text;
	bool is_regex;
	regex_t regex;
	struct ts_map keys; /* WANTED or UNWANTED */
	bool is_short_of_memory;
};

static bool is_wanted_name(const struct finding *finding, const char *name)
{
	char cut[MAX_NAME];

	if (!finding->is_regex)
		return strcasestr(name, finding->text) != NULL;
	if (strlen(name) < sizeof(cut))
		return !regexec(&finding->regex, name, 0, NULL, 0);
	memcpy(cut, name, sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	return !regexec(&finding->regex, cut, 0, NULL, 0);
}

static bool is_wanted(void *data, uint32_t key)
{
	struct finding *finding = data;
	uint64_t known = ts_map_get(&finding->keys, key);
	char buffer[TS_TILE_NAME_BYTES];

	if (!known) {
		known = is_wanted_name(finding, ts_tile_key_name(finding->call->reader->resolver,
								 key, buffer))
				? WANTED
				: UNWANTED;
		finding->is_short_of_memory |= ts_map_set(&finding->keys, key, known) != 0;
	}
	return known == WANTED;
}

static bool is_over(void *data)
{
	const struct finding *finding = data;

	return ts_call_is_cancelled(finding->call) || finding->is_short_of_memory;
}

static void put_match(struct ts_studio_call *call, uint64_t trace,
		      const struct ts_tile_match *match)
{
	char buffer[TS_TILE_NAME_BYTES];

	ts_json_raw(&call->out, "{\"lane\": ");
	ts_json_uint(&call->out, match->lane + (trace ? TS_STUDIO_SECOND_LANES : 0));
	ts_json_raw(&call->out, ", \"row\": ");
	ts_json_uint(&call->out, ts_studio_row_number(&match->row));
	ts_json_raw(&call->out, ", \"op\": ");
	ts_json_uint(&call->out, match->row.op_id);
	ts_json_raw(&call->out, ", \"start\": ");
	ts_json_uint(&call->out, match->row.start_ns);
	ts_json_raw(&call->out, ", \"end\": ");
	ts_json_uint(&call->out, match->row.end_ns);
	ts_json_raw(&call->out, ", \"key\": ");
	ts_json_uint(&call->out, match->row.key);
	ts_json_raw(&call->out, ", \"name\": ");
	ts_call_put_name(call, ts_tile_key_name(call->reader->resolver, match->row.key, buffer));
	ts_json_raw(&call->out, ", \"matches\": ");
	ts_json_uint(&call->out, match->n_matches);
	ts_json_raw(&call->out, "}\n");
}

static int search(struct finding *finding, uint64_t trace, const struct ts_tiles_search *wanted)
{
	struct ts_studio_call *call = finding->call;
	struct ts_tile_match match;
	int r = ts_tiles_search(call->tiles->tiles, call->reader->source.reader, wanted, &match);

	if (finding->is_short_of_memory)
		r = -ENOMEM;
	if (r == TS_SBT_E_NOT_FOUND)
		return ts_call_fail(call, 404, "no further row has this name");
	if (r)
		return ts_call_fail_with(call, r);
	put_match(call, trace, &match);
	return 0;
}

/* Reads the place from which the search begins. Returns 0, or -1 after an error. */
static int read_place(struct ts_studio_call *call, bool is_backward,
		      struct ts_tile_place *ret_place)
{
	struct ts_tile_place place = {0};
	uint64_t lane, row;

	if (ts_call_number_or(call, "from", 0, INT64_MAX, is_backward ? UINT64_MAX : 0,
			      &place.start_ns) ||
	    ts_call_number_or(call, "lane", 1, UINT32_MAX, 0, &lane) ||
	    ts_call_number_or(call, "row", 0, UINT64_MAX, 0, &row))
		return -1;
	if (lane) {
		place.lane =
			(uint32_t)(lane > TS_STUDIO_SECOND_LANES ? lane - TS_STUDIO_SECOND_LANES
								 : lane);
		place.block = ts_studio_row_block(row);
		place.index = ts_studio_row_index(row);
	} else if (!is_backward && ts_call_parameter(call, "from")) {
		place = ts_tile_place_after(place.start_ns);
	}
	*ret_place = place;
	return 0;
}

int ts_request_search(struct ts_studio_call *call)
{
	struct finding finding = {.call = call, .text = ts_call_parameter(call, "text")};
	struct ts_tiles_search wanted = {.is_wanted = is_wanted,
					 .is_cancelled = is_over,
					 .data = &finding};
	const char *direction = ts_call_parameter(call, "direction");
	uint64_t trace, is_regex;
	int r;

	if (!finding.text || !*finding.text || strlen(finding.text) > MAX_TEXT)
		return ts_call_fail(call, 400, "text: expected a text of at most %u bytes",
				    MAX_TEXT);
	if (direction && strcmp(direction, "1") && strcmp(direction, "-1"))
		return ts_call_fail(call, 400, "direction: expected 1 or -1");
	wanted.is_backward = direction && !strcmp(direction, "-1");
	if (read_place(call, wanted.is_backward, &wanted.from) ||
	    ts_call_number_or(call, "regex", 0, 1, 0, &is_regex) ||
	    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace))
		return -1;
	if (is_regex && !ts_query_is_cheap_regex(finding.text))
		return ts_call_fail(call, 400,
				    "text: an expression with \\1, or with too many repetitions");
	finding.is_regex = is_regex;
	if (is_regex && regcomp(&finding.regex, finding.text, REG_EXTENDED | REG_ICASE | REG_NOSUB))
		return ts_call_fail(call, 400, "text: not a regular expression");
	r = ts_call_reader(call, trace) ? -1 : search(&finding, trace, &wanted);
	if (is_regex)
		regfree(&finding.regex);
	ts_map_deinit(&finding.keys);
	return r;
}
