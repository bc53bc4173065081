/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of blocks equal the result of a simple pass over the rows, both in the file as written
 * and after repair. `verify` detects any false summary.
 */

#include "test/unit/harness.h"

#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"
#include "sbt/repair.h"
#include "sbt/verify.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

#define SPECIAL 7

/*
 * Makes a random row whose columns, except times, are below `variety`, so that few or many values
 * differ.
 */
static void random_row(const struct ts_row_schema *schema, uint64_t *state, unsigned variety,
		       uint8_t *row)
{
	memset(row, 0, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint64_t v = test_random(state);

		if (column->role == TS_ROLE_OCTETS)
			continue;
		if (column->role != TS_ROLE_TIME_START && column->role != TS_ROLE_TIME_END)
			v %= variety;
		else
			v %= 1000000;
		if (column->role == TS_ROLE_BYTES && v == SPECIAL)
			v = UINT64_MAX;
		memcpy(row + column->offset, &v, column->width);
	}
}

static uint64_t column_or(const struct ts_row_schema *schema, int c, const uint8_t *row,
			  uint64_t otherwise)
{
	return c < 0 ? otherwise : ts_column_get(&schema->columns[c], row);
}

static int compare_memory(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	for (unsigned i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Sorts tuples and removes duplicates. */
static uint32_t unique(uint64_t (*tuples)[3], uint32_t n)
{
	uint32_t kept = 0;

	qsort(tuples, n, sizeof(*tuples), compare_memory);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || compare_memory(tuples[kept - 1], tuples[i]))
			memcpy(tuples[kept++], tuples[i], sizeof(*tuples));
	return kept;
}

/*
 * Computes the expected summary row of a block's operation ids. Returns 1 if the type has operation
 * ids and the block has at least 64 rows; otherwise 0: there is no such row.
 */
static uint32_t expect_operations(const struct ts_row_schema *schema, uint64_t block,
				  const uint8_t *rows, uint32_t n_rows, uint8_t *to)
{
	struct ts_block_ops want = {.block = block};
	uint32_t n = 0;

	for (unsigned c = 0; c < schema->n_columns; c++) {
		if (schema->columns[c].role != TS_ROLE_OP)
			continue;
		n = n_rows >= 64;
		for (uint32_t i = 0; i < n_rows; i++) {
			uint64_t id = ts_column_get(&schema->columns[c],
						    rows + (size_t)i * schema->row_bytes);

			if (id && (!want.first || id < want.first))
				want.first = id;
			if (id > want.last)
				want.last = id;
		}
	}
	memcpy(to, &want, sizeof(want));
	return n;
}

/* Computes the expected summary rows of a kind, for a block with these rows. */
static uint32_t expect(int kind, const struct ts_row_schema *schema, uint64_t block,
		       const uint8_t *rows, uint32_t n_rows, uint8_t *to)
{
	uint64_t(*tuples)[3] = calloc(n_rows, sizeof(*tuples));
	struct ts_summary_places places;
	uint32_t n = 0;

	ts_check(tuples);
	if (kind == TS_SUMMARY_OPERATIONS) {
		free(tuples);
		return expect_operations(schema, block, rows, n_rows, to);
	}
	ts_summary_places_of(schema, &places);
	for (uint32_t i = 0; i < n_rows; i++) {
		const uint8_t *row = rows + (size_t)i * schema->row_bytes;

		if (kind == TS_SUMMARY_STREAMS && places.stream >= 0) {
			tuples[n][0] = column_or(schema, places.device, row, TS_NO_DEVICE);
			tuples[n][1] = column_or(schema, places.context, row, TS_NO_DEVICE);
			tuples[n++][2] = column_or(schema, places.stream, row, 0);
		} else if (kind == TS_SUMMARY_THREADS && places.thread >= 0) {
			tuples[n++][2] = column_or(schema, places.thread, row, 0);
		} else if (kind == TS_SUMMARY_SUMS && ts_summary_key(schema, row, &tuples[n][2])) {
			n++;
		}
	}
	n = unique(tuples, n);
	if (n_rows < 64 || schema->type == TS_ROW_SAMPLE ||
	    n > (kind == TS_SUMMARY_SUMS ? 16 + n_rows / 32 : 64))
		n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct ts_block_sum *sum = (struct ts_block_sum *)(void *)to + i;

		if (kind == TS_SUMMARY_STREAMS)
			((struct ts_block_stream *)(void *)to)[i] =
				(struct ts_block_stream){block, (uint32_t)tuples[i][0],
							 (uint32_t)tuples[i][1],
							 (uint32_t)tuples[i][2], 0};
		else if (kind == TS_SUMMARY_THREADS)
			((struct ts_block_thread *)(void *)to)[i] =
				(struct ts_block_thread){block, (uint32_t)tuples[i][2], 0};
		else
			*sum = (struct ts_block_sum){.block = block,
						     .key = tuples[i][2],
						     .min_ns = UINT64_MAX};
		for (uint32_t k = 0; kind == TS_SUMMARY_SUMS && k < n_rows; k++) {
			const uint8_t *row = rows + (size_t)k * schema->row_bytes;
			uint64_t ns = ts_row_end_ns(schema, row) - ts_row_start_ns(row), key;

			ts_check(ts_summary_key(schema, row, &key));
			if (key != sum->key)
				continue;
			sum->count++;
			sum->duration_ns = ts_add_saturated(sum->duration_ns, ns);
			sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
			sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
			sum->bytes =
				ts_add_saturated(sum->bytes,
						 column_or(schema, schema->bytes_column, row, 0));
		}
	}
	free(tuples);
	return n;
}

