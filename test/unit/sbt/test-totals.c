/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals by name, and rows of one stream or thread, equal those of a pass over all rows, with any
 * summaries. The reader decodes no more blocks than necessary. Sizes of columns add up to the
 * file's size.
 */

#include "test/unit/harness.h"

#include "proto/abi/tablehash.h"
#include "sbt/columns.h"
#include "sbt/format/block.h"
#include "test/unit/sbt/sbt-test.h"

#define N_SEALS	 24u
#define N_ROWS	 200u
#define N_NAMES	 4u
#define SEAL_NS	 1000000u
#define SESSIONS 2u

static const unsigned types[] = {TS_ROW_API,  TS_ROW_KERNEL, TS_ROW_MEMCPY, TS_ROW_MEMSET,
				 TS_ROW_SYNC, TS_ROW_RANGE,  TS_ROW_ALLOC,  TS_ROW_EVENT,
				 TS_ROW_LOSS, TS_ROW_OFF_CPU};

/*
 * Fills row i of a seal. The rows of a seal lie in a millisecond of their own. The stream depends
 * on the seal, and the thread on the seal and i.
 */
static void fill(unsigned type, unsigned seal, unsigned i, uint64_t *state, uint8_t *row)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	uint64_t start_ns = 1000 + (uint64_t)seal * SEAL_NS + i * 3000;

	memset(row, 0, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint64_t v = test_random(state) % 1000;

		switch (column->role) {
		case TS_ROLE_TIME_START:
			v = start_ns;
			break;
		case TS_ROLE_TIME_END:
			v = start_ns + v * 5;
			break;
		case TS_ROLE_STREAM:
			v = 7 + seal % 4;
			break;
		case TS_ROLE_CONTEXT:
			v = 1 + seal % 2;
			break;
		case TS_ROLE_DEVICE:
			v = 0;
			break;
		case TS_ROLE_THREAD:
			v = 1 + (seal + i / 150) % 3;
			break;
		case TS_ROLE_STRING:
		case TS_ROLE_ENUM:
			v %= N_NAMES;
			break;
		default:
			break;
		}
		memcpy(row + column->offset, &v, column->width);
	}
}

