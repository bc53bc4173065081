/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds equal devices by UUID: see samedevice.h. timeline.c and replay/emulate/read.c call this
 * file.
 */
#include "replay/state/overview/samedevice.h"

#include <string.h>

#define NONE TS_STATE_MAP_NONE

struct halves {
	uint64_t first, second; /* both 0: no UUID */
};

static struct halves halves_of(const struct ts_row_device *row)
{
	struct halves halves;

	_Static_assert(sizeof(halves) == sizeof(row->uuid), "a UUID is two words");
	memcpy(&halves, row->uuid, sizeof(halves));
	return halves;
}

void ts_same_devices_deinit(struct ts_same_devices *same)
{
	ts_state_map_deinit(&same->by_first_half);
	ts_state_map_deinit(&same->by_second_half);
}

static int add(struct ts_same_devices *same, const struct ts_row_device *row, uint32_t i)
{
	struct halves halves = halves_of(row);
	uint32_t number = ts_state_map_find(&same->by_first_half, 0, halves.first);
	int r = 0;

	if (!halves.first && !halves.second)
		return 0;
	if (number == NONE) {
		number = (uint32_t)ts_state_map_count(&same->by_first_half);
		r = ts_state_map_set(&same->by_first_half, 0, halves.first, number);
	}
	if (!r && ts_state_map_find(&same->by_second_half, number, halves.second) == NONE)
		r = ts_state_map_set(&same->by_second_half, number, halves.second, i);
	return r;
}

int ts_same_devices_read(struct ts_same_devices *same, const struct ts_sbt_reader *reader)
{
	size_t n = ts_sbt_reader_n_devices(reader);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = add(same, &ts_sbt_reader_device_at(reader, i)->row, (uint32_t)i);
	return r;
}

void ts_same_devices_first(const struct ts_same_devices *same, const struct ts_sbt_reader *reader,
			   uint32_t *session, uint32_t *device)
{
	const struct ts_row_device *row = ts_sbt_reader_device(reader, *session, *device);
	const struct ts_sbt_device *first;
	struct halves halves;
	uint32_t number, i;

	if (!row)
		return;
	halves = halves_of(row);
	number = ts_state_map_find(&same->by_first_half, 0, halves.first);
	i = number == NONE ? NONE : ts_state_map_find(&same->by_second_half, number, halves.second);
	if (i == NONE)
		return;
	first = ts_sbt_reader_device_at(reader, i);
	*session = first->session;
	*device = first->row.device;
}
