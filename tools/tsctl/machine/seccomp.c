/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports seccomp filters: see seccomp.h. cmd-devices.c calls this file. A program inherits the
 * filters of its parent, so tsctl's filters apply to the programs that it records. The list of
 * calls is that of proto/abi/sandbox.h, which the shim obeys.
 */
#include "tools/tsctl/machine/seccomp.h"

#include "proto/abi/base.h"
#include "proto/abi/sandbox.h"
#include "proto/rpc/json.h"

#include <stdio.h>

#define LINE_COLUMNS 90u

static const struct {
	const char *name;
	bool is_start;
} calls[] = {
#define CALL(name, start, why) {#name, start},
	TS_SANDBOX_CALLS(CALL)
#undef CALL
};

/*
 * Returns whether the kernel reports a seccomp filter for this process: 0 or 1. -1: /proc has no
 * value.
 */
static int find_filter(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	int mode = -1;
	char line[256];

	while (status && mode < 0 && fgets(line, sizeof(line), status))
		if (sscanf(line, "Seccomp: %d", &mode) != 1)
			mode = -1;
	if (status)
		fclose(status);
	return mode < 0 ? -1 : mode != 0;
}

void ts_seccomp_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	Ts__Rpc__SeccompInfo *seccomp = ts_pool_alloc(pool, 1, sizeof(*seccomp));
	const int filter = find_filter();

	ts__rpc__seccomp_info__init(seccomp);
	if (filter >= 0)
		TS_RPC_SET(seccomp, in_force, filter);
	seccomp->calls = ts_pool_alloc(pool, TS_ARRAY_LEN(calls), sizeof(*seccomp->calls));
	seccomp->start_calls =
		ts_pool_alloc(pool, TS_ARRAY_LEN(calls), sizeof(*seccomp->start_calls));
	for (size_t i = 0; i < TS_ARRAY_LEN(calls); i++)
		if (calls[i].is_start)
			seccomp->start_calls[seccomp->n_start_calls++] = (char *)calls[i].name;
		else
			seccomp->calls[seccomp->n_calls++] = (char *)calls[i].name;
	info->seccomp = seccomp;
}

static void print_calls(char *const *names, size_t n)
{
	size_t column = 0;

	for (size_t i = 0; i < n; i++) {
		size_t n_name = strlen(names[i]) + 1;

		if (!column || column + n_name > LINE_COLUMNS) {
			column = (size_t)printf("%s    %s", column ? "\n" : "", names[i]);
			continue;
		}
		printf(" %s", names[i]);
		column += n_name;
	}
	putchar('\n');
}

void ts_seccomp_print(const Ts__Rpc__SeccompInfo *seccomp)
{
	printf("Seccomp: %s. Under a filter, TraceSmith makes these system calls in a program:\n",
	       !seccomp->has_in_force ? "unknown (/proc is not mounted)"
	       : seccomp->in_force    ? "a filter is in force for programs started from here"
				      : "no filter here");
	print_calls(seccomp->calls, seccomp->n_calls);
	puts("  and these to start a private daemon, without `tsctl record` and without the "
	     "service:");
	print_calls(seccomp->start_calls, seccomp->n_start_calls);
}
