/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the ring's index protocol: one producer, one consumer. Every record arrives once, complete
 * and in order, for all sizes; a full ring rejects records; a false index is detected. Also runs
 * under TSan, where producer and consumer are real threads.
 */
#include "test/unit/harness.h"

#include <pthread.h>

#include "proto/abi/ring.h"

#define RING_BYTES (64u * 1024)

static struct ts_shard *shard_new(void)
{
	void *memory = NULL;

	ts_check_int(posix_memalign(&memory, 4096, sizeof(struct ts_shard) + RING_BYTES), 0);
	memset(memory, 0, sizeof(struct ts_shard) + RING_BYTES);
	return memory;
}

static bool put(struct ts_ring_producer *producer, uint64_t number, uint32_t n_words)
{
	struct ts_record *record = ts_ring_reserve(producer, n_words * 8);
	uint64_t *words = (uint64_t *)(record + 1);

	if (!record)
		return false;
	*record = (struct ts_record){.n_words = (uint16_t)n_words,
				     .n_fixed_words = 2,
				     .type = TS_RECORD_COUNTER,
				     .time = number};
	for (uint32_t i = 0; i + 2 < n_words; i++)
		words[i] = number + i;
	ts_ring_commit(producer, n_words * 8);
	return true;
}

/* Returns sizes that produce every distance to the ring's end. */
static uint32_t words_of(uint64_t number)
{
	return 2 + (uint32_t)((number * 7919) % 61);
}

struct consumer {
	struct ts_shard *shard;
	uint64_t position;
	uint64_t next; /* the expected number */
	uint8_t copy[RING_BYTES];
};

static void take_record(struct consumer *consumer, const struct ts_record *record)
{
	const uint64_t *words = (const uint64_t *)(record + 1);

	ts_check_int(record->time, consumer->next);
	ts_check_int(record->n_words, words_of(consumer->next));
	for (uint32_t i = 0; i + 2 < record->n_words; i++)
		ts_check_int(words[i], consumer->next + i);
	consumer->next++;
}

static void take_all(struct consumer *consumer)
{
	uint64_t head = ts_ring_consumer_head(consumer->shard);
	uint64_t n;

	ts_check(ts_ring_consumer_check(head, consumer->position, consumer->position, RING_BYTES));
	while (consumer->position < head) {
		n = ts_ring_consumer_copy(consumer->shard, RING_BYTES, consumer->position, head,
					  consumer->copy, sizeof(consumer->copy));
		for (uint64_t at = 0; at < n;) {
			const struct ts_record *record =
				(const struct ts_record *)(consumer->copy + at);

			ts_check(record->n_words && at + record->n_words * 8u <= n);
			if (record->type != TS_RECORD_PAD)
				take_record(consumer, record);
			at += record->n_words * 8u;
		}
		consumer->position += n;
	}
	ts_ring_consumer_release(consumer->shard, consumer->position);
}

TS_TEST(one_thread_every_size)
{
	struct consumer *consumer = calloc(1, sizeof(*consumer));
	struct ts_ring_producer producer;

	consumer->shard = shard_new();
	ts_ring_producer_init(&producer, consumer->shard, RING_BYTES);
	for (uint64_t i = 0; i < 50000; i++) {
		ts_check(put(&producer, i, words_of(i)));
		if (i % 97 == 0)
			take_all(consumer);
	}
	take_all(consumer);
	ts_check_int(consumer->next, 50000);
	free(consumer->shard);
	free(consumer);
}

TS_TEST(full_ring_refuses_and_recovers)
{
	struct consumer *consumer = calloc(1, sizeof(*consumer));
	struct ts_ring_producer producer;
	uint64_t n = 0;

	consumer->shard = shard_new();
	ts_ring_producer_init(&producer, consumer->shard, RING_BYTES);
	while (put(&producer, n, words_of(n)))
		n++;
	ts_check(n > 100);
	ts_check(ts_ring_past_watermark(&producer));
	ts_check(!put(&producer, n, words_of(n)));
	take_all(consumer);
	ts_check_int(consumer->next, n);
	ts_check(put(&producer, n, words_of(n)));
	take_all(consumer);
	ts_check_int(consumer->next, n + 1);
	free(consumer->shard);
	free(consumer);
}

/*
 * Reading does not release space: a new daemon finds the records that the old one had not written.
 */
TS_TEST(unreleased_is_kept)
{
	struct consumer *first = calloc(1, sizeof(*first)), *second = calloc(1, sizeof(*second));
	struct ts_ring_producer producer;
	uint64_t head;

	first->shard = second->shard = shard_new();
	ts_ring_producer_init(&producer, first->shard, RING_BYTES);
	for (uint64_t i = 0; i < 100; i++)
		ts_check(put(&producer, i, words_of(i)));
	head = ts_ring_consumer_head(first->shard);
	ts_check_int(ts_ring_consumer_copy(first->shard, RING_BYTES, 0, head, first->copy,
					   sizeof(first->copy)),
		     head);
	second->position = __atomic_load_n(&second->shard->released, __ATOMIC_RELAXED);
	ts_check_int(second->position, 0);
	take_all(second);
	ts_check_int(second->next, 100);
	free(first->shard);
	free(first);
	free(second);
}

TS_TEST(lies_are_seen)
{
	ts_check(ts_ring_consumer_check(0, 0, 0, RING_BYTES));
	ts_check(ts_ring_consumer_check(RING_BYTES, 0, 0, RING_BYTES));
	ts_check(ts_ring_consumer_check(UINT64_MAX - 7, UINT64_MAX - 15, UINT64_MAX - 15,
					RING_BYTES));
	ts_check(!ts_ring_consumer_check(RING_BYTES + 8, 0, 0, RING_BYTES)); /* more than fits */
	ts_check(!ts_ring_consumer_check(4, 0, 0, RING_BYTES));		     /* not aligned */
	ts_check(!ts_ring_consumer_check(8, 16, 0, RING_BYTES));	     /* moved back */
	ts_check(!ts_ring_consumer_check(0, 8, 8, RING_BYTES)); /* before the released index */
}

static void *produce(void *arg)
{
	struct ts_ring_producer producer;
	uint64_t i = 0;

	ts_ring_producer_init(&producer, arg, RING_BYTES);
	while (i < 200000)
		if (put(&producer, i, words_of(i)))
			i++;
		else
			sched_yield();
	return NULL;
}

TS_TEST(two_threads)
{
	struct consumer *consumer = calloc(1, sizeof(*consumer));
	pthread_t thread;

	consumer->shard = shard_new();
	ts_check_int(pthread_create(&thread, NULL, produce, consumer->shard), 0);
	while (consumer->next < 200000)
		take_all(consumer);
	ts_check_int(pthread_join(thread, NULL), 0);
	free(consumer->shard);
	free(consumer);
}

TS_TEST(layout_limits)
{
	struct ts_control control = {0};

	ts_check_int(ts_control_layout(&control, TS_SHARDS_DEFAULT, TS_RING_BYTES_DEFAULT,
				       TS_ARENA_BYTES_DEFAULT),
		     0);
	ts_check_int(control.total_bytes % 4096, 0);
	ts_check_int(control.arena_off,
		     control.shards_off + TS_SHARDS_DEFAULT * control.shard_stride);
	ts_check_int(ts_control_layout(&control, 0, 65536, 65536), -EINVAL);
	ts_check_int(ts_control_layout(&control, 1, 65537, 65536), -EINVAL);
	ts_check_int(ts_control_layout(&control, 1, 65536, 65537), -EINVAL);
	ts_check_int(ts_control_layout(&control, 1024, 256u << 20, 65536), -EINVAL);
}
