/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the definition arena of a hostile producer (daemon/ingest/arena.h). The arena is published
 * in two steps, as a growing arena is.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/ingest/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint64_t fuzz_sum;

static void fuzz_touch(const void *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		fuzz_sum += ((const uint8_t *)bytes)[i];
}

static int fuzz_string(void *data, const char *bytes, uint32_t n_bytes, uint32_t *ret_id)
{
	fuzz_touch(bytes, n_bytes);
	*ret_id = 1;
	return 0;
}

static int fuzz_stack(void *data, const uint64_t *frames, uint32_t n_frames, uint32_t flags,
		      uint32_t *ret_id)
{
	fuzz_touch(frames, n_frames * sizeof(*frames));
	*ret_id = 1;
	return 0;
}

static int fuzz_thread(void *data, const struct ts_definition_thread *thread, uint32_t name,
		       uint32_t *ret_id)
{
	fuzz_touch(thread, sizeof(*thread));
	*ret_id = 1;
	return 0;
}

static int fuzz_device(void *data, const struct ts_definition_device *device, uint32_t name)
{
	fuzz_touch(device, sizeof(*device));
	return 0;
}

static int fuzz_module(void *data, const struct ts_definition_module *module, uint32_t path)
{
	fuzz_touch(module, sizeof(*module));
	fuzz_touch(module->build_id, module->n_build_id_bytes);
	return 0;
}

static int fuzz_name(void *data, const struct ts_definition_name *definition, uint32_t domain,
		     uint32_t name)
{
	fuzz_touch(definition, sizeof(*definition));
	return 0;
}

static int fuzz_code(void *data, const struct ts_definition_code *code, const char *path,
		     const char *target, const uint8_t *bytes)
{
	fuzz_touch(code, sizeof(*code));
	fuzz_touch(path, code->n_path_bytes);
	fuzz_touch(target, code->n_target_bytes);
	fuzz_touch(bytes, code->definition.n);
	return 0;
}

static int fuzz_function(void *data, const struct ts_definition_function *function,
			 const char *name)
{
	fuzz_touch(function, sizeof(*function));
	fuzz_touch(name, function->definition.n);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const struct ts_arena_sink sink = {.string = fuzz_string,
					   .stack = fuzz_stack,
					   .thread = fuzz_thread,
					   .device = fuzz_device,
					   .module = fuzz_module,
					   .name = fuzz_name,
					   .code = fuzz_code,
					   .function = fuzz_function};
	struct ts_arena_reader reader = {0};
	uint64_t n_used = n_bytes / 8 * 8;
	int fd;

	if (!n_used)
		return 0;
	fd = memfd_create("arena", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, data, n_used, 0) != (ssize_t)n_used)
		abort();
	if (!ts_arena_read(&reader, fd, 0, n_used, n_used / 16 * 8, &sink))
		ts_arena_read(&reader, fd, 0, n_used, n_used, &sink);
	ts_arena_reader_deinit(&reader);
	close(fd);
	return 0;
}
