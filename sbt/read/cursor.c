/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the rows of many blocks in order of time. Replay, exports, copies and `tsctl` read rows
 * through a cursor. The rows of a block are in order, so each block is a stream. A heap holds the
 * streams that have begun; the other blocks wait in order of their earliest row. A block is opened
 * when its time comes and closed after its last row, so mostly a few blocks are open.
 *
 * If more blocks overlap than memory allows, the least recently used streams free their bytes, and
 * decode them again when their rows are due. Many streams share the memory by smaller batches, so
 * that a batch rarely has to be decoded again.
 *
 *     waiting --open_next()--> columns --decode_batch()--> batch of rows --next()--> caller
 *                              freed first by evict()      freed last by evict()
 */

#include "proto/abi/grow.h"
#include "proto/abi/heap.h"
#include "sbt/read/filter.h"
#include "sbt/read/threads/ahead.h"
#include "sbt/read/threads/jobs.h"
#include "sbt/read/threads/prefetch.h"
#include "sbt/tap.h"

#define MIN_BATCH_ROWS 16u
#define MAX_BATCH_ROWS 256u
#define MAX_OPEN_BYTES (128ull * 1024 * 1024) /* if ts_sbt_cursor_limit() was not called */
#define BATCHES_SHARE  4u		      /* batches may take one part in 4 of the limit */
/* limit of open streams, because each holds a struct and at least the smallest batch */
#define MAX_STREAMS (16u * 1024)
/*
 * A cursor reads ahead in a thread after it has decoded this many blocks, if TS_SBT_THREADS_ROWS
 * rows or more wait in other blocks. Cursors of short traces, and of callers that need few rows,
 * mostly end before.
 */
#define AHEAD_BLOCKS 6u
/* A caller that sets a smaller limit of memory wants no queue of rows. */
#define AHEAD_BYTES (16ull * 1024 * 1024)
/*
 * With the thread that reads ahead and the caller's, further threads decode the next blocks: half
 * of all threads, because the caller may use some for its own work. Their rows may take one part
 * in PREFETCH_SHARE of the limit of memory.
 */
#define PREFETCH_THREADS 3u /* least number of threads in all */
#define PREFETCH_SHARE	 2u

/*
 * Memory that a stream can free. Columns are freed first, because they are needed only after the
 * batch.
 */
enum held {
	HELD_COLUMNS,
	HELD_BATCH,
	HELD_COUNT
};

struct stream {
	uint64_t block; /* number in the list */
	uint32_t type;
	uint32_t session;
	uint32_t batch_n;		  /* rows of the batch */
	uint32_t batch_i;		  /* position of the present row */
	uint32_t batch_capacity;	  /* rows that fit `batch` */
	uint64_t start_ns;		  /* of the present row */
	struct ts_block_columns *columns; /* NULL: freed */
	struct ts_row_batch *batch;	  /* NULL: freed */
	struct {
		struct stream *older;
		struct stream *newer;
	} used[HELD_COUNT];
	struct ts_block_decoder decoder;
	struct ts_block_decoder before; /* state of the decoder before the batch */
};

/* Streams that hold columns, or a batch, in order of last use. */
struct use {
	struct stream *oldest;
	struct stream *newest;
};

struct waiting {
	uint64_t earliest_ns;
	uint64_t block;
};

struct ts_sbt_cursor {
	struct ts_sbt_reader *reader; /* the caller's, or the thread's that reads ahead */
	struct ts_sbt_reader *caller;
	struct ts_row_ahead *ahead;    /* NULL: the caller's thread merges */
	struct ts_row_batch **retired; /* with `ahead`: batches that its consumer may still read */
	/* With `ahead`, of its thread: decodes the blocks up to waiting[next_prefetch - 1]. */
	struct ts_prefetch *prefetch;
	size_t next_prefetch;
	unsigned n_prefetch_threads; /* to start with the next block; 0: none, or started */
	ts_sbt_tap_fn tap;	     /* NULL: none */
	void *tap_data;
	bool has_lost_block;   /* and next() has not reported it */
	uint64_t ahead_blocks; /* number of decoded blocks to start the thread at */
	struct ts_sbt_cursor_options options;
	struct waiting *waiting; /* in order of earliest_ns */
	size_t n_waiting;
	size_t next_waiting;
	struct stream **heap;
	size_t n_heap;
	size_t capacity;
	uint64_t open_bytes;
	uint64_t max_open_bytes;
	struct use used[HELD_COUNT];
	struct ts_row_filter filters[TS_ROW_EVENT_END];
	uint64_t n_decoded;
	bool advance;	   /* the heap's first row was returned to the caller */
	uint64_t alone_ns; /* other streams have no rows before this time */
};

