/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small trace with a row of every type, made without a GPU, a shim or a daemon, for the tests of
 * tsctl.
 */
#pragma once

#include "sbt/writer.h"

#define SYNTHETIC_START_NS UINT64_C(1000000000)
#define SYNTHETIC_TID	   4711u

/* A reason without a name in this version. */
#define SYNTHETIC_UNNAMED_LOSS 31u

struct synthetic {
	uint32_t n_launches; /* each makes an API row and a kernel row */
	bool unfinished;     /* no index, no end marker */
};

/* Writes the trace to `fd` and closes it. Returns 0, a negative errno or TS_SBT_E_*. */
int synthetic_write(int fd, const struct synthetic *what);
