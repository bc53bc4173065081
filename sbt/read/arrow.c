/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns by Arrow's C stream interface; bindings call this file. All arrays of a stream share the
 * columns and the dictionaries: of strings, and of names of calls. A consumer may keep any array
 * longer than the others, so each array holds a reference to what they share.
 *
 *     stream -> schema (a struct of columns), one array (the same shape), end
 *     array  -> buffers of the columns, and the shared dictionary for columns of strings
 */
#include "sbt/arrow.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/random.h>

#include "proto/abi/utf8.h"
#include "sbt/buffer.h"
#include "sbt/intern.h"
#include "sbt/read/reader-internal.h"

#define MAX_CHILDREN (TS_ROW_MAX_COLUMNS + 2)
#define REPLACEMENT  "\xef\xbf\xbd"

struct dictionary {
	struct ts_buffer offsets; /* int32_t each: of the texts, and of their end */
	struct ts_buffer texts;
	int64_t n;
};

/* The arrays of a stream share this struct. */
struct shared {
	unsigned n_references; /* atomic */
	struct ts_sbt_columns *columns;
	const struct ts_row_schema *schema;
	struct dictionary strings;
	struct dictionary calls;
	uint32_t *call_index; /* the text in `calls` of each row; NULL: no column of names */
};

/* The private data of a stream. */
struct stream {
	struct shared *shared;
	bool is_done;
};

/* The private data of an array. */
struct array {
	struct shared *shared;
	const void *buffers[3];
	struct ArrowArray dictionary;
	struct ArrowArray children[MAX_CHILDREN];
	struct ArrowArray *pointers[MAX_CHILDREN];
};

/* The private data of a schema. */
struct schema {
	char format[16];
	struct ArrowSchema dictionary;
	struct ArrowSchema children[MAX_CHILDREN];
	struct ArrowSchema *pointers[MAX_CHILDREN];
};

static struct shared *ref(struct shared *shared)
{
	__atomic_add_fetch(&shared->n_references, 1, __ATOMIC_RELAXED);
	return shared;
}

static void unref(struct shared *shared)
{
	/* Release pairs with acquire: the last holder sees the others' last reads as done. */
	if (__atomic_sub_fetch(&shared->n_references, 1, __ATOMIC_ACQ_REL))
		return;
	ts_sbt_columns_free(shared->columns);
	ts_buffer_deinit(&shared->strings.offsets);
	ts_buffer_deinit(&shared->strings.texts);
	ts_buffer_deinit(&shared->calls.offsets);
	ts_buffer_deinit(&shared->calls.texts);
	free(shared->call_index);
	free(shared);
}

/* ---- schema ---- */

static void schema_release(struct ArrowSchema *schema)
{
	struct schema *own = schema->private_data;

	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(own);
	schema->release = NULL;
}

static int schema_make(struct ArrowSchema *to, const char *format, const char *name)
{
	struct schema *own = calloc(1, sizeof(*own));

	if (!own)
		return ENOMEM;
	snprintf(own->format, sizeof(own->format), "%s", format);
	*to = (struct ArrowSchema){
		.format = own->format,
		.name = name,
		.release = schema_release,
		.private_data = own,
	};
	return 0;
}

/* Makes a column of texts: 32-bit indexes of a dictionary. */
static int text_schema(struct ArrowSchema *to, const char *name)
{
	struct schema *own;
	int r = schema_make(to, "I", name);

	if (r)
		return r;
	own = to->private_data;
	r = schema_make(&own->dictionary, "u", "");
	if (r) {
		schema_release(to);
		return r;
	}
	to->dictionary = &own->dictionary;
	return 0;
}

static int column_schema(struct ArrowSchema *to, const struct ts_column *column)
{
	static const char formats[][2][2] = {
		[1] = {"C", "c"}, [2] = {"S", "s"}, [4] = {"I", "i"}, [8] = {"L", "l"}};
	char format[16];

	if (column->role == TS_ROLE_STRING)
		return text_schema(to, column->name);

	if (column->role == TS_ROLE_OCTETS)
		snprintf(format, sizeof(format), "w:%u", column->width);
	else if (column->role == TS_ROLE_DOUBLE)
		snprintf(format, sizeof(format), "g");
	else
		snprintf(format, sizeof(format), "%s", formats[column->width][column->is_signed]);
	return schema_make(to, format, column->name);
}

