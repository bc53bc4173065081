// SPDX-License-Identifier: Apache-2.0
/*
 * The activity callbacks of libamdhip64 before 5.3.1, for roctracer. hip-tracer.c calls this file
 * with the driver's reports, and passes the exported functions on. proto/abi/vendor/hip.h describes
 * the interface.
 */
#include "tools/vgpu/hip/hip-face.h"

#define MAX_CALLS 512

static struct {
	ts_hip_activity_id_callback on_id;
	ts_hip_activity_op_callback on_op;
	void *arg;
	atomic_bool enabled[3]; /* by enum ts_hip_activity_op */
	_Atomic uint64_t n_records;
} operations;

/* By the id of a call. Tools set them before the calls that they trace. */
static struct {
	_Atomic(ts_hip_activity_sync_callback) on_entry;
	void *arg;
	_Atomic(ts_hip_api_callback) on_phase;
	void *phase_arg;
} calls[MAX_CALLS];

/* Calls with a function on_entry. While there is one, commands have times. */
static _Atomic uint32_t n_traced;

void activity_init(void *id_callback, void *op_callback, void *arg)
{
	*(void **)&operations.on_id = id_callback;
	*(void **)&operations.on_op = op_callback;
	operations.arg = arg;
}

bool activity_enable(uint32_t op, bool enable)
{
	if (op >= 3)
		return false;
	/* Release, paired with the acquire of activity_submitted(). */
	atomic_store_explicit(&operations.enabled[op], enable, memory_order_release);
	return true;
}

int activity_register(uint32_t id, void *fun, void *arg)
{
	ts_hip_activity_sync_callback new_fun, old;

	if (!id || id >= MAX_CALLS)
		return TS_HIP_ERROR_INVALID_VALUE;
	*(void **)&new_fun = fun;
	calls[id].arg = arg;
	old = atomic_exchange(&calls[id].on_entry, new_fun);
	if (!old && fun)
		atomic_fetch_add(&n_traced, 1);
	else if (old && !fun)
		atomic_fetch_sub(&n_traced, 1);
	return 0;
}

int activity_register_api(uint32_t id, void *fun, void *arg)
{
	ts_hip_api_callback new_fun;

	if (!id || id >= MAX_CALLS)
		return TS_HIP_ERROR_INVALID_VALUE;
	*(void **)&new_fun = fun;
	calls[id].phase_arg = arg;
	atomic_store(&calls[id].on_phase, new_fun);
	return 0;
}

/* Returns the tool's data of a call; NULL: the call is not traced. */
void *activity_enter(uint32_t id)
{
	ts_hip_activity_sync_callback on_entry;
	ts_hip_api_callback on_phase;
	struct ts_hip_api_trace_data *data;

	if (!atomic_load(&n_traced) || !id || id >= MAX_CALLS)
		return NULL;
	on_entry = atomic_load(&calls[id].on_entry);
	data = on_entry ? on_entry(id, NULL, NULL, NULL) : NULL;
	on_phase = atomic_load(&calls[id].on_phase);
	if (data && on_phase) {
		on_phase(TS_HIP_ACTIVITY_DOMAIN_API, id, data, calls[id].phase_arg);
		data->phase = 1;
	}
	return data;
}

void activity_leave(uint32_t id, void *data)
{
	ts_hip_activity_sync_callback on_entry = atomic_load(&calls[id].on_entry);
	ts_hip_api_callback on_phase = atomic_load(&calls[id].on_phase);

	if (on_phase)
		on_phase(TS_HIP_ACTIVITY_DOMAIN_API, id, data, calls[id].phase_arg);
	if (on_entry)
		(void)on_entry(id, NULL, NULL, calls[id].arg);
}

/* The runtime knows kernels, and calls all else a copy. */
static uint32_t op_of(uint32_t command)
{
	return command == TS_HIP_COMMAND_NDRANGE_KERNEL ? TS_HIP_ACTIVITY_OP_DISPATCH
							: TS_HIP_ACTIVITY_OP_COPY;
}

bool activity_submitted(uint32_t command, uint64_t *ret_record_id)
{
	if (!atomic_load_explicit(&operations.enabled[op_of(command)], memory_order_acquire))
		return false;
	*ret_record_id = atomic_fetch_add(&operations.n_records, 1);
	operations.on_id(*ret_record_id);
	return true;
}

void activity_completed(struct ts_hip_activity_record *record)
{
	record->op = op_of(record->kind);
	/* No names, no sizes, and no times unless a call is traced. */
	record->bytes = 0;
	if (!atomic_load(&n_traced))
		record->begin_ns = record->end_ns = 0;
	operations.on_op(record->op, record, operations.arg);
}
