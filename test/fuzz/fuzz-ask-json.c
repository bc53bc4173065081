/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a question as JSON (proto/rpc/json-read.h), as a binding's caller may pass them. A
 * text is read as each message of Query. The messages that are accepted print as JSON that reads
 * back as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rpc/json-read.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const ProtobufCMessageDescriptor *type, const char *text, size_t n_bytes)
{
	char why[TS_JSON_WHY_BYTES] = "";
	ProtobufCMessage *message, *again;
	struct ts_json first = {0}, second = {0};

	if (ts_json_read(text, n_bytes, type, &message, why)) {
		if (!*why || strlen(why) >= sizeof(why))
			abort();
		return;
	}
	/* Bidirectional marks print as \u, so they read back, too. */
	if (ts_json_message(&first, message) ||
	    ts_json_read(first.data, first.n_bytes, type, &again, why) ||
	    ts_json_message(&second, again) || strcmp(first.data, second.data) != 0)
		abort();
	protobuf_c_message_free_unpacked(message, NULL);
	protobuf_c_message_free_unpacked(again, NULL);
	ts_json_deinit(&first);
	ts_json_deinit(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const ProtobufCMessageDescriptor *query = &ts__rpc__query__descriptor;

	read_as(query, (const char *)data, size);
	for (unsigned i = 0; i < query->n_fields; i++)
		if (query->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
			read_as(query->fields[i].descriptor, (const char *)data, size);
	return 0;
}