/* Adds a child, which is not made yet. */
static struct ArrowSchema *add_schema(struct ArrowSchema *to)
{
	struct schema *own = to->private_data;
	struct ArrowSchema *child = &own->children[to->n_children];

	own->pointers[to->n_children++] = child;
	return child;
}

/* Returns the first column from `c` on that is read; the number of columns: none. */
static unsigned next_column(const struct shared *shared, unsigned c)
{
	while (c < shared->schema->n_columns && !ts_sbt_columns_values(shared->columns, (int)c))
		c++;
	return c;
}

/* Rows of sessions have a column of this name themselves. */
static bool has_own_session(const struct shared *shared)
{
	return ts_row_column(shared->schema, "session") >= 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const struct shared *shared = ((struct stream *)stream->private_data)->shared;
	int r = schema_make(out, "+s", "");

	if (r)
		return r;
	out->children = ((struct schema *)out->private_data)->pointers;
	if (!has_own_session(shared))
		r = schema_make(add_schema(out), "I", "session");
	for (unsigned c = next_column(shared, 0); !r && c < shared->schema->n_columns;
	     c = next_column(shared, c + 1))
		r = column_schema(add_schema(out), &shared->schema->columns[c]);
	if (!r && shared->call_index)
		r = text_schema(add_schema(out), "name");
	if (r)
		schema_release(out);
	return r;
}

/* ---- arrays ---- */

static void array_release(struct ArrowArray *array)
{
	struct array *own = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	unref(own->shared);
	free(own);
	array->release = NULL;
}

/* Makes an array of one buffer of values, behind the absent buffer of validity. */
static int array_make(struct ArrowArray *to, struct shared *shared, int64_t length,
		      const void *values)
{
	struct array *own = calloc(1, sizeof(*own));

	if (!own)
		return ENOMEM;
	own->shared = ref(shared);
	own->buffers[1] = values;
	*to = (struct ArrowArray){
		.length = length,
		.n_buffers = 2,
		.buffers = own->buffers,
		.release = array_release,
		.private_data = own,
	};
	return 0;
}

static int dictionary_make(struct ArrowArray *to, struct shared *shared,
			   const struct dictionary *dictionary)
{
	struct array *own;
	int r = array_make(to, shared, dictionary->n, dictionary->offsets.bytes);

	if (r)
		return r;
	own = to->private_data;
	own->buffers[2] = dictionary->texts.bytes;
	to->n_buffers = 3;
	return 0;
}

/* Makes a column; `dictionary` NULL: numbers. */
static int column_make(struct ArrowArray *to, struct shared *shared, const void *values,
		       const struct dictionary *dictionary)
{
	struct array *own;
	int r = array_make(to, shared, (int64_t)ts_sbt_columns_rows(shared->columns), values);

	if (r || !dictionary)
		return r;
	own = to->private_data;
	r = dictionary_make(&own->dictionary, shared, dictionary);
	if (r) {
		array_release(to);
		return r;
	}
	to->dictionary = &own->dictionary;
	return 0;
}

/* Adds a child, which is not made yet. */
static struct ArrowArray *add_array(struct ArrowArray *to)
{
	struct array *own = to->private_data;
	struct ArrowArray *child = &own->children[to->n_children];

	own->pointers[to->n_children++] = child;
	return child;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *own_stream = stream->private_data;
	struct shared *shared = own_stream->shared;
	const int64_t n = (int64_t)ts_sbt_columns_rows(shared->columns);
	int r;

