/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the parameters of SCALED columns: the centre and the scale of each item from a sample of
 * each block, the quantum and the fineness of the scales at a trial. encode-column.c calls this
 * module; format/scaled.c writes the column.
 */

#include "sbt/write/encode-scaled.h"

#include "sbt/format/scaled.h"
#include "sbt/write/entropy.h"

/*
 * The sample has one of SAMPLE_ROWS rows, within the limits. The middle of an item is computed from
 * some of its rows.
 */
#define MIN_SAMPLE  512u
#define MAX_SAMPLE  2048u
#define SAMPLE_ROWS 8u
#define MAX_MIDDLE  15u

/* Rows of the sample in which a quantum is looked for, and the largest quantum. */
#define QUANTUM_SAMPLE	256u
#define MAX_QUANTUM	4096u
#define MAX_ROUND_ERROR 1

/* An item with fewer rows in the sample has the common scale. */
#define MIN_ITEM_ROWS 4u

/* Rows for each item, on average, that pay for its parameters. */
#define ROWS_AN_ITEM 32u

/*
 * Choices of the fineness: the spread of an item's values has 2^F to 2^(F + 1) different bytes.
 */
#define LEAST_FINENESS 1u
#define MOST_FINENESS  5u

/* The sample, and what is computed from it. */
struct sampling {
	struct ts_scale *scales; /* of each item */
	uint64_t *spreads;	 /* of each item: about the width of its values' middle */
	uint32_t *starts;	 /* of each item in `sorted`, and their end */
	uint64_t *numbers;	 /* the sample, in quanta */
	uint64_t *sorted;	 /* the sample by item */
	uint16_t *items;	 /* of each number */
	uint32_t n_items;
	uint32_t n;
};

static int allocate(struct ts_encoder *encoder, uint32_t n_items, struct sampling *sampling)
{
	uint8_t *at;
	int r;

	encoder->scales.n = 0;
	r = ts_buffer_reserve(&encoder->scales,
			      n_items * (sizeof(struct ts_scale) + 8) + (n_items + 2ul) * 4 +
				      MAX_SAMPLE * 18ul,
			      &at);
	if (r)
		return r;
	sampling->n_items = n_items;
	sampling->scales = (struct ts_scale *)(void *)at;
	sampling->spreads = (uint64_t *)(void *)(sampling->scales + n_items);
	sampling->numbers = sampling->spreads + n_items;
	sampling->sorted = sampling->numbers + MAX_SAMPLE;
	sampling->starts = (uint32_t *)(void *)(sampling->sorted + MAX_SAMPLE);
	sampling->items = (uint16_t *)(void *)(sampling->starts + n_items + 2);
	return 0;
}

/*
 * Takes rows at irregular distances: the rows of a loop repeat, and a regular distance would miss
 * some of them.
 */