static int make_file(unsigned n_rows, bool finish)
{
	struct ts_sbt_session_writer *sessions[SESSIONS];
	struct ts_row_session row = {.pid = 7};
	uint8_t event[TS_ROW_MAX_BYTES];
	struct ts_sbt_writer *writer;
	int fd = test_file();
	uint64_t state = 11;

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	for (unsigned s = 0; s < SESSIONS; s++)
		ts_check_int(ts_sbt_session_writer_new(writer, &row, &sessions[s]), 0);
	for (unsigned seal = 0; seal < N_SEALS; seal++) {
		struct ts_sbt_session_writer *session = sessions[seal / 8 % SESSIONS];

		for (size_t t = 0; t < TS_ARRAY_LEN(types); t++)
			for (unsigned i = 0; i < n_rows; i++) {
				fill(types[t], seal, i, &state, event);
				ts_check_int(ts_sbt_session_writer_add_row(session, types[t],
									   event),
					     0);
			}
		ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	for (unsigned s = 0; s < SESSIONS; s++)
		ts_sbt_session_writer_free(sessions[s]);
	if (finish)
		ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static bool has(const struct ts_row_schema *schema, enum ts_role role, uint32_t value,
		const void *row)
{
	for (unsigned c = 0; c < schema->n_columns; c++)
		if (schema->columns[c].role == role)
			return ts_column_get(&schema->columns[c], row) == value;
	return false;
}

static bool passes(const struct ts_sbt_cursor_options *options, const struct ts_sbt_row *row)
{
	return (!(options->filter & TS_SBT_BY_DEVICE) ||
		has(row->schema, TS_ROLE_DEVICE, options->device, row->any)) &&
	       (!(options->filter & TS_SBT_BY_CONTEXT) ||
		has(row->schema, TS_ROLE_CONTEXT, options->context, row->any)) &&
	       (!(options->filter & TS_SBT_BY_STREAM) ||
		has(row->schema, TS_ROLE_STREAM, options->stream, row->any)) &&
	       (!(options->filter & TS_SBT_BY_THREAD) ||
		has(row->schema, TS_ROLE_THREAD, options->thread, row->any));
}

/*
 * Compares the filtered cursor with the matching rows of the unfiltered one. Returns the number of
 * decoded blocks.
 */
static uint64_t check_rows(struct ts_sbt_reader *reader,
			   const struct ts_sbt_cursor_options *options, uint64_t *ret_n)
{
	struct ts_sbt_cursor_options all = *options;
	struct ts_sbt_cursor *filtered, *plain;
	struct ts_sbt_row a, b;
	uint64_t n = 0, decoded;

	all.filter = 0;
	ts_check_int(ts_sbt_cursor_new(reader, options, &filtered), 0);
	ts_check_int(ts_sbt_cursor_new(reader, &all, &plain), 0);
	while (!ts_sbt_cursor_next(plain, &b)) {
		if (!passes(options, &b))
			continue;
		ts_check_int(ts_sbt_cursor_next(filtered, &a), 0);
		ts_check_int(a.type, b.type);
		ts_check_int(a.session, b.session);
		ts_check(!memcmp(a.any, b.any, a.schema->row_bytes));
		n++;
	}
	ts_check_int(ts_sbt_cursor_next(filtered, &a), TS_SBT_E_END);
	decoded = ts_sbt_cursor_decoded(filtered);
	ts_check(decoded <= ts_sbt_cursor_decoded(plain));
	ts_sbt_cursor_free(filtered);
	ts_sbt_cursor_free(plain);
	*ret_n = n;
	return decoded;
}

static bool is_of(const struct ts_sbt_total *total, const struct ts_sbt_row *row)
{
	union {
		struct ts_row_api api;
		struct ts_row_kernel kernel;
		struct ts_row_memcpy copy;
		struct ts_row_sync sync;
		struct ts_row_range range;
		uint8_t bytes[TS_ROW_MAX_BYTES];
	} name;

	if (total->type != row->type)
		return false;
	ts_sbt_total_row(total, &name);
	switch (row->type) {
	case TS_ROW_API:
		return name.api.domain == row->api->domain && name.api.cbid == row->api->cbid;
	case TS_ROW_KERNEL:
		return name.kernel.name == row->kernel->name;
	case TS_ROW_MEMCPY:
		return name.copy.copy_kind == row->memcpy_->copy_kind;
	case TS_ROW_MEMSET:
		return true;
	case TS_ROW_SYNC:
		return name.sync.sync_type == row->sync->sync_type;
	default:
		return name.range.domain == row->range->domain &&
		       name.range.name == row->range->name;
	}
}

/* Compares totals with those of a pass over the rows. Returns the number of decoded blocks. */
static uint64_t check_totals(struct ts_sbt_reader *reader,
			     const struct ts_sbt_cursor_options *options)
{
	struct ts_sbt_cursor_options some = options ? *options : (struct ts_sbt_cursor_options){0};
	struct ts_sbt_total *sums;
	struct ts_sbt_totals *totals;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	uint64_t decoded;
	size_t n;

	ts_check_int(ts_sbt_totals_new(reader, options, &totals), 0);
	n = ts_sbt_totals_count(totals);
	sums = calloc(n + 1, sizeof(*sums));
	ts_check(sums && !ts_sbt_totals_at(totals, n));
	some.types = TS_SBT_TOTAL_TYPES & (some.types ? some.types : TS_ROW_EVENTS);
	ts_check_int(ts_sbt_cursor_new(reader, &some, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		uint64_t ns = ts_row_end_ns(row.schema, row.any) - ts_row_start_ns(row.any);
		size_t i = 0;

		while (i < n && !is_of(ts_sbt_totals_at(totals, i), &row))
			i++;
		ts_check(i < n);
		sums[i].min_ns = !sums[i].count || ns < sums[i].min_ns ? ns : sums[i].min_ns;
		sums[i].max_ns = ns > sums[i].max_ns ? ns : sums[i].max_ns;
		sums[i].count++;
		sums[i].duration_ns += ns;
		if (row.schema->bytes_column >= 0)
			sums[i].bytes +=
				ts_column_get(&row.schema->columns[row.schema->bytes_column],
					      row.any);
	}
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_total *total = ts_sbt_totals_at(totals, i), *sum = &sums[i];

		ts_check_int(total->count, sum->count);
		ts_check_int(total->duration_ns, sum->duration_ns);
		ts_check_int(total->min_ns, sum->min_ns);
		ts_check_int(total->max_ns, sum->max_ns);
		ts_check_int(total->bytes, sum->bytes);
		ts_check(!i || total[-1].type < total->type ||
			 (total[-1].type == total->type && total[-1].key < total->key));
	}
	decoded = ts_sbt_totals_decoded(totals);
	ts_check_int(ts_sbt_totals_damaged(totals), 0);
	ts_sbt_cursor_free(cursor);
	ts_sbt_totals_free(totals);
	free(sums);
	return decoded;
}

static struct ts_sbt_reader *open_file(int fd)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

TS_TEST(totals_without_decoding)
{
	struct ts_sbt_cursor_options options = {0};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	struct ts_sbt_totals *totals;

	ts_check_int(check_totals(reader, NULL), 0);
	options.session = 2;
	ts_check_int(check_totals(reader, &options), 0);
	options.types = TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_ALLOC);
	ts_check_int(check_totals(reader, &options), 0);
	/* Types without durations have no totals. */
	options.types = TS_ROW_BIT(TS_ROW_LOSS);
	ts_check_int(ts_sbt_totals_new(reader, &options, &totals), 0);
	ts_check_int(ts_sbt_totals_count(totals), 0);
	ts_sbt_totals_free(totals);
	ts_sbt_reader_free(reader);
	close(fd);
}

/*
 * A window decodes only blocks that lie partly outside it: for each summed type, the blocks at its
 * two ends.
 */
TS_TEST(totals_of_a_window)
{
	struct ts_sbt_cursor_options options = {
		.from_ns = 1000 + 3 * SEAL_NS + 100000,
		.to_ns = 1000 + 9 * SEAL_NS + 100000,
	};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);

	ts_check_int(check_totals(reader, &options), 12);
	/* If the window ends between seals, no block is decoded. */
	options.from_ns = 3 * SEAL_NS;
	options.to_ns = 9 * SEAL_NS;
	ts_check_int(check_totals(reader, &options), 0);
	options.from_ns = options.to_ns = 1000 + 5 * SEAL_NS + 3000;
	ts_check_int(check_totals(reader, &options), 6);
	ts_sbt_reader_free(reader);
	close(fd);
}

