/* SPDX-License-Identifier: Apache-2.0 */
/* Counts samples and sampled threads: see sampleinfo.h. traceinfo.c calls this file. */
#include "replay/report/info/sampleinfo.h"

#include "proto/rpc/json.h"
#include "replay/state/state-map.h"
#include "sbt/arrays.h"

struct counting {
	struct ts_state_map threads;
	uint64_t n, ns;
};

static int count_block(struct counting *counting, struct ts_sbt_reader *reader, size_t i)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_SAMPLE);
	int thread = ts_row_column(schema, "thread"), period = ts_row_column(schema, "period_ns");
	uint32_t session = ts_sbt_reader_block(reader, i)->session;
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	const uint64_t *periods;
	const uint32_t *threads;
	int r = ts_sbt_arrays_new(reader, i, TS_SBT_COLUMN(thread) | TS_SBT_COLUMN(period),
				  &arrays);

	if (r)
		return r;
	threads = ts_sbt_arrays_column(arrays, thread);
	periods = ts_sbt_arrays_column(arrays, period);
	counting->n += ts_sbt_arrays_rows(arrays);
	for (uint32_t row = 0; row < ts_sbt_arrays_rows(arrays) && !r; row++) {
		if (__builtin_add_overflow(counting->ns, periods[row], &counting->ns))
			counting->ns = UINT64_MAX;
		if (ts_state_map_find(&counting->threads, session, threads[row]) ==
		    TS_STATE_MAP_NONE)
			r = ts_state_map_set(&counting->threads, session, threads[row], 0);
	}
	return r;
}

int ts_sampleinfo_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		       Ts__Rpc__SampleInfo **ret_info, bool *ret_damaged)
{
	struct counting counting = {0};
	Ts__Rpc__SampleInfo *info;
	int r = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader) && !r; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type != TS_ROW_SAMPLE || (session && block->session != session))
			continue;
		r = count_block(&counting, reader, i);
		*ret_damaged |= r == TS_SBT_E_CORRUPT;
		r = r == TS_SBT_E_CORRUPT ? 0 : r;
	}
	*ret_info = NULL;
	if (!r && counting.n) {
		*ret_info = info = ts_pool_alloc(pool, 1, sizeof(*info));
		ts__rpc__sample_info__init(info);
		TS_RPC_SET(info, count, counting.n);
		TS_RPC_SET(info, threads, ts_state_map_count(&counting.threads));
		TS_RPC_SET(info, ns, counting.ns);
	}
	ts_state_map_deinit(&counting.threads);
	return r;
}
