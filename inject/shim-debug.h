/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug lines for developers, on stderr, only under TRACESMITH_DEBUG=1. Nothing else in the shim
 * prints.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "inject/config.h"

__attribute__((format(printf, 2, 3))) static inline void ts_debug(const struct ts_config *config,
								  const char *format, ...)
{
	char line[512];
	va_list arguments;
	int saved_errno = errno, n;

	if (ts_likely(!config->debug))
		return;
	n = snprintf(line, sizeof(line), "tracesmith[%s]: ", config->pid);
	va_start(arguments, format);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, format, arguments);
	va_end(arguments);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		errno = saved_errno;
	errno = saved_errno;
}
