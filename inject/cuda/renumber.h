/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of CUDA's devices and contexts in a process that used HIP before. HIP then has the
 * numbers from 0 on, and CUDA's begin behind them, so the trace tells the vendors' objects apart.
 */
#pragma once

#include "proto/abi/record.h"

/* Returns the trace's number of a context; 0, no context, stays 0. */
static inline uint32_t ts_renumbered_context(uint32_t context, uint32_t first_device)
{
	return context ? context + first_device : 0;
}

/* Returns the trace's number of a device; TS_NO_DEVICE stays. */
static inline uint32_t ts_renumbered_device(uint32_t device, uint32_t first_device)
{
	return device == TS_NO_DEVICE ? device : device + first_device;
}

/* Changes the numbers in an activity record of CUPTI, of a kind that activity.c decodes. */
void ts_renumber(void *record, uint32_t first_device);