/* Reads all summaries of a file, in the order of the file. */
static void read_summaries(struct ts_sbt_reader *reader, struct ts_summaries *ret)
{
	*ret = (struct ts_summaries){0};
	for (size_t i = 0; i < reader->n_blocks; i++) {
		int kind = ts_summary_kind_of(reader->blocks[i].type);
		uint32_t n_rows;
		void *rows;

		if (kind < 0)
			continue;
		ts_check_int(ts_sbt_reader_decode_as(reader, i, ts_summary_schema(kind), &rows,
						     &n_rows),
			     0);
		ts_check_int(ts_buffer_append(&ret->rows[kind], rows,
					      (size_t)n_rows * ts_summary_schema(kind)->row_bytes),
			     0);
		free(rows);
	}
}

/* Checks that the summaries match the rows. Returns the number of each kind. */
static void check_summaries(int fd, uint64_t ret_n[TS_SUMMARY_KINDS])
{
	uint8_t *want = malloc(TS_SUMMARY_MOST_SUMS * sizeof(struct ts_block_sum));
	size_t at[TS_SUMMARY_KINDS] = {0};
	struct ts_sbt_reader *reader;
	struct ts_summaries got;

	ts_check(want);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	read_summaries(reader, &got);
	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_row_schema *schema = ts_row_schema(reader->blocks[i].type);
		uint32_t n_rows;
		void *rows;

		if (!schema || !schema->is_event)
			continue;
		ts_check_int(ts_sbt_reader_decode(reader, i, &rows, &n_rows), 0);
		for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++) {
			size_t n = expect(kind, schema, i, rows, n_rows, want) *
				   ts_summary_schema(kind)->row_bytes;

			ts_check(at[kind] + n <= got.rows[kind].n);
			ts_check(!n || !memcmp(got.rows[kind].bytes + at[kind], want, n));
			at[kind] += n;
		}
		free(rows);
	}
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++) {
		ts_check_int(at[kind], got.rows[kind].n);
		ret_n[kind] = at[kind] / ts_summary_schema(kind)->row_bytes;
	}
	ts_summaries_deinit(&got);
	ts_sbt_reader_free(reader);
	free(want);
}

static void check_whole(int fd)
{
	struct ts_sbt_verify_report report;

	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	if (report.n_findings)
		fprintf(stderr, "%llu: %s\n", (unsigned long long)report.first.off,
			report.first.text);
	ts_check_int(report.n_findings, 0);
}

