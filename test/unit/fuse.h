/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A FUSE file system whose answers a test withholds. A child process serves it by the protocol of
 * linux/fuse.h; no library is needed. Each name in its folder is a regular file, and each file has
 * the same bytes:
 *
 *	struct fuse fuse;
 *
 *	fuse_mount(&fuse, bytes, n_bytes);             // skips the test if /dev/fuse cannot be used
 *	fuse_block(&fuse, FUSE_BIT(FUSE_FLUSH));       // close() of its files does not return
 *	snprintf(path, sizeof(path), "%s/any", fuse.path);
 *	...
 *	while (!fuse_waiting(&fuse, FUSE_FLUSH)) ...   // a process waits in close()
 *	fuse_unmount(&fuse);                           // withheld calls fail, and return
 *
 * fuse_mount_writeback() mounts it with FUSE_WRITEBACK_CACHE: written pages stay in the kernel, and
 * the last close() of a file, in any process, waits for FUSE_WRITE.
 *
 * SIGKILL does not end a process that waits for an answer; fuse_block() with 0 and fuse_unmount()
 * do. The calling process enters its own mount namespace, so the mount does not outlive the test.
 */
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "test/unit/harness.h"

#define FUSE_BIT(opcode_) (UINT64_C(1) << (opcode_))
#define FUSE_TEST_NAMES	  4096u
#define FUSE_TEST_BUFFER  (FUSE_MIN_READ_BUFFER + 128 * 1024)

/*
 * Shared by the test and the server. A test may change delay_us, uid, gid and open_flags at any
 * time.
 */
struct fuse_shared {
	uint64_t blocked;     /* FUSE_BIT() of operations that get no answer */
	uint32_t delay_us;    /* before each other answer */
	uint32_t waiting[64]; /* requests that are withheld now, by operation */
	uint32_t uid, gid;    /* of the files */
	uint32_t init_flags;  /* flags of FUSE_INIT's answer; set before the mount */
	uint32_t open_flags;  /* FOPEN_* of files opened from now on */
};

struct fuse {
	char path[64];
	pid_t server;
	struct fuse_shared *shared;
};

/* ---- the server ---- */

struct fuse_withheld {
	struct fuse_withheld *next;
	uint8_t request[];
};

struct fuse_server {
	int fd;
	struct fuse_shared *shared;
	const uint8_t *bytes;
	size_t n_bytes;
	char *names[FUSE_TEST_NAMES]; /* a file's node is 2 plus its index here */
	size_t n_names;
	struct fuse_withheld *withheld;
	uint8_t in[FUSE_TEST_BUFFER] __attribute__((aligned(8)));
};

static inline void fuse_answer(const struct fuse_server *server, uint64_t unique, int error,
			       const void *body, size_t n)
{
	static uint8_t out[FUSE_TEST_BUFFER];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + n),
		.error = error,
		.unique = unique,
	};

	memcpy(out, &header, sizeof(header));
	if (n)
		memcpy(out + sizeof(header), body, n);
	/* Fails if the caller was interrupted. */
	if (write(server->fd, out, sizeof(header) + n) < 0)
		return;
}

static inline struct fuse_attr fuse_attributes(const struct fuse_server *server, uint64_t node)
{
	bool is_root = node == FUSE_ROOT_ID;

	return (struct fuse_attr){
		.ino = node,
		.size = is_root ? 0 : server->n_bytes,
		.blocks = (server->n_bytes + 511) / 512,
		.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.uid = server->shared->uid,
		.gid = server->shared->gid,
		.blksize = 4096,
	};
}

static inline void fuse_answer_lookup(struct fuse_server *server, uint64_t unique, const char *name)
{
	struct fuse_entry_out entry = {0};
	size_t i = 0;

	while (i < server->n_names && strcmp(server->names[i], name))
		i++;
	if (i == FUSE_TEST_NAMES) {
		fuse_answer(server, unique, -ENOSPC, NULL, 0);
		return;
	}
	if (i == server->n_names) {
		server->names[server->n_names++] = strdup(name);
		assert(server->names[i]);
	}
	/* The kernel must not cache the answer: each call asks the server again. */
	entry.nodeid = i + 2;
	entry.attr = fuse_attributes(server, entry.nodeid);
	fuse_answer(server, unique, 0, &entry, sizeof(entry));
}

