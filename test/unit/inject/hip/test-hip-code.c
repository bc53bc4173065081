/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions of device code: code in a library's file, in a file that the program names, and in
 * memory; kernels of them; handles that the runtime uses again. The code is that of the fuzz target
 * `amd-code`, in memory or in this program's own file.
 */
#include <fcntl.h>
#include <limits.h>

#include "inject/context.h"
#include "inject/hip/hip-code.h"
#include "proto/abi/vendor/hip.h"
#include "test/unit/corpus.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

#define DEVICE "gfx942:sramecc+:xnack-"

static struct ts_shim *const shim = &ts_shim;
static struct ts_hip_codes *const codes = &ts_loaded.hip.codes;
static struct fixture fixture;

/* Addresses stand for handles and functions. */
static char handles[16];

/* A registered code lies in the file of its library. */
static const char in_file[64] = "__CLANG_OFFLOAD_BUNDLE__";

static void begin(void)
{
	fixture_init(&fixture, 4, 65536, 1 << 20);
	/* The definitions are used through the shim alone from here on. */
	shim->definitions = fixture.definitions;
	shim->producer = fixture.producer;
	shim->producer.definitions = &shim->definitions;
	shim->pid = getpid();
	ts_hip_code_init(&shim->hip.code);
	strcpy(shim->hip.code.targets[1], DEVICE);
}

/* Finds the last definition of a type, and checks its id. */
static const void *defined(enum ts_definition_type type, uint32_t id)
{
	const struct ts_arena *arena =
		(const void *)((const uint8_t *)fixture.control + fixture.control->arena_off);
	const struct ts_definition *found = NULL, *at;

	for (uint64_t off = 0; off < arena->published; off += at->n_words * UINT64_C(8)) {
		at = (const void *)((const uint8_t *)(arena + 1) + off);
		if (at->type == type)
			found = at;
	}
	ts_check(found);
	ts_check_int(found->id, id);
	return found;
}

static void check_text(const void *at, uint32_t n, const char *text)
{
	ts_check_int(n, strlen(text));
	ts_check(!memcmp(at, text, n));
}

/* Loads a module from memory. Returns its definition. */
static const struct ts_definition_code *load(const void *module, const void *image, uint32_t id)
{
	ts_hip_code_load(shim, module, NULL, image, 1);
	return defined(TS_DEF_CODE, id);
}

TS_TEST(registered_code)
{
	static const struct ts_hip_fat_binary_wrapper wrapper = {TS_HIP_FAT_BINARY_MAGIC,
								 TS_HIP_FAT_BINARY_VERSION, in_file,
								 NULL};
	const struct ts_definition_code *code;
	const struct ts_definition_function *function;
	char path[PATH_MAX], bytes[sizeof(in_file)];
	uint32_t number;
	ssize_t n;
	int fd;

	begin();
	ts_hip_code_register(codes, &wrapper, &handles[0]);
	ts_hip_code_add_function(codes, &handles[1], &handles[0], "_Z1kv");
	number = ts_hip_code_of(codes, &handles[1]);
	ts_check(number);
	ts_check_int(ts_hip_code_of(codes, &handles[0]), number);
	ts_check_int(ts_hip_code_of(codes, &handles[2]), 0);
	ts_check_int(ts_hip_code_of(codes, NULL), 0);
	ts_check_int(ts_hip_code_name_of(codes, &handles[1]), ts_hip_code_name("_Z1kv"));
	ts_check_int(ts_hip_code_kernel(shim, number, "_Z1kv", 5, 1), 1);
	/* Once, whatever its device and however often. */
	ts_check_int(ts_hip_code_kernel(shim, number, "_Z1kv", 5, 1), 1);
	ts_check_int(ts_hip_code_kernel(shim, number, "_Z1lv", 6, 0), 2);
	code = defined(TS_DEF_CODE, 1);
	function = defined(TS_DEF_FUNCTION, 2);
	ts_check_int(function->code, 1);
	check_text(function + 1, function->definition.n, "_Z1lv");
	/* The definition names the place in this program's file. */
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	ts_check(n > 0);
	path[n] = '\0';
	ts_check_int(code->definition.n, 0);
	check_text(code + 1, code->n_path_bytes, path);
	check_text((const char *)(code + 1) + code->n_path_bytes, code->n_target_bytes, DEVICE);
	fd = open(path, O_RDONLY);
	ts_check_int(pread(fd, bytes, sizeof(bytes), (off_t)code->file_off), sizeof(bytes));
	close(fd);
	ts_check(!memcmp(bytes, in_file, sizeof(bytes)));
	/* Without its code, a function has no kernels. */
	ts_hip_code_unregister(codes, &handles[0]);
	ts_hip_code_add_function(codes, &handles[1], &handles[0], "_Z1kv");
	ts_check_int(ts_hip_code_of(codes, &handles[1]), 0);
	ts_check_int(ts_hip_code_kernel(shim, 0, "_Z1kv", 5, 1), 0);
	fixture_deinit(&fixture);
}

