/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's convention for errors. A function returns 0, a negative errno that is fatal for the
 * request, or a documented TS_X_E_* that the caller handles. ts_error_origin() marks the place
 * where a negative errno is created, ts_error_trace() each place that forwards it. Both return it
 * unchanged and log a debug line, so `--log debug` prints the path of the error.
 *
 *	fd = open(...);
 *	if (fd < 0)
 *		return ts_error_origin(-errno);
 *	r = ts_x_do(x);
 *	if (r < 0)
 *		return ts_error_trace(r);
 */
#pragma once

#include <string.h>

#include "daemon/util/log.h"

static inline int ts_error_note(int error, const char *how, const char *file, int line,
				const char *function)
{
	ts_log(TS_LOG_DEBUG, "%s %s (%s:%d): %s", how, function, file, line, strerror(-error));
	return error;
}

#define ts_error_origin(error) ts_error_note((error), "error in", __FILE__, __LINE__, __func__)
#define ts_error_trace(error)  ts_error_note((error), "  through", __FILE__, __LINE__, __func__)
