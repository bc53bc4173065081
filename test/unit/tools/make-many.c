/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace with many objects of one kind: make-many FILE N KIND. Each trace has N launches
 * with everything that belongs to a launch. `streams` gives each launch its own stream, `contexts`
 * its own context, and so on. Kinds that begin with `captured-` also have operations for a replay.
 * test/integration/test-many.py reads such traces with every command.
 */
#include <fcntl.h>
#include <stdio.h>

#include "proto/abi/hash.h"
#include "proto/abi/session.h"
#include "sbt/writer.h"

#define STEP_NS	 1000u
#define FIRST_NS 1000000u
#define KERNEL_PTX                                        \
	".version 7.0\n.target sm_70\n.address_size 64\n" \
	".visible .entry nothing(.param .u64 p)\n{\n	ret;\n}\n"

static const char *const kinds[] = {
	"launches",    "streams", "contexts", "devices", "events", "allocations", "pools",
	"gpu-modules", "modules", "threads",  "names",	 "stacks", "sessions",	  "ranges",
};

enum kind {
	LAUNCHES,
	STREAMS,
	CONTEXTS,
	DEVICES,
	EVENTS,
	ALLOCATIONS,
	POOLS,
	GPU_MODULES,
	MODULES,
	THREADS,
	NAMES,
	STACKS,
	SESSIONS,
	RANGES,
};

struct maker {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	enum kind kind;
	bool is_captured;
	uint32_t thread, stack, name, image, arguments;
	uint64_t sequence;
	int r;
};

/*
 * Returns the index of the object that launch i uses: i for the kind with many objects, otherwise
 * 0.
 */
static uint32_t which(const struct maker *maker, enum kind kind, uint32_t i)
{
	return maker->kind == kind ? i : 0;
}

static uint32_t string(struct maker *maker, const char *text)
{
	uint32_t id = 0;

	maker->r = maker->r ?: ts_sbt_writer_string(maker->writer, text, strlen(text), &id);
	return id;
}

static uint32_t blob(struct maker *maker, const void *bytes, size_t n)
{
	struct ts_hash128 hash = ts_hash128(bytes, n);
	const uint64_t words[] = {hash.a, hash.b};
	uint32_t id = 0;

	maker->r = maker->r
			   ?: ts_sbt_session_writer_add_blob(maker->session, bytes, (uint32_t)n, 0,
							     words, &id);
	return id;
}

static void add(struct maker *maker, unsigned type, const void *row)
{
	if (!maker->r)
		maker->r = ts_sbt_session_writer_add_row(maker->session, type, row);
	if (maker->r != TS_SBT_E_FULL)
		return;
	maker->r = ts_sbt_session_writer_seal(maker->session, NULL, 0);
	maker->r = maker->r ?: ts_sbt_session_writer_add_row(maker->session, type, row);
}

#define ADD(maker_, type_, row_, ...) add(maker_, type_, &(struct row_){__VA_ARGS__})

static void operate(struct maker *maker, uint64_t t, struct ts_row_operation row)
{
	if (!maker->is_captured)
		return;
	row.start_ns = t;
	row.sequence = ++maker->sequence;
	row.op_id = (UINT64_C(1) << 40) + row.sequence;
	row.thread = maker->thread;
	add(maker, TS_ROW_OPERATION, &row);
}

#define OPERATE(maker_, t_, ...) operate(maker_, t_, (struct ts_row_operation){__VA_ARGS__})

static uint64_t time_of(uint32_t i)
{
	return FIRST_NS + (uint64_t)STEP_NS * i;
}

static void begin_session(struct maker *maker, uint32_t i)
{
	static const uint64_t frames[] = {0x7f0000001234, 0x400123};
	const struct ts_row_session session = {
		.pid = 1234 + i,
		.start_ns = time_of(i),
		.program = string(maker, "many"),
		.driver_version = 13000,
		.state = TS_SESSION_ENDED,
		.ended = TS_SESSION_END_BYE,
	};
	const struct ts_row_thread thread = {.start_ns = time_of(i), .tid = 1234 + i};

	maker->r = maker->r ?: ts_sbt_session_writer_new(maker->writer, &session, &maker->session);
	maker->r = maker->r
			   ?: ts_sbt_session_writer_add_thread(maker->session, &thread,
							       &maker->thread);
	maker->r =
		maker->r
			?: ts_sbt_session_writer_add_stack(maker->session, frames,
							   TS_ARRAY_LEN(frames), 0, &maker->stack);
	maker->name = string(maker, "nothing");
	if (!maker->is_captured)
		return;
	maker->image = blob(maker, KERNEL_PTX, sizeof(KERNEL_PTX));
	maker->arguments = blob(maker, &(uint64_t){0}, sizeof(uint64_t));
}

