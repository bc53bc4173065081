/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's runtime, loaded at run time, behind the table of the executor on real devices. A build
 * needs no ROCm, and a runtime is needed only for a replay on a device.
 */
#pragma once

#include "replay/exec/cuda/exec-cuda-driver.h"

/*
 * Fills the table with functions that call HIP's. Returns false if the runtime or one of its
 * functions is missing; the text names the missing one. The runtime stays loaded.
 */
bool ts_exec_hip_driver_open(struct ts_exec_cuda_driver *driver, char *text, size_t text_bytes);
