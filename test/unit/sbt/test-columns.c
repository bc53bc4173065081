/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: rows of repeating patterns and of extremes are read back unchanged, whatever encoding
 * was chosen. The tests cover all encodings and predictors. Invalid directories are rejected with a
 * reason.
 */

#include "test/unit/harness.h"

#include <zstd.h>

#include "sbt/format/block.h"
#include "test/unit/sbt/sbt-test.h"

/*
 * Statistics of the tested columns: by encoding, by predictor, and with a trend, a key, or INDEXED.
 */
struct met {
	unsigned encoding[TS_SBT_ENCODING_COUNT];
	unsigned predictor[TS_SBT_PREDICTOR_COUNT];
	unsigned trend, mean, keyed, indexed;
};

static struct ts_sbt_column_header *directory(uint8_t *raw)
{
	return (struct ts_sbt_column_header *)(void *)raw;
}

static struct ts_sbt_column_header *column_of(const struct ts_sbt_block_header *header,
					      uint8_t *raw, uint16_t id)
{
	for (unsigned i = 0; i < header->n_columns; i++)
		if (directory(raw)[i].id == id)
			return &directory(raw)[i];
	return NULL;
}

static void meet(struct met *met, const struct ts_sbt_block_header *header, uint8_t *raw)
{
	for (unsigned i = 0; i < header->n_columns; i++) {
		const struct ts_sbt_column_header *column = &directory(raw)[i];

		met->encoding[column->encoding]++;
		if (column->encoding >= TS_SBT_VARINTS)
			met->predictor[column->predictor]++;
		met->trend += column->trend == 1;
		met->mean += column->trend > 1;
		met->keyed += column->key && !(column->flags & TS_SBT_COLUMN_INDEXED);
		met->indexed += !!(column->flags & TS_SBT_COLUMN_INDEXED);
	}
}

/*
 * Encodes rows as one block. Returns its header and its decompressed payload; the caller calls
 * free().
 */
static void encode(const struct ts_row_schema *schema, const uint8_t *rows, uint32_t n,
		   struct ts_sbt_block_header *ret_header, uint8_t **ret_raw)
{
	struct ts_encoder encoder = {.is_short = n % 3};
	struct ts_builder *builder;
	struct ts_buffer out = {0};
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	uint64_t state = n;
	const char *why;

	/* Adds rows singly, and many at a time. */
	ts_check_int(ts_builder_new(schema, &builder), 0);
	for (uint32_t i = 0, m, n_added; i < n; i += m) {
		const uint8_t *row = rows + (size_t)i * schema->row_bytes;

		m = (uint32_t)(test_random(&state) % (i % 2 ? 40 : 400)) + 1;
		m = m < n - i ? m : n - i;
		if (m == 1) {
			ts_check_int(ts_builder_add(builder, row), 0);
			continue;
		}
		ts_check_int(ts_builder_add_rows(builder, row, m, &n_added), 0);
		ts_check_int(n_added, m);
	}
	ts_check_int(ts_builder_encode(builder, &encoder, 1, &out), 0);
	memcpy(ret_header, out.bytes, sizeof(*ret_header));
	ts_check_int(ts_block_held_bytes(ret_header), out.n);
	ts_check_int(ts_block_payload(zstd, ret_header, false, out.bytes + sizeof(*ret_header),
				      ret_raw, &why),
		     0);
	ZSTD_freeDCtx(zstd);
	ts_builder_free(builder);
	ts_encoder_deinit(&encoder);
	ts_buffer_deinit(&out);
}

