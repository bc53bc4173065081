/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log. The threshold is written once before threads start, so it needs no lock.
 */
#include "daemon/util/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum ts_log_level log_threshold = TS_LOG_INFO;
static bool log_prefixed;

void ts_log_setup(enum ts_log_level threshold)
{
	log_threshold = threshold;
	/* Set by systemd where stderr is the journal's (systemd.exec(5)). */
	log_prefixed = getenv("JOURNAL_STREAM") != NULL;
}

void ts_log(enum ts_log_level level, const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int n = 0, m;

	if (level > log_threshold)
		return;
	if (log_prefixed)
		n = snprintf(line, sizeof(line), "<%d>", (int)level);
	else
		n = snprintf(line, sizeof(line), "tracesmithd: ");
	va_start(arguments, format);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, arguments);
	va_end(arguments);
	n += m < 0 ? 0 : m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	/* Nobody can be told that the log is gone. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}
