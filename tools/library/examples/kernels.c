/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the GPU time of each kernel of a trace with its number of launches, longest first.
 *
 *     cc kernels.c $(pkg-config --cflags --libs tracesmith) -o kernels && ./kernels FILE
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracesmith.h>

struct total {
	uint32_t name; /* the file's id: equal names have equal ids */
	uint64_t n;
	uint64_t ns;
};

struct totals {
	struct total *all;
	size_t n;
	size_t n_allocated;
};

static int by_name(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return (x->name > y->name) - (x->name < y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static int add(struct totals *totals, uint32_t name, uint64_t ns)
{
	struct total *more;

	if (totals->n == totals->n_allocated) {
		totals->n_allocated = totals->n_allocated ? totals->n_allocated * 2 : 1024;
		more = realloc(totals->all, totals->n_allocated * sizeof(*more));
		if (!more)
			return -1;
		totals->all = more;
	}
	totals->all[totals->n++] = (struct total){name, 1, ns};
	return 0;
}

/* Sums the entries of each name into one. */
static void join(struct totals *totals)
{
	size_t n = 0;

	qsort(totals->all, totals->n, sizeof(*totals->all), by_name);
	for (size_t i = 0; i < totals->n; i++) {
		if (n && totals->all[n - 1].name == totals->all[i].name) {
			totals->all[n - 1].n += totals->all[i].n;
			totals->all[n - 1].ns += totals->all[i].ns;
		} else {
			totals->all[n++] = totals->all[i];
		}
	}
	totals->n = n;
}

static int count(struct ts_sbt_reader *reader, struct totals *totals)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	if (r)
		return r;
	while (!(r = ts_sbt_cursor_next(cursor, &row))) {
		uint64_t start = row.kernel->start_ns, end = row.kernel->end_ns;

		if (add(totals, row.kernel->name, end > start ? end - start : 0) < 0) {
			r = -ENOMEM;
			break;
		}
		if (totals->n == 1u << 20)
			join(totals);
	}
	ts_sbt_cursor_free(cursor);
	return r == TS_SBT_E_END ? 0 : r;
}

int main(int argc, char **argv)
{
	struct ts_sbt_error error;
	struct ts_sbt_reader *reader;
	struct totals totals = {0};
	int fd, r;

	if (argc != 2) {
		fprintf(stderr, "usage: kernels FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	r = ts_sbt_reader_open(fd, &reader, &error);
	close(fd);
	if (r) {
		fprintf(stderr, "%s: %s\n", argv[1], error.text);
		return 2;
	}
	r = count(reader, &totals);
	if (r)
		fprintf(stderr, "%s: %s\n", argv[1], ts_sbt_reader_error(reader)->text);
	join(&totals);
	qsort(totals.all, totals.n, sizeof(*totals.all), by_time);
	for (size_t i = 0; i < totals.n; i++) {
		const char *name = ts_sbt_reader_string(reader, totals.all[i].name, NULL);

		printf("%" PRIu64 "\t%" PRIu64 "\t%s\n", totals.all[i].ns, totals.all[i].n,
		       name ? name : "?");
	}
	free(totals.all);
	ts_sbt_reader_free(reader);
	return r ? 2 : 0;
}
