/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a seccomp filter is present, and whose it is. Under a filter the shim makes the calls of proto/abi/sandbox.h only:
 * any other one may be forbidden, on pain of death.
 */
#pragma once

enum ts_sandbox {
	TS_SANDBOX_NONE = 0,
	TS_SANDBOX_INHERITED =
		1,	    /* from whoever started the program, and so it permits starting one */
	TS_SANDBOX_OWN = 2, /* the program's own, which most often permits little */
};

/* Filters of the calling thread: their number and 1 more, 0 if there is none, -1 if /proc does not say. */
int ts_sandbox_count(void);

/* at_start: what ts_sandbox_count() returned when the shim was loaded. */
enum ts_sandbox ts_sandbox_find(int at_start);
