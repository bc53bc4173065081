/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FORMAT.md and the code agree. Each type and column is in the document as in the table, and the
 * document's hex example equals the writer's output. $SBT_FORMAT_MD is the document.
 */

#include "test/unit/harness.h"

#include "sbt/format/block.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

#include <limits.h>

static const char *const role_names[] = {
	[TS_ROLE_NUMBER] = "number",	 [TS_ROLE_TIME_START] = "start",
	[TS_ROLE_TIME_END] = "end",	 [TS_ROLE_TIME] = "time",
	[TS_ROLE_DURATION] = "duration", [TS_ROLE_STRING] = "string",
	[TS_ROLE_STACK] = "stack",	 [TS_ROLE_THREAD] = "thread",
	[TS_ROLE_OP] = "operation",	 [TS_ROLE_BYTES] = "bytes",
	[TS_ROLE_SIZE] = "size",	 [TS_ROLE_COUNT] = "count",
	[TS_ROLE_ADDRESS] = "address",	 [TS_ROLE_DEVICE] = "device",
	[TS_ROLE_CONTEXT] = "context",	 [TS_ROLE_STREAM] = "stream",
	[TS_ROLE_ENUM] = "enum",	 [TS_ROLE_FLAGS] = "flags",
	[TS_ROLE_SESSION] = "session",	 [TS_ROLE_DOUBLE] = "double",
	[TS_ROLE_OCTETS] = "octets",
};

/* Describes a type's columns as "1 start_ns u64 start, 2 ..."; the caller frees the text. */
static char *describe(unsigned type)
{
	const struct ts_row_schema *schema = ts_sbt_schema(type);
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ts_check(f);
	fprintf(f, "| %u | `%s` | ", type, schema->name);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];

		fprintf(f, "%s%u `%s` ", c ? ", " : "", column->id, column->name);
		if (column->role == TS_ROLE_OCTETS)
			fprintf(f, "%u bytes", column->width);
		else if (column->role == TS_ROLE_DOUBLE)
			fprintf(f, "f64");
		else
			fprintf(f, "%c%u", column->is_signed ? 'i' : 'u', column->width * 8u);
		if (column->role != TS_ROLE_NUMBER && column->role != TS_ROLE_OCTETS &&
		    column->role != TS_ROLE_DOUBLE)
			fprintf(f, " %s", role_names[column->role]);
	}
	fprintf(f, " |\n");
	fclose(f);
	return text;
}

static char *document(void)
{
	const char *path = getenv("SBT_FORMAT_MD");
	size_t n;
	char *text;
	int fd;

	if (!path)
		ts_skip("SBT_FORMAT_MD is not set");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(fd >= 0);
	text = (char *)test_contents(fd, &n);
	text[n] = 0;
	close(fd);
	return text;
}

TS_TEST(columns)
{
	char *text = document();
	bool wrong = false;

	for (unsigned type = 0; type < TS_ROW_COUNT; type++) {
		char *line;

		if (!ts_sbt_schema(type))
			continue;
		line = describe(type);
		if (!strstr(text, line)) {
			fprintf(stderr, "FORMAT.md lacks:\n%s", line);
			wrong = true;
		}
		free(line);
	}
	free(text);
	ts_check(!wrong);
}

/*
 * Column ids ascend; start and end are at the offsets that ts_row_start_ns() and the encoding
 * expect.
 */
TS_TEST(tables)
{
	for (unsigned type = 0; type < TS_ROW_COUNT; type++) {
		const struct ts_row_schema *schema = ts_sbt_schema(type);

		if (!schema)
			continue;
		ts_check_int(schema->type, type);
		ts_check(schema->n_columns <= TS_ROW_MAX_COLUMNS);
		ts_check(schema->row_bytes <= TS_ROW_MAX_BYTES);
		for (unsigned c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];

			ts_check(!c || column->id > schema->columns[c - 1].id);
			ts_check((unsigned)column->offset + column->width <= schema->row_bytes);
			ts_check(!c || schema->is_event || column->width);
		}
		if (type < TS_ROW_INDEX)
			ts_check_int(ts_row_type_by_name(schema->name), type);
		if (!schema->is_event)
			continue;
		ts_check_int(schema->columns[0].role, TS_ROLE_TIME_START);
		ts_check_int(schema->columns[0].offset, 0);
		ts_check_int(schema->columns[1].role == TS_ROLE_TIME_END, schema->has_end);
		if (schema->bytes_column >= 0)
			ts_check_int(schema->columns[schema->bytes_column].role, TS_ROLE_BYTES);
	}
	ts_check_int(ts_row_type_by_name("nonsense"), 0);
	ts_check_str(ts_loss_reason_name(TS_LOSS_RING_FULL), "ring_full");
	ts_check(!ts_loss_reason_name(0));
}

/*
 * The set of events, the test for an event type, and the steps through events agree with the
 * schemas.
 */
TS_TEST(events)
{
	unsigned n = 0, next = TS_ROW_API;

	for (unsigned type = 0; type < 2 * TS_ROW_COUNT; type++) {
		const struct ts_row_schema *schema = ts_row_schema(type);
		bool is_event = schema && schema->is_event;

		ts_check_int(ts_row_is_event(type), is_event);
		if (type < TS_ROW_COUNT)
			ts_check_int((TS_ROW_EVENTS & TS_ROW_BIT(type)) != 0, is_event);
		if (!is_event)
			continue;
		ts_check(type < TS_ROW_EVENT_END);
		ts_check_int(type, next);
		next = ts_row_next_event(type);
		n++;
	}
	ts_check_int(next, 0);
	ts_check_int(n, TS_ROW_N_EVENTS);
	ts_check(!ts_row_is_event(UINT_MAX));
}