static inline void fuse_answer_read(const struct fuse_server *server, uint64_t unique,
				    const struct fuse_read_in *in)
{
	uint64_t n = in->offset < server->n_bytes ? server->n_bytes - in->offset : 0;

	if (n > in->size)
		n = in->size;
	fuse_answer(server, unique, 0, server->bytes + (n ? in->offset : 0), n);
}

static inline void fuse_answer_init(const struct fuse_server *server, uint64_t unique,
				    const struct fuse_init_in *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.flags = in->flags & server->shared->init_flags,
		.max_background = 64,
		.congestion_threshold = 64,
		.max_write = 4096,
	};

	fuse_answer(server, unique, 0, &out, sizeof(out));
}

static inline void fuse_serve_one(struct fuse_server *server, const struct fuse_in_header *header,
				  const void *body)
{
	struct fuse_attr_out attributes = {.attr = fuse_attributes(server, header->nodeid)};
	struct fuse_open_out opened = {.open_flags = server->shared->open_flags};
	struct fuse_statfs_out statfs = {.st = {.bsize = 4096, .namelen = 255, .frsize = 4096}};

	switch (header->opcode) {
	case FUSE_INIT:
		fuse_answer_init(server, header->unique, body);
		return;
	case FUSE_LOOKUP:
		fuse_answer_lookup(server, header->unique, body);
		return;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		fuse_answer(server, header->unique, 0, &attributes, sizeof(attributes));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		fuse_answer(server, header->unique, 0, &opened, sizeof(opened));
		return;
	case FUSE_WRITE:
		fuse_answer(server, header->unique, 0,
			    &(struct fuse_write_out){
				    .size = ((const struct fuse_write_in *)body)->size},
			    sizeof(struct fuse_write_out));
		return;
	case FUSE_READ:
		fuse_answer_read(server, header->unique, body);
		return;
	case FUSE_STATFS:
		fuse_answer(server, header->unique, 0, &statfs, sizeof(statfs));
		return;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
	case FUSE_FSYNC:
		fuse_answer(server, header->unique, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		fuse_answer(server, header->unique, -ENOSYS, NULL, 0);
	}
}

static inline bool fuse_is_blocked(const struct fuse_server *server, const void *request)
{
	const struct fuse_in_header *header = request;
	uint64_t blocked = __atomic_load_n(&server->shared->blocked, __ATOMIC_ACQUIRE);

	return header->opcode < 64 && (blocked & FUSE_BIT(header->opcode));
}

static inline void fuse_withhold(struct fuse_server *server, size_t n)
{
	struct fuse_withheld *withheld = malloc(sizeof(*withheld) + n);
	const struct fuse_in_header *header = (const void *)server->in;

	assert(withheld);
	withheld->next = server->withheld;
	memcpy(withheld->request, server->in, n);
	server->withheld = withheld;
	__atomic_add_fetch(&server->shared->waiting[header->opcode], 1, __ATOMIC_RELEASE);
}

/* Answers withheld requests that are no longer blocked. */
static inline void fuse_serve_withheld(struct fuse_server *server)
{
	for (struct fuse_withheld **p = &server->withheld, *withheld; (withheld = *p);) {
		const struct fuse_in_header *header = (const void *)withheld->request;

		if (fuse_is_blocked(server, header)) {
			p = &withheld->next;
			continue;
		}
		*p = withheld->next;
		fuse_serve_one(server, header, header + 1);
		__atomic_sub_fetch(&server->shared->waiting[header->opcode], 1, __ATOMIC_RELEASE);
		free(withheld);
	}
}

static inline void fuse_serve(struct fuse_server *server)
{
	const struct fuse_in_header *header = (const void *)server->in;
	struct pollfd poll_fd = {.fd = server->fd, .events = POLLIN};

	for (;;) {
		ssize_t n;

		fuse_serve_withheld(server);
		if (!poll(&poll_fd, 1, 10))
			continue;
		n = read(server->fd, server->in, sizeof(server->in));
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(*header))
			return; /* ENODEV: unmounted */
		if (fuse_is_blocked(server, header)) {
			fuse_withhold(server, (size_t)n);
			continue;
		}
		if (server->shared->delay_us)
			usleep(server->shared->delay_us);
		fuse_serve_one(server, header, header + 1);
	}
}

