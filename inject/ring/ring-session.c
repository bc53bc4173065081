/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a session's memory. The link thread calls this file, so the application does not see the
 * descriptor. Memory is virtual until it is touched, so the sizes are generous. Only limits
 * (address space, file size) shrink them: an application under a limit gets smaller rings, and its
 * own allocations do not fail because of the shim.
 *
 * This file maps only the first pages, which have the offsets of all other parts. producer.c maps a
 * shard when a thread first claims it; definitions.c maps a stretch of the arena when the stretch
 * before is full. Each part is mapped this late because mlockall(MCL_CURRENT) locks everything that
 * is mapped, and counts it against the limit of locked memory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "inject/ring/ring-session.h"
#include "inject/ring/unlocked.h"

enum ts_clock ts_session_host_clock(void)
{
#if TS_CLOCK_HAVE_TSC
	static const char counter[] = TS_CLOCK_SOURCE "\n";
	char name[32] = "";
	ts_cleanup(ts_closep) int fd = -1;

	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 && !strcmp(name, counter))
		return TS_CLOCK_TSC;
#endif
	return TS_CLOCK_MONOTONIC;
}

/*
 * Returns the largest allowed memfd. The memfd takes at most an eighth of the process's address
 * space limit. RLIMIT_FSIZE also applies to memfds, and growth past it raises SIGXFSZ, so never
 * try.
 */
static uint64_t most_bytes(void)
{
	struct rlimit limit;
	uint64_t most = TS_SESSION_MAX_BYTES;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur / 8 < most)
		most = limit.rlim_cur / 8;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < most)
		most = limit.rlim_cur;
	return most;
}

/*
 * Reduces one size or the number of shards, usually to half: the lane or the rings before a smaller
 * arena, and the arena before smaller rings. Returns false if all are at their minimum.
 */
static bool shrink(struct ts_session_options *sizes)
{
	if (sizes->lane_bytes > TS_LANE_MIN_BYTES &&
	    (sizes->lane_bytes >= sizes->arena_bytes || sizes->ring_bytes == TS_RING_MIN_BYTES))
		sizes->lane_bytes /= 2;
	else if (sizes->ring_bytes > TS_RING_MIN_BYTES &&
		 sizes->ring_bytes * sizes->n_shards >= sizes->arena_bytes)
		sizes->ring_bytes /= 2;
	else if (sizes->arena_bytes > 16 * TS_ARENA_MIN_BYTES)
		sizes->arena_bytes = ts_align_up(sizes->arena_bytes / 2, TS_CONTROL_BYTES);
	else if (sizes->n_shards > 8)
		sizes->n_shards /= 2;
	else if (sizes->ring_bytes > TS_RING_MIN_BYTES)
		sizes->ring_bytes /= 2;
	else if (sizes->arena_bytes > TS_ARENA_MIN_BYTES)
		sizes->arena_bytes = TS_ARENA_MIN_BYTES;
	else
		return false;
	return true;
}

/*
 * Maps the page of the memfd with the 4096 bytes at `off`. Returns the address of these bytes, or
 * NULL.
 */
static void *map_page(int fd, uint64_t off)
{
	const uint64_t n_page = (uint64_t)sysconf(_SC_PAGESIZE), start = off - off % n_page;
	uint8_t *page = mmap(NULL, n_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)start);
	int error;

	if (page == MAP_FAILED)
		return NULL;
	/* A forked child must not become a second producer. */
	if (madvise(page, n_page, MADV_DONTFORK) < 0) {
		error = errno;
		munmap(page, n_page);
		errno = error;
		return NULL;
	}
	/* Core dumps of the application must not contain the rings, which are mostly zeroes. */
	(void)madvise(page, n_page, MADV_DONTDUMP);
	ts_unlocked_release(page, n_page);
	return page + (off - start);
}

static void unmap_page(void *at)
{
	const uintptr_t n_page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (at)
		munmap((uint8_t *)at - (uintptr_t)at % n_page, n_page);
}

