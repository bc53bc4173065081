/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the stacks of a trace with known stacks. The test makes the trace row by row. */
#include "sbt/writer.h"
#include "test/unit/harness.h"
#include "tools/export/export.h"

#include <sys/mman.h>

#define START_NS    UINT64_C(1000000000)
#define LIB	    UINT64_C(0x7f0000000000)
#define LIB_FILE    UINT64_C(0x1000)
#define MANY_STACKS 100000u
#define MANY_ROUNDS 2u

struct maker {
	int fd;
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint32_t thread;
	uint64_t last_op, time_ns;
};

static uint32_t string(struct maker *maker, const char *text)
{
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(maker->writer, text, strlen(text), &id), 0);
	return id;
}

static void add(struct maker *maker, unsigned int type, const void *row)
{
	int r = ts_sbt_session_writer_add_row(maker->session, type, row);

	if (r == TS_SBT_E_FULL) {
		ts_check_int(ts_sbt_session_writer_seal(maker->session, NULL, 0), 0);
		r = ts_sbt_session_writer_add_row(maker->session, type, row);
	}
	ts_check_int(r, 0);
}

static void add_session(struct maker *maker, uint32_t pid, const char *program)
{
	struct ts_row_session row = {.pid = pid,
				     .start_ns = START_NS,
				     .program = string(maker, program)};
	struct ts_row_thread thread = {.tid = pid + 1, .name = string(maker, "worker")};

	ts_check_int(ts_sbt_session_writer_new(maker->writer, &row, &maker->session), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(maker->session, &thread, &maker->thread), 0);
}

static void end_session(struct maker *maker)
{
	ts_check_int(ts_sbt_session_writer_seal(maker->session, NULL, 0), 0);
	ts_sbt_session_writer_free(maker->session);
	maker->session = NULL;
}

static struct maker begin(void)
{
	struct maker maker = {.fd = memfd_create("trace", MFD_CLOEXEC), .time_ns = START_NS};
	int fd = dup(maker.fd);

	ts_check(maker.fd >= 0 && fd >= 0);
	ts_check_int(ts_sbt_writer_new(fd, &maker.writer), 0);
	add_session(&maker, 100, "app");
	return maker;
}

/* Adds the image /lib/libx.so, mapped at LIB, with symbols at addresses relative to the file. */
static uint32_t add_image(struct maker *maker)
{
	struct ts_row_image image = {.image = 1,
				     .path = string(maker, "/lib/libx.so"),
				     .kind = TS_IMAGE_ELF};

	ts_check_int(ts_sbt_writer_row(maker->writer, TS_ROW_IMAGE, &image), 0);
	return image.image;
}

static void add_module(struct maker *maker, const char *path, uint64_t address, uint64_t start_ns,
		       uint32_t flags)
{
	struct ts_row_module row = {.start_ns = start_ns,
				    .address = address,
				    .address_end = address + 0x10000,
				    .bias = address - LIB_FILE,
				    .path = string(maker, path),
				    .flags = flags};

	add(maker, TS_ROW_MODULE, &row);
}

static void add_symbol(struct maker *maker, uint64_t address, uint32_t depth, const char *function,
		       uint32_t line)
{
	struct ts_row_symbol row = {.address = address,
				    .image = 1,
				    .depth = depth,
				    .function = function ? string(maker, function) : 0,
				    .file = string(maker, "/src/x.c"),
				    .line = line};

	ts_check_int(ts_sbt_writer_row(maker->writer, TS_ROW_SYMBOL, &row), 0);
}

static uint32_t add_stack(struct maker *maker, const uint64_t *frames, uint32_t n, uint32_t flags)
{
	uint32_t id;

	ts_check_int(ts_sbt_session_writer_add_stack(maker->session, frames, n, flags, &id), 0);
	return id;
}

/* Adds a call; its operation id becomes the maker's last_op. */
static void call(struct maker *maker, uint32_t stack)
{
	struct ts_row_api api = {.start_ns = maker->time_ns += 100,
				 .end_ns = maker->time_ns + 50,
				 .op_id = ++maker->last_op,
				 .thread = maker->thread,
				 .stack = stack,
				 .domain = TS_API_CUDA_RUNTIME};

	add(maker, TS_ROW_API, &api);
}

