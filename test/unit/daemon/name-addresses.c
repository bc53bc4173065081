/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name-addresses WORKER PATH BUILD-ID [PID] < ADDRESSES: prints the daemon's symbols for addresses
 * of a file that process PID maps. BUILD-ID may be empty. Output:
 *
 *	RESULT	WHY
 *	ADDRESS
 *		FUNCTION	FILE	LINE		one line for each frame
 */
#include <stdio.h>

#include "daemon/symbol/symbolizer.h"

#define MAX_ADDRESSES 65536u

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t read_addresses(uint64_t *addresses)
{
	size_t n = 0, n_different = 0;
	char line[64];

	while (n < MAX_ADDRESSES && fgets(line, sizeof(line), stdin))
		addresses[n++] = strtoull(line, NULL, 16);
	qsort(addresses, n, sizeof(*addresses), compare);
	for (size_t i = 0; i < n; i++)
		if (!i || addresses[i] != addresses[n_different - 1])
			addresses[n_different++] = addresses[i];
	return n_different;
}

static size_t read_hex(const char *hex, uint8_t bytes[32])
{
	size_t n = 0;
	unsigned int byte;

	for (; n < 32 && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		bytes[n] = (uint8_t)byte;
	return n;
}

static void print(const struct ts_symbol_set *set)
{
	for (uint32_t i = 0; i < set->n_entries; i++) {
		const struct ts_symbol_entry *entry = &set->entries[i];

		printf("0x%llx\n", (unsigned long long)entry->address);
		for (uint32_t f = 0; f < entry->n_frames; f++) {
			const struct ts_symbol_frame *frame = &set->frames[entry->first_frame + f];

			printf("\t%s\t%s\t%u\n", set->text + frame->function,
			       set->text + frame->file, frame->line);
		}
	}
}

int main(int argc, char **argv)
{
	static uint64_t addresses[MAX_ADDRESSES];
	struct ts_symbolizer_options options = {.deadline_ms = 120000, .no_cache = true};
	struct ts_symbol_image image = {.view = {.root_fd = -1, .by_own_path = true}};
	struct ts_symbolizer *symbolizer;
	enum ts_image_result result;
	char why[TS_SYMBOL_WHY_BYTES];
	struct ts_symbol_set set = {0};
	uint8_t build_id[32];
	int r;

	if (argc < 4)
		return 2;
	options.worker.path = argv[1];
	image.path = argv[2];
	image.build_id = build_id;
	image.n_build_id = read_hex(argv[3], build_id);
	if (argc > 4)
		image.view.root_fd = ts_symbol_root_open(atoi(argv[4]));
	r = ts_symbolizer_new(&options, &symbolizer);
	if (!r) {
		r = ts_symbolize(symbolizer, &image, addresses, read_addresses(addresses), &set,
				 &result, why);
		ts_symbolizer_free(symbolizer);
	}
	ts_closep(&image.view.root_fd);
	if (r) {
		fprintf(stderr, "%s: %s\n", image.path, strerror(-r));
		return 1;
	}
	printf("%u\t%s\n", (unsigned)result, why);
	print(&set);
	ts_symbol_set_deinit(&set);
	return 0;
}
