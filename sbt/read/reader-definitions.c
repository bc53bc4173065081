/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: the meaning of ids. There are few sessions, threads, devices, modules, names and
 * metadata; they are loaded when a file is opened. There may be many strings and stacks; a block of
 * them is decoded when one of its ids is first requested. The number of definitions is bounded,
 * because a file may claim more than any real trace has. reader.c and reader-parts.c load
 * definitions; all users of a reader request them.
 */

#include "sbt/read/reader-internal.h"

#define MAX_ITEMS      (1024u * 1024)	       /* per table */
#define MAX_LIST_BYTES (1024ull * 1024 * 1024) /* of decoded strings and stacks */

static uint64_t key_of(uint32_t session, uint32_t id)
{
	return (uint64_t)session << 32 | id;
}

static uint64_t session_key(const void *item)
{
	return ((const struct ts_row_session *)item)->session;
}

static uint64_t thread_key(const void *item)
{
	const struct ts_sbt_thread *thread = item;

	return key_of(thread->session, thread->row.thread);
}

static uint64_t device_key(const void *item)
{
	const struct ts_sbt_device *device = item;

	return key_of(device->session, device->row.device);
}

static uint64_t module_key(const void *item)
{
	return key_of(((const struct ts_sbt_module *)item)->session, 0);
}

static uint64_t name_key(const void *item)
{
	return key_of(((const struct ts_sbt_name *)item)->session, 0);
}

static uint64_t metadata_key(const void *item)
{
	return ((const struct ts_row_metadata *)item)->key;
}

static uint64_t list_key(const void *item)
{
	const struct ts_list_block *list = item;

	return key_of(list->session, list->first_id);
}

static void table_init(struct ts_table *table, size_t item_bytes, bool keep_all,
		       uint64_t (*key)(const void *item))
{
	*table = (struct ts_table){.item_bytes = item_bytes, .keep_all = keep_all, .key = key};
}

void ts_sbt_reader_init_definitions(struct ts_sbt_reader *reader)
{
	table_init(&reader->sessions, sizeof(struct ts_row_session), false, session_key);
	table_init(&reader->threads, sizeof(struct ts_sbt_thread), false, thread_key);
	table_init(&reader->devices, sizeof(struct ts_sbt_device), false, device_key);
	table_init(&reader->modules, sizeof(struct ts_sbt_module), true, module_key);
	table_init(&reader->names, sizeof(struct ts_sbt_name), true, name_key);
	table_init(&reader->metadata, sizeof(struct ts_row_metadata), false, metadata_key);
	table_init(&reader->strings, sizeof(struct ts_list_block), true, list_key);
	table_init(&reader->stacks, sizeof(struct ts_list_block), true, list_key);
	ts_sbt_reader_init_blobs(reader);
}

static void free_lists(struct ts_table *table)
{
	struct ts_list_block *lists = (void *)table->items;

	for (size_t i = 0; i < table->n; i++) {
		free(lists[i].values);
		free(lists[i].offsets);
		free(lists[i].flags);
	}
}

void ts_sbt_reader_free_definitions(struct ts_sbt_reader *reader)
{
	free_lists(&reader->strings);
	free_lists(&reader->stacks);
	free(reader->sessions.items);
	free(reader->threads.items);
	free(reader->devices.items);
	free(reader->modules.items);
	free(reader->names.items);
	free(reader->metadata.items);
	free(reader->strings.items);
	free(reader->stacks.items);
	ts_sbt_reader_free_blobs(reader);
}

static const void *item_at(const struct ts_table *table, size_t i)
{
	return i < table->n ? table->items + i * table->item_bytes : NULL;
}

/* Adds a definition to its table, with its session if the row does not have it. */
static int take_row(struct ts_sbt_reader *reader, unsigned type, uint32_t session, const void *row)
{
	struct ts_table *table = type == TS_ROW_SESSION	 ? &reader->sessions
				 : type == TS_ROW_THREAD ? &reader->threads
				 : type == TS_ROW_DEVICE ? &reader->devices
				 : type == TS_ROW_MODULE ? &reader->modules
				 : type == TS_ROW_NAME	 ? &reader->names
							 : &reader->metadata;
	void *item;

	if (table->n >= MAX_ITEMS)
		return TS_SBT_E_LIMIT;
	item = ts_sbt_table_add(table);
	if (!item)
		return -ENOMEM;
	switch (type) {
	case TS_ROW_THREAD:
		((struct ts_sbt_thread *)item)->session = session;
		((struct ts_sbt_thread *)item)->row = *(const struct ts_row_thread *)row;
		break;
	case TS_ROW_DEVICE:
		((struct ts_sbt_device *)item)->session = session;
		((struct ts_sbt_device *)item)->row = *(const struct ts_row_device *)row;
		break;
	case TS_ROW_MODULE:
		((struct ts_sbt_module *)item)->session = session;
		((struct ts_sbt_module *)item)->row = *(const struct ts_row_module *)row;
		break;
	case TS_ROW_NAME:
		((struct ts_sbt_name *)item)->session = session;
		((struct ts_sbt_name *)item)->row = *(const struct ts_row_name *)row;
		break;
	default:
		memcpy(item, row, table->item_bytes);
	}
	return 0;
}