static void use_remove(struct ts_sbt_cursor *cursor, struct stream *stream, enum held held)
{
	struct stream *older = stream->used[held].older, *newer = stream->used[held].newer;
	struct use *use = &cursor->used[held];

	*(older ? &older->used[held].newer : &use->oldest) = newer;
	*(newer ? &newer->used[held].older : &use->newest) = older;
}

static void use_append(struct ts_sbt_cursor *cursor, struct stream *stream, enum held held)
{
	struct use *use = &cursor->used[held];

	stream->used[held].older = use->newest;
	stream->used[held].newer = NULL;
	*(use->newest ? &use->newest->used[held].newer : &use->oldest) = stream;
	use->newest = stream;
}

static size_t batch_bytes(const struct stream *stream)
{
	return (size_t)stream->batch_capacity * stream->decoder.schema->row_bytes;
}

static void free_columns(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	if (!stream->columns)
		return;
	cursor->open_bytes -= ts_block_columns_bytes(stream->columns);
	use_remove(cursor, stream, HELD_COLUMNS);
	ts_spares_put(&cursor->reader->spares, stream->columns);
	stream->columns = NULL;
}

static void free_batch(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	if (!stream->batch)
		return;
	cursor->open_bytes -= batch_bytes(stream);
	use_remove(cursor, stream, HELD_BATCH);
	if (cursor->retired) {
		stream->batch->next = *cursor->retired;
		*cursor->retired = stream->batch;
	} else {
		free(stream->batch);
	}
	stream->batch = NULL;
}

static void stream_free(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	free_columns(cursor, stream);
	free_batch(cursor, stream);
	cursor->open_bytes -= sizeof(*stream);
	free(stream);
}

/* Frees memory of other streams than `keep` until `bytes` more fit the limit. */
static void evict(struct ts_sbt_cursor *cursor, const struct stream *keep, uint64_t bytes)
{
	for (int held = 0; held < HELD_COUNT; held++) {
		struct stream *stream = cursor->used[held].oldest;

		while (stream && cursor->open_bytes + bytes > cursor->max_open_bytes) {
			struct stream *newer = stream->used[held].newer;

			if (stream != keep && held == HELD_COLUMNS)
				free_columns(cursor, stream);
			else if (stream != keep)
				free_batch(cursor, stream);
			stream = newer;
		}
	}
}

static int load(struct ts_sbt_cursor *cursor, struct stream *stream,
		struct ts_sbt_block_header *ret_header)
{
	const struct ts_sbt_block *block = &cursor->reader->blocks[stream->block];
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	uint8_t *raw = NULL;
	int r;

	evict(cursor, stream, block->raw_bytes);
	r = ts_sbt_reader_load(cursor->reader, stream->block, ret_header, &raw);
	r = r
		    ?: ts_sbt_reader_columns(cursor->reader, stream->block, schema, ret_header, raw,
					     &stream->columns);
	ts_spares_put(&cursor->reader->spares, raw);
	if (r)
		return r;
	evict(cursor, stream, ts_block_columns_bytes(stream->columns));
	cursor->open_bytes += ts_block_columns_bytes(stream->columns);
	cursor->n_decoded++;
	use_append(cursor, stream, HELD_COLUMNS);
	return 0;
}

/* Returns the number of rows of a batch. More streams get smaller batches. */
static uint32_t batch_rows(const struct ts_sbt_cursor *cursor, const struct stream *stream)
{
	uint64_t rows = cursor->max_open_bytes / BATCHES_SHARE /
			((cursor->n_heap + 1) * (uint64_t)stream->decoder.schema->row_bytes);

	return rows < MIN_BATCH_ROWS   ? MIN_BATCH_ROWS
	       : rows > MAX_BATCH_ROWS ? MAX_BATCH_ROWS
				       : (uint32_t)rows;
}

