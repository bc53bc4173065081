/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the PTX engine as the machine's executor. Each running kernel gets an engine, the device's
 * memory, heap and output. Engine faults become errors of the machine, and engine counts go to the
 * cost model. The context facade and replay/exec/vgpu create the executor; worker.c calls this file
 * through struct ts_vgpu_executor.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/executor.h"
#include "replay/vgpu/vgpu-module.h"

/* Memory of a grid barrier in cooperative groups: its size, one word of state, and spare room. */
#define GRID_WORKSPACE_BYTES 256u
/*
 * Number of warp instructions after which a polling kernel counts as only waiting: about one
 * second, or several seconds of an observed kernel.
 */
#define MAX_WATCHING_INSNS (UINT64_C(1) << 26)

/* An engine and the context of its current kernel. */
struct lane {
	struct ts_vgpu_ptx_executor *executor;
	struct ts_ptx_engine *engine;
	struct ts_vgpu_context *context;
	struct lane *next;
};

struct ts_vgpu_ptx_executor {
	struct ts_vgpu *vgpu;
	struct ts_vgpu_executor_options options;
	pthread_mutex_t lock;
	struct lane *idle;
	unsigned n_busy;
	struct ts_ptx_watch watch;

	pthread_mutex_t output_lock;
	_Atomic bool has_output;
	char *output;
	size_t n_output;
};

static int lane_resolve(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
			uint8_t **ret_host, uint32_t *ret_flags)
{
	struct lane *lane = userdata;
	struct ts_vgpu_range range;
	int r = ts_vgpu_reach(lane->context, address, &range);

	if (r)
		return r;
	*ret_base = range.start;
	*ret_bytes = range.bytes;
	*ret_host = range.backing;
	*ret_flags = range.access & TS_VGPU_ACCESS_WRITE ? 0 : TS_PTX_READ_ONLY;
	return 0;
}

static void flush_locked(struct ts_vgpu_ptx_executor *x)
{
	if (x->n_output)
		x->options.output(x->options.userdata, x->output, x->n_output);
	x->n_output = 0;
	atomic_store_explicit(&x->has_output, false, memory_order_relaxed);
}

static void lane_print(void *userdata, const char *text, size_t n_bytes)
{
	struct ts_vgpu_ptx_executor *x = ((struct lane *)userdata)->executor;

	if (!x->options.output)
		return;
	pthread_mutex_lock(&x->output_lock);
	if (!x->output)
		x->output = malloc(TS_VGPU_OUTPUT_BYTES);
	/*
	 * Hardware overwrites output that is not fetched in time. This buffer is flushed instead,
	 * so no output is lost.
	 */
	if (!x->output || n_bytes > TS_VGPU_OUTPUT_BYTES - x->n_output)
		flush_locked(x);
	if (!x->output || n_bytes > TS_VGPU_OUTPUT_BYTES) {
		x->options.output(x->options.userdata, text, n_bytes);
	} else {
		memcpy(x->output + x->n_output, text, n_bytes);
		x->n_output += n_bytes;
		atomic_store_explicit(&x->has_output, true, memory_order_relaxed);
	}
	pthread_mutex_unlock(&x->output_lock);
}

static void flush(void *userdata)
{
	struct ts_vgpu_ptx_executor *x = userdata;

	/*
	 * A thread that waited for a kernel took the machine's lock after the kernel's end, so the
	 * thread sees the flag that the kernel set.
	 */
	if (!atomic_load_explicit(&x->has_output, memory_order_relaxed))
		return;
	pthread_mutex_lock(&x->output_lock);
	flush_locked(x);
	pthread_mutex_unlock(&x->output_lock);
}

static uint64_t lane_malloc(void *userdata, uint64_t n_bytes)
{
	struct lane *lane = userdata;
	uint64_t address;

	return ts_vgpu_heap_alloc(lane->context, n_bytes, &address) ? 0 : address;
}

static int lane_free(void *userdata, uint64_t address)
{
	struct lane *lane = userdata;

	return ts_vgpu_heap_free(lane->context, address);
}

