/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the definition arena: strings and stacks are interned, modules, devices and
 * threads are appended. Every function returns the definition's id, or TS_ID_UNKNOWN where the arena is
 * full, which it counts as ARENA_FULL.
 *
 * Looking up what was seen before takes no lock; adding does. All functions are thread-safe. None is
 * signal-safe: the shim's callbacks guard against recursion (producer.h).
 */
#pragma once

#include <pthread.h>

#include "inject/ring/ring-session.h"

#define TS_ARENA_STRETCH_BYTES (1024u * 1024)
#define TS_ARENA_STRETCHES     (TS_ARENA_MAX_BYTES / TS_ARENA_STRETCH_BYTES)
#define TS_INTERN_BUCKETS      (1u << 15)

/* One interned definition. What it holds lies in the arena; its length is kept here, out of a peer's reach. */
struct ts_intern_entry {
	struct ts_intern_entry *next;
	uint64_t hash;
	uint64_t off; /* of the content, in the arena's bytes */
	uint32_t n_bytes;
	uint32_t id;
};

struct ts_intern {
	struct ts_intern_entry **buckets;
};

struct ts_definitions {
	struct ts_control *control;
	struct ts_arena *arena;
	/* The arena's bytes, mapped as they are needed; each stretch reaches into the next (definitions.c). */
	uint8_t *stretches[TS_ARENA_STRETCHES];
	uint64_t n_bytes;
	uint64_t
		text_bytes; /* what the application makes up fills no more: stacks and kernels come later */
	uint64_t used;
	pthread_mutex_t lock; /* of used, last_id, chunk and of adding to the tables */
	uint32_t last_id[TS_DEF_COUNT];
	struct ts_intern strings;
	struct ts_intern stacks;
	uint8_t *chunk; /* entries are cut from mapped chunks; they live as long as the session */
	size_t chunk_left;
};

/* Takes the session's memory. Returns 0 or -ENOMEM. There is no deinit: a session lives to the end of its process. */
int ts_definitions_init(struct ts_definitions *definitions, const struct ts_session_memory *memory);

/* Strings beyond TS_STRING_MAX_BYTES are cut. */
uint32_t ts_definitions_string(struct ts_definitions *definitions, const char *string,
			       size_t n_bytes);

/* A text of the application's: cut at TS_ANNOTATION_MAX_BYTES, and kept to its part of the arena. */
uint32_t ts_definitions_text(struct ts_definitions *definitions, const char *text, size_t n_bytes);

uint32_t ts_definitions_stack(struct ts_definitions *definitions, const uint64_t *frames,
			      uint32_t n_frames, bool truncated);

/*
 * Appends a definition that is not interned: `definition` is n_bytes long, a multiple of 8, its header's
 * `type` and `flags` set. The rest of the header is filled in.
 */
uint32_t ts_definitions_add(struct ts_definitions *definitions, struct ts_definition *definition,
			    size_t n_bytes);

/*
 * A thread's memory of strings by address: CUPTI hands out the same pointers again and again. An address
 * proves nothing (a module may be gone and its memory used anew), so a hit compares the content too.
 */
#define TS_STRING_CACHE_ENTRIES 512u

struct ts_string_cache {
	struct {
		const char *string;
		uint64_t off;
		uint32_t n_bytes;
		uint32_t id;
	} entries[TS_STRING_CACHE_ENTRIES];
};

/* NULL gives TS_ID_UNKNOWN. */
uint32_t ts_definitions_string_cached(struct ts_definitions *definitions,
				      struct ts_string_cache *cache, const char *string);

/* The same for a text of the application's. *ret_cut: it was too long. */
uint32_t ts_definitions_text_cached(struct ts_definitions *definitions,
				    struct ts_string_cache *cache, const char *text, bool *ret_cut);
