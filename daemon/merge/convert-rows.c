/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts records to rows, with one generated function per type (generated-convert.h).
 * serve/session/session-round.c and session-lane.c call this module, and this module calls
 * clock-table.c and halves.c. The functions run some millions of times a second: each reads the
 * record in the drain's buffer and writes the row once.
 */
#include "daemon/merge/convert-rows.h"

/*
 * True if times of the clock can be converted, that is, if the clock is known and has at least one
 * pair.
 */
static bool rows_clock_usable(const struct ts_rows *rows, unsigned clock)
{
	return clock == TS_CLOCK_MONOTONIC ||
	       (clock < TS_CLOCK_COUNT && rows->clocks[clock] && rows->clocks[clock]->n);
}

static inline uint64_t rows_time(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	if (clock == TS_CLOCK_MONOTONIC)
		return ticks;
	return ts_clock_table_convert(rows->clocks[clock], ticks);
}

/* Converts a time of a record in which 0 means "no time". */
static inline uint64_t rows_time_or_0(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	return ticks ? rows_time(rows, clock, ticks) : 0;
}

/* Checks an additional time of a row: an implausible time becomes 0, which means not recorded. */
static inline uint64_t rows_within(const struct ts_rows *rows, uint64_t ns)
{
	return ns >= rows->earliest_ns && ns <= rows->latest_ns ? ns : 0;
}

static inline uint64_t rows_plausible(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	return rows_within(rows, rows_time_or_0(rows, clock, ticks));
}

/*
 * Converts the time of a record of the lane. The order of these records is known without the time,
 * so an implausible time is replaced by the latest plausible one.
 */
static inline uint64_t rows_time_or_latest(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	uint64_t ns = rows_within(rows, rows_time(rows, clock, ticks));

	return ns ? ns : rows->latest_ns;
}

/* Checks the times of a row. A time of 0 means not recorded, and is accepted. */
static int rows_check_times(const struct ts_rows *rows, uint64_t start_ns, uint64_t end_ns)
{
	if (ts_unlikely(start_ns && (start_ns < rows->earliest_ns || start_ns > rows->latest_ns)))
		return TS_ROWS_E_TIME;
	if (ts_unlikely(end_ns && (end_ns < start_ns || end_ns > rows->latest_ns)))
		return TS_ROWS_E_TIME;
	return 0;
}

static inline uint32_t rows_string(const struct ts_rows *rows, uint32_t id)
{
	return ts_id_map_get(&rows->ids->strings, id);
}

static inline uint32_t rows_stack(const struct ts_rows *rows, uint32_t id)
{
	return ts_id_map_get(&rows->ids->stacks, id);
}

static inline uint32_t rows_thread(const struct ts_rows *rows, uint32_t id)
{
	return ts_id_map_get(&rows->ids->threads, id);
}

/* Returns a record's thread. In the record, 0 means the owner of the shard. */
static inline uint32_t rows_thread_or_own(const struct ts_rows *rows, uint32_t id)
{
	return id ? rows_thread(rows, id) : rows->thread;
}

static bool rows_check_loss(const struct ts_record_loss *from)
{
	return from->reason && from->reason < TS_LOSS_COUNT;
}

#include "daemon/generated-convert.h"

/*
 * Converts a CLOCK record, which is one instant on two clocks. Times of one of the two clocks must
 * be convertible already; the record adds a pair to CUPTI's clock. The record never adds a pair to
 * the host's clock, whose pairs come from the daemon alone.
 */
static int rows_clock(struct ts_rows *rows, const struct ts_record_clock *from,
		      struct ts_row_clock *to)
{
	unsigned known = from->record.clock, other = from->other_clock;
	uint64_t known_ticks = from->record.time, other_ticks = from->other_time;

	if (known == TS_CLOCK_CUPTI || !rows_clock_usable(rows, known)) {
		known = from->other_clock;
		known_ticks = from->other_time;
		other = from->record.clock;
		other_ticks = from->record.time;
	}
	if (known == TS_CLOCK_CUPTI || !rows_clock_usable(rows, known) || !other ||
	    other >= TS_CLOCK_COUNT)
		return TS_ROWS_E_BAD;
	*to = (struct ts_row_clock){
		.start_ns = rows_time(rows, known, known_ticks),
		.ticks = other_ticks,
		.error_ns = from->error_ns,
		.clock = other,
	};
	if (other == TS_CLOCK_CUPTI && rows->clocks[TS_CLOCK_CUPTI]) {
		struct ts_clock_pair pair = {other_ticks, to->start_ns, from->error_ns};

		ts_clock_table_add(rows->clocks[TS_CLOCK_CUPTI], &pair);
	}
	return 0;
}

static int rows_fill(struct ts_rows *rows, const struct ts_record *record,
		     union ts_row_any *ret_row)
{
	/* Room for the largest record, if an older writer made the record shorter. */
	uint64_t padded[ROWS_MAX_RECORD_BYTES / 8];
	const void *from = record;
	size_t n_fixed = record->n_fixed_words * (size_t)8, n_known;

