/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A main() for fuzz targets in the ordinary test run. Each named file, and each file in a named
 * directory, is one input. meson.build here links it to each target. The program also tries each
 * input with bytes changed, moved and cut off. The number of mutations and the seed are fixed, so
 * that a failure repeats. Builds with clang -fsanitize=fuzzer leave this file out.
 *
 *     replay [-n MUTATIONS] PATH ...
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_INPUT_BYTES (16u * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t random_state = 0x9e3779b97f4a7c15u;
static unsigned n_inputs;

static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

/* Mutates the input in place. Returns the new size, which is at most `n`. */
static size_t mutate(uint8_t *bytes, size_t n)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};

	for (uint64_t i = 1 + next_random() % 4; n && i > 0; i--) {
		size_t at = next_random() % n, length = 1 + next_random() % 16;

		switch (next_random() % 5) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_random() % 8);
			break;
		case 1:
			bytes[at] = values[next_random() % sizeof(values)];
			break;
		case 2:
			bytes[at] = (uint8_t)next_random();
			break;
		case 3: /* move a range */
			if (length > n - at)
				length = n - at;
			memmove(bytes + next_random() % (n - length + 1), bytes + at, length);
			break;
		default: /* cut off the end */
			if (next_random() % 4 == 0)
				n = at;
		}
	}
	return n;
}

static int run_file(const char *path, unsigned n_mutations)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 1;
	uint8_t *bytes = NULL, *copy = NULL;
	struct stat st;
	size_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > MAX_INPUT_BYTES)
		goto out;
	n = (size_t)st.st_size;
	bytes = malloc(n + 1);
	copy = malloc(n + 1);
	if (!bytes || !copy || read(fd, bytes, n) != (ssize_t)n)
		goto out;
	n_inputs++;
	LLVMFuzzerTestOneInput(bytes, n);
	for (unsigned i = 0; i < n_mutations; i++) {
		memcpy(copy, bytes, n);
		LLVMFuzzerTestOneInput(copy, mutate(copy, n));
	}
	r = 0;
out:
	if (r)
		fprintf(stderr, "replay: cannot read %s\n", path);
	if (fd >= 0)
		close(fd);
	free(bytes);
	free(copy);
	return r;
}

static int run_path(const char *path, unsigned n_mutations)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return run_file(path, n_mutations);
	while ((entry = readdir(dir))) {
		char file[4096];

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "README.md"))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		r |= run_file(file, n_mutations);
	}
	closedir(dir);
	return r;
}

int main(int argc, char **argv)
{
	unsigned n_mutations = 0;
	int r = 0, i = 1;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		n_mutations = (unsigned)strtoul(argv[2], NULL, 10);
		i = 3;
	}
	for (; i < argc; i++)
		r |= run_path(argv[i], n_mutations);
	if (!n_inputs) {
		fprintf(stderr, "replay: no inputs\n");
		return 1;
	}
	printf("%u inputs, %u mutations of each\n", n_inputs, n_mutations);
	return r;
}
