/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of a session: its open blocks, its definitions, its checkpoint. The daemon, copy.c and
 * programs with libtracesmith call this module. A session writer encodes without a lock, in the
 * thread that owns it, and hands whole blocks to the file's writer (ts_sbt_writer_commit()).
 *
 *     rows, stacks, blobs -> builders and lists -> encoded blocks in memory -> seal: one commit
 *     heading (the session row), definitions, events (ready), checkpoint: the order in the file
 */

#include "sbt/write/encode-calls.h"
#include "sbt/write/writer-internal.h"

/* A block of stacks ends at this many frames. */
#define STACK_BLOCK_FRAMES (256u * 1024)

/*
 * A block of blobs ends at this many bytes, because reading one blob decompresses the whole block.
 */
#define BLOB_BLOCK_BYTES (4u * 1024 * 1024)

/* Memory without rows that is kept after a seal: of all builders together, and of each buffer. */
#define KEPT_BUILDER_BYTES (12u * 1024 * 1024)
#define KEPT_BUFFER_BYTES  (4u * 1024 * 1024)

/* A seal of more pending bytes does not make a small file. */
#define MAX_SMALL_SEAL_BYTES (1024u * 1024)

struct ts_sbt_session_writer {
	struct ts_sbt_writer *writer;
	struct ts_row_session row;
	uint64_t quantum_ns; /* of host times; 0: no rounding */
	bool row_changed;
	bool dropped; /* after ts_sbt_session_writer_drop(): only the session's end is written */
	uint32_t n_threads;
	uint32_t n_stacks;

	struct ts_builder *builders[TS_ROW_COUNT];
	uint64_t open_bytes;
	/* Bytes of rows that may be added before pending bytes are summed again. */
	uint64_t capacity_bytes;
	uint64_t open_rows; /* of events */
	uint64_t ready_rows;

	uint32_t first_pending_stack;
	struct ts_buffer stack_lengths; /* u32 each */
	struct ts_buffer stack_flags;	/* u32 each */
	struct ts_buffer stack_frames;	/* u64 each */

	uint32_t n_blobs;
	uint32_t first_pending_blob;
	struct ts_buffer blob_lengths; /* u32 each */
	struct ts_buffer blob_flags;   /* u32 each */
	struct ts_buffer blob_hashes;  /* two u64 each */
	struct ts_buffer blob_bytes;

	struct ts_encoder encoder;
	/* The session row. This row is written first, because a write may be cut short. */
	struct ts_buffer heading;
	struct ts_buffer definitions;  /* encoded blocks, not written */
	struct ts_buffer ready;	       /* encoded event blocks, written after the definitions */
	uint64_t n_ready;	       /* blocks in `ready` */
	uint64_t calls_at;	       /* number in `ready` of the block of encoder.calls */
	struct ts_summaries summaries; /* of these blocks, numbered from 0 */
};

int ts_sbt_session_writer_new(struct ts_sbt_writer *writer, const struct ts_row_session *row,
			      struct ts_sbt_session_writer **ret_session)
{
	struct ts_sbt_session_writer *session = calloc(1, sizeof(*session));

	if (!session)
		return -ENOMEM;
	session->writer = writer;
	session->first_pending_stack = 1;
	session->first_pending_blob = 1;
	pthread_mutex_lock(&writer->mutex);
	session->row.session = ++writer->n_sessions;
	session->quantum_ns = writer->quantum_ns;
	session->encoder.is_short = writer->is_short;
	writer->n_open++;
	pthread_mutex_unlock(&writer->mutex);
	ts_sbt_session_writer_update(session, row);
	*ret_session = session;
	return 0;
}

