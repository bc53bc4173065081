/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log for administrators: one line per message on stderr. If stderr is the journal,
 * lines have a priority prefix. A private daemon logs nothing: its threshold is TS_LOG_NONE.
 * Thread-safe; each message is one write().
 */
#pragma once

enum ts_log_level {
	TS_LOG_NONE = 0,
	TS_LOG_ERROR = 3, /* as in syslog(3) */
	TS_LOG_WARNING = 4,
	TS_LOG_INFO = 6,
	TS_LOG_DEBUG = 7,
};

/* Sets the threshold, and whether lines have "<N>" prefixes. Call it before the first thread. */
void ts_log_setup(enum ts_log_level threshold);

void ts_log(enum ts_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