/* ---- functions for the test ---- */

/* Gives the process its own mount namespace, once. */
static inline void fuse_enter_namespace(void)
{
	static bool entered;

	if (entered)
		return;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		ts_skip("FUSE: no mount namespace: needs root");
	entered = true;
}

static inline void fuse_mount_with(struct fuse *fuse, const void *bytes, size_t n_bytes,
				   uint32_t init_flags)
{
	char options[128];
	int fd;

	*fuse = (struct fuse){.path = "/tmp/tracesmith-fuse-XXXXXX", .server = -1};
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		ts_skip("FUSE: no /dev/fuse to open");
	fuse_enter_namespace();
	fuse->shared = mmap(NULL, sizeof(*fuse->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(fuse->shared != MAP_FAILED);
	fuse->shared->init_flags = init_flags;
	ts_check(mkdtemp(fuse->path));
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("tracesmith-test", fuse->path, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		rmdir(fuse->path);
		ts_skip("FUSE: mount() is refused");
	}
	fuse->server = fork();
	assert(fuse->server >= 0);
	if (!fuse->server) {
		struct fuse_server *server = calloc(1, sizeof(*server));

		assert(server);
		/* A child does not inherit the test's time limit, but ends with the test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*server = (struct fuse_server){.fd = fd, .shared = fuse->shared, .bytes = bytes};
		server->n_bytes = n_bytes;
		fuse_serve(server);
		_exit(0);
	}
	close(fd);
}

/* Copies the bytes. Skips the test if a FUSE file system cannot be mounted. */
static inline void fuse_mount(struct fuse *fuse, const void *bytes, size_t n_bytes)
{
	fuse_mount_with(fuse, bytes, n_bytes, 0);
}

static inline void fuse_mount_writeback(struct fuse *fuse, const void *bytes, size_t n_bytes)
{
	fuse_mount_with(fuse, bytes, n_bytes, FUSE_WRITEBACK_CACHE);
}

/*
 * From now on withholds the answers of the operations in the mask. Withheld requests outside the
 * mask are answered.
 */
static inline void fuse_block(struct fuse *fuse, uint64_t blocked)
{
	__atomic_store_n(&fuse->shared->blocked, blocked, __ATOMIC_RELEASE);
}

/* Returns the number of calls that wait for an answer now. */
static inline uint32_t fuse_waiting(const struct fuse *fuse, unsigned opcode)
{
	return __atomic_load_n(&fuse->shared->waiting[opcode], __ATOMIC_ACQUIRE);
}

/* Waits until n calls wait for an answer. Returns false if that takes longer than `seconds`. */
static inline bool fuse_wait(const struct fuse *fuse, unsigned opcode, uint32_t n, unsigned seconds)
{
	for (unsigned i = 0; i < 100 * seconds && fuse_waiting(fuse, opcode) < n; i++)
		usleep(10000);
	return fuse_waiting(fuse, opcode) >= n;
}

/* Ends the server. Withheld calls fail with ECONNABORTED, later calls with ENOTCONN. */
static inline void fuse_abort(struct fuse *fuse)
{
	if (fuse->server < 0)
		return;
	kill(fuse->server, SIGKILL);
	while (waitpid(fuse->server, NULL, 0) < 0 && errno == EINTR)
		;
	fuse->server = -1;
}

static inline void fuse_unmount(struct fuse *fuse)
{
	fuse_abort(fuse);
	umount2(fuse->path, MNT_DETACH);
	rmdir(fuse->path);
	munmap(fuse->shared, sizeof(*fuse->shared));
}
