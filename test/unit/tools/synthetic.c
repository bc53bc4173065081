/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a trace whose every value is known, for make-trace.c and the tests of tsctl. Times count
 * from SYNTHETIC_START_NS, with a microsecond between launches.
 */
#include "test/unit/tools/synthetic.h"

#include "proto/abi/clock.h"
#include "proto/abi/session.h"

struct maker {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint32_t kernel_name, thread, stack, text;
	int r; /* the first error */
};

static uint32_t string(struct maker *maker, const char *text)
{
	uint32_t id = 0;

	if (!maker->r)
		maker->r = ts_sbt_writer_string(maker->writer, text, strlen(text), &id);
	return id;
}

static void add(struct maker *maker, unsigned int type, const void *row)
{
	if (maker->r)
		return;
	maker->r = ts_sbt_session_writer_add_row(maker->session, type, row);
	if (maker->r != TS_SBT_E_FULL)
		return;
	maker->r = ts_sbt_session_writer_seal(maker->session, NULL, 0);
	if (!maker->r)
		maker->r = ts_sbt_session_writer_add_row(maker->session, type, row);
}

static void begin(struct maker *maker)
{
	static const uint64_t frames[] = {0x7f0000001234, 0x7f0000005678, 0x400123};
	struct ts_row_session session = {
		.pid = 1234,
		.uid = 1000,
		.start_ns = SYNTHETIC_START_NS,
		.clock_error_ns = 50,
		.program = string(maker, "synthetic"),
		.host_clock = TS_CLOCK_TSC,
		.driver_version = 13000,
		.vendor_version = 130001,
		.state = TS_SESSION_ENDED,
		.ended = TS_SESSION_END_BYE,
	};
	struct ts_row_thread thread = {.start_ns = SYNTHETIC_START_NS,
				       .tid = SYNTHETIC_TID,
				       .name = string(maker, "main")};
	struct ts_row_device device = {.name = string(maker, "Synthetic GPU"),
				       .memory_bytes = 1 << 30,
				       .compute_capability_major = 9,
				       .n_multiprocessors = 4,
				       .flags = TS_DEVICE_VIRTUAL};
	struct ts_row_module module = {.start_ns = SYNTHETIC_START_NS,
				       .address = 0x7f0000000000,
				       .address_end = 0x7f0000010000,
				       .bias = 0x7f0000000000,
				       .path = string(maker, "/lib/libsynthetic.so")};

	maker->kernel_name = string(maker, "_Z5saxpyifPfS_");
	maker->text = string(maker, "a \"quoted\"\ntext");
	if (maker->r)
		return;
	maker->r = ts_sbt_session_writer_new(maker->writer, &session, &maker->session);
	if (!maker->r)
		maker->r =
			ts_sbt_session_writer_add_thread(maker->session, &thread, &maker->thread);
	if (!maker->r)
		maker->r = ts_sbt_session_writer_add_stack(maker->session, frames,
							   TS_ARRAY_LEN(frames), TS_STACK_TRUNCATED,
							   &maker->stack);
	add(maker, TS_ROW_DEVICE, &device);
	add(maker, TS_ROW_MODULE, &module);
}

