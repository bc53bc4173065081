/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of every type become rows. Fields get into the columns of the same name; shorter records
 * read as zero, and longer ones are cut. Impossible values are distinguished from unknown ones.
 */
#include "test/unit/harness.h"

#include "daemon/ingest/drain.h"
#include "daemon/merge/convert-rows.h"
#include "daemon/merge/loss.h"

static uint32_t string_ids[] = {0, 101, 102, 103};
static uint32_t stack_ids[] = {0, 201};
static uint32_t thread_ids[] = {0, 301, 302};

struct fixture {
	struct ts_arena_reader ids;
	struct ts_clock_table cupti, tsc;
	struct ts_rows rows;
	union ts_row_any row;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){0};
	ts_check_int(ts_clock_table_init(&f->cupti), 0);
	ts_check_int(ts_clock_table_init(&f->tsc), 0);
	ts_check_int(ts_halves_new(&f->rows.halves), 0);
	ts_clock_table_add(&f->tsc, &(struct ts_clock_pair){2000, 1000, 1});
	ts_clock_table_add(&f->tsc, &(struct ts_clock_pair){4000, 2000, 1});
	f->ids.strings = (struct ts_id_map){string_ids, 4, 4};
	f->ids.stacks = (struct ts_id_map){stack_ids, 2, 2};
	f->ids.threads = (struct ts_id_map){thread_ids, 3, 3};
	f->rows.ids = &f->ids;
	f->rows.clocks[TS_CLOCK_TSC] = &f->tsc;
	f->rows.clocks[TS_CLOCK_CUPTI] = &f->cupti;
	f->rows.thread = 9;
	f->rows.latest_ns = UINT64_MAX;
}

static void fixture_deinit(struct fixture *f)
{
	ts_clock_table_deinit(&f->cupti);
	ts_clock_table_deinit(&f->tsc);
	ts_halves_free(f->rows.halves);
}

#define HEADER(n_bytes, record_type, clock_, time_)                                          \
	{                                                                                    \
		.n_words = (n_bytes) / 8, .n_fixed_words = (n_bytes) / 8, .clock = (clock_), \
		.type = (record_type), .time = (time_),                                      \
	}

TS_TEST(api)
{
	struct ts_record_api record = {
		.record = HEADER(sizeof(record), TS_RECORD_API, TS_CLOCK_TSC, 2200),
		.end = 2400,
		.op_id = 5,
		.nested_op_id = 6,
		.stack = 1,
		.domain = 2,
		.cbid = 211,
		.result = -3,
		.context = 4,
	};
	struct fixture f;

	fixture_init(&f);
	record.record.flags = TS_API_EXPECTS_DEVICE;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), 0);
	ts_check_int(f.row.api.start_ns, 1100);
	ts_check_int(f.row.api.end_ns, 1200);
	ts_check_int(f.row.api.op_id, 5);
	ts_check_int(f.row.api.nested_op_id, 6);
	ts_check_int(f.row.api.stack, 201);
	ts_check_int(f.row.api.thread, 9);
	ts_check_int(f.row.api.domain, 2);
	ts_check_int(f.row.api.cbid, 211);
	ts_check_int(f.row.api.result, -3);
	ts_check_int(f.row.api.context, 4);
	ts_check_int(f.row.api.flags, TS_API_EXPECTS_DEVICE);
	fixture_deinit(&f);
}

TS_TEST(kernel)
{
	struct ts_record_kernel record = {
		.record = HEADER(sizeof(record), TS_RECORD_KERNEL, TS_CLOCK_MONOTONIC, 70),
		.end = 90,
		.op_id = 6,
		.place = {1, 2, 3, 4, 5},
		.queued = 0,
		.submitted = 60,
		.name = 2,
		.grid = {10, 11, 12},
		.block = {13, 14, 15},
		.cluster = {16, 17, 18},
		.static_shared_bytes = 19,
		.dynamic_shared_bytes = 20,
		.local_bytes_per_thread = 21,
		.registers_per_thread = 22,
		.launch_type = 23,
		.channel_type = 24,
		.channel = 25,
	};
	const struct ts_row_kernel *row;
	struct fixture f;

	fixture_init(&f);
	row = &f.row.kernel;
	ts_halves_api(f.rows.halves, 5, 6, true);
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), 0);
	ts_check(row->start_ns == 70 && row->end_ns == 90 && row->op_id == 5);
	ts_check(row->device == 1 && row->context == 2 && row->stream == 3 && row->graph == 4 &&
		 row->graph_node == 5);
	ts_check(row->queued_ns == 0 && row->submitted_ns == 60 && row->name == 102);
	ts_check(row->grid_x == 10 && row->grid_y == 11 && row->grid_z == 12);
	ts_check(row->block_x == 13 && row->block_y == 14 && row->block_z == 15);
	ts_check(row->cluster_x == 16 && row->cluster_y == 17 && row->cluster_z == 18);
	ts_check(row->static_shared_bytes == 19 && row->dynamic_shared_bytes == 20 &&
		 row->local_bytes_per_thread == 21 && row->registers_per_thread == 22);
	ts_check(row->launch_type == 23 && row->channel_type == 24 && row->channel == 25);
	fixture_deinit(&f);
}

