/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the encoding SCALED, see scaled.h. encode-scaled.c chooses the parameters and
 * writes columns with this module; decode-columns.c reads and checks them.
 */

#include "sbt/format/scaled.h"
#include "sbt/format/varint.h"
#include "sbt/format/wide.h"

/* Number of values that are encoded or decoded at a time. */
#define SOME_ROWS      256u

#define HAS_REMAINDERS 1u

/* Half the range of the byte: the byte of the centre itself. */
#define MIDDLE UINT64_C(128)

/* Bits of a number for which a division is a multiplication of 32 bits. */
#define FAST_BITS 31u

/*
 * Divides by the quantum, rounded to nearest: exact for numbers that have FAST_BITS bits when
 * `bias` quanta and half a quantum are added.
 */
struct divider {
	uint64_t quantum;
	uint64_t bias;
	uint64_t added;
	uint32_t factor;
	unsigned shift;
};

static void divider_init(struct divider *divider, uint64_t quantum)
{
	unsigned log = 0;

	while (UINT64_C(1) << log < quantum)
		log++;
	divider->quantum = quantum;
	divider->bias = (UINT64_C(1) << (FAST_BITS - 2)) / quantum;
	divider->added = divider->bias * quantum + quantum / 2;
	divider->shift = FAST_BITS + log;
	divider->factor = (uint32_t)((UINT64_C(1) << divider->shift) / quantum + 1);
}

uint64_t ts_scaled_quotient(uint64_t residual, uint64_t quantum, int64_t *ret_remainder)
{
	int64_t number = (int64_t)residual, divisor = (int64_t)quantum;
	int64_t quotient = number / divisor, remainder = number % divisor;

	if (remainder * 2 >= divisor) {
		remainder -= divisor;
		quotient++;
	} else if (remainder * 2 < -divisor) {
		remainder += divisor;
		quotient--;
	}
	*ret_remainder = remainder;
	return (uint64_t)quotient;
}

/* Divides n <= SOME_ROWS numbers. *ret_above is not 0 if a number has too many bits. */
static TS_ALWAYS_INLINE void divide(const struct divider *divider,
				    const uint64_t *restrict residuals, uint32_t n,
				    uint64_t *restrict ret_quotients,
				    int32_t *restrict ret_remainders, uint64_t *restrict ret_above)
{
	uint32_t factor = divider->factor, quantum = (uint32_t)divider->quantum;
	int32_t half = (int32_t)(quantum / 2);
	uint64_t added = divider->added, bias = divider->bias, above = 0;
	unsigned shift = divider->shift;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = residuals[i] + added;
		uint32_t low = (uint32_t)number;
		uint64_t quotient = (uint64_t)low * factor >> shift;

		above |= number;
		ret_quotients[i] = quotient - bias;
		ret_remainders[i] = (int32_t)(low - (uint32_t)quotient * quantum) - half;
	}
	*ret_above = above >> FAST_BITS;
}

TS_WIDE_OR_NOT(divide,
	       (const struct divider *divider, const uint64_t *residuals, uint32_t n,
		uint64_t *ret_quotients, int32_t *ret_remainders, uint64_t *ret_above),
	       (divider, residuals, n, ret_quotients, ret_remainders, ret_above))

/* Divides n <= SOME_ROWS numbers of any size. */
static void divide_some(const struct divider *divider, const uint64_t *residuals, uint32_t n,
			uint64_t *ret_quotients, int32_t *ret_remainders)
{
	uint64_t above;
	int64_t remainder;

	divide_fast(divider, residuals, n, ret_quotients, ret_remainders, &above);
	for (uint32_t i = 0; ts_unlikely(above) && i < n; i++) {
		ret_quotients[i] = ts_scaled_quotient(residuals[i], divider->quantum, &remainder);
		ret_remainders[i] = (int32_t)remainder;
	}
}

