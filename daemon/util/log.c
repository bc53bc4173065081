/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log. All files of the daemon call ts_log(). The threshold is written once before
 * threads start, so it needs no lock.
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
	/* systemd sets this variable if stderr is the journal (systemd.exec(5)). */
	log_prefixed = secure_getenv("JOURNAL_STREAM") != NULL;
}

/*
 * Escapes untrusted text, so that it stays on one line. Control characters of the terminal and the
 * journal are printed as bytes. So are all non-ASCII bytes, because control characters could hide
 * there.
 */
static int escape(char *to, int capacity, const char *from)
{
	int n = 0;

	for (; *from && n + 5 < capacity; from++) {
		unsigned char c = (unsigned char)*from;

		if (c >= 0x20 && c < 0x7f)
			to[n++] = (char)c;
		else
			n += snprintf(to + n, 5, "\\x%02x", c);
	}
	return n;
}

void ts_log(enum ts_log_level level, const char *format, ...)
{
	char line[1024], text[900];
	va_list arguments;
	int n;

	if (level > log_threshold)
		return;
	if (log_prefixed)
		n = snprintf(line, sizeof(line), "<%d>", (int)level);
	else
		n = snprintf(line, sizeof(line), "tracesmithd: ");
	va_start(arguments, format);
	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	n += escape(line + n, (int)sizeof(line) - n - 1, text);
	line[n++] = '\n';
	/* A failed write to the log cannot be logged. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}
