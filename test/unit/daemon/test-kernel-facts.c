/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of kernels from a session's definitions of device code, by a real worker: code in a file
 * behind other bytes, code and metadata in a definition, code that cannot be read, and definitions
 * that no shim makes. The code is that of the fuzz target.
 */
#include <fcntl.h>

#include "daemon/symbol/kernel-facts.h"
#include "test/unit/corpus.h"
#include "test/unit/harness.h"

#define DEVICE "gfx942:sramecc+:xnack-"

static struct ts_kernel_facts *new_facts(void)
{
	const struct ts_kernel_facts_options options = {
		.pid = getpid(),
		.worker = getenv("TRACESMITH_WORKER"),
	};
	struct ts_kernel_facts *facts;

	ts_check(options.worker);
	ts_check_int(ts_kernel_facts_new(&options, &facts), 0);
	return facts;
}

static int add_code(struct ts_kernel_facts *facts, uint32_t id, const char *path, uint64_t file_off,
		    const uint8_t *bytes, size_t n, unsigned flags)
{
	const struct ts_definition_code code = {
		.definition = {.id = id, .n = (uint32_t)n, .flags = (uint16_t)flags},
		.file_off = file_off,
		.n_path_bytes = path ? (uint32_t)strlen(path) : 0,
		.n_target_bytes = strlen(DEVICE),
	};

	return ts_kernel_facts_add_code(facts, &code, path, DEVICE "never read", bytes);
}

static int add_function(struct ts_kernel_facts *facts, uint32_t id, uint32_t code, const char *name)
{
	const struct ts_definition_function function = {
		.definition = {.id = id, .n = (uint32_t)strlen(name)},
		.code = code,
	};

	return ts_kernel_facts_add_function(facts, &function, name);
}

static void check_add(struct ts_kernel_facts *facts, uint32_t function)
{
	const struct ts_kernel_numbers *numbers = ts_kernel_facts_find(facts, function);

	ts_check(numbers);
	ts_check_int(numbers->registers_per_thread, 12);
	ts_check_int(numbers->static_shared_bytes, 1024);
	ts_check_int(numbers->local_bytes_per_thread, 16);
}

static void write_file(char *path, size_t before, const uint8_t *bytes, size_t n)
{
	int fd = mkstemp(path);

	ts_check(fd >= 0);
	ts_check(pwrite(fd, bytes, n, (off_t)before) == (ssize_t)n);
	close(fd);
}

TS_TEST(code_in_a_file)
{
	char path[] = "/tmp/test-kernel-facts-XXXXXX";
	struct ts_kernel_facts *facts = new_facts();
	static uint8_t bytes[1 << 16];
	const char *why;
	size_t n = ts_corpus_read("zstd-2", bytes);

	ts_skip_emulated("openat2()");
	write_file(path, 5000, bytes, n);
	ts_check_int(add_code(facts, 1, path, 5000, bytes, 0, 0), 0);
	ts_check_int(add_function(facts, 1, 1, "_Z3addPfPKf"), 0);
	ts_check_int(add_function(facts, 2, 1, "_Z3addPfPK"), 0);
	check_add(facts, 1);
	/* The file is read once. */
	unlink(path);
	check_add(facts, 1);
	ts_check(!ts_kernel_facts_find(facts, 2));
	ts_check_int(ts_kernel_facts_unread(facts, &why), 0);
	ts_check(!why);
	ts_kernel_facts_free(facts);
}

TS_TEST(code_in_a_definition)
{
	struct ts_kernel_facts *facts = new_facts();
	static uint8_t bytes[1 << 16];

	ts_check_int(add_code(facts, 1, NULL, 0, bytes, ts_corpus_read("zlib-3", bytes), 0), 0);
	ts_check_int(add_code(facts, 2, NULL, 0, bytes, ts_corpus_read("metadata", bytes),
			      TS_CODE_IS_METADATA),
		     0);
	ts_check_int(add_function(facts, 1, 2, "_Z3addPfPKf"), 0);
	ts_check_int(add_function(facts, 2, 1, "_Z3addPfPKf"), 0);
	check_add(facts, 1);
	check_add(facts, 2);
	ts_kernel_facts_free(facts);
}

TS_TEST(unread_code)
{
	struct ts_kernel_facts *facts = new_facts();
	char path[] = "/tmp/test-kernel-facts-XXXXXX";
	const char *why;

	ts_skip_emulated("openat2()");
	write_file(path, 0, (const uint8_t *)"not code", 8);
	ts_check_int(add_code(facts, 1, path, 0, NULL, 0, 0), 0);
	ts_check_int(add_code(facts, 2, "/nowhere/lib.so", 0, NULL, 0, 0), 0);
	ts_check_int(add_code(facts, 3, path, 1 << 20, NULL, 0, 0), 0);
	for (uint32_t i = 1; i <= 3; i++) {
		ts_check_int(add_function(facts, i, i, "k"), 0);
		ts_check(!ts_kernel_facts_find(facts, i));
		ts_check(!ts_kernel_facts_find(facts, i));
	}
	ts_check_int(ts_kernel_facts_unread(facts, &why), 3);
	ts_check(strstr(why, path) && strstr(why, "neither an ELF file nor a bundle"));
	unlink(path);
	ts_kernel_facts_free(facts);
}

TS_TEST(malformed_definitions)
{
	struct ts_kernel_facts *facts = new_facts();
	const uint8_t none = 0;

	ts_check_int(add_code(facts, 2, NULL, 0, &none, 1, 0), 1);
	ts_check_int(add_function(facts, 0, 1, "k"), 1);
	/* A code that is not defined. */
	ts_check_int(add_function(facts, 1, 7, "k"), 0);
	ts_check_int(add_function(facts, 2, 0, ""), 0);
	for (uint32_t i = 0; i < 4; i++)
		ts_check(!ts_kernel_facts_find(facts, i));
	ts_kernel_facts_free(facts);
}

/* Beyond the session's memory, definitions stay without numbers. */
TS_TEST(bounded)
{
	struct ts_kernel_facts *facts = new_facts();
	static uint8_t bytes[TS_CODE_MAX_BYTES];
	const uint32_t n = TS_KERNEL_FACTS_MAX_BYTES / TS_CODE_MAX_BYTES + 10;
	const char *why;

	for (uint32_t i = 1; i <= n; i++)
		ts_check_int(add_code(facts, i, NULL, 0, bytes, sizeof(bytes), 0), 0);
	ts_check(ts_kernel_facts_memory(facts) < TS_KERNEL_FACTS_MAX_BYTES + (2 << 20));
	ts_check_int(add_function(facts, 1, n, ""), 0);
	ts_check(!ts_kernel_facts_find(facts, 1));
	ts_check_int(ts_kernel_facts_unread(facts, &why), 1);
	ts_check(strstr(why, "more GPU code than the daemon keeps"));
	ts_kernel_facts_free(facts);
}