uint32_t ts_scaled_divide(uint64_t *numbers, uint32_t n, uint64_t quantum)
{
	uint64_t quotients[SOME_ROWS];
	int32_t remainders[SOME_ROWS];
	struct divider divider;
	uint32_t n_remainders = 0;

	divider_init(&divider, quantum);
	for (uint32_t m; n; n -= m, numbers += m) {
		m = n < SOME_ROWS ? n : SOME_ROWS;
		divide_some(&divider, numbers, m, quotients, remainders);
		memcpy(numbers, quotients, m * sizeof(*numbers));
		for (uint32_t i = 0; i < m; i++)
			n_remainders += !!remainders[i];
	}
	return n_remainders;
}

/* An item as the writer needs it: what is added to a number before it is shifted. */
struct item {
	uint64_t added;
	uint64_t shift;
};

/* Where the next low bit lies. */
struct low {
	uint8_t *at;
	uint64_t bits;	 /* that are not stored yet */
	uint64_t n_bits; /* below 8 */
};

/* The state of a writer. */
struct writing {
	const struct ts_scaled *scaled;
	const struct item *items;
	struct ts_buffer *exceptions;
	struct divider divider;
	uint8_t *plane;
	uint8_t *remainders;
	struct low low;
	uint32_t max_shift;
	uint32_t n_exceptions;
	uint32_t next_exception; /* the row after the last exception */
};

/* Appends what is missing to the row's value. Returns 0, -ENOMEM, or 1 if it is not storable. */
static int put_exception(struct writing *writing, uint32_t row, uint64_t shift, uint64_t number,
			 int32_t remainder)
{
	uint64_t more, high = (uint64_t)((int64_t)number >> (8 + shift));
	uint8_t *at, *p;
	int r;

	if (remainder)
		high = (high << (8 + shift)) * writing->divider.quantum +
		       (uint64_t)(int64_t)remainder;
	more = ts_zigzag(high);
	if (more >> 63)
		return 1;
	r = ts_buffer_reserve(writing->exceptions, 2ul * TS_VARINT_MAX_BYTES, &at);
	if (r)
		return r;
	p = ts_varint_put(at, row - writing->next_exception);
	p = ts_varint_put(p, more << 1 | !!remainder);
	writing->next_exception = row + 1;
	writing->n_exceptions++;
	writing->exceptions->n += (size_t)(p - at);
	return 0;
}

/* The most low bits that are stored at once. */
#define MAX_LOW_BITS 56u

/*
 * Stores n <= MAX_LOW_BITS low bits. There is no branch, because whole bytes are full at
 * irregular distances.
 */
static TS_ALWAYS_INLINE void put_low(struct low *low, uint64_t bits, uint64_t n)
{
	uint64_t all = low->bits | bits << low->n_bits, n_all = low->n_bits + n;

	memcpy(low->at, &all, sizeof(all));
	low->at += n_all / 8;
	low->bits = all >> n_all / 8 * 8;
	low->n_bits = n_all % 8;
}

/* Splits one number, and returns its low bits. */
static TS_ALWAYS_INLINE uint64_t split_one(const struct item *item, uint64_t number,
					   uint8_t *restrict plane, uint8_t *restrict ret_above)
{
	uint64_t byte;

	number += item->added;
	byte = number >> item->shift;
	*plane = (uint8_t)byte;
	*ret_above = byte > UINT8_MAX;
	return number & ((UINT64_C(1) << item->shift) - 1);
}

/*
 * Splits n <= SOME_ROWS numbers into the plane and the low bits. ret_above is not 0 where a number
 * does not fit.
 */
static TS_ALWAYS_INLINE void split(const struct item *restrict items,
				   const uint16_t *restrict context,
				   const uint64_t *restrict numbers, uint32_t n,
				   uint8_t *restrict plane, uint8_t *restrict ret_above,
				   struct low *restrict ret_low)
{
	struct low low = *ret_low;
	uint32_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		const struct item *a = &items[context[i]], *b = &items[context[i + 1]];
		uint64_t first = split_one(a, numbers[i], plane + i, ret_above + i);
		uint64_t second = split_one(b, numbers[i + 1], plane + i + 1, ret_above + i + 1);
		uint64_t shift = a->shift, n_bits = shift + b->shift;