	*out = (struct ArrowArray){0}; /* without release(): the end of the stream */
	if (own_stream->is_done)
		return 0;
	r = array_make(out, shared, n, NULL);
	if (r)
		return r;
	out->n_buffers = 1;
	out->children = ((struct array *)out->private_data)->pointers;
	if (!has_own_session(shared))
		r = array_make(add_array(out), shared, n, ts_sbt_columns_sessions(shared->columns));
	for (unsigned c = next_column(shared, 0); !r && c < shared->schema->n_columns;
	     c = next_column(shared, c + 1))
		r = column_make(add_array(out), shared,
				ts_sbt_columns_values(shared->columns, (int)c),
				shared->schema->columns[c].role == TS_ROLE_STRING ? &shared->strings
										  : NULL);
	if (!r && shared->call_index)
		r = column_make(add_array(out), shared, shared->call_index, &shared->calls);
	if (r)
		array_release(out);
	own_stream->is_done = !r;
	return r;
}

/* ---- the dictionaries ---- */

static uint32_t highest_string(const struct shared *shared)
{
	const uint64_t n_rows = ts_sbt_columns_rows(shared->columns);
	uint32_t highest = 0;

	for (unsigned c = 0; c < shared->schema->n_columns; c++) {
		const uint32_t *ids = ts_sbt_columns_values(shared->columns, (int)c);

		if (!ids || shared->schema->columns[c].role != TS_ROLE_STRING)
			continue;
		for (uint64_t i = 0; i < n_rows; i++)
			highest = ids[i] > highest ? ids[i] : highest;
	}
	return highest;
}

static int add_text(struct ts_buffer *texts, const char *text, size_t n_bytes)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n_bytes, *run = p;
	int r = 0;

	while (!r && p < end) {
		size_t length = ts_utf8_length(p, (size_t)(end - p));

		if (length) {
			p += length;
			continue;
		}
		r = ts_buffer_append(texts, run, (size_t)(p - run));
		r = r ?: ts_buffer_append(texts, REPLACEMENT, strlen(REPLACEMENT));
		run = ++p;
	}
	return r ?: ts_buffer_append(texts, run, (size_t)(p - run));
}

static uint64_t count_strings(const struct ts_sbt_reader *reader)
{
	uint64_t n = 0;

	for (size_t i = 0; i < reader->n_blocks; i++)
		n += reader->blocks[i].type == TS_ROW_STRING ? reader->blocks[i].n_rows : 0;
	return n;
}

/* Adds a text to a dictionary. Returns 0, -ENOMEM, or TS_SBT_E_LIMIT: more than 2 GiB. */
static int add_word(struct dictionary *to, const char *text, size_t n_bytes)
{
	int32_t at = (int32_t)to->texts.n;
	int r = ts_buffer_append(&to->offsets, &at, sizeof(at));

	r = r ?: add_text(&to->texts, text, n_bytes);
	to->n++;
	return r ?: to->texts.n > INT32_MAX ? TS_SBT_E_LIMIT : 0;
}

/* Adds the end of the last text. */
static int end_dictionary(struct dictionary *to)
{
	int32_t end = (int32_t)to->texts.n;

	return ts_buffer_append(&to->offsets, &end, sizeof(end));
}

/*
 * Makes the dictionary of strings: the texts from id 0 to the highest id of the columns. Ids of a
 * file count from 1, so an id without a string is damage.
 */
static int make_strings(struct ts_sbt_reader *reader, struct shared *shared)
{
	const uint32_t highest = highest_string(shared);
	int r = 0;

	if (highest > count_strings(reader))
		return ts_sbt_reader_fail(
			reader, TS_SBT_E_CORRUPT, 0,
			"a row refers to string %u, but the trace has no such string", highest);
	for (uint64_t id = 0; !r && id <= highest; id++) {
		size_t n_bytes = 0;
		const char *text = id ? ts_sbt_reader_string(reader, (uint32_t)id, &n_bytes) : NULL;

		if (id && !text)
			return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, 0,
						  "string %u cannot be read", (uint32_t)id);
		r = add_word(&shared->strings, text ? text : "", n_bytes);
	}
	r = r ?: end_dictionary(&shared->strings);
	if (r == TS_SBT_E_LIMIT)
		return ts_sbt_reader_fail(reader, r, 0, "the names have more than 2 GiB");
	return r ? ts_sbt_reader_fail(reader, r, 0, "no memory for the names") : 0;
}

