/* SPDX-License-Identifier: Apache-2.0 */
/* libtsinject-capture.so serves the shim of its own build only. */
#include <dlfcn.h>
#include <string.h>

#include "inject/capture/capture-interface.h"
#include "test/unit/harness.h"

static ts_capture_open_fn find_open(void)
{
	ts_capture_open_fn open;
	void *library = dlopen(TEST_CAPTURE, RTLD_NOW | RTLD_LOCAL);

	ts_check(library != NULL);
	*(void **)&open = dlsym(library, TS_CAPTURE_OPEN);
	ts_check(open != NULL);
	return open;
}

TS_TEST(own_build)
{
	const struct ts_capture_host host = {.build = TS_CAPTURE_BUILD};
	const struct ts_capture_library *library = find_open()(&host);

	ts_check(library != NULL);
	ts_check(library->start && library->wants && library->handle);
	ts_check(library->hip_start && library->hip_enter && library->hip_leave);
}

TS_TEST(other_build)
{
	struct ts_capture_host host = {.build = TS_CAPTURE_BUILD};
	const struct ts_capture_build own = host.build;
	const ts_capture_open_fn open = find_open();

	host.build.version[0]++;
	ts_check(open(&host) == NULL);
	host.build = own;
	host.build.shim_bytes += 8;
	ts_check(open(&host) == NULL);
	host.build = own;
	host.build.tls_bytes -= 8;
	ts_check(open(&host) == NULL);
}
