/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library whose constructor executes the program again with another environment, as launchers do,
 * before the constructors of preloaded libraries have run.
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
