/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-export [OPERATIONS [FORMAT]]: operations of a training job per second that tools/export
 * writes in each format, on one core, by processor time, and the bytes of each operation. FORMAT:
 * measures only that format.
 */
#include <sys/mman.h>

#include "replay/report/names/resolver.h"
#include "test/bench/bench.h"
#include "test/bench/trainfile.h"
#include "tools/export/export-names.h"

#define PASSES 3

typedef int export_fn(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		      FILE *file, struct ts_export_report *ret_report);

static const char *kernel_name(void *user, uint32_t name)
{
	return ts_resolver_kernel_name(user, name);
}

static const char *thread_name(void *user, uint32_t session, const struct ts_row_thread *thread)
{
	return ts_resolver_thread_name(user, session, thread);
}

static const char *stream_name(void *user, const struct ts_sbt_row *row)
{
	return ts_resolver_stream_name(user, row);
}

/* The trace has no samples. */
static const char *no_place(void *user, uint32_t session, uint32_t stack, uint64_t time_ns)
{
	return NULL;
}

static const struct ts_export_names names = {
	TS_EXPORT_NAMES_OF_NUMBERS, .kernel = kernel_name, .thread = thread_name,
	.stream = stream_name,	    .place = no_place,
};

/* Counts the bytes and discards them: a disk would dominate the measurement. */
static ssize_t count(void *cookie, const char *bytes, size_t n)
{
	*(uint64_t *)cookie += n;
	return (ssize_t)n;
}

static const char *only;

static void time_format(const char *name, export_fn *run, struct ts_sbt_reader *reader, uint64_t n)
{
	struct ts_export_options options = {.names = &names,
					    .weight = TS_EXPORT_GPU_TIME,
					    .generator = "bench-export"};
	double best_s = 0;
	uint64_t n_bytes = 0;

	if (only && strcmp(only, name))
		return;
	for (int i = 0; i < PASSES; i++) {
		const struct ts_resolver_options resolved = {0};
		struct ts_resolver *resolver;
		struct ts_export_report report;
		double start_s = ts_bench_cpu_s(), s;
		FILE *file;

		n_bytes = 0;
		file = fopencookie(&n_bytes, "w", (cookie_io_functions_t){.write = count});
		ts_bench_check(file ? 0 : -ENOMEM, "file");
		ts_bench_check(ts_resolver_new(reader, &resolved, &resolver), "names");
		options.user = resolver;
		ts_bench_check(run(reader, &options, file, &report), name);
		ts_bench_check(fclose(file), "write");
		ts_resolver_free(resolver);
		s = ts_bench_cpu_s() - start_s;
		best_s = !i || s < best_s ? s : best_s;
		ts_bench_check(report.n_rows != n, name);
	}
	printf(", \"%s_per_s\": %.0f, \"%s_bytes\": %.2f", name, (double)n / best_s, name,
	       (double)n_bytes / (double)n);
}

int main(int argc, char **argv)
{
	uint64_t n_wanted = ts_bench_count(argc, argv, 1000000), n, n_bytes;
	int fd = memfd_create("bench", MFD_CLOEXEC);
	struct ts_sbt_reader *reader;

	ts_bench_one_thread();
	only = argc > 2 ? argv[2] : NULL;
	ts_bench_check(ts_training_file(dup(fd), n_wanted, &n, &n_bytes), "write");
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	close(fd);
	printf("{\"n\": %" PRIu64 ", \"sbt_bytes\": %.2f", n, (double)n_bytes / (double)n);
	time_format("perfetto", ts_export_perfetto, reader, n);
	time_format("json", ts_export_kineto, reader, n);
	time_format("pprof", ts_export_pprof, reader, n);
	time_format("folded", ts_export_folded, reader, n);
	puts("}");
	ts_sbt_reader_free(reader);
	return 0;
}