/*
 * A record of each type is filled with distinct bytes. Every column gets a value, except ids that
 * the fixture does not know: they become 0.
 */
TS_TEST(every_type)
{
	struct fixture f;

	for (unsigned type = 1; type < TS_RECORD_COUNT; type++) {
		const struct ts_row_schema *schema = ts_row_schema(type);
		uint64_t words[32];
		struct ts_record *record = (struct ts_record *)words;

		if (TS_ROW_BIT(type) & TS_ROW_KERNELS)
			continue;
		fixture_init(&f);
		for (unsigned i = 0; i < TS_ARRAY_LEN(words); i++)
			words[i] = UINT64_C(0x0101010101010101) * (i + 1);
		*record = (struct ts_record)HEADER(136, type, TS_CLOCK_MONOTONIC, 1);
		if (type == TS_RECORD_LOSS)
			((struct ts_record_loss *)record)->reason = TS_LOSS_RING_FULL;
		if (type == TS_RECORD_CLOCK)
			((struct ts_record_clock *)record)->other_clock = TS_CLOCK_REALTIME;
		memset(&f.row, 0xff, sizeof(f.row));
		ts_check_int(ts_rows_convert(&f.rows, record, &f.row), 0);
		ts_check(schema != NULL);
		for (unsigned i = 0; i < schema->n_columns; i++) {
			const struct ts_column *column = &schema->columns[i];
			uint64_t value = ts_column_get(column, &f.row);
			/* The fixture does not know these ids; the flags come from the record. */
			bool mapped =
				column->role == TS_ROLE_STRING || column->role == TS_ROLE_STACK ||
				(type == TS_RECORD_RANGE && !strcmp(column->name, "thread")) ||
				(type == TS_RECORD_API && !strcmp(column->name, "flags"));

			if (mapped ? value != 0 : value == 0) {
				fprintf(stderr, "%s.%s is %" PRIu64 "\n", schema->name,
					column->name, value);
				ts_check(!"a column was forgotten");
			}
			ts_check(value != UINT64_MAX);
		}
		fixture_deinit(&f);
	}
}

/* If another thread ends a range, the row also has the thread that began it. */
TS_TEST(ranges_across_threads)
{
	struct ts_record_range record = {
		.as_begun = {.record = HEADER(sizeof(record), TS_RECORD_RANGE, TS_CLOCK_TSC, 2200),
			     .range_id = 7,
			     .name = 1,
			     .domain = 2,
			     .action = TS_RANGE_START,
			     .level = 3},
		.end = 2400,
		.begin_thread = 2,
	};
	const struct ts_row_range *row;
	struct fixture f;

	fixture_init(&f);
	row = &f.row.range;
	ts_check_int(ts_rows_convert(&f.rows, &record.as_begun.record, &f.row), 0);
	ts_check(row->start_ns == 1100 && row->end_ns == 1200 && row->range_id == 7);
	ts_check(row->name == 101 && row->domain == 102 && row->level == 3);
	ts_check(row->thread == 302 && row->end_thread == 9);
	record.begin_thread = 0;
	ts_check_int(ts_rows_convert(&f.rows, &record.as_begun.record, &f.row), 0);
	ts_check(row->thread == 9 && row->end_thread == 9);
	/* A range that ends before it begins is rejected. */
	record.end = 2100;
	ts_check_int(ts_rows_convert(&f.rows, &record.as_begun.record, &f.row), TS_ROWS_E_TIME);
	fixture_deinit(&f);
}

