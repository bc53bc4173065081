/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim, in libtsinject-capture.so. The library's other files call functions of the shim by
 * their names; the functions here pass these calls on. So the loader binds nothing between the two
 * libraries, and the shim exports nothing for this one.
 */
#include "inject/capture/capture-interface.h"

static const struct ts_capture_host *host;

void ts_capture_use_host(const struct ts_capture_host *from)
{
	host = from;
}

struct ts_shim *ts_capture_shim(void)
{
	return host->shim;
}

__typeof__(ts_loaded) *ts_capture_loaded(void)
{
	return host->loaded;
}

__thread __typeof__(ts_tls) *ts_capture_own_tls __attribute__((tls_model("initial-exec")));

__typeof__(ts_tls) *ts_capture_find_tls(void)
{
	ts_capture_own_tls = host->tls();
	return ts_capture_own_tls;
}

unsigned ts_call_table_class(uint32_t domain, uint32_t cbid)
{
	return host->ts_call_table_class(domain, cbid);
}

int ts_call_table_stream_capture(uint32_t domain, uint32_t cbid)
{
	return host->ts_call_table_stream_capture(domain, cbid);
}

bool ts_call_table_watched(uint32_t domain, uint32_t cbid)
{
	return host->ts_call_table_watched(domain, cbid);
}

void ts_callbacks_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	host->ts_callbacks_handle(userdata, domain, cbid, data);
}

uint32_t ts_definitions_string(struct ts_definitions *definitions, const char *string,
			       size_t n_bytes)
{
	return host->ts_definitions_string(definitions, string, n_bytes);
}

bool ts_hip_code_can_read(const uint8_t *bytes, uint64_t n)
{
	return host->ts_hip_code_can_read(bytes, n);
}

bool ts_hip_code_is_managed(const struct ts_hip_codes *codes, const void *image)
{
	return host->ts_hip_code_is_managed(codes, image);
}

const void *ts_hip_code_next_variable(const struct ts_hip_codes *codes, uint32_t *place)
{
	return host->ts_hip_code_next_variable(codes, place);
}

const void *ts_hip_code_registered(const struct ts_hip_codes *codes, const void *object,
				   const char **ret_name, uint32_t *ret_code)
{
	return host->ts_hip_code_registered(codes, object, ret_name, ret_code);
}

const void *ts_hip_function_of(uint32_t call, const void *params)
{
	return host->ts_hip_function_of(call, params);
}

void ts_hip_launch_of(uint32_t call, const void *params, struct ts_hip_work *work)
{
	host->ts_hip_launch_of(call, params, work);
}

struct ts_hip_stream ts_hip_stream_of(uint32_t call, const void *params)
{
	return host->ts_hip_stream_of(call, params);
}

struct ts_thread *ts_producer_claim(struct ts_producer *producer)
{
	return host->ts_producer_claim(producer);
}

void ts_producer_wake_daemon(struct ts_control *control)
{
	host->ts_producer_wake_daemon(control);
}

bool ts_stream_table_find(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			  uint32_t *ret_stream)
{
	return host->ts_stream_table_find(streams, context, handle, ret_stream);
}
