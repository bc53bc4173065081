/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding SCALED: FORMAT.md's example has the bytes that are written, any residuals come
 * back, damaged columns are rejected or decoded, a writer chooses the encoding where it is smaller
 * and never in a file of version 1.0, and each of its sections is compressed in its own way.
 */

#include "test/unit/harness.h"

#include <zstd.h>

#include "sbt/format/block-columns.h"
#include "sbt/format/scaled.h"
#include "sbt/write/compress.h"
#include "test/unit/sbt/sbt-test.h"

#define MAX_ROWS     3000u
#define MAX_CONTEXTS 40u
#define KERNELS	     6000u

/* Decodes a column, some numbers at a time. Returns NULL, or the reason why it is invalid. */
static const char *decode(const struct ts_sbt_column_header *header, const uint8_t *bytes,
			  const uint16_t *context, uint32_t n_contexts, uint64_t *state,
			  uint64_t *to)
{
	struct ts_scale scales[MAX_CONTEXTS];
	struct ts_scaled scaled = {.context = context, .n_contexts = n_contexts, .scales = scales};
	struct ts_scaled_numbers numbers;
	const char *why = ts_column_header_check(header);

	why = why ?: ts_scaled_init(&numbers, &scaled, header, bytes);
	for (uint32_t i = 0, m; !why && i < header->n_values; i += m) {
		m = (uint32_t)(test_random(state) % 700) + 1;
		m = m < header->n_values - i ? m : header->n_values - i;
		why = ts_scaled_next(&numbers, to + i, m);
	}
	return why ?: ts_scaled_finish(&numbers);
}

TS_TEST(example)
{
	static const uint64_t numbers[] = {100, 105, 98, 1000};
	static const uint8_t want[] = {0x01, 0x00, 0xc8, 0x01, 0x01, 0x80, 0x82,
				       0x7f, 0x42, 0x01, 0x02, 0x03, 0x08};
	static const struct {
		uint8_t at, byte;
		const char *why;
	} wrong[] = {
		{0, 0x00, "an invalid quantum"},
		{1, 0x02, "unknown remainders"},
		{1, 0x01, "more low bits than its values have"}, /* low bits as remainders */
		{4, 33, "an invalid centre or scale"},
		{4, 0, "more low bits than its values have"},
		{4, 9, "too few low bits"},
		{9, 0x04, "low bits that do not fit"},
		{9, 0x00, "too few low bits"},
		{11, 0x04, "invalid exceptions"},
		{12, 0x88, "invalid exceptions"},
	};
	struct ts_sbt_column_header header = {.width = 8,
					      .encoding = TS_SBT_SCALED,
					      .n_values = 4,
					      .n_bytes = sizeof(want)};
	struct ts_scale scale = {100, 1};
	struct ts_scaled scaled = {.quantum = 1, .n_contexts = 1, .scales = &scale};
	struct ts_buffer out = {0}, low = {0}, exceptions = {0};
	struct ts_scaled_output output = {&out, &low, &exceptions};
	uint8_t bytes[sizeof(want)];
	uint64_t back[4], state = 1;

	/* With so few rows, one exception is too many for the writer. */
	ts_check_int(ts_scaled_put(&scaled, numbers, 4, &output), 1);
	ts_check_int(out.n, 0);
	ts_check_int(ts_scaled_put(&scaled, numbers, 3, &output), 0);
	ts_check(out.n == 10 && !memcmp(out.bytes, want, 8) && !memcmp(out.bytes + 8, want + 9, 2));
	ts_check(!decode(&header, want, NULL, 1, &state, back));
	ts_check(!memcmp(back, numbers, sizeof(back)));
	for (unsigned i = 0; i < TS_ARRAY_LEN(wrong); i++) {
		const char *why;

		memcpy(bytes, want, sizeof(bytes));
		bytes[wrong[i].at] = wrong[i].byte;
		why = decode(&header, bytes, NULL, 1, &state, back);
		if (!why || strcmp(why, wrong[i].why)) {
			fprintf(stderr, "%u: \"%s\", not \"%s\"\n", i, why, wrong[i].why);
			exit(1);
		}
	}
	ts_buffer_deinit(&out);
	ts_buffer_deinit(&low);
	ts_buffer_deinit(&exceptions);
}

/* Chooses residuals around the centres; some differ by a remainder, some by anything. */
static void make_numbers(const struct ts_scaled *scaled, unsigned bits, unsigned wild,
			 uint64_t *state, uint64_t *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t noise = test_random(state) >> (64 - bits);

		numbers[i] = scaled->scales[scaled->context ? scaled->context[i] : 0].centre;
		numbers[i] += test_random(state) % 2 ? noise : 0 - noise;
		numbers[i] *= scaled->quantum;
		if (test_random(state) % 4 == 0)
			numbers[i] += test_random(state) % 4 - 1;
		if (test_random(state) % wild == 0)
			numbers[i] += test_value(state, (unsigned)test_random(state)) >> 2;
	}
}

