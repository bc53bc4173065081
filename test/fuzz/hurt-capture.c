/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes hostile traces from valid ones: changes operations and contents at random, and keeps the
 * file itself valid. test/integration/test-hostile.py runs it; it also makes the corpus of
 * fuzz-replay.
 *
 *     hurt-capture pack TRACE OUT        the capture of its first session, in the corpus's form
 *     hurt-capture hurt TRACE SEED OUT   a trace with that capture, changed; seed 0: unchanged
 */
#include "test/fuzz/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sbt/error.h"

#define N_WORDS (offsetof(struct ts_row_operation, kind) / sizeof(uint64_t))
#define N_HALVES                                                                       \
	((sizeof(struct ts_row_operation) - offsetof(struct ts_row_operation, kind)) / \
	 sizeof(uint32_t))

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

/* Returns a number near `was`, an edge value, or any number. */
static uint64_t odd(uint64_t was)
{
	static const uint64_t edges[] = {0,	     1,		 2,	     7,
					 0xff,	     0x1000,	 UINT16_MAX, 1u << 20,
					 INT32_MAX,  1ull << 31, UINT32_MAX, 1ull << 32,
					 1ull << 47, INT64_MAX,	 1ull << 63, UINT64_MAX - 7,
					 UINT64_MAX};

	switch (next_random() % 6) {
	case 0:
		return was + 1;
	case 1:
		return was - 1;
	case 2:
		return was ^ UINT64_C(1) << next_random() % 64;
	case 3:
		return was * 2 + next_random() % 64;
	case 4:
		return next_random();
	default:
		return edges[next_random() % (sizeof(edges) / sizeof(*edges))];
	}
}

static void hurt_operation(struct ts_row_operation *all, uint32_t n)
{
	struct ts_row_operation *operation = &all[next_random() % n],
				*other = &all[next_random() % n];
	uint64_t *word = (uint64_t *)(void *)operation + next_random() % N_WORDS;
	uint32_t *half = &operation->kind + next_random() % N_HALVES;
	uint64_t sequence = operation->sequence;

	switch (next_random() % 8) {
	case 0:
		operation->kind = (uint32_t)(next_random() % 40);
		break;
	case 1: /* copies one field of another operation */
		*word = *((uint64_t *)(void *)other + (word - (uint64_t *)(void *)operation));
		break;
	case 2:
		*half = *(&other->kind + (half - &operation->kind));
		break;
	case 3: /* repeats another operation here */
		*operation = *other;
		operation->sequence = sequence;
		break;
	case 4:
	case 5:
		*half = (uint32_t)odd(*half);
		break;
	default:
		*word = odd(*word);
	}
}

static void hurt(uint8_t *bytes, size_t n, uint64_t seed)
{
	struct ts_fuzz_capture_header header;
	size_t contents;

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	memcpy(&header, bytes, sizeof(header));
	contents = sizeof(header) + header.n_operations * sizeof(struct ts_row_operation);
	for (uint64_t i = 1 + next_random() % 4; i > 0; i--)
		if (contents < n && next_random() % 4 == 0)
			bytes[contents + next_random() % (n - contents)] = (uint8_t)odd(0);
		else
			hurt_operation((void *)(bytes + sizeof(header)), header.n_operations);
}

/* add_rows() adds the session's other rows, which a replay in virtual time uses. */
struct rows {
	struct ts_sbt_reader *reader;
	uint64_t n_whole; /* one row in n_whole is changed, on average; 0: none */
};

static void hurt_row(const struct ts_row_schema *schema, uint8_t *row)
{
	const struct ts_column *column = &schema->columns[next_random() % schema->n_columns];
	uint64_t value = 0;

	if (column->width > sizeof(value))
		return;
	memcpy(&value, row + column->offset, column->width);
	value = odd(value);
	memcpy(row + column->offset, &value, column->width);
}

static int add_rows(void *userdata, struct ts_sbt_writer *writer,
		    struct ts_sbt_session_writer *session)
{
	const struct rows *rows = userdata;
	struct ts_sbt_cursor_options options = {.types = TS_ROW_EVENTS &
							 ~TS_ROW_BIT(TS_ROW_OPERATION),
						.session = 1};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	const char *text;
	size_t n_bytes;
	int r = 0;

	/* Each string keeps its id. */
	for (uint32_t id = 1, again; !r; id++) {
		text = ts_sbt_reader_string(rows->reader, id, &n_bytes);
		if (!text)
			break;
		r = ts_sbt_writer_string(writer, text, n_bytes, &again);
	}
	r = r ?: ts_sbt_cursor_new(rows->reader, &options, &cursor);
	while (!r) {
		uint8_t bytes[TS_ROW_MAX_BYTES];
		struct ts_sbt_row row;

		r = ts_sbt_cursor_next(cursor, &row);
		if (r)
			break;
		memcpy(bytes, row.any, row.schema->row_bytes);
		if (rows->n_whole && next_random() % rows->n_whole == 0)
			hurt_row(row.schema, bytes);
		/* An invalid row is left out. */
		r = ts_sbt_session_writer_add_row(session, row.type, bytes);
		r = r > 0 || r == -EINVAL ? 0 : r;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int fail(const char *what)
{
	fprintf(stderr, "hurt-capture: %s\n", what);
	return 1;
}

int main(int argc, char **argv)
{
	bool packs = argc == 4 && !strcmp(argv[1], "pack");
	bool hurts = argc == 5 && !strcmp(argv[1], "hurt");
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_buffer_deinit) struct ts_buffer bytes = {0};
	struct rows rows = {0};
	uint64_t seed;
	int fd;

	if (!packs && !hurts)
		return fail("pack TRACE OUT | hurt TRACE SEED OUT");
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ts_sbt_reader_open(fd, &reader, NULL) || ts_fuzz_capture_pack(reader, &bytes))
		return fail("no trace with a capture");
	close(fd);
	fd = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("cannot be written");
	if (packs)
		return write(fd, bytes.bytes, bytes.n) == (ssize_t)bytes.n
			       ? 0
			       : fail("cannot be written");
	seed = strtoull(argv[3], NULL, 10);
	rows.reader = reader;
	if (seed) {
		hurt(bytes.bytes, bytes.n, seed);
		rows.n_whole = 1 + next_random() % 100;
	}
	return ts_fuzz_capture_write(bytes.bytes, bytes.n, fd, add_rows, &rows)
		       ? fail("cannot be written")
		       : 0;
}