static void kernel(struct maker *maker, const char *name, uint64_t op_id, uint64_t duration_ns)
{
	struct ts_row_kernel row = {.start_ns = maker->time_ns + 10,
				    .end_ns = maker->time_ns + 10 + duration_ns,
				    .op_id = op_id,
				    .name = name ? string(maker, name) : 0};

	add(maker, TS_ROW_KERNEL, &row);
}

static void launch(struct maker *maker, uint32_t stack, const char *name, uint64_t duration_ns)
{
	call(maker, stack);
	kernel(maker, name, maker->last_op, duration_ns);
}

static void copy(struct maker *maker, uint32_t stack, uint64_t bytes, uint64_t duration_ns)
{
	struct ts_row_memcpy row;

	call(maker, stack);
	row = (struct ts_row_memcpy){.start_ns = maker->time_ns,
				     .end_ns = maker->time_ns + duration_ns,
				     .op_id = maker->last_op,
				     .bytes = bytes,
				     .copy_kind = 1};
	add(maker, TS_ROW_MEMCPY, &row);
}

static void set(struct maker *maker, uint32_t stack, uint64_t duration_ns)
{
	struct ts_row_memset row;

	call(maker, stack);
	row = (struct ts_row_memset){.start_ns = maker->time_ns,
				     .end_ns = maker->time_ns + duration_ns,
				     .op_id = maker->last_op,
				     .bytes = 64};
	add(maker, TS_ROW_MEMSET, &row);
}

static struct ts_sbt_reader *finish(struct maker *maker)
{
	struct ts_sbt_reader *reader;

	if (maker->session)
		end_session(maker);
	ts_check_int(ts_sbt_writer_finish(maker->writer), 0);
	ts_sbt_writer_free(maker->writer);
	ts_check_int(ts_sbt_reader_open(maker->fd, &reader, NULL), 0);
	close(maker->fd);
	return reader;
}

static const char *kind_name(uint32_t kind)
{
	return kind == 1 ? "htod" : NULL;
}

static const char *reason_name(uint32_t reason)
{
	return reason == TS_OFF_CPU_FUTEX ? "futex" : NULL;
}

static char *fold(struct ts_sbt_reader *reader, struct ts_export_options options,
		  struct ts_export_report *ret_report)
{
	static const struct ts_export_names names = {.copy_kind = kind_name,
						     .off_cpu_reason = reason_name};
	char *text = NULL;
	size_t n;
	FILE *file = open_memstream(&text, &n);

	ts_check(file);
	options.names = &names;
	ts_check_int(ts_export_folded(reader, &options, file, ret_report), 0);
	ts_check_int(fclose(file), 0);
	return text;
}

static void check_folded(struct ts_sbt_reader *reader, struct ts_export_options options,
			 const char *want)
{
	struct ts_export_report report;
	char *text = fold(reader, options, &report);

	ts_check_str(text, want);
	free(text);
}

/* Frames of a function, of inlined functions, without a symbol, and in no file. */
static const uint64_t frames[] = {LIB + 0x100, LIB + 0x201, LIB + 0x301, 0x55};

static uint32_t add_known(struct maker *maker)
{
	add_image(maker);
	add_module(maker, "/lib/libx.so", LIB, START_NS, 0);
	/*
	 * The innermost frame has its exact address; the others are return addresses behind their
	 * calls.
	 */
	add_symbol(maker, LIB_FILE + 0x100, 0, "leaf()", 7);
	add_symbol(maker, LIB_FILE + 0x200, 0, "inlined", 8);
	add_symbol(maker, LIB_FILE + 0x200, 1, "outer", 9);
	return add_stack(maker, frames, TS_ARRAY_LEN(frames), 0);
}

TS_TEST(every_kind_of_frame)
{
	struct maker maker = begin();
	uint32_t stack = add_known(&maker);
	uint64_t python[] = {LIB + 0x100, 0, 0};
	struct ts_sbt_reader *reader;

	python[1] = TS_FRAME_PYTHON_AT(string(&maker, "train\n/src/train.py"), 12);
	python[2] = TS_FRAME_PYTHON_AT(string(&maker, "<module>\n/src/train.py"), 30);
	launch(&maker, stack, "k", 5);
	launch(&maker, add_stack(&maker, python, TS_ARRAY_LEN(python), TS_STACK_TRUNCATED), "k", 7);
	reader = finish(&maker);
	check_folded(
		reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME},
		"0x55;libx.so+0x1301;outer;inlined;leaf();k 5\n"
		"[truncated];<module> (/src/train.py:30);train (/src/train.py:12);leaf();k 7\n");
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_LAUNCHES,
						.lines = true,
						.no_leaf = true,
						.processes = true,
						.threads = true},
		     "app/100;worker/101;0x55;libx.so+0x1301;outer (x.c:9);inlined (x.c:8);leaf() "
		     "(x.c:7) 1\n"
		     "app/100;worker/101;[truncated];<module> (/src/train.py:30);train "
		     "(/src/train.py:12);leaf() (x.c:7) 1\n");
	ts_sbt_reader_free(reader);
}

