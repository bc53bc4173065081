/* SPDX-License-Identifier: Apache-2.0 */
/* The state that libtsinject-capture.so gets from the shim, for tests that are linked with both. */
#include "inject/context.h"

extern __thread struct ts_tls *ts_capture_own_tls __attribute__((tls_model("initial-exec")));
struct ts_tls *ts_capture_find_tls(void);
struct ts_shim *ts_capture_shim(void);
struct ts_loaded *ts_capture_loaded(void);

__thread struct ts_tls *ts_capture_own_tls __attribute__((tls_model("initial-exec")));

struct ts_tls *ts_capture_find_tls(void)
{
	ts_capture_own_tls = &ts_tls;
	return &ts_tls;
}

struct ts_shim *ts_capture_shim(void)
{
	return &ts_shim;
}

struct ts_loaded *ts_capture_loaded(void)
{
	return &ts_loaded;
}
