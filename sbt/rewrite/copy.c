/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies traces into one trace: unites sessions, translates ids, writes rows in order of time.
 * tools/tsctl/trace/copyout.c calls ts_sbt_copy(). Rows and definitions that several sources have
 * are recognised by content, after all ids in them are the copy's own.
 *
 *     find_sessions -> unite (by UUID) -> copy_session, for each session of the copy:
 *     definitions -> rows: copy_window (one source), copy_rows (one part) or merge_rows (several)
 *                 -> modules of the stacks that are kept
 *
 * copy-clock.c sets the clocks and the metadata. copy-window.c selects the rows of a window.
 * copy-translate.c translates rows. copy-symbols.c copies images and symbols at the end.
 */
#include "sbt/read/filter.h"
#include "sbt/rewrite/copy-internal.h"

#include <stdio.h>
#include <sys/random.h>

#define SEAL_BYTES (16u * 1024 * 1024)

/* Ids */

static int translate_frames(struct ts_copy *copy, struct ts_copy_part *part,
			    const struct ts_sbt_stack *stack, uint64_t *frames)
{
	struct ts_copy_source *source = part->source;
	int r = 0;

	for (uint32_t i = 0; !r && i < stack->n_frames; i++) {
		uint32_t id;

		frames[i] = stack->frames[i];
		if (TS_FRAME_KIND(frames[i]) == TS_FRAME_PYTHON) {
			r = ts_copy_string(copy, source, TS_FRAME_STRING(frames[i]), &id);
			frames[i] = TS_FRAME_PYTHON_AT(id, TS_FRAME_LINE(frames[i]));
		} else if (copy->options->has_window &&
			   TS_FRAME_KIND(frames[i]) == TS_FRAME_NATIVE) {
			r = ts_copy_keep_frame(source, part->row->session,
					       ts_symbols_call(TS_FRAME_VALUE(frames[i]), i));
		}
	}
	return r;
}

static int copy_stack(struct ts_copy *copy, struct ts_copy_part *part,
		      struct ts_copy_session *session, uint32_t id, uint32_t *ret_id)
{
	uint64_t key = (uint64_t)part->row->session << 32 | id, known;
	uint64_t content[TS_STACK_MAX_FRAMES + 1]; /* flags, then frames */
	struct ts_sbt_stack stack;
	uint32_t new_id;
	bool is_new;
	int r;

	*ret_id = 0;
	if (!id)
		return 0;
	known = ts_map_get(&part->source->stacks, key);
	if (known) {
		*ret_id = (uint32_t)(known - 1);
		return 0;
	}
	r = ts_sbt_reader_stack(part->source->reader, part->row->session, id, &stack);
	if (r || stack.n_frames > TS_STACK_MAX_FRAMES)
		return r < 0 ? r : 0;
	content[0] = stack.flags;
	r = translate_frames(copy, part, &stack, content + 1);
	r = r ?: ts_intern(&session->stacks, content, (stack.n_frames + 1) * 8, &new_id, &is_new);
	if (!r && is_new)
		r = ts_sbt_session_writer_add_stack(session->writer, content + 1, stack.n_frames,
						    stack.flags, &new_id);
	if (r)
		return r;
	*ret_id = new_id;
	return ts_map_set(&part->source->stacks, key, (uint64_t)new_id + 1);
}

static int copy_thread(struct ts_copy *copy, struct ts_copy_part *part,
		       struct ts_copy_session *session, uint32_t id, uint32_t *ret_id)
{
	uint64_t key = (uint64_t)part->row->session << 32 | id, known;
	const struct ts_row_thread *row;
	struct ts_row_thread thread;
	uint32_t new_id;
	bool is_new;
	int r;

	*ret_id = 0;
	if (!id)
		return 0;
	known = ts_map_get(&part->source->threads, key);
	if (known) {
		*ret_id = (uint32_t)(known - 1);
		return 0;
	}
	row = ts_sbt_reader_thread(part->source->reader, part->row->session, id);
	if (!row)
		return 0;
	r = ts_copy_translate_definition(copy, part->source, ts_row_schema(TS_ROW_THREAD), row,
					 &thread);
	thread.thread = 0;
	r = r ?: ts_intern(&session->threads, &thread, sizeof(thread), &new_id, &is_new);
	if (!r && is_new)
		r = ts_sbt_session_writer_add_thread(session->writer, &thread, &new_id);
	if (r)
		return r;
	*ret_id = new_id;
	return ts_map_set(&part->source->threads, key, (uint64_t)new_id + 1);
}

