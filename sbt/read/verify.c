/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a whole file; `tsctl verify` calls this module. Verify checks checksums, sizes, padding,
 * the order and sums of rows, ids against definitions, and the index against the blocks. Every byte
 * of a file is covered by a check, so a flipped bit anywhere is found. Verify does not trust the
 * index and does not stop at damage: find-block.c finds the next whole block.
 *
 *     walk:   check_header -> check_block: checksum, check_payload (rows, lists, blobs, summaries)
 *                          -> list_block: entry for the comparison with the index
 *     damage: resume: search for the next whole block
 *     threads: an event block depends on the definitions before it, and no block before the
 *              summaries depends on it. Threads check event blocks of a long file (add_job), and
 *              the walk takes the results in order (take_jobs).
 *     end:    check_end: the end marker
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>

#include "proto/abi/hash.h"
#include "sbt/format/calls.h"
#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"
#include "sbt/read/threads/jobs.h"
#include "sbt/verify.h"

#define MAX_REPORTED 1000u
#define MAX_SESSIONS (1024u * 1024)
#define BATCH_ROWS   512u
#define JOBS_SHARE   2u /* queued jobs per thread */
#define JOB_FINDINGS 2u /* of one block: its padding, and its contents */

/*
 * Facts about an event block, computed from its rows: for each kind of summary, the number of rows
 * and their checksum.
 */
struct facts {
	bool known;	   /* a readable event block */
	uint8_t summed_up; /* bits: kinds of summary found */
	uint32_t n[TS_SUMMARY_KINDS];
	uint32_t checksums[TS_SUMMARY_KINDS];
};

/* The ids defined so far. */
struct session_ids {
	uint32_t n_stacks;
	uint32_t n_blobs;
	uint32_t n_threads;
	bool known;
};

struct verifier {
	int fd;
	uint64_t file_bytes;
	bool locked;
	bool is_newer; /* the file has a later minor version */
	bool is_short; /* blocks and the index may be short */
	const struct ts_sbt_verify_options *options;
	struct ts_sbt_verify_report report;
	struct ZSTD_DCtx_s *zstd;
	struct ts_sbt_search search;
	struct ts_buffer blocks;       /* struct ts_sbt_block, without index blocks */
	uint64_t n_blocks;	       /* in `blocks` */
	struct facts facts;	       /* of the present block */
	struct ts_buffer all_facts;    /* of each block in `blocks` */
	struct ts_summaries summaries; /* of the present block */
	uint64_t n_entries;	       /* index entries compared so far */
	uint64_t index_off;	       /* of the first index block; 0: none */
	uint64_t sequence;
	bool list_broken;	 /* blocks are missing: the index cannot be compared */
	bool definitions_broken; /* definitions may be missing: ids cannot be checked */
	uint64_t n_strings;
	struct ts_buffer sessions; /* struct session_ids, by number */
	struct ts_block_why why;   /* of the present block */
	struct ts_spares spares;
	struct ts_jobs *jobs;	     /* NULL: no threads */
	int jobs_error;		     /* of a job that was taken */
	struct session_ids *job_ids; /* in a thread: the ids of the job's session */
};

/* An event block that a thread checks, with the definitions so far; then the results. */
struct job {
	struct ts_sbt_block_header header;
	uint64_t off;
	uint64_t number; /* in `blocks` */
	int fd;
	bool is_newer;
	bool definitions_broken;
	uint64_t n_strings;
	struct session_ids ids;

	int result;
	unsigned n_findings;
	struct ts_sbt_error findings[JOB_FINDINGS];
	uint64_t n_rows, n_unknown_columns, n_unknown_blocks;
	struct facts facts;
};

