/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer for tests: a session's memory in the shim's layout, written with ring.h, and a daemon
 * that receives it. Not thread-safe. A failure ends the test through a check; no function returns
 * an error.
 */
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "proto/abi/handshake.h"
#include "proto/abi/ring.h"

struct producer {
	int memfd;
	uint8_t *base;
	struct ts_control *control;
	uint64_t n_bytes;
	uint64_t arena_at;
	uint32_t n_defs[TS_DEF_COUNT];
	struct ts_ring_producer rings[8];
};

#define PRODUCER_RING_BYTES  (1024u * 1024)
#define PRODUCER_ARENA_BYTES (1024u * 1024)
#define PRODUCER_SEALS	     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static inline struct ts_shard *producer_shard(struct producer *p, uint32_t i)
{
	return (struct ts_shard *)(p->base + p->control->shards_off + i * p->control->shard_stride);
}

static inline void producer_init_arena(struct producer *p, uint32_t n_shards, bool sealed,
				       uint64_t arena_bytes)
{
	struct ts_control layout = {0};
	struct ts_clock_pair start = ts_clock_pair_take(TS_CLOCK_MONOTONIC);

	*p = (struct producer){.memfd = memfd_create("session", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	ts_check(p->memfd >= 0);
	ts_check_int(ts_control_layout(&layout, n_shards, PRODUCER_RING_BYTES, arena_bytes), 0);
	layout.host_clock = TS_CLOCK_HAVE_TSC ? TS_CLOCK_TSC : TS_CLOCK_MONOTONIC;
	start = ts_clock_pair_take((enum ts_clock)layout.host_clock);
	layout.pid = (uint32_t)getpid();
	layout.start_ticks = start.ticks;
	layout.start_monotonic_ns = start.monotonic_ns;
	layout.start_error_ns = start.error_ns;
	layout.start_realtime_ns = ts_clock_realtime_ns();
	layout.state = TS_SESSION_RECORDING;
	layout.vendor_version = 130000;
	layout.driver_version = 13000;
	strcpy(layout.program, "producer");
	memset(layout.session_id, 0x5a, sizeof(layout.session_id));
	p->n_bytes = layout.total_bytes;
	ts_check_int(ftruncate(p->memfd, (off_t)p->n_bytes), 0);
	p->base = mmap(NULL, p->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->memfd, 0);
	ts_check(p->base != MAP_FAILED);
	memcpy(p->base, &layout, sizeof(layout));
	p->control = (struct ts_control *)p->base;
	if (sealed)
		ts_check_int(fcntl(p->memfd, F_ADD_SEALS, PRODUCER_SEALS), 0);
}

static inline void producer_init(struct producer *p, uint32_t n_shards, bool sealed)
{
	producer_init_arena(p, n_shards, sealed, PRODUCER_ARENA_BYTES);
}

static inline void producer_deinit(struct producer *p)
{
	munmap(p->base, p->n_bytes);
	close(p->memfd);
}

/*
 * Adds a definition of n_bytes, header included. The caller fills the header fields except the
 * length.
 */
static inline uint32_t producer_define(struct producer *p, uint16_t type, void *definition,
				       size_t n_bytes, const void *tail, size_t n_tail)
{
	struct ts_arena *arena = (struct ts_arena *)(p->base + p->control->arena_off);
	uint8_t *at = (uint8_t *)(arena + 1) + p->arena_at;
	struct ts_definition *header = definition;
	uint64_t n = ts_align_up(n_bytes + n_tail, 8);

	ts_check(p->arena_at + n <= p->control->arena_bytes);
	header->n_words = (uint32_t)(n / 8);
	header->type = type;
	header->id = ++p->n_defs[type];
	memcpy(at, definition, n_bytes);
	memcpy(at + n_bytes, tail, n_tail);
	p->arena_at += n;
	__atomic_store_n(&arena->published, p->arena_at, __ATOMIC_RELEASE);
	return header->id;
}

static inline uint32_t producer_string(struct producer *p, const char *text)
{
	struct ts_definition definition = {.n = (uint32_t)strlen(text)};

	return producer_define(p, TS_DEF_STRING, &definition, sizeof(definition), text,
			       strlen(text));
}

static inline uint32_t producer_stack(struct producer *p, const uint64_t *frames, uint32_t n)
{
	struct ts_definition definition = {.n = n};

	return producer_define(p, TS_DEF_STACK, &definition, sizeof(definition), frames,
			       n * sizeof(*frames));
}

/* Claims shard i for thread `tid`. */
static inline void producer_claim(struct producer *p, uint32_t i, uint32_t tid, const char *name)
{
	struct ts_definition_thread thread = {
		.tid = tid,
		.name = producer_string(p, name),
		.time = ts_clock_ticks((enum ts_clock)p->control->host_clock),
	};
	struct ts_shard *shard = producer_shard(p, i);

	shard->thread = producer_define(p, TS_DEF_THREAD, &thread, sizeof(thread), "", 0);
	shard->state = TS_SHARD_OWNED;
	ts_ring_producer_init(&p->rings[i], shard, p->control->ring_bytes);
	if (p->control->n_claimed <= i)
		__atomic_store_n(&p->control->n_claimed, i + 1, __ATOMIC_RELEASE);
}

/* Waits for space, like --lossless. */
static inline void producer_put(struct producer *p, uint32_t i, const void *record,
				uint32_t n_bytes)
{
	struct ts_ring_producer *ring = &p->rings[i];
	void *to;

	while (!(to = ts_ring_reserve(ring, n_bytes)))
		usleep(200);
	memcpy(to, record, n_bytes);
	ts_ring_commit(ring, n_bytes);
	if (ts_ring_past_watermark(ring) &&
	    __atomic_load_n(&p->control->sleeping, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&p->control->sleeping, 0, __ATOMIC_RELAXED)) {
		__atomic_add_fetch(&p->control->doorbell, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &p->control->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

#define PRODUCER_HEADER(type_, record_type, clock_, time_)                          \
	{                                                                           \
		.n_words = sizeof(type_) / 8, .n_fixed_words = sizeof(type_) / 8,   \
		.clock = (uint8_t)(clock_), .type = (record_type), .time = (time_), \
	}

/* Puts an API call into shard 0, and its kernel into shard 1. */
static inline void producer_launch(struct producer *p, uint64_t op_id, uint32_t stack,
				   uint32_t kernel)
{
	uint64_t now = ts_clock_ticks((enum ts_clock)p->control->host_clock);
	struct ts_record_api api = {
		.record = PRODUCER_HEADER(struct ts_record_api, TS_RECORD_API,
					  p->control->host_clock, now),
		.end = now + 100,
		.op_id = op_id,
		.stack = stack,
		.domain = TS_API_CUDA_RUNTIME,
		.cbid = 211,
	};
	struct ts_record_kernel row = {
		.record = PRODUCER_HEADER(struct ts_record_kernel, TS_RECORD_KERNEL,
					  TS_CLOCK_MONOTONIC, ts_clock_monotonic_ns()),
		.op_id = op_id,
		.place = {.device = 0, .context = 1, .stream = 7},
		.name = kernel,
		.grid = {1, 2, 3},
		.block = {64, 1, 1},
	};

	api.record.flags = TS_API_EXPECTS_DEVICE;
	row.end = row.record.time + 1000;
	producer_put(p, 0, &api, sizeof(api));
	producer_put(p, 1, &row, sizeof(row));
}

/* ---- the handshake ---- */

static inline void producer_send(int fd, const void *packet, size_t n_bytes, int with_fd)
{
	struct iovec iov = {(void *)(uintptr_t)packet, n_bytes};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (with_fd >= 0) {
		struct cmsghdr *header;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &with_fd, sizeof(int));
	}
	/*
	 * A daemon that refused the connection may have closed it already. Its reason can still be
	 * read.
	 */
	if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)n_bytes)
		ts_check(errno == EPIPE || errno == ECONNRESET);
}

static inline void producer_hello(int fd, int memfd)
{
	struct ts_handshake_hello hello = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
		.major = TS_ABI_MAJOR,
		.minor = TS_ABI_MINOR,
	};

	producer_send(fd, &hello, sizeof(hello), memfd);
}

static inline void producer_say(int fd, enum ts_handshake_type type)
{
	struct ts_handshake packet = {TS_HANDSHAKE_MAGIC, (uint16_t)type, sizeof(packet)};

	producer_send(fd, &packet, sizeof(packet), -1);
}

/* Returns the type of the next packet; 0: the daemon closed the connection. */
static inline uint16_t producer_hear(int fd, struct ts_handshake_reason *ret_packet)
{
	struct ts_handshake_reason packet = {0};
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	ssize_t n;

	ts_check_int(poll(&poll_fd, 1, 100000), 1);
	n = recv(fd, &packet, sizeof(packet), 0);
	if (ret_packet)
		*ret_packet = packet;
	return n < (ssize_t)sizeof(packet.header) ? 0 : packet.header.type;
}

/* ---- daemons ---- */

/* Uid of a service that runs under the unit. */
#define DAEMON_UNIT_UID 65010u

/*
 * True if services run as their unit's user, with its rights and confinement. $TS_UNIT is the unit
 * file, and $TS_UNIT_LAUNCHER is the program that starts them (test/integration/unit.py). Otherwise
 * services run as the test does.
 */
static inline bool daemon_in_unit(void)
{
	return getenv("TS_UNIT") && getenv("TS_UNIT_LAUNCHER");
}

/* Never returns. */
static inline void daemon_exec_in_unit(const char *path, char *const *arguments,
				       const char *directory)
{
	const char *argv[32] = {"python3", getenv("TS_UNIT_LAUNCHER"), "--write",
				directory, getenv("TS_UNIT"),	       path};
	size_t n = 6;

	while (*++arguments && n + 1 < TS_ARRAY_LEN(argv))
		argv[n++] = *arguments;
	execvp(argv[0], (char **)(uintptr_t)argv);
	_exit(127);
}

/* RLIMIT_NOFILE of the daemons that the test starts; 0: the test's own limit. */
static rlim_t daemon_max_fds __attribute__((unused));

static inline pid_t daemon_spawn(char *const *arguments, int fd)
{
	const struct rlimit limit = {daemon_max_fds, daemon_max_fds};
	const char *path = getenv("TRACESMITHD");
	pid_t pid;

	if (!path)
		ts_skip("TRACESMITHD does not name the daemon");
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		/* A test that fails leaves no daemon running. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (daemon_max_fds)
			setrlimit(RLIMIT_NOFILE, &limit);
		if (fd >= 0 && fd != 3) {
			dup2(fd, 3);
			close(fd);
		} else if (fd == 3) {
			fcntl(3, F_SETFD, 0);
		}
		execv(path, arguments);
		_exit(127);
	}
	return pid;
}

static inline int daemon_wait(pid_t pid)
{
	int status;

	ts_check_int(waitpid(pid, &status, 0), pid);
	return status;
}

/* Makes a directory for the test; directory_remove() removes it. */
static inline void directory_make(char *path, size_t n_bytes)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, n_bytes, "%s/ts-test-XXXXXX", tmp && strlen(tmp) < 60 ? tmp : "/tmp");
	ts_check(mkdtemp(path) != NULL);
}

static inline void directory_empty(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (!unlinkat(dirfd(dir), entry->d_name, 0) || errno != EISDIR)
			continue;
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
}

/* Removes the directory, its subdirectories (a service has one for each user) and their files. */
static inline void directory_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	ts_check(dir != NULL);
	while ((entry = readdir(dir))) {
		int fd = openat(dirfd(dir), entry->d_name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		DIR *inner = fd < 0 || entry->d_name[0] == '.' ? NULL : fdopendir(fd);

		if (inner) {
			directory_empty(inner);
			closedir(inner);
		} else if (fd >= 0) {
			close(fd);
		}
	}
	rewinddir(dir);
	directory_empty(dir);
	closedir(dir);
	rmdir(path);
}

/* Connects to a socket; waits until a daemon has made it. */
static inline int socket_connect(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	ts_check(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	for (int i = 0; i < 10000; i++) {
		int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

		ts_check(fd >= 0);
		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return fd;
		close(fd);
		usleep(10000);
	}
	ts_check(!"no daemon listens");
	return -1;
}