static int compare_start(const void *a, const void *b)
{
	const uint8_t *const *x = a, *const *y = b;
	uint64_t s = ts_row_start_ns(*x), t = ts_row_start_ns(*y);

	if (s != t)
		return s < t ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Checks that rows are decoded in order of time, in batches of any size, also if the decoder is set
 * back by a batch.
 */
static void check_rows(const struct ts_row_schema *schema, const uint8_t *rows, uint32_t n,
		       uint64_t *state, struct met *met)
{
	const uint8_t **sorted = malloc(n * sizeof(*sorted));
	uint8_t *batch = malloc((size_t)n * schema->row_bytes), *raw;
	struct ts_block_columns *columns;
	struct ts_block_decoder decoder, before;
	struct ts_sbt_block_header header;
	struct ts_block_why why;
	uint32_t at = 0;

	ts_check(sorted && batch);
	encode(schema, rows, n, &header, &raw);
	meet(met, &header, raw);
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = rows + (size_t)i * schema->row_bytes;
	qsort(sorted, n, sizeof(*sorted), compare_start);
	ts_check_int(ts_block_columns_new(schema, &header, raw, &columns, &why), 0);
	ts_block_decoder_init(&decoder, schema, &header);
	while (decoder.n_left) {
		uint32_t n_batch = (uint32_t)(test_random(state) % 300) + 1;

		n_batch = n_batch < decoder.n_left ? n_batch : decoder.n_left;
		before = decoder;
		ts_check(!ts_block_decoder_next(&decoder, columns, batch, n_batch));
		if (test_random(state) % 4 == 0) {
			decoder = before;
			memset(batch, 0xee, (size_t)n_batch * schema->row_bytes);
			ts_check(!ts_block_decoder_next(&decoder, columns, batch, n_batch));
		}
		for (uint32_t i = 0; i < n_batch; i++)
			if (memcmp(batch + (size_t)i * schema->row_bytes, sorted[at + i],
				   schema->row_bytes)) {
				fprintf(stderr, "%s row %u of %u differs\n", schema->name, at + i,
					n);
				exit(1);
			}
		at += n_batch;
	}
	ts_check_int(at, n);
	free(columns);
	free(raw);
	free(batch);
	free(sorted);
}

/*
 * Makes rows that repeat, like a loop of launches. Each row is one of a few patterns in an
 * irregular cycle; each time follows the previous one, with occasional extremes.
 */
static void make_rows(const struct ts_row_schema *schema, uint8_t *rows, uint32_t n,
		      uint64_t *state)
{
	uint32_t n_patterns = (uint32_t)(test_random(state) % 40) + 1, pattern = 0;
	unsigned wild = test_random(state) % 3 ? 0 : (unsigned)(test_random(state) % 60) + 2;
	uint8_t *patterns = calloc(n_patterns, schema->row_bytes);
	uint64_t now = test_random(state) >> 20, op = test_random(state) >> 40;

	ts_check(patterns);
	for (uint32_t i = 0; i < n_patterns; i++)
		test_row(schema, state, i % 4 ? 2 : 1, &now, patterns + i * schema->row_bytes);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *row = rows + (size_t)i * schema->row_bytes;
		bool is_wild = wild && test_random(state) % wild == 0;

		pattern = test_random(state) % 50 ? (pattern + 1) % n_patterns
						  : (uint32_t)(test_random(state) % n_patterns);
		memcpy(row, patterns + pattern * schema->row_bytes, schema->row_bytes);
		op += 1 + pattern % 2;
		for (unsigned c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];
			uint64_t value;

			if (column->role == TS_ROLE_TIME_START)
				value = now += test_random(state) % (1000 + pattern * 100);
			else if (column->role == TS_ROLE_TIME_END)
				value = now + pattern * 500 + test_random(state) % 50;
			else if (column->role == TS_ROLE_OP)
				value = op + (c > 2);
			else
				continue;
			if (is_wild)
				value = test_value(state, (unsigned)test_random(state));
			memcpy(row + column->offset, &value, 8);
		}
	}
	free(patterns);
}

TS_TEST(patterns)
{
	static const uint32_t sizes[] = {1, 2, 3, 255, 256, 257, 700, 1023, 1024, 1025, 2049, 5000};
	struct met met = {0};

	for (uint64_t seed = 1; seed <= 24; seed++)
		for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
			const struct ts_row_schema *schema = ts_row_schema(type);
			uint32_t n = sizes[(seed + type) % TS_ARRAY_LEN(sizes)];
			uint8_t *rows = malloc((size_t)n * schema->row_bytes);
			uint64_t state = seed << 8 | type;

			ts_check(rows);
			make_rows(schema, rows, n, &state);
			check_rows(schema, rows, n, &state, &met);
			free(rows);
		}
	for (unsigned i = 0; i < TS_SBT_ENCODING_COUNT; i++)
		ts_check(met.encoding[i]);
	for (unsigned i = 0; i < TS_SBT_PREDICTOR_COUNT; i++)
		ts_check(met.predictor[i]);
	ts_check(met.trend && met.mean && met.keyed && met.indexed);
}

