/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as a data set of Arrow files. tsctl export and bindings call this file. The rows
 * of each session and type are read in order of time, turned to the messages that `tsctl view
 * --json` prints (replay/report/rows), collected as columns (arrow-table.c) and written
 * (message.c). A file ends with its time slice, or when it is full.
 */
#include "tools/export/arrow/dataset.h"

#include "proto/abi/hash.h"
#include "proto/abi/session.h"
#include "replay/report/rows/rowjson.h"
#include "replay/report/rows/rowwalk.h"
#include "tools/export/arrow/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define STEP_ROWS    8192u
#define TYPE_BITS    8u
#define PLACE_BYTES  200u /* of an encoded name of a folder or file; file systems allow 255 */
#define PATH_BYTES   1024u
#define NUMBER_BYTES 24u
#define UNKNOWN	     "unknown"

struct export_arrow {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	const struct ts_export_arrow_options *arrow;
	struct ts_export_report *report;
	struct ts_resolver *resolver;
	struct ts_rowjson *rowjson;
	struct ts_arrow_table table;
	uint64_t origin_ns; /* the reader's, which searches all blocks for it */
	char job[PLACE_BYTES + 1], rank[PLACE_BYTES + 1], stem[PLACE_BYTES + 1];
	char host[PLACE_BYTES + 1];
	/* The session and type of the current rows. */
	uint32_t session;
	const struct ts_row_schema *schema;
	bool has_realtime;
	uint64_t realtime_offset_ns; /* plus a time of CLOCK_MONOTONIC: since 1970 */
	uint64_t identity;	     /* of the trace and its session, in names of files */
	uint64_t slice;
	uint32_t n_files;
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

/* Writes the collected rows as a file. */
static int write_file(struct export_arrow *export)
{
	const uint64_t origin_ns = export->origin_ns;
	char path[PATH_BYTES], slice[NUMBER_BYTES], session[NUMBER_BYTES], origin[NUMBER_BYTES],
		realtime[NUMBER_BYTES];
	const struct ts_arrow_fact facts[] = {
		{"tracesmith.generator", export->options->generator
						 ? export->options->generator
						 : "TraceSmith " TS_EXPORT_VERSION},
		{"tracesmith.type", export->schema->name},
		{"tracesmith.job", export->job},
		{"tracesmith.rank", export->rank},
		{"tracesmith.host", export->host},
		{"tracesmith.session", session},
		{"tracesmith.origin_ns", origin},
		{"tracesmith.origin_realtime_ns", realtime},
	};
	FILE *file;
	int r;

	if (!export->table.n_rows)
		return 0;
	name_slice(export, slice);
	snprintf(path, sizeof(path),
		 "job=%s/rank=%s/type=%s/time=%s/%s-%" PRIu32 "-%016" PRIx64 "-%05" PRIu32 ".arrow",
		 export->job, export->rank, export->schema->name, slice, export->stem,
		 export->session, export->identity, export->n_files++);
	snprintf(session, sizeof(session), "%" PRIu32, export->session);
	snprintf(origin, sizeof(origin), "%" PRIu64, origin_ns);
	snprintf(realtime, sizeof(realtime), "%" PRIu64, origin_ns + export->realtime_offset_ns);
	r = export->arrow->open(export->arrow->user, path, &file);
	r = r ? r
	      : ts_arrow_write(&export->table, facts, TS_ARRAY_LEN(facts) - !export->has_realtime,
			       file);
	r = r ? r : export->arrow->finish(export->arrow->user);
	return r ? r : ts_arrow_table_clear(&export->table);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int add_row(struct export_arrow *export, const struct ts_sbt_row *row)
{
	const uint64_t slice = slice_of(export, ts_row_start_ns(row->any));
	Ts__Rpc__Row message;
	int r = 0;

	if (slice != export->slice || ts_arrow_table_is_full(&export->table))
		r = write_file(export);
	export->slice = slice;
	r = r ? r : ts_rowjson_make(export->rowjson, row, &message);
	if (!r && !export->table.n_columns)
		r = ts_arrow_table_init(&export->table, ts_rowjson_message(&message)->descriptor);
	r = r ? r : ts_arrow_table_add(&export->table, ts_rowjson_message(&message));
	if (!r && ++export->report->n_rows % STEP_ROWS == 0 && export->options->step)
		export->options->step(export->options->user, export->report->n_rows);
	return r;
}

static void note_damage(struct export_arrow *export, const struct ts_row_walk *walk)
{
	if (walk->is_damaged && !export->report->damaged)
		export->report->damage = walk->damage;
	export->report->damaged |= walk->is_damaged;
}

static int export_type(struct export_arrow *export, unsigned int type)
{
	ts_cleanup(ts_row_walk_deinit) struct ts_row_walk walk = {0};
	const struct ts_sbt_cursor_options rows = {.types = TS_ROW_BIT(type),
						   .session = export->session,
						   .from_ns = export->options->from_ns,
						   .to_ns = export->options->to_ns};
	/* As in `tsctl view`: begins of ended ranges are shown only if the options name them. */
	const bool all_begins = type != TS_ROW_RANGE_BEGIN || export->options->types & rows.types;
	struct ts_sbt_row row;
	int r;

	export->schema = ts_row_schema(type);
	export->n_files = 0;
	export->table.n_columns = 0;
	export->table.n_rows = 0;
	r = ts_row_walk_init(&walk, export->resolver, &rows, NULL, all_begins);
	while (!r) {
		r = ts_row_walk_next(&walk, &row);
		/* A walk over ranges also returns begins, which are another type here. */
		if (!r && row.type == type)
			r = add_row(export, &row);
	}
	note_damage(export, &walk);
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

static void set_session(struct export_arrow *export, uint32_t number)
{
	const struct ts_row_session *session = ts_sbt_reader_session(export->reader, number);
	static const uint8_t no_uuid[sizeof(session->uuid)];
	const char *path = export->arrow->path;

	export->session = number;
	name_job(export, session);
	export->has_realtime = session && session->start_realtime_ns;
	export->realtime_offset_ns =
		export->has_realtime ? session->start_realtime_ns - session->start_ns : 0;
	if (session && memcmp(session->uuid, no_uuid, sizeof(no_uuid)))
		export->identity = ts_hash128(session->uuid, sizeof(session->uuid)).a;
	else
		export->identity = ts_hash128(path, strlen(path)).a;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Open ranges belong to the ranges: a selection of ranges has both. */
static bool is_selected(const struct ts_export_options *options, unsigned int type)
{
	uint64_t types = options->types;

	if (types & TS_ROW_BIT(TS_ROW_RANGE))
		types |= TS_ROW_BIT(TS_ROW_RANGE_BEGIN);
	return ts_row_is_event(type) && (!types || types & TS_ROW_BIT(type));
}

/* Lists the sessions and types that have rows: the session in the high bits of each key. */
static int list_keys(const struct export_arrow *export, uint64_t **ret_keys, size_t *ret_n)
{
	const struct ts_export_options *options = export->options;
	const size_t n_blocks = ts_sbt_reader_n_blocks(export->reader);
	uint64_t *keys = calloc(n_blocks ? n_blocks : 1, sizeof(*keys));
	size_t n = 0, n_distinct = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n_blocks; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(export->reader, i);

		if (!is_selected(options, block->type) ||
		    (options->session && options->session != block->session))
			continue;
		keys[n++] = (uint64_t)block->session << TYPE_BITS | block->type;
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		if (!i || keys[i] != keys[i - 1])
			keys[n_distinct++] = keys[i];
	*ret_keys = keys;
	*ret_n = n_distinct;
	return 0;
}

static void export_arrow_deinit(struct export_arrow *export)
{
	ts_arrow_table_deinit(&export->table);
	ts_rowjson_free(export->rowjson);
	ts_resolver_free(export->resolver);
}

static int export_all(struct export_arrow *export, const struct ts_resolver_options *resolved)
{
	ts_cleanup(ts_freep) uint64_t *keys = NULL;
	size_t n = 0;
	int r = ts_resolver_new(export->reader, resolved, &export->resolver);

	r = r ? r : ts_rowjson_new(export->resolver, NULL, &export->rowjson);
	r = r ? r : list_keys(export, &keys, &n);
	if (r)
		return r;
	name_files(export);
	for (size_t i = 0; !r && i < n; i++) {
		uint32_t session = (uint32_t)(keys[i] >> TYPE_BITS);

		if (!i || session != export->session)
			set_session(export, session);
		r = export_type(export, (unsigned int)(keys[i] & ((1u << TYPE_BITS) - 1)));
	}
	return r;
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
