/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses whether the times of a block are relative to the calls of its rows: see format/calls.h. A
 * copy of the columns would cost more than a second move, so the times are moved in place, and
 * moved back if the block cannot be encoded so. encode-rows.c and writer-session.c call this
 * module.
 */

#include "sbt/write/encode-calls.h"

/* Blocks of more rows are not the whole of a small program: the search for calls would not pay. */
#define MAX_ROWS 4096u

/* Bits that the reference takes in the header of a block. */
#define HEADER_BITS 16u

static uint64_t *numbers(const struct ts_builder *builder, int c)
{
	return (uint64_t *)(void *)builder->columns[c];
}

int ts_calls_of_builder(const struct ts_builder *builder, struct ts_calls **ret_calls)
{
	int op = ts_calls_column(builder->schema), r;
	const uint64_t *starts = numbers(builder, 0), *ends = numbers(builder, 1);
	const uint64_t *ids = numbers(builder, op), *nested_ids = numbers(builder, op + 1);
	struct ts_calls *calls;

	TS_STATIC_ASSERT(MAX_ROWS <= TS_CALLS_MAX, "readers accept these blocks");
	TS_STATIC_ASSERT(offsetof(struct ts_row_api, nested_op_id) ==
				 offsetof(struct ts_row_api, op_id) + sizeof(uint64_t),
			 "the second id follows the first");
	*ret_calls = NULL;
	if (!builder->n_rows || builder->n_rows > MAX_ROWS)
		return 0;
	r = ts_calls_new(builder->n_rows, &calls);
	if (r)
		return r;
	for (uint32_t i = 0; i < builder->n_rows; i++)
		ts_calls_add(calls, builder->seen[op] ? ids[i] : 0,
			     builder->seen[op + 1] ? nested_ids[i] : 0, starts[i], ends[i]);
	ts_calls_order(calls);
	*ret_calls = calls;
	return 0;
}

static uint64_t bits(uint64_t difference)
{
	return 64u - (unsigned)__builtin_clzll(ts_zigzag(difference) | 1);
}

/* Chooses a kind by the bits of the differences. Returns false if absolute times take fewer. */
static bool choose(const struct ts_builder *builder, const struct ts_calls *calls,
		   const uint64_t *ids, enum ts_calls_kind *ret_kind)
{
	bool has_end = builder->schema->has_end;
	const uint64_t *starts = numbers(builder, 0), *ends = numbers(builder, has_end);
	uint64_t alone = 0, by_kind[TS_CALLS_KINDS] = {HEADER_BITS, HEADER_BITS, HEADER_BITS};
	const struct ts_call none = {0}, *call = &none;

	for (uint32_t i = 0; i < builder->n_rows; i++) {
		uint64_t duration = has_end ? bits(ends[i] - starts[i]) : 0;

		call = ts_calls_find(calls, ids[i]) ?: call;
		if (i)
			alone += bits(starts[i] - ends[i - 1]) + duration;
		by_kind[TS_CALLS_END] += bits(starts[i] - call->end_ns) + duration;
		by_kind[TS_CALLS_START] += bits(starts[i] - call->start_ns) + duration;
		by_kind[TS_CALLS_BOTH] += bits(starts[i] - call->start_ns) +
					  (has_end ? bits(ends[i] - call->end_ns) : 0);
	}
	*ret_kind = TS_CALLS_END;
	for (enum ts_calls_kind kind = TS_CALLS_END; kind < TS_CALLS_KINDS; kind++)
		if (by_kind[kind] < by_kind[*ret_kind])
			*ret_kind = kind;
	return by_kind[*ret_kind] < alone;
}

static void move(struct ts_builder *builder, const struct ts_calls *calls, enum ts_calls_kind kind,
		 bool is_back)
{
	bool has_end = builder->schema->has_end;
	int op = ts_calls_column(builder->schema);

	ts_calls_move(calls, kind, is_back, numbers(builder, op), builder->n_rows,
		      numbers(builder, 0), has_end ? numbers(builder, 1) : NULL);
	for (unsigned c = 0; c <= has_end; c++)
		builder->seen[c] =
			!ts_all_zero(builder->columns[c], builder->n_rows * sizeof(uint64_t));
}

bool ts_builder_make_relative(struct ts_builder *builder, const struct ts_encoder *encoder,
			      enum ts_calls_kind *ret_kind)
{
	int op = ts_calls_column(builder->schema);

	if (!encoder->calls || !encoder->is_short || builder->schema->type == TS_ROW_API ||
	    op < 0 || !builder->seen[op] || builder->n_rows > MAX_ROWS ||
	    !choose(builder, encoder->calls, numbers(builder, op), ret_kind))
		return false;
	move(builder, encoder->calls, *ret_kind, false);
	return true;
}

void ts_builder_make_absolute(struct ts_builder *builder, const struct ts_encoder *encoder,
			      enum ts_calls_kind kind)
{
	move(builder, encoder->calls, kind, true);
}
