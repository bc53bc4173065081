/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives finished work from HIP's runtime and writes its device rows. The runtime calls
 * on_activity() on its own threads, and on the application's threads inside their waits. It calls
 * the producer, the definitions and hip-work.c.
 *
 * The runtime has one callback in a process, hipRegisterTracerCallback(), and asks it three things
 * (prof_protocol.h of ROCm/clr):
 *
 * - domain HIP_API: at the entry of each call. Result 0 means that the call is traced: its work
 *   then carries the id that the callback stores. The callback also stores the functions for the
 *   two phases of the call. The runtime leaves that memory uninitialised.
 * - domain HIP_OPS without data: whether work is timed. All work is; work of calls that are not
 *   traced has the id 0. Since ROCm 7 also an announcement of one record.
 * - domain HIP_OPS with a record: finished work.
 */
#include <dlfcn.h>
#include <time.h>

#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "inject/ring/ring-session.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_types.h"

/* Maximum error of the runtime's times. */
#define TIME_ERROR_NS UINT64_C(1000000000)

/*
 * A thread of the runtime that delivers rows may wait this long for room in its ring. The runtime's
 * later work waits with it, so the wait is short.
 */
#define DELIVERY_PATIENCE_NS UINT64_C(10000000)

/* A call's entry. The runtime stores the id in its thread, and copies it into the call's work. */
static int on_call(const struct ts_shim *shim, struct ts_hip_api_trace_data *data)
{
	struct ts_hip_api_phases *phases =
		(struct ts_hip_api_phases *)((char *)data + shim->hip.phases_off);
	uint64_t op_id = ts_hip_current_op();

	if (!op_id)
		return 1;
	data->correlation_id = op_id;
	phases->phase_enter = NULL;
	phases->phase_exit = NULL;
	return 0;
}

static inline uint64_t earliest_of(const struct ts_shim *shim)
{
	const uint64_t start = shim->control->start_monotonic_ns;

	return start > TIME_ERROR_NS ? start - TIME_ERROR_NS : 0;
}

/*
 * Converts a time of the runtime to CLOCK_MONOTONIC. Times of the hardware come on the kernel
 * driver's clock, CLOCK_BOOTTIME; times that the runtime itself took are CLOCK_MONOTONIC's. The two
 * differ only after a suspend. Returns 0 if the time fits neither.
 */
static uint64_t monotonic(const struct ts_shim *shim, uint64_t time, uint64_t latest)
{
	const uint64_t ahead = shim->hip.ahead_ns, earliest = earliest_of(shim);

	if (time >= ahead && time - ahead >= earliest && time - ahead <= latest)
		return time - ahead;
	return time >= earliest && time <= latest ? time : 0;
}

/* Converts the times of a record. Returns false if they are unusable, or later than `latest`. */
static inline bool convert_times(const struct ts_shim *shim,
				 const struct ts_hip_activity_record *in, uint64_t latest,
				 uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = monotonic(shim, in->begin_ns, latest);
	*ret_end = monotonic(shim, in->end_ns, latest);
	return *ret_start && *ret_end && *ret_start <= *ret_end;
}

/* The same with the present time. If they are unusable, counts a loss. */
static __attribute__((noinline)) bool convert_late_times(struct ts_shim *shim,
							 struct ts_thread *thread,
							 const struct ts_hip_activity_record *in,
							 uint64_t *ret_start, uint64_t *ret_end)
{
	const uint64_t latest = ts_clock_monotonic_ns() + TIME_ERROR_NS;

	__atomic_store_n(&shim->hip.latest_ns, latest, __ATOMIC_RELAXED);
	if (convert_times(shim, in, latest, ret_start, ret_end))
		return true;
	ts_thread_count(thread, in->begin_ns ? TS_LOSS_BAD_TIME : TS_LOSS_ZERO_TIMESTAMP, 1);
	return false;
}

/*
 * Checks the times of a record. If they are unusable, counts a loss and returns false. Reads the
 * clock only if the record is later than the last reading allows: an earlier reading allows less.
 */
