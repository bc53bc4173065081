/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's subscription to CUPTI. These functions begin it, give it up, take it back, and reduce
 * it while recording is stopped. Probes find CUPTI's newest id.
 */
#pragma once

#include "inject/context.h"

/*
 * Subscribe and enable records and callbacks, in the order that CUPTI requires.
 * ts_recorder_resume() is for CUPTI that was given up. Both return TS_EMPTY_NONE; else a reason,
 * with a message in ret_text.
 */
enum ts_empty_reason ts_recorder_start(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);
enum ts_empty_reason ts_recorder_resume(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);

/*
 * The two steps of giving CUPTI up. Only the flush thread, or the thread that sets CUPTI up, calls
 * them. ts_recorder_disable() stops the recording of calls, and CUPTI gathers nothing more. The
 * caller then flushes. ts_recorder_unsubscribe() ends the subscription, drops later device rows,
 * and restores CUPTI's settings.
 */
void ts_recorder_disable(struct ts_shim *shim);
/* Flush thread, before the flush after which nothing more is recorded. */
void ts_recorder_before_last_flush(struct ts_shim *shim);
void ts_recorder_unsubscribe(struct ts_shim *shim);

/*
 * Makes a driver call that is not recorded, and returns CUPTI's id of the call. Later calls have
 * higher ids. Returns 0 if the id is unknown. The shim must hold CUPTI. Only the flush thread calls
 * this function.
 */
uint32_t ts_recorder_probe(struct ts_shim *shim);
/*
 * Like ts_recorder_probe(), for several probes in sequence. ts_recorder_probe_once() returns
 * CUPTI's id of a call. ts_recorder_begin_probes() returns false if such ids cannot be read.
 */
bool ts_recorder_begin_probes(struct ts_shim *shim);
uint32_t ts_recorder_probe_once(struct ts_shim *shim);
void ts_recorder_end_probes(struct ts_shim *shim);

/*
 * Only the flush thread calls these functions, while recording is stopped. After
 * ts_recorder_quiet() CUPTI gathers nothing, and only followed calls have callbacks.
 * ts_recorder_rouse() enables everything again.
 */
void ts_recorder_quiet(struct ts_shim *shim);
void ts_recorder_rouse(struct ts_shim *shim);

/*
 * CUPTI's buffer callbacks, whether the shim or the application holds CUPTI. Each passes a buffer
 * to its owner.
 */
void ts_recorder_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void ts_recorder_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid_bytes);

/* Reads the clock of CUPTI's records. Returns false if CUPTI does not return it. */
bool ts_recorder_clock(struct ts_shim *shim, uint64_t *ret_ticks);