		if (ts_likely(n_bits <= MAX_LOW_BITS)) {
			put_low(&low, first | second << shift, n_bits);
		} else {
			put_low(&low, first, shift);
			put_low(&low, second, b->shift);
		}
	}
	if (i < n)
		put_low(&low, split_one(&items[context[i]], numbers[i], plane + i, ret_above + i),
			items[context[i]].shift);
	*ret_low = low;
}

TS_WIDE_OR_NOT(split,
	       (const struct item *items, const uint16_t *context, const uint64_t *numbers,
		uint32_t n, uint8_t *plane, uint8_t *ret_above, struct low *ret_low),
	       (items, context, numbers, n, plane, ret_above, ret_low))

/* As split(), if no item has low bits. */
static TS_ALWAYS_INLINE void subtract(const struct item *restrict items,
				      const uint16_t *restrict context,
				      const uint64_t *restrict numbers, uint32_t n,
				      uint8_t *restrict plane, uint8_t *restrict ret_above)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = numbers[i] + items[context[i]].added;

		plane[i] = (uint8_t)number;
		ret_above[i] = number > UINT8_MAX;
	}
}

TS_WIDE_OR_NOT(subtract,
	       (const struct item *items, const uint16_t *context, const uint64_t *numbers,
		uint32_t n, uint8_t *plane, uint8_t *ret_above),
	       (items, context, numbers, n, plane, ret_above))

/*
 * Takes remainders of -1 to 2 out of n <= SOME_ROWS remainders, as two bits each, one byte for
 * each.
 */
static TS_ALWAYS_INLINE void take_twos(int32_t *restrict remainders, uint32_t n,
				       uint8_t *restrict twos)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t two = (uint32_t)(remainders[i] + 1);

		twos[i] = (uint8_t)(two < 4 ? two : 1);
		remainders[i] = two < 4 ? 0 : remainders[i];
	}
}

TS_WIDE_OR_NOT(take_twos, (int32_t * remainders, uint32_t n, uint8_t *twos), (remainders, n, twos))

/* Packs four remainders of -1 to 2 into a byte, and clears these remainders. */
static void put_remainders(int32_t *remainders, uint32_t n, uint8_t *to)
{
	uint8_t twos[SOME_ROWS + 4];
	uint32_t four;

	take_twos_fast(remainders, n, twos);
	memset(twos + n, 0, 4);
	for (uint32_t i = 0; i < n; i += 4) {
		memcpy(&four, twos + i, sizeof(four));
		/* Moves byte j by 24 - 6 * j bits: all meet in the highest byte. */
		*to++ = (uint8_t)(four * 0x01041040u >> 24);
	}
}

/* Marks the rows that have a remainder. */
static TS_ALWAYS_INLINE void mark(const int32_t *restrict remainders, uint32_t n,
				  uint8_t *restrict above)
{
	for (uint32_t i = 0; i < n; i++)
		above[i] = (uint8_t)(above[i] | (remainders[i] != 0));
}

TS_WIDE_OR_NOT(mark, (const int32_t *remainders, uint32_t n, uint8_t *above),
	       (remainders, n, above))

/*
 * Encodes n <= SOME_ROWS residuals. All numbers are modulo 2^64, so that any residual is stored
 * exactly.
 */