static void found(struct verifier *v, int code, uint64_t off, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static int take_jobs(struct verifier *v);

static void report(struct verifier *v, const struct ts_sbt_error *error)
{
	struct ts_sbt_verify_report *report = &v->report;

	if (!report->n_findings || error->off < report->first.off)
		report->first = *error;
	if (report->n_findings++ < MAX_REPORTED && v->options && v->options->on_finding)
		v->options->on_finding(error, v->options->data);
}

static void found(struct verifier *v, int code, uint64_t off, const char *format, ...)
{
	struct ts_sbt_error error = {.code = code, .off = off};
	va_list args;

	va_start(args, format);
	vsnprintf(error.text, sizeof(error.text), format, args);
	va_end(args);
	/* Findings of the blocks before this one come first. The walk's end returns an error. */
	(void)take_jobs(v);
	report(v, &error);
}

static void progress(struct verifier *v, uint64_t off)
{
	if (v->options && v->options->on_progress)
		v->options->on_progress(off, v->file_bytes, v->options->data);
}

/*
 * Returns the ids of a session, after creating them if needed. NULL: the number is too large, or
 * there is no memory (*ret_error).
 */
static struct session_ids *session_ids(struct verifier *v, uint32_t session, int *ret_error)
{
	size_t want = ((size_t)session + 1) * sizeof(struct session_ids);
	uint8_t *at;

	*ret_error = 0;
	if (v->job_ids)
		return v->job_ids;
	if (session > MAX_SESSIONS)
		return NULL;
	if (v->sessions.n < want) {
		*ret_error = ts_buffer_reserve(&v->sessions, want - v->sessions.n, &at);
		if (*ret_error)
			return NULL;
		memset(at, 0, want - v->sessions.n);
		v->sessions.n = want;
	}
	return (struct session_ids *)(void *)v->sessions.bytes + session;
}

static const char *check_ids(const struct verifier *v, const struct ts_row_schema *schema,
			     const struct session_ids *ids, const void *row)
{
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];

		if (column->role == TS_ROLE_STRING && ts_column_get(column, row) > v->n_strings)
			return "a row refers to a string that the trace lacks";
		if (column->role == TS_ROLE_STACK && ts_column_get(column, row) > ids->n_stacks)
			return "a row refers to a stack that the trace lacks";
		if (column->role == TS_ROLE_THREAD && schema->is_event &&
		    ts_column_get(column, row) > ids->n_threads)
			return "a row refers to a thread that the trace lacks";
	}
	return NULL;
}

/* Checks and counts a definition row. */
static const char *take_definition(struct session_ids *ids, unsigned type, uint32_t session,
				   const void *row)
{
	if (type == TS_ROW_SESSION) {
		ids->known = true;
		if (((const struct ts_row_session *)row)->session != session)
			return "the row of a session lies in a block of another session";
	}
	if (type == TS_ROW_THREAD &&
	    ((const struct ts_row_thread *)row)->thread != ++ids->n_threads)
		return "the numbers of threads are not consecutive";
	return NULL;
}

/* Adds a row to the sums that a block header must have. */
static void add_up(struct ts_sbt_block_header *sums, const struct ts_row_schema *schema,
		   const void *row)
{
	uint64_t start_ns = ts_row_start_ns(row), end_ns = ts_row_end_ns(schema, row);

	if (start_ns < sums->earliest_ns)
		sums->earliest_ns = start_ns;
	if (end_ns > sums->latest_ns)
		sums->latest_ns = end_ns;
	sums->duration_ns = ts_add_saturated(sums->duration_ns, end_ns - start_ns);
	if (schema->bytes_column >= 0)
		sums->amount_bytes =
			ts_add_saturated(sums->amount_bytes,
					 ts_column_get(&schema->columns[schema->bytes_column],
						       row));
}

static const char *check_entry(struct verifier *v, const struct ts_sbt_block *entry)
{
	const struct ts_sbt_block *blocks = (const void *)v->blocks.bytes;
	struct ts_sbt_block same;
	uint64_t i = v->n_entries++;

	if (v->list_broken)
		return NULL;
	if (i < v->n_blocks && v->is_short && !entry->off)
		same = (struct ts_sbt_block){.bytes = blocks[i].bytes};
	else if (i < v->n_blocks)
		same = blocks[i];
	if (i >= v->n_blocks || memcmp(entry, &same, sizeof(*entry)))
		return "the index differs from the blocks";
	return NULL;
}

static const char *check_row(struct verifier *v, const struct ts_row_schema *schema,
			     const struct ts_sbt_block_header *header, struct session_ids *ids,
			     struct ts_sbt_block_header *sums, const void *row)
{
	const char *why = NULL;

	if (schema->type == TS_ROW_INDEX)
		return check_entry(v, row);
	if (schema->is_event)
		add_up(sums, schema, row);
	else
		why = take_definition(ids, schema->type, header->session, row);
	if (!why && !v->definitions_broken)
		why = check_ids(v, schema, ids, row);
	return why;
}

static const char *check_sums(const struct ts_row_schema *schema,
			      const struct ts_sbt_block_header *header,
			      const struct ts_sbt_block_header *sums)
{
	if (!schema->is_event || !header->n_rows)
		return header->earliest_ns || header->latest_ns || header->duration_ns ||
				       header->amount_bytes
			       ? "a block without events has sums"
			       : NULL;
	if (header->earliest_ns != sums->earliest_ns || header->latest_ns != sums->latest_ns)
		return "a block's times differ from the times of its rows";
	if (header->duration_ns != sums->duration_ns || header->amount_bytes != sums->amount_bytes)
		return "a block's sums differ from the sums of its rows";
	return NULL;
}

