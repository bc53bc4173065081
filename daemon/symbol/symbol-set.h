/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the addresses of one file: a table that is searched by address, in one piece of memory that is
 * also what the cache keeps on disk. Constant once made; any thread may read it.
 *
 *	header | entries, ascending | frames | texts, each terminated
 */
#pragma once

#include "proto/abi/base.h"

#define TS_SYMBOL_SET_MAX_BYTES (64u << 20)

/* Flags. */
#define TS_SYMBOL_DEBUG_INFO (1u << 0) /* inlined frames and lines, too, were looked for */

struct ts_symbol_entry {
	uint64_t address;
	uint32_t first_frame;
	uint32_t
		n_frames; /* innermost first: all but the last are inlined into the next; 0: nothing is known */
};
TS_ASSERT_SIZE(struct ts_symbol_entry, 16);

/* Texts by their place among the texts; 0 is "", which is not known. */
struct ts_symbol_frame {
	uint32_t function, file, line;
};
TS_ASSERT_SIZE(struct ts_symbol_frame, 12);

struct ts_symbol_set {
	uint8_t *bytes; /* all of it, owned */
	size_t n_bytes;
	uint32_t flags;
	const struct ts_symbol_entry *entries;
	const struct ts_symbol_frame *frames;
	const char *text;
	uint32_t n_entries, n_frames, n_text;
};

void ts_symbol_set_deinit(struct ts_symbol_set *set); /* all zero is an empty one */

/* NULL: it was never asked for. */
const struct ts_symbol_entry *ts_symbol_set_find(const struct ts_symbol_set *set, uint64_t address);

/*
 * Takes bytes from malloc() over, in any case, and checks them: a file of the cache may be torn or another's work.
 * `key` is what the set must be about. 0 or -EBADMSG.
 */
int ts_symbol_set_open(uint8_t *bytes, size_t n_bytes, const uint8_t *key, size_t n_key,
		       struct ts_symbol_set *ret_set);

struct ts_symbol_builder;

/* Puts a set together. Errors stay until ts_symbol_builder_end(). */
int ts_symbol_builder_new(struct ts_symbol_builder **ret_builder);
void ts_symbol_builder_free(struct ts_symbol_builder *builder); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_symbol_builder *, ts_symbol_builder_freep, ts_symbol_builder_free)

/* Addresses in any order; the frames that follow are its own. Texts need no terminator. */
void ts_symbol_builder_entry(struct ts_symbol_builder *builder, uint64_t address);
void ts_symbol_builder_frame(struct ts_symbol_builder *builder, const char *function,
			     size_t n_function, const char *file, size_t n_file, uint32_t line);
/* All of a set, but what was entered already. */
void ts_symbol_builder_add(struct ts_symbol_builder *builder, const struct ts_symbol_set *set);
/* 0, -ENOMEM, or -E2BIG: it would be larger than TS_SYMBOL_SET_MAX_BYTES. */
int ts_symbol_builder_end(struct ts_symbol_builder *builder, const uint8_t *key, size_t n_key,
			  uint32_t flags, struct ts_symbol_set *ret_set);