	if (ts_unlikely(record->type >= TS_RECORD_COUNT))
		return TS_ROWS_E_UNKNOWN;
	n_known = rows_record_bytes[record->type];
	if (ts_unlikely(n_fixed < n_known)) {
		memcpy(padded, record, n_fixed);
		memset((uint8_t *)padded + n_fixed, 0, n_known - n_fixed);
		from = padded;
	}
	if (record->type == TS_RECORD_CLOCK)
		return rows_clock(rows, from, &ret_row->clock);
	if (ts_unlikely(!rows_clock_usable(rows, record->clock)))
		return TS_ROWS_E_BAD;
	return rows_convert(rows, record->type, from, ret_row);
}

/* Returns the end as recorded: ts_row_end_ns() would correct an end before the start. */
static uint64_t rows_raw_end(const union ts_row_any *row)
{
	return row->api.end_ns;
}

TS_ASSERT_FIELD(struct ts_row_api, end_ns, 8);

/* Counts a valid row as one half of its operation. */
static void rows_count_halves(struct ts_rows *rows, unsigned type, union ts_row_any *row)
{
	switch (type) {
	case TS_RECORD_API:
		ts_halves_api(rows->halves, row->api.op_id, row->api.nested_op_id,
			      row->api.flags & TS_API_EXPECTS_DEVICE);
		break;
	case TS_RECORD_KERNEL:
		row->kernel.op_id = ts_halves_device(rows->halves, row->kernel.op_id);
		break;
	case TS_RECORD_MEMCPY:
		row->memcpy_.op_id = ts_halves_device(rows->halves, row->memcpy_.op_id);
		break;
	case TS_RECORD_MEMSET:
		row->memset_.op_id = ts_halves_device(rows->halves, row->memset_.op_id);
		break;
	default:
		break;
	}
}

int ts_rows_convert(struct ts_rows *rows, const struct ts_record *record, union ts_row_any *ret_row)
{
	int r = rows_fill(rows, record, ret_row);

	if (r)
		return r;
	r = rows_check_times(rows, ts_row_start_ns(ret_row),
			     rows_with_end >> record->type & 1 ? rows_raw_end(ret_row) : 0);
	if (!r)
		rows_count_halves(rows, record->type, ret_row);
	return r;
}

/* Converts a call. Returns false if it is not whole or its time is bad. */
static inline bool take_api(struct ts_rows *rows, const struct ts_record *record,
			    struct ts_row_api *row)
{
	if (ts_unlikely(record->n_fixed_words * sizeof(uint64_t) < sizeof(struct ts_record_api)))
		return false;
	rows_api(rows, (const void *)record, row);
	if (ts_unlikely(rows_check_times(rows, row->start_ns, row->end_ns)))
		return false;
	ts_halves_api(rows->halves, row->op_id, row->nested_op_id,
		      row->flags & TS_API_EXPECTS_DEVICE);
	return true;
}

/* Converts a kernel, as take_api(). A kernel with a function has more fields to fill in. */
static inline bool take_kernel(struct ts_rows *rows, const struct ts_record *record,
			       struct ts_row_kernel *row)
{
	const struct ts_record_kernel *from = (const void *)record;

	if (ts_unlikely(record->n_fixed_words * sizeof(uint64_t) < sizeof(*from) || from->function))
		return false;
	rows_kernel(rows, from, row);
	if (ts_unlikely(rows_check_times(rows, row->start_ns, row->end_ns)))
		return false;
	row->op_id = ts_halves_device(rows->halves, row->op_id);
	return true;
}

/*
 * Calls and kernels are nearly all records. Their path has no call for each record, and no copy of
 * the record.
 */
void ts_rows_convert_frequent(struct ts_rows *rows, const uint8_t *bytes, size_t n_bytes, size_t to,
			      size_t *off, struct ts_rows_frequent *frequent)
{
	uint32_t n_api = frequent->n_api, n_kernel = frequent->n_kernel;
	size_t at = *off;

	if (to > n_bytes)
		to = n_bytes;
	while (at < to) {
		const struct ts_record *record = (const void *)(bytes + at);
		size_t n_record = record->n_words * sizeof(uint64_t);

		if (ts_unlikely(n_record > n_bytes - at ||
				record->n_fixed_words > record->n_words ||
				!rows_clock_usable(rows, record->clock)))
			break;
		if (record->type == TS_RECORD_API && n_api < frequent->n_most) {
			if (!take_api(rows, record, &frequent->api[n_api]))
				break;
			n_api++;
		} else if (record->type == TS_RECORD_KERNEL && n_kernel < frequent->n_most) {
			if (!take_kernel(rows, record, &frequent->kernel[n_kernel]))
				break;
			n_kernel++;
		} else {
			break;
		}
		at += n_record;
	}
	frequent->n_api = n_api;
	frequent->n_kernel = n_kernel;
	*off = at;
}

int ts_rows_operation(struct ts_rows *rows, const struct ts_record_operation *from,
		      struct ts_row_operation *ret_row)
{
	if (!rows_clock_usable(rows, from->record.clock))
		return TS_ROWS_E_BAD;
	rows_operation(rows, from, ret_row);
	return 0;
}
