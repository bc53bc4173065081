/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within the export to Perfetto: from the rows of a trace to slices and counters on the tracks of tracks.h. One pass in the
 * order of time; what is remembered follows from what there is (threads, streams, texts, live memory), not from how many rows.
 */
#pragma once

#include "replay/state/state-map.h"
#include "tools/export/epochs.h"
#include "tools/export/export-frames.h"
#include "tools/export/perfetto/flows.h"
#include "tools/export/perfetto/tracks.h"

/* Where rows belong. The same place is the same track. */
enum ts_place_kind {
	TS_PLACE_PROCESS_OF = 1, /* of a session */
	TS_PLACE_PROCESS,	 /* a: pid */
	TS_PLACE_THREAD_OF, /* of a session; a: its number, b: pid where that is another process */
	TS_PLACE_THREAD,    /* a: pid, b: tid */
	TS_PLACE_UNKNOWN_THREAD, /* of a process; a: track */
	TS_PLACE_OFF_CPU,	 /* of a thread; a: track */
	TS_PLACE_SYSCALLS,
	TS_PLACE_FAULTS,
	TS_PLACE_BLOCK_IO,
	TS_PLACE_PRESSURE,
	TS_PLACE_DRIVER,
	TS_PLACE_SAMPLES,
	TS_PLACE_RANGES, /* of a process; a: track: ranges that belong to no thread */
	TS_PLACE_SYNCS,
	TS_PLACE_OVERHEAD,
	TS_PLACE_DEVICE_OF, /* of a session; a: device */
	TS_PLACE_DEVICE,    /* a, b: UUID */
	TS_PLACE_STREAM,    /* of a session; a: device, b: context and stream */
	TS_PLACE_LOSSES,
	TS_PLACE_COUNTER, /* of a session; a: name, b: domain */
};

struct ts_place_key {
	uint32_t place; /* enum ts_place_kind */
	uint32_t session;
	uint64_t a, b;
	/* the key ends here */
	uint32_t track;
	uint32_t reserved;
};

/* How busy a device's parts were: of equal parts of the time, how long. */
enum ts_engine_kind {
	TS_ENGINE_COMPUTE,
	TS_ENGINE_HTOD,
	TS_ENGINE_DTOH,
	TS_ENGINE_OTHER_COPIES,
	TS_ENGINE_KINDS
};

#define TS_SUM_PARTS 4096u

struct ts_engine {
	uint32_t device; /* track */
	uint32_t kind;	 /* enum ts_engine_kind */
	uint64_t busy_until_ns;
	uint64_t *busy_ns; /* of TS_SUM_PARTS parts and what lies behind */
};

struct ts_sums {
	uint64_t origin_ns, part_ns;
	struct ts_engine *engines;
	size_t n_engines, n_engines_allocated;
	struct ts_state_map engine_by_key; /* a device's track and the kind */

	/* Memory that lives, of a device's track. */
	struct ts_state_map by_address;
	struct ts_live_memory *live;
	uint32_t n_live, n_live_allocated, first_free; /* counted from 1 */
	struct ts_device_memory {
		uint32_t device; /* track */
		uint32_t counter;
		uint64_t bytes;
	} * memories;
	size_t n_memories, n_memories_allocated;
	struct ts_state_map memory_by_device;
};

/* What may come of a call of a function. */
struct ts_call_kind {
	uint64_t function; /* domain and cbid */
	/* the key ends here */
	bool is_known, is_launch, may_run;
	uint8_t reserved[5];
};

struct ts_perfetto {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_export_report *report;
	struct ts_tracks *tracks;
	struct ts_frames frames;
	struct ts_epochs epochs;
	struct ts_hashtable places;  /* of struct ts_place_key */
	struct ts_hashtable configs; /* of launches */
	struct ts_hashtable calls;   /* of struct ts_call_kind */
	struct ts_flows *flows;
	struct ts_sums sums;
	uint64_t origin_ns, now_ns;
	uint64_t n_sessions;
	uint64_t latest_ns;
};

/* ---- perfetto-places.c ---- */
int ts_place_process(struct ts_perfetto *perfetto, uint32_t session, uint32_t *ret_track);
int ts_place_thread(struct ts_perfetto *perfetto, uint32_t session, uint32_t thread, uint32_t pid,
		    uint32_t *ret_track);
/* A track of a thread or process; `place` says what of. */
int ts_place_part(struct ts_perfetto *perfetto, enum ts_place_kind place, uint32_t of,
		  const char *name, uint32_t *ret_track);
int ts_place_device(struct ts_perfetto *perfetto, uint32_t session, uint32_t device,
		    uint32_t *ret_track);
int ts_place_stream(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, uint32_t device,
		    uint32_t context, uint32_t stream, uint32_t *ret_track);
int ts_place_losses(struct ts_perfetto *perfetto, uint32_t *ret_track);
int ts_place_counter(struct ts_perfetto *perfetto, uint32_t session, uint32_t name, uint32_t domain,
		     uint32_t *ret_track);

/* ---- perfetto-sums.c ---- */
void ts_sums_init(struct ts_sums *sums, uint64_t origin_ns, uint64_t latest_ns);
void ts_sums_deinit(struct ts_sums *sums);
/* Starts no earlier than those of the engine before it. */
int ts_sums_busy(struct ts_sums *sums, uint32_t device, enum ts_engine_kind kind, uint64_t start_ns,
		 uint64_t end_ns);
/* `row` is of TS_ROW_ALLOC or TS_ROW_FREE. `is_shown`: it lies in the window. */
int ts_sums_memory(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, bool is_shown);
/* The engines' counters. */
int ts_sums_finish(struct ts_perfetto *perfetto);