/* Every row is different: dictionaries have as many items as there are rows. */
TS_TEST(nothing_repeats)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_KERNEL);
	uint32_t n = TS_SBT_MAX_ROWS;
	struct ts_row_kernel *rows = calloc(n, sizeof(*rows));
	uint64_t state = 9;
	struct met met = {0};

	ts_check(rows);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct ts_row_kernel){.start_ns = i,
						 .end_ns = i + test_random(&state) % 9,
						 .stream = i,
						 .name = i * 2654435761u,
						 .grid_z = UINT32_MAX - i};
	check_rows(schema, (const uint8_t *)rows, n, &state, &met);
	ts_check(met.indexed);
	free(rows);
}

/* Checks the times in a block's header for these rows. */
static void check_times(const struct ts_row_kernel *rows, uint32_t n)
{
	uint64_t earliest = UINT64_MAX, latest = 0, sum = 0;
	struct ts_sbt_block_header header;
	uint8_t *raw;

	encode(ts_row_schema(TS_ROW_KERNEL), (const uint8_t *)rows, n, &header, &raw);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = rows[i].start_ns;
		uint64_t end = rows[i].end_ns > start ? rows[i].end_ns : start;

		earliest = start < earliest ? start : earliest;
		latest = end > latest ? end : latest;
		sum = ts_add_saturated(sum, end - start);
	}
	ts_check_int(header.earliest_ns, earliest);
	ts_check_int(header.latest_ns, latest);
	ts_check_int(header.duration_ns, sum);
	free(raw);
}

/*
 * Makes rows as shards deliver them: long runs, each in order, that overlap. Some columns are zero
 * up to some row, or always. With `odd`, some times are impossible.
 */
static void make_runs(struct ts_row_kernel *rows, uint32_t n, bool odd, uint64_t *state)
{
	uint32_t first_graph = (uint32_t)(test_random(state) % n);
	uint32_t first_queued = (uint32_t)(test_random(state) % n);
	uint64_t now = test_random(state) % 2 ? 1 : UINT64_C(1) << 62, left = 0;

	for (uint32_t i = 0; i < n; i++, left--) {
		if (!left) {
			left = test_random(state) % 200 + 1;
			now += test_random(state) % 4000 - (now > 4000 ? 3000 : 0);
		}
		now += test_random(state) % 30;
		rows[i] = (struct ts_row_kernel){
			.start_ns = now,
			.end_ns = now + test_random(state) % 100 - (now > 8 ? 8 : 0),
			.op_id = i,
			.stream = (uint32_t)(left % 3),
			.graph = i >= first_graph ? 7 : 0,
			.queued_ns = i >= first_queued && i % 5 == 0 ? now : 0,
			.name = (uint32_t)(left % 11),
			.grid_x = (uint32_t)(left % 7 + i / 1000),
		};
		if (odd && test_random(state) % 100 == 0)
			rows[i].end_ns += UINT64_C(1) << (55 + test_random(state) % 9);
		if (odd && test_random(state) % 100 == 0)
			rows[i].start_ns = test_value(state, (unsigned)test_random(state));
	}
}

TS_TEST(runs)
{
	static const uint32_t sizes[] = {3, 63, 64, 65, 127, 128, 129, 1000, 4096, 20000};
	struct met met = {0};

	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint32_t n = sizes[seed % TS_ARRAY_LEN(sizes)];
		struct ts_row_kernel *rows = malloc(n * sizeof(*rows));
		uint64_t state = seed;

		ts_check(rows);
		make_runs(rows, n, seed % 4 == 0, &state);
		check_rows(ts_row_schema(TS_ROW_KERNEL), (const uint8_t *)rows, n, &state, &met);
		check_times(rows, n);
		free(rows);
	}
}

/*
 * Makes rows as one thread with long calls delivers them: in order, except for a few that start
 * earlier, some by more than a block. Some starts are equal.
 */
static void make_late(struct ts_row_kernel *rows, uint32_t n, uint32_t share, uint64_t *state)
{
	uint64_t now = 1000000;

	for (uint32_t i = 0; i < n; i++) {
		now += test_random(state) % 3;
		rows[i] = (struct ts_row_kernel){.start_ns = now,
						 .end_ns = now + 5,
						 .op_id = i,
						 .stream = i % 3,
						 .graph = i >= n / 2 ? 7 : 0,
						 .name = i % 11};
		if (test_random(state) % share == 0)
			rows[i].start_ns -= test_random(state) % (test_random(state) % 2 ? 40 : n);
		/* Often two late rows in a row, also with the same start. */
		if (i && rows[i - 1].start_ns < rows[i].start_ns && test_random(state) % share == 0)
			rows[i].start_ns = rows[i - 1].start_ns;
	}
}

