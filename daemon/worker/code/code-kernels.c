/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the kernels of AMD's device code. main.c calls it and sends the result to the daemon. It
 * calls amd-code.c, which hands it one kernel after the other.
 */
#include "daemon/worker/code/code-kernels.h"

#include <sys/mman.h>
#include <sys/stat.h>

void ts_code_kernels_deinit(struct ts_code_kernels *kernels)
{
	ts_buffer_deinit(&kernels->text);
	ts_buffer_deinit(&kernels->lengths);
	ts_buffer_deinit(&kernels->registers);
	ts_buffer_deinit(&kernels->shared_bytes);
	ts_buffer_deinit(&kernels->local_bytes);
}

static int add_number(struct ts_buffer *to, uint32_t number)
{
	return ts_buffer_append(to, &number, sizeof(number));
}

static int receive(void *userdata, const struct ts_amd_kernel *kernel)
{
	struct ts_code_kernels *kernels = userdata;
	int r;

	if (kernels->text.n + kernel->n_name_bytes > TS_CODE_KERNELS_MAX_TEXT)
		return TS_AMD_CODE_E_LARGE;
	r = ts_buffer_append(&kernels->text, kernel->name, kernel->n_name_bytes);
	r = r ?: add_number(&kernels->lengths, kernel->n_name_bytes);
	r = r ?: add_number(&kernels->registers, kernel->n_vgprs);
	r = r ?: add_number(&kernels->shared_bytes, kernel->lds_bytes);
	return r ?: add_number(&kernels->local_bytes, kernel->private_bytes);
}

int ts_code_kernels_read(struct ts_code_kernels *kernels, const uint8_t *code, size_t n_bytes,
			 const char *target)
{
	return ts_amd_code_read(code, n_bytes, target, receive, kernels);
}

int ts_code_kernels_read_metadata(struct ts_code_kernels *kernels, const uint8_t *metadata,
				  size_t n_bytes)
{
	return ts_amd_metadata_read(metadata, n_bytes, receive, kernels);
}

int ts_code_kernels_read_file(struct ts_code_kernels *kernels, int fd, uint64_t offset,
			      const char *target)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset / page * page;
	struct stat st;
	uint8_t *map;
	size_t n;
	int r = fstat(fd, &st) < 0 ? -errno : 0;

	if (!r && offset >= (uint64_t)st.st_size)
		r = TS_AMD_CODE_E_CUT;
	if (r) {
		ts_closep(&fd);
		return r;
	}
	n = (uint64_t)st.st_size - start;
	map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, (off_t)start);
	r = map == MAP_FAILED ? -errno : 0;
	ts_closep(&fd);
	if (r)
		return r;
	r = ts_code_kernels_read(kernels, map + (offset - start), n - (offset - start), target);
	munmap(map, n);
	return r;
}