/*
 * If a file has no summaries, or damaged ones, the reader computes the same totals by decoding the
 * blocks.
 */
TS_TEST(totals_by_decoding)
{
	int fd = make_file(N_ROWS, false), damaged = make_file(N_ROWS, true), few;
	struct ts_sbt_reader *reader = open_file(fd);

	ts_check_int(check_totals(reader, NULL), 6 * N_SEALS);
	ts_sbt_reader_free(reader);
	close(fd);

	reader = open_file(damaged);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type == TS_ROW_BLOCK_SUM)
			ts_check_int(pwrite(damaged, "x", 1, (off_t)(block->off + 120)), 1);
	}
	ts_check_int(check_totals(reader, NULL), 6 * N_SEALS);
	ts_sbt_reader_free(reader);
	close(damaged);

	/* Too few rows for summaries. */
	few = make_file(20, true);
	reader = open_file(few);
	ts_check_int(check_totals(reader, NULL), 6 * N_SEALS);
	ts_sbt_reader_free(reader);
	close(few);
}

static bool is_named(const struct ts_sbt_columns_options *options, const struct ts_sbt_row *row)
{
	const int name = ts_row_column(row->schema, "name");

	for (uint32_t i = 0; options->names && i < options->n_names; i++)
		if (options->names[i] == ts_column_get(&row->schema->columns[name], row->any))
			return true;
	return !options->names;
}