/*
 * Allocates a batch of `n` rows. The old batch is freed if it is too small, or more than twice as
 * large, or if the consumer may still read it.
 */
static int take_batch(struct ts_sbt_cursor *cursor, struct stream *stream, uint32_t n)
{
	if (stream->batch &&
	    (cursor->retired || stream->batch_capacity < n || stream->batch_capacity / 2 > n))
		free_batch(cursor, stream);
	if (stream->batch)
		return 0;
	stream->batch_capacity = n;
	evict(cursor, stream, batch_bytes(stream));
	stream->batch = malloc(sizeof(*stream->batch) + batch_bytes(stream));
	if (!stream->batch)
		return ts_sbt_reader_fail(cursor->reader, -ENOMEM, 0, "no memory for rows");
	stream->batch->n_bytes = batch_bytes(stream);
	cursor->open_bytes += batch_bytes(stream);
	use_append(cursor, stream, HELD_BATCH);
	return 0;
}

/* Decodes the next `n` rows; the block has at least `n` left. */
static int decode_batch(struct ts_sbt_cursor *cursor, struct stream *stream, uint32_t n)
{
	struct ts_sbt_block_header header;
	const char *why;
	int r;

	if (!stream->columns) {
		r = load(cursor, stream, &header);
		if (r)
			return r;
	}
	r = take_batch(cursor, stream, n);
	if (r)
		return r;
	stream->before = stream->decoder;
	why = ts_block_decoder_next(&stream->decoder, stream->columns, stream->batch->rows, n);
	if (why)
		return ts_sbt_reader_fail(cursor->reader, TS_SBT_E_CORRUPT,
					  cursor->reader->blocks[stream->block].off, "%s", why);
	stream->batch_n = n;
	/* Marks the columns as used last. After the last batch, frees them. */
	if (stream->decoder.n_left) {
		use_remove(cursor, stream, HELD_COLUMNS);
		use_append(cursor, stream, HELD_COLUMNS);
	} else {
		free_columns(cursor, stream);
	}
	return 0;
}

/* Returns the present row; decodes its batch again if the batch was freed. */
static int present_row(struct ts_sbt_cursor *cursor, struct stream *stream, const uint8_t **ret_row)
{
	int r;

	if (!stream->batch) {
		stream->decoder = stream->before;
		r = decode_batch(cursor, stream, stream->batch_n);
		if (r)
			return r;
	}
	if (cursor->used[HELD_BATCH].newest != stream) {
		use_remove(cursor, stream, HELD_BATCH);
		use_append(cursor, stream, HELD_BATCH);
	}
	*ret_row =
		stream->batch->rows + (size_t)stream->batch_i * stream->decoder.schema->row_bytes;
	return 0;
}

/*
 * Advances from the present row to the first row that passes window and filters. The present row
 * may be this row. TS_SBT_E_END: no such row is left.
 */
static int settle(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	const struct ts_row_schema *schema = stream->decoder.schema;
	const uint8_t *row;
	int r;

	for (;;) {
		if (stream->batch_i == stream->batch_n) {
			uint32_t n = batch_rows(cursor, stream);

			if (!stream->decoder.n_left)
				return TS_SBT_E_END;
			r = decode_batch(cursor, stream,
					 stream->decoder.n_left < n ? stream->decoder.n_left : n);
			if (r)
				return r;
			stream->batch_i = 0;
		}
		r = present_row(cursor, stream, &row);
		if (r)
			return r;
		stream->start_ns = ts_row_start_ns(row);
		if (stream->start_ns > cursor->options.to_ns)
			return TS_SBT_E_END;
		if (ts_row_end_ns(schema, row) >= cursor->options.from_ns &&
		    ts_row_passes(&cursor->filters[stream->type], row))
			return 0;
		stream->batch_i++;
	}
}

