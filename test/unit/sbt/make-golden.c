/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the files of golden/ to the folder that SBT_GOLDEN names. It writes only files that are
 * missing: a file of a released version is never made again.
 */
#include "test/unit/harness.h"

#include "sbt/append.h"
#include "sbt/repair.h"
#include "test/unit/sbt/golden-dump.h"
#include "test/unit/sbt/sbt-test.h"

/* More rows than a block needs to have summaries. */
#define WANTED 66u

static char directory[3000];

static int create(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

static void write_dump(struct ts_sbt_reader *reader, const char *name)
{
	FILE *out = fdopen(create(name), "w");

	ts_check(out);
	ts_check_int(golden_dump(out, reader), 0);
	ts_check_int(fclose(out), 0);
}

static struct ts_sbt_reader *open_reader(int fd)
{
	int own = test_reopen(fd, O_RDONLY);
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(own, &reader, NULL), 0);
	close(own);
	return reader;
}

static void dump_and_close(int fd, const char *name)
{
	int own = test_reopen(fd, O_RDONLY);
	struct ts_sbt_reader *reader;

	/* The writer's lock ends with its last descriptor. */
	close(fd);
	reader = open_reader(own);
	write_dump(reader, name);
	ts_sbt_reader_free(reader);
	close(own);
}

struct made {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint64_t state, now;
};

static void begin_session(struct made *made, uint32_t pid)
{
	struct ts_row_session row = {.pid = pid,
				     .uid = 1000,
				     .start_ns = 1000000,
				     .start_realtime_ns = 1700000000000000000,
				     .clock_error_ns = 45,
				     .uuid = {1, 2, 3, (uint8_t)pid},
				     .host_clock = 2,
				     .state = 2};
	struct ts_row_thread thread = {.start_ns = 1000100};
	struct ts_row_module module = {.start_ns = 1000001,
				       .address = 0x7f0000000000,
				       .address_end = 0x7f0000100000,
				       .bias = 0x7f0000000000,
				       .n_build_id_bytes = 20,
				       .build_id = {0xde, 0xad, 0xbe, 0xef}};
	struct ts_row_device device = {.memory_bytes = UINT64_C(80) << 30,
				       .compute_capability_major = 9,
				       .flags = 1};
	struct ts_row_name name = {.start_ns = 1000200, .object = 4711, .kind = 1};
	uint64_t frames[5] = {0x7f0000001000, 0x7f0000002345, 0, 0x400010};
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(made->writer, "a program", 9, &row.program), 0);
	ts_check_int(ts_sbt_session_writer_new(made->writer, &row, &made->session), 0);
	ts_check_int(ts_sbt_writer_string(made->writer, "/lib/libx.so", 12, &module.path), 0);
	ts_check_int(ts_sbt_session_writer_add_row(made->session, TS_ROW_MODULE, &module), 0);
	ts_check_int(ts_sbt_writer_string(made->writer, "A \xc3\xa4 GPU\0!", 9, &device.name), 0);
	ts_check_int(ts_sbt_session_writer_add_row(made->session, TS_ROW_DEVICE, &device), 0);
	ts_check_int(ts_sbt_writer_string(made->writer, "", 0, &name.name), 0);
	ts_check_int(ts_sbt_session_writer_add_row(made->session, TS_ROW_NAME, &name), 0);
	for (uint32_t i = 0; i < 6; i++) {
		thread.tid = 100 * pid + i;
		ts_check_int(ts_sbt_session_writer_add_thread(made->session, &thread, &id), 0);
		ts_check_int(ts_sbt_writer_string(made->writer, "function\nfile.py", 16, &id), 0);
		frames[2] = TS_FRAME_PYTHON_AT(id, 10 * i);
		ts_check_int(ts_sbt_session_writer_add_stack(made->session, frames, i % 5,
							     i == 3 ? TS_STACK_TRUNCATED : 0, &id),
			     0);
	}
}

