/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-sbt [LAUNCHES [TICK_NS [SEED [QUANTUM_NS]]]]: the bytes of a launch of a training job (API
 * row, device row, stack id) in an SBT file. Also the speed of writing and reading the file on one
 * core, by processor time. The same run measures the same rows as structs, as JSON and as interned
 * Perfetto packets (formats.c), each compressed by zstd.
 */
#include <sys/mman.h>
#include <time.h>

#include "sbt/read/reader-internal.h"
#include "test/bench/bench.h"
#include "test/bench/formats.h"
#include "test/bench/trainfile.h"

#define PASSES	  3
#define SEAL_ROWS 65536u /* the daemon's threshold */

static void generate(struct ts_bench_rows *rows, uint64_t n_launches, uint64_t tick_ns,
		     uint64_t seed)
{
	struct ts_training *training = malloc(sizeof(*training));
	int r = training ? 0 : -ENOMEM;

	ts_bench_check(r, "memory");
	ts_training_init(training, seed, tick_ns);
	while (!r && rows->n_launches < n_launches) {
		struct ts_bench_step step;

		ts_training_step(training);
		step = (struct ts_bench_step){training->n_api, training->n_kernels,
					      training->n_copies, training->n_sets};
		r = ts_buffer_append(&rows->steps, &step, sizeof(step));
		r = r
			    ?: ts_buffer_append(&rows->api, training->api,
						step.n_api * sizeof(*training->api));
		r = r
			    ?: ts_buffer_append(&rows->kernels, training->kernels,
						step.n_kernels * sizeof(*training->kernels));
		r = r
			    ?: ts_buffer_append(&rows->copies, training->copies,
						step.n_copies * sizeof(*training->copies));
		r = r
			    ?: ts_buffer_append(&rows->sets, training->sets,
						step.n_sets * sizeof(*training->sets));
		rows->n_launches += step.n_kernels + step.n_copies + step.n_sets;
	}
	ts_bench_check(r, "generate");
	free(training);
}

static const uint8_t *add(struct ts_sbt_session_writer *session, unsigned type, const uint8_t *rows,
			  uint32_t n)
{
	size_t n_added;

	ts_bench_check(ts_sbt_session_writer_add_rows(session, type, rows, n, &n_added),
		       "add rows");
	return rows + (size_t)n * ts_row_schema(type)->row_bytes;
}

/* Writes the file to memory and returns its descriptor. *ret_cpu_s: time from rows to file. */
static int encode(const struct ts_bench_rows *rows, uint64_t quantum_ns, double *ret_cpu_s)
{
	const struct ts_bench_step *step = (const void *)rows->steps.bytes;
	const uint8_t *api = rows->api.bytes, *kernels = rows->kernels.bytes,
		      *copies = rows->copies.bytes, *sets = rows->sets.bytes;
	size_t n_steps = rows->steps.n / sizeof(*step);
	struct ts_row_session row = {.pid = 1, .start_ns = 1};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	int fd = memfd_create("bench", MFD_CLOEXEC), copy = dup(fd);
	double start_s = ts_bench_cpu_s();

	ts_bench_check(ts_sbt_writer_new(copy, &writer), "writer");
	ts_bench_check(ts_sbt_writer_quantum(writer, quantum_ns), "quantum");
	ts_bench_check(ts_sbt_session_writer_new(writer, &row, &session), "session");
	ts_bench_check(ts_training_define(writer, session), "definitions");
	for (size_t i = 0; i < n_steps; i++, step++) {
		api = add(session, TS_ROW_API, api, step->n_api);
		kernels = add(session, TS_ROW_KERNEL, kernels, step->n_kernels);
		copies = add(session, TS_ROW_MEMCPY, copies, step->n_copies);
		sets = add(session, TS_ROW_MEMSET, sets, step->n_sets);
		if (ts_sbt_session_writer_pending_rows(session) >= SEAL_ROWS)
			ts_bench_check(ts_sbt_session_writer_seal(session, NULL, 0), "seal");
	}
	ts_bench_check(ts_sbt_session_writer_seal(session, NULL, 0), "seal");
	ts_sbt_session_writer_free(session);
	ts_bench_check(ts_sbt_writer_finish(writer), "finish");
	ts_sbt_writer_free(writer);
	*ret_cpu_s = ts_bench_cpu_s() - start_s;
	return fd;
}

