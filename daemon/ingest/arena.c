/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a session's definition arena. serve/session/session-definitions.c calls this module, and
 * provides the sink for the definitions. Definitions come in order and their ids count up from 1,
 * so the map from the session's ids to the file's ids is an array. The reader copies a chunk of
 * definitions and then checks the copy, so it reads the arena once.
 */
#include "daemon/ingest/arena.h"

#include <unistd.h>

#define ARENA_CHUNK_BYTES (256u * 1024)

void ts_arena_reader_deinit(struct ts_arena_reader *reader)
{
	free(reader->strings.ids);
	free(reader->stacks.ids);
	free(reader->threads.ids);
	free(reader->chunk);
	*reader = (struct ts_arena_reader){0};
}

void ts_arena_reader_trim(struct ts_arena_reader *reader)
{
	free(ts_take_ptr(reader->chunk));
}

uint64_t ts_arena_reader_memory(const struct ts_arena_reader *reader)
{
	uint64_t n_ids = (uint64_t)reader->strings.n_allocated + reader->stacks.n_allocated +
			 reader->threads.n_allocated;

	return n_ids * sizeof(uint32_t) + (reader->chunk ? ARENA_CHUNK_BYTES : 0);
}

static int id_map_grow(struct ts_id_map *map, uint32_t id, const struct ts_arena_sink *sink,
		       bool *ret_granted)
{
	uint32_t n_grown = map->n_allocated ? map->n_allocated : 64;
	uint32_t *grown;

	while (n_grown <= id)
		n_grown *= 2; /* id <= TS_ARENA_MAX_IDS */
	*ret_granted = !sink->grant ||
		       sink->grant(sink->data, (n_grown - map->n_allocated) * sizeof(*grown));
	if (!*ret_granted)
		return 0;
	grown = realloc(map->ids, n_grown * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	map->ids = grown;
	map->n_allocated = n_grown;
	return 0;
}

/*
 * Notes that the id is defined. Only an id with a file id gets a place in `ids`; earlier ids
 * without a place then get one with TS_ID_UNKNOWN.
 */
static int id_map_set(struct ts_id_map *map, uint32_t id, uint32_t file_id,
		      const struct ts_arena_sink *sink)
{
	bool granted = true;
	int r = 0;

	map->n_known = id + 1;
	if (file_id == TS_ID_UNKNOWN)
		return 0;
	if (id >= map->n_allocated)
		r = id_map_grow(map, id, sink, &granted);
	if (r || !granted)
		return r;
	while (map->n < id)
		map->ids[map->n++] = TS_ID_UNKNOWN;
	map->ids[id] = file_id;
	map->n = id + 1;
	return 0;
}

/*
 * True if the id is the next one. Definitions come in order, so a definition with another id is
 * malformed.
 */
static bool id_is_next(const struct ts_id_map *map, uint32_t id)
{
	return id == (map->n_known ? map->n_known : 1) && id <= TS_ARENA_MAX_IDS;
}

/*
 * The longest definition of a known type: a string, a stack, or a fixed struct with room to grow.
 */
#define ARENA_MAX_DEFINITION_BYTES (sizeof(struct ts_definition) + TS_STRING_MAX_BYTES)
TS_STATIC_ASSERT(TS_STRING_MAX_BYTES >= TS_STACK_MAX_FRAMES * sizeof(uint64_t),
		 "a string is the longest definition");
TS_STATIC_ASSERT(ARENA_MAX_DEFINITION_BYTES <= ARENA_CHUNK_BYTES, "a chunk holds any definition");

/* Copies the fixed fields. Fields that an older writer lacks are zero. */
static void take(void *to, size_t n_to, const struct ts_definition *definition, size_t n_bytes)
{
	memset(to, 0, n_to);
	memcpy(to, definition, n_bytes < n_to ? n_bytes : n_to);
}

/*
 * Replaces the session's string ids in Python frames by the file's ids. The frames lie in the
 * reader's own chunk.
 */
static void translate_frames(const struct ts_arena_reader *reader, uint64_t *frames,
			     uint32_t n_frames)
{
	for (uint32_t i = 0; i < n_frames; i++)
		if (TS_FRAME_KIND(frames[i]) == TS_FRAME_PYTHON)
			frames[i] = TS_FRAME_PYTHON_AT(ts_id_map_get(&reader->strings,
								     TS_FRAME_STRING(frames[i])),
						       TS_FRAME_LINE(frames[i]));
}

static int interpret_code(const struct ts_definition *definition, size_t n_bytes,
			  const struct ts_arena_sink *sink)
{
	const char *path = (const char *)definition + sizeof(struct ts_definition_code);
	struct ts_definition_code code;
	uint64_t n_behind;

	if (n_bytes < sizeof(code))
		return 1;
	memcpy(&code, definition, sizeof(code));
	n_behind = (uint64_t)code.n_path_bytes + code.n_target_bytes + definition->n;
	if (n_behind > n_bytes - sizeof(code) || definition->n > TS_CODE_MAX_BYTES)
		return 1;
	if (!sink->code)
		return 0;
	return sink->code(sink->data, &code, path, path + code.n_path_bytes,
			  (const uint8_t *)path + code.n_path_bytes + code.n_target_bytes);
}

static int interpret_function(const struct ts_definition *definition, size_t n_bytes,
			      const struct ts_arena_sink *sink)
{
	struct ts_definition_function function;

	if (n_bytes < sizeof(function) || definition->n > n_bytes - sizeof(function))
		return 1;
	memcpy(&function, definition, sizeof(function));
	if (!sink->function)
		return 0;
	return sink->function(sink->data, &function, (const char *)definition + sizeof(function));
}

/*
 * Handles one definition in private memory. Returns 0, a negative errno, or a positive number if
 * the definition is bad.
 */
static int interpret(struct ts_arena_reader *reader, struct ts_definition *definition,
		     size_t n_bytes, const struct ts_arena_sink *sink)
{
	void *payload = definition + 1;
	size_t n_payload = n_bytes - sizeof(*definition);
	uint32_t id = definition->id, file_id = TS_ID_UNKNOWN;
	int r;

	switch (definition->type) {
	case TS_DEF_STRING:
		if (!id_is_next(&reader->strings, id) || definition->n > n_payload ||
		    definition->n > TS_STRING_MAX_BYTES)
			return 1;
		r = sink->string(sink->data, payload, definition->n, &file_id);
		return r < 0 ? r : id_map_set(&reader->strings, id, r ? 0 : file_id, sink) ?: r;
	case TS_DEF_STACK:
		if (!id_is_next(&reader->stacks, id) ||
		    definition->n > n_payload / sizeof(uint64_t) ||
		    definition->n > TS_STACK_MAX_FRAMES)
			return 1;
		translate_frames(reader, payload, definition->n);
		r = sink->stack(sink->data, payload, definition->n, definition->flags, &file_id);
		return r < 0 ? r : id_map_set(&reader->stacks, id, r ? 0 : file_id, sink) ?: r;
	case TS_DEF_THREAD: {
		struct ts_definition_thread thread;

		if (!id_is_next(&reader->threads, id))
			return 1;
		take(&thread, sizeof(thread), definition, n_bytes);
		r = sink->thread(sink->data, &thread, ts_id_map_get(&reader->strings, thread.name),
				 &file_id);
		return r < 0 ? r : id_map_set(&reader->threads, id, r ? 0 : file_id, sink) ?: r;
	}
	case TS_DEF_DEVICE: {
		struct ts_definition_device device;

		take(&device, sizeof(device), definition, n_bytes);
		return sink->device(sink->data, &device,
				    ts_id_map_get(&reader->strings, device.name));
	}
	case TS_DEF_MODULE: {
		struct ts_definition_module module;

		take(&module, sizeof(module), definition, n_bytes);
		if (module.n_build_id_bytes > sizeof(module.build_id))
			return 1;
		return sink->module(sink->data, &module,
				    ts_id_map_get(&reader->strings, module.path));
	}
	case TS_DEF_NAME: {
		struct ts_definition_name name;

		take(&name, sizeof(name), definition, n_bytes);
		return sink->name(sink->data, &name, ts_id_map_get(&reader->strings, name.domain),
				  ts_id_map_get(&reader->strings, name.name));
	}
	case TS_DEF_CODE:
		return interpret_code(definition, n_bytes, sink);
	case TS_DEF_FUNCTION:
		return interpret_function(definition, n_bytes, sink);
	default:
		return 1;
	}
}

/*
 * Handles the whole definitions at the start of the chunk. n_left: the published bytes from the
 * chunk's start on; n_bytes: the size of the chunk.
 */
static int walk(struct ts_arena_reader *reader, size_t n_bytes, uint64_t n_left,
		const struct ts_arena_sink *sink)
{
	size_t off = 0;

	while (off < n_bytes) {
		struct ts_definition *definition = (struct ts_definition *)(reader->chunk + off);
		uint64_t n = definition->n_words * UINT64_C(8);
		int r = 1;

		if (n < sizeof(*definition) || n > n_left - off)
			return -EBADMSG;
		if (n <= ARENA_MAX_DEFINITION_BYTES) {
			if (n > n_bytes - off)
				break;
			r = interpret(reader, definition, n, sink);
			if (r < 0)
				return r;
		}
		reader->n_bad += r > 0;
		reader->position += n;
		/* If the definition is too long for any type, it may end beyond the chunk. */
		off += n;
	}
	return 0;
}

int ts_arena_read(struct ts_arena_reader *reader, int fd, uint64_t off, uint64_t arena_bytes,
		  uint64_t published, const struct ts_arena_sink *sink)
{
	if (published % 8 || published > arena_bytes || published < reader->position)
		return -EBADMSG;
	if (!reader->chunk)
		reader->chunk = aligned_alloc(8, ARENA_CHUNK_BYTES);
	if (!reader->chunk)
		return -ENOMEM;
	while (reader->position < published) {
		uint64_t n_left = published - reader->position;
		size_t n_bytes = n_left < ARENA_CHUNK_BYTES ? n_left : ARENA_CHUNK_BYTES;
		int r;

		if (pread(fd, reader->chunk, n_bytes, (off_t)(off + reader->position)) !=
		    (ssize_t)n_bytes)
			return -EIO;
		r = walk(reader, n_bytes, n_left, sink);
		if (!r && sink->rest)
			r = sink->rest(sink->data);
		if (r)
			return r;
	}
	return 0;
}
