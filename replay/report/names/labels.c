/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of the application's names for threads, streams and categories, sorted once by named
 * object, then searched. resolver.c calls this file.
 *
 * A name row names a stream by its handle, but other rows have CUPTI's stream ids. If the name row
 * lacks the ids, a `stream` row maps the handle to the ids.
 */
#include "replay/report/names/labels.h"

#include "proto/abi/grow.h"

/* Limit of `stream` rows that are searched for handles. */
#define MAX_STREAM_ROWS (1u << 20)

struct entry {
	uint64_t object;
	uint32_t session;
	uint32_t kind;
	uint32_t domain;
	uint32_t name;
	uint64_t order; /* the highest order wins */
};

struct ts_labels {
	struct entry *entries;
	size_t n, n_allocated;
};

static uint64_t stream_object(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
	if (a->session != b->session)
		return a->session < b->session ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = compare_keys(x, y);

	return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

static int add(struct ts_labels *labels, const struct entry *entry)
{
	if (TS_GROW(labels->entries, labels->n_allocated, labels->n + 1))
		return -ENOMEM;
	labels->entries[labels->n++] = *entry;
	return 0;
}

/* Returns the last entry with this key, or NULL. The entries must be sorted. */
static const struct entry *find(const struct ts_labels *labels, const struct entry *key)
{
	size_t low = 0, high = labels->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&labels->entries[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || compare_keys(&labels->entries[low - 1], key))
		return NULL;
	return &labels->entries[low - 1];
}

static void sort(struct ts_labels *labels)
{
	if (labels->n)
		qsort(labels->entries, labels->n, sizeof(*labels->entries), compare);
}

static int take_names(struct ts_labels *labels, struct ts_sbt_reader *reader, bool *ret_by_handle)
{
	size_t n = ts_sbt_reader_n_names(reader);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_sbt_name *name = ts_sbt_reader_name_at(reader, i);
		struct entry entry = {
			.object = name->row.object,
			.session = name->session,
			.kind = name->row.kind,
			.domain = name->row.kind == TS_NAME_CATEGORY ? name->row.domain : 0,
			.name = name->row.name,
			.order = i,
		};

		/*
		 * Until take_streams() finds the stream's ids, its entry has a kind for which no
		 * caller searches.
		 */
		if (entry.kind == TS_NAME_STREAM && name->row.stream != TS_NO_DEVICE)
			entry.object = stream_object(name->row.context, name->row.stream);
		else if (entry.kind == TS_NAME_STREAM)
			entry.kind = UINT32_MAX;
		*ret_by_handle = *ret_by_handle || entry.kind == UINT32_MAX;
		r = add(labels, &entry);
	}
	sort(labels);
	return r;
}

/*
 * Finds the ids of named streams that have only a handle. For each of them, adds an entry with the
 * ids, and then sorts all entries again.
 */
static int take_streams(struct ts_labels *labels, struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_STREAM)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_labels found = {0};
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	for (size_t i = 0; !r && i < MAX_STREAM_ROWS && !ts_sbt_cursor_next(cursor, &row); i++) {
		struct entry key = {.object = row.stream->handle,
				    .session = row.session,
				    .kind = UINT32_MAX};
		const struct entry *name = find(labels, &key);

		if (!name)
			continue;
		key = *name;
		key.kind = TS_NAME_STREAM;
		key.object = stream_object(row.stream->context, row.stream->stream);
		r = add(&found, &key);
	}
	for (size_t i = 0; !r && i < found.n; i++)
		r = add(labels, &found.entries[i]);
	free(found.entries);
	sort(labels);
	return r;
}

int ts_labels_new(struct ts_sbt_reader *reader, struct ts_labels **ret_labels)
{
	struct ts_labels *labels = calloc(1, sizeof(*labels));
	bool by_handle = false;
	int r;

	if (!labels)
		return -ENOMEM;
	r = take_names(labels, reader, &by_handle);
	if (!r && by_handle)
		r = take_streams(labels, reader);
	if (r) {
		ts_labels_free(labels);
		return r;
	}
	*ret_labels = labels;
	return 0;
}

void ts_labels_free(struct ts_labels *labels)
{
	if (!labels)
		return;
	free(labels->entries);
	free(labels);
}

uint32_t ts_labels_find(const struct ts_labels *labels, uint32_t session, enum ts_name_kind kind,
			uint32_t domain, uint64_t object)
{
	const struct entry key = {.object = object,
				  .session = session,
				  .kind = kind,
				  .domain = domain};
	const struct entry *found = labels ? find(labels, &key) : NULL;

	return found ? found->name : 0;
}

uint32_t ts_labels_stream(const struct ts_labels *labels, uint32_t session, uint32_t context,
			  uint32_t stream)
{
	uint32_t name =
		ts_labels_find(labels, session, TS_NAME_STREAM, 0, stream_object(context, stream));

	/*
	 * An entry has context 0 if the stream's context was unknown when the application named the
	 * stream.
	 */
	return name ? name
		    : ts_labels_find(labels, session, TS_NAME_STREAM, 0, stream_object(0, stream));
}
