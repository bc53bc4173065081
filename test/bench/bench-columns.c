/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-columns TRACE: processor time to read the start, end and name of each kernel into arrays.
 * columns.py does the same in Python, in as many passes. Prints JSON.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "sbt/columns.h"
#include "test/bench/bench.h"

#define PASSES 5

static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_KERNEL);
	const int places[] = {ts_row_column(schema, "start_ns"), ts_row_column(schema, "end_ns"),
			      ts_row_column(schema, "name")};
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
	struct ts_sbt_columns *columns;
	struct ts_sbt_reader *reader;
	uint64_t n_rows = 0;
	double least = 0;
	int fd;

	ts_bench_check(argc == 2 ? 0 : -EINVAL, "usage: bench-columns TRACE");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	ts_bench_check(fd < 0 ? -errno : 0, argv[1]);
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open the trace");
	for (size_t i = 0; i < TS_ARRAY_LEN(places); i++)
		options.columns |= TS_SBT_COLUMN(places[i]);
	for (int pass = 0; pass < PASSES; pass++) {
		double seconds = processor_s();

		ts_bench_check(ts_sbt_columns_new(reader, &options, &columns), "read the columns");
		for (size_t i = 0; i < TS_ARRAY_LEN(places); i++)
			ts_bench_check(ts_sbt_columns_values(columns, places[i]) ? 0 : -ENOENT,
				       "find a column");
		n_rows = ts_sbt_columns_rows(columns);
		ts_sbt_columns_free(columns);
		seconds = processor_s() - seconds;
		least = !pass || seconds < least ? seconds : least;
	}
	printf("{\"n\": %llu, \"seconds\": %.6f}\n", (unsigned long long)n_rows, least);
	ts_sbt_reader_free(reader);
	close(fd);
	return 0;
}
