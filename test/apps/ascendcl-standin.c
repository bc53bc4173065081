/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for Ascend's libascendcl.so: calls that do nothing but report themselves to
 * mspti-standin.c, if that library is in the process. acl-calls.c calls them.
 */
#include <dlfcn.h>

#include "test/apps/ascendcl-standin.h"
#include "test/apps/mspti-standin.h"

#define EXPORT __attribute__((visibility("default")))

static int call(uint32_t cbid, const char *name, const char *kernel, uint64_t copied_bytes)
{
	__typeof__(mspti_standin_call) *report;

	*(void **)&report = dlsym(RTLD_DEFAULT, "mspti_standin_call");
	if (report)
		report(cbid, name, kernel, copied_bytes);
	return 0;
}

EXPORT int aclInit(const char *path)
{
	(void)path;
	return 0;
}

EXPORT int aclrtSetDevice(int32_t device)
{
	(void)device;
	return call(1, "aclrtSetDevice", NULL, 0);
}

EXPORT int aclrtLaunchKernel(void *function)
{
	(void)function;
	return call(10, "aclrtLaunchKernel", "MatMul", 0);
}

EXPORT int aclrtMemcpy(void *dst, const void *src, size_t n_bytes)
{
	(void)dst;
	(void)src;
	return call(22, "aclrtMemcpy", NULL, n_bytes);
}
