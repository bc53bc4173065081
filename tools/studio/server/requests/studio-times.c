/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a layer: see studio-times.h. request-what-if.c and studio-whole.c call this module; it
 * calls replay/report/tiles.
 */
#include "tools/studio/server/requests/studio-times.h"

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

static uint32_t lane_of(struct ts_studio_times *times, const struct ts_emulate_time *time)
{
	bool is_call = time->type == TS_ROW_API;
	struct ts_lane place = {.session = time->session,
				.kind = is_call ? TS_LANE_THREAD : TS_LANE_STREAM,
				.thread = time->thread,
				.device = is_call ? 0 : time->device,
				.context = is_call ? 0 : time->context,
				.stream = is_call ? 0 : time->stream};
	uint32_t at = (place.kind + place.thread + place.stream + place.context + place.session) %
		      TS_STUDIO_TIMES_PLACES;

	if (!times->found[at].is_known ||
	    memcmp(&place, &times->found[at].place, sizeof(place)) != 0) {
		times->found[at].place = place;
		times->found[at].lane = ts_tiles_find_lane(times->tiles, &place);
		times->found[at].is_known = true;
	}
	return times->found[at].lane;
}

void ts_studio_times_row(struct ts_studio_times *times, const struct ts_emulate_time *time,
			 struct ts_tiles_layer_row *ret_row)
{
	uint64_t origin_ns = ts_tiles_origin_ns(times->tiles);

	*ret_row = (struct ts_tiles_layer_row){
		.start_ns = time->start_ns > origin_ns ? time->start_ns - origin_ns : 0,
		.end_ns = time->end_ns > origin_ns ? time->end_ns - origin_ns : 0,
		.op_id = time->op_id,
		.key = key_of(time),
		.lane = lane_of(times, time)};
}