TS_TEST(every_weight_and_nothing_dropped)
{
	struct maker maker = begin();
	uint32_t stack = add_known(&maker);
	struct ts_export_report report;
	struct ts_sbt_reader *reader;
	char *text;

	launch(&maker, stack, "k", 5);
	/* Two kernels of one call: a graph launch. */
	kernel(&maker, "k2", maker.last_op, 6);
	copy(&maker, stack, 1000, 20);
	copy(&maker, 0, 24, 1);
	set(&maker, stack, 3);
	/* These kernels have no call. */
	kernel(&maker, NULL, 999999999, 50);
	kernel(&maker, "k", 0, 60);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_LAUNCHES},
		     "0x55;libx.so+0x1301;outer;inlined;leaf();k 1\n"
		     "0x55;libx.so+0x1301;outer;inlined;leaf();k2 1\n"
		     "[unknown];k 1\n"
		     "[unknown];unknown kernel 1\n");
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_BYTES},
		     "0x55;libx.so+0x1301;outer;inlined;leaf();memcpy htod 1000\n"
		     "[no stack];memcpy htod 24\n");
	text = fold(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME}, &report);
	ts_check_str(text, "0x55;libx.so+0x1301;outer;inlined;leaf();k 5\n"
			   "0x55;libx.so+0x1301;outer;inlined;leaf();k2 6\n"
			   "0x55;libx.so+0x1301;outer;inlined;leaf();memcpy htod 20\n"
			   "0x55;libx.so+0x1301;outer;inlined;leaf();memset 3\n"
			   "[no stack];memcpy htod 1\n"
			   "[unknown];k 60\n"
			   "[unknown];unknown kernel 50\n");
	free(text);
	ts_check_int(report.n_rows, 7);
	ts_check_int(report.n_without_call, 2);
	ts_check_int(report.n_without_stack, 1);
	ts_check_int(report.totals[TS_EXPORT_LAUNCHES], 4);
	ts_check_int(report.totals[TS_EXPORT_GPU_TIME], 145);
	ts_check_int(report.totals[TS_EXPORT_BYTES], 1024);
	ts_check(report.has_names);
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME,
						.types = TS_ROW_BIT(TS_ROW_MEMSET),
						.no_leaf = true},
		     "0x55;libx.so+0x1301;outer;inlined;leaf() 3\n");
	ts_sbt_reader_free(reader);
}

TS_TEST(what_readers_would_misread)
{
	static const char *const names[] = {"a;b", "a 12", " a", "a ", "a\nb", "7 8.5", "a 0x9"};
	struct maker maker = begin();
	struct ts_sbt_reader *reader;

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		launch(&maker, 0, names[i], i + 1);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME},
		     "[no stack];_a 3\n"
		     "[no stack];7_8.5 6\n"
		     "[no stack];a_ 4\n"
		     "[no stack];a 0x9 7\n"
		     "[no stack];a_12 2\n"
		     "[no stack];a:b 1\n"
		     "[no stack];a\\x0ab 5\n");
	ts_sbt_reader_free(reader);
}

/*
 * A library is unloaded and another is loaded at its address: after that, the same addresses lie in
 * other functions.
 */
TS_TEST(an_address_means_what_lay_there)
{
	struct maker maker = begin();
	uint32_t stack = add_stack(&maker, frames, 1, 0);
	struct ts_sbt_reader *reader;

	add_module(&maker, "/lib/liba.so", LIB, START_NS, 0);
	launch(&maker, stack, "k", 1);
	launch(&maker, stack, "k", 1);
	maker.time_ns += 1000;
	add_module(&maker, "/lib/liba.so", LIB, maker.time_ns, TS_MODULE_UNLOADED);
	add_module(&maker, "/lib/libb.so", LIB, maker.time_ns + 1, 0);
	launch(&maker, stack, "k", 10);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME},
		     "liba.so+0x1100;k 2\n"
		     "libb.so+0x1100;k 10\n");
	ts_sbt_reader_free(reader);
}

