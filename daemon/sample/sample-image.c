/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the code that another process maps. remote-unwind.c asks for rules, remote-python.c for
 * symbols. For each mapping of code, this module maps the whole file read-only while the process
 * maps it. code-file.c reads the file's contents.
 */
#include "daemon/sample/sample-image.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/sample/code-file.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

#define REFRESH_NS UINT64_C(100000000)
#define PATH_BYTES 4096u

struct mapping {
	uint64_t start, end;
	uint64_t bias; /* address in the process minus the file's own address */
	uint64_t device, inode, off;
	char *path;
	struct ts_code_file file; /* bytes NULL: the file could not be read */
	bool is_mapped;		  /* this process maps `file` */
};

struct ts_images {
	pid_t pid;
	struct mapping *mappings; /* by address */
	size_t n_mappings;
	uint64_t generation, looked_ns;
};

/* ---- files ---- */

static void close_file(struct mapping *mapping)
{
	if (mapping->is_mapped)
		munmap((void *)(uintptr_t)mapping->file.bytes, mapping->file.n_bytes);
	mapping->file = (struct ts_code_file){0};
	mapping->is_mapped = false;
}

static void read_file(struct mapping *mapping, pid_t pid)
{
	char name[PATH_BYTES + 32];
	ts_cleanup(ts_closep) int fd = -1;
	struct stat status;
	void *bytes;

	snprintf(name, sizeof(name), "/proc/%d/root%s", pid, mapping->path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	mapping->file.bytes = bytes;
	mapping->file.n_bytes = (size_t)status.st_size;
	mapping->is_mapped = true;
}

static void open_mapping(struct mapping *mapping, pid_t pid)
{
	uint64_t own = 0;

	if (!strcmp(mapping->path, "[vdso]")) {
		mapping->file.bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
		mapping->file.n_bytes = mapping->file.bytes ? mapping->end - mapping->start : 0;
	} else if (*mapping->path == '/') {
		read_file(mapping, pid);
	}
	if (!mapping->file.bytes)
		return;
	if (ts_code_file_look(&mapping->file, mapping->off, &own))
		mapping->bias = mapping->start - own;
	else
		close_file(mapping);
}

/* ---- /proc/PID/maps ---- */

static void mapping_deinit(struct mapping *mapping)
{
	close_file(mapping);
	free(mapping->path);
}

/* Parses a line of maps. False: the mapping is not code. */
static bool parse(const char *line, struct mapping *ret_mapping, const char **ret_path)
{
	unsigned long start, end, off, inode;
	unsigned major, minor;
	char rights[5];
	int n = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, rights, &off, &major, &minor,
		   &inode, &n) < 7 ||
	    rights[2] != 'x' || !n)
		return false;
	*ret_mapping = (struct mapping){.start = start,
					.end = end,
					.off = off,
					.device = (uint64_t)major << 32 | minor,
					.inode = inode};
	*ret_path = line + n;
	return true;
}

/* Moves a known mapping of the same place and file into the new list. */
static bool take_known(struct ts_images *images, struct mapping *mapping)
{
	for (size_t i = 0; i < images->n_mappings; i++) {
		struct mapping *known = &images->mappings[i];

		if (known->path && known->start == mapping->start && known->end == mapping->end &&
		    known->off == mapping->off && known->device == mapping->device &&
		    known->inode == mapping->inode && !strcmp(known->path, mapping->path)) {
			free(mapping->path);
			*mapping = *known;
			*known = (struct mapping){0};
			return true;
		}
	}
	return false;
}

static void look(struct ts_images *images)
{
	struct mapping *mappings = calloc(TS_IMAGES_MAX, sizeof(*mappings));
	size_t n = 0, n_allocated = 0;
	bool changed = false;
	char path[64], *line = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", images->pid);
	file = mappings ? fopen(path, "re") : NULL;
	while (file && n < TS_IMAGES_MAX && getline(&line, &n_allocated, file) > 0) {
		struct mapping *mapping = &mappings[n];
		const char *name;

		line[strcspn(line, "\n")] = '\0';
		if (!parse(line, mapping, &name) || strlen(name) >= PATH_BYTES)
			continue;
		mapping->path = strdup(name);
		if (!mapping->path)
			break;
		if (!take_known(images, mapping)) {
			open_mapping(mapping, images->pid);
			changed = true;
		}
		n++;
	}
	free(line);
	if (!file || !n) {
		/* The process has ended. Keep the known mappings: they explain its last samples. */
		free(mappings);
		if (file)
			fclose(file);
		return;
	}
	fclose(file);
	for (size_t i = 0; i < images->n_mappings; i++) {
		changed |= images->mappings[i].path != NULL;
		mapping_deinit(&images->mappings[i]);
	}
	free(images->mappings);
	images->mappings = mappings;
	images->n_mappings = n;
	images->generation += changed;
}

void ts_images_refresh(struct ts_images *images)
{
	look(images);
	images->looked_ns = ts_clock_monotonic_ns();
}

int ts_images_new(pid_t pid, struct ts_images **ret_images)
{
	struct ts_images *images = calloc(1, sizeof(*images));

	if (!images)
		return ts_error_origin(-ENOMEM);
	images->pid = pid;
	ts_images_refresh(images);
	*ret_images = images;
	return 0;
}

void ts_images_free(struct ts_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->n_mappings; i++)
		mapping_deinit(&images->mappings[i]);
	free(images->mappings);
	free(images);
}

uint64_t ts_images_generation(const struct ts_images *images)
{
	return images->generation;
}

/* ---- queries -------------------------------------------------------------------------------- */

static const struct mapping *find(const struct ts_images *images, uint64_t address)
{
	size_t low = 0, high = images->n_mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (images->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < images->n_mappings && images->mappings[low].start <= address
		       ? &images->mappings[low]
		       : NULL;
}

bool ts_images_is_code(const struct ts_images *images, uint64_t address)
{
	return find(images, address) != NULL;
}

struct ts_cfi_rule ts_images_rule(struct ts_images *images, uint64_t address, bool is_return)
{
	const struct mapping *mapping = find(images, address - is_return);

	if (!mapping && ts_clock_monotonic_ns() - images->looked_ns > REFRESH_NS) {
		ts_images_refresh(images);
		mapping = find(images, address - is_return);
	}
	if (!mapping)
		return (struct ts_cfi_rule){.kind = TS_CFI_UNKNOWN};
	return ts_code_file_rule(&mapping->file, address - is_return - mapping->bias);
}

bool ts_images_is_sigreturn(struct ts_images *images, uint64_t address)
{
	/* mov $__NR_rt_sigreturn, %rax; syscall */
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	const struct mapping *mapping = find(images, address);

	return mapping && ts_code_file_has(&mapping->file, address - mapping->start + mapping->off,
					   code, sizeof(code));
}

bool ts_images_symbol(struct ts_images *images, const char *in_path, const char *symbol,
		      uint64_t *ret_address, uint64_t *ret_bytes, const char **ret_path)
{
	for (size_t i = 0; i < images->n_mappings; i++) {
		const struct mapping *mapping = &images->mappings[i];
		const char *name = strrchr(mapping->path, '/');
		uint64_t own;

		if (!mapping->file.bytes || !name || !strstr(name, in_path))
			continue;
		if (!ts_code_file_symbol(&mapping->file, symbol, &own, ret_bytes))
			continue;
		*ret_address = mapping->bias + own;
		*ret_path = mapping->path;
		return true;
	}
	return false;
}