TS_TEST(late_rows)
{
	static const uint32_t sizes[] = {32, 64, 200, 1000, 4096, 20000, TS_SBT_MAX_ROWS};
	struct met met = {0};

	for (uint64_t seed = 1; seed <= 42; seed++) {
		uint32_t n = sizes[seed % TS_ARRAY_LEN(sizes)];
		struct ts_row_kernel *rows = malloc(n * sizeof(*rows));
		uint64_t state = seed;

		ts_check(rows);
		make_late(rows, n, seed % 3 ? 150 : n, &state);
		/* One in front of all others. */
		if (seed % 5 == 0)
			rows[n - 1].start_ns = 1;
		check_rows(ts_row_schema(TS_ROW_KERNEL), (const uint8_t *)rows, n, &state, &met);
		check_times(rows, n);
		free(rows);
	}
}

/* Puts numbers as planes, a few at a time, and reads them back. */
static void check_planes(const uint64_t *numbers, uint32_t n, uint64_t *state)
{
	struct ts_sbt_column_header header = {.width = 8, .encoding = TS_SBT_PLANES, .n_values = n};
	struct ts_buffer exceptions = {0};
	uint64_t *back = malloc(n * sizeof(*back));
	uint8_t *bytes = NULL;
	struct ts_residuals residuals;
	struct ts_planes planes;
	bool is_centred;
	unsigned n_planes = ts_planes_choose(numbers, n, &is_centred);

	do {
		bytes = realloc(bytes, (size_t)n * (n_planes + 1));
		planes = (struct ts_planes){n_planes, is_centred, n, 0, 0, 0, bytes, &exceptions};
		exceptions.n = 0;
		for (uint32_t i = 0, m; i < n; i += m) {
			m = (uint32_t)(test_random(state) % 700) + 1;
			m = m < n - i ? m : n - i;
			ts_check_int(ts_planes_put(&planes, numbers + i, m), 0);
		}
	} while (planes.n_exceptions > ts_planes_max_exceptions(n) && ++n_planes <= 8);
	ts_check(n_planes <= 8);
	bytes = realloc(bytes, (size_t)n * n_planes + exceptions.n + 1);
	ts_check(back && bytes);
	if (exceptions.n)
		memcpy(bytes + (size_t)n * n_planes, exceptions.bytes, exceptions.n);
	header.n_planes = (uint8_t)n_planes;
	header.flags = is_centred ? TS_SBT_COLUMN_CENTRED : 0;
	header.n_bytes = (uint32_t)(n * n_planes + exceptions.n);
	ts_check(!ts_column_header_check(&header));
	ts_residuals_init(&residuals, &header, bytes);
	for (uint32_t i = 0, m; i < n; i += m) {
		m = (uint32_t)(test_random(state) % 700) + 1;
		m = m < n - i ? m : n - i;
		ts_check(!ts_residuals_next(&residuals, back + i, m));
	}
	ts_check(!ts_residuals_finish(&residuals));
	ts_check(!memcmp(back, numbers, n * sizeof(*back)));
	free(back);
	free(bytes);
	ts_buffer_deinit(&exceptions);
}

/*
 * Numbers come back from planes unchanged. Each round uses a random number of bits, with or without
 * negative numbers, and adds a few numbers of any size.
 */
TS_TEST(planes)
{
	uint64_t *numbers = malloc(3000 * sizeof(*numbers));

	ts_check(numbers);
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint64_t state = seed;
		unsigned bits = (unsigned)(test_random(&state) % 65);
		unsigned wild = (unsigned)(test_random(&state) % 100) + 2;
		bool is_signed = test_random(&state) % 2;
		uint32_t n = (uint32_t)(test_random(&state) % 2990) + 3;

		for (uint32_t i = 0; i < n; i++) {
			numbers[i] = bits ? test_random(&state) >> (64 - bits) : 0;
			if (is_signed && test_random(&state) % 2)
				numbers[i] = 0 - numbers[i];
			if (test_random(&state) % wild == 0)
				numbers[i] = test_value(&state, (unsigned)seed);
		}
		check_planes(numbers, n, &state);
	}
	free(numbers);
}