static void end_session(struct maker *maker)
{
	maker->r = maker->r ?: ts_sbt_session_writer_seal(maker->session, NULL, 0);
	ts_sbt_session_writer_free(maker->session);
	maker->session = NULL;
}

/* Adds a definition of the kind with many objects. */
static void define(struct maker *maker, uint32_t i)
{
	const struct ts_row_thread thread = {.start_ns = time_of(i), .tid = 1235 + i};
	const uint64_t frame = 0x400000 + i;
	char name[32];

	snprintf(name, sizeof(name), "kernel_%u", i);
	if (maker->kind == NAMES || maker->kind == RANGES)
		maker->name = string(maker, name);
	if (maker->kind == THREADS && !maker->r)
		maker->r =
			ts_sbt_session_writer_add_thread(maker->session, &thread, &maker->thread);
	if (maker->kind == STACKS && !maker->r)
		maker->r = ts_sbt_session_writer_add_stack(maker->session, &frame, 1, 0,
							   &maker->stack);
	if (maker->kind == MODULES)
		ADD(maker, TS_ROW_MODULE, ts_row_module, .start_ns = time_of(i),
		    .address = 0x400000 + UINT64_C(0x1000) * i,
		    .address_end = 0x401000 + UINT64_C(0x1000) * i, .path = string(maker, name));
	if (!i || maker->kind == DEVICES)
		ADD(maker, TS_ROW_DEVICE, ts_row_device, .device = i, .name = maker->name,
		    .memory_bytes = 1 << 30, .n_multiprocessors = 4, .flags = TS_DEVICE_VIRTUAL,
		    .uuid = {1, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16)});
}

/* Makes objects at their first use. */
static void make_objects(struct maker *maker, uint32_t i)
{
	uint32_t context = 1 + which(maker, CONTEXTS, i), stream = 7 + which(maker, STREAMS, i);
	uint64_t t = time_of(i);

	if (!i || maker->kind == CONTEXTS) {
		ADD(maker, TS_ROW_CONTEXT, ts_row_context, .start_ns = t, .handle = 0xc000 + i,
		    .context = context, .device = which(maker, DEVICES, i), .thread = maker->thread,
		    .action = TS_OBJECT_CREATED);
		OPERATE(maker, t, .kind = TS_OPERATION_CONTEXT_CREATE, .object = 0xc000 + i,
			.context = context);
	}
	if (!i || maker->kind == CONTEXTS || maker->kind == GPU_MODULES) {
		ADD(maker, TS_ROW_GPU_MODULE, ts_row_gpu_module, .start_ns = t, .bytes = 1000,
		    .module = 1 + i, .context = context, .action = TS_OBJECT_CREATED,
		    .thread = maker->thread);
		OPERATE(maker, t, .kind = TS_OPERATION_MODULE_LOAD, .object = 0x10000 + i,
			.context = context, .content = maker->image);
		OPERATE(maker, t, .kind = TS_OPERATION_FUNCTION, .object = 0x20000000 + i,
			.parent = 0x10000 + i, .context = context,
			.name = string(maker, "nothing"));
	}
	if (!i || maker->kind == CONTEXTS || maker->kind == STREAMS) {
		ADD(maker, TS_ROW_STREAM, ts_row_stream, .start_ns = t, .handle = 0x5000 + i,
		    .context = context, .stream = stream, .thread = maker->thread,
		    .action = TS_OBJECT_CREATED);
		OPERATE(maker, t, .kind = TS_OPERATION_STREAM_CREATE, .object = 0x30000000 + i,
			.context = context);
	}
	if (!i || maker->kind == CONTEXTS || maker->kind == EVENTS)
		OPERATE(maker, t, .kind = TS_OPERATION_EVENT_CREATE, .object = 0x40000000 + i,
			.context = context);
	if (!i || maker->kind == ALLOCATIONS || maker->kind == CONTEXTS || maker->kind == POOLS) {
		ADD(maker, TS_ROW_ALLOC, ts_row_memory, .start_ns = t,
		    .address = 0x700000000 + UINT64_C(512) * i, .bytes = 256, .context = context,
		    .device = which(maker, DEVICES, i), .stream = stream, .memory_kind = 3,
		    .pool = 1 + which(maker, POOLS, i));
		OPERATE(maker, t, .kind = TS_OPERATION_ALLOC, .context = context,
			.dst = 0x7f1234560000 + UINT64_C(512) * i, .bytes = 256);
	}
}

