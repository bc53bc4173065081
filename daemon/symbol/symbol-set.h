/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of the addresses of one file: a table searched by address, in one piece of memory.
 * The cache stores the same bytes on disk. A finished set is constant; any thread may read it.
 *
 * 	header | entries, ascending | frames | texts, each terminated
 */
#pragma once

#include "proto/abi/base.h"

#define TS_SYMBOL_SET_MAX_BYTES (64u << 20)

/* Flags. */
#define TS_SYMBOL_DEBUG_INFO (1u << 0) /* inlined frames and lines were searched too */

struct ts_symbol_entry {
	uint64_t address;
	uint32_t first_frame;
	/*
	 * Innermost first: each frame but the last is inlined into the next one. 0: no symbol is
	 * known.
	 */
	uint32_t n_frames;
};
TS_ASSERT_SIZE(struct ts_symbol_entry, 16);

/* `function` and `file` are offsets into the texts; 0 is "", not known. */
struct ts_symbol_frame {
	uint32_t function, file, line;
};
TS_ASSERT_SIZE(struct ts_symbol_frame, 12);

struct ts_symbol_set {
	uint8_t *bytes; /* the whole set; owned */
	size_t n_bytes;
	uint32_t flags;
	const struct ts_symbol_entry *entries;
	const struct ts_symbol_frame *frames;
	const char *text;
	uint32_t n_entries, n_frames, n_text;
};

void ts_symbol_set_deinit(struct ts_symbol_set *set); /* a zeroed set is empty */

/* Returns the entry of an address. NULL: the address was never looked up. */
const struct ts_symbol_entry *ts_symbol_set_find(const struct ts_symbol_set *set, uint64_t address);

/*
 * Checks a set and opens it. The set owns `bytes`, which come from malloc(); on failure they are
 * freed. A file of the cache may be torn or forged, so everything is checked. `key` is the build id
 * that the set must have. Returns 0 or -EBADMSG.
 */
int ts_symbol_set_open(uint8_t *bytes, size_t n_bytes, const uint8_t *key, size_t n_key,
		       struct ts_symbol_set *ret_set);

struct ts_symbol_builder;

/*
 * Creates a builder. Returns 0 or -ENOMEM. Errors of the functions below are stored until
 * ts_symbol_builder_end().
 */
int ts_symbol_builder_new(struct ts_symbol_builder **ret_builder);
void ts_symbol_builder_free(struct ts_symbol_builder *builder); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_symbol_builder *, ts_symbol_builder_freep, ts_symbol_builder_free)

/*
 * ts_symbol_builder_entry() adds an address, in any order. The frames that follow belong to that
 * address. Texts need no terminator.
 */
void ts_symbol_builder_entry(struct ts_symbol_builder *builder, uint64_t address);
void ts_symbol_builder_frame(struct ts_symbol_builder *builder, const char *function,
			     size_t n_function, const char *file, size_t n_file, uint32_t line);
/* Adds all entries of a set, except addresses that the builder has already. */
void ts_symbol_builder_add(struct ts_symbol_builder *builder, const struct ts_symbol_set *set);
/* Returns the set. 0, -ENOMEM, or -E2BIG: it would be larger than TS_SYMBOL_SET_MAX_BYTES. */
int ts_symbol_builder_end(struct ts_symbol_builder *builder, const uint8_t *key, size_t n_key,
			  uint32_t flags, struct ts_symbol_set *ret_set);
