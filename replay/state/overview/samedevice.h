/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each session numbers its devices itself. Devices with the same UUID are one device, and the
 * device of the first session replaces the devices of all others. Not thread-safe.
 */
#pragma once

#include "replay/state/state-map.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start with all fields zero. */
struct ts_same_devices {
	struct ts_state_map by_first_half; /* maps the first eight bytes of a UUID to a number */
	/*
	 * Maps the number from by_first_half and the last eight bytes of the UUID to an index in
	 * the reader's devices.
	 */
	struct ts_state_map by_second_half;
};

/* Reads the reader's devices. Returns 0 or -ENOMEM. */
int ts_same_devices_read(struct ts_same_devices *same, const struct ts_sbt_reader *reader);
void ts_same_devices_deinit(struct ts_same_devices *same);

/*
 * Replaces a device by the first one with its UUID. A device without a UUID or without a row stays
 * unchanged.
 */
void ts_same_devices_first(const struct ts_same_devices *same, const struct ts_sbt_reader *reader,
			   uint32_t *session, uint32_t *device);

#ifdef __cplusplus
}
#endif
