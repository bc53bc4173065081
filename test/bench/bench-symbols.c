/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-symbols WORKER CACHE LIBRARY BUILD-ID < ADDRESSES: the cost of symbolizing addresses of a
 * library by the daemon's symbolizer (daemon/symbol), with its worker process. Measures a run with
 * an empty cache, a run with the cache on disk, and each lookup in memory.
 */
#include <sys/resource.h>

#include "daemon/symbol/symbolizer.h"
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

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Processor time of this process and of its ended children. */
static double processor_s(void)
{
	struct rusage own, workers;

	if (getrusage(RUSAGE_SELF, &own) < 0 || getrusage(RUSAGE_CHILDREN, &workers) < 0)
		exit(1);
	return seconds(&own.ru_utime) + seconds(&own.ru_stime) + seconds(&workers.ru_utime) +
	       seconds(&workers.ru_stime);
}

struct times {
	double s, processor_s;
};

/* Symbolizes once, with a new symbolizer. */
static struct times run(const struct ts_symbolizer_options *options,
			const struct ts_symbol_image *image, const uint64_t *addresses, size_t n,
			struct ts_symbol_set *ret_set)
{
	const double start_processor_s = processor_s();
	const uint64_t start_ns = ts_clock_monotonic_ns();
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
	return (struct times){(double)(ts_clock_monotonic_ns() - start_ns) / 1e9,
			      processor_s() - start_processor_s};
}

static double look_up(const struct ts_symbol_set *set, const uint64_t *addresses, size_t n)
{
	uint64_t start_ns = ts_clock_monotonic_ns();
	size_t found = 0, rounds = 1 + 2000000 / n;

	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++)
			/* The order defeats the CPU caches. */
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
	struct times first, second;
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
	first = run(&options, &image, addresses, n, &cold);
	second = run(&options, &image, addresses, n, &warm);
	printf("{\"addresses\": %zu, \"cold_s\": %.6f, \"cold_processor_s\": %.6f, "
	       "\"warm_s\": %.6f, \"look_up_ns\": %.1f}\n",
	       n, first.s, first.processor_s, second.s, look_up(&warm, addresses, n));
	ts_symbol_set_deinit(&cold);
	ts_symbol_set_deinit(&warm);
	free(addresses);
	return 0;
}
