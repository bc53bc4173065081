/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's global state: devices, result codes, and each thread's stack of current contexts.
 * All other files of libcuda call this file. driver-context.c starts the driver and changes the
 * stack.
 */
#include <errno.h>
#include <string.h>

#include "tools/vgpu/cuda/driver.h"

/*
 * Maximum depth of a thread's stack; NVIDIA's driver documents no limit. Small: several libraries have
 * this file, and their thread-local storage must fit into the loader's reserve for dlopen().
 */
#define STACK_MAX 32

struct driver driver = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.initialised = PTHREAD_COND_INITIALIZER,
};

bool calls_take_time;

static __thread struct {
	struct context *contexts[STACK_MAX];
	unsigned n;
} stack;

int result_of(int r)
{
	switch (r) {
	case 0:
		return TS_CU_SUCCESS;
	case TS_VGPU_E_NOT_READY:
		return TS_CU_ERROR_NOT_READY;
	case TS_VGPU_E_OUT_OF_MEMORY:
	case -ENOMEM:
		return TS_CU_ERROR_OUT_OF_MEMORY;
	case TS_VGPU_E_REGISTERED:
		return TS_CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	case TS_VGPU_E_FAULTED:
		return TS_CU_ERROR_LAUNCH_FAILED;
	case TS_VGPU_E_FAULT_ADDRESS:
		return TS_CU_ERROR_ILLEGAL_ADDRESS;
	case TS_VGPU_E_FAULT_MISALIGNED:
		return TS_CU_ERROR_MISALIGNED_ADDRESS;
	case TS_VGPU_E_FAULT_ASSERT:
		return TS_CU_ERROR_ASSERT;
	case TS_VGPU_E_FAULT_TRAP:
		return TS_CU_ERROR_LAUNCH_FAILED;
	case TS_VGPU_E_FAULT_ILLEGAL:
		return TS_CU_ERROR_ILLEGAL_INSTRUCTION;
	case TS_VGPU_E_FAULT_PC:
		return TS_CU_ERROR_INVALID_PC;
	case TS_VGPU_E_FAULT_STACK:
		return TS_CU_ERROR_HARDWARE_STACK_ERROR;
	case TS_VGPU_E_FAULT_TIMEOUT:
		return TS_CU_ERROR_LAUNCH_TIMEOUT;
	case TS_VGPU_E_FAULT_RESOURCES:
		return TS_CU_ERROR_LAUNCH_OUT_OF_RESOURCES;
	case TS_VGPU_E_NOT_RECORDED:
		return TS_CU_ERROR_INVALID_HANDLE;
	case -ESHUTDOWN:
		return TS_CU_ERROR_DEINITIALIZED;
	case TS_VGPU_E_ADDRESS:
	case TS_VGPU_E_NOT_OWNER:
	case -EINVAL:
		return TS_CU_ERROR_INVALID_VALUE;
	default:
		return TS_CU_ERROR_UNKNOWN;
	}
}

int result_of_context(const struct context *context)
{
	return result_of(ts_vgpu_context_error(context->vctx));
}

struct ts_vgpu_device *device_get(int32_t device)
{
	return device < 0 ? NULL : ts_vgpu_device_at(driver.vgpu, (uint32_t)device);
}

void device_uuid(int32_t dev, struct ts_cu_uuid *ret_uuid)
{
	memcpy(ret_uuid->bytes, "TraceSmith vgpu", 15);
	ret_uuid->bytes[15] = (char)dev;
}

struct context *context_current_or_null(void)
{
	return stack.n ? stack.contexts[stack.n - 1] : NULL;
}

struct context *context_current_alive(void)
{
	struct context *context = context_current_or_null();

	return context && handle_is(context, HANDLE_CONTEXT) ? context : NULL;
}

int context_current(struct context **ret_context)
{
	struct context *context;
	int r = check_ready();

	if (r)
		return r;
	context = context_current_or_null();
	if (!context)
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (!handle_is(context, HANDLE_CONTEXT))
		return TS_CU_ERROR_CONTEXT_IS_DESTROYED;
	*ret_context = context;
	return result_of_context(context);
}

int context_get(void *handle, struct context **ret_context)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle)
		return context_current(ret_context);
	if (!handle_is(handle, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	*ret_context = handle;
	return 0;
}

struct context *context_of_vctx(const struct ts_vgpu_context *vctx)
{
	struct context *context;

	pthread_mutex_lock(&driver.lock);
	for (context = driver.contexts; context && context->vctx != vctx;)
		context = context->next;
	pthread_mutex_unlock(&driver.lock);
	return context;
}

bool context_may_push(void)
{
	return stack.n < STACK_MAX;
}

void context_push(struct context *context)
{
	stack.contexts[stack.n++] = context;
}

struct context *context_pop(void)
{
	return stack.n ? stack.contexts[--stack.n] : NULL;
}

bool context_is_hidden(const struct context *context)
{
	for (unsigned i = 0; i + 1 < stack.n; i++)
		if (stack.contexts[i] == context)
			return context_current_or_null() != context;
	return false;
}