int ts_copy_translate(struct ts_copy *copy, struct ts_copy_part *part,
		      struct ts_copy_session *session, const struct ts_row_schema *schema,
		      const void *row, void *ret_row)
{
	int r = ts_copy_translate_definition(copy, part->source, schema, row, ret_row);
	uint32_t id;

	for (unsigned i = 0; !r && i < schema->n_columns; i++) {
		const struct ts_column *column = &schema->columns[i];

		if (column->role != TS_ROLE_STACK && column->role != TS_ROLE_THREAD)
			continue;
		id = (uint32_t)ts_column_get(column, row);
		r = column->role == TS_ROLE_STACK ? copy_stack(copy, part, session, id, &id)
						  : copy_thread(copy, part, session, id, &id);
		ts_copy_put_column(column, ret_row, id);
	}
	return r;
}

/* Rows */

static int seal(struct ts_copy_session *session)
{
	return ts_sbt_session_writer_seal(session->writer, NULL, 0);
}

static int write_row(struct ts_copy *copy, struct ts_copy_session *session, unsigned type,
		     const void *row)
{
	int r = ts_sbt_session_writer_add_row(session->writer, type, row);

	copy->report->n_rows += !r;
	if (!r && ts_sbt_session_writer_pending_bytes(session->writer) >= SEAL_BYTES)
		r = seal(session);
	return r;
}

/* Advances to the next row of a part. part->has_next is false at the end. */
static int advance(struct ts_copy *copy, struct ts_copy_part *part)
{
	int r;

	do
		r = ts_sbt_cursor_next(part->cursor, &part->next);
	while (r && r != TS_SBT_E_END && !(r = ts_copy_damage(copy, part->source, r)));
	part->has_next = !r;
	return r == TS_SBT_E_END ? 0 : r;
}

/*
 * Counts the captured operations of the sessions that are copied. A copy has none of them, because
 * a part of them cannot be replayed.
 */
static uint64_t captured_operations(const struct ts_sbt_reader *reader,
				    const struct ts_sbt_copy_options *options)
{
	uint64_t n = 0;

	for (size_t i = 0; i < reader->n_blocks; i++)
		if (reader->blocks[i].type == TS_ROW_OPERATION &&
		    (!options->session || reader->blocks[i].session == options->session))
			n += reader->blocks[i].n_rows;
	return n;
}

/*
 * Opens the cursor of a part. Captured operations are left out: their blobs are not copied, and a
 * part of them cannot be replayed.
 */
static int begin(struct ts_copy *copy, struct ts_copy_part *part, uint64_t from_ns, uint64_t to_ns,
		 const uint8_t *among)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_EVENTS &
							 ~TS_ROW_BIT(TS_ROW_OPERATION),
						.session = part->row->session,
						.from_ns = from_ns,
						.to_ns = to_ns};
	int r;

	ts_sbt_cursor_freep(&part->cursor);
	part->cursor = NULL;
	r = ts_sbt_cursor_new_among(part->source->reader, &options, among, &part->cursor);
	return r ?: advance(copy, part);
}

/*
 * Copies the rows of a session with one part; the cursor returns them in order. With `outside`, the
 * rows that touch the window are already written, and are skipped.
 */
static int copy_rows(struct ts_copy *copy, struct ts_copy_session *session, bool outside)
{
	struct ts_copy_part *part = session->parts;
	const struct ts_copy_window *window = &part->window;
	uint8_t row[TS_ROW_MAX_BYTES];
	int r = 0;

	for (; !r && part->has_next; r = r ?: advance(copy, part)) {
		const struct ts_sbt_row *next = &part->next;
		bool touches = ts_row_start_ns(next->any) <= window->to_ns &&
			       ts_row_end_ns(next->schema, next->any) >= window->from_ns;

		if (outside && (touches || !ts_copy_window_keeps(window, next)))
			continue;
		r = ts_copy_translate(copy, part, session, next->schema, next->any, row);
		r = r ?: write_row(copy, session, next->type, row);
	}
	return r;
}