static inline bool times_of(struct ts_shim *shim, struct ts_thread *thread,
			    const struct ts_hip_activity_record *in, uint64_t *ret_start,
			    uint64_t *ret_end)
{
	const uint64_t latest = __atomic_load_n(&shim->hip.latest_ns, __ATOMIC_RELAXED);
	const uint64_t ahead = shim->hip.ahead_ns;

	/* Both times of the hardware, the usual case. */
	*ret_start = in->begin_ns - ahead;
	*ret_end = in->end_ns - ahead;
	return ts_likely(in->begin_ns >= ahead && *ret_start >= earliest_of(shim) &&
			 *ret_start <= *ret_end && *ret_end <= latest && *ret_start) ||
	       convert_late_times(shim, thread, in, ret_start, ret_end);
}

static struct ts_place place_of(const struct ts_shim *shim, const struct ts_hip_work *work)
{
	return (struct ts_place){
		.device = shim->hip.first_device + work->device,
		.context = shim->hip.first_device + work->device + 1,
		.stream = work->stream,
		.graph = work->kind == TS_CUPTI_CLASS_GRAPH_LAUNCH ? work->graph_id : 0,
	};
}

/* The words with which the rows of copies and sets begin. */
struct row {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	struct ts_place place;
};

#define ASSERT_ROW(type)                                                                        \
	TS_STATIC_ASSERT(offsetof(struct type, end) == offsetof(struct row, end) &&             \
				 offsetof(struct type, op_id) == offsetof(struct row, op_id) && \
				 offsetof(struct type, place) == offsetof(struct row, place),   \
			 "a row's first words")
ASSERT_ROW(ts_record_memcpy);
ASSERT_ROW(ts_record_memset);

/*
 * Reserves a row of finished work, with its times and its place; the other words are 0. Returns
 * NULL if the row is lost, which is counted.
 */
static void *open_row(struct ts_shim *shim, struct ts_thread *thread,
		      const struct ts_hip_activity_record *in, const struct ts_hip_work *work,
		      enum ts_record_type type, uint32_t n_bytes)
{
	uint64_t start, end;
	struct row *out;

	if (!times_of(shim, thread, in, &start, &end))
		return NULL;
	out = ts_thread_reserve(thread, type, n_bytes, TS_CLOCK_MONOTONIC, start);
	if (!out)
		return NULL;
	memset((uint8_t *)out + sizeof(out->record), 0, n_bytes - sizeof(out->record));
	out->end = end;
	out->op_id = work->op_id;
	out->place = place_of(shim, work);
	return out;
}

/* Blocks, then threads of a block: the fields `grid` and `block` lie together. */
#define SHAPE_BYTES	   24u
#define SHAPE_IN(type, at) ((uint8_t *)(uintptr_t)(at) + offsetof(struct type, grid))
#define ASSERT_SHAPE(type)                                                                   \
	TS_STATIC_ASSERT(offsetof(struct type, block) == offsetof(struct type, grid) + 12 && \
				 sizeof(((struct type *)NULL)->block) == 12,                 \
			 "copied at once")
ASSERT_SHAPE(ts_record_kernel);
ASSERT_SHAPE(ts_hip_work);
ASSERT_SHAPE(ts_hip_node_kernel);
ASSERT_SHAPE(ts_hip_dispatch);

/*
 * Writes a kernel's row, with the shape, the dynamic shared bytes, the code, and the node in a
 * graph.
 */