static inline bool is_before(struct stream *const *a, struct stream *const *b)
{
	if ((*a)->start_ns != (*b)->start_ns)
		return (*a)->start_ns < (*b)->start_ns;
	if ((*a)->type != (*b)->type)
		return (*a)->type < (*b)->type;
	return (*a)->block < (*b)->block;
}

TS_HEAP_DEFINE(streams, struct stream *, is_before)

static int push(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	if (TS_GROW(cursor->heap, cursor->capacity, cursor->n_heap + 1))
		return ts_sbt_reader_fail(cursor->reader, -ENOMEM, 0, "no memory");
	streams_push(cursor->heap, &cursor->n_heap, stream);
	return 0;
}

static void remove_first(struct ts_sbt_cursor *cursor)
{
	stream_free(cursor, streams_pop(cursor->heap, &cursor->n_heap));
}

/* Returns the time from which rows of a type are read; 0: all rows. */
static uint64_t resume_ns(const struct ts_sbt_cursor *cursor, uint32_t type)
{
	const struct ts_sbt_resume *resume = cursor->options.resume;

	if (!resume)
		return 0;
	return resume->early_types & TS_ROW_BIT(type) ? resume->early_ns : resume->start_ns;
}

/* Skips the rows before the window by their times, without assembling them. */
static int skip(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	uint64_t ns = resume_ns(cursor, stream->type);
	const char *why = NULL;

	if (cursor->options.from_ns)
		why = ts_block_decoder_skip(&stream->decoder, stream->columns,
					    cursor->options.from_ns, false);
	if (!why && ns)
		why = ts_block_decoder_skip(&stream->decoder, stream->columns, ns, true);
	stream->before = stream->decoder;
	return why ? ts_sbt_reader_fail(cursor->reader, TS_SBT_E_CORRUPT,
					cursor->reader->blocks[stream->block].off, "%s", why)
		   : 0;
}

/* Adds the block that is opened now and the next ones, as many as the queue holds. */
static void prefetch(struct ts_sbt_cursor *cursor)
{
	if (cursor->n_prefetch_threads)
		(void)ts_prefetch_new(cursor->reader, cursor->n_prefetch_threads,
				      cursor->max_open_bytes / PREFETCH_SHARE, &cursor->prefetch);
	cursor->n_prefetch_threads = 0;
	if (cursor->next_prefetch < cursor->next_waiting - 1)
		cursor->next_prefetch = cursor->next_waiting - 1;
	while (cursor->prefetch && cursor->next_prefetch < cursor->n_waiting &&
	       ts_prefetch_add(cursor->prefetch, cursor->waiting[cursor->next_prefetch].block))
		cursor->next_prefetch++;
}

/*
 * Takes the rows of a block that a thread has decoded. They become one batch. Returns false if the
 * cursor has to decode the block. If the rows of open blocks take much memory, batches have to be
 * small, so the threads are ended.
 */
static bool take_prefetched(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	const struct ts_sbt_block *block = &cursor->reader->blocks[stream->block];
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	struct ts_sbt_block_header header;

	prefetch(cursor);
	if (!cursor->prefetch)
		return false;
	if (cursor->open_bytes + (uint64_t)block->n_rows * schema->row_bytes >
	    cursor->max_open_bytes / PREFETCH_SHARE) {
		ts_prefetch_free(ts_take_ptr(cursor->prefetch));
		return false;
	}
	stream->batch = ts_prefetch_take(cursor->prefetch, stream->block, &header);
	if (!stream->batch)
		return false;
	ts_block_decoder_init(&stream->decoder, schema, &header);
	stream->before = stream->decoder;
	stream->decoder.n_left = 0;
	stream->batch_n = stream->batch_capacity = header.n_rows;
	cursor->open_bytes += batch_bytes(stream);
	cursor->n_decoded++;
	use_append(cursor, stream, HELD_BATCH);
	if (cursor->reader->on_rows)
		cursor->reader->on_rows(header.n_rows, cursor->reader->on_rows_data);
	return true;
}

