/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's side of capture level `replay`. cuda/recorder.c, hip/, flush.c and annotate/ call this
 * file. All other files of this folder are libtsinject-capture.so, which this file loads when a
 * session of that level begins: other processes do not have it. The library lies beside the shim.
 */
#include "inject/capture/capture-link.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "inject/annotate/counters.h"
#include "inject/capture/capture-interface.h"
#include "inject/shim-debug.h"

#define LIBRARY "libtsinject-capture.so"

static struct ts_tls *own_tls(void)
{
	return &ts_tls;
}

static const struct ts_capture_host host = {.build = TS_CAPTURE_BUILD,
					    .shim = &ts_shim,
					    .loaded = &ts_loaded,
					    .tls = own_tls,
#define TS_CAPTURE_FIELD_(name) .name = name,
					    TS_CAPTURE_HOST_FUNCTIONS(TS_CAPTURE_FIELD_)
#undef TS_CAPTURE_FIELD_
};

/* Never closed. Returns NULL if the library cannot be used. */
static const struct ts_capture_library *load(const struct ts_config *config)
{
	const struct ts_capture_library *library = NULL;
	char path[PATH_MAX + sizeof(LIBRARY)];
	ts_capture_open_fn open = NULL;
	void *handle = NULL;

	/* The shim's path may be a link from another folder. */
	if (realpath(ts_library.path, path)) {
		strcpy(strrchr(path, '/') + 1, LIBRARY);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (handle)
		*(void **)&open = dlsym(handle, TS_CAPTURE_OPEN);
	if (open)
		library = open(&host);
	if (!library) {
		ts_debug(config, "capture: %s cannot be used", LIBRARY);
		/* This failure is not the application's. */
		(void)dlerror();
	}
	return library;
}

/*
 * Loads the library for a session that captures, and returns it. Returns NULL if the session
 * captures nothing. Two threads may come here at a time: both store the same address.
 */
static const struct ts_capture_library *need(struct ts_shim *shim)
{
	const struct ts_capture_library *library;

	if (!shim->control->lane_bytes ||
	    __atomic_load_n(&shim->control->lane_ended, __ATOMIC_RELAXED))
		return NULL;
	library = load(&shim->config);
	if (library)
		__atomic_store_n(&shim->capture.library, library, __ATOMIC_RELEASE);
	else
		ts_capture_link_refuse(shim, TS_LANE_NO_LIBRARY);
	return library;
}

void ts_capture_link_start(struct ts_shim *shim)
{
	const struct ts_capture_library *library = need(shim);

	if (library)
		library->start(&shim->capture, shim, &shim->config.capture);
}

void ts_capture_link_start_hip(struct ts_shim *shim)
{
	const struct ts_capture_library *library;

	if (__atomic_exchange_n(&shim->capture.hip.is_begun, true, __ATOMIC_RELAXED))
		return;
	/* A capture with a part of the work would be replayed as if it were the whole. */
	if (shim->cupti.vendor && shim->cupti.vendor->records) {
		ts_capture_link_refuse(shim, TS_LANE_TWO_VENDORS);
		return;
	}
	library = need(shim);
	if (library)
		library->hip_start(shim);
}

void ts_capture_link_refuse(struct ts_shim *shim, enum ts_lane_end why)
{
	if (!shim->control->lane_bytes)
		return;
	if (!shim->capture.shim)
		ts_capture_set_state(shim->control, &shim->config.capture);
	shim->capture.lane.producer = &shim->producer;
	ts_lane_end(&shim->capture.lane, why);
}

void ts_capture_link_report(struct ts_capture *capture)
{
	struct ts_producer *producer = &capture->shim->producer;
	const struct ts_control *control = producer->control;
	uint64_t bytes = __atomic_load_n(&control->captured_bytes, __ATOMIC_RELAXED);
	uint64_t ns = __atomic_load_n(&control->captured_ns, __ATOMIC_RELAXED);
	struct ts_thread *thread;

	if (ns == capture->reported_ns)
		return;
	thread = ts_producer_thread(producer);
	if (!thread)
		return;
	capture->reported_ns = ns;
	/* The longer the session, the better the estimate. */
	ts_capture_calibrate(capture, producer);
	ts_counter_record(producer, thread, TS_CAPTURE_COUNTER_BYTES, bytes);
	ts_counter_record(producer, thread, TS_CAPTURE_COUNTER_NS, ns);
}

bool ts_capture_link_range_begins(const char *text, size_t n_bytes)
{
	struct ts_shim *shim = &ts_shim;
	const char *range = shim->config.capture.range;

	if (n_bytes != strlen(range) || memcmp(text, range, n_bytes))
		return false;
	__atomic_fetch_add(&shim->capture.window.n_ranges, 1, __ATOMIC_RELAXED);
	return true;
}

void ts_capture_link_range_ends(void)
{
	__atomic_fetch_sub(&ts_shim.capture.window.n_ranges, 1, __ATOMIC_RELAXED);
}
