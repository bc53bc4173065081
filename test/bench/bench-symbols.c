/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-symbols WORKER CACHE LIBRARY BUILD-ID [--print] < ADDRESSES: what it takes to name addresses of a library, by the daemon's
 * symboliser, its worker process included: from nothing, from the cache on disk, and each look-up in
 * memory. --print shows what was found as `addr2line -a -f -i -C` does.
 */
#include "daemon/symbol/resolve.h"
#include "test/bench/bench.h"

#define MAX_ADDRESSES (1u << 20)

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

static void print_set(const struct ts_symbol_set *set)
{
	for (uint32_t i = 0; i < set->n_entries; i++) {
		const struct ts_symbol_entry *entry = &set->entries[i];

		printf("0x%016" PRIx64 "\n", entry->address);
		for (uint32_t f = 0; f < entry->n_frames; f++) {
			const struct ts_symbol_frame *frame = &set->frames[entry->first_frame + f];
			const char *function = set->text + frame->function;
			const char *file = set->text + frame->file;

			printf("%s\n%s:%u\n", *function ? function : "??", *file ? file : "??",
			       frame->line);
		}
		if (!entry->n_frames)
			printf("??\n??:0\n");
	}
}

/* One run with a symboliser of its own. Returns seconds. */
static double run(const struct ts_symbolizer_options *options, const struct ts_symbol_image *image,
		  const uint64_t *addresses, size_t n, struct ts_symbol_set *ret_set)
{
	uint64_t start_ns = ts_clock_monotonic_ns();
	struct ts_symbolizer *symbolizer;
	enum ts_image_result result;
	char why[TS_SYMBOL_WHY_BYTES];
	int r = ts_symbolizer_new(options, &symbolizer);

	r = r ?: ts_symbolize(symbolizer, image, addresses, n, ret_set, &result, why);
	if (r || result > TS_IMAGE_NO_DEBUG) {
		fprintf(stderr, "%s: %s\n", image->path, r ? strerror(-r) : why);
		exit(1);
	}
	ts_symbolizer_free(symbolizer);
	return (double)(ts_clock_monotonic_ns() - start_ns) / 1e9;
}

static double look_up(const struct ts_symbol_set *set, const uint64_t *addresses, size_t n)
{
	uint64_t start_ns = ts_clock_monotonic_ns();
	size_t found = 0, rounds = 1 + 2000000 / n;

	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++)
			/* In an order that no cache line likes. */
			found += ts_symbol_set_find(set, addresses[i * 7919 % n]) != NULL;
	if (found != rounds * n)
		exit(1);
	return (double)(ts_clock_monotonic_ns() - start_ns) / (double)(rounds * n);
}

int main(int argc, char **argv)
{
	struct ts_symbolizer_options options = {.deadline_ms = 120000};
	struct ts_symbol_image image = {.view = {.root_fd = -1, .by_own_path = true}};
	struct ts_symbol_set cold = {0}, warm = {0};
	uint64_t *addresses = calloc(MAX_ADDRESSES, sizeof(*addresses));
	uint8_t build_id[32];
	double cold_s, warm_s = 0;
	size_t n;

	if (argc < 5 || !addresses)
		return 2;
	options.worker.path = argv[1];
	options.cache = argv[2];
	image.path = argv[3];
	image.build_id = build_id;
	for (const char *hex = argv[4]; hex[0] && hex[1] && image.n_build_id < 32; hex += 2) {
		unsigned int byte;

		if (sscanf(hex, "%2x", &byte) != 1)
			return 2;
		build_id[image.n_build_id++] = (uint8_t)byte;
	}
	n = read_addresses(addresses);
	if (!n)
		return 2;
	cold_s = run(&options, &image, addresses, n, &cold);
	if (argc > 5) {
		print_set(&cold);
	} else {
		warm_s = run(&options, &image, addresses, n, &warm);
		printf("{\"addresses\": %zu, \"cold_s\": %.6f, \"warm_s\": %.6f, \"look_up_ns\": %.1f}\n",
		       n, cold_s, warm_s, look_up(&warm, addresses, n));
	}
	ts_symbol_set_deinit(&cold);
	ts_symbol_set_deinit(&warm);
	free(addresses);
	return 0;
}
