/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendors whose libraries have an interface like CUPTI's (proto/abi/vendor/cupti_family.h), and
 * whether this machine has such a library.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills vendors. Loads the libraries that are on the loader's path, except those not recorded. */
void ts_vendors_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
void ts_vendors_print(const Ts__Rpc__DevicesInfo *info);