static int put_some(struct writing *writing, const uint64_t *residuals, uint32_t row, uint32_t n)
{
	static const uint16_t no_context[SOME_ROWS];
	const struct ts_scaled *scaled = writing->scaled;
	const uint16_t *context = scaled->context ? scaled->context + row : no_context;
	const uint64_t *numbers = residuals;
	uint64_t quotients[SOME_ROWS];
	int32_t remainders[SOME_ROWS];
	uint8_t are_above[SOME_ROWS + 8];
	bool has_divided = scaled->quantum > 1 || scaled->has_remainders;
	int r = 0;

	if (has_divided) {
		divide_some(&writing->divider, residuals, n, quotients, remainders);
		numbers = quotients;
	}
	if (writing->max_shift)
		split_fast(writing->items, context, numbers, n, writing->plane + row, are_above,
			   &writing->low);
	else
		subtract_fast(writing->items, context, numbers, n, writing->plane + row, are_above);
	if (scaled->has_remainders)
		put_remainders(remainders, n, writing->remainders + row / 4);
	if (has_divided)
		mark_fast(remainders, n, are_above);
	memset(are_above + n, 0, 8);
	for (uint32_t from = 0; from < n; from += 8) {
		uint64_t above;

		memcpy(&above, are_above + from, sizeof(above));
		for (; !r && above; above &= above - 1) {
			uint32_t i = from + (uint32_t)__builtin_ctzll(above) / 8;
			const struct item *item = &writing->items[context[i]];

			r = put_exception(writing, row + i, item->shift, numbers[i] + item->added,
					  has_divided ? remainders[i] : 0);
		}
	}
	return r;
}

/* Appends the parameters of the column. */
static int put_head(const struct ts_scaled *scaled, struct ts_buffer *out)
{
	uint8_t *at, *p;
	int r = ts_buffer_reserve(out, (size_t)(scaled->n_contexts + 2) * (TS_VARINT_MAX_BYTES + 1),
				  &at);

	if (r)
		return r;
	p = ts_varint_put(at, scaled->quantum);
	*p++ = scaled->has_remainders ? HAS_REMAINDERS : 0;
	for (uint32_t c = 0; c < scaled->n_contexts; c++)
		p = ts_varint_put(p, ts_zigzag(scaled->scales[c].centre));
	for (uint32_t c = 0; c < scaled->n_contexts; c++)
		*p++ = (uint8_t)scaled->scales[c].shift;
	out->n += (size_t)(p - at);
	return 0;
}

static uint32_t max_shift(const struct ts_scaled *scaled)
{
	uint32_t max = 0;

	for (uint32_t c = 0; c < scaled->n_contexts; c++)
		max = scaled->scales[c].shift > max ? scaled->scales[c].shift : max;
	return max;
}

/* Appends the low bits, with their number of bytes, and the exceptions. */
static int put_tail(struct ts_scaled_output *output)
{
	uint8_t *at;
	int r = ts_buffer_reserve(output->out, TS_VARINT_MAX_BYTES, &at);

	if (r)
		return r;
	output->out->n += (size_t)(ts_varint_put(at, output->low->n) - at);
	r = ts_buffer_append(output->out, output->low->bytes, output->low->n);
	output->low_end = output->out->n;
	return r ?: ts_buffer_append(output->out, output->exceptions->bytes, output->exceptions->n);
}

static int put_all(const struct ts_scaled *scaled, const uint64_t *residuals, uint32_t n,
		   struct ts_scaled_output *output)
{
	size_t n_twos = scaled->has_remainders ? (n + 3) / 4 : 0;
	struct writing writing = {.scaled = scaled,
				  .exceptions = output->exceptions,
				  .max_shift = max_shift(scaled)};
	ts_cleanup(ts_freep) struct item *items = malloc(scaled->n_contexts * sizeof(*items));
	int r = items ? put_head(scaled, output->out) : -ENOMEM;

	for (uint32_t c = 0; !r && c < scaled->n_contexts; c++)
		items[c] = (struct item){(MIDDLE << scaled->scales[c].shift) -
						 scaled->scales[c].centre,
					 scaled->scales[c].shift};
	writing.items = items;
	output->low->n = output->exceptions->n = 0;
	r = r ?: ts_buffer_reserve(output->out, n + n_twos, &writing.plane);
	r = r
		    ?: ts_buffer_reserve(output->low, (size_t)n * writing.max_shift / 8 + 16,
					 &writing.low.at);
	if (r)
		return r;
	writing.remainders = writing.plane + n;
	divider_init(&writing.divider, scaled->quantum);
	for (uint32_t i = 0, m; !r && i < n; i += m) {
		m = n - i < SOME_ROWS ? n - i : SOME_ROWS;
		r = put_some(&writing, residuals + i, i, m);
		if (!r && writing.n_exceptions > ts_planes_max_exceptions(n))
			r = 1;
	}
	if (r)
		return r;
	memcpy(writing.low.at, &writing.low.bits, sizeof(writing.low.bits));
	output->low->n =
		(size_t)(writing.low.at - output->low->bytes) + (writing.low.n_bits + 7) / 8;
	output->plane_end = output->out->n += n;
	output->remainders_end = output->out->n += n_twos;
	return put_tail(output);
}

