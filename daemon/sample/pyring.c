/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists Python stacks, and reads those that sample.bpf.c writes into a ring buffer map. sampling.c
 * calls this module. The kernel defines the layout of the map (Documentation/bpf/ringbuf.rst). A
 * page has the consumer's position, the next page the producer's position. Then the data follows,
 * mapped twice in a row, so that no record is split.
 */
#include "daemon/sample/pyring.h"

#include <linux/bpf.h>
#include <sys/mman.h>

#include "daemon/util/daemon-error.h"

#define PENDING_MAX 1024u
#define UNUSED_MAX  64u
/* Largest distance between the program's time of a stack and perf's time of the same sample. */
#define NEAR_NS UINT64_C(1000000)
/* After this time a stack is dropped: perf lost its sample. */
#define STALE_NS UINT64_C(1000000000)

struct ts_python_ring {
	struct ts_bpf_python *config;
	size_t page;
	uint64_t *consumer;	  /* written by this process */
	const uint64_t *producer; /* written by the kernel; the data follows */
	const uint8_t *data;
	struct ts_bpf_python_stack *pending[PENDING_MAX]; /* in order of time */
	size_t n_pending;
	struct ts_bpf_python_stack *found; /* the last result of ts_python_ring_find() */
	/* Memory of former stacks: each stack comes and goes, and malloc() is slow at that. */
	struct ts_bpf_python_stack *unused[UNUSED_MAX];
	size_t n_unused;
};

int ts_python_ring_new(struct ts_python_ring **ret_ring)
{
	struct ts_python_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return ts_error_origin(-ENOMEM);
	ring->page = (size_t)sysconf(_SC_PAGESIZE);
	*ret_ring = ring;
	return 0;
}

int ts_python_ring_map(struct ts_python_ring *ring, int config_fd, int ring_fd)
{
	void *at = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, config_fd, 0);

	if (at != MAP_FAILED) {
		ring->config = at;
		at = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	}
	if (at != MAP_FAILED) {
		ring->consumer = at;
		at = mmap(NULL, ring->page + 2 * TS_BPF_PYTHON_RING_BYTES, PROT_READ, MAP_SHARED,
			  ring_fd, (off_t)ring->page);
	}
	if (at == MAP_FAILED) {
		int r = -errno;

		ts_python_ring_unmap(ring);
		return ts_error_origin(r);
	}
	ring->producer = at;
	ring->data = (const uint8_t *)at + ring->page;
	return 0;
}

void ts_python_ring_unmap(struct ts_python_ring *ring)
{
	if (ring->config)
		munmap(ring->config, ring->page);
	if (ring->consumer)
		munmap(ring->consumer, ring->page);
	if (ring->producer)
		munmap((void *)(uintptr_t)ring->producer,
		       ring->page + 2 * TS_BPF_PYTHON_RING_BYTES);
	ring->config = NULL;
	ring->consumer = NULL;
	ring->producer = NULL;
}

void ts_python_ring_free(struct ts_python_ring *ring)
{
	if (!ring)
		return;
	for (size_t i = 0; i < ring->n_pending; i++)
		free(ring->pending[i]);
	for (size_t i = 0; i < ring->n_unused; i++)
		free(ring->unused[i]);
	free(ring->found);
	ts_python_ring_unmap(ring);
	free(ring);
}

void ts_python_ring_configure(struct ts_python_ring *ring, const struct ts_bpf_python *config)
{
	struct ts_bpf_python ready = *config;

	ready.ready = 0;
	*ring->config = ready;
	/*
	 * Pairs with the program's read of `ready`: x86-64 does not move the program's later reads
	 * before that read.
	 */
	__atomic_store_n(&ring->config->ready, 1, __ATOMIC_RELEASE);
}

static size_t stack_bytes(const struct ts_bpf_python_stack *stack)
{
	return offsetof(struct ts_bpf_python_stack, frames) + stack->n * sizeof(stack->frames[0]);
}

static void release(struct ts_python_ring *ring, struct ts_bpf_python_stack *stack)
{
	if (stack && ring->n_unused < UNUSED_MAX)
		ring->unused[ring->n_unused++] = stack;
	else
		free(stack);
}

static void forget(struct ts_python_ring *ring, size_t i)
{
	release(ring, ring->pending[i]);
	memmove(&ring->pending[i], &ring->pending[i + 1],
		(--ring->n_pending - i) * sizeof(*ring->pending));
}

void ts_python_ring_put(struct ts_python_ring *ring, const struct ts_bpf_python_stack *stack)
{
	/* The copy ends after the last frame. */
	size_t n = stack_bytes(stack);
	struct ts_bpf_python_stack *copy;

	while (ring->n_pending &&
	       (ring->n_pending == PENDING_MAX ||
		(int64_t)(stack->time_ns - ring->pending[0]->time_ns) > (int64_t)STALE_NS))
		forget(ring, 0);
	copy = ring->n_unused ? ring->unused[--ring->n_unused] : malloc(sizeof(*copy));
	if (!copy)
		return;
	memcpy(copy, stack, n);
	ring->pending[ring->n_pending++] = copy;
}

static void take_record(struct ts_python_ring *ring, const struct ts_bpf_python_stack *stack,
			size_t n)
{
	if (n >= offsetof(struct ts_bpf_python_stack, frames) && stack->n <= TS_BPF_PYTHON_FRAMES &&
	    n >= stack_bytes(stack))
		ts_python_ring_put(ring, stack);
}

void ts_python_ring_drain(struct ts_python_ring *ring)
{
	uint64_t at, end;

	if (!ring->producer)
		return;
	at = *ring->consumer;
	/*
	 * Pairs with the kernel's release of its position. Below, the load of a record's length
	 * pairs with the kernel's release of that length.
	 */
	end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	while (at < end) {
		const uint8_t *record = ring->data + (at & (TS_BPF_PYTHON_RING_BYTES - 1));
		uint32_t length =
			__atomic_load_n((const uint32_t *)(const void *)record, __ATOMIC_ACQUIRE);

		/* The kernel still writes this record. */
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			take_record(ring, (const void *)(record + BPF_RINGBUF_HDR_SZ), length);
		length &= ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		at += (length + BPF_RINGBUF_HDR_SZ + UINT64_C(7)) & ~UINT64_C(7);
		__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	}
}

const struct ts_bpf_python_stack *ts_python_ring_find(struct ts_python_ring *ring, uint32_t tid,
						      uint64_t time_ns)
{
	for (size_t i = 0; i < ring->n_pending; i++) {
		struct ts_bpf_python_stack *stack = ring->pending[i];

		if (stack->tid != tid || stack->time_ns + NEAR_NS < time_ns ||
		    stack->time_ns > time_ns + NEAR_NS)
			continue;
		release(ring, ring->found);
		ring->found = stack;
		memmove(&ring->pending[i], &ring->pending[i + 1],
			(--ring->n_pending - i) * sizeof(*ring->pending));
		return stack;
	}
	return NULL;
}