/* Changes bytes or the length of a column; it must end, and read only its own bytes. */
static void damage(const struct ts_sbt_column_header *header, const uint8_t *bytes,
		   const uint16_t *context, uint32_t n_contexts, uint64_t *state)
{
	uint64_t *back = malloc(MAX_ROWS * sizeof(*back));

	ts_check(back);
	for (unsigned i = 0; i < 30; i++) {
		struct ts_sbt_column_header cut = *header;
		uint8_t *copy;

		if (i % 3 == 0)
			cut.n_bytes -= (uint32_t)(test_random(state) % header->n_bytes);
		copy = malloc(cut.n_bytes);
		ts_check(copy);
		memcpy(copy, bytes, cut.n_bytes);
		for (unsigned j = 0; j < i % 3; j++)
			copy[test_random(state) % (i % 2 ? cut.n_bytes : 2 * n_contexts)] =
				(uint8_t)test_random(state);
		decode(&cut, copy, context, n_contexts, state, back);
		free(copy);
	}
	free(back);
}

TS_TEST(round_trip)
{
	uint64_t *numbers = malloc(2 * MAX_ROWS * sizeof(*numbers)), *back = numbers + MAX_ROWS;
	struct ts_buffer out = {0}, low = {0}, exceptions = {0};
	unsigned n_written = 0, n_with[2] = {0};

	ts_check(numbers);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		uint64_t state = seed;
		struct ts_scaled_output output = {&out, &low, &exceptions};
		struct ts_scale scales[MAX_CONTEXTS];
		uint16_t context[MAX_ROWS];
		uint32_t n = (uint32_t)(test_random(&state) % (MAX_ROWS - 1)) + 1;
		unsigned bits = (unsigned)(test_random(&state) % 39) + 1;
		struct ts_scaled scaled = {.quantum = seed % 2 ? 1 : test_random(&state) % 4000 + 1,
					   .has_remainders = test_random(&state) % 2,
					   .context = test_random(&state) % 4 ? context : NULL,
					   .scales = scales};
		struct ts_sbt_column_header header = {.width = 8,
						      .encoding = TS_SBT_SCALED,
						      .n_values = n};
		int r;

		if (seed % 50 == 0)
			scaled.quantum = TS_SCALED_MAX_QUANTUM;
		scaled.n_contexts = scaled.context ? (uint32_t)(seed % MAX_CONTEXTS) + 1 : 1;
		for (uint32_t c = 0; c < scaled.n_contexts; c++)
			scales[c] =
				(struct ts_scale){test_random(&state) >> (test_random(&state) % 64),
						  bits > 7 ? bits - 7 : (uint32_t)(seed % 3)};
		for (uint32_t i = 0; i < n; i++)
			context[i] = (uint16_t)(test_random(&state) % scaled.n_contexts);
		make_numbers(&scaled, bits, seed % 5 ? 60 : 8, &state, numbers, n);
		out.n = 0;
		r = ts_scaled_put(&scaled, numbers, n, &output);
		ts_check(r == 0 || (r == 1 && !out.n));
		if (r || out.n > n * 10ul)
			continue;
		n_written++;
		n_with[scaled.has_remainders]++;
		header.n_bytes = (uint32_t)out.n;
		ts_check(!decode(&header, out.bytes, scaled.context, scaled.n_contexts, &state,
				 back));
		ts_check(!memcmp(back, numbers, n * sizeof(*back)));
		damage(&header, out.bytes, scaled.context, scaled.n_contexts, &state);
	}
	ts_check(n_written > 100 && n_with[0] > 20 && n_with[1] > 20);
	ts_buffer_deinit(&out);
	ts_buffer_deinit(&low);
	ts_buffer_deinit(&exceptions);
	free(numbers);
}

/*
 * A part that was stored because its bytes are even may become longer than one frame stores. The
 * other parts are still compressed.
 */
