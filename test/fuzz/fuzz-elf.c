/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the worker's ELF reading (daemon/worker), with elfutils, in this process. The worker's
 * sandbox contains failures of elfutils itself; a failure in the project's code is a bug.
 */
#include <sys/mman.h>

#include "daemon/worker/elf-file.h"
#include "daemon/worker/offsets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static int file_of(const uint8_t *data, size_t n_bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, n_bytes) != (ssize_t)n_bytes) {
		close(fd);
		return -1;
	}
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	ts_cleanup(ts_found_deinit) struct ts_found found = {0};
	char first[] = "main", second[] = "f";
	char *const names[] = {first, second};
	uint64_t addresses[64], places[TS_ARRAY_LEN(names)];
	struct ts_elf *elf;
	int fd = file_of(data, n_bytes);

	if (fd < 0)
		return 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(addresses); i++)
		addresses[i] = 0x200 + i * 7;
	(void)ts_elf_offsets(file_of(data, n_bytes), names, TS_ARRAY_LEN(names), places);
	ts_found_init(&found);
	if (ts_elf_open(fd, file_of(data, n_bytes), -1, &elf))
		return 0;
	if (!ts_elf_find(elf, addresses, TS_ARRAY_LEN(addresses), &found) &&
	    found.n_frames.n != sizeof(addresses) / 2)
		abort();
	ts_elf_free(elf);
	return 0;
}
