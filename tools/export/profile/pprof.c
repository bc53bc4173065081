/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a pprof profile as a stream; tsctl export calls this file. This file calls collect.c and
 * export-frames.c.
 *
 * Concatenated protobuf messages are one message. So each part of the profile is packed separately,
 * and only the tables of names stay in memory. Samples come first, because they discover the frames
 * that the later parts describe.
 */
#include "tools/export/export-frames.h"
#include "tools/export/profile.pb-c.h"

#include <inttypes.h>
#include <zlib.h>

#define PIECE_BYTES 65536u
/* Window size of zlib, plus the flag for the gzip format. */
#define GZIP_WINDOW   (15 + 16)
#define MEMORY_LEVEL  8
#define MAX_LABELS    7
#define LINES_AT_ONCE 8u
#define N_VALUES      3u /* the weights of GPU work, or those of threads' time */

TS_STATIC_ASSERT(TS_EXPORT_FIRST_OF_HOST == N_VALUES && TS_EXPORT_N_WEIGHTS == 2 * N_VALUES,
		 "as many weights of either kind");

struct pprof {
	struct ts_frames frames;
	struct ts_collected collected;
	const struct ts_export_options *options;
	FILE *file;
	z_stream stream;
	bool compressing;
	struct ts_buffer packed;
	struct ts_buffer ids; /* of uint64_t: locations of the current sample */
};

static void pprof_deinit(struct pprof *pprof)
{
	if (pprof->compressing)
		deflateEnd(&pprof->stream);
	ts_frames_deinit(&pprof->frames);
	ts_collected_deinit(&pprof->collected);
	ts_buffer_deinit(&pprof->packed);
	ts_buffer_deinit(&pprof->ids);
}

/* ---- output ---------------------------------------------------------------------------------- */

static int compress_packed(struct pprof *pprof, bool is_last)
{
	unsigned char piece[PIECE_BYTES];
	int r;

	pprof->stream.next_in = pprof->packed.bytes;
	pprof->stream.avail_in = (uInt)pprof->packed.n;
	do {
		pprof->stream.next_out = piece;
		pprof->stream.avail_out = sizeof(piece);
		r = deflate(&pprof->stream, is_last ? Z_FINISH : Z_NO_FLUSH);
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
			return -EIO;
		fwrite(piece, 1, sizeof(piece) - pprof->stream.avail_out, pprof->file);
	} while (!pprof->stream.avail_out);
	pprof->packed.n = 0;
	return 0;
}

/* Appends a part of the profile. */
static int put(struct pprof *pprof, const Ts__Profile__Profile *part)
{
	size_t n = ts__profile__profile__get_packed_size(part);
	uint8_t *at;
	int r;

	r = n < UINT32_MAX / 2 ? ts_buffer_reserve(&pprof->packed, n, &at) : -E2BIG;
	if (r)
		return r;
	pprof->packed.n += ts__profile__profile__pack(part, at);
	return pprof->packed.n < PIECE_BYTES ? 0 : compress_packed(pprof, false);
}