static inline __attribute__((always_inline)) void write_kernel(
	struct ts_shim *shim, struct ts_thread *thread, const struct ts_hip_activity_record *in,
	const struct ts_hip_work *work, const void *shape, uint32_t dynamic_shared_bytes,
	uint32_t code, uint64_t node)
{
	uint32_t name = work->name, function = 0;
	struct ts_record_kernel *out;
	uint64_t start, end;

	/*
	 * Comes before the kernel's record, because a definition is published before records that
	 * refer to it.
	 */
	if (ts_likely(in->kernel_name != NULL)) {
		name = ts_definitions_string_cached(&shim->definitions, &thread->strings,
						    in->kernel_name);
		function = ts_hip_code_known_kernel(&shim->hip.code, code, name);
		if (ts_unlikely(!function))
			function =
				ts_hip_code_kernel(shim, code, in->kernel_name, name, work->device);
	}
	if (!times_of(shim, thread, in, &start, &end))
		return;
	out = ts_thread_reserve(thread, TS_RECORD_KERNEL, sizeof(*out), TS_CLOCK_MONOTONIC, start);
	if (!out)
		return;
	out->end = end;
	out->op_id = work->op_id;
	out->place = place_of(shim, work);
	out->place.graph_node = node;
	out->queued = out->submitted = 0;
	out->name = name;
	out->cluster[0] = out->cluster[1] = out->cluster[2] = 0;
	out->static_shared_bytes = 0;
	out->local_bytes_per_thread = 0;
	out->registers_per_thread = 0;
	out->launch_type = out->channel_type = 0;
	out->channel = 0;
	out->function = function;
	memcpy(SHAPE_IN(ts_record_kernel, out), shape, SHAPE_BYTES);
	out->dynamic_shared_bytes = dynamic_shared_bytes;
	ts_thread_commit(thread, sizeof(*out));
}

/* A kernel of a graph, or one that the SDK reports. */
static __attribute__((noinline)) void record_kernel(struct ts_shim *shim, struct ts_thread *thread,
						    const struct ts_hip_activity_record *in,
						    const struct ts_hip_work *work)
{
	const struct ts_hip_dispatch *dispatch = (const struct ts_hip_dispatch *)in;
	struct ts_hip_node_kernel kernel = {0};

	if (work->kind == TS_CUPTI_CLASS_LAUNCH) {
		memcpy(SHAPE_IN(ts_hip_node_kernel, &kernel), SHAPE_IN(ts_hip_work, work),
		       SHAPE_BYTES);
		kernel.dynamic_shared_bytes = work->dynamic_shared_bytes;
		kernel.code = work->code;
	} else if (in->kernel_name) {
		(void)ts_hip_graph_kernel(&shim->hip.graphs, work->graph,
					  ts_hip_code_name(in->kernel_name), &kernel);
	}
	if (in->domain == TS_HIP_DOMAIN_SDK && dispatch->block[0])
		memcpy(SHAPE_IN(ts_hip_node_kernel, &kernel), SHAPE_IN(ts_hip_dispatch, dispatch),
		       SHAPE_BYTES);
	write_kernel(shim, thread, in, work, SHAPE_IN(ts_hip_node_kernel, &kernel),
		     kernel.dynamic_shared_bytes, kernel.code, kernel.id);
}

/* Returns the size of a copy or a set: the record's, or the call's if the record has none. */
static uint64_t bytes_of(const struct ts_hip_activity_record *in, const struct ts_hip_work *work)
{
	const bool is_in_call =
		work->kind == TS_CUPTI_CLASS_MEMCPY || work->kind == TS_CUPTI_CLASS_MEMSET;

	return in->bytes || !is_in_call ? in->bytes : work->bytes;
}

static void record_set(struct ts_shim *shim, struct ts_thread *thread,
		       const struct ts_hip_activity_record *in, const struct ts_hip_work *work)
{
	struct ts_record_memset *out =
		open_row(shim, thread, in, work, TS_RECORD_MEMSET, sizeof(*out));

	if (!out)
		return;
	out->bytes = bytes_of(in, work);
	/* A node of a graph has a value of its own. */
	out->value = work->kind == TS_CUPTI_CLASS_MEMSET ? work->value : 0;
	out->memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	out->async = work->async;
	ts_thread_commit(thread, sizeof(*out));
}

/*
 * Returns the direction of a copy. The call's arguments may leave it to the runtime, and the nodes
 * of a graph have none; the runtime's command then shows it.
 */
