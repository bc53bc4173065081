/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity records, of any version from CUDA 11.0 to 13, into records of ours.
 */
#pragma once

#include "inject/cuda/cupti-library.h"
#include "inject/cuda/stream-table.h"
#include "inject/cuda/widen.h"
#include "inject/ring/producer.h"

#define TS_ACTIVITY_KINDS 64u

struct ts_activity {
	const struct ts_cupti *cupti;
	struct ts_producer *producer;
	struct ts_widen *widen;
	struct ts_id_set *objects;	     /* contexts and streams that were told of */
	uint16_t n_bytes[TS_ACTIVITY_KINDS]; /* of a kind's record in this version; 0: not read */
	const struct ts_pause *pause;	     /* NULL: nothing is left out */
	uint64_t devices[4];		     /* a bit for each device that was defined */
};

void ts_activity_init(struct ts_activity *activity, const struct ts_cupti *cupti,
		      struct ts_producer *producer, struct ts_widen *widen,
		      struct ts_id_set *objects);

/* Turns a buffer's records into the calling thread's. Nothing in the buffer is kept a pointer to. */
void ts_activity_decode(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes);

/* How many records of work a buffer holds that a row would have been made of. */
uint64_t ts_activity_count(struct ts_activity *activity, uint8_t *buffer, size_t valid_bytes);

/* The id that stands for a context or stream in `objects`. stream: TS_NO_DEVICE for the context. */
static inline uint64_t ts_activity_object(uint32_t context, uint32_t stream)
{
	return ((uint64_t)context << 32 | stream) + 1;
}
