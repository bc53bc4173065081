/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps the kernel's ring of events. hub.c maps it at its start and reads it by the inline functions
 * of the header.
 */
#include "daemon/bpf/ring/event-ring.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"

/* The first page has the reader's position, the second page the writer's; then come the records. */
static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t written_bytes(const struct ts_event_ring *ring)
{
	return page_bytes() + 2 * (size_t)ring->n_bytes;
}

int ts_event_ring_init(struct ts_event_ring *ring, int fd, uint64_t n_bytes)
{
	void *read, *written;
	int error;

	*ring = (struct ts_event_ring){.n_bytes = n_bytes, .fd = fd};
	read = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (read == MAP_FAILED)
		return ts_error_origin(-errno);
	written = mmap(NULL, written_bytes(ring), PROT_READ, MAP_SHARED, fd, (off_t)page_bytes());
	if (written == MAP_FAILED) {
		error = errno;
		munmap(read, page_bytes());
		return ts_error_origin(-error);
	}
	ring->consumer = read;
	ring->producer = written;
	ring->records = (const uint8_t *)written + page_bytes();
	ring->position = ring->released = __atomic_load_n(ring->consumer, __ATOMIC_RELAXED);
	return 0;
}

void ts_event_ring_deinit(struct ts_event_ring *ring)
{
	if (ring->consumer) {
		munmap(ring->consumer, page_bytes());
		munmap((void *)(uintptr_t)ring->producer, written_bytes(ring));
	}
	*ring = (struct ts_event_ring){0};
}

void ts_event_ring_wait(const struct ts_event_ring *ring, int ms)
{
	struct pollfd wait = {.fd = ring->fd, .events = POLLIN};

	/* The caller looks at the ring whatever the result. */
	(void)poll(&wait, 1, ms);
}