void ts_sbt_session_writer_free(struct ts_sbt_session_writer *session)
{
	if (!session)
		return;
	pthread_mutex_lock(&session->writer->mutex);
	session->writer->n_open--;
	pthread_mutex_unlock(&session->writer->mutex);
	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		ts_builder_free(session->builders[type]);
	ts_buffer_deinit(&session->stack_lengths);
	ts_buffer_deinit(&session->stack_flags);
	ts_buffer_deinit(&session->stack_frames);
	ts_buffer_deinit(&session->blob_lengths);
	ts_buffer_deinit(&session->blob_flags);
	ts_buffer_deinit(&session->blob_hashes);
	ts_buffer_deinit(&session->blob_bytes);
	ts_buffer_deinit(&session->heading);
	ts_buffer_deinit(&session->definitions);
	ts_buffer_deinit(&session->ready);
	ts_summaries_deinit(&session->summaries);
	ts_encoder_deinit(&session->encoder);
	free(session);
}

uint32_t ts_sbt_session_writer_number(const struct ts_sbt_session_writer *session)
{
	return session->row.session;
}

int ts_sbt_session_writer_update(struct ts_sbt_session_writer *session,
				 const struct ts_row_session *row)
{
	uint32_t number = session->row.session;

	session->row = *row;
	session->row.session = number;
	session->row_changed = true;
	return 0;
}

static int encode_stacks(struct ts_sbt_session_writer *session)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_STACK,
					     .session = session->row.session,
					     .first_id = session->first_pending_stack};
	uint32_t n = (uint32_t)(session->stack_lengths.n / sizeof(uint32_t));
	uint32_t n_frames = (uint32_t)(session->stack_frames.n / sizeof(uint64_t));
	struct ts_encoder *encoder = &session->encoder;
	int r;

	if (!n)
		return 0;
	header.n_rows = n;
	header.n_columns = n_frames ? 3 : 2;
	r = ts_encoder_begin(encoder, header.n_columns);
	if (!r)
		r = ts_encoder_column(encoder, 0, TS_SBT_STACK_LENGTH, session->stack_lengths.bytes,
				      n, 4, false);
	if (!r)
		r = ts_encoder_column(encoder, 1, TS_SBT_STACK_FLAGS, session->stack_flags.bytes, n,
				      4, false);
	if (!r && n_frames)
		r = ts_encoder_column(encoder, 2, TS_SBT_STACK_FRAMES, session->stack_frames.bytes,
				      n_frames, 8, false);
	if (!r)
		r = ts_encoder_end(encoder, &header, &session->definitions);
	if (r)
		return r;
	session->stack_lengths.n = session->stack_flags.n = session->stack_frames.n = 0;
	session->first_pending_stack += n;
	return 0;
}

int ts_sbt_session_writer_add_stack(struct ts_sbt_session_writer *session, const uint64_t *frames,
				    uint32_t n_frames, uint32_t flags, uint32_t *ret_id)
{
	int r = 0;

	if (n_frames > TS_STACK_MAX_FRAMES)
		return -E2BIG;
	if (session->dropped)
		return -EINVAL;
	if (session->n_stacks == UINT32_MAX)
		return -EOVERFLOW;
	session->capacity_bytes = 0;
	if (session->stack_lengths.n == TS_SBT_MAX_ROWS * sizeof(uint32_t) ||
	    session->stack_frames.n / sizeof(uint64_t) >= STACK_BLOCK_FRAMES)
		r = encode_stacks(session);
	if (!r)
		r = ts_buffer_append(&session->stack_frames, frames, n_frames * sizeof(*frames));
	if (r)
		return r;
	r = ts_buffer_append(&session->stack_flags, &flags, sizeof(flags));
	if (!r) {
		r = ts_buffer_append(&session->stack_lengths, &n_frames, sizeof(n_frames));
		if (r)
			session->stack_flags.n -= sizeof(flags);
	}
	if (r) {
		session->stack_frames.n -= n_frames * sizeof(*frames);
		return r;
	}
	*ret_id = ++session->n_stacks;
	return 0;
}

