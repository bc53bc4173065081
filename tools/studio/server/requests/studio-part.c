/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses and reads the part of a trace that is emulated: see studio-part.h. request-what-if.c
 * calls this module; it calls replay/emulate. A block knows its first start and its last end; its
 * rows are assumed to be evenly spread.
 */
#include "tools/studio/server/requests/studio-part.h"

#include "replay/state/state-machine.h"

/* Rows between two looks at whether the client is gone. */
#define STEP 65536u
#define TYPES                                                                             \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | \
	 TS_ROW_BIT(TS_ROW_MEMSET))

struct trace {
	struct ts_sbt_reader *reader;
	uint32_t session;
	uint64_t first_ns, last_ns; /* of all blocks */
};

static bool is_wanted(const struct trace *trace, const struct ts_sbt_block *block)
{
	return block->n_rows && block->type < TS_ROW_COUNT && TS_ROW_BIT(block->type) & TYPES &&
	       (!trace->session || block->session == trace->session);
}

static void find_ends(struct trace *trace)
{
	trace->first_ns = UINT64_MAX;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(trace->reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(trace->reader, i);

		if (!is_wanted(trace, block))
			continue;
		if (block->earliest_ns < trace->first_ns)
			trace->first_ns = block->earliest_ns;
		if (block->latest_ns > trace->last_ns)
			trace->last_ns = block->latest_ns;
	}
}

/* Estimates the rows of [from_ns, to_ns]. */
static double count(const struct trace *trace, uint64_t from_ns, uint64_t to_ns)
{
	double n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(trace->reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(trace->reader, i);
		uint64_t start_ns = block->earliest_ns, end_ns = block->latest_ns;

		if (!is_wanted(trace, block) || start_ns > to_ns || end_ns < from_ns)
			continue;
		start_ns = start_ns < from_ns ? from_ns : start_ns;
		end_ns = end_ns > to_ns ? to_ns : end_ns;
		n += (double)block->n_rows * ((double)(end_ns - start_ns) + 1) /
		     ((double)(block->latest_ns - block->earliest_ns) + 1);
	}
	return n;
}

/* Returns the latest time until which [from_ns, ...] has at most n rows. */
static uint64_t forward(const struct trace *trace, uint64_t from_ns, double n)
{
	uint64_t low_ns = from_ns, high_ns = trace->last_ns;

	while (low_ns < high_ns) {
		uint64_t middle_ns = low_ns + (high_ns - low_ns + 1) / 2;

		if (count(trace, from_ns, middle_ns) <= n)
			low_ns = middle_ns;
		else
			high_ns = middle_ns - 1;
	}
	return low_ns;
}

/* Returns the earliest time from which [..., to_ns] has at most n rows. */
static uint64_t backward(const struct trace *trace, uint64_t to_ns, double n)
{
	uint64_t low_ns = trace->first_ns, high_ns = to_ns;

	while (low_ns < high_ns) {
		uint64_t middle_ns = low_ns + (high_ns - low_ns) / 2;

		if (count(trace, middle_ns, to_ns) <= n)
			high_ns = middle_ns;
		else
			low_ns = middle_ns + 1;
	}
	return high_ns;
}

static uint64_t within(uint64_t ns, uint64_t least_ns, uint64_t most_ns)
{
	return ns < least_ns ? least_ns : ns > most_ns ? most_ns : ns;
}

bool ts_studio_part_choose(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
			   uint64_t to_ns, struct ts_studio_part *ret_part)
{
	struct trace trace = {.reader = reader, .session = session};
	double n, rest;

	find_ends(&trace);
	if (count(&trace, 0, UINT64_MAX) <= TS_STUDIO_PART_ITEMS)
		return false;
	from_ns = within(from_ns, trace.first_ns, trace.last_ns);
	to_ns = within(to_ns, from_ns, trace.last_ns);
	n = count(&trace, from_ns, to_ns);
	if (n >= TS_STUDIO_PART_ITEMS) {
		to_ns = forward(&trace, from_ns, TS_STUDIO_PART_ITEMS);
	} else {
		/* Earlier calls launched the operations of the view, so they come first. */
		rest = TS_STUDIO_PART_ITEMS - n;
		from_ns = backward(&trace, from_ns, rest / 2);
		to_ns = forward(&trace, from_ns, TS_STUDIO_PART_ITEMS);
		from_ns = backward(&trace, to_ns, TS_STUDIO_PART_ITEMS);
	}
	*ret_part = (struct ts_studio_part){.from_ns = from_ns,
					    .to_ns = to_ns,
					    .read_from_ns = backward(&trace, from_ns,
								     TS_STUDIO_MARGIN_ITEMS),
					    .read_to_ns =
						    forward(&trace, to_ns, TS_STUDIO_MARGIN_ITEMS)};
	return true;
}

uint64_t ts_studio_part_count(struct ts_sbt_reader *reader, uint32_t session)
{
	const struct trace trace = {.reader = reader, .session = session};
	uint64_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (is_wanted(&trace, ts_sbt_reader_block(reader, i)))
			n += ts_sbt_reader_block(reader, i)->n_rows;
	return n;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Feeds the rows of a window. Damaged blocks are left out. */
static int feed(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
		const struct ts_sbt_cursor_options *wanted, struct ts_emulate_builder *builder)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_sbt_cursor_new(reader, wanted, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			r = 0;
			continue;
		}
		r = r ? r : ts_emulate_builder_feed(builder, &row);
		if (!r && ++n % STEP == 0 && options->step)
			r = options->step(options->step_data, n, 0);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_studio_part_read(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
			const struct ts_studio_part *part, struct ts_emulate_program **ret_program)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	struct ts_emulate_options limited = *options;
	/* Streams are made long before they are used. */
	const struct ts_sbt_cursor_options streams = {.types = TS_ROW_BIT(TS_ROW_STREAM),
						      .session = options->session,
						      .to_ns = part->read_from_ns};
	const struct ts_sbt_cursor_options rows = {.types = TS_STATE_MACHINE_ROWS |
							    TS_ROW_BIT(TS_ROW_SYNC),
						   .session = options->session,
						   .from_ns = part->read_from_ns,
						   .to_ns = part->read_to_ns};
	int r;

	limited.from_ns = part->from_ns;
	limited.to_ns = part->to_ns;
	r = ts_emulate_builder_new(reader, &limited, &builder);
	r = r ? r : feed(reader, options, &streams, builder);
	r = r ? r : feed(reader, options, &rows, builder);
	return r ? r : ts_emulate_builder_finish(builder, ret_program);
}
