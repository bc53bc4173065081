/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of each event type, by the ids of their first and last columns. Block builder, decoder
 * and summaries ask for a plan. A reader relies on the same table, so a change is a change of the
 * format.
 */

#include "sbt/format/plan.h"

#include <assert.h>

struct run_ids {
	uint16_t first;
	uint16_t last;
};

static const struct {
	struct run_ids place;
	struct run_ids site;
	bool is_host;
} table[TS_ROW_EVENT_END] = {
	[TS_ROW_API] = {{5, 5}, {6, 11}, true},
	[TS_ROW_KERNEL] = {{4, 6}, {11, 27}, false},
	[TS_ROW_MEMCPY] = {{4, 6}, {9, 17}, false},
	[TS_ROW_MEMSET] = {{4, 6}, {9, 13}, false},
	[TS_ROW_SYNC] = {{5, 6}, {0, 0}, true},
	[TS_ROW_ALLOC] = {{7, 9}, {5, 6}, true},
	[TS_ROW_FREE] = {{7, 9}, {5, 6}, true},
	[TS_ROW_EVENT] = {{9, 9}, {4, 8}, true},
	[TS_ROW_STREAM_WAIT] = {{9, 9}, {4, 8}, true},
	[TS_ROW_GRAPH_LAUNCH] = {{9, 9}, {4, 8}, true},
	[TS_ROW_MARK] = {{9, 9}, {4, 8}, true},
	[TS_ROW_RANGE] = {{10, 10}, {5, 9}, true},
	[TS_ROW_RANGE_BEGIN] = {{10, 10}, {5, 9}, true},
	[TS_ROW_COUNTER] = {{4, 6}, {0, 0}, true},
	[TS_ROW_CLOCK] = {{5, 5}, {0, 0}, true},
	[TS_ROW_ACCESS] = {{8, 8}, {0, 0}, true},
};

static unsigned column_at(const struct ts_row_schema *schema, uint16_t id)
{
	unsigned c = 0;

	while (c + 1 < schema->n_columns && schema->columns[c].id != id)
		c++;
	return c;
}

static void fill_run(const struct ts_row_schema *schema, const struct run_ids *ids,
		     struct ts_plan_run *run)
{
	const struct ts_column *first, *last;

	if (!ids->first)
		return;
	run->first = (uint8_t)column_at(schema, ids->first);
	run->last = (uint8_t)column_at(schema, ids->last);
	first = &schema->columns[run->first];
	last = &schema->columns[run->last];
	run->offset = first->offset;
	run->n_bytes = (uint16_t)(last->offset + last->width - first->offset);
	for (const struct ts_column *column = first; column < last; column++)
		assert(column->offset + column->width == column[1].offset);
}

void ts_plan_of(const struct ts_row_schema *schema, struct ts_plan *ret_plan)
{
	*ret_plan = (struct ts_plan){0};
	if (!ts_row_is_event(schema->type))
		return;
	fill_run(schema, &table[schema->type].place, &ret_plan->runs[TS_PLAN_PLACE]);
	fill_run(schema, &table[schema->type].site, &ret_plan->runs[TS_PLAN_SITE]);
	ret_plan->places_share_ops = table[schema->type].is_host;
}
