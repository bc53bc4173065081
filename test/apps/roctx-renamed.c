/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roctx under a name of its own, as packages bundle it. Its ids and levels are recognisable.
 * test-roctx.py loads it.
 */
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void roctxMarkA(const char *message);
EXPORTED int roctxRangePushA(const char *message);
EXPORTED int roctxRangePop(void);
EXPORTED uint64_t roctxRangeStartA(const char *message);
EXPORTED void roctxRangeStop(uint64_t id);

void roctxMarkA(const char *message)
{
	(void)message;
}

int roctxRangePushA(const char *message)
{
	(void)message;
	return 40;
}

int roctxRangePop(void)
{
	return 41;
}

uint64_t roctxRangeStartA(const char *message)
{
	(void)message;
	return 42;
}

void roctxRangeStop(uint64_t id)
{
	(void)id;
}
