/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the shim's own work, recorded in the trace. */
#pragma once

#include "inject/ring/producer.h"

/* Returns the text's id in this session. */
uint32_t ts_counter_string(struct ts_producer *producer, const char *text);

/* Records the value of an ascending counter. `thread` belongs to the calling thread. */
void ts_counter_record(struct ts_producer *producer, struct ts_thread *thread, const char *name,
		       uint64_t value);
