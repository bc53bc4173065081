/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps waits in a short queue, and two tables; kineto.c calls this file. The tables hold the last
 * record of each event, and the handle of each vendor's number.
 */
#include "tools/export/kineto/kineto-waits.h"

#include "proto/abi/vendor/cupti_activity.h"

struct record {
	uint64_t session, handle;
	/* end of key */
	uint64_t op_id, stream;
};

struct number {
	uint64_t session, context, event;
	/* end of key */
	uint64_t handle;
};

void ts_waits_init(struct ts_waits *waits)
{
	ts_hashtable_init(&waits->records, sizeof(struct record), offsetof(struct record, op_id));
	ts_hashtable_init(&waits->numbers, sizeof(struct number), offsetof(struct number, handle));
}

void ts_waits_deinit(struct ts_waits *waits)
{
	ts_hashtable_deinit(&waits->records);
	ts_hashtable_deinit(&waits->numbers);
}

int ts_waits_record(struct ts_waits *waits, uint32_t session, const struct ts_row_event *row)
{
	struct record key = {.session = session, .handle = row->event}, *record;
	uint32_t i;
	int r = ts_hashtable_get(&waits->records, &key, &i, NULL);

	if (r)
		return r;
	record = ts_hashtable_at(&waits->records, i);
	record->op_id = row->op_id;
	record->stream = row->stream;
	return 0;
}

static void resolve(const struct ts_waits *waits, struct ts_waits_one *wait, uint64_t handle)
{
	struct record key = {.session = wait->session, .handle = handle};
	const struct record *record;
	uint32_t i;

	wait->is_ready = true;
	if (!ts_hashtable_find(&waits->records, &key, &i))
		return;
	record = ts_hashtable_at(&waits->records, i);
	wait->record_op_id = record->op_id;
	wait->record_stream = (uint32_t)record->stream;
}

int ts_waits_stream_wait(struct ts_waits *waits, uint32_t session,
			 const struct ts_row_stream_wait *row)
{
	for (uint32_t n = 0; n < waits->n; n++) {
		struct ts_waits_one *wait = &waits->waits[(waits->first + n) % TS_WAITS_MAX];
		struct number key = {.session = session,
				     .context = wait->row.context,
				     .event = wait->row.event};
		uint32_t i;
		int r;

		if (wait->is_ready || wait->session != session || wait->row.op_id != row->op_id)
			continue;
		r = ts_hashtable_get(&waits->numbers, &key, &i, NULL);
		if (r)
			return r;
		((struct number *)ts_hashtable_at(&waits->numbers, i))->handle = row->event;
		resolve(waits, wait, row->event);
	}
	return 0;
}

int ts_waits_sync(struct ts_waits *waits, uint32_t session, const struct ts_row_sync *row)
{
	struct ts_waits_one *wait = &waits->waits[(waits->first + waits->n++) % TS_WAITS_MAX];
	struct number key = {.session = session, .context = row->context, .event = row->event};
	uint32_t i;

	*wait = (struct ts_waits_one){.row = *row, .session = session};
	if (row->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
		return 0;
	wait->is_ready = true;
	if (row->event && ts_hashtable_find(&waits->numbers, &key, &i))
		resolve(waits, wait,
			((const struct number *)ts_hashtable_at(&waits->numbers, i))->handle);
	return 0;
}

const struct ts_waits_one *ts_waits_next(struct ts_waits *waits, uint64_t now_ns)
{
	struct ts_waits_one *wait = &waits->waits[waits->first];

	if (!waits->n || (!wait->is_ready && waits->n < TS_WAITS_MAX &&
			  now_ns < wait->row.start_ns + TS_WAITS_NS))
		return NULL;
	waits->first = (waits->first + 1) % TS_WAITS_MAX;
	waits->n--;
	return wait;
}
