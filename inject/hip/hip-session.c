/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's part in the session's life: begin, devices, stops of recording, end. hip-register.c,
 * hip-calls.c, flush.c and shim.c call this file. This file calls hip-rows.c, hip-work.c and
 * cuda/switch.c and rocprofiler-link.c.
 *
 *	register the table -> ts_hip_start(): the session exists, wrappers go into the table
 *	first recorded call -> ts_hip_attach(): the runtime is ready, so it may be asked
 *	exit               -> ts_hip_wait(): rows of launched work arrive
 *
 * Trap: the table is registered inside the runtime's own initialisation. A call of HIP from there
 * would wait for itself.
 */
#include <dlfcn.h>
#include <time.h>

#include "inject/capture/capture-link.h"
#include "inject/context.h"
#include "inject/cuda/renumber.h"
#include "inject/cuda/switch.h"
#include "inject/hip/hip-recorder.h"
#include "inject/hip/hip-slots.h"
#include "inject/ring/futex.h"
#include "inject/ring/ring-session.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/hip.h"

/*
 * ATTACHING: the value of `attached` while a thread asks the runtime. ATTACH_NS: the longest time
 * that another thread waits for that thread.
 */
#define ATTACHING 1u
#define ATTACH_NS UINT64_C(2000000000)

/* Longest waits of an ending process for rows; as for CUPTI (shim.c). */
#define WAIT_IDLE_NS UINT64_C(2000000000)
#define WAIT_NS	     UINT64_C(10000000000)
#define WAIT_STEP_NS UINT64_C(1000000)