static int map_session(const struct ts_control *layout, int *ret_fd,
		       struct ts_session_memory *ret_memory)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	struct ts_session_memory memory = {0};
	ts_cleanup(ts_closep) int fd = -1;
	int error;

	fd = memfd_create("tracesmith-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)layout->total_bytes) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)
		return -errno;
	memory.control = map_page(fd, 0);
	if (memory.control)
		memory.arena = map_page(fd, layout->arena_off);
	if (memory.arena && layout->lane_bytes)
		memory.lane = map_page(fd, layout->lane_off);
	if (!memory.arena || (layout->lane_bytes && !memory.lane)) {
		error = -errno;
		unmap_page(memory.arena);
		unmap_page(memory.control);
		return error;
	}
	memcpy(memory.control, layout, sizeof(*layout));
	*ret_fd = ts_take_fd(&fd);
	*ret_memory = memory;
	return 0;
}

static void identify(struct ts_control *control, const struct ts_session_options *options)
{
	struct ts_clock_pair pair;

	control->host_clock = (uint32_t)ts_session_host_clock();
	pair = ts_clock_pair_take((enum ts_clock)control->host_clock);
	control->start_ticks = pair.ticks;
	control->start_monotonic_ns = pair.monotonic_ns;
	control->start_error_ns = pair.error_ns;
	pair = ts_clock_pair_take(TS_CLOCK_REALTIME);
	/* Move the realtime value to the monotonic instant of the first pair. */
	control->start_realtime_ns = pair.ticks - (pair.monotonic_ns - control->start_monotonic_ns);
	/* Without entropy at early boot, the id is at least specific to this process. */
	if (getrandom(control->session_id, sizeof(control->session_id), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(control->session_id)) {
		uint64_t id[2] = {control->start_realtime_ns, (uint64_t)getpid()};

		memcpy(control->session_id, id, sizeof(id));
	}
	control->pid = (uint32_t)getpid();
	control->parent_session_pid = options->parent_session_pid;
	snprintf(control->program, sizeof(control->program), "%s", options->program);
	control->job = options->job;
	control->state = TS_SESSION_STARTING;
	control->command = options->command;
}

int ts_session_new(const struct ts_session_options *options, int *ret_fd,
		   struct ts_session_memory *ret_memory)
{
	struct ts_session_options sizes = *options;
	struct ts_control layout;
	const uint64_t most = most_bytes();
	int r;

	do {
		memset(&layout, 0, sizeof(layout));
		r = ts_control_layout(&layout, sizes.n_shards, sizes.ring_bytes, sizes.arena_bytes);
		if (!r && sizes.lane_bytes)
			r = ts_control_add_lane(&layout, sizes.lane_bytes);
		if (!r && layout.total_bytes > most)
			r = -ENOMEM;
		if (!r) {
			identify(&layout, options);
			r = map_session(&layout, ret_fd, ret_memory);
		}
	} while (r && shrink(&sizes));
	return r;
}

void ts_session_refuse(struct ts_control *control, enum ts_empty_reason reason, const char *text)
{
	uint32_t none = TS_EMPTY_NONE;

	/* The thread that first changes `state` writes reason_text, once. */
	none = __atomic_exchange_n(&control->state, TS_SESSION_REFUSED, __ATOMIC_ACQ_REL);
	if (none == TS_SESSION_REFUSED)
		return;
	snprintf(control->reason_text, sizeof(control->reason_text), "%s", text);
	/* Release pairs with the daemon's acquire: the text is complete. */
	__atomic_store_n(&control->reason, (uint32_t)reason, __ATOMIC_RELEASE);
}

void ts_session_wait_for_cupti(struct ts_control *control, const char *text)
{
	__atomic_store_n(&control->state, TS_SESSION_YIELDED, __ATOMIC_RELEASE);
	snprintf(control->reason_text, sizeof(control->reason_text), "%s", text);
	/* Release pairs with the daemon's acquire: the text is complete. */
	__atomic_store_n(&control->reason, TS_EMPTY_CUPTI_HELD, __ATOMIC_RELEASE);
}

void ts_session_has_cupti(struct ts_control *control)
{
	/* reason_text stays, because the daemon may be reading it. */
	__atomic_store_n(&control->reason, TS_EMPTY_NONE, __ATOMIC_RELEASE);
}
