/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an emulation's times into rows of a layer. One thread uses an object. */
#pragma once

#include "replay/emulate/emulate.h"
#include "replay/report/tiles/tiles.h"

#define TS_STUDIO_TIMES_PLACES 16u

struct ts_studio_times {
	const struct ts_tiles *tiles;
	/* Places that were found before, because most rows have one of them. id 0: none. */
	struct {
		struct ts_lane place;
		uint32_t lane;
		bool is_known;
	} found[TS_STUDIO_TIMES_PLACES];
};

void ts_studio_times_row(struct ts_studio_times *times, const struct ts_emulate_time *time,
			 struct ts_tiles_layer_row *ret_row);