static struct lane *lane_new(struct ts_vgpu_ptx_executor *x)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	struct ts_ptx_host host = {
		.userdata = lane,
		.resolve = lane_resolve,
		.print = lane_print,
		.malloc = lane_malloc,
		.free = lane_free,
	};

	if (!lane)
		return NULL;
	lane->executor = x;
	if (ts_ptx_engine_new(&host, x->options.n_threads, &lane->engine)) {
		free(lane);
		return NULL;
	}
	if ((x->options.observer && ts_ptx_engine_observe(lane->engine, x->options.observer)) ||
	    ts_ptx_engine_schedule(lane->engine, x->options.scheduler) ||
	    (x->options.debugger && ts_ptx_engine_debug(lane->engine, x->options.debugger))) {
		ts_ptx_engine_free(lane->engine);
		free(lane);
		return NULL;
	}
	return lane;
}

static struct lane *lane_take(struct ts_vgpu_ptx_executor *x)
{
	struct lane *lane;

	pthread_mutex_lock(&x->lock);
	lane = x->idle;
	if (lane)
		x->idle = lane->next;
	x->n_busy++;
	pthread_mutex_unlock(&x->lock);
	if (lane)
		return lane;
	lane = lane_new(x);
	if (!lane) {
		pthread_mutex_lock(&x->lock);
		x->n_busy--;
		pthread_mutex_unlock(&x->lock);
	}
	return lane;
}

static void lane_give(struct lane *lane)
{
	struct ts_vgpu_ptx_executor *x = lane->executor;

	pthread_mutex_lock(&x->lock);
	lane->next = x->idle;
	x->idle = lane;
	x->n_busy--;
	pthread_mutex_unlock(&x->lock);
}

static int error_of(enum ts_ptx_fault_kind kind)
{
	switch (kind) {
	case TS_PTX_FAULT_OUT_OF_BOUNDS:
	case TS_PTX_FAULT_READ_ONLY:
		return TS_VGPU_E_FAULT_ADDRESS;
	case TS_PTX_FAULT_MISALIGNED:
		return TS_VGPU_E_FAULT_MISALIGNED;
	case TS_PTX_FAULT_ASSERT:
		return TS_VGPU_E_FAULT_ASSERT;
	case TS_PTX_FAULT_ILLEGAL:
		return TS_VGPU_E_FAULT_ILLEGAL;
	case TS_PTX_FAULT_PC:
		return TS_VGPU_E_FAULT_PC;
	case TS_PTX_FAULT_STACK:
		return TS_VGPU_E_FAULT_STACK;
	case TS_PTX_FAULT_DEADLOCK:
	case TS_PTX_FAULT_BUDGET:
	case TS_PTX_FAULT_WAITS:
	case TS_PTX_FAULT_CANCELLED:
		return TS_VGPU_E_FAULT_TIMEOUT;
	case TS_PTX_FAULT_NO_MEMORY:
		return TS_VGPU_E_FAULT_RESOURCES;
	default:
		return TS_VGPU_E_FAULT_TRAP;
	}
}

static void say(struct ts_vgpu_ptx_executor *x, const char *line)
{
	if (!x->options.fault)
		return;
	pthread_mutex_lock(&x->output_lock);
	/* The kernel's output precedes the report of its fault. */
	if (x->options.output)
		flush_locked(x);
	x->options.fault(x->options.userdata, line);
	pthread_mutex_unlock(&x->output_lock);
}

static int compute(struct lane *lane, const struct ts_ptx_launch *launch,
		   struct ts_vgpu_kernel_work *work)
{
	struct ts_ptx_stats stats;
	struct ts_ptx_fault fault = {0};
	struct ts_ptx_error error = {0};
	int r = ts_ptx_run(lane->engine, launch, &stats, &fault, &error);

	switch (r) {
	case 0:
		*work = (struct ts_vgpu_kernel_work){
			.computed = true,
			.warp_insns = stats.warp_insns,
			.memory_bytes = stats.global_bytes_read + stats.global_bytes_written,
			.tensor_flops = stats.tensor_flops,
		};
		return 0;
	case TS_PTX_E_FAULT:
		/* If the program ends, the cancelled kernel is not reported. */
		if (fault.kind != TS_PTX_FAULT_CANCELLED)
			say(lane->executor, fault.message);
		return error_of(fault.kind);
	default:
		say(lane->executor, r < 0 ? strerror(-r) : error.message);
		return TS_VGPU_E_FAULT_RESOURCES;
	}
}

/*
 * Runs a cooperative launch. Its grid barrier uses driver memory that must be zero at first, except
 * for the size.
 */