static void launch(struct maker *maker, uint32_t i)
{
	uint64_t start_ns = SYNTHETIC_START_NS + 1000 + UINT64_C(1000) * i;
	struct ts_row_api api = {.start_ns = start_ns,
				 .end_ns = start_ns + 300,
				 .op_id = i + 1,
				 .thread = maker->thread,
				 .stack = maker->stack,
				 .context = 1,
				 .domain = TS_API_CUDA_RUNTIME,
				 .cbid = 211,
				 .flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_kernel kernel = {.start_ns = start_ns + 200,
				       .end_ns = start_ns + 700,
				       .op_id = i + 1,
				       .context = 1,
				       .stream = 7,
				       .name = maker->kernel_name,
				       .grid_x = 16,
				       .grid_y = 1,
				       .grid_z = 1,
				       .block_x = 256,
				       .block_y = 1,
				       .block_z = 1};

	add(maker, TS_ROW_API, &api);
	add(maker, TS_ROW_KERNEL, &kernel);
}

/* Adds one row of each type that launches do not make. */
static void others(struct maker *maker)
{
	uint64_t t = SYNTHETIC_START_NS + 500;

	add(maker, TS_ROW_MEMCPY,
	    &(struct ts_row_memcpy){.start_ns = t,
				    .end_ns = t + 100,
				    .op_id = 77000,
				    .context = 1,
				    .stream = 7,
				    .bytes = 4096,
				    .copy_count = 1,
				    .src_device = TS_NO_DEVICE,
				    .copy_kind = 1,
				    .src_kind = 2,
				    .dst_kind = 3,
				    .async = 1});
	add(maker, TS_ROW_MEMSET,
	    &(struct ts_row_memset){
		    .start_ns = t, .end_ns = t + 10, .context = 1, .stream = 7, .bytes = 64});
	add(maker, TS_ROW_SYNC,
	    &(struct ts_row_sync){
		    .start_ns = t, .end_ns = t + 10, .sync_type = 3, .context = 1, .stream = 7});
	add(maker, TS_ROW_ALLOC,
	    &(struct ts_row_memory){.start_ns = t,
				    .address = 0x1000,
				    .bytes = 4096,
				    .context = 1,
				    .stream = TS_NO_DEVICE,
				    .memory_kind = 3});
	add(maker, TS_ROW_FREE,
	    &(struct ts_row_memory){.start_ns = t,
				    .address = 0x1000,
				    .bytes = 4096,
				    .context = 1,
				    .stream = TS_NO_DEVICE,
				    .memory_kind = 3});
	add(maker, TS_ROW_EVENT,
	    &(struct ts_row_event){.start_ns = t,
				   .event = 0xabc,
				   .context = 1,
				   .stream = 7,
				   .thread = maker->thread});
	add(maker, TS_ROW_STREAM_WAIT,
	    &(struct ts_row_stream_wait){.start_ns = t,
					 .event = 0xabc,
					 .context = 1,
					 .stream = 7,
					 .thread = maker->thread});
	add(maker, TS_ROW_STREAM,
	    &(struct ts_row_stream){.start_ns = t,
				    .handle = 0xdef,
				    .context = 1,
				    .stream = 7,
				    .priority = -1,
				    .thread = maker->thread,
				    .action = TS_OBJECT_CREATED});
	add(maker, TS_ROW_CONTEXT,
	    &(struct ts_row_context){.start_ns = t,
				     .handle = 0xdef,
				     .context = 1,
				     .thread = maker->thread,
				     .action = TS_OBJECT_SEEN});
	add(maker, TS_ROW_GRAPH_LAUNCH,
	    &(struct ts_row_graph_launch){.start_ns = t,
					  .op_id = 9,
					  .graph_exec = 0x9,
					  .context = 1,
					  .stream = 7,
					  .thread = maker->thread});
	add(maker, TS_ROW_MARK,
	    &(struct ts_row_mark){.start_ns = t, .name = maker->text, .thread = maker->thread});
	add(maker, TS_ROW_RANGE,
	    &(struct ts_row_range){.start_ns = t,
				   .name = maker->text,
				   .thread = maker->thread,
				   .action = TS_RANGE_PUSH});
	add(maker, TS_ROW_RANGE_BEGIN,
	    &(struct ts_row_range_begin){.start_ns = t,
					 .range_id = 77,
					 .name = maker->text,
					 .thread = maker->thread,
					 .action = TS_RANGE_START});
	add(maker, TS_ROW_COUNTER,
	    &(struct ts_row_counter){
		    .start_ns = t, .value = 0.5, .name = maker->text, .thread = maker->thread});
}

/* Adds one row of each type of kernel event. */
static void kernels(struct maker *maker)
{
	uint64_t t = SYNTHETIC_START_NS + 450;

	add(maker, TS_ROW_OFF_CPU,
	    &(struct ts_row_off_cpu){.start_ns = t,
				     .end_ns = t + 30,
				     .woken_ns = t + 20,
				     .address = 0x7000,
				     .thread = maker->thread,
				     .reason = TS_OFF_CPU_FUTEX,
				     .syscall = 202,
				     .waker_context = TS_WAKER_THREAD,
				     .waker_tid = 77,
				     .waker_pid = 70,
				     .waker = maker->text,
				     .cpu = 1,
				     .end_cpu = 2,
				     .migrations = 1,
				     .stack = maker->stack});
	add(maker, TS_ROW_PAGE_FAULT,
	    &(struct ts_row_page_fault){.start_ns = t,
					.end_ns = t + 5,
					.address = 0x7100,
					.instruction = 0x400100,
					.thread = maker->thread,
					.fault = TS_FAULT_MINOR,
					.memory = TS_FAULT_ANONYMOUS});
	add(maker, TS_ROW_SYSCALL,
	    &(struct ts_row_syscall){.start_ns = t,
				     .end_ns = t + 6,
				     .result = -5,
				     .thread = maker->thread,
				     .pid = 4711,
				     .syscall = 16,
				     .fd = 0,
				     .file = maker->text,
				     .operation = 0xc020462a});
	add(maker, TS_ROW_ARGUMENTS,
	    &(struct ts_row_arguments){.start_ns = t,
				       .op_id = 9,
				       .bytes = 4096,
				       .function = 0x401000,
				       .kernel = maker->text,
				       .thread = maker->thread});
	add(maker, TS_ROW_BLOCK_IO,
	    &(struct ts_row_block_io){.start_ns = t,
				      .end_ns = t + 25,
				      .issued_ns = t + 4,
				      .sector = 2048,
				      .bytes = 131072,
				      .thread = maker->thread,
				      .disk = maker->text,
				      .operation = TS_BLOCK_READ,
				      .flags = TS_BLOCK_IO_READAHEAD});
	add(maker, TS_ROW_PRESSURE,
	    &(struct ts_row_pressure){.start_ns = t,
				      .end_ns = t + 25,
				      .pages = 32,
				      .thread = maker->thread,
				      .kind = TS_PRESSURE_LIMIT});
	add(maker, TS_ROW_DRIVER,
	    &(struct ts_row_driver){.start_ns = t,
				    .end_ns = t + 25,
				    .issued_ns = t + 4,
				    .context = 12,
				    .number = 7,
				    .thread = maker->thread,
				    .kind = TS_DRIVER_JOB,
				    .ring = maker->text});
	add(maker, TS_ROW_SAMPLE,
	    &(struct ts_row_sample){.start_ns = t,
				    .period_ns = 5025125,
				    .thread = maker->thread,
				    .stack = maker->stack,
				    .cpu = 2,
				    .flags = TS_SAMPLE_KERNEL});
}

/* Adds one row of each type about the recording itself. */
static void own_affairs(struct maker *maker)
{
	uint64_t t = SYNTHETIC_START_NS + 500;

	add(maker, TS_ROW_CLOCK,
	    &(struct ts_row_clock){
		    .start_ns = t, .ticks = 123, .error_ns = 50, .clock = TS_CLOCK_REALTIME});
	add(maker, TS_ROW_LOSS,
	    &(struct ts_row_loss){.start_ns = t,
				  .end_ns = t + 10,
				  .count = 3,
				  .reason = TS_LOSS_RING_FULL,
				  .thread = maker->thread});
	add(maker, TS_ROW_LOSS,
	    &(struct ts_row_loss){.start_ns = t + 1,
				  .end_ns = t + 10,
				  .count = 5,
				  .reason = SYNTHETIC_UNNAMED_LOSS});
	add(maker, TS_ROW_OVERHEAD,
	    &(struct ts_row_overhead){.start_ns = t, .end_ns = t + 10, .overhead_kind = 0x10000});
	add(maker, TS_ROW_GPU_MODULE,
	    &(struct ts_row_gpu_module){.start_ns = t,
					.bytes = 1000,
					.module = 1,
					.context = 1,
					.action = TS_OBJECT_CREATED,
					.thread = maker->thread});
	add(maker, TS_ROW_YIELD,
	    &(struct ts_row_yield){
		    .start_ns = t, .to = maker->text, .yielded = 1, .thread = maker->thread});
	add(maker, TS_ROW_PAUSE,
	    &(struct ts_row_pause){.start_ns = t,
				   .paused = 1,
				   .cause = TS_PAUSE_BY_REQUEST,
				   .thread = maker->thread});
	add(maker, TS_ROW_ACCESS,
	    &(struct ts_row_access){.start_ns = t,
				    .op_id = 77000,
				    .dst = 0x1000,
				    .src = 0x7000,
				    .dst_bytes = 4096,
				    .src_bytes = 4096,
				    .thread = maker->thread,
				    .access = TS_ACCESS_COPY});
	add(maker, TS_ROW_OPERATION,
	    &(struct ts_row_operation){.start_ns = t,
				       .sequence = 1,
				       .kind = TS_OPERATION_END,
				       .name = maker->text,
				       .thread = maker->thread});
}

int synthetic_write(int fd, const struct synthetic *what)
{
	struct maker maker = {.r = 0};

	maker.r = ts_sbt_writer_new(fd, &maker.writer);
	if (maker.r) {
		close(fd);
		return maker.r;
	}
	begin(&maker);
	others(&maker);
	kernels(&maker);
	own_affairs(&maker);
	for (uint32_t i = 0; i < what->n_launches; i++)
		launch(&maker, i);
	if (!maker.r)
		maker.r = ts_sbt_session_writer_seal(maker.session, NULL, 0);
	ts_sbt_session_writer_free(maker.session);
	if (!maker.r && !what->unfinished)
		maker.r = ts_sbt_writer_finish(maker.writer);
	ts_sbt_writer_free(maker.writer);
	return maker.r;
}