static int encode_blobs(struct ts_sbt_session_writer *session)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_BLOB,
					     .session = session->row.session,
					     .first_id = session->first_pending_blob};
	uint32_t n = (uint32_t)(session->blob_lengths.n / sizeof(uint32_t));
	struct ts_encoder *encoder = &session->encoder;
	int r;

	if (!n)
		return 0;
	header.n_rows = n;
	header.n_columns = session->blob_bytes.n ? 4 : 3;
	r = ts_encoder_begin(encoder, header.n_columns);
	if (!r)
		r = ts_encoder_column(encoder, 0, TS_SBT_BLOB_LENGTH, session->blob_lengths.bytes,
				      n, 4, false);
	if (!r)
		r = ts_encoder_column(encoder, 1, TS_SBT_BLOB_FLAGS, session->blob_flags.bytes, n,
				      4, false);
	if (!r)
		r = ts_encoder_column(encoder, 2, TS_SBT_BLOB_HASH, session->blob_hashes.bytes,
				      2 * n, 8, false);
	if (!r && session->blob_bytes.n)
		r = ts_encoder_column(encoder, 3, TS_SBT_BLOB_BYTES, session->blob_bytes.bytes,
				      (uint32_t)session->blob_bytes.n, 1, false);
	if (!r)
		r = ts_encoder_end(encoder, &header, &session->definitions);
	if (r)
		return r;
	session->blob_lengths.n = session->blob_flags.n = session->blob_hashes.n = 0;
	session->blob_bytes.n = 0;
	session->first_pending_blob += n;
	return 0;
}

int ts_sbt_session_writer_add_blob(struct ts_sbt_session_writer *session, const void *bytes,
				   uint32_t n_bytes, uint32_t flags, const uint64_t hash[2],
				   uint32_t *ret_blob)
{
	struct ts_buffer *lengths = &session->blob_lengths, *all_flags = &session->blob_flags;
	struct ts_buffer *hashes = &session->blob_hashes, *all = &session->blob_bytes;
	struct ts_buffer before[] = {*lengths, *all_flags, *hashes, *all};
	int r = 0;

	if (n_bytes > TS_BLOB_MAX_BYTES)
		return -E2BIG;
	if (session->dropped)
		return -EINVAL;
	if (session->n_blobs == UINT32_MAX)
		return -EOVERFLOW;
	if (ts_sbt_session_writer_pending_bytes(session) >= TS_SBT_MAX_PENDING_BYTES)
		return TS_SBT_E_FULL;
	session->capacity_bytes = 0;
	if (lengths->n == TS_SBT_MAX_ROWS * sizeof(uint32_t) || all->n >= BLOB_BLOCK_BYTES) {
		r = encode_blobs(session);
		for (size_t i = 0; i < TS_ARRAY_LEN(before); i++)
			before[i].n = 0;
	}
	r = r ?: ts_buffer_append(lengths, &n_bytes, sizeof(n_bytes));
	r = r ?: ts_buffer_append(all_flags, &flags, sizeof(flags));
	r = r ?: ts_buffer_append(hashes, hash, 2 * sizeof(*hash));
	r = r ?: ts_buffer_append(all, bytes, n_bytes);
	if (r) {
		lengths->n = before[0].n;
		all_flags->n = before[1].n;
		hashes->n = before[2].n;
		all->n = before[3].n;
		return r;
	}
	*ret_blob = ++session->n_blobs;
	return 0;
}

/* Adds the summaries of the builder, which is about to become the next block. */
static int summarise(struct ts_sbt_session_writer *session, struct ts_builder *builder)
{
	struct ts_summary_source source;
	int r = ts_builder_settle(builder, &session->encoder);

	if (r)
		return r;
	ts_summary_of_builder(builder, &source);
	return ts_summarise(&source, session->n_ready, &session->summaries);
}

