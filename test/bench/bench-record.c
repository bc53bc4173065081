/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-record [N]: the cost of an API record, made by the shim's own producer (inject/ring) in a
 * real session's ring. A second thread on another core copies committed records out of the ring and
 * releases the space, as a daemon does. Records lost to a full ring are counted, and their pass is
 * excluded.
 */
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>

#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"
#include "test/bench/bench.h"

static struct ts_control *control;
static uint32_t stopping;

static void *drain(void *unused)
{
	static uint8_t copy[256 * 1024];
	uint64_t ring_bytes = control->ring_bytes;
	struct ts_shard *shard = (struct ts_shard *)((uint8_t *)control + control->shards_off);
	uint64_t position = 0;

	ts_bench_pin(0);
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		uint64_t head = ts_ring_consumer_head(shard);

		if (head - position < ring_bytes / 8) {
			struct timespec pause = {0, 50000};

			nanosleep(&pause, NULL);
			continue;
		}
		while (position < head) {
			position += ts_ring_consumer_copy(shard, ring_bytes, position, head, copy,
							  sizeof(copy));
			ts_ring_consumer_release(shard, position);
		}
	}
	return unused;
}

static void record(struct ts_thread *thread, struct ts_producer *producer, uint64_t i)
{
	uint64_t enter = ts_producer_ticks(producer);
	struct ts_record_api *api;

	__asm__ volatile("" ::: "memory");
	api = ts_thread_reserve(thread, TS_RECORD_API, sizeof(*api), producer->clock, enter);
	if (!api)
		return;
	api->end = ts_producer_ticks(producer);
	api->op_id = i;
	api->nested_op_id = 0;
	api->stack = 7;
	api->domain = TS_API_CUDA_RUNTIME;
	api->cbid = 211;
	api->result = 0;
	api->context = 1;
	ts_thread_commit(thread, sizeof(*api));
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 10000000) / TS_BENCH_PASSES;
	struct ts_session_options options = {
		.n_shards = 4,
		.ring_bytes = TS_RING_BYTES_DEFAULT,
		.arena_bytes = TS_ARENA_MIN_BYTES,
		.command = TS_COMMAND_RECORD,
		.program = "bench-record",
	};
	static struct ts_definitions definitions;
	struct ts_session_memory memory;
	static struct ts_producer producer;
	struct ts_gate gate = {.alive = 1, .mode = TS_GATE_OPEN};
	double best_ns = INFINITY, total_ns = 0;
	struct ts_thread *thread;
	pthread_t drainer;
	int fd;

	if (ts_session_new(&options, &fd, &memory) || ts_definitions_init(&definitions, &memory) ||
	    ts_producer_init(&producer, &gate, memory.control, &definitions, 1))
		return 1;
	/* The drainer uses its own mapping of the memory, as the daemon does. */
	control =
		mmap(NULL, memory.control->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		return 1;
	thread = ts_producer_thread(&producer);
	if (!thread || pthread_create(&drainer, NULL, drain, NULL))
		return 1;
	ts_bench_pin(1);
	for (int pass = 0; pass < TS_BENCH_PASSES; pass++) {
		uint64_t lost = thread->ring.shard->lost[TS_LOSS_RING_FULL];
		uint64_t start_ns = ts_clock_monotonic_ns();
		double ns;

		for (uint64_t i = 0; i < n; i++)
			record(thread, &producer, i);
		ns = (double)(ts_clock_monotonic_ns() - start_ns) / (double)n;
		total_ns += ns;
		/* A pass with lost records is too fast to count. */
		if (ns < best_ns && lost == thread->ring.shard->lost[TS_LOSS_RING_FULL])
			best_ns = ns;
	}
	if (isinf(best_ns))
		best_ns = total_ns / TS_BENCH_PASSES;
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	pthread_join(drainer, NULL);
	printf("{\"name\": \"api_record\", \"ns\": %.2f, \"mean_ns\": %.2f, \"n\": %" PRIu64
	       ", \"lost\": %" PRIu64 ", \"clock\": \"%s\"}\n",
	       best_ns, total_ns / TS_BENCH_PASSES, n * TS_BENCH_PASSES,
	       thread->ring.shard->lost[TS_LOSS_RING_FULL],
	       producer.clock == TS_CLOCK_TSC ? "tsc" : "monotonic");
	close(fd);
	return 0;
}