static int text(struct pprof *pprof, const char *string, int64_t *ret_text)
{
	uint32_t id;
	int r = ts_texts_add(&pprof->frames.texts, string, &id);

	if (!r)
		*ret_text = id;
	return r;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct labels {
	Ts__Profile__Label labels[MAX_LABELS], *list[MAX_LABELS];
	size_t n;
};

/* Adds a text label; an empty text makes no label. */
static int label_text(struct pprof *pprof, struct labels *labels, const char *key,
		      uint32_t string_id)
{
	Ts__Profile__Label *label = &labels->labels[labels->n];
	int r;

	ts__profile__label__init(label);
	r = text(pprof, key, &label->key);
	if (!r)
		r = text(pprof, ts_sbt_reader_string(pprof->frames.reader, string_id, NULL),
			 &label->str);
	if (!r && label->str)
		labels->list[labels->n++] = label;
	return r;
}

/* Adds a number label whose unit is its name. Trap: pprof ignores a 0 without a unit. */
static int label_number(struct pprof *pprof, struct labels *labels, const char *key,
			uint32_t number)
{
	Ts__Profile__Label *label = &labels->labels[labels->n];
	int r;

	ts__profile__label__init(label);
	label->num = number;
	r = text(pprof, key, &label->key);
	label->num_unit = label->key;
	if (!r)
		labels->list[labels->n++] = label;
	return r;
}

static int label_state(struct pprof *pprof, struct labels *labels, const struct ts_sample *sample)
{
	Ts__Profile__Label *label = &labels->labels[labels->n];
	char state[TS_FRAME_STATE_BYTES];
	int r;

	ts__profile__label__init(label);
	ts_frames_state(&pprof->frames, sample, state);
	r = text(pprof, "state", &label->key);
	r = r ? r : text(pprof, state, &label->str);
	if (!r)
		labels->list[labels->n++] = label;
	return r;
}

static int add_labels(struct pprof *pprof, const struct ts_site *site,
		      const struct ts_sample *sample, struct labels *labels)
{
	struct ts_sbt_reader *reader = pprof->frames.reader;
	const struct ts_row_session *session = ts_sbt_reader_session(reader, site->session);
	const struct ts_row_thread *thread =
		site->thread ? ts_sbt_reader_thread(reader, site->session, site->thread) : NULL;
	int r = 0;

	if (session) {
		r = label_text(pprof, labels, "process", session->program);
		if (!r)
			r = label_number(pprof, labels, "pid", session->pid);
	}
	if (!r && thread) {
		r = label_text(pprof, labels, "thread", thread->name);
		if (!r)
			r = label_number(pprof, labels, "tid", thread->tid);
	}
	if (!r && (sample->type == TS_ROW_SAMPLE || sample->type == TS_ROW_OFF_CPU))
		r = label_state(pprof, labels, sample);
	if (!r && sample->device != TS_NO_DEVICE)
		r = label_number(pprof, labels, "device", sample->device);
	if (!r && sample->stream != TS_NO_DEVICE)
		r = label_number(pprof, labels, "stream", sample->stream);
	return r;
}

static unsigned first_weight(const struct pprof *pprof)
{
	return pprof->options->weight < TS_EXPORT_FIRST_OF_HOST ? 0 : TS_EXPORT_FIRST_OF_HOST;
}

static int put_sample(struct pprof *pprof, const struct ts_sample *from)
{
	const struct ts_site *site = ts_hashtable_at(&pprof->collected.sites, from->site);
	Ts__Profile__Sample sample = TS__PROFILE__SAMPLE__INIT, *list = &sample;
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	unsigned first = first_weight(pprof);
	int64_t values[N_VALUES];
	struct labels labels = {.n = 0};
	const uint32_t *locations;
	size_t n;
	int r = ts_frames_path(&pprof->frames, site, from, &locations, &n);

	pprof->ids.n = 0;
	for (size_t i = 0; !r && i < n; i++) {
		uint64_t id = locations[i] + UINT64_C(1);

		r = ts_buffer_append(&pprof->ids, &id, sizeof(id));
	}
	if (!r)
		r = add_labels(pprof, site, from, &labels);
	if (r)
		return r;
	for (size_t i = 0; i < N_VALUES; i++)
		values[i] = (int64_t)from->values[first + i];
	sample.n_location_id = n;
	sample.location_id = (void *)pprof->ids.bytes;
	sample.n_value = N_VALUES;
	sample.value = values;
	sample.n_label = labels.n;
	sample.label = labels.list;
	part.n_sample = 1;
	part.sample = &list;
	return put(pprof, &part);
}

/* ---- tables of mappings, locations, functions and texts -------------------------------------- */

static int put_mapping(struct pprof *pprof, uint32_t i)
{
	const struct ts_frame_mapping *from = ts_hashtable_at(&pprof->frames.mappings, i);
	Ts__Profile__Mapping mapping = TS__PROFILE__MAPPING__INIT, *list = &mapping;
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	char build_id[2 * sizeof(from->build_id) + 1] = "";
	int r;

	for (uint32_t b = 0; b < from->n_build_id_bytes; b++)
		snprintf(build_id + 2 * b, 3, "%02x", from->build_id[b]);
	mapping.id = i + UINT64_C(1);
	mapping.memory_start = from->address;
	mapping.memory_limit = from->address + from->bytes;
	/* file_offset stays 0: the first mapping of a file starts at its beginning. */
	mapping.has_functions =
		from->result == TS_IMAGE_RESOLVED || from->result == TS_IMAGE_NO_DEBUG;
	mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames =
		from->result == TS_IMAGE_RESOLVED;
	r = text(pprof, ts_sbt_reader_string(pprof->frames.reader, from->path, NULL),
		 &mapping.filename);
	if (!r)
		r = text(pprof, build_id, &mapping.build_id);
	part.n_mapping = 1;
	part.mapping = &list;
	return r ? r : put(pprof, &part);
}

/*
 * Finds the mapping of the program's own file, which comes first even if no frame uses it. The
 * loader lists it before all others.
 */
static int find_program(struct pprof *pprof, uint32_t *ret_mapping)
{
	struct ts_sbt_reader *reader = pprof->frames.reader;
	size_t n = ts_sbt_reader_n_modules(reader);

	*ret_mapping = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_module *module = ts_sbt_reader_module_at(reader, i);

		if (pprof->options->session && module->session != pprof->options->session)
			continue;
		return module->row.address < module->row.address_end
			       ? ts_frames_mapping(&pprof->frames, &module->row, ret_mapping)
			       : 0;
	}
	return 0;
}

