/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU times of runtimes before 5.3.1: the activity callbacks that roctracer uses there
 * (proto/abi/vendor/hip.h describes them). hip-session.c calls this file; it calls hip-rows.c.
 *
 * The runtime numbers its commands itself. It gives the number to on_command() on the thread that
 * makes the command, inside the application's call. A table keeps the call's op_id until the
 * command's record comes. Records have no names of kernels: the call stored the name (hip-calls.c).
 */
#include <dlfcn.h>

#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_types.h"

/* Commands that wait for their record; a later command takes an earlier one's place. */
#define MAX_COMMANDS 65536u

/* A call without work of its own: some function of it makes the runtime take times. */
#define TIMED_CALL 1u

struct ts_hip_numbered {
	uint64_t number; /* the runtime's, plus 1 */
	uint64_t op_id;
};

static void on_command(uint64_t number)
{
	struct ts_hip_numbered *command;

	/* A forked child has a new session without the table. */
	if (!ts_shim.hip.commands)
		return;
	command = &ts_shim.hip.commands[number % MAX_COMMANDS];
	__atomic_store_n(&command->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&command->op_id, ts_hip_current_op(), __ATOMIC_RELEASE);
	/* Release, both: pair with the acquires in op_of(). */
	__atomic_store_n(&command->number, number + 1, __ATOMIC_RELEASE);
}

/* Returns the op_id of a command; 0: it belongs to no recorded call. */
static uint64_t op_of(uint64_t number)
{
	const struct ts_hip_numbered *command;
	uint64_t op_id;

	if (!ts_shim.hip.commands)
		return 0;
	command = &ts_shim.hip.commands[number % MAX_COMMANDS];
	if (__atomic_load_n(&command->number, __ATOMIC_ACQUIRE) != number + 1)
		return 0;
	op_id = __atomic_load_n(&command->op_id, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&command->number, __ATOMIC_RELAXED) == number + 1 ? op_id : 0;
}

static void on_finished(uint32_t op, void *data, void *arg)
{
	struct ts_hip_activity_record record = *(const struct ts_hip_activity_record *)data;

	(void)op;
	(void)arg;
	switch (record.kind) {
	case TS_HIP_COMMAND_NDRANGE_KERNEL:
		record.op = TS_HIP_ACTIVITY_OP_DISPATCH;
		record.kernel_name = NULL;
		break;
	case TS_HIP_COMMAND_READ_BUFFER:
	case TS_HIP_COMMAND_WRITE_BUFFER:
	case TS_HIP_COMMAND_COPY_BUFFER:
	case TS_HIP_COMMAND_READ_BUFFER_RECT:
	case TS_HIP_COMMAND_WRITE_BUFFER_RECT:
	case TS_HIP_COMMAND_COPY_BUFFER_RECT:
	case TS_HIP_COMMAND_FILL_BUFFER:
		record.op = TS_HIP_ACTIVITY_OP_COPY;
		break;
	default:
		/* Markers and the like. */
		return;
	}
	record.correlation_id = op_of(record.correlation_id);
	ts_hip_deliver(&record);
}

/* No call is traced: NULL. */
static void *on_call(uint32_t id, void *record, const void *data, void *arg)
{
	(void)id;
	(void)record;
	(void)data;
	(void)arg;
	return NULL;
}

bool ts_hip_activity_install(struct ts_shim *shim, const void *function)
{
	hipInitActivityCallback_fn *init = NULL;
	hipEnableActivityCallback_fn *enable = NULL;
	hipRegisterActivityCallback_fn *trace = NULL;
	void *library = ts_hip_library(function);

	if (!library)
		return false;
	*(void **)&init = dlsym(library, "hipInitActivityCallback");
	*(void **)&enable = dlsym(library, "hipEnableActivityCallback");
	*(void **)&trace = dlsym(library, "hipRegisterActivityCallback");
	*(void **)&shim->hip.name_of_function = dlsym(library, "hipKernelNameRef");
	*(void **)&shim->hip.name_of_pointer = dlsym(library, "hipKernelNameRefByPtr");
	dlclose(library);
	if (!shim->hip.commands)
		shim->hip.commands = ts_unlocked_map(MAX_COMMANDS * sizeof(*shim->hip.commands));
	if (!init || !enable || !trace || !shim->hip.commands) {
		shim->hip.name_of_function = NULL;
		shim->hip.name_of_pointer = NULL;
		return false;
	}
	ts_hip_read_clocks(shim);
	init((void *)(uintptr_t)on_command, (void *)(uintptr_t)on_finished, NULL);
	(void)trace(TIMED_CALL, (void *)(uintptr_t)on_call, NULL);
	return enable(TS_HIP_ACTIVITY_OP_DISPATCH, true) && enable(TS_HIP_ACTIVITY_OP_COPY, true);
}