/* Stores the first error of a missing definition. Returns `r`. */
static int note_lost(struct ts_sbt_reader *reader, int r)
{
	if (r > 0 && !reader->lost.code)
		reader->lost = reader->error;
	return r;
}

const struct ts_sbt_error *ts_sbt_reader_lost_definitions(const struct ts_sbt_reader *reader)
{
	if (reader->lost.code)
		return &reader->lost;
	return reader->lost_block.code ? &reader->lost_block : NULL;
}

static int take_rows(struct ts_sbt_reader *reader, size_t i)
{
	const struct ts_sbt_block *block = &reader->blocks[i];
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	ts_cleanup(ts_freep) uint8_t *rows = NULL;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode(reader, i, (void **)(void *)&rows, &n_rows);

	/* A damaged block costs only its own definitions; ts_sbt_verify() reports it. */
	if (note_lost(reader, r))
		return r < 0 ? r : 0;
	for (uint32_t row = 0; row < n_rows; row++) {
		r = take_row(reader, block->type, block->session,
			     rows + (size_t)row * schema->row_bytes);
		if (r == TS_SBT_E_LIMIT)
			return ts_sbt_reader_fail(reader, r, block->off, "more than %u %ss",
						  MAX_ITEMS, schema->name);
		if (r)
			return r;
	}
	return 0;
}

/*
 * Reads the `part` row. The row is untrusted: the row claims how many blocks the file repeats from
 * the file before (`carried`), and must come right after them.
 */
static int take_part(struct ts_sbt_reader *reader, size_t i)
{
	ts_cleanup(ts_freep) struct ts_row_part *rows = NULL;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode(reader, i, (void **)(void *)&rows, &n_rows);

	if (r)
		return r < 0 ? r : 0;
	if (n_rows != 1 || rows->part < 2 || rows->carried != i || !i || reader->part_block)
		return 0;
	reader->part = *rows;
	reader->part_block = i;
	return 0;
}

static int take_list(struct ts_table *table, const struct ts_sbt_block *block, size_t i)
{
	struct ts_list_block *list = ts_sbt_table_add(table);

	if (!list)
		return -ENOMEM;
	list->block = i;
	list->session = block->session;
	list->first_id = block->first_id;
	list->n_rows = block->n_rows;
	return 0;
}

static int take_blobs(struct ts_table *table, const struct ts_sbt_block *block, size_t i)
{
	struct ts_blob_block *blobs = ts_sbt_table_add(table);

	if (!blobs)
		return -ENOMEM;
	blobs->block = i;
	blobs->session = block->session;
	blobs->first_id = block->first_id;
	blobs->n_rows = block->n_rows;
	return 0;
}

int ts_sbt_reader_load_definitions(struct ts_sbt_reader *reader)
{
	struct ts_table *tables[] = {&reader->sessions, &reader->threads, &reader->devices,
				     &reader->modules,	&reader->names,	  &reader->metadata,
				     &reader->strings,	&reader->stacks,  &reader->blobs};
	int r = 0;

	for (; !r && reader->n_loaded < reader->n_blocks; reader->n_loaded++) {
		size_t i = reader->n_loaded;

		switch (reader->blocks[i].type) {
		case TS_ROW_SESSION:
		case TS_ROW_THREAD:
		case TS_ROW_DEVICE:
		case TS_ROW_MODULE:
		case TS_ROW_NAME:
		case TS_ROW_METADATA:
			r = take_rows(reader, i);
			break;
		case TS_ROW_PART:
			r = take_part(reader, i);
			break;
		case TS_ROW_STRING:
			r = take_list(&reader->strings, &reader->blocks[i], i);
			break;
		case TS_ROW_STACK:
			r = take_list(&reader->stacks, &reader->blocks[i], i);
			break;
		case TS_ROW_BLOB:
			r = take_blobs(&reader->blobs, &reader->blocks[i], i);
			break;
		default:
			break;
		}
	}
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(tables); i++)
		r = ts_sbt_table_order(tables[i]);
	return r;
}

