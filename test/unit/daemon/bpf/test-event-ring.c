/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the daemon's half of the kernel's ring. The test writes records as the kernel does, also
 * from a thread. A file has the layout of the ring, but its records are not mapped twice, so the
 * writer repeats a record that wraps.
 */
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/unit/harness.h"

#include "daemon/bpf/ring/event-ring.h"

#define RING_BYTES (256u << 10)
#define HEADER	   BPF_RINGBUF_HDR_SZ

struct writer {
	uint64_t *consumer, *producer;
	uint8_t *records;
	size_t page_bytes;
	uint64_t number; /* of the next record */
};

static void make_ring(struct ts_event_ring *ring, struct writer *writer)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), n = 2 * page_bytes + 2 * RING_BYTES;
	int fd = memfd_create("ring", MFD_CLOEXEC);
	uint8_t *at;

	ts_check(fd >= 0);
	ts_check_int(ftruncate(fd, (off_t)n), 0);
	at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ts_check(at != MAP_FAILED);
	*writer = (struct writer){(void *)at, (void *)(at + page_bytes), at + 2 * page_bytes,
				  page_bytes, 0};
	/* The positions pass 2^32. */
	*writer->consumer = *writer->producer = UINT64_C(0x100000000) - 4096;
	ts_check_int(ts_event_ring_init(ring, fd, RING_BYTES), 0);
	close(fd);
}

static void free_ring(struct ts_event_ring *ring, struct writer *writer)
{
	ts_event_ring_deinit(ring);
	ts_check(!ring->consumer);
	ts_event_ring_deinit(ring);
	munmap(writer->consumer, 2 * writer->page_bytes + 2 * RING_BYTES);
}

static void store_length(struct writer *writer, uint64_t position, uint32_t length)
{
	uint8_t *at = writer->records + (position & (RING_BYTES - 1));

	__atomic_store_n((uint32_t *)(void *)at, length, __ATOMIC_RELEASE);
}

/*
 * Writes a record of n_bytes, which begins with its number. Returns its position, or UINT64_MAX if
 * the ring is full. `bits` are those of its length.
 */
static uint64_t put(struct writer *writer, uint32_t n_bytes, uint32_t bits)
{
	uint64_t position = *writer->producer, n = (n_bytes + HEADER + 7) & ~7u;
	size_t off = position & (RING_BYTES - 1);
	uint8_t *at = writer->records + off;

	if (position + n - __atomic_load_n(writer->consumer, __ATOMIC_ACQUIRE) > RING_BYTES)
		return UINT64_MAX;
	memset(at + HEADER, (int)writer->number, n_bytes);
	memcpy(at + HEADER, &writer->number, sizeof(writer->number));
	if (off + n > RING_BYTES)
		memcpy(writer->records, writer->records + RING_BYTES, off + n - RING_BYTES);
	store_length(writer, position, n_bytes | bits);
	writer->number++;
	__atomic_store_n(writer->producer, position + n, __ATOMIC_RELEASE);
	return position;
}

static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 37 % 200);
}

/* Checks that the next record is the record `number`. */
static bool is_next(struct ts_event_ring *ring, uint64_t number)
{
	size_t n_bytes;
	const uint8_t *at = ts_event_ring_next(ring, &n_bytes);
	uint64_t found;

	if (!at || n_bytes != size_of(number))
		return false;
	memcpy(&found, at, sizeof(found));
	return found == number && (n_bytes == 8 || at[n_bytes - 1] == (uint8_t)number);
}

TS_TEST(records_in_order_over_the_edge)
{
	struct ts_event_ring ring;
	struct writer writer;
	uint64_t n_read = 0;
	size_t n_bytes;

	make_ring(&ring, &writer);
	for (unsigned round = 0; round < 300; round++) {
		for (unsigned i = 0; i < round * 11 % 700; i++)
			ts_check(put(&writer, size_of(writer.number), 0) != UINT64_MAX);
		ts_check_int(ts_event_ring_waiting(&ring), *writer.producer - *writer.consumer);
		ts_event_ring_begin(&ring);
		while (n_read < writer.number)
			ts_check(is_next(&ring, n_read++));
		ts_check(!ts_event_ring_next(&ring, &n_bytes));
		ts_event_ring_end(&ring);
		ts_check_int(*writer.consumer, *writer.producer);
	}
	ts_check(*writer.producer > UINT64_C(0x100000000) + 4 * RING_BYTES);
	free_ring(&ring, &writer);
}

