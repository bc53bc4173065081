/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to whoever runs the daemon: one line each on stderr, with the priority prefix that the
 * journal understands where stderr leads there. A private daemon stays silent: its threshold is
 * TS_LOG_NONE. Thread-safe; a message is one write().
 */
#pragma once

enum ts_log_level {
	TS_LOG_NONE = 0,
	TS_LOG_ERROR = 3, /* as in syslog(3) */
	TS_LOG_WARNING = 4,
	TS_LOG_INFO = 6,
	TS_LOG_DEBUG = 7,
};

/* Before the first thread: what is logged, and whether lines carry "<N>" prefixes. */
void ts_log_setup(enum ts_log_level threshold);

void ts_log(enum ts_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
