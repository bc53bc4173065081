/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as a data set of Arrow files. tsctl export and bindings call this file. The rows
 * of each session and type are read in order of time, turned to the messages that `tsctl view
 * --json` prints (replay/report/rows), collected as columns (arrow-table.c) and written
 * (message.c). A file ends with its time slice, or when it is full.
 *
 *     caller: rows --> pieces of rows --> parts of tables, in any thread
 *             table <-- parts, in order; a full table --> file-writer.c, in a thread
 *
 * The caller's thread opens and completes the files, and adds the rows to the table itself if it
 * has no other thread. So files and numbers of texts are the same with any number of threads.
 */
#include "tools/export/arrow/dataset.h"

#include "proto/abi/hash.h"
#include "proto/abi/session.h"
#include "replay/report/pieces.h"
#include "replay/report/rows/rowjson.h"
#include "replay/report/rows/rowwalk.h"
#include "sbt/reader-threads.h"
#include "tools/export/arrow/arrow-part.h"
#include "tools/export/arrow/file-writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define STEP_ROWS    8192u
#define PLACE_BYTES  200u /* of an encoded name of a folder or file; file systems allow 255 */
#define PATH_BYTES   1024u
#define NUMBER_BYTES 24u
#define UNKNOWN	     "unknown"
/* A multiple of 8, so that bits of parts are whole bytes in a table. */
#define PIECE_ROWS 512u
/* Fewer rows of a type do not pay for threads and their memory. */
#define MIN_ROWS (16u * PIECE_ROWS)
/* A part with more is not made: the caller's thread adds its rows. So threads have a limit. */
#define PART_TEXT_BYTES (1024u * 1024)

struct export_arrow {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	const struct ts_export_arrow_options *arrow;
	struct ts_export_report *report;
	struct ts_resolver *resolver;
	struct ts_rowjson *rowjson;
	struct ts_arrow_table table;
	struct ts_arrow_file_writer writer;
	struct ts_pieces *pieces;
	uint64_t origin_ns; /* the reader's, which searches all blocks for it */
	char job[PLACE_BYTES + 1], rank[PLACE_BYTES + 1], stem[PLACE_BYTES + 1];
	char host[PLACE_BYTES + 1];
	/* The session and type of the current rows. */
	uint32_t session;
	char session_number[NUMBER_BYTES];
	const struct ts_row_schema *schema;
	bool has_realtime;
	uint64_t realtime_offset_ns; /* plus a time of CLOCK_MONOTONIC: since 1970 */
	char origin[NUMBER_BYTES], origin_realtime[NUMBER_BYTES];
	uint64_t identity; /* of the trace and its session, in names of files */
	uint64_t slice;	   /* of the rows in the table */
	uint32_t n_files;  /* of the type */
};

/*
 * Encodes a text as a part of a path: other bytes than letters, digits and "-_" become %XX, and a
 * dot in front, too. A text that is too long is cut, and ends with a hash of the whole.
 */
static void encode(const char *text, char ret_place[PLACE_BYTES + 1])
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t limit = PLACE_BYTES - 20;
	size_t n = 0;

	for (const char *at = text; *at; at++) {
		if (n > limit) {
			snprintf(ret_place + n, PLACE_BYTES + 1 - n, "-%016" PRIx64,
				 ts_hash128(text, strlen(text)).a);
			return;
		}
		if (strchr(plain, *at) || (*at == '.' && n))
			ret_place[n++] = *at;
		else
			n += (size_t)snprintf(ret_place + n, 4, "%%%02X", (unsigned char)*at);
	}
	ret_place[n] = '\0';
}

/* Encodes a name of the data set: as given, else as in the trace's metadata. */
static void name_place(struct export_arrow *export, const char *given, const char *key,
		       char ret_place[PLACE_BYTES + 1])
{
	const char *text = given ? given : ts_sbt_reader_metadata(export->reader, key);

	encode(text && *text ? text : UNKNOWN, ret_place);
}