/* Compares columns with the rows of a cursor, in any order. Returns the number of rows. */
static uint64_t check_columns(struct ts_sbt_reader *reader,
			      const struct ts_sbt_columns_options *options)
{
	const struct ts_row_schema *schema = ts_row_schema(options->type);
	const struct ts_sbt_cursor_options rows = {
		.types = TS_ROW_BIT(options->type),
		.session = options->session,
		.filter = options->filter,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
		.device = options->device,
		.context = options->context,
		.stream = options->stream,
		.thread = options->thread,
	};
	uint64_t sum = 0, column_sum = 0, n = 0;
	struct ts_sbt_columns *columns;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_cursor_new(reader, &rows, &cursor), 0);
	for (; !ts_sbt_cursor_next(cursor, &row);) {
		if (!is_named(options, &row))
			continue;
		sum += ts_hash_bytes(row.session, row.any, schema->row_bytes);
		n++;
	}
	ts_sbt_cursor_free(cursor);
	ts_check_int(ts_sbt_columns_new(reader, options, &columns), 0);
	ts_check_int(ts_sbt_columns_damaged(columns), 0);
	ts_check_int(ts_sbt_columns_rows(columns), n);
	for (uint64_t i = 0; i < n; i++) {
		uint8_t bytes[TS_ROW_MAX_BYTES] = {0};

		for (unsigned c = 0; c < schema->n_columns; c++)
			memcpy(bytes + schema->columns[c].offset,
			       (const uint8_t *)ts_sbt_columns_values(columns, (int)c) +
				       i * schema->columns[c].width,
			       schema->columns[c].width);
		column_sum += ts_hash_bytes(ts_sbt_columns_sessions(columns)[i], bytes,
					    schema->row_bytes);
	}
	ts_check_int(column_sum, sum);
	ts_sbt_columns_free(columns);
	return n;
}