/* Loads a block that the cursor decodes itself, up to the first row of the window. */
static int load_first(struct ts_sbt_cursor *cursor, struct stream *stream)
{
	struct ts_sbt_block_header header;
	int r = load(cursor, stream, &header);

	if (r)
		return r;
	ts_block_decoder_init(&stream->decoder, ts_row_schema(stream->type), &header);
	return skip(cursor, stream);
}

/* Opens the next waiting block. A block without a row in the window is closed at once. */
static int open_next(struct ts_sbt_cursor *cursor)
{
	uint64_t i = cursor->waiting[cursor->next_waiting].block;
	const struct ts_sbt_block *block = &cursor->reader->blocks[i];
	struct stream *stream;
	int r = 0;

	if (cursor->n_heap == MAX_STREAMS)
		return ts_sbt_reader_fail(cursor->reader, TS_SBT_E_LIMIT, block->off,
					  "more than %u blocks overlap in time", MAX_STREAMS);
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return ts_sbt_reader_fail(cursor->reader, -ENOMEM, block->off, "no memory");
	cursor->next_waiting++;
	evict(cursor, NULL, sizeof(*stream));
	cursor->open_bytes += sizeof(*stream);
	stream->block = i;
	stream->type = block->type;
	stream->session = block->session;
	if (!take_prefetched(cursor, stream))
		r = load_first(cursor, stream);
	if (!r)
		r = settle(cursor, stream);
	if (!r)
		r = push(cursor, stream);
	if (r) {
		stream_free(cursor, stream);
		return r == TS_SBT_E_END ? 0 : r;
	}
	return 0;
}

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->earliest_ns != y->earliest_ns)
		return x->earliest_ns < y->earliest_ns ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* Sets a filter per event type, and drops the types that lack a filtered column. */
static void set_filters(struct ts_sbt_cursor *cursor)
{
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
		if (!ts_row_filter_init(&cursor->filters[type], ts_row_schema(type),
					&cursor->options))
			cursor->options.types &= ~TS_ROW_BIT(type);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Drops the blocks that a resumed reader has finished: of the blocks that begin before the resume
 * time, only those in resume->begun have rows left.
 */
static void drop_read(struct ts_sbt_cursor *cursor, uint8_t *chosen)
{
	const struct ts_sbt_resume *resume = cursor->options.resume;

	for (uint64_t i = 0; resume && i < cursor->reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &cursor->reader->blocks[i];

		if (chosen[i] && block->earliest_ns < resume_ns(cursor, block->type))
			chosen[i] = resume->n_begun && bsearch(&i, resume->begun, resume->n_begun,
							       sizeof(i), compare_numbers);
	}
}

int ts_sbt_cursor_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_cursor **ret_cursor)
{
	return ts_sbt_cursor_new_among(reader, options, NULL, ret_cursor);
}

int ts_sbt_cursor_new_among(struct ts_sbt_reader *reader,
			    const struct ts_sbt_cursor_options *options, const uint8_t *among,
			    struct ts_sbt_cursor **ret_cursor)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_freep) uint8_t *chosen = NULL;
	size_t n = 0;
	int r;

	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for a cursor");
	cursor->reader = cursor->caller = reader;
	cursor->max_open_bytes = MAX_OPEN_BYTES;
	cursor->has_lost_block = reader->lost_block.code != 0;
	cursor->ahead_blocks = AHEAD_BLOCKS;
	if (options)
		cursor->options = *options;
	if (!cursor->options.types)
		cursor->options.types = TS_ROW_EVENTS;
	if (!cursor->options.to_ns)
		cursor->options.to_ns = UINT64_MAX;
	set_filters(cursor);
	r = ts_sbt_reader_choose(reader, &cursor->options, &chosen);
	if (r)
		return r;
	drop_read(cursor, chosen);
	for (size_t i = 0; i < reader->n_blocks; i++) {
		chosen[i] &= !among || among[i];
		n += chosen[i];
	}
	cursor->waiting = calloc(n ? n : 1, sizeof(*cursor->waiting));
	if (!cursor->waiting)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for a cursor");
	for (size_t i = 0; i < reader->n_blocks; i++)
		if (chosen[i])
			cursor->waiting[cursor->n_waiting++] =
				(struct waiting){reader->blocks[i].earliest_ns, i};
	qsort(cursor->waiting, n, sizeof(*cursor->waiting), compare_waiting);
	*ret_cursor = ts_take_ptr(cursor);
	return 0;
}

