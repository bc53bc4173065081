/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the rows of a shard's records. session-round.c calls this module for each copy of a part of
 * the ring. Rows of the frequent types gather in batches, one for each type: adding many rows to a
 * block costs less than adding each. While a batch has rows, the position of the shard stays at the
 * first of their records, because a write releases the ring space up to the position. A write
 * therefore never has a part of the batches.
 */
#include "daemon/serve/session/session-internal.h"

/* Bytes of frequent records that are taken together: as many as are prefetched at once. */
#define STEP_BYTES 1024u

#define BATCH(field_)                                                  \
	{                                                              \
		offsetof(struct session_batches, field_),              \
			sizeof(*((struct session_batches *)0)->field_) \
	}

static const struct {
	size_t off, row_bytes;
} batches[SESSION_BATCHES] = {
	[TS_RECORD_API] = BATCH(api),	     [TS_RECORD_KERNEL] = BATCH(kernel),
	[TS_RECORD_MEMCPY] = BATCH(memcpy_), [TS_RECORD_MEMSET] = BATCH(memset_),
	[TS_RECORD_SYNC] = BATCH(sync),
};

static bool has_batch(unsigned type)
{
	return type >= TS_RECORD_API && type < SESSION_BATCHES;
}

void ts_session_notify(struct ts_session *s)
{
	uint64_t one = 1;

	/*
	 * This write fails only on overflow of the eventfd. The main thread is awake in that case.
	 */
	if (write(s->options.notify_fd, &one, sizeof(one)) < 0)
		return;
}

/* Requests a dump if the mark has the name that `--dump-on-mark` sets (dump_name). */
static void take_mark(struct ts_session *s, const struct ts_row_mark *row)
{
	if (!row->name || row->name != s->recording->dump_name)
		return;
	__atomic_store_n(&s->recording->dump_wanted, true, __ATOMIC_RELAXED);
	ts_session_notify(s);
}

/*
 * Counts marks and counters of TS_OWN_DOMAIN. The shim records these about itself, not about the
 * program.
 */
static int count_own(struct ts_session *s, uint32_t domain)
{
	int r = 0;

	if (!s->own_domain && domain)
		r = ts_sbt_writer_string(s->recording->writer, TS_OWN_DOMAIN, strlen(TS_OWN_DOMAIN),
					 &s->own_domain);
	if (r)
		return ts_session_write_failed(s, r);
	if (domain && domain == s->own_domain)
		__atomic_store_n(&s->n_own_rows, s->n_own_rows + 1, __ATOMIC_RELAXED);
	return 0;
}

/* An older writer's record may be too short for the field. */
static int fill_kernel(struct ts_session *s, const struct ts_record *record,
		       struct ts_row_kernel *row)
{
	const struct ts_record_kernel *from = (const void *)record;

	if (ts_likely(record->n_fixed_words * sizeof(uint64_t) < sizeof(*from) || !from->function))
		return 0;
	return ts_session_fill_kernel(s, from->function, row);
}

static void *row_at(struct ts_session *s, unsigned type, uint32_t i)
{
	return (uint8_t *)&s->batches + batches[type].off + i * batches[type].row_bytes;
}

/* Adds the rows of a batch. They fit, because put_batches() has made room. */
static int put(struct ts_session *s, unsigned type)
{
	size_t n_added;
	int r = ts_sbt_session_writer_add_rows(s->writer, type, row_at(s, type, 0),
					       s->batches.n[type], &n_added);

	ts_session_count_rows(s, type, n_added);
	s->batches.n[type] = 0;
	return r ? ts_session_write_failed(s, r) : 0;
}

/* Adds the waiting rows: before a record without a batch, and before shard->position moves on. */
static int put_batches(struct ts_session *s)
{
	int r = 0;

	if (!s->batches.n_all)
		return 0;
	if (ts_sbt_session_writer_pending_bytes(s->writer) + sizeof(s->batches) >=
	    TS_SBT_MAX_PENDING_BYTES) {
		ts_session_dirty(s);
		r = ts_session_write(s);
		if (r)
			return r;
	}
	s->batches.n_all = 0;
	for (unsigned type = 1; type < SESSION_BATCHES && !r; type++)
		if (s->batches.n[type])
			r = put(s, type);
	ts_session_dirty(s);
	return r;
}

static void forget_batches(struct ts_session *s)
{
	s->batches.n_all = 0;
	memset(s->batches.n, 0, sizeof(s->batches.n));
}

static int lose_record(struct ts_session *s, int error)
{
	ts_session_dirty(s);
	return ts_session_lose(s,
			       error == TS_ROWS_E_UNKNOWN ? TS_LOSS_UNKNOWN_RECORD
			       : error == TS_ROWS_E_TIME  ? TS_LOSS_BAD_TIME
							  : TS_LOSS_BAD_RECORD,
			       1, s->loss_ns);
}