TS_TEST(many_even_bytes)
{
	enum {
		ZEROS = 64 * 1024,
		EVEN = 200 * 1024
	};
	struct ts_plane_choice choice = {.kind = TS_PLANE_EVEN, .n_left = 4};
	size_t capacity = 2 * ZSTD_compressBound(ZEROS + EVEN), n;
	struct ts_encoder encoder = {0};
	uint8_t *bytes, *to = malloc(capacity), *back = malloc(ZEROS + EVEN);
	uint64_t state = 3;

	ts_check(to && back);
	ts_check_int(ts_compress_begin(&encoder), 0);
	ts_check_int(ts_buffer_reserve(&encoder.raw, ZEROS + EVEN, &bytes), 0);
	encoder.raw.n = ZEROS + EVEN;
	memset(bytes, 0, ZEROS);
	for (size_t i = 0; i < EVEN; i++)
		bytes[ZEROS + i] = (uint8_t)(test_random(&state) >> 32);
	encoder.parts[encoder.n_parts++] = (struct ts_part){.end = ZEROS};
	encoder.parts[encoder.n_parts++] = (struct ts_part){ZEROS + EVEN, &choice};
	n = ts_compress_parts(&encoder, to, capacity);
	ts_check(n > EVEN && n < EVEN + ZEROS / 2);
	ts_check_int(ZSTD_decompress(back, ZEROS + EVEN, to, n), ZEROS + EVEN);
	ts_check(!memcmp(back, bytes, ZEROS + EVEN));
	ts_encoder_deinit(&encoder);
	free(back);
	free(to);
}

/*
 * Bits that repeat with the kinds of a loop, four pairs to a byte, as remainders of times do: a
 * longer search finds more, and the choice is kept for the next block.
 */
TS_TEST(a_longer_search)
{
	enum {
		REMAINDERS = 8 * 1024
	};
	struct ts_plane_choice choice = {0};
	size_t capacity = 3 * ZSTD_compressBound(REMAINDERS), n[2];
	struct ts_encoder encoder = {0};
	uint8_t *bytes, *to = malloc(capacity), back[REMAINDERS];
	uint64_t state = 3;

	ts_check(to);
	ts_check_int(ts_compress_begin(&encoder), 0);
	ts_check_int(ts_buffer_reserve(&encoder.raw, REMAINDERS, &bytes), 0);
	encoder.raw.n = REMAINDERS;
	memset(bytes, 0, REMAINDERS);
	for (unsigned i = 0; i < 4 * REMAINDERS; i++) {
		unsigned kind = i % 13, two = 1 + (kind ? kind % 3 == 0 : test_random(&state) % 2);

		bytes[i / 4] = (uint8_t)(bytes[i / 4] | two << i % 4 * 2);
	}
	encoder.parts[encoder.n_parts++] = (struct ts_part){.end = REMAINDERS};
	n[0] = ts_compress_parts(&encoder, to, capacity);
	encoder.parts[0].choice = &choice;
	for (int block = 0; block < 2; block++) {
		n[1] = ts_compress_parts(&encoder, to, capacity);
		ts_check(n[1] && n[1] < n[0] - n[0] / 32);
		ts_check_int(choice.kind, TS_PLANE_CLOSE);
		ts_check_int(ZSTD_decompress(back, REMAINDERS, to, n[1]), REMAINDERS);
		ts_check(!memcmp(back, bytes, REMAINDERS));
	}
	ts_encoder_deinit(&encoder);
	free(to);
}

/* Kernels of 20 kinds, each with a duration and a spread of its own, by a clock that ticks. */
static struct ts_row_kernel *make_kernels(void)
{
	struct ts_row_kernel *rows = calloc(KERNELS, sizeof(*rows));
	uint64_t now = 1000000, state = 5;

	ts_check(rows);
	for (uint32_t i = 0; i < KERNELS; i++) {
		uint32_t kind = (uint32_t)(test_random(&state) % 20);
		uint64_t ticks = 100 + kind * kind * 10;

		now += 32 * (30 + test_random(&state) % 4) + test_random(&state) % 2;
		rows[i] = (struct ts_row_kernel){.start_ns = now, .op_id = i, .name = 1 + kind};
		ticks += test_random(&state) % (1 + ticks / 8) +
			 test_random(&state) % (1 + ticks / 8);
		if (i % 500 == 77)
			ticks += 100000;
		now += ticks * 32 + test_random(&state) % 2;
		rows[i].end_ns = now;
	}
	return rows;
}

/*
 * The first frame ends where the first plane begins: directory and head are unlike a plane, whose
 * codes would be longer with them.
 */
static void check_frames(const uint8_t *stored, size_t n)
{
	size_t n_first = ZSTD_findFrameCompressedSize(stored, n);

	ts_check(!ZSTD_isError(n_first));
	ts_check(ZSTD_getFrameContentSize(stored, n) < KERNELS);
	ts_check_int(ZSTD_getFrameContentSize(stored + n_first, n - n_first), KERNELS);
}

