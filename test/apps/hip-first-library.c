/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor calls the program, which loads it: hip-first.c. */
#include "test/apps/hip-first.h"

__attribute__((constructor)) static void construct(void)
{
	hip_first_constructor();
}
