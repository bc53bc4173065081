/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the lane's producer: readable memory is captured once, and unreadable memory does not harm
 * the application.
 */
#include "test/unit/harness.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "inject/capture/capture-memory.h"
#include "inject/capture/lane.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/handshake.h"
#include "proto/abi/hash.h"

#define CHUNKS 3u

struct fixture {
	struct ts_gate gate;
	struct ts_producer producer;
	struct ts_lane lane;
	uint8_t *memory;
};

static void fixture_init(struct fixture *f)
{
	struct ts_control layout = {0};
	struct ts_shard *header;
	void *at;

	ts_skip_emulated("process_vm_readv()");
	memset(f, 0, sizeof(*f));
	ts_check_int(ts_control_layout(&layout, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES), 0);
	ts_check_int(ts_control_add_lane(&layout, TS_LANE_MIN_BYTES), 0);
	at = mmap(NULL, layout.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		  0);
	ts_check(at != MAP_FAILED);
	memcpy(at, &layout, sizeof(layout));
	f->gate.served = 1;
	f->producer.control = at;
	f->producer.gate = &f->gate;
	header = (struct ts_shard *)((uint8_t *)at + layout.lane_off);
	ts_check_int(ts_lane_init(&f->lane, &f->producer, header, TS_CAPTURE_BYTES), 0);
	f->memory = mmap(NULL, (size_t)CHUNKS * TS_BLOB_CHUNK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ts_check(f->memory != MAP_FAILED);
	for (size_t i = 0; i < CHUNKS; i++)
		f->memory[i * TS_BLOB_CHUNK_BYTES] = (uint8_t)(i + 1);
}

TS_TEST(what_may_not_be_there_is_the_same_where_it_is)
{
	const size_t n = (size_t)CHUNKS * TS_BLOB_CHUNK_BYTES;
	struct fixture f;
	uint32_t number;

	fixture_init(&f);
	number = ts_lane_content(&f.lane, f.memory, n);
	/* Each chunk has a number, and the list of chunks has one. */
	ts_check_int(number, CHUNKS + 1);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory, n, 1, 1, n, n, false), number);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory, n / 8, 4, 2, n / 8, n / 2, false),
		     number);
	number = ts_lane_content_rows(&f.lane, f.memory, 16, CHUNKS, 1, TS_BLOB_CHUNK_BYTES, 0,
				      true);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory, 16, CHUNKS, 1, TS_BLOB_CHUNK_BYTES, 0,
					  false),
		     number);
}

/* Known bytes take no room in the ring, also if it has none. Unknown bytes end the lane then. */
TS_TEST(known_bytes_take_no_room)
{
	const size_t n = TS_BLOB_CHUNK_BYTES;
	struct fixture f;
	uint64_t head;

	fixture_init(&f);
	ts_check_int(ts_lane_content(&f.lane, f.memory, n), 1);
	head = f.lane.header->head;
	ts_check_int(ts_lane_content(&f.lane, f.memory, n), 1);
	ts_check_int(f.lane.header->head, head);
	f.gate.served = 0;
	for (uint32_t i = 2; ts_lane_goes_on(&f.lane) && i < 1000; i++) {
		memcpy(f.memory + n, &i, sizeof(i));
		/* The first content again: by now it may find the ring full. */
		ts_check_int(ts_lane_content(&f.lane, f.memory, n), 1);
		ts_check_int(ts_lane_content(&f.lane, f.memory + n, n),
			     ts_lane_goes_on(&f.lane) ? i : 0);
	}
	ts_check_int(f.producer.control->lane_ended, TS_LANE_FULL);
}

/* The hash in the lane is the copy's. */
TS_TEST(hash_is_of_the_copy)
{
	const struct ts_record_blob *blob;
	struct ts_hash128 hash;
	struct fixture f;

	fixture_init(&f);
	for (uint32_t n = 1; n < 70; n++) {
		blob = (const struct ts_record_blob *)(f.lane.ring.ring + f.lane.ring.head);
		memset(f.memory, (int)n, n);
		ts_check_int(ts_lane_content(&f.lane, f.memory, n), n);
		hash = ts_hash128(f.memory, n);
		ts_check(blob->n_bytes == n && !memcmp(blob + 1, f.memory, n));
		ts_check(blob->hash[0] == hash.a && blob->hash[1] == hash.b);
	}
}

