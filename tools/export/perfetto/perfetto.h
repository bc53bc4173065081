/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal header of the export to Perfetto: converts a trace's rows to slices and counters on the
 * tracks of tracks.h. The export reads the rows once, in time order. Memory depends on the number
 * of threads, streams, texts and live allocations, not on the number of rows.
 */
#pragma once

#include "replay/state/state-map.h"
#include "tools/export/epochs.h"
#include "tools/export/export-frames.h"
#include "tools/export/perfetto/flows.h"
#include "tools/export/perfetto/tracks.h"

/* Places of rows. Equal places share a track. */
enum ts_place_kind {
	TS_PLACE_PROCESS_OF = 1, /* of a session */
	TS_PLACE_PROCESS,	 /* a: pid */
	/* of a session; a: thread number, b: pid if it is another process */
	TS_PLACE_THREAD_OF,
	TS_PLACE_THREAD,	 /* a: pid, b: tid */
	TS_PLACE_UNKNOWN_THREAD, /* of a process; a: track */
	TS_PLACE_OFF_CPU,	 /* of a thread; a: track */
	TS_PLACE_SYSCALLS,
	TS_PLACE_FAULTS,
	TS_PLACE_BLOCK_IO,
	TS_PLACE_PRESSURE,
	TS_PLACE_DRIVER,
	TS_PLACE_SAMPLES,
	TS_PLACE_RANGES, /* of a process; a: track: ranges without a thread */
	TS_PLACE_SYNCS,
	TS_PLACE_OVERHEAD,
	TS_PLACE_DEVICE_OF, /* of a session; a: device */
	TS_PLACE_DEVICE,    /* a, b: UUID */
	TS_PLACE_STREAM,    /* of a session; a: device, b: context and stream */
	TS_PLACE_LOSSES,
	TS_PLACE_COUNTER, /* of a session; a: name, b: domain */
};

struct ts_place_key {
	uint64_t place; /* enum ts_place_kind */
	uint64_t session;
	uint64_t a, b;
	/* end of key */
	uint32_t track;
	uint32_t device; /* of a stream: the track of its device */
};

/* Utilisation of a device's engines: the busy time in each of several equal parts of the trace. */
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
	uint64_t *busy_ns; /* of TS_SUM_PARTS parts, and of the time after them */
};

struct ts_sums {
	uint64_t origin_ns, part_ns;
	struct ts_engine *engines;
	size_t n_engines, n_engines_allocated;
	uint32_t last_engine;		   /* the last found one */
	struct ts_state_map engine_by_key; /* by a device's track and the kind */

	/* Live memory by a device's track. */
	struct ts_state_map by_address;
	struct ts_live_memory *live;
	uint32_t n_live, n_live_allocated, first_free; /* first_free: index + 1; 0: none */
	struct ts_device_memory {
		uint32_t device; /* track */
		uint32_t counter;
		uint64_t bytes;
	} * memories;
	size_t n_memories, n_memories_allocated;
	struct ts_state_map memory_by_device;
};

/* Kinds of work that a function's call may cause. */
struct ts_call_kind {
	uint64_t function; /* domain and cbid */
	/* end of key */
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
	uint64_t origin_ns;
	uint64_t n_sessions;
	uint64_t latest_ns;
};

/* ---- perfetto-places.c ---- */
int ts_place_process(struct ts_perfetto *perfetto, uint32_t session, uint32_t *ret_track);
int ts_place_thread(struct ts_perfetto *perfetto, uint32_t session, uint32_t thread, uint32_t pid,
		    uint32_t *ret_track);
/* Finds a track of a thread or process; `place` is its kind. */
int ts_place_part(struct ts_perfetto *perfetto, enum ts_place_kind place, uint32_t of,
		  const char *name, uint32_t *ret_track);
int ts_place_device(struct ts_perfetto *perfetto, uint32_t session, uint32_t device,
		    uint32_t *ret_track);
/* Finds a stream and its device. */
int ts_place_stream(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, uint32_t device,
		    uint32_t context, uint32_t stream, uint32_t *ret_track, uint32_t *ret_device);
int ts_place_losses(struct ts_perfetto *perfetto, uint32_t *ret_track);
int ts_place_counter(struct ts_perfetto *perfetto, uint32_t session, uint32_t name, uint32_t domain,
		     uint32_t *ret_track);

/* ---- perfetto-sums.c ---- */
void ts_sums_init(struct ts_sums *sums, uint64_t origin_ns, uint64_t latest_ns);
void ts_sums_deinit(struct ts_sums *sums);
/*
 * Adds the time of an operation to the busy time of its engine. Calls for one engine must come in
 * order of start_ns.
 */
int ts_sums_busy(struct ts_sums *sums, uint32_t device, enum ts_engine_kind kind, uint64_t start_ns,
		 uint64_t end_ns);
/*
 * Adds an allocation to the live memory of its device, or subtracts a free: `row` has type
 * TS_ROW_ALLOC or TS_ROW_FREE. Writes the new value of the device's counter only if is_shown is
 * true, that is, if the row lies in the window.
 */
int ts_sums_memory(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, bool is_shown);
/* Writes the counter of busy time for each engine of each device. */
int ts_sums_finish(struct ts_perfetto *perfetto);