TS_TEST(shorter_and_longer_records)
{
	struct fixture f;
	uint64_t words[40];
	struct ts_record *record = (struct ts_record *)words;

	fixture_init(&f);
	memset(words, 0x33, sizeof(words));
	*record = (struct ts_record)HEADER(24, TS_RECORD_KERNEL, TS_CLOCK_MONOTONIC, 5);
	words[2] = 8; /* end: the last field that this version of the writer had */
	ts_check_int(ts_rows_convert(&f.rows, record, &f.row), 0);
	ts_check_int(f.row.kernel.start_ns, 5);
	ts_check_int(f.row.kernel.end_ns, 8);
	ts_check_int(f.row.kernel.op_id, 0);
	ts_check_int(f.row.kernel.grid_x, 0);
	ts_check_int(f.row.kernel.channel, 0);
	*record = (struct ts_record)HEADER(sizeof(words), TS_RECORD_COUNTER, TS_CLOCK_MONOTONIC, 5);
	ts_check_int(ts_rows_convert(&f.rows, record, &f.row), 0);
	ts_check_int(f.row.counter.thread, 9);
	fixture_deinit(&f);
}

/*
 * A record with an impossible time is rejected, and its operation id is not joined with an API row.
 */
TS_TEST(impossible_times)
{
	struct ts_record_kernel record = {
		.record = HEADER(sizeof(record), TS_RECORD_KERNEL, TS_CLOCK_MONOTONIC, 1000),
		.end = UINT64_MAX - 5,
		.op_id = 3,
		.queued = 10,
		.submitted = 900,
	};
	uint64_t n_api, n_device;
	struct fixture f;

	fixture_init(&f);
	f.rows.earliest_ns = 500;
	f.rows.latest_ns = 5000;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), TS_ROWS_E_TIME);
	record.end = 999;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), TS_ROWS_E_TIME);
	record.end = 1001;
	record.record.time = 499;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), TS_ROWS_E_TIME);
	ts_halves_count(f.rows.halves, true, &n_api, &n_device);
	ts_check_int(n_device, 0);
	record.record.time = 1000;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), 0);
	ts_check_int(f.row.kernel.queued_ns, 0);
	ts_check_int(f.row.kernel.submitted_ns, 900);
	/* A record without times is valid. */
	record.record.time = record.end = 0;
	ts_check_int(ts_rows_convert(&f.rows, &record.record, &f.row), 0);
	fixture_deinit(&f);
}

/* A buffer of calls and kernels, and a copy of its rows as ts_rows_convert() makes them. */
struct mixed {
	uint8_t bytes[64 * sizeof(struct ts_record_kernel)];
	size_t n_bytes;
	struct ts_row_api api[64];
	struct ts_row_kernel kernel[64];
	struct ts_rows_frequent frequent;
};

static void put_record(struct mixed *mixed, const struct ts_record *record)
{
	memcpy(mixed->bytes + mixed->n_bytes, record, record->n_words * 8ul);
	mixed->n_bytes += record->n_words * 8ul;
}

/* Appends the i-th of two calls and a kernel, each with other values. */
static void put_mixed(struct mixed *mixed, uint32_t i)
{
	struct ts_record_api api = {
		.record = HEADER(sizeof(api), TS_RECORD_API, TS_CLOCK_TSC, 2200 + i),
		.end = 2400 + 2 * i,
		.op_id = 5 + i,
		.nested_op_id = i % 3 ? 0 : 6 + i,
		.stack = i % 2,
		.domain = 2,
		.cbid = (uint16_t)i,
		.result = -3,
		.context = 4,
	};
	struct ts_record_kernel kernel = {
		.record = HEADER(sizeof(kernel), TS_RECORD_KERNEL, TS_CLOCK_MONOTONIC, 1000 + i),
		.end = 1100 + i,
		.op_id = 6 + i,
		.place = {1, 2, 3, 4, i},
		.queued = i % 4 ? 0 : 900,
		.name = i % 5,
		.grid = {i, 2, 3},
		.block = {4, i, 6},
		.cluster = {7, 8, i},
		.static_shared_bytes = i,
		.local_bytes_per_thread = 9,
		.registers_per_thread = 10,
		.launch_type = 1,
		.channel_type = 2,
		.channel = i,
	};

	api.record.flags = i % 2 ? TS_API_EXPECTS_DEVICE : 0;
	put_record(mixed, i % 3 == 2 ? &kernel.record : &api.record);
}