TS_TEST(what_is_not_there_is_no_content_and_no_fault)
{
	const size_t n = (size_t)CHUNKS * TS_BLOB_CHUNK_BYTES;
	struct fixture f;

	fixture_init(&f);
	/*
	 * The chunk becomes unreadable, as after munmap(). With mprotect() no other mapping can
	 * take its place during the test.
	 */
	ts_check_int(mprotect(f.memory + 2 * TS_BLOB_CHUNK_BYTES, TS_BLOB_CHUNK_BYTES, PROT_NONE),
		     0);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory, n, 1, 1, n, n, false), 0);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory, 16, CHUNKS, 1, TS_BLOB_CHUNK_BYTES, 0,
					  false),
		     0);
	ts_check_int(ts_lane_content_rows(&f.lane, f.memory + 2 * TS_BLOB_CHUNK_BYTES, 8, 1, 1, 8,
					  8, false),
		     0);
	/* The capture continues after unreadable memory. */
	ts_check(ts_lane_goes_on(&f.lane));
	ts_check(ts_lane_content(&f.lane, f.memory, 2 * TS_BLOB_CHUNK_BYTES) != 0);
}

TS_TEST(no_more_operations_than_a_replay_takes)
{
	struct ts_record_operation operation = {.kind = TS_OPERATION_FILL};
	static struct ts_definitions definitions;
	struct ts_session_memory memory = {0};
	struct fixture f;

	fixture_init(&f);
	memory.control = f.producer.control;
	memory.arena = (struct ts_arena *)((uint8_t *)memory.control + memory.control->arena_off);
	ts_check_int(ts_definitions_init(&definitions, &memory), 0);
	f.producer.definitions = &definitions;
	f.lane.sequence = TS_CAPTURE_MAX_OPERATIONS - 2;
	ts_check_int(ts_lane_put(&f.lane, &operation), TS_CAPTURE_MAX_OPERATIONS - 1);
	ts_check(ts_lane_goes_on(&f.lane));
	ts_check_int(ts_lane_put(&f.lane, &operation), 0);
	/* TS_OPERATION_END is the last operation that a replay accepts. */
	ts_check_int(f.lane.sequence, TS_CAPTURE_MAX_OPERATIONS);
	ts_check(!ts_lane_goes_on(&f.lane));
	ts_check_int(f.producer.control->lane_ended, TS_LANE_TOO_MANY);
	ts_check_int(ts_lane_put(&f.lane, &operation), 0);
	ts_check_int(f.lane.sequence, TS_CAPTURE_MAX_OPERATIONS);
}

TS_TEST(a_launch_in_place_is_half_an_operation)
{
	struct ts_record_operation operation = {.kind = TS_OPERATION_ALLOC};
	struct ts_record_launch *placed;
	struct fixture f;

	fixture_init(&f);
	/* Old bytes of the ring are no part of the header. */
	memset(f.lane.ring.ring, 0xff, 4 * sizeof(operation));
	ts_check_int(ts_lane_put(&f.lane, &operation), 1);
	/* The first operation maps the ring. */
	placed = ts_lane_place(&f.lane);
	ts_check((uint8_t *)placed == f.lane.ring.ring + f.lane.ring.head);
	ts_check_int(placed->record.type, TS_RECORD_LAUNCH);
	ts_check_int(placed->record.n_words, sizeof(*placed) / 8);
	ts_check_int(placed->record.n_fixed_words, sizeof(*placed) / 8);
	ts_check_int(placed->record.flags, 0);
	ts_check_int(placed->sequence, 2);
	ts_lane_commit(&f.lane);
	ts_check_int(f.lane.sequence, 2);
	ts_check_int(f.lane.header->head, sizeof(operation) + sizeof(*placed));
	ts_check_int(ts_lane_put(&f.lane, &operation), 3);
}