static uint64_t random_seed(void)
{
	uint64_t seed = 0;

	/* Without a seed, chosen numbers can collide; the result is the same. */
	(void)getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	return seed;
}

/* Gives each row the index of its call's name, and adds new names to the dictionary. */
static int index_calls(struct shared *shared, const uint32_t *calls, ts_sbt_name_call_fn name_call,
		       struct ts_intern *known)
{
	const uint64_t n_rows = ts_sbt_columns_rows(shared->columns);
	char buffer[TS_SBT_CALL_NAME_BYTES];
	uint32_t id = 0;

	for (uint64_t i = 0; i < n_rows; i++) {
		bool is_new = false;
		int r = 0;

		/* Calls often repeat. */
		if (!i || calls[i] != calls[i - 1])
			r = ts_intern(known, &calls[i], sizeof(calls[i]), &id, &is_new);
		if (!r && is_new) {
			const char *name = name_call(calls[i] >> 16, calls[i] & UINT16_MAX, buffer);

			r = add_word(&shared->calls, name, strlen(name));
		}
		if (r)
			return r;
		shared->call_index[i] = id - 1;
	}
	return end_dictionary(&shared->calls);
}

/* Makes the column of the calls' names, and its dictionary. */
static int make_calls(struct ts_sbt_reader *reader, struct shared *shared, const uint32_t *calls,
		      ts_sbt_name_call_fn name_call)
{
	struct ts_intern known;
	int r = -ENOMEM;

	ts_intern_init(&known, random_seed());
	shared->call_index =
		calloc(ts_sbt_columns_rows(shared->columns) + 1, sizeof(*shared->call_index));
	if (shared->call_index)
		r = index_calls(shared, calls, name_call, &known);
	ts_intern_deinit(&known);
	return r ? ts_sbt_reader_fail(reader, r, 0, "no memory for the names of calls") : 0;
}

/* ---- the stream ---- */

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	/* The only error of a stream is a lack of memory. */
	return "no memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
	struct stream *own = stream->private_data;

	unref(own->shared);
	free(own);
	stream->release = NULL;
}

int ts_sbt_arrow_stream_named(struct ts_sbt_reader *reader, struct ts_sbt_columns *columns,
			      ts_sbt_name_call_fn name_call, struct ArrowArrayStream *ret_stream)
{
	const uint32_t *calls = ts_sbt_columns_values(columns, TS_SBT_CALL_COLUMN);
	struct shared *shared = calloc(1, sizeof(*shared));
	struct stream *own = calloc(1, sizeof(*own));
	int r;

	if (!shared || !own) {
		free(shared);
		free(own);
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for a stream");
	}
	shared->n_references = 1;
	shared->columns = ts_sbt_columns_ref(columns);
	shared->schema = ts_sbt_columns_schema(columns);
	own->shared = shared;
	r = make_strings(reader, shared);
	if (!r && calls && name_call)
		r = make_calls(reader, shared, calls, name_call);
	if (r) {
		unref(shared);
		free(own);
		return r;
	}
	*ret_stream = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = stream_release,
		.private_data = own,
	};
	return 0;
}

int ts_sbt_arrow_stream(struct ts_sbt_reader *reader, struct ts_sbt_columns *columns,
			struct ArrowArrayStream *ret_stream)
{
	return ts_sbt_arrow_stream_named(reader, columns, NULL, ret_stream);
}

void ts_sbt_arrow_capsule_free(void *capsule)
{
	void *(*get_pointer)(void *capsule, const char *name);
	struct ArrowArrayStream *stream;

	/* The interpreter that calls this function is loaded; the library does not link it. */
	*(void **)&get_pointer = dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer");
	stream = get_pointer ? get_pointer(capsule, "arrow_array_stream") : NULL;
	if (!stream)
		return;
	if (stream->release)
		stream->release(stream);
	free(stream);
}
