/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions number devices each for itself; devices of one UUID are the same one. The first session that saw a device stands for all. One
 * thread.
 */
#pragma once

#include "replay/state/state-map.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is an empty one. */
struct ts_same_devices {
	struct ts_state_map by_first_half; /* the UUID's first eight bytes: a number */
	struct ts_state_map
		by_second_half; /* the number and the other eight: the reader's device */
};

/* Reads the reader's devices. -ENOMEM. */
int ts_same_devices_read(struct ts_same_devices *same, const struct ts_sbt_reader *reader);
void ts_same_devices_deinit(struct ts_same_devices *same);

/* Replaces a device by the first of its UUID. A device without a UUID, or of which the trace holds no row, stays as it is. */
void ts_same_devices_first(const struct ts_same_devices *same, const struct ts_sbt_reader *reader,
			   uint32_t *session, uint32_t *device);

#ifdef __cplusplus
}
#endif