static void describe_run(const struct ts_row_schema *schema, const struct ts_plan_run *run,
			 char *text, size_t n_text)
{
	snprintf(text, n_text, "none");
	if (run->n_bytes)
		snprintf(text, n_text, "%u to %u", schema->columns[run->first].id,
			 schema->columns[run->last].id);
}

/* The columns that can be indexed are those of the document, and are adjacent in the row. */
TS_TEST(runs)
{
	char *text = document();
	bool wrong = false;

	for (unsigned type = 0; type < TS_ROW_COUNT; type++) {
		const struct ts_row_schema *schema = ts_sbt_schema(type);
		char place[32], site[32], line[128];
		struct ts_plan plan;

		if (!schema)
			continue;
		ts_plan_of(schema, &plan);
		if (!plan.runs[TS_PLAN_PLACE].n_bytes && !plan.runs[TS_PLAN_SITE].n_bytes)
			continue;
		for (int r = 0; r < TS_PLAN_RUNS; r++)
			for (unsigned c = plan.runs[r].first; c < plan.runs[r].last; c++)
				ts_check_int(schema->columns[c].offset + schema->columns[c].width,
					     schema->columns[c + 1].offset);
		describe_run(schema, &plan.runs[TS_PLAN_PLACE], place, sizeof(place));
		describe_run(schema, &plan.runs[TS_PLAN_SITE], site, sizeof(site));
		snprintf(line, sizeof(line), "| `%s` | %s | %s |\n", schema->name, place, site);
		if (!strstr(text, line)) {
			fprintf(stderr, "FORMAT.md lacks:\n%s", line);
			wrong = true;
		}
	}
	free(text);
	ts_check(!wrong);
}

/* Reads the lines of the example: an offset, a colon, hex bytes in pairs, then words. */
static size_t example_bytes(const char *text, const char *mark, uint8_t *bytes, size_t max)
{
	const char *p = strstr(text, mark);
	size_t n = 0, first = 0;

	ts_check(p);
	while ((p = strchr(p, '\n')) && strncmp(p, "\n<!-- end -->", 13)) {
		unsigned off, byte;
		int used;

		p++;
		if (sscanf(p, " %x:%n", &off, &used) != 1)
			continue;
		first = n ? first : off;
		ts_check_int(off, first + n);
		p += used;
		while (sscanf(p, " %2x%n", &byte, &used) == 1 && used == 3 && n < max) {
			bytes[n++] = (uint8_t)byte;
			p += used;
		}
	}
	return n;
}

static void print_example(const uint8_t *bytes, size_t from, size_t to)
{
	for (size_t i = from; getenv("SBT_PRINT_EXAMPLE") && i < to; i++) {
		if ((i - from) % 16 == 0)
			fprintf(stderr, "\n    %04zx:", i);
		fprintf(stderr, " %02x", bytes[i]);
	}
}

/*
 * Makes a file with calls of cudaLaunchKernel, a microsecond apart except the first two, as in the
 * example.
 */
static int example_file(bool is_short, unsigned n_calls)
{
	struct ts_row_session session = {.pid = 7};
	int fd = test_file();
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;

	ts_check_int(is_short ? ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer)
			      : ts_sbt_writer_new_plain(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer),
		     0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (unsigned i = 1; i <= n_calls; i++) {
		struct ts_row_api api = {.start_ns = i * 1000,
					 .end_ns = i * 1000 + (i == 1 ? 250 : 100),
					 .op_id = i,
					 .cbid = 211};

		ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_API, &api), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static void check_example(bool is_short, const char *mark)
{
	uint8_t want[4096], *got;
	char *text = document();
	int fd = example_file(is_short, 2);
	size_t n, n_want = example_bytes(text, mark, want, sizeof(want));

	got = test_contents(fd, &n);
	/* These bytes vary: the UUID, the creation time, and the checksum over both. */
	memcpy(got + 32, want + 32, 24);
	memcpy(got + 60, want + 60, 4);
	print_example(got, 0, n);
	ts_check_int(n, n_want);
	ts_check(!memcmp(got, want, n));
	free(got);
	free(text);
	close(fd);
}

TS_TEST(example)
{
	check_example(false, "<!-- example -->");
}

TS_TEST(short_example)
{
	check_example(true, "<!-- short -->");
}

/*
 * FORMAT.md's example of summaries has the bytes that the writer writes: the blocks between the
 * last event block and the index.
 */
TS_TEST(example_of_summaries)
{
	uint8_t want[4096], *got;
	char *text = document();
	int fd = example_file(false, 64);
	size_t n, n_want = example_bytes(text, "<!-- summary -->", want, sizeof(want));
	const struct ts_sbt_block *first, *index;
	struct ts_sbt_reader *reader;

	got = test_contents(fd, &n);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	first = ts_sbt_reader_block(reader, 2);
	index = ts_sbt_reader_block(reader, 5);
	ts_check_int(first->type, TS_ROW_BLOCK_THREAD);
	ts_check_int(index->type, TS_ROW_INDEX);
	print_example(got, first->off, index->off);
	ts_check_int(index->off - first->off, n_want);
	ts_check(!memcmp(got + first->off, want, n_want));
	ts_sbt_reader_free(reader);
	free(got);
	free(text);
	close(fd);
}