void ts_sbt_cursor_limit(struct ts_sbt_cursor *cursor, uint64_t max_bytes)
{
	/* After the start, the limit belongs to the thread. */
	if (!cursor->ahead)
		cursor->max_open_bytes = max_bytes;
}

static uint64_t n_decoded(const void *data)
{
	return ((const struct ts_sbt_cursor *)data)->n_decoded;
}

size_t ts_sbt_cursor_block(const struct ts_sbt_cursor *cursor)
{
	if (cursor->ahead)
		return ts_row_ahead_block(cursor->ahead);
	return cursor->n_heap ? cursor->heap[0]->block : 0;
}

uint64_t ts_sbt_cursor_decoded(const struct ts_sbt_cursor *cursor)
{
	return cursor->ahead ? ts_row_ahead_decoded(cursor->ahead) : n_decoded(cursor);
}

void ts_sbt_cursor_free(struct ts_sbt_cursor *cursor)
{
	if (!cursor)
		return;
	ts_row_ahead_free(cursor->ahead);
	cursor->retired = NULL;
	cursor->reader = cursor->caller;
	for (size_t i = 0; i < cursor->n_heap; i++)
		stream_free(cursor, cursor->heap[i]);
	free(cursor->heap);
	free(cursor->waiting);
	free(cursor);
}

