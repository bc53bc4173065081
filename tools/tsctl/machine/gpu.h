/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs that programs on this machine see, asked of the driver itself, and the CUPTI that would be
 * used to trace them. Both libraries are taken at run time; neither is needed.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills devices, driver, driver_version and driver_error. Initialises CUDA in this process. */
void ts_gpu_fill_driver(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
/* Fills cupti. Call it after the above: a CUPTI without a driver does not load. */
void ts_gpu_fill_cupti(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