/* Makes a file of `n_seals` times `n_rows` rows of each type of event; the caller closes it. */
static int make_file(uint64_t seed, unsigned n_seals, unsigned n_rows, unsigned variety)
{
	struct ts_row_session row = {.pid = 7};
	struct ts_row_thread thread = {.tid = 8};
	struct ts_sbt_session_writer *session;
	uint8_t event[TS_ROW_MAX_BYTES];
	struct ts_sbt_writer *writer;
	int fd = test_file();
	uint64_t frame = 1;
	uint32_t id;

	/* A small file of a later version has no summaries. */
	ts_check_int(ts_sbt_writer_new_plain(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (unsigned i = 0; i < variety; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name %u", i);
		ts_check_int(ts_sbt_writer_string(writer, name, strlen(name), &id), 0);
		ts_check_int(ts_sbt_session_writer_add_stack(session, &frame, 1, 0, &id), 0);
		ts_check_int(ts_sbt_session_writer_add_thread(session, &thread, &id), 0);
	}
	while (n_seals--) {
		for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
			for (unsigned i = 0; i < n_rows; i++) {
				random_row(ts_row_schema(type), &seed, variety, event);
				ts_check_int(ts_sbt_session_writer_add_row(session, type, event),
					     0);
			}
		ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static void check_file(uint64_t seed, unsigned n_seals, unsigned n_rows, unsigned variety,
		       uint64_t ret_n[TS_SUMMARY_KINDS])
{
	int fd = make_file(seed, n_seals, n_rows, variety);

	check_summaries(fd, ret_n);
	check_whole(fd);
	close(fd);
}

TS_TEST(as_the_rows_say)
{
	uint64_t n[TS_SUMMARY_KINDS];

	for (uint64_t seed = 1; seed <= 20; seed++) {
		check_file(seed, 2, 64 + (unsigned)seed * 17, 1 + (unsigned)seed % 4, n);
		ts_check(n[TS_SUMMARY_STREAMS] && n[TS_SUMMARY_THREADS] && n[TS_SUMMARY_SUMS] &&
			 n[TS_SUMMARY_OPERATIONS]);
	}
}

/* All rows are alike: each column is one value. */
TS_TEST(of_one_kind)
{
	uint64_t n[TS_SUMMARY_KINDS];

	check_file(1, 1, 1000, 1, n);
	ts_check_int(n[TS_SUMMARY_SUMS], 6);
}

TS_TEST(not_of_few_rows)
{
	uint64_t n[TS_SUMMARY_KINDS];

	check_file(3, 3, 63, 3, n);
	ts_check(!n[TS_SUMMARY_STREAMS] && !n[TS_SUMMARY_THREADS] && !n[TS_SUMMARY_SUMS] &&
		 !n[TS_SUMMARY_OPERATIONS]);
}

/* A block with too many different values has no list: the limits are 64 and 16 + rows / 32. */
TS_TEST(not_of_many)
{
	uint64_t n[TS_SUMMARY_KINDS];

	check_file(4, 1, 640, 64, n);
	ts_check(!n[TS_SUMMARY_STREAMS] && n[TS_SUMMARY_THREADS]);
	check_file(5, 1, 640, 200, n);
	/* All memory sets have the same name. */
	ts_check(!n[TS_SUMMARY_STREAMS] && !n[TS_SUMMARY_THREADS]);
	ts_check_int(n[TS_SUMMARY_SUMS], 1);
}

/* A long recording writes summaries before its end: a cut file still has those of most blocks. */
TS_TEST(kept_on_the_way)
{
	uint64_t n[TS_SUMMARY_KINDS], cut_n = 0;
	int fd = make_file(6, 200, 100, 4), cut_fd;
	struct ts_sbt_reader *reader;
	struct ts_summaries got;
	uint8_t *bytes;
	size_t n_bytes;

	check_summaries(fd, n);
	bytes = test_contents(fd, &n_bytes);
	cut_fd = test_file_of(bytes, n_bytes * 3 / 4);
	ts_check_int(ts_sbt_reader_open(cut_fd, &reader, NULL), 0);
	read_summaries(reader, &got);
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		cut_n += got.rows[kind].n / ts_summary_schema(kind)->row_bytes;
	ts_check(cut_n * 2 > n[0] + n[1] + n[2] + n[3]);
	ts_check(cut_n < n[0] + n[1] + n[2] + n[3]);
	ts_summaries_deinit(&got);
	ts_sbt_reader_free(reader);
	free(bytes);
	close(cut_fd);
	close(fd);
}

/*
 * The file is cut within, before and behind summaries, and repaired. After that, every remaining
 * block has each of its summaries exactly once.
 */
TS_TEST(repaired)
{
	int fd = make_file(7, 12, 90, 3);
	struct ts_sbt_repair_report repaired;
	uint64_t n[TS_SUMMARY_KINDS];
	uint8_t *bytes;
	size_t n_bytes;

	bytes = test_contents(fd, &n_bytes);
	for (unsigned i = 1; i <= 24; i++) {
		int cut = test_file_of(bytes,
				       i <= 12 ? n_bytes * i / 13 : n_bytes - (24 - i) * 150 - 1);
		int rw = test_reopen(cut, O_RDWR);

		ts_check_int(ts_sbt_repair(rw, &repaired, NULL), 0);
		ts_check(!repaired.was_finished);
		check_whole(rw);
		close(rw);
		/*
		 * After a cut within the summaries, repair adds the missing kinds behind the kinds
		 * that remained, so the order of kinds differs.
		 */
		if (i <= 12 || i == 24)
			check_summaries(cut, n);
		close(cut);
	}
	free(bytes);
	close(fd);
}

/* Makes a file of one block whose summaries are changed by `lie`. */
static int lying_file(void (*lie)(struct ts_summaries *summaries))
{
	struct ts_encoder encoder = {0};
	struct ts_summaries summaries = {0};
	struct ts_buffer blocks = {0}, index = {0};
	int fd = make_file(8, 1, 100, 3), out = test_file();
	struct ts_sbt_block_header header;
	struct ts_sbt_reader *reader;
	struct ts_sbt_block block;
	uint64_t sequence;
	size_t n_kept = 0, end, n_bytes;
	uint8_t *bytes = test_contents(fd, &n_bytes);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	read_summaries(reader, &summaries);
	while (ts_summary_kind_of(reader->blocks[n_kept].type) < 0)
		n_kept++;
	end = reader->blocks[n_kept].off;
	lie(&summaries);
	ts_check_int(ts_summaries_encode(&summaries, &encoder, &blocks), 0);
	sequence = n_kept;
	ts_block_number(blocks.bytes, blocks.n, &sequence);
	ts_check_int(ts_buffer_append(&index, reader->blocks, n_kept * sizeof(block)), 0);
	for (size_t at = 0; at < blocks.n; at += ts_block_bytes(&header)) {
		memcpy(&header, blocks.bytes + at, sizeof(header));
		ts_block_describe(&header, end + at, &block);
		ts_check_int(ts_buffer_append(&index, &block, sizeof(block)), 0);
	}
	ts_check_int(ts_index_encode((void *)index.bytes, index.n / sizeof(block), end + blocks.n,
				     false, &blocks),
		     0);
	ts_check(pwrite(out, bytes, end, 0) == (ssize_t)end);
	ts_check(pwrite(out, blocks.bytes, blocks.n, (off_t)end) == (ssize_t)blocks.n);
	ts_summaries_deinit(&summaries);
	ts_buffer_deinit(&blocks);
	ts_buffer_deinit(&index);
	ts_encoder_deinit(&encoder);
	ts_sbt_reader_free(reader);
	free(bytes);
	close(fd);
	return out;
}

static void tell_no_lie(struct ts_summaries *summaries)
{
	(void)summaries;
}

static void lie_in_a_sum(struct ts_summaries *summaries)
{
	((struct ts_block_sum *)(void *)summaries->rows[TS_SUMMARY_SUMS].bytes)[2].max_ns++;
}

static void lie_about_a_stream(struct ts_summaries *summaries)
{
	((struct ts_block_stream *)(void *)summaries->rows[TS_SUMMARY_STREAMS].bytes)[1].context =
		99;
}

static void lie_about_an_operation(struct ts_summaries *summaries)
{
	((struct ts_block_ops *)(void *)summaries->rows[TS_SUMMARY_OPERATIONS].bytes)->last--;
}

static void leave_a_thread_out(struct ts_summaries *summaries)
{
	summaries->rows[TS_SUMMARY_THREADS].n -= sizeof(struct ts_block_thread);
}

static void speak_of_another(struct ts_summaries *summaries)
{
	((struct ts_block_thread *)(void *)summaries->rows[TS_SUMMARY_THREADS].bytes)->block = 1000;
}

static void speak_of_no_events(struct ts_summaries *summaries)
{
	((struct ts_block_thread *)(void *)summaries->rows[TS_SUMMARY_THREADS].bytes)->block = 0;
}

static void speak_twice(struct ts_summaries *summaries)
{
	struct ts_buffer *rows = &summaries->rows[TS_SUMMARY_THREADS];
	struct ts_block_thread first = *(struct ts_block_thread *)(void *)rows->bytes;

	ts_check_int(ts_buffer_append(rows, &first, sizeof(first)), 0);
}

TS_TEST(lies_are_found)
{
	static const struct {
		void (*lie)(struct ts_summaries *summaries);
		const char *what;
	} lies[] = {
		{tell_no_lie, NULL},
		{lie_in_a_sum, "differs from its block's rows"},
		{lie_about_a_stream, "differs from its block's rows"},
		{lie_about_an_operation, "differs from its block's rows"},
		{leave_a_thread_out, "differs from its block's rows"},
		{speak_of_another, "does not precede it"},
		{speak_of_no_events, "without events"},
		{speak_twice, "two summaries"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(lies); i++) {
		int fd = lying_file(lies[i].lie);
		struct ts_sbt_verify_report report;

		ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
		ts_check_int(report.n_findings, lies[i].what ? 1 : 0);
		ts_check(!lies[i].what || strstr(report.first.text, lies[i].what));
		close(fd);
	}
}
