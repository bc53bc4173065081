/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether a seccomp filter is present, and whether the program inherited or installed it.
 * Under a filter the shim makes only the calls of proto/abi/sandbox.h: any other call may be
 * forbidden, and the kernel may kill the process for it.
 */
#pragma once

enum ts_sandbox {
	TS_SANDBOX_NONE = 0,
	/*
	 * The filter was installed before the program started, so it permits the start of a
	 * program.
	 */
	TS_SANDBOX_INHERITED = 1,
	TS_SANDBOX_OWN = 2, /* the program's own, which usually permits little */
};

/*
 * Returns the number of the calling thread's filters plus 1; 0: no filter; -1: /proc is not
 * readable.
 */
int ts_sandbox_count(void);

/* Returns the kind of filter. at_start: result of ts_sandbox_count() when the shim was loaded. */
enum ts_sandbox ts_sandbox_find(int at_start);
