/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of capabilities and their use. server.c reads the set and drops CAP_SYS_RESOURCE after
 * the start; answers.c reports the set. This module uses system calls instead of libcap.
 */
#include "daemon/util/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif
#ifndef CAP_BPF
#define CAP_BPF 39 /* Linux 5.8 */
#endif

static const struct {
	unsigned number;
	const char *name;
	const char *cost;
} table[TS_CAPABILITY_N] = {
	[TS_CAPABILITY_BPF] = {CAP_BPF, "CAP_BPF", "no kernel events, no --system"},
	[TS_CAPABILITY_PERFMON] = {CAP_PERFMON, "CAP_PERFMON", "no kernel events, no --system"},
	[TS_CAPABILITY_SYS_PTRACE] =
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
		 "--system records no calls of a library that only a container or a home directory has"},
	[TS_CAPABILITY_SYS_RESOURCE] =
		{CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE",
		 "no more open files than LimitNOFILE=, and before Linux 5.11 no more eBPF than LimitMEMLOCK="},
};

typedef struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

static int get(sets ret_sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, ret_sets) < 0 ? -errno : 0;
}

static uint32_t bit(enum ts_capability capability)
{
	return UINT32_C(1) << table[capability].number % 32;
}

uint32_t ts_capabilities_have(void)
{
	uint32_t have = 0;
	sets now;

	if (get(now))
		return 0;
	for (unsigned i = 0; i < TS_CAPABILITY_N; i++)
		if (now[table[i].number / 32].effective & bit(i))
			have |= UINT32_C(1) << i;
	return have;
}

const char *ts_capability_name(enum ts_capability capability)
{
	return table[capability].name;
}

const char *ts_capability_cost(enum ts_capability capability)
{
	return table[capability].cost;
}

int ts_capability_drop(enum ts_capability capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const unsigned number = table[capability].number;
	struct __user_cap_data_struct *half;
	sets now;
	int r = get(now);

	if (r)
		return r;
	half = &now[number / 32];
	half->effective &= ~bit(capability);
	half->permitted &= ~bit(capability);
	half->inheritable &= ~bit(capability);
	/* The kernel clears the ambient bit together with the permitted bit. */
	return syscall(SYS_capset, &header, now) < 0 ? -errno : 0;
}
