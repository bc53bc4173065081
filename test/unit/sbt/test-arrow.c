/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A consumer of Arrow's C stream, written from the specification: it checks formats and lengths,
 * reads each value, and releases whatever it got, in several orders. AddressSanitizer shows leaks.
 */

#include "test/unit/harness.h"

#include "sbt/arrow.h"
#include "test/unit/sbt/sbt-test.h"

#define N_ROWS 1000u

static int make_file(unsigned type, bool is_bad)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	static const char *const texts[] = {"gemm", "", "bad \xff\xc3 name", "k\xc3\xa9rnel"};
	struct ts_row_session session_row = {.pid = 7};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	uint64_t state = 5;
	uint32_t id;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		ts_check_int(ts_sbt_writer_string(writer, texts[i], strlen(texts[i]), &id), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session_row, &session), 0);
	for (unsigned i = 0; i < N_ROWS; i++) {
		uint8_t row[TS_ROW_MAX_BYTES] = {0};

		for (unsigned c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];
			uint64_t v = test_random(&state) % 100;

			if (column->role == TS_ROLE_TIME_START)
				v = 1000 + i;
			else if (column->role == TS_ROLE_TIME_END)
				v = 1000 + i + v;
			else if (column->role == TS_ROLE_STRING)
				v = is_bad && i == 9 ? 4000000000u : v % 5;
			memcpy(row + column->offset, &v, column->width < 8 ? column->width : 8);
		}
		ts_check_int(ts_sbt_session_writer_add_row(session, type, row), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

/* Returns the bytes of a value of this format, from the specification. */
static size_t width_of(const char *format)
{
	switch (format[0]) {
	case 'c':
	case 'C':
		return 1;
	case 's':
	case 'S':
		return 2;
	case 'i':
	case 'I':
		return 4;
	case 'w':
		return (size_t)atoi(format + 2);
	default:
		ts_check(strchr("lLg", format[0]) != NULL);
		return 8;
	}
}

static void check_dictionary(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
	const int32_t *offsets = array->buffers[1];
	const char *texts = array->buffers[2];
	static const char *const wanted[] = {"", "gemm", "", "bad \xef\xbf\xbd\xef\xbf\xbd name",
					     "k\xc3\xa9rnel"};

	ts_check_str(schema->format, "u");
	ts_check_int(array->n_buffers, 3);
	ts_check_int(array->length, TS_ARRAY_LEN(wanted));
	for (int64_t i = 0; i < array->length; i++) {
		ts_check_int(offsets[i + 1] - offsets[i], strlen(wanted[i]));
		ts_check(!memcmp(texts + offsets[i], wanted[i], strlen(wanted[i])));
	}
}

static void check_column(const struct ArrowSchema *schema, const struct ArrowArray *array,
			 const struct ts_sbt_columns *columns)
{
	const struct ts_row_schema *rows = ts_sbt_columns_schema(columns);
	int c = ts_row_column(rows, schema->name);
	const void *values =
		c < 0 ? ts_sbt_columns_sessions(columns) : ts_sbt_columns_values(columns, c);
	const size_t width = c < 0 ? 4 : rows->columns[c].width;

	ts_check(c >= 0 || !strcmp(schema->name, "session"));
	ts_check(schema->release && array->release && !schema->n_children && !array->n_children);
	ts_check_int(array->length, N_ROWS);
	ts_check_int(array->null_count, 0);
	ts_check_int(array->offset, 0);
	ts_check_int(array->n_buffers, 2);
	ts_check(!array->buffers[0]);
	ts_check_int(width_of(schema->format), width);
	ts_check(!memcmp(array->buffers[1], values, N_ROWS * width));
	ts_check(!schema->dictionary == !array->dictionary);
	if (schema->dictionary)
		check_dictionary(schema->dictionary, array->dictionary);
}

/* Reads a whole stream, and checks that it ends. */
static void check_stream(struct ArrowArrayStream *stream, const struct ts_sbt_columns *columns,
			 struct ArrowSchema *ret_schema, struct ArrowArray *ret_array)
{
	struct ArrowArray end;

	ts_check_int(stream->get_schema(stream, ret_schema), 0);
	ts_check_str(ret_schema->format, "+s");
	ts_check_int(stream->get_next(stream, ret_array), 0);
	ts_check_int(ret_array->length, N_ROWS);
	ts_check_int(ret_array->n_buffers, 1);
	ts_check_int(ret_array->n_children, ret_schema->n_children);
	for (int64_t i = 0; i < ret_array->n_children; i++)
		check_column(ret_schema->children[i], ret_array->children[i], columns);
	ts_check_int(stream->get_next(stream, &end), 0);
	ts_check(!end.release);
}

static void check_type(unsigned type, uint64_t selected)
{
	struct ts_sbt_columns_options options = {.type = type, .columns = selected};
	struct ArrowArray array, moved;
	struct ArrowArrayStream stream;
	struct ts_sbt_columns *columns;
	struct ts_sbt_reader *reader;
	struct ArrowSchema schema;
	int fd = make_file(type, false);
	int64_t last;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check_int(ts_sbt_arrow_stream(reader, columns, &stream), 0);
	/* The stream needs neither the reader nor the caller's reference. */
	ts_sbt_reader_free(reader);
	check_stream(&stream, columns, &schema, &array);
	ts_sbt_columns_free(columns);
	stream.release(&stream);
	ts_check(!stream.release);
	/* A child that was moved out lives on when its parent is released. */
	last = array.n_children - 1;
	moved = *array.children[last];
	array.children[last]->release = NULL;
	array.release(&array);
	ts_check(!array.release);
	ts_check_int(moved.length, N_ROWS);
	moved.release(&moved);
	ts_check(!moved.release);
	schema.release(&schema);
	ts_check(!schema.release);
	close(fd);
}

TS_TEST(tables_are_streams)
{
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
		check_type(type, 0);
	check_type(TS_ROW_KERNEL, TS_SBT_COLUMN(0));
	check_type(TS_ROW_DEVICE, 0);
}

/* A stream that nobody reads is released, too. */
TS_TEST(streams_without_a_consumer)
{
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
	int fd = make_file(TS_ROW_KERNEL, false);
	struct ArrowArrayStream stream;
	struct ts_sbt_columns *columns;
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check_int(ts_sbt_arrow_stream(reader, columns, &stream), 0);
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	stream.release(&stream);
	close(fd);
}

/* An id far beyond the file's strings makes no dictionary of 4 G entries. */
TS_TEST(strings_that_are_not_there)
{
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
	int fd = make_file(TS_ROW_KERNEL, true);
	struct ArrowArrayStream stream;
	struct ts_sbt_columns *columns;
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check_int(ts_sbt_arrow_stream(reader, columns, &stream), TS_SBT_E_CORRUPT);
	ts_check(strstr(ts_sbt_reader_error(reader)->text, "4000000000") != NULL);
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	close(fd);
}

static const char *name_call(uint32_t domain, uint32_t cbid, char *buffer)
{
	snprintf(buffer, TS_SBT_CALL_NAME_BYTES, "%u.%u", domain, cbid);
	return buffer;
}

static void check_names(const struct ArrowArray *names, const uint16_t *domains,
			const uint16_t *cbids)
{
	const uint32_t *index = names->buffers[1];
	const int32_t *offsets = names->dictionary->buffers[1];
	const char *texts = names->dictionary->buffers[2];

	for (int64_t i = 0; i < names->length; i++) {
		char wanted[TS_SBT_CALL_NAME_BYTES];

		name_call(domains[i], cbids[i], wanted);
		ts_check(index[i] < names->dictionary->length);
		ts_check_int(offsets[index[i] + 1] - offsets[index[i]], strlen(wanted));
		ts_check(!memcmp(texts + offsets[index[i]], wanted, strlen(wanted)));
	}
	/* Each text occurs once. */
	for (int64_t i = 1; i < names->dictionary->length; i++)
		for (int64_t k = 0; k < i; k++)
			ts_check(offsets[i + 1] - offsets[i] != offsets[k + 1] - offsets[k] ||
				 memcmp(texts + offsets[i], texts + offsets[k],
					(size_t)(offsets[i + 1] - offsets[i])));
}

/* Calls have a column of numbers, a last child with their names, and a selection by number. */
TS_TEST(names_of_calls)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_API);
	struct ts_sbt_columns_options options = {.type = TS_ROW_API};
	int fd = make_file(TS_ROW_API, false), domain = ts_row_column(schema, "domain");
	struct ts_sbt_columns *columns, *selected;
	const uint16_t *domains, *cbids;
	struct ArrowArrayStream stream;
	struct ts_sbt_reader *reader;
	struct ArrowSchema fields;
	struct ArrowArray array;
	const uint32_t *calls;
	uint32_t n_wanted = 0;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	calls = ts_sbt_columns_values(columns, TS_SBT_CALL_COLUMN);
	domains = ts_sbt_columns_values(columns, domain);
	cbids = ts_sbt_columns_values(columns, ts_row_column(schema, "cbid"));
	for (unsigned i = 0; i < N_ROWS; i++) {
		ts_check_int(calls[i], ts_call_number(domains[i], cbids[i]));
		n_wanted += calls[i] == calls[7] || calls[i] == calls[8];
	}
	ts_check_int(ts_sbt_arrow_stream_named(reader, columns, name_call, &stream), 0);
	ts_check_int(stream.get_schema(&stream, &fields), 0);
	ts_check_int(stream.get_next(&stream, &array), 0);
	ts_check_int(array.n_children, schema->n_columns + 2);
	ts_check_str(fields.children[array.n_children - 1]->name, "name");
	check_names(array.children[array.n_children - 1], domains, cbids);

	/* Without the other columns, and by number. */
	options.columns = TS_SBT_COLUMN(TS_SBT_CALL_COLUMN);
	options.names = (const uint32_t[]){calls[7] < calls[8] ? calls[7] : calls[8],
					   calls[7] < calls[8] ? calls[8] : calls[7]};
	options.n_names = 2;
	ts_check_int(ts_sbt_columns_new(reader, &options, &selected), 0);
	ts_check(!ts_sbt_columns_values(selected, domain));
	ts_check_int(ts_sbt_columns_rows(selected), n_wanted);
	for (unsigned i = 0; i < n_wanted; i++) {
		uint32_t call =
			((const uint32_t *)ts_sbt_columns_values(selected, TS_SBT_CALL_COLUMN))[i];

		ts_check(call == calls[7] || call == calls[8]);
	}
	array.release(&array);
	fields.release(&fields);
	stream.release(&stream);
	ts_sbt_columns_free(selected);
	ts_sbt_columns_free(columns);
	/* Other rows have no such column. */
	options = (struct ts_sbt_columns_options){.type = TS_ROW_KERNEL};
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check(!ts_sbt_columns_values(columns, TS_SBT_CALL_COLUMN));
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	close(fd);
}
