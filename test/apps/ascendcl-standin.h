/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the stand-in of libascendcl.so. Each returns 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int aclInit(const char *path);
int aclrtSetDevice(int32_t device);
int aclrtLaunchKernel(void *function);
int aclrtMemcpy(void *dst, const void *src, size_t n_bytes);