/* Computes the facts for the comparison with summaries. */
static int take_facts(struct verifier *v, const struct ts_row_schema *schema,
		      const struct ts_block_columns *columns)
{
	struct ts_summary_source source;
	int r;

	ts_summaries_rewind(&v->summaries, NULL);
	ts_summary_of_columns(schema, columns, &source);
	r = ts_summarise(&source, 0, &v->summaries);
	if (r)
		return r;
	v->facts.known = true;
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++) {
		const struct ts_buffer *rows = &v->summaries.rows[kind];

		v->facts.n[kind] = (uint32_t)(rows->n / ts_summary_schema(kind)->row_bytes);
		v->facts.checksums[kind] = ts_summary_checksum(kind, rows->bytes, v->facts.n[kind]);
	}
	return 0;
}

/* Checks the summary rows of one block. */
static const char *check_group(struct verifier *v, int kind, const uint8_t *rows, uint32_t n)
{
	uint64_t block = ts_summary_block_of(rows);
	struct facts *facts;

	if (block >= v->n_blocks)
		return "a summary refers to a block that does not precede it";
	facts = (struct facts *)(void *)v->all_facts.bytes + block;
	if (facts->summed_up & 1u << kind)
		return "a block has two summaries";
	facts->summed_up |= (uint8_t)(1u << kind);
	if (!ts_row_is_event(((const struct ts_sbt_block *)(void *)v->blocks.bytes)[block].type))
		return "a summary refers to a block without events";
	if (facts->known &&
	    (n != facts->n[kind] || ts_summary_checksum(kind, rows, n) != facts->checksums[kind]))
		return "a summary differs from its block's rows";
	return NULL;
}

static const char *check_summary(struct verifier *v, int kind, const uint8_t *rows, uint32_t n_rows)
{
	size_t row_bytes = ts_summary_schema(kind)->row_bytes;
	const char *why = NULL;

	for (uint32_t at = 0, n; !why && !v->list_broken && at < n_rows; at += n) {
		n = ts_summary_group(kind, rows, n_rows, at);
		why = check_group(v, kind, rows + at * row_bytes, n);
	}
	return why;
}

/* Decodes all rows of a summary block at once, and checks them. */
static int check_summary_block(struct verifier *v, int kind,
			       const struct ts_sbt_block_header *header,
			       const struct ts_block_columns *columns, const char **ret_why)
{
	const struct ts_row_schema *schema = ts_summary_schema(kind);
	ts_cleanup(ts_freep) uint8_t *rows = malloc((size_t)header->n_rows * schema->row_bytes + 1);
	struct ts_block_decoder decoder;

	if (!rows)
		return -ENOMEM;
	ts_block_decoder_init(&decoder, schema, header);
	*ret_why = ts_block_decoder_next(&decoder, columns, rows, header->n_rows);
	if (!*ret_why)
		*ret_why = header->session ? "a summary belongs to a session"
					   : check_summary(v, kind, rows, header->n_rows);
	if (!*ret_why)
		*ret_why = check_sums(schema, header, NULL);
	return 0;
}

/* Decodes the block of calls at `off`. *ret_calls stays NULL if the block is damaged. */
static int decode_calls(struct verifier *v, const struct ts_sbt_block_header *header, uint64_t off,
			struct ts_calls **ret_calls)
{
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	ts_cleanup(ts_freep) struct ts_row_api *rows = NULL;
	ts_cleanup(ts_freep) uint8_t *stored = NULL, *raw = NULL;
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_API);
	struct ts_block_decoder decoder;
	struct ts_block_why why;
	const char *text;
	int r = ts_sbt_read_stored(v->fd, header, off, &stored);

	r = r ?: ts_block_payload(v->zstd, header, v->is_newer, stored, &raw, &text);
	r = r ?: ts_block_columns_new(schema, header, raw, &columns, &why);
	if (r)
		return r < 0 ? r : 0;
	rows = malloc((size_t)header->n_rows * sizeof(*rows) + 1);
	if (!rows)
		return -ENOMEM;
	ts_block_decoder_init(&decoder, schema, header);
	if (ts_block_decoder_next(&decoder, columns, rows, header->n_rows))
		return 0;
	return ts_calls_of_rows(rows, header->n_rows, ret_calls);
}