/*
 * Two processes have mapped the library at different addresses. Its function is one frame, or with
 * `processes` one frame below each process.
 */
TS_TEST(processes_share_files)
{
	static const uint64_t elsewhere[] = {LIB + 0x20000 + 0x100};
	struct maker maker = begin();
	struct ts_sbt_reader *reader;

	add_module(&maker, "/lib/libx.so", LIB, START_NS, 0);
	launch(&maker, add_stack(&maker, frames, 1, 0), "k", 1);
	end_session(&maker);
	add_session(&maker, 200, "/usr/bin/other");
	/* The same ids in another process. */
	maker.last_op = 0;
	add_module(&maker, "/lib/libx.so", LIB + 0x20000, START_NS, 0);
	launch(&maker, add_stack(&maker, elsewhere, 1, 0), "k", 10);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME},
		     "libx.so+0x1100;k 11\n");
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME, .processes = true},
		     "app/100;libx.so+0x1100;k 1\n"
		     "other/200;libx.so+0x1100;k 10\n");
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME, .session = 2},
		     "libx.so+0x1100;k 10\n");
	ts_sbt_reader_free(reader);
}

TS_TEST(windows)
{
	struct maker maker = begin();
	struct ts_sbt_reader *reader;
	uint64_t middle_ns;

	launch(&maker, 0, "before", 1);
	maker.time_ns += 1000000;
	/* Called before the window, still running in it. */
	call(&maker, 0);
	maker.time_ns += 1000000;
	middle_ns = maker.time_ns;
	kernel(&maker, "within", maker.last_op, 4);
	maker.time_ns += 1000000;
	launch(&maker, 0, "after", 2);
	reader = finish(&maker);
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME,
						.from_ns = middle_ns,
						.to_ns = middle_ns + 1000},
		     "[no stack];within 4\n");
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME,
						.to_ns = START_NS + 5000},
		     "[no stack];before 1\n");
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME,
						.from_ns = middle_ns + 10000000},
		     "");
	ts_sbt_reader_free(reader);
}

/*
 * A device row that has the id of a nested call counts for the outer call, also if it precedes the
 * call in the trace.
 */
TS_TEST(nested_calls)
{
	struct maker maker = begin();
	struct ts_row_api api = {.start_ns = START_NS + 500,
				 .end_ns = START_NS + 600,
				 .op_id = 10,
				 .nested_op_id = 11,
				 .thread = maker.thread};
	struct ts_sbt_reader *reader;

	kernel(&maker, "clocks differ", 11, 2);
	add(&maker, TS_ROW_API, &api);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME},
		     "[no stack];clocks differ 2\n");
	ts_sbt_reader_free(reader);
}

static void sample(struct maker *maker, uint32_t stack, uint64_t period_ns, uint32_t flags)
{
	struct ts_row_sample row = {.start_ns = maker->time_ns += 100,
				    .period_ns = period_ns,
				    .thread = maker->thread,
				    .stack = stack,
				    .flags = flags};

	add(maker, TS_ROW_SAMPLE, &row);
}

static void off_cpu(struct maker *maker, uint32_t stack, uint64_t ns, uint32_t reason)
{
	struct ts_row_off_cpu row = {.start_ns = maker->time_ns += 100,
				     .end_ns = maker->time_ns + ns,
				     .thread = maker->thread,
				     .stack = stack,
				     .reason = reason};

	add(maker, TS_ROW_OFF_CPU, &row);
}

/*
 * For the time of threads on and off a CPU, each row counts by itself, and GPU work does not count.
 */
