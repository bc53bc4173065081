/* SPDX-License-Identifier: Apache-2.0 */
/* The subscription to CUPTI: taken, given up, quieted; and what of CUPTI's the flush thread asks. */
#pragma once

#include "inject/context.h"

/*
 * Subscribes and switches on what is recorded, in the order that CUPTI wants. The second is for when it
 * was given up and is to be ours again.
 */
enum ts_empty_reason ts_recorder_start(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);
enum ts_empty_reason ts_recorder_resume(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);

/*
 * The two halves of giving CUPTI up, on the flush thread only: first no call is recorded and CUPTI gathers nothing
 * more; then, when what it holds was flushed, nobody is subscribed, no device row is taken, and CUPTI is set as it was found.
 */
void ts_recorder_disable(struct ts_shim *shim);
void ts_recorder_unsubscribe(struct ts_shim *shim);

/*
 * CUPTI's id of a call that the flush thread makes now, which nobody records: all that are made later have higher ones. 0:
 * it is not told. CUPTI is ours.
 */
uint32_t ts_recorder_probe(struct ts_shim *shim);
/* The same for several: begin returns false where none can be told. */
bool ts_recorder_begin_probes(struct ts_shim *shim);
uint32_t ts_recorder_probe_once(struct ts_shim *shim);
void ts_recorder_end_probes(struct ts_shim *shim);

/*
 * On the flush thread, while recording is stopped: CUPTI gathers nothing, and calls back for what has to be followed alone;
 * and everything again.
 */
void ts_recorder_quiet(struct ts_shim *shim);
void ts_recorder_rouse(struct ts_shim *shim);

/* What CUPTI's buffer callbacks are, whoever holds it: each buffer goes to whose it is. */
void ts_recorder_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void ts_recorder_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid_bytes);

/* Now, on the clock of CUPTI's records. Returns false where it is not told. */
bool ts_recorder_clock(struct ts_shim *shim, uint64_t *ret_ticks);