TS_TEST(a_lane_without_room_has_no_place_and_goes_on)
{
	struct fixture f;
	uint64_t n = 0;

	fixture_init(&f);
	while (ts_lane_place(&f.lane)) {
		ts_lane_commit(&f.lane);
		n++;
	}
	ts_check(n > 1000);
	ts_check(ts_lane_goes_on(&f.lane));
	f.lane.header->released = f.lane.header->head;
	ts_check(ts_lane_place(&f.lane) != NULL);
	f.lane.sequence = TS_CAPTURE_MAX_OPERATIONS - 1;
	ts_check(!ts_lane_place(&f.lane));
	f.lane.sequence = 0;
	ts_lane_end(&f.lane, TS_LANE_STOPPED);
	ts_check(!ts_lane_place(&f.lane));
}

/* A usual launch looks for room first: a wait for it would not be in the capture's time. */
TS_TEST(a_lane_knows_whether_a_content_must_wait)
{
	struct fixture f;

	fixture_init(&f);
	ts_check(ts_lane_has_room(&f.lane, 1));
	ts_check(ts_lane_has_room(&f.lane, TS_BLOB_CHUNK_BYTES));
	ts_check(!ts_lane_has_room(&f.lane, TS_BLOB_CHUNK_BYTES + 1));
	/* A look takes no room. */
	ts_check_int(f.lane.header->head, 0);
	for (uint32_t i = 1; ts_lane_has_room(&f.lane, 4096); i++) {
		memcpy(f.memory, &i, sizeof(i));
		ts_check_int(ts_lane_content(&f.lane, f.memory, 4096), i);
	}
	ts_check(f.lane.header->head > TS_LANE_MIN_BYTES - 2 * 4096);
	ts_check(ts_lane_goes_on(&f.lane));
	f.lane.header->released = f.lane.header->head;
	ts_check(ts_lane_has_room(&f.lane, 4096));
	ts_lane_end(&f.lane, TS_LANE_STOPPED);
	ts_check(!ts_lane_has_room(&f.lane, 1));
}

