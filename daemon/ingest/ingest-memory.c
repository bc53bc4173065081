/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and maps the memfd of a peer's session. serve/loop/peers.c calls this module, and this
 * module calls util/guard.c. check_file() refuses, with a reason, a file that could kill the daemon
 * later: if a file shrinks, its mapping raises SIGBUS. The guard catches the remaining causes of
 * SIGBUS. check_file() also refuses files that cost the daemon memory or time (huge pages, a file
 * on a disk). A layout is refused if its parts overlap or leave the file.
 */
#include "daemon/ingest/ingest-memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "proto/abi/utf8.h"

#ifndef HUGETLBFS_MAGIC
#define HUGETLBFS_MAGIC 0x958458f6
#endif

#define MEMORY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int check_file(int fd, uint64_t max_bytes, uint64_t *ret_bytes, const char **ret_why)
{
	struct statfs filesystem;
	struct stat status;
	/*
	 * Check for a memory file first, by its seals: only memory files have seals, and the kernel
	 * answers without asking a file system. On another file even fstat() may wait for a peer's
	 * process (FUSE).
	 */
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0) {
		*ret_why = "the session memory is not a memfd";
		return -EINVAL;
	}
	if (fstat(fd, &status) < 0 || fstatfs(fd, &filesystem) < 0) {
		*ret_why = "the descriptor of the session memory cannot be examined";
		return -EBADF;
	}
	if ((uint32_t)filesystem.f_type == HUGETLBFS_MAGIC) {
		*ret_why = "the session memory is a memfd of huge pages";
		return -EINVAL;
	}
	if ((uint32_t)filesystem.f_type != TMPFS_MAGIC) {
		*ret_why = "the session memory is a file, not a memfd";
		return -EINVAL;
	}
	if ((seals & MEMORY_SEALS) != MEMORY_SEALS) {
		*ret_why = "the session memory is not sealed against shrinking and growing";
		return -EPERM;
	}
	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) {
		*ret_why = "the session memory is sealed against writing and cannot be mapped";
		return -EPERM;
	}
	if (status.st_size < 0 || (uint64_t)status.st_size > max_bytes) {
		*ret_why = "the session memory is larger than its limit (see --max-session-bytes)";
		return -EFBIG;
	}
	if ((uint64_t)status.st_size < TS_CONTROL_BYTES) {
		*ret_why = "the session memory is too small for a control page";
		return -EINVAL;
	}
	*ret_bytes = (uint64_t)status.st_size;
	return 0;
}

static int check_layout(const struct ts_control *control, uint64_t n_bytes, const char **ret_why)
{
	uint64_t shards_bytes, end;

	if (control->magic != TS_SESSION_MAGIC) {
		*ret_why = "the session memory has no control page";
		return -EINVAL;
	}
	if (control->major != TS_ABI_MAJOR) {
		*ret_why = "the session memory has another major version of the layout";
		return -EPROTONOSUPPORT;
	}
	if (control->control_bytes != TS_CONTROL_BYTES || control->total_bytes != n_bytes) {
		*ret_why = "the sizes in the control page differ from those of the session memory";
		return -EINVAL;
	}
	if (control->n_shards < 1 || control->n_shards > TS_SESSION_MAX_SHARDS ||
	    !ts_is_power_of_two(control->ring_bytes) || control->ring_bytes < TS_RING_MIN_BYTES ||
	    control->ring_bytes > TS_RING_MAX_BYTES || control->arena_bytes < TS_ARENA_MIN_BYTES ||
	    control->arena_bytes > TS_ARENA_MAX_BYTES || control->arena_bytes % TS_CONTROL_BYTES) {
		*ret_why = "the sizes of shards, rings or arena are outside their limits";
		return -EINVAL;
	}
	/* Within these limits only the offsets can make the products and sums below overflow. */
	if (control->shards_off % TS_CONTROL_BYTES || control->arena_off % TS_CONTROL_BYTES ||
	    control->shards_off < TS_CONTROL_BYTES || control->shards_off > n_bytes ||
	    control->arena_off > n_bytes ||
	    control->shard_stride != sizeof(struct ts_shard) + control->ring_bytes) {
		*ret_why = "the offset of the shards or the arena is invalid";
		return -EINVAL;
	}
	shards_bytes = control->n_shards * control->shard_stride;
	end = control->arena_off + sizeof(struct ts_arena) + control->arena_bytes;
	if (control->shards_off + shards_bytes > control->arena_off || end > n_bytes) {
		*ret_why = "shards and arena overlap or lie outside the session memory";
		return -EINVAL;
	}
	if (control->lane_bytes &&
	    (!ts_is_power_of_two(control->lane_bytes) || control->lane_bytes < TS_LANE_MIN_BYTES ||
	     control->lane_bytes > TS_LANE_MAX_BYTES || control->lane_off % TS_CONTROL_BYTES ||
	     control->lane_off < end || control->lane_off > n_bytes ||
	     n_bytes - control->lane_off < sizeof(struct ts_shard) + control->lane_bytes)) {
		*ret_why = "the offset or size of the capture lane is invalid";
		return -EINVAL;
	}
	if (control->host_clock != TS_CLOCK_MONOTONIC &&
	    !(TS_CLOCK_HAVE_TSC && control->host_clock == TS_CLOCK_TSC)) {
		*ret_why = "the host clock is unknown";
		return -EINVAL;
	}
	return 0;
}

