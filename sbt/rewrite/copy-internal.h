/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the copy-*.c files share. Private to sbt/. Functions return 0, a negative
 * errno, or a TS_SBT_E_* of the reader. A copy runs in one thread.
 */
#pragma once

#include "proto/abi/clock.h"
#include "proto/abi/map.h"
#include "sbt/buffer.h"
#include "sbt/copy.h"
#include "sbt/intern.h"
#include "sbt/modules.h"
#include "sbt/symbols.h"

/* The rows of a session that a window keeps. */
struct ts_copy_window {
	uint64_t from_ns, to_ns;
	struct ts_map ops;     /* operations that touch the window */
	struct ts_buffer list; /* the same ids, in ascending order: u64 */
	struct ts_map ranges;  /* ids of ranges that ended before the window */
	/*
	 * Maps an address to start_ns + 1 of the allocation that is live at the window's start.
	 * UINT64_MAX: the allocation was freed.
	 */
	struct ts_map live;
	/*
	 * for each clock: time of the last snapshot before the window; clock_to_ns: of the first
	 * snapshot after it
	 */
	uint64_t clock_from_ns[TS_CLOCK_COUNT];
	uint64_t clock_to_ns[TS_CLOCK_COUNT];
};

/* A source of the copy. */
struct ts_copy_source {
	struct ts_sbt_copy_source *asked;
	struct ts_sbt_reader *reader;
	uint32_t number; /* from 1 */
	uint64_t shift_ns;
	/* Maps from the source's ids to the copy's ids + 1. */
	struct ts_map strings;
	struct ts_map stacks;  /* session << 32 | id */
	struct ts_map threads; /* session << 32 | id */
	/* Used if the copy is of a window: modules and symbols of the frames that are kept. */
	struct ts_modules *modules;
	struct ts_symbols *symbols;
	struct ts_map kept_modules;
	struct ts_map kept_images;
	struct ts_map kept_symbols;
};

/* A session of the copy consists of parts; each part is a session of one source. */
struct ts_copy_part {
	struct ts_copy_source *source;
	const struct ts_row_session *row;
	struct ts_copy_window window;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row next; /* the row at the cursor */
	bool has_next;
};

struct ts_copy_session {
	struct ts_copy_part *parts;
	size_t n_parts;
	uint32_t number;
	struct ts_sbt_session_writer *writer;
	/* Definitions that the session has, by content. */
	struct ts_intern stacks, threads, others;
};

struct ts_copy {
	const struct ts_sbt_copy_options *options;
	struct ts_sbt_writer *writer;
	struct ts_sbt_copy_report *report;
	struct ts_copy_source *sources;
	size_t n_sources;
	uint64_t seed;
	/*
	 * Maps a session of a source (source << 32 | session) to the number of the copy's session.
	 */
	struct ts_map sessions;
};

/* copy-translate.c */
/* Counts damage of a source in the report and returns 0. Returns any other result `r` unchanged. */
int ts_copy_damage(struct ts_copy *copy, struct ts_copy_source *source, int r);

/* Converts a time of a source to the copy's clock. 0 stays 0; an overflow gives UINT64_MAX. */
uint64_t ts_copy_time(const struct ts_copy_source *source, uint64_t ns);

/* Translates the id of a string. Id 0, and a string that the source lacks, give 0. */
int ts_copy_string(struct ts_copy *copy, struct ts_copy_source *source, uint32_t id,
		   uint32_t *ret_id);

/*
 * Translates the string ids, times and session numbers of a row. The function uses no state of a
 * session. Bytes of *ret_row that belong to no column are 0.
 */
int ts_copy_translate_definition(struct ts_copy *copy, struct ts_copy_source *source,
				 const struct ts_row_schema *schema, const void *row,
				 void *ret_row);
void ts_copy_put_column(const struct ts_column *column, void *row, uint64_t value);

/* copy.c */
/*
 * Translates a row, also its stacks and threads. `session` is the copy's session that the ids
 * belong to.
 */
int ts_copy_translate(struct ts_copy *copy, struct ts_copy_part *part,
		      struct ts_copy_session *session, const struct ts_row_schema *schema,
		      const void *row, void *ret_row);

/* copy-clock.c */
/* Sets shift_ns and shift_error_ns of all sources. */
int ts_copy_align(struct ts_copy *copy);

/* Writes the metadata of all sources, and of the copy itself. */
int ts_copy_metadata(struct ts_copy *copy);

/* copy-window.c */
/*
 * Reads the rows of a part and fills part->window: operations, ranges, allocations and clock
 * snapshots that the window keeps.
 */
int ts_copy_window_learn(struct ts_copy *copy, struct ts_copy_part *part);
/*
 * Allocates *ret_chosen, one byte per block: 1 if the block may hold rows that the window keeps
 * although they do not touch it. The caller frees it with free().
 */
int ts_copy_window_choose(struct ts_copy_part *part, uint8_t **ret_chosen);
/* Returns true if the window keeps the row although it does not touch the window. */
bool ts_copy_window_keeps(const struct ts_copy_window *window, const struct ts_sbt_row *row);
void ts_copy_window_deinit(struct ts_copy_window *window);

/* copy-symbols.c */
/* Marks the module and the symbols of a native frame as kept. */
int ts_copy_keep_frame(struct ts_copy_source *source, uint32_t session, uint64_t address);
bool ts_copy_keeps_module(const struct ts_copy_source *source, uint32_t session,
			  const struct ts_row_module *module);
/* Writes images and symbols. Called after all sessions are copied. */
int ts_copy_symbols(struct ts_copy *copy);