static int encode_type(struct ts_sbt_session_writer *session, struct ts_builder *builder)
{
	const struct ts_row_schema *schema = builder->schema;
	uint32_t n_rows = ts_builder_rows(builder);
	uint64_t bytes = ts_builder_bytes(builder);
	struct ts_summaries_mark before;
	int r;

	session->capacity_bytes = 0;
	session->encoder.calls_distance = (uint32_t)(session->n_ready - session->calls_at);
	ts_summaries_mark(&session->summaries, &before);
	r = schema->is_event && n_rows ? summarise(session, builder) : 0;
	r = r
		    ?: ts_builder_encode(builder, &session->encoder, session->row.session,
					 schema->is_event		  ? &session->ready
					 : schema->type == TS_ROW_SESSION ? &session->heading
									  : &session->definitions);
	if (r) {
		ts_summaries_rewind(&session->summaries, &before);
		return r;
	}
	session->open_bytes -= bytes;
	if (schema->is_event && n_rows) {
		session->n_ready++;
		session->open_rows -= n_rows;
		session->ready_rows += n_rows;
	}
	return 0;
}

/* Returns the builder of a type with room for at least one row. A full builder is encoded. */
static int builder_of(struct ts_sbt_session_writer *session, unsigned type,
		      struct ts_builder **ret_builder)
{
	struct ts_builder **builder = &session->builders[type];
	int r = 0;

	if (ts_unlikely(!*builder))
		r = ts_builder_new(ts_row_schema(type), builder);
	else if (ts_unlikely(ts_builder_rows(*builder) == TS_SBT_BLOCK_ROWS))
		r = encode_type(session, *builder);
	*ret_builder = *builder;
	return r;
}

static void count_rows(struct ts_sbt_session_writer *session, const struct ts_builder *builder,
		       uint32_t n)
{
	uint64_t n_bytes = (uint64_t)n * builder->schema->row_bytes;

	session->open_bytes += n_bytes;
	session->capacity_bytes -=
		n_bytes < session->capacity_bytes ? n_bytes : session->capacity_bytes;
	session->open_rows += builder->schema->is_event ? n : 0;
}

static int add_row(struct ts_sbt_session_writer *session, unsigned type, const void *row)
{
	struct ts_builder *builder;
	int r = builder_of(session, type, &builder);

	if (!r)
		r = ts_builder_add(builder, row);
	if (!r)
		count_rows(session, builder, 1);
	return r;
}

static bool takes_type(unsigned type)
{
	return ts_row_is_event(type) || type == TS_ROW_DEVICE || type == TS_ROW_MODULE ||
	       type == TS_ROW_NAME;
}

/*
 * Returns true if the times of the type are the host's, and are rounded. The times of clock
 * snapshots and losses are measurements, and stay exact.
 */
static bool is_host(unsigned type)
{
	return ts_row_is_event(type) && type != TS_ROW_KERNEL && type != TS_ROW_MEMCPY &&
	       type != TS_ROW_MEMSET && type != TS_ROW_CLOCK && type != TS_ROW_LOSS;
}

static int add_rounded(struct ts_sbt_session_writer *session, unsigned type, const void *row)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	uint8_t copy[TS_ROW_MAX_BYTES];
	uint64_t ns;

	memcpy(copy, row, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];

		if (column->role != TS_ROLE_TIME_START && column->role != TS_ROLE_TIME_END &&
		    column->role != TS_ROLE_TIME)
			continue;
		memcpy(&ns, copy + column->offset, sizeof(ns));
		ns -= ns % session->quantum_ns;
		memcpy(copy + column->offset, &ns, sizeof(ns));
	}
	return add_row(session, type, copy);
}

/*
 * True if the session has too many pending bytes. Summing them takes many additions, so this
 * function does not sum them for every row.
 */
static bool is_full(struct ts_sbt_session_writer *session)
{
	uint64_t pending = ts_sbt_session_writer_pending_bytes(session);

	session->capacity_bytes =
		pending < TS_SBT_MAX_PENDING_BYTES ? TS_SBT_MAX_PENDING_BYTES - pending : 0;
	return !session->capacity_bytes;
}

