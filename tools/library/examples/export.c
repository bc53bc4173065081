/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How do Perfetto, pprof or flame graphs read it? Writes the trace to standard output as
 * "perfetto", "json", "folded", "pprof" or "svg". `tsctl export` writes the same.
 *
 *     cc export.c $(pkg-config --cflags --libs tracesmith) -o export
 *     ./export FILE perfetto >trace.pftrace
 */
#include "example.h"

int main(int argc, char **argv)
{
	struct ts_export_report report;
	struct ts_sbt_reader *reader;
	enum ts_export_format format;
	int r;

	if (argc != 3) {
		fprintf(stderr, "usage: export FILE FORMAT\n");
		return 2;
	}
	format = ts_export_format_of(argv[2]);
	if (format == TS_EXPORT_N_FORMATS) {
		fprintf(stderr, "%s: no such format\n", argv[2]);
		return 2;
	}
	reader = example_open(argv[1]);
	r = ts_export_fd(reader, format, NULL, STDOUT_FILENO, &report);
	if (r)
		fprintf(stderr, "%s: %s\n", argv[1],
			r < 0 ? strerror(-r) : ts_sbt_reader_error(reader)->text);
	else if (report.damaged)
		fprintf(stderr, "%s: %s\n", argv[1], report.damage.text);
	ts_sbt_reader_free(reader);
	return r || report.damaged ? 2 : 0;
}