TS_TEST(columns_are_the_rows)
{
	const uint32_t names[] = {1, 3};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);

	for (size_t t = 0; t < TS_ARRAY_LEN(types); t++) {
		const struct ts_row_schema *schema = ts_row_schema(types[t]);
		struct ts_sbt_columns_options options = {.type = types[t]};
		uint64_t all = check_columns(reader, &options);

		ts_check_int(all, N_SEALS * N_ROWS);
		options.session = 2;
		ts_check_int(check_columns(reader, &options), all / 3);
		options.from_ns = 1000 + 9 * SEAL_NS + 100000;
		options.to_ns = 1000 + 12 * SEAL_NS + 100000;
		ts_check(check_columns(reader, &options) < all / 3);
		options.session = 0;
		options.to_ns = options.from_ns;
		ts_check(check_columns(reader, &options) < N_ROWS);
		options = (struct ts_sbt_columns_options){.type = types[t],
							  .names = names,
							  .n_names = 2};
		if (ts_row_column(schema, "name") >= 0)
			ts_check(check_columns(reader, &options) < all);
	}
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(columns_of_a_stream)
{
	const uint32_t names[] = {0};
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL,
						 .filter = TS_SBT_BY_STREAM,
						 .stream = 8};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	struct ts_sbt_columns *columns;

	ts_check_int(check_columns(reader, &options), N_SEALS / 4 * N_ROWS);
	options.filter |= TS_SBT_BY_CONTEXT;
	options.context = 1;
	ts_check_int(check_columns(reader, &options), 0);
	options.context = 2;
	options.names = names;
	options.n_names = 1;
	ts_check(check_columns(reader, &options) > 0);
	/* No name at all; a thread, which a kernel lacks; a selection of definitions. */
	options.n_names = 0;
	ts_check_int(check_columns(reader, &options), 0);
	options =
		(struct ts_sbt_columns_options){.type = TS_ROW_KERNEL, .filter = TS_SBT_BY_THREAD};
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), TS_SBT_E_NOT_FOUND);
	options.type = TS_ROW_STRING;
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), TS_SBT_E_NOT_FOUND);
	options.type = TS_ROW_SESSION;
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), -EINVAL);
	/* Definitions as a whole, and some columns alone. */
	options.filter = 0;
	options.columns = TS_SBT_COLUMN(1);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check_int(ts_sbt_columns_rows(columns), SESSIONS);
	ts_check(!ts_sbt_columns_values(columns, 0) && ts_sbt_columns_values(columns, 1) &&
		 !ts_sbt_columns_values(columns, -1) && !ts_sbt_columns_values(columns, 99));
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(columns_of_a_damaged_file)
{
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	struct ts_sbt_columns *columns;
	size_t i = 0;

	while (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL)
		i++;
	ts_check_int(pwrite(fd, "damage", 6, (off_t)ts_sbt_reader_block(reader, i)->off + 120), 6);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	ts_check_int(ts_sbt_columns_damaged(columns), 1);
	ts_check_int(ts_sbt_columns_rows(columns), (N_SEALS - 1) * N_ROWS);
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* Unreadable blocks are counted, and are in no total. */
TS_TEST(totals_of_a_damaged_file)
{
	int fd = make_file(20, true);
	struct ts_sbt_reader *reader = open_file(fd);
	struct ts_sbt_totals *totals;
	uint64_t n = 0;
	size_t i = 0;

	while (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL)
		i++;
	ts_check_int(pwrite(fd, "x", 1, (off_t)(ts_sbt_reader_block(reader, i)->off + 200)), 1);
	ts_check_int(ts_sbt_totals_new(reader, NULL, &totals), 0);
	ts_check_int(ts_sbt_totals_damaged(totals), 1);
	ts_check_int(ts_sbt_reader_error(reader)->code, TS_SBT_E_CORRUPT);
	for (i = 0; i < ts_sbt_totals_count(totals); i++)
		if (ts_sbt_totals_at(totals, i)->type == TS_ROW_KERNEL)
			n += ts_sbt_totals_at(totals, i)->count;
	ts_check_int(n, 20 * (N_SEALS - 1));
	ts_sbt_totals_free(totals);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(rows_of_a_stream)
{
	struct ts_sbt_cursor_options options = {.filter = TS_SBT_BY_STREAM,
						.stream = 9,
						.context = 1,
						.thread = 2};
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	uint64_t n, decoded;

	/*
	 * Kernels, copies, sets, waits, allocations and events have streams; a quarter of their
	 * blocks has rows of this stream.
	 */
	decoded = check_rows(reader, &options, &n);
	ts_check_int(n, 6 * N_ROWS * N_SEALS / 4);
	ts_check_int(decoded, 6 * N_SEALS / 4);
	ts_check_int(check_totals(reader, &options), 4 * N_SEALS / 4);
	options.filter = TS_SBT_BY_STREAM | TS_SBT_BY_CONTEXT | TS_SBT_BY_DEVICE;
	decoded = check_rows(reader, &options, &n);
	ts_check_int(n, 4 * N_ROWS * N_SEALS / 4);
	ts_check_int(decoded, 4 * N_SEALS / 4);
	/* There is no such stream. */
	options.context = 2;
	ts_check_int(check_rows(reader, &options, &n), 0);
	ts_check_int(n, 0);
	/* Only a context: losses have a context, too, but no list of contexts. */
	options.filter = TS_SBT_BY_CONTEXT;
	options.types = TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_LOSS);
	decoded = check_rows(reader, &options, &n);
	ts_check_int(n, 2 * N_ROWS * N_SEALS / 2);
	ts_check_int(decoded, N_SEALS + N_SEALS / 2);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(rows_of_a_thread)
{
	struct ts_sbt_cursor_options options = {.filter = TS_SBT_BY_THREAD, .thread = 2};
	int fd = make_file(N_ROWS, true), cut = make_file(N_ROWS, false);
	struct ts_sbt_reader *reader = open_file(fd);
	uint64_t n, decoded;

	/* Each seal has rows of two of the three threads, except types without a thread. */
	decoded = check_rows(reader, &options, &n);
	ts_check_int(n, 5 * N_ROWS * N_SEALS / 3);
	ts_check_int(decoded, 5 * N_SEALS * 2 / 3);
	check_totals(reader, &options);
	options.from_ns = 2 * SEAL_NS;
	options.to_ns = 7 * SEAL_NS;
	check_rows(reader, &options, &n);
	check_totals(reader, &options);
	options.thread = 77;
	ts_check_int(check_rows(reader, &options, &n), 0);
	ts_sbt_reader_free(reader);
	close(fd);

	/* A file without summaries: the same rows. */
	reader = open_file(cut);
	options = (struct ts_sbt_cursor_options){.filter = TS_SBT_BY_THREAD, .thread = 2};
	decoded = check_rows(reader, &options, &n);
	ts_check_int(n, 5 * N_ROWS * N_SEALS / 3);
	ts_check_int(decoded, 5 * N_SEALS);
	ts_sbt_reader_free(reader);
	close(cut);
}

/*
 * Every byte of the file belongs to a column or to the part outside columns. No byte is counted
 * twice.
 */
TS_TEST(sizes_add_up)
{
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	uint64_t bytes = 0, blocks = 0, starts = 0, last = 0;
	struct ts_sbt_sizes *sizes;
	size_t i = 0;

	ts_check_int(ts_sbt_sizes_new(reader, 0, &sizes), 0);
	for (; i < ts_sbt_sizes_count(sizes); i++) {
		const struct ts_sbt_size *size = ts_sbt_sizes_at(sizes, i);

		ts_check(size->type_name && (size->column_name || !size->column));
		ts_check(!i || last < ((uint64_t)size->type << 16 | size->column));
		last = (uint64_t)size->type << 16 | size->column;
		bytes += size->stored_bytes;
		if (size->type == TS_ROW_KERNEL && size->column == 1) {
			ts_check_str(size->type_name, "kernel");
			ts_check_str(size->column_name, "start_ns");
			starts = size->n_rows;
		}
	}
	ts_check(!ts_sbt_sizes_at(sizes, i));
	ts_check_int(ts_sbt_sizes_damaged(sizes), 0);
	ts_check_int(starts, N_ROWS * N_SEALS);
	/* All but the file's header and its end marker. */
	ts_check_int(bytes, ts_sbt_reader_file_bytes(reader) - 64 - 48);
	ts_sbt_sizes_free(sizes);

	ts_check_int(ts_sbt_sizes_new(reader, 2, &sizes), 0);
	for (i = 0, bytes = 0; i < ts_sbt_sizes_count(sizes); i++)
		bytes += ts_sbt_sizes_at(sizes, i)->stored_bytes;
	for (i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (ts_sbt_reader_block(reader, i)->session == 2)
			blocks += ts_sbt_reader_block(reader, i)->bytes;
	ts_check_int(bytes, blocks);
	ts_sbt_sizes_free(sizes);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* A block that cannot be read counts with its size. */
TS_TEST(sizes_of_a_damaged_file)
{
	int fd = make_file(N_ROWS, true);
	struct ts_sbt_reader *reader = open_file(fd);
	struct ts_sbt_sizes *sizes;
	uint64_t bytes = 0;
	size_t i = 0;

	while (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL)
		i++;
	ts_check_int(pwrite(fd, "x", 1, (off_t)(ts_sbt_reader_block(reader, i)->off + 200)), 1);
	ts_check_int(ts_sbt_sizes_new(reader, 0, &sizes), 0);
	ts_check_int(ts_sbt_sizes_damaged(sizes), 1);
	for (i = 0; i < ts_sbt_sizes_count(sizes); i++)
		bytes += ts_sbt_sizes_at(sizes, i)->stored_bytes;
	ts_check_int(bytes, ts_sbt_reader_file_bytes(reader) - 64 - 48);
	ts_sbt_sizes_free(sizes);
	ts_sbt_reader_free(reader);
	close(fd);
}