TS_TEST(registered_variables)
{
	static const struct ts_hip_fat_binary_wrapper wrapper = {TS_HIP_FAT_BINARY_MAGIC,
								 TS_HIP_FAT_BINARY_VERSION, in_file,
								 NULL};
	static const char name[] = "counted";
	const char *found = NULL;
	uint32_t number = 0, place = 0;

	begin();
	ts_check(!ts_hip_code_next_variable(codes, &place));
	ts_hip_code_register(codes, &wrapper, &handles[0]);
	ts_hip_code_add_function(codes, &handles[1], &handles[0], "_Z1kv");
	ts_hip_code_add_variable(codes, &handles[2], &handles[0], name);
	/* Functions are not among the variables. */
	ts_check(ts_hip_code_next_variable(codes, &place) == &handles[2]);
	ts_check(!ts_hip_code_next_variable(codes, &place));
	ts_check(ts_hip_code_registered(codes, &handles[2], &found, &number) == in_file);
	ts_check(found == name && number == ts_hip_code_of(codes, &handles[0]));
	/* Its code is gone: the variable belongs to none. */
	ts_hip_code_unregister(codes, &handles[0]);
	place = 0;
	ts_check(ts_hip_code_next_variable(codes, &place) == &handles[2]);
	ts_check(!ts_hip_code_registered(codes, &handles[2], &found, &number));
	fixture_deinit(&fixture);
}

TS_TEST(modules_in_memory)
{
	static const char *const whole[] = {"bundle", "zlib-2", "zstd-2", "zlib-3"};
	const struct ts_definition_code *code;
	static uint8_t bytes[1 << 16], metadata[1 << 16];
	size_t n, n_metadata = ts_corpus_read("metadata", metadata);

	begin();
	/* An ELF file: its metadata alone. */
	ts_corpus_read("elf", bytes);
	code = load(&handles[0], bytes, 1);
	ts_check_int(code->definition.flags, TS_CODE_IS_METADATA);
	ts_check_int(code->n_path_bytes, 0);
	ts_check_int(code->definition.n, n_metadata);
	ts_check(!memcmp((const char *)(code + 1) + code->n_target_bytes, metadata, n_metadata));
	for (uint32_t i = 0; i < TS_ARRAY_LEN(whole); i++) {
		n = ts_corpus_read(whole[i], bytes);
		code = load(&handles[0], bytes, 2 + i);
		ts_check_int(code->definition.flags, 0);
		ts_check_int(code->definition.n, n);
		ts_check(!memcmp((const char *)(code + 1) + code->n_target_bytes, bytes, n));
	}
	/* Version 1 does not have its own length; other bytes are no code that a daemon reads. */
	ts_corpus_read("zlib-1", bytes);
	ts_check_int(load(&handles[0], bytes, 6)->definition.n, 0);
	ts_check_int(load(&handles[0], "//.version 7.0", 7)->definition.n, 0);
	fixture_deinit(&fixture);
}

TS_TEST(large_code_is_defined_without_bytes)
{
	struct ts_hip_bundle head = {.n_entries = 1};
	struct ts_hip_bundle_entry entry = {.offset = 4096, .size = TS_CODE_MAX_BYTES};
	uint8_t *bytes = calloc(1, 8192);

	begin();
	memcpy(head.magic, TS_HIP_BUNDLE_MAGIC, sizeof(head.magic));
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &entry, sizeof(entry));
	ts_check_int(load(&handles[0], bytes, 1)->definition.n, 0);
	free(bytes);
	fixture_deinit(&fixture);
}

TS_TEST(modules_in_files)
{
	const struct ts_definition_code *code;
	char path[PATH_MAX];
	uint32_t first, second;

	begin();
	ts_hip_code_load(shim, &handles[0], "relative.co", NULL, 1);
	code = defined(TS_DEF_CODE, 1);
	ts_check(getcwd(path, sizeof(path) - 16));
	strcat(path, "/relative.co");
	check_text(code + 1, code->n_path_bytes, path);
	ts_hip_code_add_function(codes, &handles[1], &handles[0], "k");
	first = ts_hip_code_of(codes, &handles[1]);
	ts_check(first);
	ts_check_int(ts_hip_code_kernel(shim, first, "k", 5, 1), 1);
	/* The runtime gives the handle to another module; the old function keeps its code. */
	ts_hip_code_unload(shim, &handles[0], 1);
	ts_check_int(ts_hip_code_of(codes, &handles[0]), 0);
	ts_hip_code_load(shim, &handles[0], "/other.co", NULL, 1);
	ts_hip_code_add_function(codes, &handles[2], &handles[0], "k");
	second = ts_hip_code_of(codes, &handles[2]);
	ts_check(second != first && ts_hip_code_of(codes, &handles[1]) == first);
	ts_check_int(ts_hip_code_kernel(shim, second, "k", 5, 1), 2);
	ts_check_int(((const struct ts_definition_function *)defined(TS_DEF_FUNCTION, 2))->code, 2);
	/* Ids of a session mean nothing in a forked child's. */
	shim->pid++;
	ts_check_int(ts_hip_code_of(codes, &handles[2]), 0);
	fixture_deinit(&fixture);
}