int ts_scaled_put(const struct ts_scaled *scaled, const uint64_t *residuals, uint32_t n,
		  struct ts_scaled_output *output)
{
	size_t before = output->out->n;
	int r = put_all(scaled, residuals, n, output);

	if (r)
		output->out->n = before;
	return r;
}

/* Reads the next exception, if there is one. */
static void next_exception(struct ts_scaled_numbers *numbers, uint64_t first_row)
{
	const struct ts_scaled *scaled = &numbers->scaled;
	uint64_t gap, more = 0, shift;

	numbers->exception = numbers->n_values;
	if (!numbers->p || numbers->p == numbers->end)
		return;
	numbers->p = ts_varint_get(numbers->p, numbers->end, &gap);
	if (numbers->p)
		numbers->p = ts_varint_get(numbers->p, numbers->end, &more);
	if (!numbers->p || gap >= numbers->n_values - first_row) {
		numbers->p = NULL;
		return;
	}
	numbers->exception = first_row + gap;
	numbers->more = ts_unzigzag(more >> 1);
	if (more & 1)
		return;
	shift = scaled->scales[scaled->context ? scaled->context[numbers->exception] : 0].shift;
	numbers->more = (numbers->more << (8 + shift)) * scaled->quantum;
}

static const uint8_t *get_scales(const uint8_t *p, const uint8_t *end, struct ts_scaled *scaled)
{
	uint64_t centre;

	for (uint32_t c = 0; c < scaled->n_contexts; c++) {
		p = ts_varint_get(p, end, &centre);
		if (!p)
			return NULL;
		scaled->scales[c].centre = ts_unzigzag(centre);
	}
	if ((size_t)(end - p) < scaled->n_contexts)
		return NULL;
	for (uint32_t c = 0; c < scaled->n_contexts; c++) {
		if (*p > TS_SCALED_MAX_SHIFT)
			return NULL;
		scaled->scales[c].shift = *p++;
		/* A row's byte counts from MIDDLE. Subtracted here, it costs no row anything. */
		scaled->scales[c].centre -= MIDDLE << scaled->scales[c].shift;
	}
	return p;
}

const char *ts_scaled_init(struct ts_scaled_numbers *ret_numbers, const struct ts_scaled *scaled,
			   const struct ts_sbt_column_header *header, const uint8_t *bytes)
{
	struct ts_scaled_numbers numbers = {.scaled = *scaled, .n_values = header->n_values};
	const uint8_t *p = bytes, *end = bytes + header->n_bytes;
	size_t n_twos = 0;
	uint64_t n_low;

	p = ts_varint_get(p, end, &numbers.scaled.quantum);
	if (!p || !numbers.scaled.quantum || numbers.scaled.quantum > TS_SCALED_MAX_QUANTUM)
		return "an invalid quantum";
	if (p == end || *p > HAS_REMAINDERS)
		return "unknown remainders";
	numbers.scaled.has_remainders = *p++ == HAS_REMAINDERS;
	p = get_scales(p, end, &numbers.scaled);
	if (!p)
		return "an invalid centre or scale";
	if (numbers.scaled.has_remainders)
		n_twos = (numbers.n_values + 3ul) / 4;
	if ((size_t)(end - p) < numbers.n_values + n_twos)
		return "a plane that does not fit";
	numbers.plane = p;
	numbers.remainders = p += numbers.n_values;
	p = ts_varint_get(p + n_twos, end, &n_low);
	if (!p || n_low > (size_t)(end - p))
		return "low bits that do not fit";
	numbers.low = p;
	numbers.n_low = n_low;
	numbers.p = p + n_low;
	numbers.end = end;
	next_exception(&numbers, 0);
	*ret_numbers = numbers;
	return NULL;
}

