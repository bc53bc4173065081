/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a difference to a message. The message always has the differing bytes in hex; it has
 * typed values only if a kernel's signature gives the type. execjson.c and schedulejson.c call this
 * file; this file calls element.c.
 */
#include "replay/report/replay/differencejson.h"

#include "replay/report/replay/element.h"
#include "replay/report/replay/sidejson.h"

#include <stdio.h>

static char *hex(struct ts_replay *replay, const uint8_t *bytes, uint32_t n)
{
	char text[2 * sizeof(((struct ts_exec_difference *)0)->expected) + 1] = "";

	for (uint32_t i = 0; i < n; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	return ts_pool_copy(&replay->pool, text);
}

static void fill_buffer(struct ts_replay *replay, const struct ts_exec_difference *from,
			const struct ts_row_operation *buffer, Ts__Rpc__ReplayDifference *to)
{
	TS_RPC_SET(to, buffer_address, buffer->dst);
	TS_RPC_SET(to, buffer_bytes, buffer->bytes);
	TS_RPC_SET(to, buffer_offset, from->address - buffer->dst);
	TS_RPC_SET(to, buffer_op_id, buffer->op_id);
	if (buffer->kind == TS_OPERATION_VARIABLE)
		to->buffer_name =
			ts_pool_copy(&replay->pool, ts_sidejson_string(replay, buffer->name));
}

static void fill_element(struct ts_replay *replay, const struct ts_exec_difference *from,
			 const struct ts_row_operation *buffer, Ts__Rpc__ReplayDifference *to)
{
	static const char *const parts[] = {"x", "y", "z", "w"};
	char expected[TS_VALUE_TEXT_BYTES], found[TS_VALUE_TEXT_BYTES];
	struct ts_element element;

	if (!from->n || !ts_element_find(replay, from, buffer, &element) ||
	    !ts_element_values(replay, from, &element, expected, found))
		return;
	to->element_type = ts_pool_copy(&replay->pool, element.type.name);
	TS_RPC_SET(to, element_bytes, element.type.bytes);
	TS_RPC_SET(to, element_index, element.index);
	if (element.type.n_parts > 1)
		to->element_part = ts_pool_copy(&replay->pool, parts[element.part & 3]);
	to->expected_value = ts_pool_copy(&replay->pool, expected);
	to->found_value = ts_pool_copy(&replay->pool, found);
	to->typed_by = ts_sidejson_make(replay, element.sequence, false);
	TS_RPC_SET(to, parameter, element.parameter);
}

Ts__Rpc__ReplayDifference *ts_differencejson_make(struct ts_replay *replay,
						  const struct ts_exec_difference *from,
						  const char *what)
{
	Ts__Rpc__ReplayDifference *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	const struct ts_row_operation *buffer;

	ts__rpc__replay_difference__init(to);
	to->from = ts_pool_copy(&replay->pool, what);
	if (from->kind != TS_EXEC_RESULT_READ)
		TS_RPC_SET(to, in_memory, true);
	if (from->kind != TS_EXEC_RESULT_END) {
		TS_RPC_SET(to, sequence, from->sequence);
		TS_RPC_SET(to, op_id, from->op_id);
		to->operation = ts_sidejson_make(replay, from->sequence, true);
		if (to->operation) {
			to->stack = to->operation->stack;
			to->operation->stack = NULL;
		}
	}
	TS_RPC_SET(to, address, from->address);
	TS_RPC_SET(to, bytes, from->bytes);
	if (from->n) {
		TS_RPC_SET(to, offset, from->offset);
		to->expected = hex(replay, from->expected, from->n);
		to->found = hex(replay, from->found_bytes, from->n);
	}
	buffer = ts_exec_program_allocation(replay->program,
					    from->sequence ? from->sequence : replay->program->end,
					    from->address);
	if (buffer) {
		fill_buffer(replay, from, buffer, to);
		fill_element(replay, from, buffer, to);
	}
	return to;
}
