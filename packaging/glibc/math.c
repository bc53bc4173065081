/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log2(), of which glibc 2.29 has a second version. It sets no errno in the older version's way,
 * and is otherwise the same.
 */
#include "packaging/glibc/glibc.h"

double glibc_log2(double value);
TS_GLIBC_OLD(log2, TS_GLIBC_BASE);

double own_log2(double value) TS_GLIBC_OWN("log2");

double own_log2(double value)
{
	return glibc_log2(value);
}
