/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes CUPTI's activity records, of each version from CUDA 11.0 to 13, into ring records. */
#pragma once

#include "inject/calls/stream-table.h"
#include "inject/cuda/cupti-library.h"
#include "inject/cuda/widen.h"
#include "inject/ring/producer.h"

#define TS_ACTIVITY_KINDS 64u

struct ts_activity {
	const struct ts_cupti *cupti;
	struct ts_producer *producer;
	struct ts_widen *widen;
	struct ts_id_set *objects; /* contexts and streams that were recorded */
	uint16_t n_bytes
		[TS_ACTIVITY_KINDS]; /* size of a record of this kind and version; 0: not decoded */
	const struct ts_pause *pause; /* NULL: all records are kept */
	uint64_t devices[4];	      /* a bit for each device that was defined */
	uint32_t first_device;	      /* number of CUDA's first device (renumber.h) */
};

/*
 * Prepares the decoder for the loaded version of CUPTI. Keeps the pointers; `pause` stays NULL
 * until the caller sets it.
 */
void ts_activity_init(struct ts_activity *activity, const struct ts_cupti *cupti,
		      struct ts_producer *producer, struct ts_widen *widen,
		      struct ts_id_set *objects);

/* Decodes a buffer's records into the calling thread's ring. Keeps no pointer into the buffer. */
void ts_activity_decode(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes);

/* Returns the number of work records in a buffer that would become rows. */
uint64_t ts_activity_count(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes);

/* Returns the id of a context or stream in `objects`. stream: TS_NO_DEVICE for a context. */
static inline uint64_t ts_activity_object(uint32_t context, uint32_t stream)
{
	return ((uint64_t)context << 32 | stream) + 1;
}
