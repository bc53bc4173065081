/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of copying share. Private to sbt/. */
#pragma once

#include "proto/abi/clock.h"
#include "proto/abi/map.h"
#include "sbt/buffer.h"
#include "sbt/copy.h"
#include "sbt/intern.h"
#include "sbt/modules.h"
#include "sbt/symbols.h"

/* What is kept of a session's rows where a window is asked for. */
struct ts_copy_window {
	uint64_t from_ns, to_ns;
	struct ts_map ops;     /* operations that touch it */
	struct ts_buffer list; /* the same, in ascending order: u64 */
	struct ts_map ranges;  /* that were over before it */
	struct ts_map
		live; /* addresses: when what lies there at its beginning was allocated, plus 1 */
	uint64_t clock_from_ns[TS_CLOCK_COUNT]; /* snapshots that are kept */
	uint64_t clock_to_ns[TS_CLOCK_COUNT];
};

/* One that is copied from. */
struct ts_copy_source {
	struct ts_sbt_copy_source *asked;
	struct ts_sbt_reader *reader;
	uint32_t number; /* from 1 */
	uint64_t shift_ns;
	/* Ids here to ids there, plus 1. */
	struct ts_map strings;
	struct ts_map stacks;  /* session << 32 | id */
	struct ts_map threads; /* the same */
	/* With a window: what its stacks point at. */
	struct ts_modules *modules;
	struct ts_symbols *symbols;
	struct ts_map kept_modules;
	struct ts_map kept_images;
	struct ts_map kept_symbols;
};

/* A session that is made, of parts that each have a session of one source. */
struct ts_copy_part {
	struct ts_copy_source *source;
	const struct ts_row_session *row;
	struct ts_copy_window window;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row next; /* what the cursor stands at */
	bool has_next;
};

struct ts_copy_session {
	struct ts_copy_part *parts;
	size_t n_parts;
	uint32_t number;
	struct ts_sbt_session_writer *writer;
	/* What it has already, by content. */
	struct ts_intern stacks, threads, others;
};

struct ts_copy {
	const struct ts_sbt_copy_options *options;
	struct ts_sbt_writer *writer;
	struct ts_sbt_copy_report *report;
	struct ts_copy_source *sources;
	size_t n_sources;
	uint64_t seed;
	/* Sessions of sources to those that were made: source << 32 | session. */
	struct ts_map sessions;
};

/* copy-translate.c */
/* Damage of a source is noted and left behind: 0. Else `r` as it is. */
int ts_copy_damage(struct ts_copy *copy, struct ts_copy_source *source, int r);

/* A time of a source, as it is in the copy. */
uint64_t ts_copy_time(const struct ts_copy_source *source, uint64_t ns);

/* 0 stays 0, and so becomes what cannot be found. */
int ts_copy_string(struct ts_copy *copy, struct ts_copy_source *source, uint32_t id,
		   uint32_t *ret_id);

/* A row with the copy's ids and times; what is no column is 0. For what has no session, or needs none. */
int ts_copy_translate_definition(struct ts_copy *copy, struct ts_copy_source *source,
				 const struct ts_row_schema *schema, const void *row,
				 void *ret_row);
void ts_copy_put_column(const struct ts_column *column, void *row, uint64_t value);

/* copy.c */
/* The same, with stacks and threads. `session`: NULL for the file's own rows. */
int ts_copy_translate(struct ts_copy *copy, struct ts_copy_part *part,
		      struct ts_copy_session *session, const struct ts_row_schema *schema,
		      const void *row, void *ret_row);

/* copy-clock.c */
/* Sets the shifts of all sources. */
int ts_copy_align(struct ts_copy *copy);

/* Metadata of all sources, and of the copy itself. */
int ts_copy_metadata(struct ts_copy *copy);

/* copy-window.c */
/* What a window keeps of a part, learnt from the part's rows. */
int ts_copy_window_learn(struct ts_copy *copy, struct ts_copy_part *part);
/* Which blocks may have rows that it keeps beside those that touch it, a byte each; to be free()d. */
int ts_copy_window_choose(struct ts_copy_part *part, uint8_t **ret_chosen);
bool ts_copy_window_keeps(const struct ts_copy_window *window, const struct ts_sbt_row *row);
void ts_copy_window_deinit(struct ts_copy_window *window);

/* copy-symbols.c */
/* A native frame that is kept: so are its module and its symbols. */
int ts_copy_keep_frame(struct ts_copy_source *source, uint32_t session, uint64_t address);
bool ts_copy_keeps_module(const struct ts_copy_source *source, uint32_t session,
			  const struct ts_row_module *module);
/* Images and symbols, after all sessions. */
int ts_copy_symbols(struct ts_copy *copy);
