/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the GPU time of each kernel of a trace with its number of launches, longest first. Written in C++. Uses the
 * sums that the file itself contains.
 *
 *	c++ totals.cc $(pkg-config --cflags --libs tracesmith) -o totals && ./totals FILE
 */
#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

#include <tracesmith.h>

struct FreeReader {
	void operator()(ts_sbt_reader *reader) const
	{
		ts_sbt_reader_free(reader);
	}
};

struct FreeTotals {
	void operator()(ts_sbt_totals *totals) const
	{
		ts_sbt_totals_free(totals);
	}
};

static int fail(const char *path, const char *text)
{
	std::fprintf(stderr, "%s: %s\n", path, text);
	return 2;
}

int main(int argc, char **argv)
{
	ts_sbt_cursor_options options = {};
	std::vector<const ts_sbt_total *> kernels;
	ts_sbt_reader *opened = nullptr;
	ts_sbt_totals *summed = nullptr;
	ts_sbt_error error = {};

	if (argc != 2)
		return fail("usage", "totals FILE");
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(argv[1], "cannot be opened");
	int r = ts_sbt_reader_open(fd, &opened, &error);
	close(fd);
	if (r)
		return fail(argv[1], error.text);
	std::unique_ptr<ts_sbt_reader, FreeReader> reader(opened);

	options.types = TS_ROW_BIT(TS_ROW_KERNEL);
	if (ts_sbt_totals_new(reader.get(), &options, &summed))
		return fail(argv[1], ts_sbt_reader_error(reader.get())->text);
	std::unique_ptr<ts_sbt_totals, FreeTotals> totals(summed);
	for (size_t i = 0; i < ts_sbt_totals_count(totals.get()); i++)
		kernels.push_back(ts_sbt_totals_at(totals.get(), i));
	std::sort(kernels.begin(), kernels.end(), [](const ts_sbt_total *a, const ts_sbt_total *b) {
		return a->duration_ns > b->duration_ns;
	});
	for (const ts_sbt_total *total : kernels) {
		ts_row_kernel row;
		ts_sbt_total_row(total, &row);
		const char *name = ts_sbt_reader_string(reader.get(), row.name, nullptr);
		std::printf("%llu\t%llu\t%s\n", static_cast<unsigned long long>(total->duration_ns),
			    static_cast<unsigned long long>(total->count), name ? name : "?");
	}
	return 0;
}