int ts_sbt_session_writer_add_row(struct ts_sbt_session_writer *session, unsigned type,
				  const void *row)
{
	if (!takes_type(type))
		return -EINVAL;
	if (ts_unlikely(!session->capacity_bytes) && is_full(session))
		return TS_SBT_E_FULL;
	if (ts_unlikely(session->quantum_ns && is_host(type)))
		return add_rounded(session, type, row);
	return add_row(session, type, row);
}

/* Rounds and adds rows one by one. This is slow, but a quantum is set to save bytes, not time. */
static int add_rows_rounded(struct ts_sbt_session_writer *session, unsigned type,
			    const uint8_t *rows, size_t n_rows, size_t *ret_n_added)
{
	int r = 0;

	for (*ret_n_added = 0; *ret_n_added < n_rows; ++*ret_n_added) {
		r = ts_sbt_session_writer_add_row(session, type, rows);
		if (r)
			break;
		rows += ts_row_schema(type)->row_bytes;
	}
	return r;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int ts_sbt_session_writer_add_rows(struct ts_sbt_session_writer *session, unsigned type,
				   const void *rows, size_t n_rows, size_t *ret_n_added)
{
	const uint8_t *row = rows;
	int r = takes_type(type) ? 0 : -EINVAL;

	if (ts_unlikely(!r && session->quantum_ns && is_host(type)))
		return add_rows_rounded(session, type, rows, n_rows, ret_n_added);
	*ret_n_added = 0;
	while (!r && *ret_n_added < n_rows) {
		uint64_t pending = ts_sbt_session_writer_pending_bytes(session), n;
		struct ts_builder *builder;
		uint32_t n_added;

		if (pending >= TS_SBT_MAX_PENDING_BYTES)
			return TS_SBT_E_FULL;
		r = builder_of(session, type, &builder);
		if (r)
			return r;
		n = (TS_SBT_MAX_PENDING_BYTES - pending - 1) / builder->schema->row_bytes + 1;
		n = least(n, TS_SBT_BLOCK_ROWS - ts_builder_rows(builder));
		n = least(n, n_rows - *ret_n_added);
		r = ts_builder_add_rows(builder, row, (uint32_t)n, &n_added);
		count_rows(session, builder, n_added);
		row += (size_t)n_added * builder->schema->row_bytes;
		*ret_n_added += n_added;
	}
	return r;
}

int ts_sbt_session_writer_add_thread(struct ts_sbt_session_writer *session,
				     const struct ts_row_thread *row, uint32_t *ret_id)
{
	struct ts_row_thread copy = *row;
	int r;

	if (session->dropped)
		return -EINVAL;
	if (session->n_threads == UINT32_MAX)
		return -EOVERFLOW;
	copy.thread = session->n_threads + 1;
	r = add_row(session, TS_ROW_THREAD, &copy);
	if (r)
		return r;
	*ret_id = ++session->n_threads;
	return 0;
}

/* Pointers to the session's buffers. */
#define SESSION_BUFFERS(session)                                                                   \
	{                                                                                          \
		&(session)->stack_lengths, &(session)->stack_flags, &(session)->stack_frames,      \
			&(session)->blob_lengths, &(session)->blob_flags, &(session)->blob_hashes, \
			&(session)->blob_bytes, &(session)->heading, &(session)->definitions,      \
			&(session)->ready,                                                         \
	}

uint64_t ts_sbt_session_writer_memory(const struct ts_sbt_session_writer *session)
{
	const struct ts_buffer *const buffers[] = SESSION_BUFFERS(session);
	uint64_t n = sizeof(*session) + ts_encoder_memory(&session->encoder) +
		     ts_summaries_memory(&session->summaries);

	for (size_t i = 0; i < TS_ARRAY_LEN(buffers); i++)
		n += buffers[i]->capacity;
	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (session->builders[type])
			n += ts_builder_memory(session->builders[type]);
	return n;
}

void ts_sbt_session_writer_trim(struct ts_sbt_session_writer *session)
{
	struct ts_buffer *const buffers[] = SESSION_BUFFERS(session);

	for (size_t i = 0; i < TS_ARRAY_LEN(buffers); i++)
		ts_buffer_trim(buffers[i]);
	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (session->builders[type] && !ts_builder_rows(session->builders[type]))
			ts_builder_free(ts_take_ptr(session->builders[type]));
	ts_summaries_trim(&session->summaries);
	ts_encoder_deinit(&session->encoder);
}

/*
 * Frees memory after a seal, so that a type with few rows does not hold memory for ever. Builders
 * that had rows stay. Builders without rows are freed while all builders have more than
 * KEPT_BUILDER_BYTES. A buffer above KEPT_BUFFER_BYTES is freed.
 */
static void tidy(struct ts_sbt_session_writer *session, uint64_t used)
{
	struct ts_buffer *const buffers[] = SESSION_BUFFERS(session);
	uint64_t n = 0;

	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (session->builders[type])
			n += ts_builder_memory(session->builders[type]);
	for (unsigned type = 0; n > KEPT_BUILDER_BYTES && type < TS_ROW_COUNT; type++) {
		if (!session->builders[type] || used & UINT64_C(1) << type)
			continue;
		n -= ts_builder_memory(session->builders[type]);
		ts_builder_free(ts_take_ptr(session->builders[type]));
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(buffers); i++)
		if (buffers[i]->capacity > KEPT_BUFFER_BYTES)
			ts_buffer_trim(buffers[i]);
}

static uint64_t types_with_rows(const struct ts_sbt_session_writer *session)
{
	uint64_t types = 0;

	for (unsigned type = 0; type < TS_ROW_COUNT; type++)
		if (session->builders[type] && ts_builder_rows(session->builders[type]))
			types |= UINT64_C(1) << type;
	return types;
}

static int encode_checkpoint(struct ts_sbt_session_writer *session, const void *bytes, size_t n)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_CHECKPOINT,
					     .session = session->row.session,
					     .n_rows = 1};
	int r;

	header.n_columns = 1;
	r = ts_encoder_begin(&session->encoder, 1);
	if (!r)
		r = ts_encoder_column(&session->encoder, 0, TS_SBT_CHECKPOINT_BYTES, bytes,
				      (uint32_t)n, 1, false);
	return r ? r : ts_encoder_end(&session->encoder, &header, &session->ready);
}

