/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the record of an event that a wait waits for, and writes events as text with any names. */
#include "proto/abi/vendor/cupti_activity.h"
#include "test/unit/harness.h"
#include "tools/export/kineto/kineto-events.h"
#include "tools/export/kineto/kineto-waits.h"

#define SESSION	 3u
#define CONTEXT	 1u
#define EVENT_A	 0x1000u
#define EVENT_B	 0x2000u
#define LATER_NS (10 * TS_WAITS_NS)

static void record(struct ts_waits *waits, uint64_t handle, uint64_t op_id, uint32_t stream)
{
	const struct ts_row_event row = {.event = handle, .op_id = op_id, .stream = stream};

	ts_check_int(ts_waits_record(waits, SESSION, &row), 0);
}

static void sync_of(struct ts_waits *waits, uint32_t type, uint32_t event, uint64_t op_id)
{
	const struct ts_row_sync row = {.start_ns = 100,
					.sync_type = type,
					.context = CONTEXT,
					.event = event,
					.op_id = op_id};

	ts_check_int(ts_waits_sync(waits, SESSION, &row), 0);
}

static void stream_wait(struct ts_waits *waits, uint64_t handle, uint64_t op_id)
{
	const struct ts_row_stream_wait row = {.event = handle, .op_id = op_id};

	ts_check_int(ts_waits_stream_wait(waits, SESSION, &row), 0);
}

static void next_is(struct ts_waits *waits, uint64_t now_ns, uint64_t op_id, uint64_t record_op_id,
		    uint32_t stream)
{
	const struct ts_waits_one *wait = ts_waits_next(waits, now_ns);

	ts_check(wait);
	ts_check_int(wait->row.op_id, op_id);
	ts_check_int(wait->record_op_id, record_op_id);
	if (record_op_id)
		ts_check_int(wait->record_stream, stream);
}

#define STREAM_WAIT TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT
#define EVENT_SYNC  TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE

/*
 * Event A is recorded again between two waits for it. Waits are reported in order: a stream wait
 * whose handle has not come yet delays the waits after it.
 */
TS_TEST(the_last_record_before)
{
	struct ts_waits *waits = calloc(1, sizeof(*waits));

	ts_waits_init(waits);
	record(waits, EVENT_A, 10, 5);
	record(waits, EVENT_B, 11, 6);
	sync_of(waits, STREAM_WAIT, 1, 12);
	ts_check(!ts_waits_next(waits, 100));
	stream_wait(waits, EVENT_A, 12);
	next_is(waits, 100, 12, 10, 5);
	ts_check(!ts_waits_next(waits, 100));
	record(waits, EVENT_A, 13, 7);
	sync_of(waits, STREAM_WAIT, 1, 14);
	sync_of(waits, STREAM_WAIT, 2, 15);
	stream_wait(waits, EVENT_B, 15);
	ts_check(!ts_waits_next(waits, 100));
	stream_wait(waits, EVENT_A, 14);
	record(waits, EVENT_A, 16, 8);
	next_is(waits, 100, 14, 13, 7);
	next_is(waits, 100, 15, 11, 6);
	/*
	 * The host waits for event number 1. The stream waits above have shown that number 1 is
	 * the event with handle EVENT_A. The wait refers to the last record of A before the wait
	 * (operation 16), not to the next one (18).
	 */
	sync_of(waits, EVENT_SYNC, 1, 17);
	record(waits, EVENT_A, 18, 9);
	next_is(waits, 100, 17, 16, 8);
	ts_waits_deinit(waits);
	free(waits);
}

TS_TEST(what_is_not_known)
{
	struct ts_waits *waits = calloc(1, sizeof(*waits));

	ts_waits_init(waits);
	/*
	 * First a number that no stream wait has related to an event. Then an event that was
	 * recorded before the trace.
	 */
	sync_of(waits, EVENT_SYNC, 7, 20);
	next_is(waits, 100, 20, 0, 0);
	sync_of(waits, STREAM_WAIT, 8, 21);
	stream_wait(waits, EVENT_B, 21);
	next_is(waits, 100, 21, 0, 0);
	/* A stream wait whose row never comes. */
	sync_of(waits, STREAM_WAIT, 8, 22);
	ts_check(!ts_waits_next(waits, 100));
	next_is(waits, LATER_NS, 22, 0, 0);
	/* More waits than are kept: the oldest is reported without its record, and none is lost. */
	for (uint32_t i = 0; i < 3 * TS_WAITS_MAX; i++) {
		sync_of(waits, STREAM_WAIT, 8, 100 + i);
		if (i + 1 >= TS_WAITS_MAX)
			next_is(waits, 100, 101 + i - TS_WAITS_MAX, 0, 0);
		else
			ts_check(!ts_waits_next(waits, 100));
	}
	for (uint32_t i = 1; i < TS_WAITS_MAX; i++)
		next_is(waits, UINT64_MAX, 100 + 2 * TS_WAITS_MAX + i, 0, 0);
	ts_check(!ts_waits_next(waits, UINT64_MAX));
	ts_waits_deinit(waits);
	free(waits);
}

/*
 * Texts are written escaped and in order: short ones, ones that need escapes, ones longer than any
 * buffer.
 */
TS_TEST(texts_of_any_length)
{
	const size_t lengths[] = {0, 1, 20, 65535, 65536, 1u << 20};
	struct ts_json want = {0}, found = {0};
	struct ts_events events = {0};

	ts_check_int(ts_events_open(&events, &found), 0);
	for (int odd = 0; odd < 2; odd++)
		for (size_t i = 0; i < TS_ARRAY_LEN(lengths); i++)
			for (int again = 0; again < 4; again++) {
				char *text = malloc(lengths[i] + 1);

				memset(text, 'x', lengths[i]);
				text[lengths[i]] = '\0';
				if (odd && lengths[i])
					text[lengths[i] / 2] = again % 2 ? '"' : '\n';
				ts_json_string(&want, text);
				ts_events_string(&events, text);
				free(text);
			}
	ts_check_int(ts_events_close(&events), 0);
	ts_check_int(found.n_bytes, want.n_bytes);
	ts_check(!memcmp(found.data, want.data, found.n_bytes));
	ts_events_deinit(&events);
	ts_json_deinit(&want);
	ts_json_deinit(&found);
}

static void number_is(double value, const char *want)
{
	struct ts_events events = {0};
	struct ts_json found = {0};

	ts_check_int(ts_events_open(&events, &found), 0);
	ts_events_number(&events, value);
	ts_check_int(ts_events_close(&events), 0);
	ts_check_int(found.n_bytes, strlen(want));
	ts_check(!memcmp(found.data, want, found.n_bytes));
	ts_events_deinit(&events);
	ts_json_deinit(&found);
}

TS_TEST(numbers)
{
	number_is(0, "0.0");
	number_is(27.39799331103679, "27.397993");
	number_is(0.000001, "0.000001");
	number_is(0.9999999, "1.0");
	number_is(816, "816.0");
	number_is(0.05, "0.05");
	number_is(-1.5, "-1.5");
	number_is(1e300, "1e+300");
	number_is(0.0 / 0.0, "null");
}