/* Takes a record of a type that has no batch. */
static __attribute__((noinline)) int take_alone(struct ts_session *s,
						const struct ts_record *record)
{
	union ts_row_any row;
	int r = ts_rows_convert(&s->rows, record, &row);

	if (r)
		return lose_record(s, r);
	ts_session_dirty(s);
	if (record->type == TS_RECORD_LOSS)
		ts_session_count_lost(s, row.loss.reason, row.loss.count);
	else if (record->type == TS_RECORD_YIELD)
		s->yielded = row.yield.yielded;
	else if (record->type == TS_RECORD_MARK)
		take_mark(s, &row.mark);
	r = ts_session_add_row(s, record->type, &row);
	if (r)
		return r;
	ts_session_count_rows(s, record->type, 1);
	if (record->type == TS_RECORD_MARK)
		return count_own(s, row.mark.domain);
	return record->type == TS_RECORD_COUNTER ? count_own(s, row.counter.domain) : 0;
}

/* Takes a record that could not be converted. */
static __attribute__((noinline)) int take_bad(struct ts_session *s, struct session_shard *shard,
					      int error, uint64_t at)
{
	int r = put_batches(s);

	shard->position = at;
	return r ?: lose_record(s, error);
}

static int take_slowly(struct ts_session *s, struct session_shard *shard,
		       const struct ts_record *record, uint64_t at);

/* Takes the record at the position `at`. Its row may wait in a batch. */
static inline int take(struct ts_session *s, struct session_shard *shard,
		       const struct ts_record *record, uint64_t at)
{
	const unsigned type = record->type;
	union ts_row_any *row;
	int r;

	if (ts_unlikely(!has_batch(type) || s->batches.n[type] == SESSION_BATCH_ROWS))
		return take_slowly(s, shard, record, at);
	if (!s->batches.n_all)
		shard->position = at;
	row = row_at(s, type, s->batches.n[type]);
	r = ts_rows_convert(&s->rows, record, row);
	if (ts_unlikely(r))
		return take_bad(s, shard, r, at);
	if (type == TS_RECORD_KERNEL) {
		r = fill_kernel(s, record, &row->kernel);
		if (ts_unlikely(r))
			return r;
	}
	shard->has_device_rows |= type != TS_RECORD_API && type != TS_RECORD_SYNC;
	s->batches.n[type]++;
	s->batches.n_all++;
	return 0;
}

/* Takes a record of a type without a batch, or whose batch is full. */
static __attribute__((noinline)) int take_slowly(struct ts_session *s, struct session_shard *shard,
						 const struct ts_record *record, uint64_t at)
{
	int r = put_batches(s);

	if (r)
		return r;
	shard->position = at;
	return has_batch(record->type) ? take(s, shard, record, at) : take_alone(s, record);
}

/*
 * Takes the calls and kernels in the buffer that begin before `to`, up to the first record for
 * take().
 */
static void take_frequent(struct ts_session *s, struct session_shard *shard, uint64_t begin,
			  size_t n_bytes, size_t to, size_t *off)
{
	struct session_batches *waiting = &s->batches;
	struct ts_rows_frequent frequent = {
		.api = waiting->api,
		.kernel = waiting->kernel,
		.n_api = waiting->n[TS_RECORD_API],
		.n_kernel = waiting->n[TS_RECORD_KERNEL],
		.n_most = SESSION_BATCH_ROWS,
	};
	uint32_t n_before = frequent.n_api + frequent.n_kernel;

	if (!waiting->n_all)
		shard->position = begin + *off;
	ts_rows_convert_frequent(&s->rows, s->drain.buffer, n_bytes, to, off, &frequent);
	waiting->n_all += frequent.n_api + frequent.n_kernel - n_before;
	waiting->n[TS_RECORD_API] = frequent.n_api;
	waiting->n[TS_RECORD_KERNEL] = frequent.n_kernel;
	shard->has_device_rows |= frequent.n_kernel > 0;
}

int ts_session_take_records(struct ts_session *s, struct session_shard *shard,
			    const struct ts_drain_ring *ring, uint64_t begin, size_t n_bytes,
			    size_t *off)
{
	const struct ts_record *record;
	int r;

	forget_batches(s);
	if (shard->ahead < begin + n_bytes)
		shard->ahead = begin + n_bytes;
	for (;;) {
		size_t to = *off + STEP_BYTES;
		uint64_t at;

		ts_drain_prefetch(ring, begin + *off, shard->head, &shard->ahead);
		take_frequent(s, shard, begin, n_bytes, to, off);
		if (*off >= to && *off < n_bytes)
			continue;
		at = begin + *off;
		/* The next copy begins with a record that is cut or malformed. */
		if (ts_record_next(s->drain.buffer, n_bytes, off, &record))
			return put_batches(s);
		r = take(s, shard, record, at);
		if (r)
			return r;
	}
}