/*
 * Encodes the calls, if the file is small. The caller frees *ret_calls, to which the times of the
 * next blocks of this seal may be relative.
 */
static int encode_calls(struct ts_sbt_session_writer *session, struct ts_calls **ret_calls)
{
	struct ts_builder *builder = session->builders[TS_ROW_API];
	int r;

	if (!session->encoder.is_thorough || !builder)
		return 0;
	r = ts_builder_settle(builder, &session->encoder);
	r = r ?: ts_calls_of_builder(builder, ret_calls);
	session->calls_at = session->n_ready;
	return r ?: encode_type(session, builder);
}

/* Encodes everything that is open. If memory runs out, the blocks that are already encoded stay. */
static int encode_all(struct ts_sbt_session_writer *session)
{
	ts_cleanup(ts_freep) struct ts_calls *calls = NULL;
	int r = 0;

	session->encoder.is_thorough =
		ts_sbt_writer_bytes(session->writer) < TS_SBT_SMALL_FILE_BYTES &&
		ts_sbt_session_writer_pending_bytes(session) < MAX_SMALL_SEAL_BYTES;
	if (session->row_changed) {
		r = add_row(session, TS_ROW_SESSION, &session->row);
		if (!r)
			r = encode_type(session, session->builders[TS_ROW_SESSION]);
		if (r)
			return r;
		session->row_changed = false;
	}
	r = encode_calls(session, &calls);
	session->encoder.calls = calls;
	for (unsigned type = TS_ROW_COUNT; !r && type-- > 0;)
		if (session->builders[type])
			r = encode_type(session, session->builders[type]);
	session->encoder.calls = NULL;
	r = r ?: encode_stacks(session);
	return r ?: encode_blobs(session);
}