static void name_files(struct export_arrow *export)
{
	const char *slash = strrchr(export->arrow->path, '/');
	const char *name = slash ? slash + 1 : export->arrow->path;
	size_t n = strlen(name);
	char stem[PLACE_BYTES + 1];

	if (n > 4 && !strcmp(name + n - 4, ".sbt"))
		n -= 4;
	snprintf(stem, sizeof(stem), "%.*s", (int)(n < PLACE_BYTES ? n : PLACE_BYTES), name);
	encode(*stem ? stem : UNKNOWN, export->stem);
	name_place(export, NULL, TS_METADATA_HOSTNAME, export->host);
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint64_t slice_of(const struct export_arrow *export, uint64_t time_ns)
{
	const uint64_t origin_ns = export->origin_ns;

	if (export->has_realtime)
		return (time_ns + export->realtime_offset_ns) / export->arrow->slice_ns;
	return (time_ns > origin_ns ? time_ns - origin_ns : 0) / export->arrow->slice_ns;
}

/* Names the slice by its start, so that names sort by time. */
static void name_slice(const struct export_arrow *export, char text[NUMBER_BYTES])
{
	const uint64_t seconds = export->slice * (export->arrow->slice_ns / TS_ARROW_SLICE_UNIT_NS);
	const time_t time = (time_t)seconds;
	struct tm utc;

	if (!export->has_realtime || !gmtime_r(&time, &utc) ||
	    !strftime(text, NUMBER_BYTES, "%Y%m%dT%H%M%SZ", &utc))
		snprintf(text, NUMBER_BYTES, "t%09" PRIu64, seconds);
}

/* Completes the file that is being written. */
static int finish_file(struct export_arrow *export)
{
	int r;

	if (!export->writer.is_busy)
		return 0;
	r = ts_arrow_file_writer_wait(&export->writer);
	return r ? r : export->arrow->finish(export->arrow->user);
}

/* Writes the collected rows as a file. finish_file() completes it. */
static int write_file(struct export_arrow *export)
{
	char path[PATH_BYTES], slice[NUMBER_BYTES];
	const struct ts_arrow_fact facts[] = {
		{"tracesmith.generator", export->options->generator
						 ? export->options->generator
						 : "TraceSmith " TS_EXPORT_VERSION},
		{"tracesmith.type", export->schema->name},
		{"tracesmith.job", export->job},
		{"tracesmith.rank", export->rank},
		{"tracesmith.host", export->host},
		{"tracesmith.session", export->session_number},
		{"tracesmith.origin_ns", export->origin},
		{"tracesmith.origin_realtime_ns", export->origin_realtime},
	};
	FILE *file;
	int r;

	TS_STATIC_ASSERT(TS_ARRAY_LEN(facts) <= TS_ARROW_MAX_FACTS, "facts of a file");
	if (!export->table.n_rows)
		return 0;
	r = finish_file(export);
	if (r)
		return r;
	name_slice(export, slice);
	snprintf(path, sizeof(path),
		 "job=%s/rank=%s/type=%s/time=%s/%s-%" PRIu32 "-%016" PRIx64 "-%05" PRIu32 ".arrow",
		 export->job, export->rank, export->schema->name, slice, export->stem,
		 export->session, export->identity, export->n_files++);
	r = export->arrow->open(export->arrow->user, path, &file);
	return r ? r
		 : ts_arrow_file_writer_start(&export->writer, &export->table, facts,
					      TS_ARRAY_LEN(facts) - !export->has_realtime, file);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row in a piece; all rows of a type are equally long. */
struct item {
	uint64_t slice;
	uint8_t row[];
};

static size_t item_bytes(const struct export_arrow *export)
{
	return ts_align_up(sizeof(struct item) + export->schema->row_bytes, 8);
}

static struct ts_sbt_row row_of(const struct export_arrow *export, const struct item *item)
{
	return (struct ts_sbt_row){.type = export->schema->type,
				   .session = export->session,
				   .schema = export->schema,
				   .any = item->row};
}

static int add_row(struct ts_arrow_table *table, struct ts_rowjson *rowjson,
		   const struct ts_sbt_row *row)
{
	Ts__Rpc__Row message;
	int r = ts_rowjson_make(rowjson, row, &message);

	if (!r && !table->n_columns)
		r = ts_arrow_table_init(table, ts_rowjson_message(&message)->descriptor);
	return r ? r : ts_arrow_table_add(table, ts_rowjson_message(&message));
}

/* Writes the table if its next row is in another slice, or has no room. */
static int begin_slice(struct export_arrow *export, uint64_t slice)
{
	int r = 0;

	if (slice != export->slice || ts_arrow_table_is_full(&export->table))
		r = write_file(export);
	export->slice = slice;
	return r;
}

static int collect_row(struct export_arrow *export, const struct ts_sbt_row *row, uint64_t slice)
{
	int r = begin_slice(export, slice);

	return r ? r : add_row(&export->table, export->rowjson, row);
}

/* ---- pieces of rows -------------------------------------------------------------------------- */

/* Memory of a thread. */
struct maker {
	struct ts_resolver *resolver;
	struct ts_rowjson *rowjson;
	struct ts_arrow_table table;
};

static void maker_deinit(void *state)
{
	struct maker *maker = state;

	ts_arrow_table_deinit(&maker->table);
	ts_rowjson_free(maker->rowjson);
	ts_resolver_free(maker->resolver);
}

static int maker_init(void *data, void *state)
{
	const struct export_arrow *export = data;
	struct maker *maker = state;
	int r = ts_resolver_share(export->resolver, &maker->resolver);

	r = r ? r : ts_rowjson_new(maker->resolver, NULL, &maker->rowjson);
	if (r)
		maker_deinit(maker);
	return r;
}

static int put_part(struct maker *maker, uint64_t slice, struct ts_json *text)
{
	int r = maker->table.n_rows ? ts_arrow_part_put(&maker->table, slice, text) : 0;

	return r ? r : ts_arrow_table_clear(&maker->table);
}

/* Makes a part of each slice. */
static int make_parts(void *data, void *state, const uint8_t *items, size_t n_bytes,
		      struct ts_json *text)
{
	const struct export_arrow *export = data;
	struct maker *maker = state;
	uint64_t slice = 0;
	int r = ts_arrow_table_clear(&maker->table);

	for (size_t at = 0; !r && at < n_bytes; at += item_bytes(export)) {
		const struct item *item = (const void *)(items + at);
		const struct ts_sbt_row row = row_of(export, item);

		if (item->slice != slice)
			r = put_part(maker, slice, text);
		slice = item->slice;
		r = r ? r : add_row(&maker->table, maker->rowjson, &row);
		if (r == -E2BIG || maker->table.n_text_bytes > PART_TEXT_BYTES)
			r = TS_PIECES_IN_ORDER;
	}
	return r ? r : put_part(maker, slice, text);
}

/* Adds the rows to the table, without parts. */
static int collect_items(void *data, void *state, const uint8_t *items, size_t n_bytes,
			 struct ts_json *text)
{
	struct export_arrow *export = data;
	int r = 0;

	(void)state;
	(void)text;
	for (size_t at = 0; !r && at < n_bytes; at += item_bytes(export)) {
		const struct item *item = (const void *)(items + at);
		const struct ts_sbt_row row = row_of(export, item);

		r = collect_row(export, &row, item->slice);
	}
	return r;
}

/* Adds the parts of a piece to the table. */
static int collect_parts(void *data, const char *parts, size_t n_bytes)
{
	struct export_arrow *export = data;
	int r = 0;

	for (size_t at = 0; !r && at < n_bytes;) {
		const struct ts_arrow_part *part = (const void *)(parts + at);

		for (uint32_t from = 0; !r && from < part->n_rows;) {
			r = begin_slice(export, part->slice);
			r = r ? r : ts_arrow_part_add(&export->table, part, &from);
		}
		at += part->n_bytes;
	}
	return r;
}

static int new_pieces(struct export_arrow *export)
{
	const struct ts_pieces_kind kind = {.format = make_parts,
					    .format_in_order = collect_items,
					    .write = collect_parts,
					    .piece_bytes = PIECE_ROWS * item_bytes(export),
					    .data = export,
					    .state_bytes = sizeof(struct maker),
					    .state_init = maker_init,
					    .state_deinit = maker_deinit};

	return ts_pieces_new(&kind, &export->pieces);
}

static int take_row(struct export_arrow *export, const struct ts_sbt_row *row)
{
	const uint64_t slice = slice_of(export, ts_row_start_ns(row->any));
	struct item *item;
	void *space;
	int r;

	if (!export->pieces) {
		r = collect_row(export, row, slice);
	} else {
		r = ts_pieces_add(export->pieces, item_bytes(export), &space);
		if (!r) {
			item = space;
			item->slice = slice;
			memcpy(item->row, row->any, row->schema->row_bytes);
			ts_resolver_prepare(export->resolver, row);
		}
	}
	if (!r && ++export->report->n_rows % STEP_ROWS == 0 && export->options->step)
		export->options->step(export->options->user, export->report->n_rows);
	return r;
}

static int end_pieces(struct export_arrow *export)
{
	int r = export->pieces ? ts_pieces_end(export->pieces) : 0;

	ts_pieces_free(ts_take_ptr(export->pieces));
	return r;
}

static void note_damage(struct export_arrow *export, const struct ts_row_walk *walk)
{
	if (walk->is_damaged && !export->report->damaged)
		export->report->damage = walk->damage;
	export->report->damaged |= walk->is_damaged;
}

static int export_type(struct export_arrow *export, unsigned int type, uint64_t n_rows)
{
	ts_cleanup(ts_row_walk_deinit) struct ts_row_walk walk = {0};
	const struct ts_sbt_cursor_options rows = {.types = TS_ROW_BIT(type),
						   .session = export->session,
						   .from_ns = export->options->from_ns,
						   .to_ns = export->options->to_ns};
	/* As in `tsctl view`: begins of ended ranges are shown only if the options name them. */
	const bool all_begins = type != TS_ROW_RANGE_BEGIN || export->options->types & rows.types;
	struct ts_sbt_row row;
	int r = 0, ended;

	export->schema = ts_row_schema(type);
	export->n_files = 0;
	export->table.n_columns = 0;
	export->table.n_rows = 0;
	/* The name of a sample is a place in the code: it needs a stack and modules. */
	if (type != TS_ROW_SAMPLE && n_rows >= MIN_ROWS && ts_sbt_max_threads() > 1)
		r = new_pieces(export);
	r = r ? r : ts_row_walk_init(&walk, export->resolver, &rows, NULL, all_begins);
	while (!r) {
		r = ts_row_walk_next(&walk, &row);
		/* A walk over ranges also returns begins, which are another type here. */
		if (!r && row.type == type)
			r = take_row(export, &row);
	}
	note_damage(export, &walk);
	/* After an error, too: files of the rows so far become complete. */
	ended = end_pieces(export);
	if (ended)
		return ended;
	return r == TS_SBT_E_END ? write_file(export) : r;
}

/* Names the job and the rank of the rows: as given, else of their session, else of the trace. */
static void name_job(struct export_arrow *export, const struct ts_row_session *session)
{
	const char *job = export->arrow->job, *rank = export->arrow->rank;
	char number[NUMBER_BYTES];

	if (!job && session && session->job)
		job = ts_sbt_reader_string(export->reader, session->job, NULL);
	if (!rank && session && session->job_flags & TS_JOB_RANK) {
		snprintf(number, sizeof(number), "%" PRIu32, session->rank);
		rank = number;
	}
	name_place(export, job, "job", export->job);
	name_place(export, rank, "rank", export->rank);
}

static int set_session(struct export_arrow *export, uint32_t number)
{
	const struct ts_row_session *session = ts_sbt_reader_session(export->reader, number);
	static const uint8_t no_uuid[sizeof(session->uuid)];
	const char *path = export->arrow->path;
	/* The file of the session before has its names. */
	int r = finish_file(export);

	if (r)
		return r;
	export->session = number;
	snprintf(export->session_number, NUMBER_BYTES, "%" PRIu32, number);
	name_job(export, session);
	export->has_realtime = session && session->start_realtime_ns;
	export->realtime_offset_ns =
		export->has_realtime ? session->start_realtime_ns - session->start_ns : 0;
	snprintf(export->origin, NUMBER_BYTES, "%" PRIu64, export->origin_ns);
	snprintf(export->origin_realtime, NUMBER_BYTES, "%" PRIu64,
		 export->origin_ns + export->realtime_offset_ns);
	if (session && memcmp(session->uuid, no_uuid, sizeof(no_uuid)))
		export->identity = ts_hash128(session->uuid, sizeof(session->uuid)).a;
	else
		export->identity = ts_hash128(path, strlen(path)).a;
	return 0;
}

/* A session and a type that have rows. */
struct table_key {
	uint32_t session, type;
	uint64_t n_rows; /* of all blocks, in the window or not */
};

static int compare_keys(const void *a, const void *b)
{
	const struct table_key *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Open ranges belong to the ranges: a selection of ranges has both. */
static bool is_selected(const struct ts_export_options *options, unsigned int type)
{
	uint64_t types = options->types;

	if (types & TS_ROW_BIT(TS_ROW_RANGE))
		types |= TS_ROW_BIT(TS_ROW_RANGE_BEGIN);
	return ts_row_is_event(type) && (!types || types & TS_ROW_BIT(type));
}

/* Lists the sessions and types that have rows, in order. */
static int list_keys(const struct export_arrow *export, struct table_key **ret_keys, size_t *ret_n)
{
	const struct ts_export_options *options = export->options;
	const size_t n_blocks = ts_sbt_reader_n_blocks(export->reader);
	struct table_key *keys = calloc(n_blocks ? n_blocks : 1, sizeof(*keys));
	size_t n = 0, n_distinct = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n_blocks; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(export->reader, i);

		if (!is_selected(options, block->type) ||
		    (options->session && options->session != block->session))
			continue;
		keys[n++] = (struct table_key){block->session, block->type, block->n_rows};
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		if (!i || compare_keys(&keys[i], &keys[n_distinct - 1]))
			keys[n_distinct++] = keys[i];
		else
			keys[n_distinct - 1].n_rows += keys[i].n_rows;
	*ret_keys = keys;
	*ret_n = n_distinct;
	return 0;
}

static void export_arrow_deinit(struct export_arrow *export)
{
	ts_arrow_file_writer_deinit(&export->writer);
	ts_arrow_table_deinit(&export->table);
	ts_rowjson_free(export->rowjson);
	ts_resolver_free(export->resolver);
}

static int export_all(struct export_arrow *export, const struct ts_resolver_options *resolved)
{
	ts_cleanup(ts_freep) struct table_key *keys = NULL;
	size_t n = 0;
	int r = ts_resolver_new(export->reader, resolved, &export->resolver), finished;

	r = r ? r : ts_rowjson_new(export->resolver, NULL, &export->rowjson);
	r = r ? r : list_keys(export, &keys, &n);
	if (r)
		return r;
	name_files(export);
	for (size_t i = 0; !r && i < n; i++) {
		if (!i || keys[i].session != export->session)
			r = set_session(export, keys[i].session);
		r = r ? r : export_type(export, keys[i].type, keys[i].n_rows);
	}
	/* The rows of the last file precede an error. */
	finished = finish_file(export);
	return finished ? finished : r;
}

int ts_export_arrow(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    const struct ts_export_arrow_options *arrow, bool mangled,
		    struct ts_export_report *ret_report)
{
	static const struct ts_export_options whole = {0};
	const struct ts_resolver_options resolved = {.mangled = mangled};
	struct ts_export_report report = {.has_names = true};
	struct ts_export_arrow_options own = *arrow;
	ts_cleanup(export_arrow_deinit) struct export_arrow export = {
		.reader = reader,
		.options = options ? options : &whole,
		.arrow = &own,
		.report = &report,
		.origin_ns = ts_sbt_reader_origin_ns(reader)};
	const volatile int *before = NULL;
	int r;

	if (!own.path || !own.open || !own.finish || own.slice_ns % TS_ARROW_SLICE_UNIT_NS)
		return -EINVAL;
	own.slice_ns = own.slice_ns ? own.slice_ns : TS_ARROW_SLICE_NS;
	if (export.options->cancel)
		before = ts_sbt_reader_cancel(reader, export.options->cancel);
	r = export_all(&export, &resolved);
	if (export.options->cancel)
		ts_sbt_reader_cancel(reader, before);
	if (!r)
		*ret_report = report;
	return r;
}
