/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `tsctl studio`, which both tsctl and the program tracesmith-studio read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ts_studio_options {
	bool no_browser;
	uint64_t port;	    /* 0: any free port */
	const char *socket; /* NULL: a port of the loopback interface */
	const char *session;
};