static void convert_mixed(struct fixture *f, struct mixed *mixed, size_t n_bytes, size_t to,
			  size_t *off)
{
	mixed->frequent = (struct ts_rows_frequent){mixed->api, mixed->kernel, 0, 0, 64};
	ts_rows_convert_frequent(&f->rows, mixed->bytes, n_bytes, to, off, &mixed->frequent);
}

/* The path for frequent records makes the same rows and counts the same halves. */
TS_TEST(frequent)
{
	struct mixed *mixed = calloc(1, sizeof(*mixed));
	uint64_t n_api, n_device, n_api_alone, n_device_alone;
	uint32_t n_calls = 0, n_kernels = 0;
	const struct ts_record *record;
	struct fixture f, alone;
	size_t off = 0, begin = 0;

	fixture_init(&f);
	fixture_init(&alone);
	for (uint32_t i = 0; i < 60; i++)
		put_mixed(mixed, i);
	/* Records that begin before `to` are converted whole. */
	convert_mixed(&f, mixed, mixed->n_bytes, 1, &off);
	ts_check_int(off, sizeof(struct ts_record_api));
	ts_check_int(mixed->frequent.n_api, 1);
	ts_rows_convert_frequent(&f.rows, mixed->bytes, mixed->n_bytes, mixed->n_bytes, &off,
				 &mixed->frequent);
	ts_check_int(off, mixed->n_bytes);
	ts_check_int(mixed->frequent.n_api, 40);
	ts_check_int(mixed->frequent.n_kernel, 20);
	while (!ts_record_next(mixed->bytes, mixed->n_bytes, &begin, &record)) {
		ts_check_int(ts_rows_convert(&alone.rows, record, &alone.row), 0);
		if (record->type == TS_RECORD_API)
			ts_check(!memcmp(&alone.row.api, &mixed->api[n_calls++],
					 sizeof(struct ts_row_api)));
		else
			ts_check(!memcmp(&alone.row.kernel, &mixed->kernel[n_kernels++],
					 offsetof(struct ts_row_kernel, reserved)));
	}
	ts_halves_count(f.rows.halves, true, &n_api, &n_device);
	ts_halves_count(alone.rows.halves, true, &n_api_alone, &n_device_alone);
	ts_check(n_api && n_device);
	ts_check_int(n_api, n_api_alone);
	ts_check_int(n_device, n_device_alone);
	fixture_deinit(&f);
	fixture_deinit(&alone);
	free(mixed);
}

/* Everything else ends this path: the record is left for ts_rows_convert(). */
TS_TEST(not_frequent)
{
	const size_t n_call = sizeof(struct ts_record_api);
	struct mixed *mixed = calloc(1, sizeof(*mixed));
	struct ts_record_api *second;
	struct ts_record_kernel *third;
	struct fixture f;
	size_t off;

	fixture_init(&f);
	f.rows.latest_ns = 5000;
	for (uint32_t i = 0; i < 3; i++)
		put_mixed(mixed, i);
	second = (void *)(mixed->bytes + n_call);
	third = (void *)(second + 1);
	for (unsigned fault = 0; fault < 9; fault++) {
		struct ts_record_api call = *second;
		struct ts_record_kernel kernel = *third;
		size_t n_bytes = mixed->n_bytes, expected = n_call;

		off = 0;
		switch (fault) {
		case 0:
			second->record.n_fixed_words--;
			break;
		case 1:
			second->record.n_words = second->record.n_fixed_words - 1u;
			break;
		case 2:
			second->record.type = TS_RECORD_SYNC;
			break;
		case 3:
			second->record.clock = TS_CLOCK_CUPTI; /* no pair yet */
			break;
		case 4:
			second->end = 1; /* before the start */
			break;
		case 5:
			second->record.n_words = 0;
			break;
		case 6:
			n_bytes -= 8; /* the kernel is cut */
			expected = 2 * n_call;
			break;
		case 7:
			third->function = 1;
			expected = 2 * n_call;
			break;
		default:
			third->record.time = 5001;
			third->end = 5002;
			expected = 2 * n_call;
		}
		convert_mixed(&f, mixed, n_bytes, n_bytes, &off);
		ts_check_int(off, expected);
		ts_check_int(mixed->frequent.n_api, expected / n_call);
		ts_check_int(mixed->frequent.n_kernel, 0);
		*second = call;
		*third = kernel;
	}
	/* Without room for a row. */
	off = 0;
	mixed->frequent = (struct ts_rows_frequent){mixed->api, mixed->kernel, 0, 0, 1};
	ts_rows_convert_frequent(&f.rows, mixed->bytes, mixed->n_bytes, mixed->n_bytes, &off,
				 &mixed->frequent);
	ts_check_int(off, n_call);
	fixture_deinit(&f);
	free(mixed);
}