static void add_rows(struct made *made, unsigned mode, unsigned n_few, unsigned n_many)
{
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		bool many = type == TS_ROW_API || type == TS_ROW_KERNEL || type == TS_ROW_RANGE;

		for (unsigned i = 0; i < (many ? n_many : n_few); i++) {
			uint8_t row[TS_ROW_MAX_BYTES];

			test_row(ts_row_schema(type), &made->state, mode, &made->now, row);
			ts_check_int(ts_sbt_session_writer_add_row(made->session, type, row), 0);
		}
	}
	ts_check_int(ts_sbt_session_writer_seal(made->session, "where it was", 12), 0);
}

static struct made begin(int fd)
{
	struct made made = {.state = 20261122, .now = 1000000};

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &made.writer), 0);
	ts_check_int(ts_sbt_writer_metadata(made.writer, TS_METADATA_HOSTNAME, "node-1"), 0);
	ts_check_int(ts_sbt_writer_metadata(made.writer, TS_METADATA_KERNEL, "Linux 6.1"), 0);
	return made;
}

static void end(struct made *made)
{
	ts_check_int(ts_sbt_writer_finish(made->writer), 0);
	ts_sbt_writer_free(made->writer);
}

static int write_trace(const char *name, unsigned mode, unsigned n_few, unsigned n_many)
{
	int fd = create(name);
	struct made made = begin(fd);

	for (uint32_t pid = 1; pid <= 2; pid++) {
		begin_session(&made, pid);
		add_rows(&made, mode, n_few, pid == 1 ? n_many : n_few);
		ts_sbt_session_writer_free(made.session);
	}
	end(&made);
	return fd;
}

static void make_cut(void)
{
	int whole = write_trace("cut.sbt", 2, 2, WANTED), repaired;
	struct ts_sbt_repair_report report;
	struct ts_sbt_error error;
	uint8_t *bytes;
	size_t n;

	bytes = test_contents(whole, &n);
	n = n * 3 / 5;
	ts_check_int(ftruncate(whole, (off_t)n), 0);
	dump_and_close(whole, "cut.txt");
	repaired = create("repaired.sbt");
	ts_check(pwrite(repaired, bytes, n, 0) == (ssize_t)n);
	ts_check_int(ts_sbt_repair(repaired, &report, &error), 0);
	dump_and_close(repaired, "repaired.txt");
	free(bytes);
}

static void make_appended(void)
{
	int fd = write_trace("appended.sbt", 2, 1, 3);
	struct ts_row_image image = {.image = 1, .n_build_id_bytes = 20, .build_id = {0xde, 0xad}};
	struct ts_row_symbol symbol = {.image = 1, .line = 42};
	struct ts_sbt_append *append;
	struct ts_sbt_error error;

	ts_check_int(ts_sbt_append_new(fd, &append, &error), 0);
	ts_check_int(ts_sbt_append_string(append, "/lib/libx.so", 12, &image.path), 0);
	ts_check_int(ts_sbt_append_row(append, TS_ROW_IMAGE, &image), 0);
	ts_check_int(ts_sbt_append_string(append, "inlined(int)", 12, &symbol.function), 0);
	ts_check_int(ts_sbt_append_string(append, "x.cc", 4, &symbol.file), 0);
	for (symbol.address = 0x1000; symbol.address < 0x1400; symbol.address += 0x155)
		for (symbol.depth = 0; symbol.depth < 2; symbol.depth++)
			ts_check_int(ts_sbt_append_row(append, TS_ROW_SYMBOL, &symbol), 0);
	ts_check_int(ts_sbt_append_commit(append, &error), 0);
	ts_sbt_append_free(append);
	dump_and_close(fd, "appended.txt");
}

static void make_parts(void)
{
	int first = create("parts.1.sbt"), second = create("parts.sbt");
	struct made made = begin(first);
	struct ts_sbt_reader *reader, *before;

	begin_session(&made, 1);
	add_rows(&made, 2, 1, 10);
	ts_check_int(ts_sbt_writer_continue(made.writer, fcntl(second, F_DUPFD_CLOEXEC, 3), 1), 0);
	add_rows(&made, 2, 1, 10);
	ts_sbt_session_writer_free(made.session);
	end(&made);
	reader = open_reader(second);
	before = open_reader(first);
	ts_check_int(ts_sbt_reader_join(reader, &before, 1), 0);
	write_dump(reader, "parts.txt");
	ts_sbt_reader_free(reader);
	dump_and_close(first, "parts.1.txt");
	close(second);
}