/* Encodes the kernels as a block. The caller calls free() for *ret_raw. */
static void encode_kernels(const struct ts_row_kernel *rows, bool is_short, uint64_t *ret_bytes,
			   struct ts_sbt_block_header *ret_header, uint8_t **ret_raw)
{
	struct ts_encoder encoder = {.is_short = is_short};
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	struct ts_buffer out = {0};
	struct ts_builder *builder;
	const char *why;
	uint32_t n;

	ts_check_int(ts_builder_new(ts_row_schema(TS_ROW_KERNEL), &builder), 0);
	ts_check_int(ts_builder_add_rows(builder, rows, KERNELS, &n), 0);
	ts_check_int(ts_builder_encode(builder, &encoder, 1, &out), 0);
	memcpy(ret_header, out.bytes, sizeof(*ret_header));
	check_frames(out.bytes + sizeof(*ret_header), ret_header->stored_bytes);
	ts_check_int(ts_block_payload(zstd, ret_header, false, out.bytes + sizeof(*ret_header),
				      ret_raw, &why),
		     0);
	*ret_bytes = out.n;
	ts_builder_free(builder);
	ts_encoder_deinit(&encoder);
	ts_buffer_deinit(&out);
	ZSTD_freeDCtx(zstd);
}

static void check_kernels(const struct ts_row_kernel *rows,
			  const struct ts_sbt_block_header *header, const uint8_t *raw)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_KERNEL);
	struct ts_row_kernel *back = malloc(KERNELS * sizeof(*back));
	struct ts_block_decoder decoder;
	struct ts_block_columns *columns;
	struct ts_block_why why;

	ts_check(back);
	ts_check_int(ts_block_columns_new(schema, header, raw, &columns, &why), 0);
	ts_block_decoder_init(&decoder, schema, header);
	ts_check(!ts_block_decoder_next(&decoder, columns, back, KERNELS));
	ts_check(!memcmp(back, rows, KERNELS * sizeof(*back)));
	free(columns);
	free(back);
}

static void check_refused(const struct ts_sbt_block_header *header, uint8_t *raw,
			  struct ts_sbt_column_header wrong, const char *want)
{
	struct ts_sbt_column_header *columns = (struct ts_sbt_column_header *)(void *)raw;
	struct ts_sbt_column_header right = columns[1];
	struct ts_block_columns *decoded;
	struct ts_block_why why = {""};

	columns[1] = wrong;
	ts_check_int(ts_block_columns_new(ts_row_schema(TS_ROW_KERNEL), header, raw, &decoded,
					  &why),
		     TS_SBT_E_CORRUPT);
	columns[1] = right;
	if (!strstr(why.text, want)) {
		fprintf(stderr, "\"%s\" lacks \"%s\"\n", why.text, want);
		exit(1);
	}
}

TS_TEST(chosen)
{
	struct ts_row_kernel *rows = make_kernels();
	struct ts_sbt_block_header header[2];
	struct ts_sbt_column_header column;
	uint64_t n_bytes[2];
	uint8_t *raw[2];

	for (unsigned is_short = 0; is_short < 2; is_short++) {
		encode_kernels(rows, is_short, &n_bytes[is_short], &header[is_short],
			       &raw[is_short]);
		check_kernels(rows, &header[is_short], raw[is_short]);
		for (unsigned c = 0; c < header[is_short].n_columns; c++) {
			memcpy(&column, raw[is_short] + c * sizeof(column), sizeof(column));
			ts_check(is_short ? column.id > 2 || column.encoding == TS_SBT_SCALED
					  : column.encoding < TS_SBT_SCALED);
		}
	}
	ts_check(n_bytes[1] < n_bytes[0] * 9 / 10);

	memcpy(&column, raw[1] + sizeof(column), sizeof(column));
	ts_check(column.id == 2 && column.context == TS_SBT_COLUMN_SITE && !column.trend);
#define WRONG(field_, value_, want_)                              \
	do {                                                      \
		struct ts_sbt_column_header wrong_ = column;      \
		wrong_.field_ = (value_);                         \
		check_refused(&header[1], raw[1], wrong_, want_); \
	} while (0)
	WRONG(trend, 1, "that scaled values cannot have");
	WRONG(width, 4, "that scaled values cannot have");
	WRONG(flags, TS_SBT_COLUMN_INDEXED, "that scaled values cannot have");
	WRONG(flags, TS_SBT_COLUMN_CENTRED, "that scaled values cannot have");
	WRONG(context, 0, "(end_ns) has");
	WRONG(context, TS_SBT_COLUMN_PLACE, "a key column that the block lacks");
	WRONG(context, 3, "a key column that the block lacks");
	WRONG(encoding, TS_SBT_ENCODING_COUNT, "an unknown encoding");
	for (unsigned is_short = 0; is_short < 2; is_short++)
		free(raw[is_short]);
	free(rows);
}
