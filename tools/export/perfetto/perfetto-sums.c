/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the values of counters; perfetto.c calls this file. The values are the utilisation of a
 * device's engines in equal parts of time, and the device's live memory after each allocation and
 * each free.
 */
#include "proto/abi/grow.h"
#include "tools/export/perfetto/perfetto.h"

#include "replay/state/graph/largearray.h"
#include "replay/state/memory/state-memory.h"

#define NONE TS_STATE_MAP_NONE

struct ts_live_memory {
	uint64_t bytes;
	uint32_t memory;    /* index in `memories` */
	uint32_t next_free; /* index + 1; 0: none */
};

void ts_sums_init(struct ts_sums *sums, uint64_t origin_ns, uint64_t latest_ns)
{
	uint64_t span_ns = latest_ns > origin_ns ? latest_ns - origin_ns : 0;

	sums->origin_ns = origin_ns;
	sums->part_ns = span_ns / TS_SUM_PARTS + 1;
}

void ts_sums_deinit(struct ts_sums *sums)
{
	for (size_t i = 0; i < sums->n_engines; i++)
		free(sums->engines[i].busy_ns);
	free(sums->engines);
	ts_state_map_deinit(&sums->by_address);
	free(sums->live);
	free(sums->memories);
	ts_state_map_deinit(&sums->engine_by_key);
	ts_state_map_deinit(&sums->memory_by_device);
}

/* ---- engines --------------------------------------------------------------------------------- */

/* Returns the engine, and adds it at its first use. NULL: out of memory. */
static struct ts_engine *find_engine(struct ts_sums *sums, uint32_t device,
				     enum ts_engine_kind kind)
{
	struct ts_engine *engine = sums->engines ? &sums->engines[sums->last_engine] : NULL;
	uint32_t i;

	if (engine && engine->device == device && engine->kind == kind)
		return engine;
	i = ts_state_map_find(&sums->engine_by_key, device, kind);
	if (i != NONE) {
		sums->last_engine = i;
		return &sums->engines[i];
	}
	if (ts_largearray_grow(&sums->engines, sums->n_engines, &sums->n_engines_allocated,
			       sizeof(*sums->engines)) ||
	    ts_state_map_set(&sums->engine_by_key, device, kind, (uint32_t)sums->n_engines))
		return NULL;
	engine = &sums->engines[sums->n_engines++];
	*engine = (struct ts_engine){
		.device = device,
		.kind = kind,
		.busy_ns = calloc(TS_SUM_PARTS + 1, sizeof(*engine->busy_ns)),
	};
	return engine->busy_ns ? engine : NULL;
}

int ts_sums_busy(struct ts_sums *sums, uint32_t device, enum ts_engine_kind kind, uint64_t start_ns,
		 uint64_t end_ns)
{
	struct ts_engine *engine = find_engine(sums, device, kind);
	uint64_t part;

	if (!engine)
		return -ENOMEM;
	if (start_ns < engine->busy_until_ns)
		start_ns = engine->busy_until_ns;
	if (start_ns < sums->origin_ns)
		start_ns = sums->origin_ns;
	if (end_ns > engine->busy_until_ns)
		engine->busy_until_ns = end_ns;
	part = start_ns < end_ns ? (start_ns - sums->origin_ns) / sums->part_ns : 0;
	for (; start_ns < end_ns; part++) {
		/* Time left in this part. After the last part there is no limit. */
		uint64_t left_ns = sums->part_ns - (start_ns - sums->origin_ns) % sums->part_ns;
		uint64_t until_ns = end_ns;

		if (part < TS_SUM_PARTS && left_ns < end_ns - start_ns)
			until_ns = start_ns + left_ns;
		engine->busy_ns[part < TS_SUM_PARTS ? part : TS_SUM_PARTS] += until_ns - start_ns;
		start_ns = until_ns;
	}
	return 0;
}

static int put_engine(struct ts_perfetto *perfetto, const struct ts_engine *engine)
{
	static const char *const names[TS_ENGINE_KINDS] = {
		[TS_ENGINE_COMPUTE] = "utilisation: compute",
		[TS_ENGINE_HTOD] = "utilisation: copies to the device",
		[TS_ENGINE_DTOH] = "utilisation: copies from the device",
		[TS_ENGINE_OTHER_COPIES] = "utilisation: other copies",
	};
	const struct ts_sums *sums = &perfetto->sums;
	struct ts_track track = {.name = names[engine->kind],
				 .kind = TS_TRACK_COUNTER,
				 .parent = engine->device,
				 .unit = "%"};
	uint64_t last = UINT64_MAX;
	uint32_t counter;
	int r = ts_tracks_add(perfetto->tracks, &track, &counter);

	for (uint64_t part = 0; !r && part <= TS_SUM_PARTS; part++) {
		uint64_t busy_ns = engine->busy_ns[part];

		/*
		 * Time after the last part exists only if the trace's summary ends before its rows.
		 */
		if (busy_ns > sums->part_ns)
			busy_ns = sums->part_ns;
		if (busy_ns != last)
			r = ts_tracks_count_real(perfetto->tracks, counter,
						 sums->origin_ns + part * sums->part_ns,
						 100.0 * (double)busy_ns / (double)sums->part_ns);
		last = busy_ns;
	}
	return r;
}

