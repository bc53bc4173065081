/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the trace of samples for make-sampled.c and tests. Symbols are appended, as by `tsctl
 * symbolize`.
 */
#include "test/unit/tools/sampled.h"

#include "sbt/append.h"

#include <errno.h>
#include <unistd.h>

#define MS(n)	(SAMPLED_START_NS + UINT64_C(1000000) * (n))
#define PYTHON	UINT64_C(0x400000)
#define NATIVE	UINT64_C(0x7f0000100000)
#define LIBC	UINT64_C(0x7f0000200000)
#define SHIM	UINT64_C(0x7f0000300000)
#define STRANGE UINT64_C(0x7f0000400000)

struct maker {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint32_t native; /* string: a path */
	int r;		 /* the first error; later steps then do nothing */
};

static uint32_t string(struct maker *maker, const char *text)
{
	uint32_t id = 0;

	if (!maker->r)
		maker->r = ts_sbt_writer_string(maker->writer, text, strlen(text), &id);
	return id;
}

static void add(struct maker *maker, unsigned type, const void *row)
{
	if (!maker->r)
		maker->r = ts_sbt_session_writer_add_row(maker->session, type, row);
}

static uint32_t module(struct maker *maker, const char *path, uint64_t address)
{
	struct ts_row_module row = {.start_ns = SAMPLED_START_NS,
				    .address = address,
				    .address_end = address + 0x10000,
				    .bias = address,
				    .path = string(maker, path)};

	add(maker, TS_ROW_MODULE, &row);
	return row.path;
}

static void stack(struct maker *maker, const uint64_t *frames, uint32_t n, uint32_t want)
{
	uint32_t id = 0;

	if (!maker->r)
		maker->r = ts_sbt_session_writer_add_stack(maker->session, frames, n, 0, &id);
	if (!maker->r && id != want)
		maker->r = -EINVAL;
}

#define STACK(maker, want, ...)                       \
	stack(maker, (const uint64_t[]){__VA_ARGS__}, \
	      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), want)

static void stacks(struct maker *maker)
{
	uint32_t mean = string(maker, "mean\n/usr/lib/python3/dist-packages/numpy/core.py");
	uint32_t preprocess = string(maker, "preprocess\n/app/data.py");
	uint32_t load = string(maker, "load\n/app/data.py");
	uint32_t step = string(maker, "step\n/app/train.py");
	uint64_t top = TS_FRAME_PYTHON_AT(string(maker, "<module>\n/app/train.py"), 5);

	STACK(maker, SAMPLED_PREPROCESS, PYTHON + 0x10, TS_FRAME_PYTHON_AT(mean, 9),
	      TS_FRAME_PYTHON_AT(preprocess, 31), top, PYTHON + 0x20);
	STACK(maker, SAMPLED_PREPROCESS_NEXT, PYTHON + 0x10, TS_FRAME_PYTHON_AT(preprocess, 32),
	      top, PYTHON + 0x20);
	STACK(maker, SAMPLED_LOAD, PYTHON + 0x10, TS_FRAME_PYTHON_AT(load, 12), top);
	STACK(maker, SAMPLED_NATIVE, LIBC + 0x100, NATIVE + 0x201, LIBC + 0x900);
	STACK(maker, SAMPLED_NOWHERE, 0x10);
	STACK(maker, SAMPLED_NO_SYMBOLS, LIBC + 0x100, STRANGE + 0x30, NATIVE + 0x201);
	STACK(maker, SAMPLED_LIBC_ALONE, LIBC + 0x100, LIBC + 0x900);
	STACK(maker, SAMPLED_LAUNCH, SHIM + 0x10, PYTHON + 0x10, TS_FRAME_PYTHON_AT(step, 7), top);
}

static void begin(struct maker *maker)
{
	struct ts_row_session session = {.pid = SAMPLED_TID,
					 .start_ns = SAMPLED_START_NS,
					 .uuid = {1},
					 .program = string(maker, "train.py"),
					 .ended = TS_SESSION_END_BYE};
	struct ts_row_thread threads[] = {{.start_ns = SAMPLED_START_NS,
					   .tid = SAMPLED_TID,
					   .name = string(maker, "main")},
					  {.start_ns = SAMPLED_START_NS,
					   .tid = SAMPLED_TID + 1,
					   .name = string(maker, "loader")}};
	struct ts_row_device device = {.name = string(maker, "Synthetic GPU")};
	uint32_t id;

	if (!maker->r)
		maker->r = ts_sbt_session_writer_new(maker->writer, &session, &maker->session);
	for (size_t i = 0; i < TS_ARRAY_LEN(threads) && !maker->r; i++)
		maker->r = ts_sbt_session_writer_add_thread(maker->session, &threads[i], &id);
	add(maker, TS_ROW_DEVICE, &device);
	module(maker, "/usr/bin/python3.11", PYTHON);
	maker->native = module(maker, "/app/native.so", NATIVE);
	module(maker, "/lib/x86_64-linux-gnu/libc.so.6", LIBC);
	module(maker, "/opt/libtsinject.so", SHIM);
	module(maker, "/opt/libstrange.so.2", STRANGE);
	stacks(maker);
}