/* Writes enough samples for a summary of their block. */
static void make_samples(void)
{
	int fd = create("samples.sbt");
	struct made made = begin(fd);

	begin_session(&made, 1);
	for (unsigned i = 0; i < 70; i++) {
		uint8_t row[TS_ROW_MAX_BYTES];

		test_row(ts_row_schema(TS_ROW_SAMPLE), &made.state, 2, &made.now, row);
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_SAMPLE, row), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(made.session, "where it was", 12), 0);
	ts_sbt_session_writer_free(made.session);
	end(&made);
	dump_and_close(fd, "samples.txt");
}

/* Writes kernels by a clock that ticks, whose times are SCALED. */
static void make_scaled(void)
{
	int fd = create("scaled.sbt");
	struct made made = begin(fd);
	struct ts_row_kernel row = {.context = 1, .stream = 7};

	begin_session(&made, 1);
	for (unsigned i = 0; i < 700; i++) {
		uint64_t kind = test_random(&made.state) % 3;

		row.start_ns = made.now += 32 * (30 + test_random(&made.state) % 8);
		row.end_ns = row.start_ns + 32 * (100 << 2 * kind);
		row.end_ns += 32 * (test_random(&made.state) % (UINT64_C(8) << 2 * kind)) + i % 2;
		row.end_ns += i % 300 == 77 ? 1000000 : 0;
		made.now = row.end_ns;
		row.op_id = i + 1;
		row.grid_x = 1 + (uint32_t)kind;
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_KERNEL, &row), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(made.session, "where it was", 12), 0);
	ts_sbt_session_writer_free(made.session);
	end(&made);
	dump_and_close(fd, "scaled.txt");
}

/* Writes rows whose times are relative to calls, in each of the ways, and rows without a call. */
static void make_calls(void)
{
	int fd = create("calls.sbt");
	struct made made = begin(fd);

	begin_session(&made, 1);
	for (uint32_t i = 1; i <= 40; i++) {
		struct ts_row_api api = {.op_id = i, .cbid = 211, .domain = 1};
		struct ts_row_access access = {.op_id = i, .access = 1, .dst = 4096 * i};
		struct ts_row_sync sync = {.op_id = i, .sync_type = 1};
		struct ts_row_kernel kernel = {.op_id = i % 9 ? i : 0, .stream = 7};

		api.start_ns = made.now += 1000 + test_random(&made.state) % 4096;
		api.end_ns = made.now += test_random(&made.state) % 16384;
		if (i % 7 == 0) {
			api.op_id = 0;
			api.nested_op_id = i;
		}
		access.start_ns = api.end_ns;
		sync.start_ns = api.start_ns + test_random(&made.state) % 32;
		sync.end_ns = api.end_ns - test_random(&made.state) % 32;
		kernel.start_ns = api.start_ns + test_random(&made.state) % 256;
		kernel.end_ns = kernel.start_ns + 1000 + i % 2;
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_API, &api), 0);
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_ACCESS, &access),
			     0);
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_SYNC, &sync), 0);
		ts_check_int(ts_sbt_session_writer_add_row(made.session, TS_ROW_KERNEL, &kernel),
			     0);
	}
	ts_check_int(ts_sbt_session_writer_seal(made.session, "where it was", 12), 0);
	ts_sbt_session_writer_free(made.session);
	end(&made);
	dump_and_close(fd, "calls.txt");
}

TS_TEST(make)
{
	dump_and_close(write_trace("every-type.sbt", 2, 2, WANTED), "every-type.txt");
	dump_and_close(write_trace("extremes.sbt", 1, 2, 6), "extremes.txt");
	dump_and_close(write_trace("operations.sbt", 2, 1, WANTED), "operations.txt");
	make_cut();
	make_appended();
	make_parts();
	make_samples();
	make_scaled();
	make_calls();
}

__attribute__((constructor)) static void take_directory(void)
{
	const char *wanted = getenv("SBT_GOLDEN");

	snprintf(directory, sizeof(directory), "%s", wanted ? wanted : "/nowhere");
}