/* Advances past the row that was returned. */
static int step(struct ts_sbt_cursor *cursor)
{
	struct stream *first = cursor->heap[0];
	int r;

	cursor->advance = false;
	first->batch_i++;
	r = settle(cursor, first);
	if (r)
		remove_first(cursor);
	else
		streams_sink(cursor->heap, cursor->n_heap, 0);
	return r == TS_SBT_E_END ? 0 : r;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the earliest start of all rows outside the heap's first stream. */
static uint64_t find_alone(const struct ts_sbt_cursor *cursor)
{
	uint64_t ns = UINT64_MAX;

	for (size_t i = 1; i < 3 && i < cursor->n_heap; i++)
		ns = earlier(ns, cursor->heap[i]->start_ns);
	if (cursor->next_waiting < cursor->n_waiting)
		ns = earlier(ns, cursor->waiting[cursor->next_waiting].earliest_ns);
	return ns;
}

static void hand_out(struct ts_sbt_cursor *cursor, const struct stream *stream, const uint8_t *row,
		     struct ts_sbt_row *ret_row)
{
	ret_row->type = stream->type;
	ret_row->session = stream->session;
	ret_row->schema = stream->decoder.schema;
	ret_row->any = row;
	cursor->advance = true;
}

/*
 * The fast path: returns the next row of the same batch. False: another stream may have an earlier
 * row, the batch has ended, or the row does not pass.
 */
static bool next_alone(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row)
{
	struct stream *first = cursor->heap[0];
	const uint8_t *row;
	uint64_t start_ns;

	if (!first->batch || first->batch_i + 1 >= first->batch_n)
		return false;
	row = first->batch->rows + (first->batch_i + 1ul) * first->decoder.schema->row_bytes;
	start_ns = ts_row_start_ns(row);
	if (start_ns >= cursor->alone_ns || start_ns > cursor->options.to_ns ||
	    ts_row_end_ns(first->decoder.schema, row) < cursor->options.from_ns ||
	    !ts_row_passes(&cursor->filters[first->type], row))
		return false;
	first->batch_i++;
	first->start_ns = start_ns;
	hand_out(cursor, first, row, ret_row);
	return true;
}

static int next_merged(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row)
{
	struct stream *first;
	const uint8_t *row;
	int r;

	if (cursor->advance) {
		r = step(cursor);
		if (r)
			return r;
	}
	/* Opens every block that may begin before the earliest row, or at the same time. */
	while (cursor->next_waiting < cursor->n_waiting &&
	       (!cursor->n_heap ||
		cursor->waiting[cursor->next_waiting].earliest_ns <= cursor->heap[0]->start_ns)) {
		r = open_next(cursor);
		if (r)
			return r;
	}
	if (!cursor->n_heap)
		return TS_SBT_E_END;
	first = cursor->heap[0];
	r = present_row(cursor, first, &row);
	if (r) {
		remove_first(cursor);
		return r;
	}
	cursor->alone_ns = find_alone(cursor);
	hand_out(cursor, first, row, ret_row);
	return 0;
}

static int next_of_source(void *data, struct ts_sbt_row *ret_row, uint64_t *ret_block)
{
	struct ts_sbt_cursor *cursor = data;
	int r = 0;

	if (!cursor->advance || !next_alone(cursor, ret_row))
		r = next_merged(cursor, ret_row);
	*ret_block = r ? 0 : cursor->heap[0]->block;
	return r || !cursor->tap ? r : cursor->tap(ret_row, cursor->tap_data);
}

static void recycle(void *data, struct ts_row_batch *batch)
{
	struct ts_sbt_cursor *cursor = data;

	if (cursor->prefetch)
		ts_prefetch_give(cursor->prefetch, batch);
	else
		free(batch);
}

static void finish_source(void *data)
{
	struct ts_sbt_cursor *cursor = data;

	ts_prefetch_free(ts_take_ptr(cursor->prefetch));
}

/*
 * Starts the thread that reads ahead, if enough rows are left to pay for it. From then on, all but
 * `ahead` belongs to the thread. Without a thread, for example without memory, the cursor merges in
 * the caller's thread as before.
 */
static void start_ahead(struct ts_sbt_cursor *cursor)
{
	const struct ts_row_source source = {
		.next = next_of_source,
		.decoded = n_decoded,
		.recycle = recycle,
		.finish = finish_source,
		.data = cursor,
	};
	const unsigned n_threads = ts_sbt_reader_max_threads(cursor->reader);
	struct ts_row_ahead *ahead;
	uint64_t n_rows = 0;

	cursor->ahead_blocks = UINT64_MAX;
	for (size_t i = cursor->next_waiting; i < cursor->n_waiting && n_rows < TS_SBT_THREADS_ROWS;
	     i++)
		n_rows += cursor->reader->blocks[cursor->waiting[i].block].n_rows;
	if (n_rows < TS_SBT_THREADS_ROWS || cursor->max_open_bytes < AHEAD_BYTES || n_threads == 1)
		return;
	/* A window and a resumed reader skip rows while a block is opened: see skip(). */
	if (n_threads >= PREFETCH_THREADS && !cursor->options.from_ns && !cursor->options.resume)
		cursor->n_prefetch_threads = (n_threads - 1) / 2;
	if (!ts_row_ahead_new(cursor->reader, &source, &cursor->reader, &cursor->retired, &ahead))
		cursor->ahead = ahead;
	else
		cursor->n_prefetch_threads = 0;
}

static int next_tapped(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row)
{
	uint64_t block;

	if (cursor->n_decoded >= cursor->ahead_blocks) {
		start_ahead(cursor);
		if (cursor->ahead)
			return ts_row_ahead_next(cursor->ahead, ret_row);
	}
	return next_of_source(cursor, ret_row, &block);
}

int ts_sbt_cursor_next(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row)
{
	if (cursor->has_lost_block) {
		cursor->has_lost_block = false;
		ts_sbt_reader_note_lost_block(cursor->caller);
		return TS_SBT_E_CORRUPT;
	}
	if (cursor->ahead)
		return ts_row_ahead_next(cursor->ahead, ret_row);
	if (cursor->tap)
		return next_tapped(cursor, ret_row);
	if (cursor->advance && next_alone(cursor, ret_row))
		return 0;
	if (cursor->n_decoded >= cursor->ahead_blocks) {
		start_ahead(cursor);
		if (cursor->ahead)
			return ts_row_ahead_next(cursor->ahead, ret_row);
	}
	return next_merged(cursor, ret_row);
}

void ts_sbt_cursor_tap(struct ts_sbt_cursor *cursor, ts_sbt_tap_fn on_row, void *data)
{
	cursor->tap = on_row;
	cursor->tap_data = data;
}
