/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-csv FOLDER LAUNCHES [TICK_NS [SEED]]: writes the rows of a training job (training.h) as
 * CSV, one file for each type, and load.sql, which converts each CSV to a Parquet file. run.py
 * compares the Parquet files' size with SBT.
 */
#include <string.h>

#include "test/bench/bench.h"
#include "test/bench/training.h"

static const unsigned types[] = {TS_ROW_API, TS_ROW_KERNEL, TS_ROW_MEMCPY, TS_ROW_MEMSET};

static FILE *open_file(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static const char *sql_type(const struct ts_column *column)
{
	switch (column->width) {
	case 1:
		return column->is_signed ? "TINYINT" : "UTINYINT";
	case 2:
		return column->is_signed ? "SMALLINT" : "USMALLINT";
	case 4:
		return column->is_signed ? "INTEGER" : "UINTEGER";
	default:
		return column->is_signed ? "BIGINT" : "UBIGINT";
	}
}

static void write_sql(FILE *f, const struct ts_row_schema *schema)
{
	fprintf(f, "COPY (SELECT * FROM read_csv('%s.csv', header = false, columns = {",
		schema->name);
	for (unsigned c = 0; c < schema->n_columns; c++)
		fprintf(f, "%s'%s': '%s'", c ? ", " : "", schema->columns[c].name,
			sql_type(&schema->columns[c]));
	fprintf(f, "})) TO '%s.parquet' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2);\n",
		schema->name);
}

static void write_rows(FILE *f, const struct ts_row_schema *schema, const void *rows, unsigned n)
{
	const uint8_t *row = rows;

	for (unsigned i = 0; i < n; i++, row += schema->row_bytes)
		for (unsigned c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];
			uint64_t v = ts_column_get(column, row);

			if (column->is_signed)
				fprintf(f, "%" PRId64, (int64_t)v);
			else
				fprintf(f, "%" PRIu64, v);
			putc(c + 1 < schema->n_columns ? ',' : '\n', f);
		}
}

int main(int argc, char **argv)
{
	struct ts_training *training = malloc(sizeof(*training));
	FILE *files[TS_ARRAY_LEN(types)], *sql;
	uint64_t n = 0, n_launches;
	int r = 0;

	if (argc < 3 || !training) {
		fprintf(stderr, "usage: bench-csv FOLDER LAUNCHES [TICK_NS [SEED]]\n");
		return 2;
	}
	n_launches = strtoull(argv[2], NULL, 10);
	sql = open_file(argv[1], "load.sql");
	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.csv", ts_row_schema(types[i])->name);
		files[i] = open_file(argv[1], name);
		write_sql(sql, ts_row_schema(types[i]));
	}
	ts_training_init(training, argc > 4 ? strtoull(argv[4], NULL, 10) : 1,
			 argc > 3 ? strtoull(argv[3], NULL, 10) : 32);
	while (n < n_launches) {
		ts_training_step(training);
		write_rows(files[0], ts_row_schema(TS_ROW_API), training->api, training->n_api);
		write_rows(files[1], ts_row_schema(TS_ROW_KERNEL), training->kernels,
			   training->n_kernels);
		write_rows(files[2], ts_row_schema(TS_ROW_MEMCPY), training->copies,
			   training->n_copies);
		write_rows(files[3], ts_row_schema(TS_ROW_MEMSET), training->sets,
			   training->n_sets);
		n += training->n_kernels + training->n_copies + training->n_sets;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++)
		r |= fclose(files[i]);
	r |= fclose(sql);
	free(training);
	printf("{\"n\": %" PRIu64 "}\n", n);
	return r ? 1 : 0;
}
