/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs that programs on this machine see, as the driver reports them, and the CUPTI for tracing
 * them. Both libraries are loaded at run time; neither is required.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills devices, driver, driver_version and driver_error. Initialises CUDA in this process. */
void ts_gpu_fill_driver(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
/* Fills cupti. Call it after ts_gpu_fill_driver(): CUPTI does not load without a driver. */
void ts_gpu_fill_cupti(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
/* Finds libamdhip64, and the ways by which the shim would record a program with it. */
void ts_gpu_fill_hip(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
