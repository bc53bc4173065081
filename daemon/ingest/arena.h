/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a session's definition arena while it grows, and maps the session's ids to the file's ids.
 * A definition is copied before it is checked. Memory is bounded by TS_ARENA_MAX_IDS ids of each
 * type and by the sink's grant. A definition beyond these limits, or a malformed one, is counted
 * and its id stays unknown. An unknown id costs no memory.
 *
 * A reader is not thread-safe. Definitions go to a sink, so a test or a fuzzer needs no trace file.
 */
#pragma once

#include "daemon/ingest/ingest-memory.h"

#define TS_ARENA_MAX_IDS (4u * 1024 * 1024)

/*
 * The sink receives definitions. Each function returns 0, a negative errno (which ends the
 * reading), or a positive number, which refuses only this definition. If a definition refers to
 * others, the sink gets the file's ids of these. The structs are private copies.
 */
struct ts_arena_sink {
	void *data;
	int (*string)(void *data, const char *bytes, uint32_t n_bytes, uint32_t *ret_id);
	int (*stack)(void *data, const uint64_t *frames, uint32_t n_frames, uint32_t flags,
		     uint32_t *ret_id);
	int (*thread)(void *data, const struct ts_definition_thread *thread, uint32_t name,
		      uint32_t *ret_id);
	int (*device)(void *data, const struct ts_definition_device *device, uint32_t name);
	int (*module)(void *data, const struct ts_definition_module *module, uint32_t path);
	int (*name)(void *data, const struct ts_definition_name *definition, uint32_t domain,
		    uint32_t name);
	/*
	 * Optional. Returns true if the reader may allocate n_bytes more for its maps. False: the
	 * id stays unknown.
	 */
	bool (*grant)(void *data, uint64_t n_bytes);
	/*
	 * Optional. Called after each chunk. A value other than 0 ends the reading and is returned.
	 */
	int (*rest)(void *data);
	/*
	 * Optional. `path`, `target` and `name` are not terminated; `bytes` are the
	 * definition's n.
	 */
	int (*code)(void *data, const struct ts_definition_code *code, const char *path,
		    const char *target, const uint8_t *bytes);
	int (*function)(void *data, const struct ts_definition_function *function,
			const char *name);
};

/* File ids by session id; [0] is the unknown id. */
struct ts_id_map {
	uint32_t *ids;
	uint32_t n;	  /* ids that have a place in `ids` */
	uint32_t n_known; /* one past the last defined id; 0: no id is defined */
	uint32_t n_allocated;
};

/* Returns the file id of a session id; TS_ID_UNKNOWN if it has none. */
static inline uint32_t ts_id_map_get(const struct ts_id_map *map, uint32_t id)
{
	return id < map->n ? map->ids[id] : TS_ID_UNKNOWN;
}

struct ts_arena_reader {
	uint64_t position;
	struct ts_id_map strings;
	struct ts_id_map stacks;
	struct ts_id_map threads;
	uint64_t n_bad; /* definitions skipped so far */
	/* Private copy of a chunk of definitions; NULL if no chunk was read since the last trim. */
	uint8_t *chunk;
};

/* Frees the memory of a reader. A zeroed struct is a valid reader. */
void ts_arena_reader_deinit(struct ts_arena_reader *reader);

/* Frees the memory that only a read needs. */
void ts_arena_reader_trim(struct ts_arena_reader *reader);
/* Returns the bytes of memory that the reader holds. */
uint64_t ts_arena_reader_memory(const struct ts_arena_reader *reader);

/*
 * Reads the definitions that were published since the last call. The arena's definitions begin at
 * `off` of `fd` (see ingest/ingest-memory.h). The caller loaded `published` with acquire.
 *
 * Returns 0. -EIO: the definitions cannot be read. -EBADMSG: drop the peer, because the chain of
 * definitions is broken (a length of 0, or beyond `published`) or `published` is impossible.
 * -ENOMEM: no memory. Another value: the sink returned it.
 */
int ts_arena_read(struct ts_arena_reader *reader, int fd, uint64_t off, uint64_t arena_bytes,
		  uint64_t published, const struct ts_arena_sink *sink);