static int put_mappings(struct pprof *pprof)
{
	uint32_t first;
	int r = find_program(pprof, &first);

	if (!r && pprof->frames.mappings.n)
		r = put_mapping(pprof, first);
	for (uint32_t i = 0; !r && i < pprof->frames.mappings.n; i++)
		if (i != first)
			r = put_mapping(pprof, i);
	return r;
}

static int put_location(struct pprof *pprof, uint32_t i)
{
	const struct ts_frame_location *from = ts_hashtable_at(&pprof->frames.locations, i);
	Ts__Profile__Location location = TS__PROFILE__LOCATION__INIT, *list = &location;
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	Ts__Profile__Line few[LINES_AT_ONCE], *few_list[LINES_AT_ONCE], *lines = few;
	ts_cleanup(ts_freep) Ts__Profile__Line *many = NULL;
	ts_cleanup(ts_freep) Ts__Profile__Line **many_list = NULL;

	location.line = few_list;
	if (from->n_lines > LINES_AT_ONCE) {
		lines = many = calloc(from->n_lines, sizeof(*many));
		location.line = many_list = calloc(from->n_lines, sizeof(*many_list));
		if (!many || !many_list)
			return -ENOMEM;
	}
	for (uint32_t l = 0; l < from->n_lines; l++) {
		const struct ts_frame_line *line =
			ts_frames_line(&pprof->frames, from->first_line + l);

		ts__profile__line__init(&lines[l]);
		lines[l].function_id = line->function + UINT64_C(1);
		lines[l].line = line->line;
		location.line[l] = &lines[l];
	}
	location.n_line = from->n_lines;
	location.id = i + UINT64_C(1);
	location.mapping_id = from->kind == TS_FRAME_OF_FILE ? from->owner + UINT64_C(1) : 0;
	location.address = from->address;
	part.n_location = 1;
	part.location = &list;
	return put(pprof, &part);
}

static int put_function(struct pprof *pprof, uint32_t i)
{
	const struct ts_frame_function *from = ts_hashtable_at(&pprof->frames.functions, i);
	Ts__Profile__Function function = TS__PROFILE__FUNCTION__INIT, *list = &function;
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;

	function.id = i + UINT64_C(1);
	function.name = from->name;
	function.system_name = from->system_name;
	function.filename = from->file;
	part.n_function = 1;
	part.function = &list;
	return put(pprof, &part);
}

