/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports which processes map a vendor's library for execution. serve/system/probed.c watches new
 * mappings; serve/system/inspector.c reads the mappings of one process.
 *
 * Each CPU has a perf event that counts nothing, but makes the kernel write a record for each
 * executable mapping. The records lie in memory that the kernel shares with this process.
 * linux/perf_event.h specifies the order of reads and writes.
 */
#include "daemon/bpf/mappings.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "daemon/bpf/call-functions.h"
#include "daemon/util/daemon-error.h"

#define DATA_PAGES 16u /* per CPU; a power of two */
#define MAX_RECORD 65536u

struct cpu {
	int fd;
	struct perf_event_mmap_page *pages;
};

struct ts_mappings {
	struct cpu *cpus;
	size_t n_cpus;
	size_t page_bytes;
	int epoll_fd;
	uint8_t record[MAX_RECORD] __attribute__((aligned(8)));
};

/* PERF_RECORD_MMAP2; linux/perf_event.h describes it only in a comment. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, n_bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

static int open_cpu(struct ts_mappings *mappings, int number)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct cpu *cpu = &mappings->cpus[mappings->n_cpus];
	struct epoll_event event = {.events = EPOLLIN};
	int r;

	cpu->fd = (int)syscall(SYS_perf_event_open, &attributes, -1, number, -1,
			       PERF_FLAG_FD_CLOEXEC);
	/* -ENODEV: this CPU is offline. */
	if (cpu->fd < 0)
		return errno == ENODEV ? 0 : -errno;
	cpu->pages = mmap(NULL, (1 + DATA_PAGES) * mappings->page_bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED, cpu->fd, 0);
	if (cpu->pages == MAP_FAILED) {
		r = -errno;
		close(cpu->fd);
		return r;
	}
	mappings->n_cpus++;
	return epoll_ctl(mappings->epoll_fd, EPOLL_CTL_ADD, cpu->fd, &event) < 0 ? -errno : 0;
}

int ts_mappings_new(struct ts_mappings **ret_mappings)
{
	struct ts_mappings *mappings = calloc(1, sizeof(*mappings));
	long n = sysconf(_SC_NPROCESSORS_CONF);
	int r = 0;

	if (!mappings)
		return ts_error_origin(-ENOMEM);
	mappings->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	mappings->cpus = calloc((size_t)(n > 0 ? n : 1), sizeof(*mappings->cpus));
	mappings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!mappings->cpus || mappings->epoll_fd < 0)
		r = mappings->cpus ? -errno : -ENOMEM;
	for (int i = 0; i < n && !r; i++)
		r = open_cpu(mappings, i);
	if (r) {
		ts_mappings_free(mappings);
		return ts_error_origin(r);
	}
	*ret_mappings = mappings;
	return 0;
}

void ts_mappings_free(struct ts_mappings *mappings)
{
	if (!mappings)
		return;
	for (size_t i = 0; i < mappings->n_cpus; i++) {
		munmap(mappings->cpus[i].pages, (1 + DATA_PAGES) * mappings->page_bytes);
		close(mappings->cpus[i].fd);
	}
	ts_closep(&mappings->epoll_fd);
	free(mappings->cpus);
	free(mappings);
}

int ts_mappings_fd(const struct ts_mappings *mappings)
{
	return mappings->epoll_fd;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take_record(const uint8_t *bytes, size_t n, ts_mapping_found *found, void *data)
{
	/* `bytes` is aligned: the caller passes mappings->record, which is aligned. */
	const struct mmap2 *record = (const void *)bytes;
	struct ts_mapping mapping;

	if (record->header.type != PERF_RECORD_MMAP2 || n <= sizeof(*record) ||
	    !memchr(record->path, 0, n - sizeof(*record)) || record->path[0] != '/')
		return;
	mapping = (struct ts_mapping){.pid = (pid_t)record->pid,
				      .path = record->path,
				      .device = makedev(record->major, record->minor),
				      .inode = record->inode};
	if (ts_call_is_library(last_part(record->path)))
		found(data, &mapping);
}

/*
 * Copies a record out of the ring. A record may begin at the end of the ring and continue at its
 * start.
 */
static void copy_out(const struct ts_mappings *mappings, const struct cpu *cpu, uint64_t at,
		     uint8_t *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)cpu->pages + mappings->page_bytes;
	size_t size = DATA_PAGES * mappings->page_bytes, from = at & (size - 1);
	size_t first = size - from < n ? size - from : n;

	memcpy(to, data + from, first);
	memcpy(to + first, data, n - first);
}

static bool take_cpu(struct ts_mappings *mappings, const struct cpu *cpu, ts_mapping_found *found,
		     void *data)
{
	/* Pairs with the kernel's barrier between the data and data_head. */
	uint64_t head = __atomic_load_n(&cpu->pages->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = cpu->pages->data_tail;
	bool whole = true;

	while (head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		copy_out(mappings, cpu, tail, (uint8_t *)&header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		copy_out(mappings, cpu, tail, mappings->record, header.size);
		whole = whole && header.type != PERF_RECORD_LOST;
		take_record(mappings->record, header.size, found, data);
		tail += header.size;
	}
	/*
	 * Pairs with the kernel's read of data_tail: the data is read before the kernel may
	 * overwrite it.
	 */
	__atomic_store_n(&cpu->pages->data_tail, head, __ATOMIC_RELEASE);
	return whole;
}

bool ts_mappings_take(struct ts_mappings *mappings, ts_mapping_found *found, void *data)
{
	bool whole = true;

	for (size_t i = 0; i < mappings->n_cpus; i++)
		whole = take_cpu(mappings, &mappings->cpus[i], found, data) && whole;
	return whole;
}

/* ---- /proc ---- */

void ts_mappings_of(pid_t pid, ts_mapping_found *found, void *data)
{
	char name[32], line[PATH_MAX + 128];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct ts_mapping mapping = {.pid = pid, .path = strchr(line, '/')};
		unsigned int major, minor;
		char rights[5];

		if (!mapping.path ||
		    sscanf(line, "%*s %4s %*s %x:%x %" SCNu64, rights, &major, &minor,
			   &mapping.inode) != 4 ||
		    strcmp(rights + 1, "-xp"))
			continue;
		line[strcspn(line, "\n")] = '\0';
		mapping.device = makedev(major, minor);
		if (ts_call_is_library(last_part(mapping.path)))
			found(data, &mapping);
	}
	if (file)
		fclose(file);
}

int ts_mappings_has(pid_t pid, const char *name)
{
	char path[32], line[PATH_MAX + 128];
	/* A zombie process has no mapping. */
	int r = -ESRCH;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (r <= 0 && fgets(line, sizeof(line), file))
		r = strstr(line, name) != NULL;
	fclose(file);
	return r;
}
