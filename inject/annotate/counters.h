/* SPDX-License-Identifier: Apache-2.0 */
/* What the shim counts of its own work, as counters in the trace. */
#pragma once

#include "inject/ring/producer.h"

/* What stands for a text in this session. */
uint32_t ts_counter_string(struct ts_producer *producer, const char *text);

/* One that counts up has this value now. `thread` is the caller's. */
void ts_counter_record(struct ts_producer *producer, struct ts_thread *thread, const char *name,
		       uint64_t value);