int ts_hip_start(struct ts_shim *shim)
{
	uint32_t none = 0;
	void *cuda;
	int r;

	r = ts_hip_works_init(&shim->hip.works);
	if (r)
		return r;
	ts_hip_code_init(&shim->hip.code);
	shim->hip.stopped = ts_shim_is_stopped(shim);
	/* Once the flush thread runs, the state of the pause is its own. */
	if (shim->hip.stopped && !__atomic_load_n(&shim->flush_started, __ATOMIC_ACQUIRE)) {
		shim->pause.paused = true;
		shim->pause.by_application =
			__atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
	}
	/* If the driver of CUDA is loaded, CUDA has the first numbers. */
	cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (cuda)
		dlclose(cuda);
	if (cuda || !ts_shim_claim_numbers(shim, TS_API_HIP)) {
		shim->hip.first_device = TS_BESIDE_DEVICE;
		shim->hip.first_op_id = TS_OP_ID_SECOND;
	}
	/* Pairs with the acquire in ts_hip_enter(). */
	if (!__atomic_compare_exchange_n(&shim->hip.started, &none, 1, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		return -EALREADY;
	return 0;
}

/* Stores a device's properties in the layout since 6.0; of 5.x's layout, the fields used here. */
static bool get_properties(int32_t device, struct ts_hip_device_prop_r0600 *ret)
{
	hipGetDevicePropertiesR0600_fn *get = ts_hip_next(hipGetDevicePropertiesR0600);
	hipGetDevicePropertiesR0000_fn *get_old = ts_hip_next(hipGetDevicePropertiesR0000);
	struct ts_hip_device_prop_r0000 old;

	memset(ret, 0, sizeof(*ret));
	if (get)
		return get(ret, device) == 0;
	memset(&old, 0, sizeof(old));
	if (!get_old || get_old(&old, device))
		return false;
	memcpy(ret->name, old.name, sizeof(ret->name));
	ret->total_global_mem = old.total_global_mem;
	ret->memory_clock_rate = old.memory_clock_rate;
	ret->memory_bus_width = old.memory_bus_width;
	ret->major = old.major;
	ret->minor = old.minor;
	ret->multi_processor_count = old.multi_processor_count;
	ret->clock_rate = old.clock_rate;
	ret->warp_size = old.warp_size;
	ret->max_threads_per_multi_processor = old.max_threads_per_multi_processor;
	ret->shared_mem_per_multiprocessor = old.max_shared_memory_per_multi_processor;
	ret->l2_cache_size = old.l2_cache_size;
	return true;
}

static void define_device(struct ts_shim *shim, int32_t device)
{
	struct ts_definition_device definition = {.definition.type = TS_DEF_DEVICE};
	struct ts_hip_device_prop_r0600 prop;

	if (!get_properties(device, &prop))
		return;
	prop.name[sizeof(prop.name) - 1] = '\0';
	if ((uint32_t)device < TS_HIP_MAX_TARGETS)
		memcpy(shim->hip.code.targets[device], prop.gcn_arch_name,
		       strnlen(prop.gcn_arch_name, TS_HIP_TARGET_BYTES - 1));
	definition.device = shim->hip.first_device + (uint32_t)device;
	definition.definition.flags = ts_definitions_device_flags(prop.name);
	definition.name = ts_definitions_string(&shim->definitions, prop.name, strlen(prop.name));
	memcpy(definition.uuid, &prop.uuid, sizeof(definition.uuid));
	definition.memory_bytes = prop.total_global_mem;
	/* Two transfers a clock; bus in bits, clock in kHz. */
	definition.memory_bandwidth_kb_per_s =
		(uint64_t)prop.memory_clock_rate * 2 * (uint64_t)prop.memory_bus_width / 8;
	definition.compute_capability_major = (uint32_t)prop.major;
	definition.compute_capability_minor = (uint32_t)prop.minor;
	definition.n_multiprocessors = (uint32_t)prop.multi_processor_count;
	definition.core_clock_khz = (uint32_t)prop.clock_rate;
	definition.n_copy_engines = (uint32_t)prop.async_engine_count;
	definition.threads_per_warp = (uint32_t)prop.warp_size;
	if (prop.warp_size)
		definition.max_warps_per_multiprocessor =
			(uint32_t)(prop.max_threads_per_multi_processor / prop.warp_size);
	definition.max_blocks_per_multiprocessor = (uint32_t)prop.max_blocks_per_multi_processor;
	definition.max_shared_bytes_per_multiprocessor =
		(uint32_t)prop.shared_mem_per_multiprocessor;
	definition.max_registers_per_multiprocessor = (uint32_t)prop.regs_per_multiprocessor;
	definition.l2_cache_bytes = (uint32_t)prop.l2_cache_size;
	ts_definitions_add(&shim->definitions, &definition.definition, sizeof(definition));
}

/* Records the device's primary context, which HIP shows to no caller, and its null stream. */
static void record_context(struct ts_shim *shim, uint32_t device)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	struct ts_record_object *out;

	if (!thread)
		return;
	out = ts_thread_reserve(thread, TS_RECORD_CONTEXT, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->device = shim->hip.first_device + device;
	out->context = shim->hip.first_device + device + 1;
	out->stream = TS_NO_DEVICE;
	out->action = TS_OBJECT_SEEN;
	ts_thread_commit(thread, sizeof(*out));
}

void ts_hip_attach(struct ts_shim *shim)
{
	hipGetDeviceCount_fn *get_count = ts_hip_next(hipGetDeviceCount);
	hipRuntimeGetVersion_fn *get_version = ts_hip_next(hipRuntimeGetVersion);
	hipPeekAtLastError_fn *peek_error = ts_hip_next(hipPeekAtLastError);
	hipGetLastError_fn *reset_error = ts_hip_next(hipGetLastError);
	uint32_t none = 0, ways = ts_loaded.hip.way;
	int32_t n = 0, version = 0;

	/* Asks the runtime nothing, so it comes before all calls. */
	ts_capture_link_start_hip(shim);
	/*
	 * Trap: the queries below set the thread's last error. If the application has not read an
	 * error of its own yet, a later call asks.
	 */
	if (peek_error && peek_error())
		return;
	/* Calls of other threads wait: their work is not reported before. */
	if (!__atomic_compare_exchange_n(&shim->hip.attached, &none, ATTACHING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		(void)ts_futex_wait_for(&shim->hip.attached, TS_HIP_ATTACHED, ATTACH_NS);
		return;
	}
	if (get_version && !get_version(&version))
		ts_debug(&shim->config, "HIP runtime %d", version);
	__atomic_store_n(&shim->control->hip_version, (uint32_t)version, __ATOMIC_RELAXED);
	if (get_count && !get_count(&n))
		for (int32_t i = 0; i < n; i++) {
			define_device(shim, i);
			record_context(shim, (uint32_t)i);
		}
	if (version > 0 && ts_hip_trace(shim, (const void *)get_version, (uint32_t)version))
		ways |= TS_INTERFACE_HIP_TRACER;
	else if (ts_hip_activity_install(shim, (const void *)get_version))
		ways |= TS_INTERFACE_HIP_ACTIVITY;
	else if (ts_rocprofiler_attach(shim))
		ways |= TS_INTERFACE_ROCPROFILER_SDK;
	else if (ts_hip_events_install(shim))
		ways |= TS_INTERFACE_HIP_EVENTS;
	else
		ts_debug(&shim->config, "HIP runtime %d: no times of the GPU's work", version);
	/* Without a device, the queries above fail. */
	if (reset_error)
		(void)reset_error();
	__atomic_fetch_or(&shim->control->interfaces, ways, __ATOMIC_RELAXED);
	__atomic_store_n(&shim->hip.traced,
			 ways & (TS_INTERFACE_HIP_TRACER | TS_INTERFACE_HIP_ACTIVITY |
				 TS_INTERFACE_ROCPROFILER_SDK),
			 __ATOMIC_RELAXED);
	ts_futex_set(&shim->hip.attached, TS_HIP_ATTACHED);
}

void ts_hip_follow(struct ts_shim *shim)
{
	const bool stopped = ts_shim_is_stopped(shim);
	uint64_t ticks;

	/* After exit() has begun, the runtime may be torn down; ts_hip_wait() reads then. */
	if (shim->hip.events && !__atomic_load_n(&shim->flushed, __ATOMIC_ACQUIRE))
		ts_hip_events_read(shim, true);
	if (!__atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE) ||
	    stopped == __atomic_load_n(&shim->hip.stopped, __ATOMIC_RELAXED))
		return;
	/*
	 * A call reads its time, then this word; so calls of which the entry precedes a stop's time
	 * are recorded, and no others. Sequentially consistent, as in ts_hip_enter().
	 */
	ticks = ts_producer_ticks(&shim->producer);
	__atomic_store_n(&shim->hip.stopped, stopped, __ATOMIC_SEQ_CST);
	if (stopped)
		ticks = ts_producer_ticks(&shim->producer);
	/* With CUDA, its switch makes the record. */
	if (ts_cupti_is_ours(&shim->cupti) || shim->yield.state == TS_YIELD_GIVEN)
		return;
	shim->pause.paused = stopped;
	/* A start has the cause of its stop. */
	if (stopped)
		shim->pause.by_application =
			__atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
	ts_switch_record(shim, ticks);
}

/* Returns the number of launches without a row. With `gives_up`, nobody waits for them any more. */
static uint64_t pending(struct ts_hip *hip, bool gives_up)
{
	uint64_t n_calls = __atomic_load_n(&hip->n_calls, __ATOMIC_RELAXED);

	return ts_hip_works_pending(&hip->works, hip->first_op_id + n_calls, n_calls, gives_up);
}

void ts_hip_wait(struct ts_shim *shim)
{
	const uint64_t began = ts_clock_monotonic_ns();
	/* A signal handler may have called exit() while this thread held a lock of the runtime. */
	const bool is_inside = ts_tls.busy || ts_tls.call.depth;
	uint64_t progressed = began, now = began, n, left;

	if (!__atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE))
		return;
	if (!is_inside)
		ts_hip_events_read(shim, true);
	n = pending(&shim->hip, false);
	/* If the gate is closed, no row is written any more. */
	while (n && __atomic_load_n(&shim->gate->annotations, __ATOMIC_RELAXED) != TS_GATE_CLOSED &&
	       now - progressed < WAIT_IDLE_NS && now - began < WAIT_NS) {
		const struct timespec step = {.tv_nsec = WAIT_STEP_NS};

		nanosleep(&step, NULL);
		if (!is_inside)
			ts_hip_events_read(shim, true);
		left = pending(&shim->hip, false);
		now = ts_clock_monotonic_ns();
		if (left != n)
			progressed = now;
		n = left;
	}
	ts_hip_events_end(shim);
	if (!n)
		return;
	/* A second wait neither waits for these nor counts them again. */
	ts_session_count(shim->control, TS_LOSS_UNFINISHED, pending(&shim->hip, true));
}