static uint8_t copy_kind_of(const struct ts_hip_activity_record *in, const struct ts_hip_work *work)
{
	if (work->copy_kind != TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN)
		return work->copy_kind;
	switch (in->kind) {
	case TS_HIP_COMMAND_READ_BUFFER:
	case TS_HIP_COMMAND_READ_BUFFER_RECT:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	case TS_HIP_COMMAND_WRITE_BUFFER:
	case TS_HIP_COMMAND_WRITE_BUFFER_RECT:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	case TS_HIP_COMMAND_COPY_BUFFER:
	case TS_HIP_COMMAND_COPY_BUFFER_RECT:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	default:
		return TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
	}
}

static void record_copy(struct ts_shim *shim, struct ts_thread *thread,
			const struct ts_hip_activity_record *in, const struct ts_hip_work *work)
{
	const uint8_t kind = copy_kind_of(in, work);
	const bool from_host = kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	const bool to_host = kind == TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	const bool is_known = kind != TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
	struct ts_record_memcpy *out =
		open_row(shim, thread, in, work, TS_RECORD_MEMCPY, sizeof(*out));

	if (!out)
		return;
	out->bytes = bytes_of(in, work);
	out->copy_count = 1;
	out->src_device = from_host ? TS_NO_DEVICE : out->place.device;
	out->dst_device = to_host ? TS_NO_DEVICE : out->place.device;
	out->copy_kind = kind;
	if (is_known && !from_host)
		out->src_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	if (is_known && !to_host)
		out->dst_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	out->async = work->async;
	ts_thread_commit(thread, sizeof(*out));
}

/* A copy or a set that a kernel carried out. */
static void record_carried(struct ts_shim *shim, struct ts_thread *thread,
			   const struct ts_hip_activity_record *kernel,
			   const struct ts_hip_work *work)
{
	struct ts_hip_activity_record in = *kernel;

	in.kind = TS_HIP_COMMAND_COPY_BUFFER;
	in.bytes = 0;
	if (work->kind == TS_CUPTI_CLASS_MEMSET)
		record_set(shim, thread, &in, work);
	else
		record_copy(shim, thread, &in, work);
}

/* Writes the row of finished work that is no kernel of a launch. */
static __attribute__((noinline)) void write_other_row(struct ts_shim *shim,
						      struct ts_thread *thread,
						      const struct ts_hip_activity_record *in,
						      const struct ts_hip_work *work)
{
	if (in->op == TS_HIP_ACTIVITY_OP_DISPATCH) {
		/*
		 * A set or a copy may be carried out by a kernel of the runtime. HIP also reports
		 * the set or the copy itself, rocprofiler-sdk does not.
		 */
		if (work->kind == TS_CUPTI_CLASS_LAUNCH ||
		    work->kind == TS_CUPTI_CLASS_GRAPH_LAUNCH)
			record_kernel(shim, thread, in, work);
		else if (in->domain == TS_HIP_DOMAIN_SDK)
			record_carried(shim, thread, in, work);
	} else if (in->op == TS_HIP_ACTIVITY_OP_COPY) {
		if (in->kind == TS_HIP_COMMAND_FILL_BUFFER)
			record_set(shim, thread, in, work);
		else
			record_copy(shim, thread, in, work);
	}
}

/* Writes the row of finished work. */
static inline void write_row(struct ts_shim *shim, struct ts_thread *thread,
			     const struct ts_hip_activity_record *in)
{
	struct ts_hip_work work;

	/* The facts are overwritten, or the call was made before the session. */
	if (ts_unlikely(!ts_hip_works_get(&shim->hip.works, in->correlation_id, &work))) {
		if (in->op != TS_HIP_ACTIVITY_OP_BARRIER)
			ts_thread_count(thread, TS_LOSS_UNJOINED_DEVICE, 1);
		return;
	}
	if (ts_likely(in->op == TS_HIP_ACTIVITY_OP_DISPATCH && work.kind == TS_CUPTI_CLASS_LAUNCH &&
		      in->domain != TS_HIP_DOMAIN_SDK))
		write_kernel(shim, thread, in, &work, SHAPE_IN(ts_hip_work, &work),
			     work.dynamic_shared_bytes, work.code, 0);
	else
		write_other_row(shim, thread, in, &work);
	/* Not for barriers: they may end before the work of their call. */
	if (in->op == TS_HIP_ACTIVITY_OP_DISPATCH || in->op == TS_HIP_ACTIVITY_OP_COPY)
		ts_hip_works_done(&shim->hip.works, work.op_id);
}