static void launch(struct maker *maker, uint32_t i)
{
	const bool each = maker->kind == CONTEXTS;
	uint32_t context = 1 + which(maker, CONTEXTS, i), stream = 7 + which(maker, STREAMS, i);
	uint64_t event = 0x40000000 + (each ? i : which(maker, EVENTS, i));
	uint64_t t = time_of(i) + 100, handle = 0x30000000 + (each ? i : which(maker, STREAMS, i));
	uint64_t function = 0x20000000 + (each ? i : which(maker, GPU_MODULES, i));

	ADD(maker, TS_ROW_API, ts_row_api, .start_ns = t, .end_ns = t + 100, .op_id = i + 1,
	    .thread = maker->thread, .stack = maker->stack, .context = context,
	    .domain = TS_API_CUDA_RUNTIME, .cbid = 211, .flags = TS_API_EXPECTS_DEVICE);
	ADD(maker, TS_ROW_KERNEL, ts_row_kernel, .start_ns = t + 50, .end_ns = t + 600,
	    .op_id = i + 1, .device = which(maker, DEVICES, i), .context = context,
	    .stream = stream, .name = maker->name, .grid_x = 1, .grid_y = 1, .grid_z = 1,
	    .block_x = 32, .block_y = 1, .block_z = 1);
	ADD(maker, TS_ROW_EVENT, ts_row_event, .start_ns = t + 120, .event = event, .op_id = i + 1,
	    .context = context, .stream = stream, .thread = maker->thread);
	ADD(maker, TS_ROW_STREAM_WAIT, ts_row_stream_wait, .start_ns = t + 130, .event = event,
	    .op_id = i + 1, .context = context, .stream = stream, .thread = maker->thread);
	if (maker->kind == RANGES)
		ADD(maker, TS_ROW_RANGE, ts_row_range, .start_ns = t, .end_ns = t + 200,
		    .name = maker->name, .thread = maker->thread, .action = TS_RANGE_PUSH);
	OPERATE(maker, t + 100, .kind = TS_OPERATION_LAUNCH, .object = function, .context = context,
		.stream_handle = handle, .content = maker->arguments, .grid_x = 1, .grid_y = 1,
		.grid_z = 1, .block_x = 1, .block_y = 1, .block_z = 1);
	OPERATE(maker, t + 110, .kind = TS_OPERATION_EVENT_RECORD, .object = event,
		.context = context, .stream_handle = handle);
	OPERATE(maker, t + 120, .kind = TS_OPERATION_STREAM_WAIT, .object = event,
		.context = context, .stream_handle = handle);
}

static void make(struct maker *maker, uint32_t n)
{
	begin_session(maker, 0);
	for (uint32_t i = 0; i < n && !maker->r; i++) {
		if (i && maker->kind == SESSIONS) {
			end_session(maker);
			begin_session(maker, i);
		}
		define(maker, i);
		make_objects(maker, i);
		launch(maker, i);
	}
	end_session(maker);
	maker->r = maker->r ?: ts_sbt_writer_finish(maker->writer);
}

static int kind_of(const char *name, enum kind *ret_kind)
{
	for (unsigned i = 0; i < TS_ARRAY_LEN(kinds); i++)
		if (!strcmp(name, kinds[i])) {
			*ret_kind = (enum kind)i;
			return 0;
		}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	const char captured[] = "captured-";
	struct maker maker = {.r = 0};
	const char *kind;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: %s FILE N KIND\n", argv[0]);
		return 2;
	}
	maker.is_captured = !strncmp(argv[3], captured, strlen(captured));
	kind = argv[3] + (maker.is_captured ? strlen(captured) : 0);
	if (kind_of(kind, &maker.kind)) {
		fprintf(stderr, "%s: no kind %s\n", argv[0], kind);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	maker.r = fd < 0 ? -errno : ts_sbt_writer_new(fd, &maker.writer);
	if (!maker.r)
		make(&maker, (uint32_t)strtoul(argv[2], NULL, 10));
	ts_sbt_writer_free(maker.writer);
	if (maker.r)
		fprintf(stderr, "%s: error %d\n", argv[1], maker.r);
	return maker.r ? 1 : 0;
}