static int put_texts(struct pprof *pprof)
{
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	int r = 0;

	for (uint32_t i = 0; !r && i < ts_texts_n(&pprof->frames.texts); i++) {
		size_t n;
		const char *at = ts_texts_at(&pprof->frames.texts, i, &n);
		ts_cleanup(ts_freep) char *string = malloc(n + 1);

		if (!string)
			return -ENOMEM;
		/* strndup() does not fit: the text is not terminated. */
		memcpy(string, at, n);
		string[n] = '\0';
		part.n_string_table = 1;
		part.string_table = &string;
		r = put(pprof, &part);
	}
	return r;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct {
	const char *type, *unit;
} weights[TS_EXPORT_N_WEIGHTS] = {
	[TS_EXPORT_LAUNCHES] = {"launches", "count"},
	[TS_EXPORT_GPU_TIME] = {"gpu", "nanoseconds"},
	[TS_EXPORT_BYTES] = {"copied", "bytes"},
	[TS_EXPORT_CPU] = {"cpu", "nanoseconds"},
	[TS_EXPORT_OFF_CPU] = {"off_cpu", "nanoseconds"},
	[TS_EXPORT_HOST] = {"host", "nanoseconds"},
};

static int put_types(struct pprof *pprof)
{
	Ts__Profile__ValueType types[N_VALUES], *list[N_VALUES];
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	unsigned first = first_weight(pprof);
	int r = 0;

	for (size_t i = 0; !r && i < N_VALUES; i++) {
		ts__profile__value_type__init(&types[i]);
		list[i] = &types[i];
		r = text(pprof, weights[first + i].type, &types[i].type);
		if (!r)
			r = text(pprof, weights[first + i].unit, &types[i].unit);
	}
	part.n_sample_type = N_VALUES;
	part.sample_type = list;
	/*
	 * GPU work: every launch is recorded, so the period is 1. Threads: one sample per period of
	 * on-CPU time.
	 */
	part.period_type = &types[0];
	part.period = first ? (int64_t)(pprof->collected.period_ns & INT64_MAX) : 1;
	part.default_sample_type = types[pprof->options->weight - first].type;
	return r ? r : put(pprof, &part);
}

static int put_comment(struct pprof *pprof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int put_comment(struct pprof *pprof, const char *format, ...)
{
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	ts_cleanup(ts_freep) char *words = NULL;
	va_list args;
	int64_t id;
	int n, r;

	va_start(args, format);
	n = vasprintf(&words, format, args);
	va_end(args);
	if (n < 0) {
		words = NULL;
		return -ENOMEM;
	}
	r = text(pprof, words, &id);
	part.n_comment = 1;
	part.comment = &id;
	return r ? r : put(pprof, &part);
}

static int put_losses(struct pprof *pprof)
{
	const struct ts_export_report *report = &pprof->collected.report;
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(pprof->frames.reader, pprof->options->session, &summary);

	/* Comments below report the damage. */
	if (r > 0)
		memset(&summary, 0, sizeof(summary));
	else if (r)
		return r;
	r = 0;
	for (unsigned int reason = 0; !r && reason < TS_LOSS_COUNT; reason++) {
		const char *name = ts_loss_reason_name(reason);

		if (summary.lost[reason] && name)
			r = put_comment(pprof, "lost: %" PRIu64 " %s", summary.lost[reason], name);
		else if (summary.lost[reason])
			r = put_comment(pprof, "lost: %" PRIu64 " reason_%u", summary.lost[reason],
					reason);
	}
	if (!r && report->n_without_call)
		r = put_comment(pprof, "operations without their call: %" PRIu64,
				report->n_without_call);
	if (!r && report->n_without_stack)
		r = put_comment(pprof, "without a stack: %" PRIu64, report->n_without_stack);
	if (!r && report->damaged)
		r = put_comment(pprof, "the trace is damaged at byte %" PRIu64 ": %s",
				report->damage.off, report->damage.text);
	if (!r && ts_sbt_reader_state(pprof->frames.reader) == TS_SBT_TRUNCATED)
		r = put_comment(pprof, "the trace is cut off");
	return r;
}

static int put_comments(struct pprof *pprof)
{
	static const char *const keys[] = {TS_METADATA_HOSTNAME, TS_METADATA_COMMAND};
	int r = pprof->options->generator ? put_comment(pprof, "%s", pprof->options->generator) : 0;

	for (size_t i = 0; !r && i < TS_ARRAY_LEN(keys); i++) {
		const char *value = ts_sbt_reader_metadata(pprof->frames.reader, keys[i]);

		if (value && *value)
			r = put_comment(pprof, "%s: %s", keys[i], value);
	}
	return r ? r : put_losses(pprof);
}

/* Converts a time of the trace to nanoseconds since 1970. 0: unknown, or an overflow. */
static int64_t real_time(struct ts_sbt_reader *reader, uint64_t time_ns)
{
	const struct ts_row_session *session =
		ts_sbt_reader_n_sessions(reader) ? ts_sbt_reader_session_at(reader, 0) : NULL;
	int64_t real_ns;

	if (!session || !session->start_realtime_ns)
		return 0;
	real_ns = (int64_t)(session->start_realtime_ns + (time_ns - session->start_ns));
	return real_ns > 0 ? real_ns : 0;
}

static int put_times(struct pprof *pprof)
{
	Ts__Profile__Profile part = TS__PROFILE__PROFILE__INIT;
	struct ts_sbt_reader *reader = pprof->frames.reader;
	uint64_t from_ns = ts_sbt_reader_origin_ns(reader), to_ns = from_ns;
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(reader, pprof->options->session, &summary);

	if (r < 0)
		return r;
	if (!r && summary.latest_ns > to_ns)
		to_ns = summary.latest_ns;
	if (pprof->options->from_ns > from_ns)
		from_ns = pprof->options->from_ns;
	if (pprof->options->to_ns && pprof->options->to_ns < to_ns)
		to_ns = pprof->options->to_ns;
	part.time_nanos = real_time(reader, from_ns);
	if (to_ns > from_ns && to_ns - from_ns <= INT64_MAX)
		part.duration_nanos = (int64_t)(to_ns - from_ns);
	return put(pprof, &part);
}

static int put_all(struct pprof *pprof)
{
	int r = put_types(pprof);

	for (uint32_t i = 0; !r && i < pprof->collected.samples.n; i++)
		r = put_sample(pprof, ts_hashtable_at(&pprof->collected.samples, i));
	if (!r)
		r = put_mappings(pprof);
	for (uint32_t i = 0; !r && i < pprof->frames.locations.n; i++)
		r = put_location(pprof, i);
	for (uint32_t i = 0; !r && i < pprof->frames.functions.n; i++)
		r = put_function(pprof, i);
	ts_frames_report(&pprof->frames, &pprof->collected.report);
	if (!r)
		r = put_times(pprof);
	if (!r)
		r = put_comments(pprof);
	/* Texts come last, because every earlier part adds some. */
	if (!r)
		r = put_texts(pprof);
	return r ? r : compress_packed(pprof, true);
}

int ts_export_pprof(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    FILE *file, struct ts_export_report *ret_report)
{
	ts_cleanup(pprof_deinit) struct pprof pprof = {.options = options, .file = file};
	int r = ts_frames_init(&pprof.frames, reader, options);

	if (!r)
		r = ts_collect(reader, options, true, &pprof.collected);
	if (!r && deflateInit2(&pprof.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			       MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		r = -ENOMEM;
	pprof.compressing = !r;
	if (!r)
		r = put_all(&pprof);
	if (r)
		return r;
	*ret_report = pprof.collected.report;
	return 0;
}