TS_TEST(time_of_threads)
{
	struct maker maker = begin();
	uint32_t stack = add_known(&maker), other = add_stack(&maker, frames, 1, 0);
	struct ts_export_report report;
	struct ts_sbt_reader *reader;
	char *text;

	launch(&maker, stack, "k", 5);
	sample(&maker, stack, 5, 0);
	sample(&maker, other, 20, TS_SAMPLE_KERNEL);
	off_cpu(&maker, stack, 1000, TS_OFF_CPU_FUTEX);
	sample(&maker, stack, 7, 0);
	off_cpu(&maker, stack, 100, TS_OFF_CPU_FUTEX);
	off_cpu(&maker, TS_ID_UNKNOWN, 10, 77);
	reader = finish(&maker);
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_CPU},
		     "0x55;libx.so+0x1301;outer;inlined;leaf() 12\n"
		     "leaf();[on cpu, in the kernel] 20\n");
	check_folded(reader, (struct ts_export_options){.weight = TS_EXPORT_OFF_CPU},
		     "0x55;libx.so+0x1301;outer;inlined;leaf();[off cpu: futex] 1100\n"
		     "[no stack];[off cpu: reason#77] 10\n");
	text = fold(reader, (struct ts_export_options){.weight = TS_EXPORT_HOST}, &report);
	ts_check_str(text, "0x55;libx.so+0x1301;outer;inlined;leaf();[off cpu: futex] 1100\n"
			   "0x55;libx.so+0x1301;outer;inlined;leaf();[on cpu] 12\n"
			   "[no stack];[off cpu: reason#77] 10\n"
			   "leaf();[on cpu, in the kernel] 20\n");
	free(text);
	ts_check_int(report.n_rows, 6);
	ts_check_int(report.n_without_stack, 1);
	ts_check_int(report.n_without_call, 0);
	ts_check_int(report.totals[TS_EXPORT_CPU], 32);
	ts_check_int(report.totals[TS_EXPORT_OFF_CPU], 1110);
	ts_check_int(report.totals[TS_EXPORT_HOST], 1142);
	ts_check_int(report.totals[TS_EXPORT_GPU_TIME], 0);
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_HOST,
						.no_leaf = true,
						.threads = true},
		     "worker/101;0x55;libx.so+0x1301;outer;inlined;leaf() 1112\n"
		     "worker/101;[no stack] 10\n"
		     "worker/101;leaf() 20\n");
	/* Only a part of the trace. */
	check_folded(reader,
		     (struct ts_export_options){.weight = TS_EXPORT_CPU, .from_ns = START_NS + 300},
		     "0x55;libx.so+0x1301;outer;inlined;leaf() 7\n"
		     "leaf();[on cpu, in the kernel] 20\n");
	ts_sbt_reader_free(reader);
}

TS_TEST(many_stacks_many_times)
{
	struct maker maker = begin();
	ts_cleanup(ts_freep) uint32_t *stacks = calloc(MANY_STACKS, sizeof(*stacks));
	struct ts_export_report report;
	struct ts_sbt_reader *reader;
	uint64_t sum = 0, n = 0;
	char *text, *at, *end, *line_end;

	ts_check(stacks);
	for (uint32_t i = 0; i < MANY_STACKS; i++) {
		uint64_t deep[] = {LIB + i, LIB + i / 10, LIB + i / 100, LIB};

		stacks[i] = add_stack(&maker, deep, TS_ARRAY_LEN(deep), 0);
	}
	for (uint32_t round = 0; round < MANY_ROUNDS; round++)
		for (uint32_t i = 0; i < MANY_STACKS; i++)
			launch(&maker, stacks[i], round % 2 ? "a" : "b", 1 + i % 7);
	reader = finish(&maker);
	text = fold(reader, (struct ts_export_options){.weight = TS_EXPORT_GPU_TIME}, &report);
	/*
	 * memchr() within the text, because a sanitizer's strchr() scans the text to its end for
	 * each line.
	 */
	for (at = text, end = text + strlen(text); at < end; at = line_end + 1, n++) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		ts_check(line_end);
		*line_end = '\0';
		sum += strtoull(strrchr(at, ' '), NULL, 10);
	}
	ts_check_int(n, 2 * MANY_STACKS);
	ts_check_int(sum, report.totals[TS_EXPORT_GPU_TIME]);
	ts_check_int(report.totals[TS_EXPORT_LAUNCHES], MANY_ROUNDS * MANY_STACKS);
	ts_check_int(report.n_samples, 2 * MANY_STACKS);
	ts_check(!report.has_names);
	free(text);
	ts_sbt_reader_free(reader);
}

TS_TEST(nothing)
{
	struct maker maker = begin();
	struct ts_sbt_reader *reader = finish(&maker);
	struct ts_export_report report;
	char *text = fold(reader, (struct ts_export_options){0}, &report);

	ts_check_str(text, "");
	ts_check_int(report.n_rows, 0);
	ts_check(report.has_names);
	free(text);
	ts_sbt_reader_free(reader);
}