/* Pinned memory between other memory is found, and nothing else. */
TS_TEST(host_memory_is_found_by_address)
{
	struct ts_memory_map map = {0};

	ts_check(!ts_memory_map_find_host(&map, 0));
	ts_check(ts_memory_map_add(&map, 0x1000, 0x1000, 0, 1));
	ts_check(!ts_memory_map_find_host(&map, 0x1800));
	ts_check(ts_memory_map_add(&map, 0x5000, 0x1000, TS_OPERATION_MEMORY_PINNED, 1));
	ts_check(ts_memory_map_add(&map, 0x3000, 0x1000, TS_OPERATION_MEMORY_MANAGED, 1));
	ts_check(ts_memory_map_add(&map, 0x4000, 0x1000, 0, 1));
	ts_check(ts_memory_map_find_host(&map, 0x3000) == ts_memory_map_find(&map, 0x3fff));
	ts_check(ts_memory_map_find_host(&map, 0x5fff) == ts_memory_map_find(&map, 0x5000));
	ts_check(!ts_memory_map_find_host(&map, 0x4800));
	ts_check(!ts_memory_map_find_host(&map, 0x2fff));
	ts_check(!ts_memory_map_find_host(&map, 0x6000));
	ts_check(ts_memory_map_remove(&map, 0x3000));
	ts_check(!ts_memory_map_find_host(&map, 0x3800));
	ts_check(ts_memory_map_find_host(&map, 0x5800) != NULL);
	ts_pages_free(&map.pages);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define N_THREADS    4u
#define N_OPERATIONS 6000u /* of each thread; together, more than the ring holds */
#define N_CONTENTS   40u

struct producing {
	struct fixture *f;
	uint64_t thread;
	pthread_t handle;
	uint64_t words[N_CONTENTS]; /* the thread's contents; threads share some of them */
};

/* Captures as a call does: the lane is locked from the content to the operation. */
static void put_operation(struct producing *producing, uint64_t i)
{
	struct ts_lane *lane = &producing->f->lane;
	const uint64_t *word = &producing->words[i % N_CONTENTS];
	struct ts_record_operation operation = {.kind = TS_OPERATION_LAUNCH,
						.object = producing->thread,
						.stream = i,
						.op_id = *word};
	struct ts_record_launch *placed;

	ts_lock_take(&lane->lock);
	operation.content = ts_lane_content_rows(lane, (const void *)word, sizeof(*word), 1, 1,
						 sizeof(*word), 0, i % 2);
	placed = i % 3 ? ts_lane_place(lane) : NULL;
	if (placed) {
		placed->object = operation.object;
		placed->stream = operation.stream;
		placed->op_id = operation.op_id;
		placed->content = operation.content;
		ts_lane_commit(lane);
	} else {
		ts_check(ts_lane_put(lane, &operation) > 0);
	}
	ts_lock_release(&lane->lock);
}

static void *produce(void *data)
{
	struct producing *producing = data;

	for (uint64_t i = 0; i < N_OPERATIONS && ts_lane_goes_on(&producing->f->lane); i++)
		put_operation(producing, i);
	return NULL;
}

struct consuming {
	uint64_t position, sequence;
	uint64_t n_seen[N_THREADS];
	uint32_t n_blobs;
	uint64_t words[N_THREADS * N_CONTENTS + 1]; /* by number */
};

/* A thread numbers its operations by their streams. */
static void check_launch(struct consuming *consuming, uint64_t sequence, uint64_t thread,
			 uint64_t stream, uint32_t content, uint64_t word)
{
	ts_check_int(sequence, ++consuming->sequence);
	ts_check_int(stream, consuming->n_seen[thread]++);
	/* The content came before its operation. */
	ts_check(content && content <= consuming->n_blobs);
	ts_check_int(consuming->words[content], word);
}

static void check_record(struct consuming *consuming, const struct ts_record *record)
{
	const struct ts_record_operation *operation = (const void *)record;
	const struct ts_record_launch *launch = (const void *)record;
	const struct ts_record_blob *blob = (const void *)record;

	if (record->type == TS_RECORD_BLOB) {
		ts_check_int(blob->blob, ++consuming->n_blobs);
		ts_check_int(blob->n_bytes, sizeof(uint64_t));
		memcpy(&consuming->words[blob->blob], blob + 1, sizeof(uint64_t));
	} else if (record->type == TS_RECORD_LAUNCH) {
		check_launch(consuming, launch->sequence, launch->object, launch->stream,
			     launch->content, launch->op_id);
	} else if (record->type != TS_RECORD_PAD) {
		ts_check_int(record->type, TS_RECORD_OPERATION);
		check_launch(consuming, operation->sequence, operation->object, operation->stream,
			     operation->content, operation->op_id);
	}
}

/* Reads the lane's records like the daemon: copies them first, then checks them. */
static void consume(const struct fixture *f, struct consuming *consuming)
{
	static _Alignas(8) uint8_t copy[64 * 1024];
	struct ts_shard *shard = f->lane.header;
	const uint64_t head = ts_ring_consumer_head(shard);

	while (consuming->position < head) {
		const uint64_t n =
			ts_ring_consumer_copy(shard, TS_LANE_MIN_BYTES, consuming->position, head,
					      copy, sizeof(copy));
		uint64_t off = 0;

		for (uint64_t end = 0; off < n; off = end) {
			const struct ts_record *record = (const void *)(copy + off);

			ts_check(record->n_words > 0);
			end = off + record->n_words * 8u;
			if (end > n)
				break;
			check_record(consuming, record);
		}
		consuming->position += off;
		ts_ring_consumer_release(shard, consuming->position);
	}
}

/* Operations of several threads have one order, and each has its content before it. */
TS_TEST(threads_share_the_lane)
{
	struct producing producing[N_THREADS] = {0};
	struct consuming consuming = {0};
	struct fixture f;

	fixture_init(&f);
	for (uint64_t i = 0; i < N_THREADS; i++) {
		producing[i].f = &f;
		producing[i].thread = i;
		for (uint64_t k = 0; k < N_CONTENTS; k++)
			producing[i].words[k] = 1 + k + (k % 2 ? 1000 * i : 0);
		ts_check_int(pthread_create(&producing[i].handle, NULL, produce, &producing[i]), 0);
	}
	while (consuming.sequence < (uint64_t)N_THREADS * N_OPERATIONS &&
	       ts_lane_goes_on(&f.lane)) {
		consume(&f, &consuming);
		sched_yield();
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		ts_check_int(pthread_join(producing[i].handle, NULL), 0);
		ts_check_int(consuming.n_seen[i], N_OPERATIONS);
	}
	ts_check_int(consuming.n_blobs, N_CONTENTS / 2 * (N_THREADS + 1));
	ts_check(ts_lane_goes_on(&f.lane));
}