/* Decodes all blocks to columns in memory. */
static double decode_columns(int fd)
{
	double start_s = ts_bench_cpu_s();
	struct ts_sbt_reader *reader;

	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_row_schema *schema = ts_row_schema(reader->blocks[i].type);
		struct ts_sbt_block_header header;
		struct ts_block_columns *columns;
		uint8_t *raw;

		if (!schema || !schema->is_event)
			continue;
		ts_bench_check(ts_sbt_reader_load(reader, i, &header, &raw), "load");
		ts_bench_check(ts_sbt_reader_columns(reader, i, schema, &header, raw, &columns),
			       "columns");
		free(columns);
		free(raw);
	}
	ts_sbt_reader_free(reader);
	return ts_bench_cpu_s() - start_s;
}

/* Decodes all blocks to rows. */
static double decode_rows(int fd, uint64_t n_want)
{
	double start_s = ts_bench_cpu_s();
	struct ts_sbt_reader *reader;
	uint64_t n_seen = 0;

	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		uint32_t n_rows;
		void *rows;

		if (!(TS_ROW_EVENTS & TS_ROW_BIT(reader->blocks[i].type)))
			continue;
		ts_bench_check(ts_sbt_reader_decode(reader, i, &rows, &n_rows), "decode");
		n_seen += n_rows;
		free(rows);
	}
	ts_sbt_reader_free(reader);
	ts_bench_check(n_seen == n_want ? 0 : 1, "rows are missing");
	return ts_bench_cpu_s() - start_s;
}

/* Reads all rows in order of time. */
static double walk(int fd, uint64_t n_want)
{
	double start_s = ts_bench_cpu_s();
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	uint64_t n_seen = 0;

	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	ts_bench_check(ts_sbt_cursor_new(reader, NULL, &cursor), "cursor");
	while (!ts_sbt_cursor_next(cursor, &row))
		n_seen++;
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	ts_bench_check(n_seen == n_want ? 0 : 1, "rows are missing");
	return ts_bench_cpu_s() - start_s;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Stored bytes of all blocks of a type. */
static uint64_t bytes_of(int fd, unsigned type)
{
	struct ts_sbt_reader *reader;
	uint64_t n = 0;

	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	for (size_t i = 0; i < reader->n_blocks; i++)
		if (reader->blocks[i].type == type)
			n += reader->blocks[i].bytes;
	ts_sbt_reader_free(reader);
	return n;
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 1000000), n_rows;
	uint64_t tick_ns = argc > 2 ? strtoull(argv[2], NULL, 10) : 32;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	uint64_t quantum_ns = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	double encode_s = 1e9, columns_s = 1e9, rows_s = 1e9, walk_s = 1e9, seconds, per;
	struct ts_bench_rows rows = {0};
	struct ts_bench_size size;
	int fd = -1;

	ts_bench_one_thread();
	generate(&rows, n, tick_ns ? tick_ns : 1, seed);
	n = rows.n_launches;
	per = (double)n;
	n_rows = n + rows.api.n / sizeof(struct ts_row_api);
	for (int pass = 0; pass < PASSES; pass++) {
		if (fd >= 0)
			close(fd);
		fd = encode(&rows, quantum_ns, &seconds);
		encode_s = least(encode_s, seconds);
		columns_s = least(columns_s, decode_columns(fd));
		rows_s = least(rows_s, decode_rows(fd, n_rows));
		walk_s = least(walk_s, walk(fd, n_rows));
	}
	printf("{\"n\": %" PRIu64 ", \"tick_ns\": %" PRIu64 ", \"sbt\": %.3f, \"sbt_api\": %.3f, "
	       "\"sbt_kernel\": %.3f",
	       n, tick_ns, (double)lseek(fd, 0, SEEK_END) / per,
	       (double)bytes_of(fd, TS_ROW_API) / per, (double)bytes_of(fd, TS_ROW_KERNEL) / per);
	printf(", \"encode_per_s\": %.0f, \"columns_per_s\": %.0f, \"rows_per_s\": %.0f, "
	       "\"walk_per_s\": %.0f",
	       per / encode_s, per / columns_s, per / rows_s, per / walk_s);
	for (unsigned format = 0; format < TS_BENCH_FORMATS; format++) {
		ts_bench_check(ts_bench_measure(format, &rows, &size), "format");
		printf(", \"%s\": {\"plain\": %.2f, \"zstd\": %.3f}", ts_bench_format_name(format),
		       (double)size.plain / per, (double)size.compressed / per);
	}
	printf("}\n");
	close(fd);
	ts_buffer_deinit(&rows.steps);
	ts_buffer_deinit(&rows.api);
	ts_buffer_deinit(&rows.kernels);
	ts_buffer_deinit(&rows.copies);
	ts_buffer_deinit(&rows.sets);
	return 0;
}
