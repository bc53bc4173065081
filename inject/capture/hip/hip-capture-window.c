/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of HIP's capture: the runtime's functions in the words of CUDA's driver, for window.c,
 * and the variables of registered code. hip-capture.c takes the functions. This file calls
 * hip-capture-code.c.
 *
 * Queries call the runtime's own functions, which make no rows. The copies of memory and their
 * stream go through the wrappers, so they have rows.
 *
 * Trap: HIP takes a pointer that it does not know for the host's memory. A copy from memory that is
 * gone would read that address. So the runtime is asked for the memory before each copy.
 */
#include "inject/capture/hip/hip-capture.h"

#include "inject/context.h"
#include "inject/hip/hip-slots.h"

#define NOT_FOUND 500

/* Returns the wrapper of a function that the runtime has; NULL: it has none. */
#define recorded(name) (ts_hip_next(name) ? ts_loaded.hip.wrapper(TS_HIP_SLOT_##name) : NULL)

/* A context's handle is the capture's own: the device's ordinal plus 1. */
static int push(void *context)
{
	hipGetDevice_fn *get = ts_hip_next(hipGetDevice);
	hipSetDevice_fn *set = ts_hip_next(hipSetDevice);
	struct ts_capture_hip *hip = &ts_capture_shim()->capture.hip;
	const int32_t device = (int32_t)(uintptr_t)context - 1;
	int r = get(&hip->device_before);

	if (!r && device != hip->device_before)
		r = set(device);
	if (r)
		return r;
	hip->known_before = ts_tls.hip_device;
	ts_tls.hip_device = (uint32_t)device;
	return 0;
}

static int pop(void **context)
{
	hipSetDevice_fn *set = ts_hip_next(hipSetDevice);
	const struct ts_capture_hip *hip = &ts_capture_shim()->capture.hip;
	const uint32_t device = ts_tls.hip_device;

	*context = (void *)(uintptr_t)(device + 1);
	ts_tls.hip_device = hip->known_before;
	return (int32_t)device == hip->device_before ? 0 : set(hip->device_before);
}

/* The stream is the legacy one, for which HIP has no name before 6.2. */
static int record_event(void *event, void *stream)
{
	hipEventRecord_fn *record = ts_hip_next(hipEventRecord);

	(void)stream;
	return record(event, NULL);
}

static int copy(void *host, uint64_t device, size_t n_bytes, void *stream)
{
	hipMemGetAddressRange_fn *find = ts_hip_next(hipMemGetAddressRange);
	hipMemcpyDtoHAsync_fn *call = recorded(hipMemcpyDtoHAsync);
	void *address = (void *)(uintptr_t)device, *start = NULL;
	size_t n_known = 0;
	int r = find(&start, &n_known, address);

	if (r)
		return r;
	if (device - (uint64_t)(uintptr_t)start > n_known ||
	    n_bytes > n_known - (device - (uint64_t)(uintptr_t)start))
		return NOT_FOUND;
	return call(host, address, n_bytes, stream);
}

/* Captures the addresses of the registered variables of code in use, on the current device. */
static void find_variables(struct ts_capture *capture, uint32_t context)
{
	hipGetSymbolAddress_fn *ask = ts_hip_next(hipGetSymbolAddress);
	hipGetSymbolSize_fn *ask_size = ts_hip_next(hipGetSymbolSize);
	const struct ts_record_operation model = {.context = context};
	const void *symbol;
	uint32_t place = 0;

	while ((symbol = ts_hip_code_next_variable(&ts_loaded.hip.codes, &place))) {
		void *address = NULL;
		size_t n_bytes = 0;

		ts_lock_take(&capture->lane.lock);
		capture->driver = &capture->drivers[TS_CAPTURE_HIP];
		if (ts_hip_capture_has_code_of(capture, symbol) && !ask(&address, symbol) &&
		    !ask_size(&n_bytes, symbol))
			ts_hip_capture_variable(capture, &model, symbol,
						(uint64_t)(uintptr_t)address, n_bytes);
		ts_lock_release(&capture->lane.lock);
	}
}

int ts_hip_capture_module_variable(uint64_t *ret_address, size_t *ret_bytes, void *module,
				   const char *name)
{
	hipModuleGetGlobal_fn *ask = ts_hip_next(hipModuleGetGlobal);

	return ask ? ask((void **)(void *)ret_address, ret_bytes, module, name) : NOT_FOUND;
}

int ts_hip_capture_library_variable(uint64_t *ret_address, size_t *ret_bytes, void *library,
				    const char *name)
{
	hipLibraryGetGlobal_fn *ask = ts_hip_next(hipLibraryGetGlobal);

	return ask ? ask((void **)(void *)ret_address, ret_bytes, library, name) : NOT_FOUND;
}

void ts_hip_capture_window_driver(struct ts_window_driver *driver)
{
	*driver = (struct ts_window_driver){
		.exchange_mode = ts_hip_next(hipThreadExchangeStreamCaptureMode),
		.stream_new = recorded(hipStreamCreateWithFlags),
		.stream_free = recorded(hipStreamDestroy),
		.stream_query = ts_hip_next(hipStreamQuery),
		.event_new = ts_hip_next(hipEventCreateWithFlags),
		.event_free = ts_hip_next(hipEventDestroy),
		.event_query = ts_hip_next(hipEventQuery),
	};
	if (ts_hip_next(hipGetDevice) && ts_hip_next(hipSetDevice)) {
		driver->push = push;
		driver->pop = pop;
	}
	if (ts_hip_next(hipEventRecord))
		driver->event_record = record_event;
	if (ts_hip_next(hipMemGetAddressRange) && recorded(hipMemcpyDtoHAsync))
		driver->copy = copy;
	if (ts_hip_next(hipGetSymbolAddress) && ts_hip_next(hipGetSymbolSize))
		driver->find_variables = find_variables;
}
