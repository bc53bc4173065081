/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux capabilities that a service uses if it has them. A service runs without any. `tsctl status`
 * names the missing ones.
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

/* Returns the calling thread's effective capabilities as bits 1 << TS_CAPABILITY_*. */
uint32_t ts_capabilities_have(void);

/* Returns the capability's name, such as "CAP_BPF". */
const char *ts_capability_name(enum ts_capability capability);
/* Returns one line: the features that a daemon without this capability lacks. */
const char *ts_capability_cost(enum ts_capability capability);

/*
 * Drops a capability permanently, in the calling thread and its later threads. Returns 0 or a
 * negative errno. A missing capability is not an error.
 */
int ts_capability_drop(enum ts_capability capability);