static int copy_window(struct ts_copy *copy, struct ts_copy_session *session)
{
	struct ts_copy_part *part = session->parts;
	uint64_t to_ns = part->window.to_ns == UINT64_MAX ? 0 : part->window.to_ns;
	ts_cleanup(ts_freep) uint8_t *chosen = NULL;
	int r = ts_copy_window_learn(copy, part);

	r = r ?: begin(copy, part, part->window.from_ns, to_ns, NULL);
	r = r ?: copy_rows(copy, session, false);
	r = r ?: ts_copy_window_choose(part, &chosen);
	r = r ?: begin(copy, part, 0, 0, chosen);
	return r ?: copy_rows(copy, session, true);
}

/* A row among all rows with the same start time; several parts may have this row. */
struct shared {
	uint32_t type;
	uint32_t part;
	size_t order; /* order of arrival */
	bool drop;
	uint8_t row[TS_ROW_MAX_BYTES];
};

static int compare_shared(const void *a, const void *b)
{
	const struct shared *x = a, *y = b;
	int order = memcmp(x->row, y->row, sizeof(x->row));

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (order)
		return order;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_arrival(const void *a, const void *b)
{
	const struct shared *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_row(const struct shared *a, const struct shared *b)
{
	return a->type == b->type && !memcmp(a->row, b->row, sizeof(a->row));
}

/*
 * For each group of equal rows, keeps as many as the part that has the most. One trace may have
 * equal rows, so it is not enough to keep one row of a group.
 */
static void drop_repeated(struct shared *rows, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		size_t n_most = 0, n_of_part = 0;

		for (end = i; end < n && same_row(&rows[i], &rows[end]); end++) {
			n_of_part =
				end > i && rows[end].part == rows[end - 1].part ? n_of_part + 1 : 1;
			n_most = n_of_part > n_most ? n_of_part : n_most;
		}
		for (size_t j = i + n_most; j < end; j++)
			rows[j].drop = true;
	}
}

static int write_instant(struct ts_copy *copy, struct ts_copy_session *session,
			 struct ts_buffer *instant)
{
	struct shared *rows = (void *)instant->bytes;
	size_t n = instant->n / sizeof(*rows);
	int r = 0;

	if (n > 1) {
		qsort(rows, n, sizeof(*rows), compare_shared);
		drop_repeated(rows, n);
		qsort(rows, n, sizeof(*rows), compare_arrival);
	}
	for (size_t i = 0; !r && i < n; i++) {
		if (rows[i].drop)
			copy->report->n_repeated++;
		else
			r = write_row(copy, session, rows[i].type, rows[i].row);
	}
	instant->n = 0;
	return r;
}

static uint64_t next_ns(const struct ts_copy_part *part)
{
	return part->has_next ? ts_copy_time(part->source, ts_row_start_ns(part->next.any))
			      : UINT64_MAX;
}

static int take_instant(struct ts_copy *copy, struct ts_copy_session *session, uint64_t ns,
			struct ts_buffer *instant)
{
	int r = 0;

	for (size_t i = 0; !r && i < session->n_parts; i++) {
		struct ts_copy_part *part = &session->parts[i];

		for (; !r && part->has_next && next_ns(part) == ns; r = r ?: advance(copy, part)) {
			struct shared shared = {.type = part->next.type,
						.part = (uint32_t)i,
						.order = instant->n / sizeof(shared)};

			r = ts_copy_translate(copy, part, session, part->next.schema,
					      part->next.any, shared.row);
			r = r ?: ts_buffer_append(instant, &shared, sizeof(shared));
		}
	}
	return r;
}

/* Merges the rows of several parts, one start time after the other. */
static int merge_rows(struct ts_copy *copy, struct ts_copy_session *session)
{
	struct ts_buffer instant = {0};
	int r = 0;

	for (;;) {
		bool any = false;
		uint64_t ns = UINT64_MAX;

		for (size_t i = 0; i < session->n_parts; i++) {
			any |= session->parts[i].has_next;
			if (next_ns(&session->parts[i]) < ns)
				ns = next_ns(&session->parts[i]);
		}
		if (r || !any)
			break;
		r = take_instant(copy, session, ns, &instant);
		r = r ?: write_instant(copy, session, &instant);
	}
	ts_buffer_deinit(&instant);
	return r;
}

/* Sessions */

static int copy_definition(struct ts_copy *copy, struct ts_copy_part *part,
			   struct ts_copy_session *session, unsigned type, const void *row)
{
	struct {
		uint64_t type;
		uint8_t row[TS_ROW_MAX_BYTES];
	} content = {.type = type};
	uint32_t id;
	bool is_new;
	int r;

	r = ts_copy_translate_definition(copy, part->source, ts_row_schema(type), row, content.row);
	r = r ?: ts_intern(&session->others, &content, sizeof(content), &id, &is_new);
	if (r || !is_new)
		return r;
	return ts_sbt_session_writer_add_row(session->writer, type, content.row);
}

/*
 * Copies devices and names of a part. Without a window, it also copies all threads; with a window,
 * a thread is copied when a row refers to it.
 */
static int copy_definitions(struct ts_copy *copy, struct ts_copy_part *part,
			    struct ts_copy_session *session)
{
	struct ts_sbt_reader *reader = part->source->reader;
	uint32_t number = part->row->session, id;
	int r = 0;

	for (size_t i = 0; !r && i < ts_sbt_reader_n_devices(reader); i++)
		if (ts_sbt_reader_device_at(reader, i)->session == number)
			r = copy_definition(copy, part, session, TS_ROW_DEVICE,
					    &ts_sbt_reader_device_at(reader, i)->row);
	for (size_t i = 0; !r && i < ts_sbt_reader_n_names(reader); i++)
		if (ts_sbt_reader_name_at(reader, i)->session == number)
			r = copy_definition(copy, part, session, TS_ROW_NAME,
					    &ts_sbt_reader_name_at(reader, i)->row);
	for (size_t i = 0; !r && !copy->options->has_window && i < ts_sbt_reader_n_threads(reader);
	     i++)
		if (ts_sbt_reader_thread_at(reader, i)->session == number)
			r = copy_thread(copy, part, session,
					ts_sbt_reader_thread_at(reader, i)->row.thread, &id);
	return r;
}

/*
 * Copies modules. Called after the rows of the session are copied, because then it is known which
 * stacks are kept.
 */
static int copy_modules(struct ts_copy *copy, struct ts_copy_part *part,
			struct ts_copy_session *session)
{
	struct ts_sbt_reader *reader = part->source->reader;
	int r = 0;

	for (size_t i = 0; !r && i < ts_sbt_reader_n_modules(reader); i++) {
		const struct ts_sbt_module *module = ts_sbt_reader_module_at(reader, i);

		if (module->session == part->row->session &&
		    (!copy->options->has_window ||
		     ts_copy_keeps_module(part->source, module->session, &module->row)))
			r = copy_definition(copy, part, session, TS_ROW_MODULE, &module->row);
	}
	return r;
}

/*
 * Combines the session rows of all parts: the first start, the last end, the largest clock error.
 */
static int combine_row(struct ts_copy *copy, struct ts_copy_session *session,
		       struct ts_row_session *ret_row)
{
	struct ts_row_session row;
	int r = 0;

	for (size_t i = 0; !r && i < session->n_parts; i++) {
		struct ts_copy_part *part = &session->parts[i];
		struct ts_row_session earlier = *ret_row;
		uint64_t error_ns = part->source->asked->shift_error_ns;

		r = ts_copy_translate_definition(copy, part->source, ts_row_schema(TS_ROW_SESSION),
						 part->row, &row);
		if (__builtin_add_overflow(row.clock_error_ns, error_ns, &row.clock_error_ns))
			row.clock_error_ns = UINT64_MAX;
		if (i && (!row.ended || (earlier.ended && earlier.end_ns >= row.end_ns))) {
			*ret_row = earlier;
			earlier = row;
		} else {
			*ret_row = row;
		}
		if (i && earlier.start_ns < ret_row->start_ns) {
			ret_row->start_ns = earlier.start_ns;
			ret_row->start_realtime_ns = earlier.start_realtime_ns;
		}
		if (i && earlier.clock_error_ns > ret_row->clock_error_ns)
			ret_row->clock_error_ns = earlier.clock_error_ns;
	}
	return r;
}

static int copy_session(struct ts_copy *copy, struct ts_copy_session *session)
{
	struct ts_row_session row = {0};
	int r = combine_row(copy, session, &row);

	r = r ?: ts_sbt_session_writer_new(copy->writer, &row, &session->writer);
	if (r)
		return r;
	ts_intern_init(&session->stacks, copy->seed);
	ts_intern_init(&session->threads, copy->seed);
	ts_intern_init(&session->others, copy->seed);
	for (size_t i = 0; !r && i < session->n_parts; i++)
		r = copy_definitions(copy, &session->parts[i], session);
	if (copy->options->has_window) {
		r = r ?: copy_window(copy, session);
	} else {
		for (size_t i = 0; !r && i < session->n_parts; i++)
			r = begin(copy, &session->parts[i], 0, 0, NULL);
		if (session->n_parts == 1)
			r = r ?: copy_rows(copy, session, false);
		else
			r = r ?: merge_rows(copy, session);
	}
	for (size_t i = 0; !r && i < session->n_parts; i++)
		r = copy_modules(copy, &session->parts[i], session);
	r = r ?: seal(session);
	copy->report->n_sessions += !r;
	ts_sbt_session_writer_free(ts_take_ptr(session->writer));
	ts_intern_deinit(&session->stacks);
	ts_intern_deinit(&session->threads);
	ts_intern_deinit(&session->others);
	for (size_t i = 0; i < session->n_parts; i++) {
		ts_sbt_cursor_freep(&session->parts[i].cursor);
		session->parts[i].cursor = NULL;
		ts_copy_window_deinit(&session->parts[i].window);
	}
	return r;
}

/* Selection and order of sessions */

static bool wants_session(const struct ts_copy *copy, const struct ts_row_session *row)
{
	const struct ts_sbt_copy_options *options = copy->options;

	if (options->session && row->session != options->session)
		return false;
	return !options->has_window || ((!options->to_ns || row->start_ns <= options->to_ns) &&
					(!row->end_ns || row->end_ns >= options->from_ns));
}

/*
 * A session of a source. After unite(), the parts of one session are adjacent, and sessions are in
 * order of their start.
 */
struct found {
	struct ts_copy_source *source;
	const struct ts_row_session *row;
	uint64_t start_ns; /* start of the session's earliest part */
	size_t first;	   /* `order` of the session's first part */
	size_t order;
};

static int compare_uuid(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = memcmp(x->row->uuid, y->row->uuid, sizeof(x->row->uuid));

	return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

static int compare_start(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Unites sessions with the same UUID; a UUID of zeros unites nothing. A window has one source, and
 * each session of it stays separate.
 */
static void unite(struct ts_copy *copy, struct found *found, size_t n)
{
	static const uint8_t none[16];

	qsort(found, n, sizeof(*found), compare_uuid);
	for (size_t i = 0; i < n; i++) {
		bool same = i && !copy->options->has_window &&
			    memcmp(found[i].row->uuid, none, sizeof(none)) != 0 &&
			    !memcmp(found[i].row->uuid, found[i - 1].row->uuid, sizeof(none));

		found[i].first = same ? found[i - 1].first : found[i].order;
		found[i].start_ns = ts_copy_time(found[i].source, found[i].row->start_ns);
		if (same && found[i - 1].start_ns < found[i].start_ns)
			found[i].start_ns = found[i - 1].start_ns;
	}
	for (size_t i = n; i-- > 1;)
		if (found[i - 1].first == found[i].first)
			found[i - 1].start_ns = found[i].start_ns;
	qsort(found, n, sizeof(*found), compare_start);
}

static int copy_united(struct ts_copy *copy, const struct found *found, size_t n)
{
	ts_cleanup(ts_freep) struct ts_copy_part *parts = calloc(n, sizeof(*parts));
	struct ts_copy_session session = {.parts = parts, .n_parts = n};

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		parts[i] = (struct ts_copy_part){
			.source = found[i].source,
			.row = found[i].row,
			.window = {.from_ns = copy->options->from_ns,
				   .to_ns = copy->options->to_ns ?: UINT64_MAX},
		};
	return copy_session(copy, &session);
}

static int find_sessions(struct ts_copy *copy, struct ts_buffer *all)
{
	int r = 0;

	for (size_t i = 0; i < copy->n_sources; i++) {
		struct ts_copy_source *source = &copy->sources[i];

		for (size_t j = 0; !r && j < ts_sbt_reader_n_sessions(source->reader); j++) {
			struct found found = {
				.source = source,
				.row = ts_sbt_reader_session_at(source->reader, j),
				.order = all->n / sizeof(found),
			};

			if (wants_session(copy, found.row))
				r = ts_buffer_append(all, &found, sizeof(found));
		}
	}
	return r;
}

static int copy_sessions(struct ts_copy *copy)
{
	struct ts_buffer all = {0};
	const struct found *found;
	uint64_t number = 0;
	size_t n;
	int r = find_sessions(copy, &all);

	n = all.n / sizeof(*found);
	if (!r && n)
		unite(copy, (void *)all.bytes, n);
	found = (const void *)all.bytes;
	/*
	 * All session numbers are set before the first row is translated, because images name
	 * sessions.
	 */
	for (size_t i = 0; !r && i < n; i++) {
		number += !i || found[i].first != found[i - 1].first;
		r = ts_map_set(&copy->sessions,
			       (uint64_t)found[i].source->number << 32 | found[i].row->session,
			       number);
	}
	for (size_t i = 0, end; !r && i < n; i = end) {
		for (end = i + 1; end < n && found[end].first == found[i].first;)
			end++;
		r = copy_united(copy, found + i, end - i);
	}
	ts_buffer_deinit(&all);
	return r;
}

/* The whole copy */

static int init_source(struct ts_copy *copy, size_t i, struct ts_sbt_copy_source *asked)
{
	struct ts_copy_source *source = &copy->sources[i];
	int r = 0;

	source->asked = asked;
	source->reader = asked->reader;
	source->number = (uint32_t)i + 1;
	asked->shift_ns = asked->shift_error_ns = 0;
	if (copy->options->has_window)
		r = ts_modules_new(source->reader, &source->modules);
	/* A trace without readable symbols is still copied. */
	r = r ?: ts_symbols_new(source->reader, &source->symbols);
	return ts_copy_damage(copy, source, r);
}

static void deinit_source(struct ts_copy_source *source)
{
	ts_map_deinit(&source->strings);
	ts_map_deinit(&source->stacks);
	ts_map_deinit(&source->threads);
	ts_map_deinit(&source->kept_modules);
	ts_map_deinit(&source->kept_images);
	ts_map_deinit(&source->kept_symbols);
	ts_modules_free(source->modules);
	ts_symbols_free(source->symbols);
}

int ts_sbt_copy(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, struct ts_sbt_writer *writer,
		struct ts_sbt_copy_report *ret_report)
{
	struct ts_copy copy = {.options = options, .writer = writer, .report = ret_report};
	int r = 0;

	*ret_report = (struct ts_sbt_copy_report){0};
	if (!n_sources || (options->has_window && n_sources > 1))
		return -EINVAL;
	if (n_sources > TS_SBT_COPY_MAX_SOURCES)
		return -E2BIG;
	if (getrandom(&copy.seed, sizeof(copy.seed), 0) < 0)
		copy.seed = (uintptr_t)writer;
	copy.sources = calloc(n_sources, sizeof(*copy.sources));
	if (!copy.sources)
		return -ENOMEM;
	for (size_t i = 0; i < n_sources; i++)
		ret_report->n_left_out += captured_operations(sources[i].reader, options);
	for (; !r && copy.n_sources < n_sources; copy.n_sources++)
		r = init_source(&copy, copy.n_sources, &sources[copy.n_sources]);
	r = r ?: ts_copy_align(&copy);
	r = r ?: ts_copy_metadata(&copy);
	r = r ?: copy_sessions(&copy);
	r = r ?: ts_copy_symbols(&copy);
	for (size_t i = 0; i < copy.n_sources; i++)
		deinit_source(&copy.sources[i]);
	free(copy.sources);
	ts_map_deinit(&copy.sessions);
	return r;
}
