/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl-calls: calls of Ascend's runtime, by ascendcl-standin.c: one aclInit(), one aclrtSetDevice(),
 * 3 copies of 4096 bytes and 10 launches. test/integration/test-maca.py compares them with the
 * trace.
 */
#include <stdio.h>

#include "test/apps/ascendcl-standin.h"

int main(void)
{
	int n_failed = aclInit(NULL) != 0;

	n_failed += aclrtSetDevice(0) != 0;
	for (int i = 0; i < 3; i++)
		n_failed += aclrtMemcpy(NULL, NULL, 4096) != 0;
	for (int i = 0; i < 10; i++)
		n_failed += aclrtLaunchKernel(NULL) != 0;
	printf("acl-calls: %d failed\n", n_failed);
	return n_failed != 0;
}
