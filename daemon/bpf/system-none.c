/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.h for a daemon that was built without eBPF, instead of system.c: ts_system_new() fails and
 * returns the reason.
 */
#include "daemon/bpf/system.h"

#include <stdio.h>

int ts_system_new(bool pairs, struct ts_system **ret_system, char why[TS_SYSTEM_WHY_BYTES])
{
	snprintf(why, TS_SYSTEM_WHY_BYTES,
		 "this tracesmithd has no eBPF; it needs x86-64, libbpf and clang");
	return -ENOTSUP;
}

void ts_system_free(struct ts_system *system)
{
}

struct ts_system_programs ts_system_programs(const struct ts_system *system)
{
	return (struct ts_system_programs){{-1, -1}, false};
}

int ts_system_probe(const struct ts_system_programs *programs, int fd, const uint64_t *places,
		    struct ts_system_probes *ret_probes)
{
	return -ENOTSUP;
}

void ts_system_remove(struct ts_system_probes *probes)
{
}

void ts_system_forget_calls(struct ts_system *system)
{
}

int ts_system_exclude(struct ts_system *system, pid_t pid, bool excluded)
{
	return -ENOTSUP;
}

int ts_system_fd(const struct ts_system *system)
{
	return -1;
}

void ts_system_take(struct ts_system *system, ts_system_taker *take, void *data)
{
}

uint64_t ts_system_lost(struct ts_system *system, pid_t pid)
{
	return 0;
}

uint64_t ts_system_unattributed(struct ts_system *system)
{
	return 0;
}

void ts_system_forget(struct ts_system *system, pid_t pid)
{
}