static void launch(struct maker *maker, uint64_t op_id, uint64_t kernel_ns)
{
	struct ts_row_api api = {.start_ns = kernel_ns - 10000,
				 .end_ns = kernel_ns,
				 .op_id = op_id,
				 .thread = 1,
				 .stack = SAMPLED_LAUNCH,
				 .context = 1,
				 .domain = TS_API_CUDA_RUNTIME,
				 .cbid = 211,
				 .flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_kernel kernel = {.start_ns = kernel_ns,
				       .end_ns = kernel_ns + 1000000,
				       .op_id = op_id,
				       .context = 1,
				       .stream = 7,
				       .name = string(maker, "_Z5saxpyifPfS_")};

	add(maker, TS_ROW_API, &api);
	add(maker, TS_ROW_KERNEL, &kernel);
}

static void off_cpu(struct maker *maker, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
		    uint32_t of)
{
	struct ts_row_off_cpu row = {.start_ns = start_ns,
				     .end_ns = end_ns,
				     .thread = thread,
				     .reason = TS_OFF_CPU_SLEEP,
				     .syscall = 35,
				     .stack = of};

	add(maker, TS_ROW_OFF_CPU, &row);
}

static void sample(struct maker *maker, uint32_t thread, uint64_t at_ns, uint32_t of)
{
	struct ts_row_sample row = {.start_ns = at_ns,
				    .period_ns = SAMPLED_PERIOD_NS,
				    .thread = thread,
				    .stack = of,
				    .cpu = thread,
				    .flags = thread == 2 ? TS_SAMPLE_KERNEL : 0};

	add(maker, TS_ROW_SAMPLE, &row);
}

static void few_samples(struct maker *maker)
{
	sample(maker, 1, MS(10), SAMPLED_PREPROCESS);
	sample(maker, 1, MS(20), SAMPLED_LOAD);
}

static void samples(struct maker *maker)
{
	unsigned nth = 0;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t at_ns = MS(2) + SAMPLED_PERIOD_NS / 2 + SAMPLED_PERIOD_NS * i;

		if (at_ns > MS(402) && at_ns < MS(502))
			continue;
		sample(maker, 1, at_ns,
		       nth % 10 < 5   ? SAMPLED_PREPROCESS
		       : nth % 10 < 7 ? SAMPLED_PREPROCESS_NEXT
				      : SAMPLED_LOAD);
		nth++;
	}
	for (unsigned i = 0; i < 20; i++)
		sample(maker, 2, MS(2) + SAMPLED_PERIOD_NS * i,
		       i < 18	 ? SAMPLED_NATIVE
		       : i == 18 ? SAMPLED_NOWHERE
				 : TS_ID_UNKNOWN);
}

static int append(int fd, uint32_t native)
{
	struct ts_row_image image = {.image = 1, .path = native, .kind = TS_IMAGE_ELF};
	struct ts_row_symbol symbol = {.address = 0x200, .image = 1, .line = 88};
	ts_cleanup(ts_sbt_append_freep) struct ts_sbt_append *append = NULL;
	int r = ts_sbt_append_new(fd, &append, NULL);

	r = r ? r : ts_sbt_append_string(append, "resample", 8, &symbol.function);
	r = r ? r : ts_sbt_append_string(append, "/src/resample.c", 15, &symbol.file);
	r = r ? r : ts_sbt_append_row(append, TS_ROW_IMAGE, &image);
	r = r ? r : ts_sbt_append_row(append, TS_ROW_SYMBOL, &symbol);
	return r ? r : ts_sbt_append_commit(append, NULL);
}

int sampled_write(int fd, bool few)
{
	const struct ts_row_stream stream = {.start_ns = SAMPLED_START_NS + 10,
					     .context = 1,
					     .stream = 7,
					     .stream_flags = 1};
	struct maker maker = {0};
	int own = dup(fd);

	maker.r = own < 0 ? -errno : ts_sbt_writer_new(own, &maker.writer);
	if (!maker.r)
		maker.r = ts_sbt_writer_metadata(maker.writer, TS_METADATA_KERNEL_EVENTS, "sched");
	begin(&maker);
	add(&maker, TS_ROW_STREAM, &stream);
	launch(&maker, 1, MS(1));
	launch(&maker, 2, MS(1002));
	off_cpu(&maker, 2, SAMPLED_START_NS, MS(1), TS_ID_UNKNOWN);
	off_cpu(&maker, 1, MS(402), MS(502), SAMPLED_LOAD);
	if (few)
		few_samples(&maker);
	else
		samples(&maker);
	if (!maker.r)
		maker.r = ts_sbt_session_writer_seal(maker.session, NULL, 0);
	ts_sbt_session_writer_free(maker.session);
	if (!maker.r)
		maker.r = ts_sbt_writer_finish(maker.writer);
	ts_sbt_writer_free(maker.writer);
	if (!maker.r)
		maker.r = append(fd, maker.native);
	close(fd);
	return maker.r;
}
