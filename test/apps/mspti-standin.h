/* SPDX-License-Identifier: Apache-2.0 */
/* Between the stand-ins of libascendcl.so and libmspti.so. */
#pragma once

#include <stdint.h>

/*
 * Reports a call by MSPTI's callback id. kernel: the call launches a kernel of this name. NULL and
 * copied_bytes > 0: it copies to the device. A static string.
 */
void mspti_standin_call(uint32_t cbid, const char *name, const char *kernel, uint64_t copied_bytes);