int ts_sbt_session_writer_seal(struct ts_sbt_session_writer *session, const void *checkpoint,
			       size_t n_checkpoint_bytes)
{
	struct ts_buffer *parts[] = {&session->heading, &session->definitions, &session->ready};
	struct ts_sbt_writer *writer = session->writer;
	uint64_t used = types_with_rows(session);
	size_t n_ready;
	int r;

	if (n_checkpoint_bytes > TS_SBT_MAX_CHECKPOINT)
		return -E2BIG;
	r = ts_sbt_writer_error(writer);
	if (!r)
		r = encode_all(session);
	n_ready = session->ready.n;
	if (!r && n_checkpoint_bytes)
		r = encode_checkpoint(session, checkpoint, n_checkpoint_bytes);
	if (r || !(session->heading.n + session->definitions.n + session->ready.n))
		return r;
	pthread_mutex_lock(&writer->mutex);
	r = ts_sbt_writer_commit(writer, session->dropped ? TS_COMMIT_LAST : TS_COMMIT_ROWS, parts,
				 TS_ARRAY_LEN(parts), &session->summaries);
	pthread_mutex_unlock(&writer->mutex);
	if (r) {
		session->ready.n = n_ready; /* the next seal brings its own checkpoint */
		return r;
	}
	session->ready_rows = session->n_ready = 0;
	tidy(session, used);
	return 0;
}

/* Counts event rows in encoded blocks, by type. */
static void count_blocks(const struct ts_buffer *blocks, uint64_t *counts)
{
	struct ts_sbt_block_header header;

	for (size_t off = 0; off < blocks->n; off += ts_block_held_bytes(&header)) {
		memcpy(&header, blocks->bytes + off, sizeof(header));
		if (ts_row_is_event(header.type))
			counts[header.type] += header.n_rows;
	}
}

void ts_sbt_session_writer_drop(struct ts_sbt_session_writer *session,
				uint64_t ret_counts[TS_ROW_EVENT_END])
{
	memset(ret_counts, 0, TS_ROW_EVENT_END * sizeof(*ret_counts));
	count_blocks(&session->ready, ret_counts);
	for (unsigned type = 0; type < TS_ROW_COUNT; type++) {
		if (session->builders[type] && ts_row_is_event(type))
			ret_counts[type] += ts_builder_rows(session->builders[type]);
		ts_builder_free(ts_take_ptr(session->builders[type]));
	}
	session->stack_lengths.n = session->stack_flags.n = session->stack_frames.n = 0;
	session->blob_lengths.n = session->blob_flags.n = session->blob_hashes.n = 0;
	session->blob_bytes.n = 0;
	session->heading.n = session->definitions.n = session->ready.n = 0;
	session->n_ready = 0;
	ts_summaries_rewind(&session->summaries, NULL);
	session->open_bytes = session->open_rows = session->ready_rows = 0;
	/* The session row is written in any case. */
	session->row_changed = true;
	session->dropped = true;
}

uint64_t ts_sbt_session_writer_pending_rows(const struct ts_sbt_session_writer *session)
{
	return session->open_rows + session->ready_rows;
}

uint64_t ts_sbt_session_writer_pending_bytes(const struct ts_sbt_session_writer *session)
{
	return session->open_bytes + session->heading.n + session->definitions.n +
	       session->ready.n + ts_summaries_bytes(&session->summaries) +
	       session->stack_frames.n + session->stack_lengths.n + session->stack_flags.n +
	       session->blob_bytes.n + session->blob_lengths.n + session->blob_flags.n +
	       session->blob_hashes.n;
}
