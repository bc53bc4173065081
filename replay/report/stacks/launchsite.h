/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a stack that says who launched something, as codeplace.h chooses it. One thread; each stack is looked up once.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

#define TS_LAUNCH_SITE_CALLERS 2u

/* The frames that launched something. */
struct ts_launch_site {
	const char *frame; /* "function (file:line)", or "library+0x12" without symbols */
	const char
		*callers[TS_LAUNCH_SITE_CALLERS]; /* of the frame, outwards; NULL: there is none */
};

struct ts_launch_sites;

/* The resolver stays the caller's and outlives it. `no_memory` as in report-pool.h. -ENOMEM. */
int ts_launch_sites_new(struct ts_resolver *resolver, void (*no_memory)(void),
			struct ts_launch_sites **ret_sites);
void ts_launch_sites_free(struct ts_launch_sites *sites);
void ts_launch_sites_freep(struct ts_launch_sites **sites);

/* NULL: no stack. Lives as long as `sites`. */
const struct ts_launch_site *ts_launch_sites_of(struct ts_launch_sites *sites,
						const struct ts_sbt_row *row);
/* The same of a stack by its id, as modules lay at `time_ns`. */
const struct ts_launch_site *ts_launch_sites_at(struct ts_launch_sites *sites, uint32_t session,
						uint32_t stack, uint64_t time_ns);
