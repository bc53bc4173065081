/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library whose constructor replaces the program by itself with another environment, as launchers do, before any
 * preloaded library had its turn.
 */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void replace(void)
{
	if (getenv("TS_TEST_REPLACED"))
		return;
	setenv("TS_TEST_REPLACED", "1", 1);
	execl("/bin/sh", "sh", "-c", "echo replaced", (char *)NULL);
	_exit(126);
}