/*
 * The exceptions of FORMAT.md's example are encoded as there, and invalid lists of exceptions are
 * rejected.
 */
TS_TEST(exceptions)
{
	static const uint64_t numbers[] = {3, 70000, 4};
	static const uint8_t want[] = {0x03, 0x70, 0x04, 0x01, 0xa2, 0x04};
	static const struct {
		uint8_t bytes[6];
		uint32_t n;
	} wrong[] = {
		{{0x03, 0x70, 0x04, 0x03, 0xa2, 0x04}, 6}, /* beyond the last row */
		{{0x03, 0x70, 0x04, 0x01, 0xa2, 0x84}, 6}, /* a number without an end */
		{{0x03, 0x70, 0x04, 0x01}, 4},		   /* half an exception */
		/* half an exception after the last row's */
		{{0x03, 0x70, 0x04, 0x02, 0x02, 0x00}, 6},
	};
	struct ts_sbt_column_header header = {
		.width = 8, .encoding = TS_SBT_PLANES, .n_planes = 1, .n_values = 3, .n_bytes = 6};
	struct ts_buffer list = {0};
	struct ts_residuals residuals;
	uint8_t bytes[3];
	struct ts_planes planes = {.n_planes = 1,
				   .n_values = 3,
				   .bytes = bytes,
				   .exceptions = &list};
	uint64_t back[3];

	ts_check_int(ts_planes_put(&planes, numbers, 3), 0);
	ts_check_int(list.n, 3);
	ts_check(!memcmp(bytes, want, 3) && !memcmp(list.bytes, want + 3, 3));
	ts_residuals_init(&residuals, &header, want);
	ts_check(!ts_residuals_next(&residuals, back, 3) && !ts_residuals_finish(&residuals));
	ts_check(!memcmp(back, numbers, sizeof(back)));
	for (unsigned i = 0; i < TS_ARRAY_LEN(wrong); i++) {
		header.n_bytes = wrong[i].n;
		ts_check(!ts_column_header_check(&header));
		ts_residuals_init(&residuals, &header, wrong[i].bytes);
		ts_check(ts_residuals_next(&residuals, back, 3) || ts_residuals_finish(&residuals));
	}
	ts_buffer_deinit(&list);
}

/* Checks that a payload with one change is rejected, and that the reason contains `want`. */
static void check_refused(const struct ts_row_schema *schema,
			  const struct ts_sbt_block_header *header, const uint8_t *raw,
			  const char *want)
{
	struct ts_block_columns *columns;
	struct ts_block_why why = {""};

	ts_check_int(ts_block_columns_new(schema, header, raw, &columns, &why), TS_SBT_E_CORRUPT);
	if (!strstr(why.text, want)) {
		fprintf(stderr, "\"%s\" lacks \"%s\"\n", why.text, want);
		exit(1);
	}
}

#define REFUSED(id_, field_, value_, want_)                                                \
	do {                                                                               \
		struct ts_sbt_column_header *column_ = column_of(&header, raw, id_), was_; \
		ts_check(column_);                                                         \
		was_ = *column_;                                                           \
		column_->field_ = (value_);                                                \
		check_refused(schema, &header, raw, want_);                                \
		*column_ = was_;                                                           \
	} while (0)