/* A record that is not complete ends the read; a discarded one is skipped. */
TS_TEST(records_that_are_not_complete_wait)
{
	struct ts_event_ring ring;
	struct writer writer;
	uint64_t busy;
	size_t n_bytes;

	make_ring(&ring, &writer);
	put(&writer, size_of(0), 0);
	put(&writer, size_of(1), BPF_RINGBUF_DISCARD_BIT);
	busy = put(&writer, size_of(2), BPF_RINGBUF_BUSY_BIT);
	put(&writer, size_of(3), 0);
	ts_event_ring_begin(&ring);
	ts_check(is_next(&ring, 0));
	ts_check(!ts_event_ring_next(&ring, &n_bytes));
	ts_event_ring_end(&ring);
	ts_check_int(*writer.consumer, busy);
	store_length(&writer, busy, size_of(2));
	ts_event_ring_begin(&ring);
	ts_check(is_next(&ring, 2) && is_next(&ring, 3));
	ts_check(!ts_event_ring_next(&ring, &n_bytes));
	ts_event_ring_end(&ring);
	free_ring(&ring, &writer);
}

/* A read has the records of its begin, and frees their places while it goes on. */
TS_TEST(a_read_ends_and_frees)
{
	struct ts_event_ring ring;
	struct writer writer;
	uint64_t n = 0, n_read = 0;
	size_t n_bytes;

	make_ring(&ring, &writer);
	while (put(&writer, size_of(writer.number), 0) != UINT64_MAX)
		n = writer.number;
	ts_event_ring_begin(&ring);
	for (; n_read < n; n_read++) {
		ts_check(is_next(&ring, n_read));
		ts_check(ring.position - *writer.consumer <= TS_EVENT_RING_HELD + 216);
		if (n_read == n / 2)
			ts_check(put(&writer, size_of(n), 0) != UINT64_MAX);
	}
	ts_check(!ts_event_ring_next(&ring, &n_bytes));
	ts_event_ring_end(&ring);
	ts_event_ring_begin(&ring);
	ts_check(is_next(&ring, n));
	free_ring(&ring, &writer);
}

#define N_RECORDS 200000u

static void *write_records(void *data)
{
	struct writer *writer = data;

	while (writer->number < N_RECORDS)
		if (put(writer, size_of(writer->number), 0) == UINT64_MAX)
			sched_yield();
	return NULL;
}

TS_TEST(a_reader_beside_a_writer)
{
	struct ts_event_ring ring;
	struct writer writer;
	uint64_t n_read = 0;
	pthread_t thread;

	make_ring(&ring, &writer);
	ts_check_int(pthread_create(&thread, NULL, write_records, &writer), 0);
	while (n_read < N_RECORDS) {
		size_t n_bytes;
		const uint8_t *at;
		uint64_t found;

		ts_event_ring_begin(&ring);
		while ((at = ts_event_ring_next(&ring, &n_bytes))) {
			memcpy(&found, at, sizeof(found));
			ts_check_int(found, n_read);
			ts_check_int(n_bytes, size_of(n_read));
			ts_check(n_bytes == 8 || at[n_bytes - 1] == (uint8_t)n_read);
			n_read++;
		}
		ts_event_ring_end(&ring);
	}
	ts_check_int(pthread_join(thread, NULL), 0);
	free_ring(&ring, &writer);
}

TS_TEST(a_ring_that_cannot_be_mapped)
{
	struct ts_event_ring ring;

	ts_check_int(ts_event_ring_init(&ring, -1, RING_BYTES), -EBADF);
	ts_event_ring_deinit(&ring);
}