/*
 * Finds the calls that the times of a block are relative to. After damage, blocks lie closer in
 * `blocks` than their numbers say, so their headers are searched. *ret_calls stays NULL if the
 * block has no calls, or if they are missing.
 */
static int find_calls(struct verifier *v, const struct ts_sbt_block_header *header,
		      struct ts_calls **ret_calls)
{
	const struct ts_sbt_block *blocks = (const void *)v->blocks.bytes;
	const uint64_t distance = TS_CALLS_DISTANCE(header->calls);
	uint64_t low = 0, high = distance && distance <= header->sequence ? v->n_blocks : 0;

	while (low < high) {
		const uint64_t i = low + (high - low) / 2;
		struct ts_sbt_block_header its;
		const char *why;
		int r = ts_sbt_read_header(v->fd, blocks[i].off, v->file_bytes, &its, &why);

		if (r)
			return r < 0 ? r : 0;
		if (its.sequence == header->sequence - distance)
			return blocks[i].type == TS_ROW_API &&
					       blocks[i].session == header->session &&
					       blocks[i].n_rows <= TS_CALLS_MAX
				       ? decode_calls(v, &its, blocks[i].off, ret_calls)
				       : 0;
		if (its.sequence < header->sequence - distance)
			low = i + 1;
		else
			high = i;
	}
	return 0;
}

static int check_rows(struct verifier *v, const struct ts_row_schema *schema,
		      const struct ts_sbt_block_header *header, const uint8_t *raw,
		      struct session_ids *ids, const char **ret_why)
{
	ts_cleanup(ts_freep) uint8_t *rows = malloc((size_t)BATCH_ROWS * schema->row_bytes);
	struct ts_sbt_block_header sums = {.earliest_ns = UINT64_MAX};
	ts_cleanup(ts_freep) struct ts_calls *calls = NULL;
	struct ts_block_columns *columns = NULL;
	struct ts_block_decoder decoder;
	const char *why = NULL, *first = NULL;
	int r = find_calls(v, header, &calls);

	if (r || !rows)
		return r ?: -ENOMEM;
	r = ts_block_columns_new_in(&v->spares, calls, schema, header, raw, &columns, &v->why);
	if (r) {
		*ret_why = r == TS_SBT_E_CORRUPT ? v->why.text : NULL;
		return r == TS_SBT_E_CORRUPT ? 0 : r;
	}
	v->report.n_unknown_columns += ts_block_columns_unknown(columns);
	if (ts_summary_kind_of(schema->type) >= 0) {
		r = check_summary_block(v, ts_summary_kind_of(schema->type), header, columns,
					ret_why);
		ts_spares_put(&v->spares, columns);
		return r;
	}
	ts_block_decoder_init(&decoder, schema, header);
	while (!why && decoder.n_left) {
		uint32_t n = decoder.n_left < BATCH_ROWS ? decoder.n_left : BATCH_ROWS;

		why = ts_block_decoder_next(&decoder, columns, rows, n);
		for (uint32_t i = 0; !why && i < n; i++) {
			const char *bad = check_row(v, schema, header, ids, &sums,
						    rows + (size_t)i * schema->row_bytes);

			if (!first)
				first = bad;
		}
		if (!why && schema->is_event) {
			v->report.n_rows += n;
			v->report.counts[schema->type] += n;
		}
	}
	if (!why && schema->is_event)
		r = take_facts(v, schema, columns);
	ts_spares_put(&v->spares, columns);
	if (!why)
		why = first ? first : check_sums(schema, header, &sums);
	*ret_why = why;
	return r;
}

/*
 * Checks strings and stacks: lengths add up, and the ids begin after those of the previous block.
 */