/* Copies the strings, each with a terminator. */
static void *terminate(const uint8_t *bytes, const uint32_t *lengths, uint32_t n_rows,
		       uint32_t n_values)
{
	uint8_t *to = malloc((size_t)n_values + n_rows + 1), *at = to;

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < n_rows; i++) {
		memcpy(at, bytes, lengths[i]);
		at += lengths[i];
		bytes += lengths[i];
		*at++ = 0;
	}
	return to;
}

static int decode_list(struct ts_list_block *list, const struct ts_sbt_block_header *header,
		       const uint8_t *raw, bool is_stack, uint64_t *ret_bytes, const char **ret_why)
{
	ts_cleanup(ts_freep) uint32_t *lengths = NULL;
	ts_cleanup(ts_freep) uint32_t *flags = NULL;
	ts_cleanup(ts_freep) uint32_t *offsets = NULL;
	ts_cleanup(ts_freep) void *values = NULL;
	uint32_t n_rows = header->n_rows, n, n_values, gap = is_stack ? 0 : 1;
	int r;

	r = ts_block_list(header, raw, TS_SBT_STRING_LENGTH, 4, (void **)(void *)&lengths, &n,
			  ret_why);
	if (!r && n != n_rows) {
		*ret_why = "a list has the wrong number of lengths";
		r = TS_SBT_E_CORRUPT;
	}
	if (!r && is_stack) {
		r = ts_block_list(header, raw, TS_SBT_STACK_FLAGS, 4, (void **)(void *)&flags, &n,
				  ret_why);
		if (!r && n != n_rows) {
			*ret_why = "a list has the wrong number of flags";
			r = TS_SBT_E_CORRUPT;
		}
	}
	if (!r)
		r = ts_block_list(header, raw, is_stack ? TS_SBT_STACK_FRAMES : TS_SBT_STRING_BYTES,
				  is_stack ? 8 : 1, &values, &n_values, ret_why);
	if (r)
		return r;
	offsets = malloc(((size_t)n_rows + 1) * sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	*ret_why = ts_sbt_list_offsets(lengths, n_rows, n_values, gap, offsets);
	if (*ret_why)
		return TS_SBT_E_CORRUPT;
	if (is_stack) {
		list->values = ts_take_ptr(values);
	} else {
		list->values = terminate(values, lengths, n_rows, n_values);
		if (!list->values)
			return -ENOMEM;
	}
	list->offsets = ts_take_ptr(offsets);
	list->flags = ts_take_ptr(flags);
	*ret_bytes = (uint64_t)n_values * (is_stack ? 8 : 1) + 9ull * n_rows;
	return 0;
}

/* Decodes a block of strings or stacks once. A damaged block is not tried again. */
static int load_list(struct ts_sbt_reader *reader, struct ts_list_block *list, bool is_stack)
{
	uint64_t off = reader->blocks[list->block].off, bytes = 0;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	const char *why = NULL;
	int r;

	if (list->offsets)
		return 0;
	if (list->failed)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, off,
					  "a block of strings or stacks is damaged");
	if (reader->list_bytes > MAX_LIST_BYTES)
		return note_lost(reader,
				 ts_sbt_reader_fail(reader, TS_SBT_E_LIMIT, off,
						    "strings and stacks take more than 1 GiB"));
	r = ts_sbt_reader_load(reader, list->block, &header, &raw);
	if (!r) {
		r = decode_list(list, &header, raw, is_stack, &bytes, &why);
		if (r)
			ts_sbt_reader_fail(reader, r, off, "%s", r < 0 ? strerror(-r) : why);
	}
	list->failed = r > 0;
	reader->list_bytes += bytes;
	return note_lost(reader, r);
}

/* Finds and decodes the block with this id. */
static int find_list(struct ts_sbt_reader *reader, bool is_stack, uint32_t session, uint32_t id,
		     struct ts_list_block **ret_list)
{
	struct ts_list_block *list = NULL;
	int r;

	if (id)
		list = ts_sbt_table_floor(is_stack ? &reader->stacks : &reader->strings,
					  key_of(session, id));
	if (!list || list->session != session || id - list->first_id >= list->n_rows)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0, "the trace has no %s %u",
					  is_stack ? "stack" : "string", id);
	r = load_list(reader, list, is_stack);
	if (r)
		return r;
	*ret_list = list;
	return 0;
}

