/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to the fills of lanes: see tile-spread.h. A kernel is a row of its stream, its device, and
 * its device's lane of kernels. tiles.c and tile-index.c call this module.
 */
#include "replay/report/tiles/tile-spread.h"

static int add_to(const struct ts_tile_spread *spread, uint32_t lane,
		  const struct ts_tile_item *item)
{
	struct ts_tile_fill *fill = lane == TS_TILE_NO_LANE ? NULL : spread->fills[lane];

	return fill ? ts_tile_fill_add(fill, item->start_ns, item->end_ns, item->key) : 0;
}

static int add_operation(const struct ts_tile_spread *spread, const struct ts_tile_item *item)
{
	const struct ts_tile_lane *lane = &spread->tiles->lanes[item->lane];
	const uint32_t low = (1u << TS_TILE_KEY_BITS) - 1;
	int r = add_to(spread, item->lane, item);

	r = r ? r : add_to(spread, lane->device_lane, item);
	if (r)
		return r;
	switch (ts_tile_key_type(item->key)) {
	case TS_ROW_KERNEL:
		return add_to(spread, lane->compute_lane, item);
	case TS_ROW_MEMCPY:
		return add_to(spread, lane->copy_lanes[ts_tile_direction(item->key & low)], item);
	default:
		return 0;
	}
}

int ts_tile_spread_add(const struct ts_tile_spread *spread, const struct ts_tile_block *block,
		       uint32_t first, uint32_t n)
{
	int r = 0;

	for (uint32_t i = first; !r && i < first + n; i++) {
		const struct ts_tile_item *item = &block->items[i];

		if (item->lane == TS_TILE_NO_LANE)
			continue;
		if (spread->tiles->lanes[item->lane].lane.kind == TS_LANE_STREAM)
			r = add_operation(spread, item);
		else
			r = add_to(spread, item->lane, item);
	}
	return r;
}
