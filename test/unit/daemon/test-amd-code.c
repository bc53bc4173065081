/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device code of AMD: kernels' numbers from each container, the choice of the device's entry, and
 * malformed code, refused by name. The inputs are those of the fuzz target; `clang-14` was made by
 * that compiler (OpenCL, gfx90a).
 */
#include "daemon/worker/code/amd-code.h"
#include "test/unit/corpus.h"
#include "test/unit/harness.h"

#define DEVICE "gfx942:sramecc+:xnack-"

struct file {
	uint8_t *bytes;
	size_t n;
};

static struct file read_file(const char *name)
{
	struct file file;

	file.bytes = ts_corpus_file(name, &file.n);
	return file;
}

struct seen {
	unsigned n;
	char names[4][32];
	struct ts_amd_kernel kernels[4];
};

static int see(void *userdata, const struct ts_amd_kernel *kernel)
{
	struct seen *seen = userdata;

	ts_check(seen->n < 4 && kernel->n_name_bytes < 32);
	memcpy(seen->names[seen->n], kernel->name, kernel->n_name_bytes);
	seen->kernels[seen->n++] = *kernel;
	return 0;
}

static int read_code(const struct file *file, const char *target, struct seen *ret)
{
	*ret = (struct seen){.n = 0};
	return ts_amd_code_read(file->bytes, file->n, target, see, ret);
}

static void check_add(const struct seen *seen)
{
	const struct ts_amd_kernel *kernel = &seen->kernels[0];

	ts_check_int(seen->n, 1);
	ts_check_str(seen->names[0], "_Z3addPfPKf");
	ts_check_int(kernel->n_vgprs, 12);
	ts_check_int(kernel->n_agprs, 4);
	ts_check_int(kernel->n_sgprs, 20);
	ts_check_int(kernel->lds_bytes, 1024);
	ts_check_int(kernel->private_bytes, 16);
	ts_check_int(kernel->wavefront_size, 64);
	ts_check_int(kernel->max_workgroup_size, 1024);
	ts_check_int(kernel->argument_bytes, 272);
	ts_check_int(kernel->n_arguments, 3);
	ts_check_int(kernel->arguments[1].offset, 8);
	ts_check_int(kernel->arguments[1].bytes, 4);
	ts_check(!kernel->arguments[1].is_hidden);
	ts_check(kernel->arguments[2].is_hidden);
}

TS_TEST(containers)
{
	static const char *const names[] = {"elf",    "bundle", "zlib-1", "zlib-2",
					    "zlib-3", "zstd-1", "zstd-2"};

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		struct file file = read_file(names[i]);
		struct seen seen;

		ts_check_int(read_code(&file, DEVICE, &seen), 0);
		check_add(&seen);
		free(file.bytes);
	}
}

/* Version 1 has no size of its own, and lies in a section with other code behind it. */
TS_TEST(bytes_behind)
{
	static const char *const names[] = {"bundle", "zlib-1", "zlib-2", "zstd-1", "zstd-2"};

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		struct file file = read_file(names[i]);
		struct seen seen;

		file.bytes = realloc(file.bytes, file.n + 100);
		memset(file.bytes + file.n, 0xa5, 100);
		file.n += 100;
		ts_check_int(read_code(&file, DEVICE, &seen), 0);
		check_add(&seen);
		free(file.bytes);
	}
}

TS_TEST(compiler)
{
	struct file file = read_file("clang-14");
	struct seen seen;

	ts_check_int(read_code(&file, "gfx90a", &seen), 0);
	ts_check_int(seen.n, 2);
	ts_check_str(seen.names[0], "vec");
	ts_check_int(seen.kernels[0].n_vgprs, 5);
	ts_check_int(seen.kernels[0].n_sgprs, 9);
	ts_check_int(seen.kernels[0].lds_bytes, 1024);
	ts_check_int(seen.kernels[0].n_arguments, 3);
	ts_check_int(seen.kernels[0].arguments[2].offset, 16);
	ts_check_str(seen.names[1], "other");
	ts_check_int(seen.kernels[1].private_bytes, 260);
	ts_check_int(seen.kernels[1].max_workgroup_size, 256);
	free(file.bytes);
}

/* `bundle` has entries for gfx90a, gfx942:sramecc+:xnack- and gfx9-4-generic. */
TS_TEST(targets)
{
	static const struct {
		const char *device, *kernel;
	} rules[] = {
		{"gfx90a:sramecc+:xnack-", "k90a"},
		{"gfx90a", "k90a"},
		{DEVICE, "_Z3addPfPKf"},
		/* Another state of a feature: the generic entry. */
		{"gfx942:sramecc+:xnack+", "_Z3addPfPKf"},
		{"gfx940:sramecc+:xnack-", "_Z3addPfPKf"},
		{"gfx94", NULL},
		{"gfx9422", NULL},
		{"gfx1100", NULL},
		{"", NULL},
		{"ptx", NULL},
	};
	struct file file = read_file("bundle");
	struct seen seen;

	for (size_t i = 0; i < TS_ARRAY_LEN(rules); i++) {
		int r = read_code(&file, rules[i].device, &seen);

		ts_check_int(r, rules[i].kernel ? 0 : TS_AMD_CODE_E_TARGET);
		if (rules[i].kernel)
			ts_check_str(seen.names[0], rules[i].kernel);
	}
	free(file.bytes);
}

