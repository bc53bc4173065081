/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp, for `tsctl devices`: whether a filter is active, and the system calls that a recorded
 * program then needs.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills `seccomp`. */
void ts_seccomp_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);

/* Prints `seccomp` in a few lines. */
void ts_seccomp_print(const Ts__Rpc__SeccompInfo *seccomp);
