/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a session's definition arena as it grows, and maps the session's ids to the file's. What a
 * definition says is copied out before it is looked at. Memory is bounded by TS_ARENA_MAX_IDS ids
 * of each type and by what the sink grants; what exceeds that, or is malformed in itself, is counted and its id stays
 * unknown. An id that stays unknown costs no memory.
 *
 * An arena belongs to one thread. What it finds goes to a sink, so that a test or a fuzzer needs no
 * trace file.
 */
#pragma once

#include "daemon/ingest/ingest-memory.h"

#define TS_ARENA_MAX_IDS (4u * 1024 * 1024)

/*
 * Where definitions go. Each returns 0 or a negative errno (which ends the reading), and where it
 * takes an id of another definition, gets the file's. The structs are private copies. A positive
 * return refuses that definition alone.
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
	/* Optional. Whether the reader may have n_bytes more of memory for its maps; else the id stays unknown. */
	bool (*grant)(void *data, uint64_t n_bytes);
	/* Optional. Called after each chunk. 0, or a value that ends the reading and is returned. */
	int (*rest)(void *data);
};

/* file id by session id; [0] is the unknown one's */
struct ts_id_map {
	uint32_t *ids;
	uint32_t n;	  /* ids that have a place in `ids` */
	uint32_t n_known; /* one past the last id that was defined; 0: none was */
	uint32_t n_allocated;
};

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
	uint8_t *
		chunk; /* a private copy of some definitions; NULL: none was read since the last trim */
};

/* Zero-initialised is ready. */
void ts_arena_reader_deinit(struct ts_arena_reader *reader);

/* Frees what only a read needs. */
void ts_arena_reader_trim(struct ts_arena_reader *reader);
/* Bytes of memory that the reader holds. */
uint64_t ts_arena_reader_memory(const struct ts_arena_reader *reader);

/*
 * Reads what was published since the last call. The definitions begin at `off` of `fd`, see
 * ingest/ingest-memory.h; `published` was acquired by the caller. Returns 0; -EIO where they cannot be read; -EBADMSG where the chain of
 * definitions is broken (a length of nothing, or beyond what was published) or `published` cannot
 * be true: the peer is to be dropped; -ENOMEM; or what the sink gave.
 */
int ts_arena_read(struct ts_arena_reader *reader, int fd, uint64_t off, uint64_t arena_bytes,
		  uint64_t published, const struct ts_arena_sink *sink);