/* Code that ends early is refused, or whole: the last bytes may be padding. */
TS_TEST(cut)
{
	static const char *const names[] = {"elf", "bundle", "zlib-2", "zstd-2", "zlib-3"};

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		struct file file = read_file(names[i]);
		struct seen seen;

		for (size_t n = 0; n + 4 < file.n; n++) {
			uint8_t *part = malloc(n ? n : 1);

			memcpy(part, file.bytes, n);
			seen.n = 0;
			/* The entry of `bundle` that is chosen is not the last one. */
			ts_check(ts_amd_code_read(part, n, DEVICE, see, &seen) > 0);
			free(part);
		}
		free(file.bytes);
	}
}

static void check_refused(const char *name, size_t at, const void *bytes, size_t n, int error)
{
	struct file file = read_file(name);
	struct seen seen;

	memcpy(file.bytes + at, bytes, n);
	ts_check_int(read_code(&file, DEVICE, &seen), error);
	free(file.bytes);
}

TS_TEST(malformed)
{
	const uint64_t many = 1 << 20, far = UINT64_MAX - 8;
	const uint32_t large = UINT32_C(0x7fffffff);

	check_refused("elf", 0, "nELF", 4, TS_AMD_CODE_E_FORMAT);
	check_refused("elf", 18, "\x3e", 1, TS_AMD_CODE_E_MACHINE);
	check_refused("elf", 4, "\1", 1, TS_AMD_CODE_E_MACHINE);
	/* Offsets of the segments and of the notes; type and size of the note. */
	check_refused("elf", 32, &far, 8, TS_AMD_CODE_E_CUT);
	check_refused("elf", 64 + 8, &far, 8, TS_AMD_CODE_E_CUT);
	check_refused("elf", 120 + 8, "\x0a", 1, TS_AMD_CODE_E_NOTE);
	check_refused("elf", 120 + 4, &large, 4, TS_AMD_CODE_E_NOTE);
	/* A map of more pairs than bytes; a byte that begins no value. */
	check_refused("elf", 140, "\xdf\xff\xff\xff\xff", 5, TS_AMD_CODE_E_METADATA);
	check_refused("elf", 140 + 1, "\xc1", 1, TS_AMD_CODE_E_METADATA);
	check_refused("bundle", 24, &many, 8, TS_AMD_CODE_E_LARGE);
	check_refused("bundle", 32, &far, 8, TS_AMD_CODE_E_CUT);
	check_refused("bundle", 32 + 16, &far, 8, TS_AMD_CODE_E_LARGE);
	check_refused("zlib-2", 4, "\4", 1, TS_AMD_CODE_E_COMPRESSION);
	check_refused("zlib-2", 6, "\2", 1, TS_AMD_CODE_E_COMPRESSION);
	check_refused("zlib-2", 6, "\1", 1, TS_AMD_CODE_E_COMPRESSION);
	check_refused("zlib-2", 8, &large, 4, TS_AMD_CODE_E_CUT);
	check_refused("zlib-2", 12, &large, 4, TS_AMD_CODE_E_LARGE);
	/* One byte less than there is. */
	check_refused("zlib-2", 12, "\x23", 1, TS_AMD_CODE_E_COMPRESSION);
	for (int i = 1; i < TS_AMD_CODE_E_COUNT; i++)
		ts_check(strcmp(ts_amd_code_why(i), ts_amd_code_why(0)) != 0);
}

static int stop(void *userdata, const struct ts_amd_kernel *kernel)
{
	(void)kernel;
	++*(int *)userdata;
	return -ENOMEM;
}

TS_TEST(ends_as_the_receiver_wants)
{
	struct file file = read_file("clang-14");
	int n = 0;

	ts_check_int(ts_amd_code_read(file.bytes, file.n, DEVICE, stop, &n), -ENOMEM);
	ts_check_int(n, 1);
	free(file.bytes);
}

/* Metadata of 64 MiB in nested arrays: no recursion, and an end. */
TS_TEST(deep_metadata)
{
	const size_t n = 64 << 20;
	uint8_t *bytes = malloc(n);
	struct seen seen = {.n = 0};

	memset(bytes, 0x91, n);
	memcpy(bytes, "\x81\xa1x", 3);
	ts_check_int(ts_amd_metadata_read(bytes, n, see, &seen), TS_AMD_CODE_E_METADATA);
	bytes[n - 1] = 0xc0;
	ts_check_int(ts_amd_metadata_read(bytes, n, see, &seen), 0);
	free(bytes);
}