static int compute_cooperative(struct lane *lane, struct ts_ptx_launch *launch,
			       struct ts_vgpu_kernel_work *work)
{
	struct ts_vgpu *vgpu = lane->executor->vgpu;
	uint32_t bytes = GRID_WORKSPACE_BYTES;
	uint64_t address;
	void *host;
	int r = ts_vgpu_alloc(lane->context, bytes, 0, NULL, &address);

	if (!r)
		r = ts_vgpu_resolve(vgpu, address, bytes, &host);
	if (r) {
		say(lane->executor, "no device memory for a cooperative launch's barrier");
		return TS_VGPU_E_FAULT_RESOURCES;
	}
	memset(host, 0, bytes);
	memcpy(host, &bytes, sizeof(bytes));
	launch->grid_workspace = address;
	r = compute(lane, launch, work);
	ts_vgpu_release(lane->context, address);
	return r;
}

static int run(void *userdata, const struct ts_vgpu_kernel_run *run,
	       struct ts_vgpu_kernel_work *ret_work)
{
	static _Atomic uint64_t next_grid_id = 1;
	struct ts_vgpu_ptx_executor *x = userdata;
	const struct ts_vgpu_kernel *kernel = run->kernel;
	struct ts_ptx_launch launch = {
		.kernel = kernel->code,
		.grid = {run->grid.x, run->grid.y, run->grid.z},
		.block = {run->block.x, run->block.y, run->block.z},
		.dynamic_shared_bytes = run->shared_bytes,
		.params = run->params,
		.params_bytes = run->params_bytes,
		.grid_id = atomic_fetch_add_explicit(&next_grid_id, 1, memory_order_relaxed),
		.max_resident = run->max_resident,
		.n_sm = ts_vgpu_device_shape(ts_vgpu_context_device(run->context))->n_sm,
		.stack_bytes = (uint32_t)(run->stack_bytes < TS_PTX_MAX_LOCAL_BYTES
						  ? run->stack_bytes
						  : TS_PTX_MAX_LOCAL_BYTES),
		.cancel = run->cancel,
		.cooperative = run->cooperative,
		.max_watching_insns = MAX_WATCHING_INSNS,
		.watch = x->options.is_alone ? NULL : &x->watch,
	};
	struct lane *lane = lane_take(x);
	int r;

	if (!lane) {
		say(x, strerror(ENOMEM));
		return TS_VGPU_E_FAULT_RESOURCES;
	}
	lane->context = run->context;
	r = run->cooperative ? compute_cooperative(lane, &launch, ret_work)
			     : compute(lane, &launch, ret_work);
	lane_give(lane);
	return r;
}

int ts_vgpu_executor_new(struct ts_vgpu *vgpu, const struct ts_vgpu_executor_options *options,
			 struct ts_vgpu_ptx_executor **ret_executor)
{
	struct ts_vgpu_ptx_executor *x = calloc(1, sizeof(*x));
	struct ts_vgpu_executor executor = {
		.userdata = x,
		.run = run,
		.flush = flush,
		.n_concurrent = options->n_threads == 1 ? 1 : TS_VGPU_MAX_CONCURRENT,
	};

	if (!x)
		return -ENOMEM;
	x->vgpu = vgpu;
	x->options = *options;
	pthread_mutex_init(&x->lock, NULL);
	pthread_mutex_init(&x->output_lock, NULL);
	ts_vgpu_set_executor(vgpu, &executor);
	*ret_executor = x;
	return 0;
}

bool ts_vgpu_executor_only_watches(struct ts_vgpu_ptx_executor *x)
{
	bool only_watches;

	pthread_mutex_lock(&x->lock);
	only_watches = x->n_busy && !atomic_load(&x->watch.n_active);
	pthread_mutex_unlock(&x->lock);
	return only_watches;
}

void ts_vgpu_executor_end_waits(struct ts_vgpu_ptx_executor *x)
{
	atomic_store(&x->watch.ends, true);
}

void ts_vgpu_executor_free(struct ts_vgpu_ptx_executor *x)
{
	struct lane *lane;
	bool busy;

	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	lane = x->idle;
	x->idle = NULL;
	busy = x->n_busy;
	pthread_mutex_unlock(&x->lock);
	while (lane) {
		struct lane *next = lane->next;

		ts_ptx_engine_free(lane->engine);
		free(lane);
		lane = next;
	}
	if (busy)
		return;
	free(x->output);
	pthread_mutex_destroy(&x->lock);
	pthread_mutex_destroy(&x->output_lock);
	free(x);
}
