/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl devices --coverage`: counts and lists entry points. cmd-devices.c calls it. The lists are
 * made from the tables of calls, from which the shim is made, too (proto/abi/vendor/calls.py).
 */
#include "tools/tsctl/machine/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/base.h"
#include "proto/abi/vendor/coverage.h"
#include "proto/rpc/json.h"
#include "tools/tsctl/screen/table.h"

enum state {
	INTERCEPTED,
	PASSED,
	UNKNOWN,
	N_STATES
};

static const char *const states[N_STATES] = {"intercepted", "passed", "unknown"};

struct entry {
	const char *name, *release;
	enum state state;
};

#define ENTRY(name, state, release) {name, release, state},

static const struct entry cuda_driver[] = {TS_COVERAGE_CUDA_DRIVER(ENTRY)};
static const struct entry cuda_runtime[] = {TS_COVERAGE_CUDA_RUNTIME(ENTRY)};
static const struct entry hip[] = {TS_COVERAGE_HIP(ENTRY)};

static const struct interface {
	const char *vendor, *name;
	const struct entry *entries;
	size_t n;
} interfaces[] = {
	{"nvidia", "CUDA driver", cuda_driver, TS_ARRAY_LEN(cuda_driver)},
	{"nvidia", "CUDA runtime", cuda_runtime, TS_ARRAY_LEN(cuda_runtime)},
	{"amd", "HIP", hip, TS_ARRAY_LEN(hip)},
};

/* Returns a number by which releases are in order: 6.2 is 602. */
static unsigned order_of(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10);

	return (unsigned)(major * 100 + (*end == '.' ? strtoul(end + 1, NULL, 10) : 0));
}

/* Returns the release that follows `after`; NULL: none does. */
static const char *next_release(const struct interface *interface, unsigned after)
{
	const char *found = NULL;

	for (size_t i = 0; i < interface->n; i++) {
		const char *release = interface->entries[i].release;

		if (*release && order_of(release) > after &&
		    (!found || order_of(release) < order_of(found)))
			found = release;
	}
	return found;
}

/* Counts the entry points that a release has; NULL: all. */
static Ts__Rpc__CoverageInfo *count(struct ts_pool *pool, const struct interface *interface,
				    const char *release)
{
	Ts__Rpc__CoverageInfo *info = ts_pool_alloc(pool, 1, sizeof(*info));
	uint32_t n[N_STATES] = {0};

	for (size_t i = 0; i < interface->n; i++)
		if (!release || (*interface->entries[i].release &&
				 order_of(interface->entries[i].release) <= order_of(release)))
			n[interface->entries[i].state]++;
	ts__rpc__coverage_info__init(info);
	info->vendor = (char *)(uintptr_t)interface->vendor;
	info->interface = (char *)(uintptr_t)interface->name;
	info->release = (char *)(uintptr_t)release;
	TS_RPC_SET(info, intercepted, n[INTERCEPTED]);
	TS_RPC_SET(info, passed, n[PASSED]);
	TS_RPC_SET(info, unknown, n[UNKNOWN]);
	return info;
}

static void list(struct ts_pool *pool, const struct interface *interface,
		 Ts__Rpc__CoverageInfo *info)
{
	info->entry_points = ts_pool_alloc(pool, interface->n, sizeof(*info->entry_points));
	for (size_t i = 0; i < interface->n; i++) {
		const struct entry *entry = &interface->entries[i];
		Ts__Rpc__EntryPoint *point = ts_pool_alloc(pool, 1, sizeof(*point));

		ts__rpc__entry_point__init(point);
		point->name = (char *)(uintptr_t)entry->name;
		point->state = (char *)(uintptr_t)states[entry->state];
		if (*entry->release)
			point->release = (char *)(uintptr_t)entry->release;
		info->entry_points[info->n_entry_points++] = point;
	}
}

void ts_coverage_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	size_t n = 0;

	/* At most one for each entry point, and one for all of an interface. */
	for (size_t i = 0; i < TS_ARRAY_LEN(interfaces); i++)
		n += interfaces[i].n + 1;
	info->coverage = ts_pool_alloc(pool, n, sizeof(*info->coverage));
	for (size_t i = 0; i < TS_ARRAY_LEN(interfaces); i++) {
		const char *release = next_release(&interfaces[i], 0);
		Ts__Rpc__CoverageInfo *all;

		for (; release; release = next_release(&interfaces[i], order_of(release)))
			info->coverage[info->n_coverage++] = count(pool, &interfaces[i], release);
		all = count(pool, &interfaces[i], NULL);
		list(pool, &interfaces[i], all);
		info->coverage[info->n_coverage++] = all;
	}
}

void ts_coverage_print(const Ts__Rpc__DevicesInfo *info)
{
	ts_cleanup(ts_table_freep) struct ts_table *counts = NULL;
	ts_cleanup(ts_table_freep) struct ts_table *points = NULL;

	if (ts_table_new("llrrr", &counts) || ts_table_new("lll", &points))
		return;
	ts_table_addf(counts, "INTERFACE");
	ts_table_addf(counts, "RELEASE");
	ts_table_addf(counts, "INTERCEPTED");
	ts_table_addf(counts, "PASSED");
	ts_table_addf(counts, "UNKNOWN");
	ts_table_addf(points, "STATE");
	ts_table_addf(points, "SINCE");
	ts_table_addf(points, "ENTRY POINT");
	for (size_t i = 0; i < info->n_coverage; i++) {
		const Ts__Rpc__CoverageInfo *one = info->coverage[i];

		ts_table_addf(counts, "%s", one->interface);
		ts_table_addf(counts, "%s", one->release ? one->release : "all");
		ts_table_addf(counts, "%u", one->intercepted);
		ts_table_addf(counts, "%u", one->passed);
		ts_table_addf(counts, "%u", one->unknown);
		for (size_t j = 0; j < one->n_entry_points; j++) {
			ts_table_addf(points, "%s", one->entry_points[j]->state);
			ts_table_addf(points, "%s",
				      one->entry_points[j]->release ? one->entry_points[j]->release
								    : "");
			ts_table_addf(points, "%s", one->entry_points[j]->name);
		}
	}
	ts_table_print(counts, stdout, 0, false);
	puts("Intercepted calls are recorded; calls that pass are known and have no record;\n"
	     "unknown are callback ids of CUPTI for which TraceSmith has no name.\n"
	     "Entry points of later releases pass.\n");
	ts_table_print(points, stdout, 0, false);
}