/* Copies a peer's job. Earlier versions have zeros there. */
static void copy_job(const struct ts_job *from, struct ts_job *ret_job)
{
	*ret_job = (struct ts_job){.flags = from->flags & (TS_JOB_RANK | TS_JOB_LOCAL_RANK),
				   .n_ranks = from->n_ranks};
	memcpy(ret_job->id, from->id, sizeof(ret_job->id) - 1);
	ts_text_clean(ret_job->id);
	if (ret_job->flags & TS_JOB_RANK)
		ret_job->rank = from->rank;
	if (ret_job->flags & TS_JOB_LOCAL_RANK)
		ret_job->local_rank = from->local_rank;
}

int ts_memory_open(int fd, uint64_t max_bytes, struct ts_memory *ret_memory, const char **ret_why)
{
	struct ts_control layout;
	struct ts_memory memory;
	ts_cleanup(ts_closep) int own_fd = -1;
	struct ts_guard *guard;
	uint64_t n_bytes;
	void *base;
	int r;

	if (max_bytes > TS_SESSION_MAX_BYTES)
		max_bytes = TS_SESSION_MAX_BYTES;
	r = check_file(fd, max_bytes, &n_bytes, ret_why);
	if (r < 0)
		return r;
	/* The only read of the layout; the peer can still write it. */
	if (pread(fd, &layout, sizeof(layout), 0) != (ssize_t)sizeof(layout)) {
		*ret_why = "the control page cannot be read";
		return -EIO;
	}
	r = check_layout(&layout, n_bytes, ret_why);
	if (r < 0)
		return r;
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own_fd < 0) {
		*ret_why = "out of file descriptors";
		return -errno;
	}
	base = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		*ret_why = "the session memory cannot be mapped for reading and writing";
		return -errno;
	}
	/*
	 * If the daemon reads a hole, only one small page is allocated, whatever the system's
	 * setting is.
	 */
	(void)madvise(base, n_bytes, MADV_NOHUGEPAGE);
	r = ts_guard_new(base, n_bytes, &guard);
	if (r) {
		*ret_why = "out of memory";
		munmap(base, n_bytes);
		return r;
	}
	memory = (struct ts_memory){
		.base = base,
		.control = base,
		.guard = guard,
		.fd = ts_take_fd(&own_fd),
		.n_bytes = n_bytes,
		.shards_off = layout.shards_off,
		.shard_stride = layout.shard_stride,
		.ring_bytes = layout.ring_bytes,
		.arena_off = layout.arena_off,
		.arena_bytes = layout.arena_bytes,
		.lane_off = layout.lane_off,
		.lane_bytes = layout.lane_bytes,
		.n_shards = layout.n_shards,
		.host_clock = (enum ts_clock)layout.host_clock,
		.pid = layout.pid,
		.parent_session_pid = layout.parent_session_pid,
		.start = {layout.start_ticks, layout.start_monotonic_ns, layout.start_error_ns},
		.start_realtime_ns = layout.start_realtime_ns,
	};
	memcpy(memory.session_id, layout.session_id, sizeof(memory.session_id));
	memcpy(memory.program, layout.program, sizeof(memory.program) - 1);
	ts_text_clean(memory.program);
	copy_job(&layout.job, &memory.job);
	*ret_memory = memory;
	return 0;
}

void ts_memory_close(struct ts_memory *memory)
{
	if (memory->base) {
		ts_guard_free(memory->guard);
		munmap(memory->base, memory->n_bytes);
		close(memory->fd);
	}
	*memory = (struct ts_memory){0};
}