TS_TEST(unknown_and_bad)
{
	struct ts_record record = HEADER(sizeof(record), TS_RECORD_COUNT, TS_CLOCK_MONOTONIC, 1);
	struct fixture f;

	fixture_init(&f);
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_UNKNOWN);
	record.type = UINT16_MAX;
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_UNKNOWN);
	record.type = TS_RECORD_EVENT;
	record.clock = TS_CLOCK_NONE;
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_BAD);
	record.clock = 255;
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_BAD);
	/*
	 * A time of CUPTI's clock is invalid before a CLOCK record relates that clock to another
	 * clock.
	 */
	record.clock = TS_CLOCK_CUPTI;
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_BAD);
	record.type = TS_RECORD_LOSS;
	record.clock = TS_CLOCK_MONOTONIC;
	ts_check_int(ts_rows_convert(&f.rows, &record, &f.row), TS_ROWS_E_BAD);
	fixture_deinit(&f);
}

/*
 * CLOCK records relate CUPTI's clock to another clock; either of the two may come first in the
 * record.
 */
TS_TEST(cupti_clock)
{
	struct ts_record_clock clock = {
		.record = HEADER(sizeof(clock), TS_RECORD_CLOCK, TS_CLOCK_CUPTI, 500),
		.other_time = 2000,
		.error_ns = 3,
		.other_clock = TS_CLOCK_TSC,
	};
	struct ts_record_sync sync = {
		.record = HEADER(sizeof(sync), TS_RECORD_SYNC, TS_CLOCK_CUPTI, 550),
		.end = 600,
	};
	struct fixture f;

	fixture_init(&f);
	ts_check_int(ts_rows_convert(&f.rows, &clock.record, &f.row), 0);
	ts_check_int(f.row.clock.clock, TS_CLOCK_CUPTI);
	ts_check_int(f.row.clock.ticks, 500);
	ts_check_int(f.row.clock.start_ns, 1000);
	clock.record.clock = TS_CLOCK_MONOTONIC;
	clock.record.time = 1200;
	clock.other_clock = TS_CLOCK_CUPTI;
	clock.other_time = 600;
	ts_check_int(ts_rows_convert(&f.rows, &clock.record, &f.row), 0);
	ts_check_int(ts_rows_convert(&f.rows, &sync.record, &f.row), 0);
	ts_check_int(f.row.sync.start_ns, 1100);
	ts_check_int(f.row.sync.end_ns, 1200);
	fixture_deinit(&f);
}

TS_TEST(losses)
{
	struct ts_row_loss rows[TS_LOSS_COUNT];
	struct ts_loss_seen seen = {0};
	uint64_t live[TS_LOSS_COUNT] = {0};

	live[TS_LOSS_RING_FULL] = 5;
	live[31] = 1;
	ts_check_int(ts_loss_look(&seen, live, 10, 20, 3, rows), 2);
	ts_check(rows[0].reason == TS_LOSS_RING_FULL && rows[0].count == 5 &&
		 rows[0].start_ns == 10 && rows[0].end_ns == 20 && rows[0].thread == 3);
	ts_check_int(ts_loss_look(&seen, live, 20, 30, 3, rows), 0);
	live[TS_LOSS_RING_FULL] = 7;
	ts_check_int(ts_loss_look(&seen, live, 20, 30, 3, rows), 1);
	ts_check_int(rows[0].count, 2);
	live[TS_LOSS_RING_FULL] = 0; /* a false count */
	ts_check_int(ts_loss_look(&seen, live, 20, 30, 3, rows), 0);
}