static void take_sample(struct sampling *sampling, const uint64_t *residuals, uint32_t n,
			const uint16_t *context)
{
	uint32_t n_wanted = n / SAMPLE_ROWS, span, random = 1;

	n_wanted = n_wanted < MIN_SAMPLE   ? MIN_SAMPLE
		   : n_wanted > MAX_SAMPLE ? MAX_SAMPLE
					   : n_wanted;
	span = n / n_wanted * 2 + 1;
	sampling->n = 0;
	for (uint32_t i = 0; i < n && sampling->n < n_wanted;) {
		sampling->numbers[sampling->n] = residuals[i];
		sampling->items[sampling->n++] = context ? context[i] : 0;
		random = random * 1664525 + 1013904223;
		i += 1 + (uint32_t)((uint64_t)random * span >> 32);
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Returns how many numbers are multiples of the quantum, plus or minus MAX_ROUND_ERROR. */
static uint32_t count_multiples(const uint64_t *numbers, uint32_t n, uint64_t quantum)
{
	uint32_t n_multiples = 0;
	int64_t remainder;

	for (uint32_t i = 0; i < n; i++) {
		ts_scaled_quotient(numbers[i], quantum, &remainder);
		n_multiples += remainder >= -MAX_ROUND_ERROR && remainder <= MAX_ROUND_ERROR;
	}
	return n_multiples;
}

/*
 * Finds the quantum: if most numbers are multiples of one, it is the most frequent distance between
 * numbers that are neighbours by size. Returns 1 if there is none. Overwrites sampling->sorted.
 */
static uint64_t find_quantum(struct sampling *sampling)
{
	uint32_t n = sampling->n < QUANTUM_SAMPLE ? sampling->n : QUANTUM_SAMPLE, n_best = 0;
	uint16_t counts[MAX_QUANTUM] = {0};
	uint64_t *sorted = sampling->sorted, best = 1, quantum = 1;

	memcpy(sorted, sampling->numbers, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (uint32_t i = 1; i < n; i++) {
		uint64_t gap = sorted[i] - sorted[i - 1];

		if (gap > 2 * MAX_ROUND_ERROR + 2 && gap < MAX_QUANTUM &&
		    ++counts[gap] > counts[quantum])
			quantum = gap;
	}
	for (uint64_t q = quantum - 1; quantum > 1 && q <= quantum + 1; q++) {
		uint32_t n_multiples = count_multiples(sorted, n, q);

		if (n_multiples > n_best) {
			n_best = n_multiples;
			best = q;
		}
	}
	return n_best > n - n / 8 ? best : 1;
}

/* Turns the sample into quanta. Returns true if the remainders need two bits each. */
static bool divide_sample(struct sampling *sampling, uint64_t quantum)
{
	return quantum > 1 &&
	       ts_scaled_divide(sampling->numbers, sampling->n, quantum) > sampling->n / 32;
}

/* Orders the sample by item. */
static void sort_sample(struct sampling *sampling)
{
	uint32_t *starts = sampling->starts, at = 0;

	memset(starts, 0, (sampling->n_items + 2ul) * sizeof(*starts));
	for (uint32_t i = 0; i < sampling->n; i++)
		starts[sampling->items[i] + 2]++;
	for (uint32_t c = 2; c < sampling->n_items + 2; c++)
		starts[c] = at += starts[c];
	for (uint32_t i = 0; i < sampling->n; i++)
		sampling->sorted[starts[sampling->items[i] + 1]++] = sampling->numbers[i];
}

/* Sorts up to MAX_MIDDLE numbers, evenly chosen. Returns how many. */
static uint32_t sort_some(const uint64_t *numbers, uint32_t n, int64_t to[MAX_MIDDLE])
{
	uint32_t n_some = n < MAX_MIDDLE ? n : MAX_MIDDLE;

	for (uint32_t i = 0, j; i < n_some; i++) {
		int64_t number = (int64_t)numbers[(uint64_t)i * n / n_some];

		for (j = i; j && to[j - 1] > number; j--)
			to[j] = to[j - 1];
		to[j] = number;
	}
	return n_some;
}

/*
 * Computes the centre, the mean of the numbers that are not outliers, and the spread: twice their
 * mean distance from the middle.
 */
static void settle(const uint64_t *numbers, uint32_t n, struct ts_scale *ret_scale,
		   uint64_t *ret_spread)
{
	int64_t some[MAX_MIDDLE] = {0}, sum = 0;
	uint32_t n_some = sort_some(numbers, n, some), n_in = 0;
	uint64_t middle = (uint64_t)some[n_some / 2], distances = 0;
	uint64_t limit = (uint64_t)some[n_some * 3 / 4] - (uint64_t)some[n_some / 4];

	limit = limit < UINT32_MAX ? 3 * limit + 2 : UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t difference = numbers[i] - middle;
		uint64_t distance = difference >> 63 ? 0 - difference : difference;

		if (distance > limit)
			continue;
		sum += (int64_t)difference;
		distances += distance;
		n_in++;
	}
	ret_scale->centre = middle + (uint64_t)(sum / n_in);
	*ret_spread = 2 * distances / n_in;
}

/* Computes centre and spread of each item; items without enough rows have those of all rows. */
static void settle_all(struct sampling *sampling)
{
	struct ts_scale common;
	uint64_t spread;

	settle(sampling->numbers, sampling->n, &common, &spread);
	for (uint32_t c = 0; c < sampling->n_items; c++) {
		uint32_t from = sampling->starts[c], n = sampling->starts[c + 1] - from;

		sampling->scales[c] = common;
		sampling->spreads[c] = spread;
		if (n)
			settle(sampling->sorted + from, n, &sampling->scales[c],
			       &sampling->spreads[c]);
		if (n < MIN_ITEM_ROWS)
			sampling->spreads[c] = spread;
	}
}

static void set_shifts(struct sampling *sampling, unsigned fineness)
{
	for (uint32_t c = 0; c < sampling->n_items; c++) {
		uint32_t shift = 0;

		while (shift < TS_SCALED_MAX_SHIFT && sampling->spreads[c] >> shift >> fineness > 1)
			shift++;
		sampling->scales[c].shift = shift;
	}
}

/* Estimates the bits of the sample, in units of 1/256. */
static uint64_t estimate(const struct sampling *sampling)
{
	uint32_t counts[256] = {0};
	uint64_t n_bits = 0;

	for (uint32_t i = 0; i < sampling->n; i++) {
		const struct ts_scale *scale = &sampling->scales[sampling->items[i]];
		uint64_t number =
			sampling->numbers[i] - scale->centre + (UINT64_C(128) << scale->shift);

		counts[number >> scale->shift & 0xff]++;
		n_bits += scale->shift + (number >> scale->shift > 0xff ? 24 : 0);
	}
	return ts_entropy_256(counts, sampling->n) + n_bits * 256;
}

static unsigned choose_fineness(struct sampling *sampling)
{
	uint64_t least = UINT64_MAX;
	unsigned best = LEAST_FINENESS;

	for (unsigned fineness = LEAST_FINENESS; fineness <= MOST_FINENESS; fineness++) {
		uint64_t bits;

		set_shifts(sampling, fineness);
		bits = estimate(sampling);
		if (bits < least) {
			least = bits;
			best = fineness;
		}
	}
	return best;
}

int ts_encoder_scale(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		     const uint16_t *context, uint32_t n_contexts, struct ts_scaled_choice *choice,
		     bool is_trial, size_t ret_ends[4])
{
	const uint64_t *residuals = (const uint64_t *)(const void *)encoder->residuals.bytes;
	struct ts_scaled_output output = {&encoder->raw, &encoder->values, &encoder->scratch};
	uint32_t n = header->n_values;
	size_t before = encoder->raw.n;
	struct sampling sampling;
	struct ts_scaled scaled;
	int r;

	if (n_contexts > n / ROWS_AN_ITEM)
		context = NULL;
	r = allocate(encoder, context ? n_contexts : 1, &sampling);
	if (r)
		return r;
	take_sample(&sampling, residuals, n, context);
	if (is_trial)
		choice->quantum = (uint32_t)find_quantum(&sampling);
	scaled = (struct ts_scaled){.quantum = choice->quantum,
				    .context = context,
				    .n_contexts = sampling.n_items,
				    .scales = sampling.scales};
	scaled.has_remainders = divide_sample(&sampling, choice->quantum);
	sort_sample(&sampling);
	settle_all(&sampling);
	if (is_trial)
		choice->fineness = (uint8_t)choose_fineness(&sampling);
	set_shifts(&sampling, choice->fineness);
	r = ts_scaled_put(&scaled, residuals, n, &output);
	if (r)
		return r;
	if (encoder->raw.n - before > (size_t)n * header->width) {
		encoder->raw.n = before;
		return 1;
	}
	header->encoding = TS_SBT_SCALED;
	header->context = context ? TS_SBT_COLUMN_SITE : 0;
	header->n_bytes = (uint32_t)(encoder->raw.n - before);
	ret_ends[0] = output.plane_end;
	ret_ends[1] = output.remainders_end;
	ret_ends[2] = output.low_end;
	ret_ends[3] = encoder->raw.n;
	return 0;
}