const char *ts_sbt_reader_string(struct ts_sbt_reader *reader, uint32_t id, size_t *ret_n_bytes)
{
	struct ts_list_block *list = NULL;
	uint32_t i;

	if (find_list(reader, false, 0, id, &list))
		return NULL;
	i = id - list->first_id;
	if (ret_n_bytes)
		*ret_n_bytes = list->offsets[i + 1] - list->offsets[i] - 1;
	return (const char *)list->values + list->offsets[i];
}

int ts_sbt_reader_stack(struct ts_sbt_reader *reader, uint32_t session, uint32_t id,
			struct ts_sbt_stack *ret_stack)
{
	struct ts_list_block *list = NULL;
	uint32_t i;
	int r = find_list(reader, true, session, id, &list);

	if (r)
		return r;
	i = id - list->first_id;
	ret_stack->frames = (const uint64_t *)list->values + list->offsets[i];
	ret_stack->n_frames = list->offsets[i + 1] - list->offsets[i];
	ret_stack->flags = list->flags[i];
	return 0;
}

size_t ts_sbt_reader_n_sessions(const struct ts_sbt_reader *reader)
{
	return reader->sessions.n;
}

const struct ts_row_session *ts_sbt_reader_session_at(const struct ts_sbt_reader *reader, size_t i)
{
	return item_at(&reader->sessions, i);
}

const struct ts_row_session *ts_sbt_reader_session(const struct ts_sbt_reader *reader,
						   uint32_t session)
{
	return ts_sbt_table_find(&reader->sessions, session);
}

size_t ts_sbt_reader_n_threads(const struct ts_sbt_reader *reader)
{
	return reader->threads.n;
}

const struct ts_sbt_thread *ts_sbt_reader_thread_at(const struct ts_sbt_reader *reader, size_t i)
{
	return item_at(&reader->threads, i);
}

const struct ts_row_thread *ts_sbt_reader_thread(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t thread)
{
	const struct ts_sbt_thread *found =
		ts_sbt_table_find(&reader->threads, key_of(session, thread));

	return found ? &found->row : NULL;
}

size_t ts_sbt_reader_n_threads_of(const struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_table *table = &reader->threads;

	/* 0 is no thread's id, but an untrusted file may use it. */
	return ts_sbt_table_count_to(table, key_of(session, UINT32_MAX)) -
	       (session ? ts_sbt_table_count_to(table, key_of(session, 0) - 1) : 0);
}

size_t ts_sbt_reader_n_devices(const struct ts_sbt_reader *reader)
{
	return reader->devices.n;
}

const struct ts_sbt_device *ts_sbt_reader_device_at(const struct ts_sbt_reader *reader, size_t i)
{
	return item_at(&reader->devices, i);
}

const struct ts_row_device *ts_sbt_reader_device(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t device)
{
	const struct ts_sbt_device *found =
		ts_sbt_table_find(&reader->devices, key_of(session, device));

	return found ? &found->row : NULL;
}

size_t ts_sbt_reader_n_modules(const struct ts_sbt_reader *reader)
{
	return reader->modules.n;
}

const struct ts_sbt_module *ts_sbt_reader_module_at(const struct ts_sbt_reader *reader, size_t i)
{
	return item_at(&reader->modules, i);
}

size_t ts_sbt_reader_n_names(const struct ts_sbt_reader *reader)
{
	return reader->names.n;
}

const struct ts_sbt_name *ts_sbt_reader_name_at(const struct ts_sbt_reader *reader, size_t i)
{
	return item_at(&reader->names, i);
}

size_t ts_sbt_reader_n_metadata(const struct ts_sbt_reader *reader)
{
	return reader->metadata.n;
}

void ts_sbt_reader_metadata_at(struct ts_sbt_reader *reader, size_t i, const char **ret_key,
			       const char **ret_value)
{
	const struct ts_row_metadata *row = item_at(&reader->metadata, i);

	*ret_key = row ? ts_sbt_reader_string(reader, row->key, NULL) : NULL;
	*ret_value = row ? ts_sbt_reader_string(reader, row->value, NULL) : NULL;
}

const char *ts_sbt_reader_metadata(struct ts_sbt_reader *reader, const char *key)
{
	for (size_t i = 0; i < reader->metadata.n; i++) {
		const char *found, *value;

		ts_sbt_reader_metadata_at(reader, i, &found, &value);
		if (found && !strcmp(found, key))
			return value;
	}
	return NULL;
}
