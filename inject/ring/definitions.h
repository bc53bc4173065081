/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the definition arena. Strings and stacks are interned; modules, devices,
 * threads and names are appended. Each function returns the definition's id. If the arena is full,
 * it returns TS_ID_UNKNOWN and counts ARENA_FULL.
 *
 * The lookup of a known definition takes no lock; adding one does. All functions are thread-safe.
 * No function is signal-safe: the shim's callbacks guard against recursion (producer.h).
 */
#pragma once

#include <pthread.h>

#include "inject/ring/ring-session.h"

#define TS_ARENA_STRETCH_BYTES (1024u * 1024)
#define TS_ARENA_STRETCHES     (TS_ARENA_MAX_BYTES / TS_ARENA_STRETCH_BYTES)
#define TS_INTERN_BUCKETS      (1u << 15)

/*
 * One interned definition. The content is in the arena, to which a peer can write. The length is
 * here, where a peer cannot change it.
 */
struct ts_intern_entry {
	struct ts_intern_entry *next;
	uint64_t hash;
	uint64_t off; /* offset of the content in the arena */
	uint32_t n_bytes;
	uint32_t id;
};

struct ts_intern {
	struct ts_intern_entry **buckets;
};

struct ts_definitions {
	struct ts_control *control;
	struct ts_arena *arena;
	/*
	 * The arena's bytes, mapped when needed. Each stretch overlaps the next one
	 * (definitions.c).
	 */
	uint8_t *stretches[TS_ARENA_STRETCHES];
	uint64_t n_bytes;
	/*
	 * Limit for texts of the application. The rest of the arena is for later stacks and
	 * kernels.
	 */
	uint64_t text_bytes;
	uint64_t used;
	pthread_mutex_t lock; /* guards used, last_id, chunk and additions to the tables */
	uint32_t last_id[TS_DEF_COUNT];
	struct ts_intern strings;
	struct ts_intern stacks;
	uint8_t *chunk; /* free memory for new entries, which live as long as the session */
	size_t chunk_left;
};

/*
 * Prepares the arena in the session's memory for writing. Returns 0 or -ENOMEM. There is no deinit:
 * a session lives to the end of its process.
 */
int ts_definitions_init(struct ts_definitions *definitions, const struct ts_session_memory *memory);

/* Interns a string. A string longer than TS_STRING_MAX_BYTES is cut. */
uint32_t ts_definitions_string(struct ts_definitions *definitions, const char *string,
			       size_t n_bytes);

/*
 * Interns a text of the application. A text longer than TS_ANNOTATION_MAX_BYTES is cut. Texts fill
 * at most their part of the arena.
 */
uint32_t ts_definitions_text(struct ts_definitions *definitions, const char *text, size_t n_bytes);

uint32_t ts_definitions_stack(struct ts_definitions *definitions, const uint64_t *frames,
			      uint32_t n_frames, bool truncated);

/*
 * Appends a definition without interning it. `definition` is n_bytes long, a multiple of 8. The
 * caller sets `type`, `flags` and `n` in its header; the function fills the rest of the header.
 */
uint32_t ts_definitions_add(struct ts_definitions *definitions, struct ts_definition *definition,
			    size_t n_bytes);

/*
 * A thread's cache of strings by address, because CUPTI returns the same pointers again and again.
 * An equal address proves nothing: a module may be unloaded and its memory reused. So a hit also
 * compares the content.
 */
#define TS_STRING_CACHE_ENTRIES 512u

struct ts_string_cache {
	uint64_t pass; /* number of the last pass; see ts_definitions_begin_pass() */
	struct {
		const char *string;
		uint64_t off;
		uint32_t n_bytes;
		uint32_t id;
		uint64_t pass; /* in which the content was compared last */
	} entries[TS_STRING_CACHE_ENTRIES];
};

/* Interns a string through the cache. NULL gives TS_ID_UNKNOWN. */
uint32_t ts_definitions_string_cached(struct ts_definitions *definitions,
				      struct ts_string_cache *cache, const char *string);

static inline size_t ts_string_cache_slot(const char *string)
{
	const uintptr_t address = (uintptr_t)string;

	return (address >> 4 ^ address >> 13) % TS_STRING_CACHE_ENTRIES;
}

/*
 * Begins a pass: a time in which the caller knows that no string changes, such as the decoding of
 * one buffer. It lasts as long as the caller calls ts_definitions_string_in_pass().
 */
static inline void ts_definitions_begin_pass(struct ts_string_cache *cache)
{
	cache->pass++;
}

/* Like ts_definitions_string_cached(); compares the content of a string once in a pass. */
static inline uint32_t ts_definitions_string_in_pass(struct ts_definitions *definitions,
						     struct ts_string_cache *cache,
						     const char *string)
{
	const size_t slot = ts_string_cache_slot(string);

	if (ts_likely(cache->entries[slot].string == string &&
		      cache->entries[slot].pass == cache->pass))
		return cache->entries[slot].id;
	return ts_definitions_string_cached(definitions, cache, string);
}

/* Flags of a device (TS_DEVICE_*), which a virtual GPU's name tells. NULL: 0. */
uint32_t ts_definitions_device_flags(const char *name);

/* Interns a text of the application through the cache. *ret_cut is set if the text was too long. */
uint32_t ts_definitions_text_cached(struct ts_definitions *definitions,
				    struct ts_string_cache *cache, const char *text, bool *ret_cut);