int ts_sums_finish(struct ts_perfetto *perfetto)
{
	int r = 0;

	for (size_t i = 0; !r && i < perfetto->sums.n_engines; i++)
		r = put_engine(perfetto, &perfetto->sums.engines[i]);
	return r;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int find_memory(struct ts_perfetto *perfetto, uint32_t device, uint32_t *ret_i)
{
	struct ts_track track = {.name = "live memory",
				 .kind = TS_TRACK_COUNTER,
				 .parent = device,
				 .is_bytes = true};
	struct ts_sums *sums = &perfetto->sums;
	struct ts_device_memory *memory;
	int r;

	*ret_i = ts_state_map_find(&sums->memory_by_device, 0, device);
	if (*ret_i != NONE)
		return 0;
	*ret_i = (uint32_t)sums->n_memories;
	r = ts_largearray_grow(&sums->memories, sums->n_memories, &sums->n_memories_allocated,
			       sizeof(*memory));
	r = r ? r : ts_state_map_set(&sums->memory_by_device, 0, device, *ret_i);
	if (r)
		return r;
	memory = &sums->memories[sums->n_memories++];
	*memory = (struct ts_device_memory){.device = device};
	return ts_tracks_add(perfetto->tracks, &track, &memory->counter);
}

/* Adds a live allocation. Returns TS_E_LIVE if too many allocations are live. */
static int add_live(struct ts_sums *sums, uint32_t *ret_i)
{
	if (sums->first_free) {
		*ret_i = sums->first_free - 1;
		sums->first_free = sums->live[*ret_i].next_free;
		return 0;
	}
	if (sums->n_live == TS_MAX_LIVE)
		return TS_E_LIVE;
	if (TS_GROW(sums->live, sums->n_live_allocated, sums->n_live + 1))
		return -ENOMEM;
	*ret_i = sums->n_live++;
	return 0;
}

static int take_free(struct ts_perfetto *perfetto, uint32_t session, uint64_t address,
		     uint32_t *ret_memory)
{
	struct ts_sums *sums = &perfetto->sums;
	uint32_t i = ts_state_map_find(&sums->by_address, session, address);

	*ret_memory = NONE;
	if (i == NONE)
		return 0;
	ts_state_map_remove(&sums->by_address, session, address);
	*ret_memory = sums->live[i].memory;
	sums->memories[*ret_memory].bytes -= sums->live[i].bytes;
	sums->live[i].next_free = sums->first_free;
	sums->first_free = i + 1;
	return 0;
}

static int take_alloc(struct ts_perfetto *perfetto, uint32_t session,
		      const struct ts_row_memory *row, uint32_t *ret_memory)
{
	struct ts_sums *sums = &perfetto->sums;
	uint32_t device, replaced, i;
	int r = ts_place_device(perfetto, session, row->device, &device);

	/*
	 * An earlier allocation at this address without a recorded free ends here: one address is
	 * one allocation.
	 */
	if (!r)
		r = take_free(perfetto, session, row->address, &replaced);
	if (!r)
		r = find_memory(perfetto, device, ret_memory);
	if (!r)
		r = add_live(sums, &i);
	if (!r)
		r = ts_state_map_set(&sums->by_address, session, row->address, i);
	if (r)
		return r;
	sums->live[i] = (struct ts_live_memory){.bytes = row->bytes, .memory = *ret_memory};
	sums->memories[*ret_memory].bytes += row->bytes;
	return 0;
}

int ts_sums_memory(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, bool is_shown)
{
	const struct ts_device_memory *memory;
	uint32_t i;
	int r;

	if (!ts_memory_is_device(row->memory->memory_kind))
		return 0;
	if (row->type == TS_ROW_ALLOC)
		r = take_alloc(perfetto, row->session, row->memory, &i);
	else
		r = take_free(perfetto, row->session, row->memory->address, &i);
	if (r || i == NONE || !is_shown)
		return r;
	memory = &perfetto->sums.memories[i];
	return ts_tracks_count(perfetto->tracks, memory->counter, row->memory->start_ns,
			       memory->bytes <= INT64_MAX ? (int64_t)memory->bytes : INT64_MAX);
}