/*
 * Decodes planes and low bits of n <= SOME_ROWS rows, from bit *low_bit of `low`. 8 bytes
 * behind the low bits are readable.
 */
static TS_ALWAYS_INLINE void join(const struct ts_scale *restrict scales,
				  const uint16_t *restrict context, const uint8_t *restrict plane,
				  const uint8_t *restrict low, uint64_t *restrict low_bit,
				  uint64_t quantum, uint64_t *restrict to, uint32_t n)
{
	uint64_t bit = *low_bit;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t shift = scales[context[i]].shift, bits;

		memcpy(&bits, low + bit / 8, sizeof(bits));
		bits = bits >> bit % 8 & ~(UINT64_MAX << shift);
		bit += shift;
		to[i] = (((uint64_t)plane[i] << shift) + bits + scales[context[i]].centre) *
			quantum;
	}
	*low_bit = bit;
}

TS_WIDE_OR_NOT(join,
	       (const struct ts_scale *scales, const uint16_t *context, const uint8_t *plane,
		const uint8_t *low, uint64_t *low_bit, uint64_t quantum, uint64_t *to, uint32_t n),
	       (scales, context, plane, low, low_bit, quantum, to, n))

/* Adds the remainders of rows [row, row + n). */
static void add_remainders(const uint8_t *remainders, uint64_t *to, uint32_t row, uint32_t n)
{
	uint32_t i = 0;

	for (; i < n && (row + i) % 4; i++)
		to[i] += (remainders[(row + i) / 4] >> (row + i) % 4 * 2 & 3u) - UINT64_C(1);
	remainders += (row + i) / 4;
	for (; i + 4 <= n; i += 4) {
		uint64_t byte = *remainders++;

		to[i] += (byte & 3) - 1;
		to[i + 1] += (byte >> 2 & 3) - 1;
		to[i + 2] += (byte >> 4 & 3) - 1;
		to[i + 3] += (byte >> 6) - 1;
	}
	for (uint32_t j = 0; i < n; i++, j += 2)
		to[i] += (*remainders >> j & 3u) - UINT64_C(1);
}

const char *ts_scaled_next(struct ts_scaled_numbers *numbers, uint64_t *to, uint32_t n)
{
	static const uint16_t no_context[SOME_ROWS];
	uint8_t tail[SOME_ROWS * TS_SCALED_MAX_SHIFT / 8 + 16];
	const struct ts_scaled *scaled = &numbers->scaled;
	uint32_t from = numbers->n_done;

	for (uint32_t row = from, m; row < from + n; row += m) {
		size_t at = numbers->low_bit / 8, n_left = numbers->n_low - at;
		const uint8_t *low = numbers->low + at;
		uint64_t low_bit = numbers->low_bit % 8;

		m = from + n - row < SOME_ROWS ? from + n - row : SOME_ROWS;
		if (n_left < sizeof(tail)) {
			memset(tail + n_left, 0, sizeof(tail) - n_left);
			memcpy(tail, low, n_left);
			low = tail;
		}
		join_fast(scaled->scales, scaled->context ? scaled->context + row : no_context,
			  numbers->plane + row, low, &low_bit, scaled->quantum, to + (row - from),
			  m);
		numbers->low_bit = at * 8 + low_bit;
		if (numbers->low_bit > numbers->n_low * 8)
			return "too few low bits";
		if (scaled->has_remainders)
			add_remainders(numbers->remainders, to + (row - from), row, m);
	}
	numbers->n_done += n;
	while (numbers->exception < numbers->n_done) {
		to[numbers->exception - from] += numbers->more;
		next_exception(numbers, numbers->exception + 1);
	}
	return numbers->p ? NULL : "invalid exceptions";
}

const char *ts_scaled_finish(const struct ts_scaled_numbers *numbers)
{
	if ((numbers->low_bit + 7) / 8 != numbers->n_low)
		return "more low bits than its values have";
	return numbers->p == numbers->end ? NULL : "bytes after its last value";
}