static int check_list(struct verifier *v, const struct ts_sbt_block_header *header,
		      const uint8_t *raw, struct session_ids *ids, const char **ret_why)
{
	bool is_stack = header->type == TS_ROW_STACK;
	uint64_t defined = is_stack ? ids->n_stacks : v->n_strings, sum = 0;
	ts_cleanup(ts_freep) uint32_t *lengths = NULL;
	ts_cleanup(ts_freep) uint32_t *flags = NULL;
	ts_cleanup(ts_freep) void *values = NULL;
	uint32_t n_lengths, n_flags = 0, n_values;
	int r;

	r = ts_block_list(header, raw, TS_SBT_STRING_LENGTH, 4, (void **)(void *)&lengths,
			  &n_lengths, ret_why);
	if (!r && is_stack)
		r = ts_block_list(header, raw, TS_SBT_STACK_FLAGS, 4, (void **)(void *)&flags,
				  &n_flags, ret_why);
	if (!r)
		r = ts_block_list(header, raw, is_stack ? TS_SBT_STACK_FRAMES : TS_SBT_STRING_BYTES,
				  is_stack ? 8 : 1, &values, &n_values, ret_why);
	if (r)
		return r < 0 ? r : 0;
	for (uint32_t i = 0; i < n_lengths; i++)
		sum += lengths[i];
	if (n_lengths != header->n_rows || (is_stack && n_flags != header->n_rows))
		*ret_why = "a list has the wrong number of lengths";
	else if (sum != n_values)
		*ret_why = "the sum of the lengths does not match the list";
	else if (header->first_id != defined + 1 && !v->definitions_broken)
		*ret_why = "a list does not continue the list before it";
	defined = (uint64_t)header->first_id + header->n_rows - 1;
	if (is_stack)
		ids->n_stacks = defined > UINT32_MAX ? UINT32_MAX : (uint32_t)defined;
	else
		v->n_strings = defined;
	return 0;
}

/* Checks only the lengths of items. The module that reads the items checks their content. */
static int check_items(const struct ts_sbt_block_header *header, const uint8_t *raw,
		       const char **ret_why)
{
	ts_cleanup(ts_freep) void *lengths = NULL, *bytes = NULL;
	uint32_t n, n_bytes;
	uint64_t sum = 0;
	int r = ts_block_list(header, raw, TS_SBT_ITEM_LENGTH, 4, &lengths, &n, ret_why);

	r = r ?: ts_block_list(header, raw, TS_SBT_ITEM_BYTES, 1, &bytes, &n_bytes, ret_why);
	if (r)
		return r < 0 ? r : 0;
	for (uint32_t i = 0; i < n; i++)
		sum += ((const uint32_t *)lengths)[i];
	if (n != header->n_rows || sum != n_bytes)
		*ret_why = "the lengths of the items do not match their bytes";
	return 0;
}

/*
 * Checks blobs: the reader can decode them, the ids begin after those of the previous block, and
 * contents match their hashes.
 */
static int check_blobs(struct verifier *v, const struct ts_sbt_block_header *header,
		       const uint8_t *raw, struct session_ids *ids, const char **ret_why)
{
	uint64_t defined = (uint64_t)header->first_id + header->n_rows - 1;
	struct ts_blob_block blobs = {0};
	int r = ts_sbt_blobs_decode(&blobs, header, raw, ret_why);

	if (!r && ids->n_blobs && header->first_id != ids->n_blobs + 1 && !v->definitions_broken)
		*ret_why = "a list does not continue the list before it";
	for (uint32_t i = 0; !r && !*ret_why && i < header->n_rows; i++) {
		const uint8_t *bytes = blobs.bytes + blobs.offsets[i];
		struct ts_hash128 hash = ts_hash128(bytes, blobs.offsets[i + 1] - blobs.offsets[i]);

		if (hash.a != blobs.hashes[2 * (size_t)i] ||
		    hash.b != blobs.hashes[2 * (size_t)i + 1])
			*ret_why = "a blob differs from its hash";
	}
	ts_sbt_blobs_deinit(&blobs);
	ids->n_blobs = defined > UINT32_MAX ? UINT32_MAX : (uint32_t)defined;
	return r < 0 ? r : 0;
}

static bool defines_ids(unsigned type)
{
	return type == TS_ROW_SESSION || type == TS_ROW_THREAD || type == TS_ROW_STRING ||
	       type == TS_ROW_STACK;
}

static int check_payload(struct verifier *v, const struct ts_sbt_block_header *header,
			 const uint8_t *raw, const char **ret_why)
{
	const struct ts_row_schema *schema = ts_sbt_schema(header->type);
	struct session_ids *ids;
	void *bytes = NULL;
	uint32_t n;
	int r;

	ids = session_ids(v, header->session, &r);
	if (!ids) {
		*ret_why = "a session number is outside its bounds";
		return r;
	}
	if (schema) {
		r = check_rows(v, schema, header, raw, ids, ret_why);
	} else if (header->type == TS_ROW_STRING || header->type == TS_ROW_STACK) {
		r = check_list(v, header, raw, ids, ret_why);
	} else if (header->type == TS_ROW_STATE || header->type == TS_ROW_STATE_HEAD) {
		r = check_items(header, raw, ret_why);
	} else if (header->type == TS_ROW_BLOB) {
		r = check_blobs(v, header, raw, ids, ret_why);
	} else {
		r = ts_block_list(header, raw, TS_SBT_CHECKPOINT_BYTES, 1, &bytes, &n, ret_why);
		free(bytes);
		r = r < 0 ? r : 0;
	}
	if (!r && !*ret_why && header->session && !ids->known && !v->definitions_broken)
		*ret_why = "a block belongs to a session that the trace lacks";
	return r;
}

