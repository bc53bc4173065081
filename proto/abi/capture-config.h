/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The setting TRACESMITH_CAPTURE, which is also `tsctl record --capture`. tsctl checks the setting
 * before the shim reads it:
 *
 * 	timing
 * 	replay[:SIZE]                     everything, from the process's start
 * 	window[:SIZE][,PART ...]          live objects always; work only in an open window
 *
 * `tsctl start --capture replay` opens a window and closes it, and so do these parts:
 *
 * 	launches=A[..B]   from launch A to launch B, counted from 1; without B, only launch A
 * 	signal=usr1|usr2  each such signal opens the window, or closes it
 * 	range=NAME        while a range of that name is open (NVTX, tracesmith/annotate.h);
 * 	                  the last part, because a name may contain commas
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/abi/base.h"

#define TS_CAPTURE_RANGE_BYTES 128u

/*
 * Ascending counters in the domain TS_OWN_DOMAIN: captured bytes, and the time that the capture
 * cost the program's threads.
 */
#define TS_CAPTURE_COUNTER_BYTES "captured bytes"
#define TS_CAPTURE_COUNTER_NS	 "capturing ns"

/* Limit of operations in a session, END included: the limit of a replay. */
#define TS_CAPTURE_MAX_OPERATIONS (16u << 20)

struct ts_capture_config {
	uint64_t max_bytes; /* limit of captured contents; 0: capture level `timing` */
	bool is_window;
	uint64_t first_launch, last_launch; /* 0: no window by launches */
	int signal;			    /* 0: no window by signal */
	char range[TS_CAPTURE_RANGE_BYTES]; /* "": no window by range */
};

static inline const char *ts_capture_config_number(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

/* Parses a size. Returns its end in the text; NULL: invalid. */
static inline const char *ts_capture_config_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KkMmGgTt";
	const char *unit;

	text = ts_capture_config_number(text, ret);
	unit = text && *text ? strchr(units, *text) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)((unit - units) / 2 + 1);

		if (*ret > UINT64_MAX >> shift)
			return NULL;
		*ret <<= shift;
		text++;
	}
	return *ret ? text : NULL;
}

/* Parses a PART of the setting. Returns its end in the text; NULL: invalid. */
static inline const char *ts_capture_config_part(const char *text, struct ts_capture_config *config)
{
	if (!strncmp(text, "launches=", 9)) {
		text = ts_capture_config_number(text + 9, &config->first_launch);
		config->last_launch = config->first_launch;
		if (text && !strncmp(text, "..", 2))
			text = ts_capture_config_number(text + 2, &config->last_launch);
		return config->first_launch && config->last_launch >= config->first_launch ? text
											   : NULL;
	}
	if (!strncmp(text, "signal=usr", 10) && (text[10] == '1' || text[10] == '2')) {
		config->signal = text[10] == '1' ? SIGUSR1 : SIGUSR2;
		return text + 11;
	}
	if (!strncmp(text, "range=", 6) && text[6] && strlen(text + 6) < sizeof(config->range)) {
		memcpy(config->range, text + 6, strlen(text + 6) + 1);
		return text + strlen(text);
	}
	return NULL;
}

/* Parses the setting. default_bytes: the size if the text has none. Returns 0 or -EINVAL. */
static inline int ts_capture_config_parse(const char *text, uint64_t default_bytes,
					  struct ts_capture_config *ret_config)
{
	struct ts_capture_config config = {.max_bytes = default_bytes};

	if (!strcmp(text, "timing")) {
		*ret_config = (struct ts_capture_config){0};
		return 0;
	}
	config.is_window = !strncmp(text, "window", 6);
	if (!config.is_window && strncmp(text, "replay", 6))
		return -EINVAL;
	text += 6;
	if (*text == ':')
		text = ts_capture_config_size(text + 1, &config.max_bytes);
	while (text && *text == ',' && config.is_window)
		text = ts_capture_config_part(text + 1, &config);
	if (!text || *text)
		return -EINVAL;
	*ret_config = config;
	return 0;
}