TS_TEST(refusals)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_API);
	struct ts_row_api rows[600];
	struct ts_sbt_block_header header;
	struct ts_sbt_column_header *site;
	struct ts_block_columns *columns;
	struct ts_block_why why;
	size_t off = 0;
	uint8_t *raw;

	for (uint64_t i = 0; i < 600; i++)
		rows[i] = (struct ts_row_api){.start_ns = i * 1000 + i * i % 91,
					      .end_ns = i * 1000 + 500 + i * 7 % 31,
					      .op_id = i + i % 3,
					      .thread = 1 + i % 2,
					      .stack = 1 + i % 5,
					      .cbid = 211};
	encode(schema, (const uint8_t *)rows, 600, &header, &raw);
	ts_check_int(ts_block_columns_new(schema, &header, raw, &columns, &why), 0);
	free(columns);
	ts_check_int(column_of(&header, raw, 1)->base, 2);
	ts_check_int(column_of(&header, raw, 2)->predictor, TS_SBT_COLUMN);
	ts_check_int(column_of(&header, raw, 5)->flags, TS_SBT_COLUMN_INDEXED);

	REFUSED(1, encoding, TS_SBT_ENCODING_COUNT, "column 1 (start_ns) has an unknown encoding");
	REFUSED(2, predictor, TS_SBT_PREDICTOR_COUNT, "column 2 (end_ns) has an unknown predictor");
	REFUSED(2, trend, TS_SBT_MAX_TREND + 1, "an unknown trend");
	REFUSED(2, predictor, TS_SBT_GROUPED, "only the index column `site` can have");
	REFUSED(2, predictor, TS_SBT_LAST, "column 1 (start_ns) has an invalid base");
	REFUSED(2, width, 4, "an invalid base");
	REFUSED(2, flags, TS_SBT_COLUMN_SIGNED, "a wrong width or sign");
	REFUSED(2, base, 3, "an invalid base");
	REFUSED(2, base, 77, "an invalid base");
	REFUSED(2, base, 5, "an invalid base");
	REFUSED(3, base, 10, "an invalid base");
	REFUSED(3, n_values, 599, "a wrong number of values");
	REFUSED(1, n_planes, 9, "planes of a wrong size");
	REFUSED(1, n_planes, 8, "planes of a wrong size");
	REFUSED(1, key, 1234, "a key column that the block lacks");
	REFUSED(2, context, 5, "a key column that the block lacks");
	REFUSED(5, key, TS_SBT_COLUMN_SITE, "an invalid index");
	REFUSED(5, key, 0, "an invalid index");
	REFUSED(5, flags, 0, "a wrong number of values");
	REFUSED(TS_SBT_COLUMN_PLACE, base, 2, "column 5 (thread) has a wrong number of values");
	REFUSED(TS_SBT_COLUMN_SITE, base, 600, "column 65521 (site) has more items than rows");
	REFUSED(TS_SBT_COLUMN_SITE, predictor, TS_SBT_LAST, "that an index column cannot have");
	REFUSED(TS_SBT_COLUMN_SITE, key, TS_SBT_COLUMN_SITE, "a key column that the block lacks");
	REFUSED(TS_SBT_COLUMN_SITE, trend, 1, "that an index column cannot have");
	REFUSED(TS_SBT_COLUMN_PLACE, predictor, TS_SBT_GROUPED,
		"a key column that the block lacks");
	REFUSED(TS_SBT_COLUMN_SITE, n_values, 300, "(site)");

	/* An index beyond its dictionary; the codes of the site are the payload's last bytes. */
	site = column_of(&header, raw, TS_SBT_COLUMN_SITE);
	off = header.raw_bytes - site->n_bytes;
	raw[off + 17] = 200;
	check_refused(schema, &header, raw, "an index above its highest value");
	free(raw);
}

/* A changed payload is decoded or rejected, without any other effect. */
TS_TEST(changed_payloads)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		unsigned type = (unsigned)(seed % 7) + 1;
		const struct ts_row_schema *schema = ts_row_schema(type);
		uint64_t state = seed * 77;
		uint32_t n = 300;
		uint8_t *rows = malloc((size_t)n * schema->row_bytes), *raw, *copy;
		struct ts_sbt_block_header header;

		ts_check(rows);
		make_rows(schema, rows, n, &state);
		encode(schema, rows, n, &header, &raw);
		copy = malloc(header.raw_bytes);
		ts_check(copy);
		for (unsigned i = 0; i < 400; i++) {
			struct ts_block_columns *columns;
			struct ts_block_decoder decoder;
			struct ts_block_why why;
			size_t n_directory = header.n_columns * sizeof(struct ts_sbt_column_header);

			memcpy(copy, raw, header.raw_bytes);
			for (unsigned j = 0; j < 1 + i % 3; j++)
				copy[test_random(&state) %
				     (i % 2 ? n_directory : header.raw_bytes)] =
					(uint8_t)test_random(&state);
			if (ts_block_columns_new(schema, &header, copy, &columns, &why))
				continue;
			ts_block_decoder_init(&decoder, schema, &header);
			ts_block_decoder_next(&decoder, columns, rows, n);
			free(columns);
		}
		free(copy);
		free(raw);
		free(rows);
	}
}