/* Finished work. is_runtimes: this thread is none of the application's. */
static inline void on_work(struct ts_shim *shim, const struct ts_hip_activity_record *in,
			   bool is_runtimes)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);

	if (!thread) {
		/* No shard was left; the loss is counted. Nobody waits for the row. */
		ts_hip_works_done(&shim->hip.works, in->correlation_id);
		return;
	}
	thread->patience_ns = is_runtimes ? DELIVERY_PATIENCE_NS : 0;
	write_row(shim, thread, in);
	thread->patience_ns = 0;
}

/* Returns false if no rows are written. NULL or wiped: a forked child. */
static inline bool is_recording_rows(const struct ts_shim *shim)
{
	/* Acquire: pairs with make_gate() in shim.c. */
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);

	return gate && __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) != TS_GATE_CLOSED &&
	       __atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE);
}

/* Returns 0, as the callback does. */
static __attribute__((noinline)) int deliver(struct ts_shim *shim,
					     const struct ts_hip_activity_record *record)
{
	const uint32_t was_busy = ts_tls.busy;
	int saved_errno = errno;

	if (!record->correlation_id)
		return 0;
	ts_tls.busy = was_busy ? was_busy : TS_BUSY_IN_CALL;
	on_work(shim, record, !was_busy && !ts_tls.call.depth);
	ts_tls.busy = was_busy;
	errno = saved_errno;
	return 0;
}

void ts_hip_deliver(const struct ts_hip_activity_record *record)
{
	if (is_recording_rows(&ts_shim))
		(void)deliver(&ts_shim, record);
}

static int on_activity(uint32_t domain, uint32_t op, void *data)
{
	struct ts_shim *shim = &ts_shim;

	(void)op;
	if (ts_unlikely(!is_recording_rows(shim)))
		return 1;
	if (domain == TS_HIP_ACTIVITY_DOMAIN_OPS) {
		/*
		 * Asked at submission, and again at the end, on another thread: the answers must
		 * agree.
		 */
		return data && data != TS_HIP_ACTIVITY_COMMIT ? deliver(shim, data) : 0;
	}
	return domain == TS_HIP_ACTIVITY_DOMAIN_API ? on_call(shim, data) : 1;
}

/*
 * Offset of the phases in the runtime's record of a call: hip_prof_str.h of ROCm/hipamd (5.3.1 to
 * 5.6), ROCm/clr (5.6 to 6.3) and ROCm/rocm-systems (7). 0: not known.
 */
static uint32_t phases_off(uint32_t version)
{
	switch (version / 10000000) {
	case 5:
		return TS_HIP_API_PHASES_OFF_5;
	case 6:
	case 7:
		return TS_HIP_API_PHASES_OFF_6;
	default:
		return 0;
	}
}

void *ts_hip_library(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname
		       ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
		       : NULL;
}

void ts_hip_read_clocks(struct ts_shim *shim)
{
	const uint64_t boot = ts_clock_gettime_ns(CLOCK_BOOTTIME);
	const uint64_t now = ts_clock_monotonic_ns();

	/* Before the first suspend, the later reading is larger. */
	shim->hip.ahead_ns = boot > now ? boot - now : 0;
}

bool ts_hip_trace(struct ts_shim *shim, const void *function, uint32_t version)
{
	hipRegisterTracerCallback_fn *install = NULL;
	void *library;

	shim->hip.phases_off = phases_off(version);
	if (!shim->hip.phases_off)
		return false;
	library = ts_hip_library(function);
	if (!library)
		return false;
	*(void **)&install = dlsym(library, "hipRegisterTracerCallback");
	dlclose(library);
	if (!install)
		return false;
	ts_hip_read_clocks(shim);
	install((void *)(uintptr_t)on_activity);
	return true;
}
