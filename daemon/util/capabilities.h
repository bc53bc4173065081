/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux capabilities that a service uses if it has them. It runs without any; what is missing then has a name, for `tsctl status`.
 */
#pragma once

#include "proto/abi/base.h"

enum ts_capability {
	TS_CAPABILITY_BPF,
	TS_CAPABILITY_PERFMON,
	TS_CAPABILITY_SYS_PTRACE,
	TS_CAPABILITY_SYS_RESOURCE,
	TS_CAPABILITY_N
};

/* A bit each, 1 << TS_CAPABILITY_*: those in the calling thread's effective set. */
uint32_t ts_capabilities_have(void);

/* "CAP_BPF", ... */
const char *ts_capability_name(enum ts_capability capability);
/* One line: the features that a service without it lacks. */
const char *ts_capability_cost(enum ts_capability capability);

/*
 * Gives one up for good, in the calling thread and in those that it starts from then on. 0 or a negative errno. Not to have it is
 * no error.
 */
int ts_capability_drop(enum ts_capability capability);
