/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports rows with false contents: impossible times, unknown ids, everything at once. The output
 * is still valid for its readers.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "sbt/writer.h"
#include "tools/export/export.h"
#include "tools/export/perfetto.pb-c.h"

#define N_ROUNDS 60
#define N_ROWS	 150

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % n;
}

/* Returns a random number, mostly a small one, sometimes one at the limits of a type. */
static uint64_t any(void)
{
	static const uint64_t edges[] = {0,
					 1,
					 UINT32_MAX,
					 INT32_MAX,
					 INT64_MAX,
					 UINT64_MAX,
					 UINT64_C(1) << 63,
					 1000,
					 UINT64_MAX / 2,
					 UINT64_MAX - 1};

	return below(8) ? below(4000) : edges[below(TS_ARRAY_LEN(edges))];
}

/* Adds an event row with random values in every column. Its end, if it has one, is any time. */
static void add_row(struct ts_sbt_session_writer *session, unsigned int type)
{
	uint64_t row[64];
	const struct ts_row_schema *schema = ts_row_schema(type);

	ts_check(schema->row_bytes <= sizeof(row));
	for (size_t i = 0; i < TS_ARRAY_LEN(row); i++)
		row[i] = below(2) ? any() : below(5) << 32 | below(5);
	/* The writer rejects only values that exceed a column's width. */
	ts_sbt_session_writer_add_row(session, type, row);
}

static struct ts_sbt_reader *make_trace(void)
{
	struct ts_row_session row = {.pid = (uint32_t)any(),
				     .start_ns = any(),
				     .start_realtime_ns = any()};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	for (unsigned int i = 0; i < 2; i++) {
		ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
		for (unsigned int j = 0; j < N_ROWS; j++)
			add_row(session, TS_ROW_API + (unsigned int)below(25));
		ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
		ts_sbt_session_writer_free(session);
		row.pid = (uint32_t)any();
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy, &reader, NULL), 0);
	close(copy);
	return reader;
}

static const char *no_name(uint32_t number)
{
	return NULL;
}

static const char *no_pair(uint32_t domain, uint32_t number)
{
	return NULL;
}

static const char *no_kernel(void *user, uint32_t name)
{
	return NULL;
}

static const char *no_thread(void *user, uint32_t session, const struct ts_row_thread *thread)
{
	return NULL;
}

static const char *no_stream(void *user, const struct ts_sbt_row *row)
{
	return NULL;
}

static const char *no_place(void *user, uint32_t session, uint32_t stack, uint64_t time_ns)
{
	return NULL;
}

static const struct ts_export_names names = {
	.api = no_pair,
	.api_error = no_pair,
	.copy_kind = no_name,
	.memory_kind = no_name,
	.sync_type = no_name,
	.overhead_kind = no_name,
	.off_cpu_reason = no_name,
	.syscall = no_name,
	.fault_kind = no_name,
	.block_operation = no_name,
	.pressure_kind = no_name,
	.driver_kind = no_name,
	.kernel = no_kernel,
	.thread = no_thread,
	.stream = no_stream,
	.place = no_place,
};

TS_TEST(perfetto_is_well_formed)
{
	for (unsigned int round = 0; round < N_ROUNDS; round++) {
		struct ts_export_options options = {.names = &names};
		struct ts_export_report report;
		struct ts_sbt_reader *reader;
		Ts__Perfetto__Trace *trace;
		size_t n, n_open = 0;
		char *bytes;
		FILE *file = open_memstream(&bytes, &n);

		seed = round;
		reader = make_trace();
		options.from_ns = round % 3 ? 0 : any();
		ts_check_int(ts_export_perfetto(reader, &options, file, &report), 0);
		ts_check_int(fclose(file), 0);
		trace = ts__perfetto__trace__unpack(NULL, n, (uint8_t *)bytes);
		ts_check(trace);
		for (size_t i = 0; i < trace->n_packet; i++) {
			const Ts__Perfetto__TrackEvent *event = trace->packet[i]->track_event;

			if (!event)
				continue;
			/* Readers store times as signed numbers. */
			ts_check(trace->packet[i]->timestamp <= INT64_MAX);
			n_open += event->type == TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
			n_open -= event->type == TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
		}
		ts_check_int(n_open, 0);
		ts_check(options.from_ns || trace->n_packet > N_ROWS);
		ts__perfetto__trace__free_unpacked(trace, NULL);
		ts_sbt_reader_free(reader);
		free(bytes);
	}
}

TS_TEST(kineto_ends)
{
	for (unsigned int round = 0; round < N_ROUNDS; round++) {
		struct ts_export_options options = {.names = &names};
		struct ts_export_report report;
		struct ts_sbt_reader *reader;
		char *text;
		size_t n;
		FILE *file = open_memstream(&text, &n);

		seed = 1000 + round;
		reader = make_trace();
		ts_check_int(ts_export_kineto(reader, &options, file, &report), 0);
		ts_check_int(fclose(file), 0);
		ts_check(n > 4 && !strcmp(text + n - 4, "\n]}\n"));
		ts_sbt_reader_free(reader);
		free(text);
	}
}
