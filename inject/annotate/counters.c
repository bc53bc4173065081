/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the shim's own counters; inject/stacks and inject/capture call this file. The counters
 * have the domain "tracesmith", so a reader does not mistake them for counters of the application.
 */
#include "inject/annotate/counters.h"

uint32_t ts_counter_string(struct ts_producer *producer, const char *text)
{
	return ts_definitions_string(producer->definitions, text, strlen(text));
}

void ts_counter_record(struct ts_producer *producer, struct ts_thread *thread, const char *name,
		       uint64_t value)
{
	const uint32_t name_id = ts_counter_string(producer, name);
	const uint32_t domain_id = ts_counter_string(producer, TS_OWN_DOMAIN);
	struct ts_record_counter *out =
		ts_thread_reserve(thread, TS_RECORD_COUNTER, sizeof(*out), producer->clock,
				  ts_producer_ticks(producer));

	if (!out)
		return;
	out->value = (double)value;
	out->name = name_id;
	out->domain = domain_id;
	out->integer = (int64_t)value;
	out->value_type = TS_PAYLOAD_I64;
	out->reserved = 0;
	ts_thread_commit(thread, sizeof(*out));
}