static bool is_known(const struct ts_sbt_block_header *header)
{
	return header->version == TS_SBT_BLOCK_VERSION &&
	       !(header->flags & ~TS_SBT_SHORT_BLOCK_FLAGS) &&
	       (ts_sbt_schema(header->type) || header->type == TS_ROW_STRING ||
		header->type == TS_ROW_STACK || header->type == TS_ROW_CHECKPOINT ||
		header->type == TS_ROW_STATE || header->type == TS_ROW_STATE_HEAD ||
		header->type == TS_ROW_BLOB);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Checks a block with a valid header that lies within the file. */
static int check_block(struct verifier *v, const struct ts_sbt_block_header *header, uint64_t off)
{
	ts_cleanup(ts_freep) uint8_t *stored = NULL;
	uint8_t *raw = NULL;
	uint64_t payload_off = off + ts_block_head_bytes(header);
	const char *why = NULL;
	int r = ts_sbt_read_stored(v->fd, header, off, &stored);

	memset(&v->facts, 0, sizeof(v->facts));
	if (r == TS_SBT_E_CORRUPT) {
		found(v, r, off, "the file became shorter while it was read");
		return 0;
	}
	if (r)
		return r;
	if (!header->short_bytes &&
	    !all_zero(stored + header->stored_bytes,
		      ts_align_up(header->stored_bytes, 8) - header->stored_bytes))
		found(v, TS_SBT_E_CORRUPT, payload_off + header->stored_bytes,
		      "the padding after a block is not zero");
	if (!is_known(header)) {
		v->report.n_unknown_blocks++;
		if (!ts_block_checksum_ok(header, stored))
			why = "a block's checksum is wrong";
		else if (header->flags & TS_SBT_BLOCK_REQUIRED)
			why = "a required block has an unknown type";
	} else {
		r = ts_block_payload_in(&v->spares, v->zstd, header, v->is_newer, stored, &raw,
					&why);
		if (!r)
			r = check_payload(v, header, raw, &why);
		ts_spares_put(&v->spares, raw);
	}
	if (why) {
		found(v, TS_SBT_E_CORRUPT, payload_off, "%s", why);
		v->definitions_broken |= defines_ids(header->type);
	}
	return r < 0 ? r : 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void note_finding(const struct ts_sbt_error *error, void *data)
{
	struct job *job = data;

	if (job->n_findings < JOB_FINDINGS)
		job->findings[job->n_findings++] = *error;
}

/* Checks an event block in a thread, with the thread's own verifier. */
static void run_job(void *state, void *data)
{
	struct job *job = data;
	struct ts_sbt_verify_options options = {.on_finding = note_finding, .data = job};
	struct verifier *own = state;

	own->fd = job->fd;
	own->is_newer = job->is_newer;
	own->definitions_broken = job->definitions_broken;
	own->n_strings = job->n_strings;
	own->job_ids = &job->ids;
	own->options = &options;
	own->report = (struct ts_sbt_verify_report){0};
	if (!own->zstd)
		own->zstd = ZSTD_createDCtx();
	job->n_findings = 0;
	job->result = own->zstd ? check_block(own, &job->header, job->off) : -ENOMEM;
	job->n_rows = own->report.n_rows;
	job->n_unknown_columns = own->report.n_unknown_columns;
	job->n_unknown_blocks = own->report.n_unknown_blocks;
	job->facts = own->facts;
}

static void deinit_state(void *state)
{
	struct verifier *own = state;

	ZSTD_freeDCtx(own->zstd);
	ts_summaries_deinit(&own->summaries);
	ts_spares_deinit(&own->spares);
}

static void start_jobs(struct verifier *v)
{
	static const struct ts_jobs_kind kind = {.job_bytes = sizeof(struct job),
						 .state_bytes = sizeof(struct verifier),
						 .run = run_job,
						 .state_deinit = deinit_state};
	unsigned n_threads = ts_sbt_max_threads();

	/* Without threads, the walk checks all blocks. */
	if (v->file_bytes >= TS_SBT_THREADS_BYTES && n_threads > 1)
		(void)ts_jobs_new(n_threads, JOBS_SHARE * n_threads, &kind, &v->jobs);
}

static int take_job(struct verifier *v)
{
	const struct job *job = ts_jobs_take(v->jobs);

	for (unsigned i = 0; i < job->n_findings; i++)
		report(v, &job->findings[i]);
	v->report.n_rows += job->n_rows;
	v->report.counts[job->header.type] += job->n_rows;
	v->report.n_unknown_columns += job->n_unknown_columns;
	v->report.n_unknown_blocks += job->n_unknown_blocks;
	/* list_block() lists the last block after its job was added. */
	if (job->number < v->n_blocks)
		((struct facts *)(void *)v->all_facts.bytes)[job->number] = job->facts;
	else
		v->facts = job->facts;
	return job->result;
}

/* Takes the results of all jobs. Returns the first error of a job that was taken so far. */
static int take_jobs(struct verifier *v)
{
	while (v->jobs && !v->jobs_error && ts_jobs_left(v->jobs))
		v->jobs_error = take_job(v);
	return v->jobs_error;
}

/*
 * Adds an event block to the queue, or checks any other block. Summaries are compared with facts
 * about the event blocks before them.
 */
static int check_or_add(struct verifier *v, const struct ts_sbt_block_header *header, uint64_t off)
{
	struct session_ids *ids = NULL;
	struct job *job;
	int r = 0;

	/* The walk knows the block of a block's calls; threads do not. */
	if (v->jobs && ts_row_is_event(header->type) && !header->calls)
		ids = session_ids(v, header->session, &r);
	if (!ids) {
		if (!r && ts_summary_kind_of(header->type) >= 0)
			r = take_jobs(v);
		return r < 0 ? r : check_block(v, header, off);
	}
	job = ts_jobs_slot(v->jobs);
	if (!job) {
		r = v->jobs_error = take_job(v);
		job = ts_jobs_slot(v->jobs);
	}
	if (r)
		return r;
	*job = (struct job){
		.header = *header,
		.off = off,
		.number = v->n_blocks,
		.fd = v->fd,
		.is_newer = v->is_newer,
		.definitions_broken = v->definitions_broken,
		.n_strings = v->n_strings,
		.ids = *ids,
	};
	memset(&v->facts, 0, sizeof(v->facts));
	ts_jobs_add(v->jobs);
	return 0;
}

static int list_block(struct verifier *v, const struct ts_sbt_block_header *header, uint64_t off)
{
	struct ts_sbt_block block;
	int r;

	v->report.n_blocks++;
	if (header->type == TS_ROW_INDEX) {
		if (!v->index_off)
			v->index_off = off;
		return 0;
	}
	if (v->index_off)
		found(v, TS_SBT_E_CORRUPT, off, "a block lies after the index");
	if (v->n_blocks == TS_SBT_MAX_BLOCKS) {
		if (!v->list_broken)
			found(v, TS_SBT_E_LIMIT, off, "more than %u blocks", TS_SBT_MAX_BLOCKS);
		v->list_broken = true;
		return 0;
	}
	ts_block_describe(header, off, &block);
	v->n_blocks++;
	r = ts_buffer_append(&v->blocks, &block, sizeof(block));
	return r ?: ts_buffer_append(&v->all_facts, &v->facts, sizeof(v->facts));
}

/* Sets *ret_is_end if the end marker lies at `off`, and checks the marker. */
static int check_end(struct verifier *v, uint64_t off, bool *ret_is_end)
{
	struct ts_sbt_end_marker marker;
	int r;

	*ret_is_end = false;
	if (v->file_bytes - off < sizeof(marker))
		return 0;
	r = ts_sbt_pread(v->fd, &marker, sizeof(marker), off);
	if (r)
		return r < 0 ? r : 0;
	if (memcmp(marker.magic, TS_SBT_END_MAGIC, sizeof(marker.magic)))
		return 0;
	*ret_is_end = true;
	if (!ts_sbt_check_end_marker(&marker, off + sizeof(marker)))
		found(v, TS_SBT_E_CORRUPT, off, "the end marker is damaged");
	else if (marker.index_off != (v->index_off ? v->index_off : off) && !v->list_broken)
		found(v, TS_SBT_E_CORRUPT, off + 8, "the end marker does not point at the index");
	else if ((marker.n_blocks != v->n_blocks || v->n_entries != v->n_blocks) && !v->list_broken)
		found(v, TS_SBT_E_CORRUPT, off + 32, "the index has a wrong number of blocks");
	else
		v->report.state = TS_SBT_FINISHED;
	if (off + sizeof(marker) != v->file_bytes)
		found(v, TS_SBT_E_CORRUPT, off + sizeof(marker),
		      "the file has bytes after the end marker");
	return 0;
}

/* After damage at `off`: sets *ret_off to the next whole block, or to the end of the file. */
static int resume(struct verifier *v, uint64_t off, uint64_t *ret_off)
{
	int r = ts_sbt_search_block(&v->search, off + (v->is_short ? 1 : 8), v->sequence, ret_off);

	if (r <= 0)
		return r;
	if (r == TS_SBT_E_LIMIT)
		found(v, r, off + 8,
		      "the search for the next block ended at its limit of candidates");
	*ret_off = v->file_bytes;
	return 0;
}

/* Checks the header at `off`. Returns false if the walk cannot continue from it. */
static bool check_header(struct verifier *v, const struct ts_sbt_block_header *header, uint64_t off,
			 const char *why)
{
	if (!why && ts_block_bytes(header) > v->file_bytes - off) {
		if (!v->locked)
			found(v, TS_SBT_E_CORRUPT, off, "the file ends inside a block");
		return false;
	}
	if (why) {
		found(v, TS_SBT_E_CORRUPT, off, "%s", why);
		return false;
	}
	if (header->sequence != v->sequence && !v->list_broken)
		found(v, TS_SBT_E_CORRUPT, off + (header->short_bytes ? 0 : 24),
		      "a block is out of sequence");
	v->sequence = header->sequence;
	return true;
}

static int walk(struct verifier *v)
{
	uint64_t off = TS_SBT_HEADER_BYTES;
	bool is_end = false;
	int r = 0;

	while (!r && off < v->file_bytes) {
		struct ts_sbt_block_header header;
		const char *why = NULL;

		progress(v, off);
		r = check_end(v, off, &is_end);
		if (r || is_end)
			return r ? r : take_jobs(v);
		r = ts_sbt_read_header(v->fd, off, v->file_bytes, &header, &why);
		if (r < 0)
			return r;
		if (r == TS_SBT_E_END) {
			r = 0;
			if (!v->locked)
				found(v, TS_SBT_E_CORRUPT, off, "the file ends inside a block");
			break;
		}
		if (!check_header(v, &header, off, why)) {
			v->list_broken = v->definitions_broken = true;
			r = resume(v, off, &off);
			continue;
		}
		r = check_or_add(v, &header, off);
		if (!r)
			r = list_block(v, &header, off);
		v->sequence++;
		off += ts_block_bytes(&header);
	}
	r = r ? r : take_jobs(v);
	if (!r && !v->locked && !v->report.n_findings)
		found(v, TS_SBT_E_CORRUPT, v->file_bytes, "the file was not finished");
	return r;
}

int ts_sbt_verify(int fd, const struct ts_sbt_verify_options *options,
		  struct ts_sbt_verify_report *ret_report)
{
	struct verifier v = {.fd = fd, .options = options};
	struct ts_sbt_file_header header;
	struct stat st;
	int r = 0;

	v.locked = ts_sbt_is_locked(fd);
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (lseek(fd, 0, SEEK_CUR) < 0)
		r = -errno;
	if (!r) {
		v.file_bytes = (uint64_t)st.st_size;
		v.report.file_bytes = v.file_bytes;
		v.report.state = v.locked ? TS_SBT_GROWING : TS_SBT_TRUNCATED;
		r = ts_sbt_check_file_header(fd, v.file_bytes, &header, &v.report.first);
		if (r)
			v.report.n_findings = 1;
		else
			v.is_newer = header.minor > TS_SBT_MINOR;
		v.is_short = !r && header.incompatible_flags & TS_SBT_INCOMPATIBLE_SHORT;
		ts_sbt_search_init(&v.search, fd, v.is_short, v.file_bytes);
	}
	if (!r) {
		v.zstd = ZSTD_createDCtx();
		start_jobs(&v);
		r = v.zstd ? walk(&v) : -ENOMEM;
		ts_jobs_free(v.jobs);
	}
	v.report.good_bytes = v.report.n_findings ? v.report.first.off : v.file_bytes;
	ZSTD_freeDCtx(v.zstd);
	ts_buffer_deinit(&v.blocks);
	ts_buffer_deinit(&v.all_facts);
	ts_summaries_deinit(&v.summaries);
	ts_spares_deinit(&v.spares);
	ts_buffer_deinit(&v.sessions);
	*ret_report = v.report;
	return r;
}
