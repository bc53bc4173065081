/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame that launched an operation, as codeplace.h chooses it. Not thread-safe; each stack is
 * looked up once.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

#define TS_LAUNCH_SITE_CALLERS 2u

/* The launching frame and its callers. */
struct ts_launch_site {
	const char *frame; /* "function (file:line)", or "library+0x12" without symbols */
	/* The frame's callers, from the inside outward; NULL: none. */
	const char *callers[TS_LAUNCH_SITE_CALLERS];
};

struct ts_launch_sites;

/*
 * Creates an empty cache of launch sites. The caller keeps the resolver, which must outlive the
 * cache. `no_memory` as in report-pool.h. Returns 0 or -ENOMEM.
 */
int ts_launch_sites_new(struct ts_resolver *resolver, void (*no_memory)(void),
			struct ts_launch_sites **ret_sites);
void ts_launch_sites_free(struct ts_launch_sites *sites);
void ts_launch_sites_freep(struct ts_launch_sites **sites);

/* Returns the launch site of a row; NULL if the row has no stack. Valid as long as `sites`. */
const struct ts_launch_site *ts_launch_sites_of(struct ts_launch_sites *sites,
						const struct ts_sbt_row *row);
/* Like ts_launch_sites_of(), for a stack id, with the modules mapped at `time_ns`. */
const struct ts_launch_site *ts_launch_sites_at(struct ts_launch_sites *sites, uint32_t session,
						uint32_t stack, uint64_t time_ns);
/* Like ts_launch_sites_of(), for a kernel that a call with this stack launched at `time_ns`. */
const struct ts_launch_site *ts_launch_sites_of_kernel(struct ts_launch_sites *sites,
						       uint32_t session, uint32_t stack,
						       uint64_t time_ns, const char *kernel);
