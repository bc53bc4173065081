/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of launch sites by session and stack id. The sums of rows, and the answers on memory and on
 * errors, call this file; this file calls codeplace.c.
 */
#include "replay/report/stacks/launchsite.h"

#include "proto/abi/map.h"
#include "replay/report/report-pool.h"
#include "replay/report/stacks/codeplace.h"

struct ts_launch_sites {
	struct ts_resolver *resolver;
	struct ts_map by_stack; /* session << 32 | id: a site, or `none` */
	struct ts_launch_site none;
	struct ts_pool texts;
};

int ts_launch_sites_new(struct ts_resolver *resolver, void (*no_memory)(void),
			struct ts_launch_sites **ret_sites)
{
	struct ts_launch_sites *sites = calloc(1, sizeof(*sites));

	if (!sites)
		return -ENOMEM;
	sites->resolver = resolver;
	sites->texts.no_memory = no_memory;
	*ret_sites = sites;
	return 0;
}

void ts_launch_sites_free(struct ts_launch_sites *sites)
{
	if (!sites)
		return;
	ts_pool_deinit(&sites->texts);
	ts_map_deinit(&sites->by_stack);
	free(sites);
}

void ts_launch_sites_freep(struct ts_launch_sites **sites)
{
	ts_launch_sites_free(*sites);
}

static const char *place_text(struct ts_pool *pool, const struct ts_codeplace *place)
{
	char text[TS_CODEPLACE_BYTES];

	ts_codeplace_text(place, text);
	return ts_pool_copy(pool, text);
}

static const struct ts_launch_site *find_site(struct ts_launch_sites *sites, uint32_t session,
					      uint32_t id, uint64_t time_ns, const char *kernel)
{
	struct ts_codeplace places[1 + TS_LAUNCH_SITE_CALLERS];
	uint64_t key = (uint64_t)session << 32 | id;
	struct ts_launch_site *site;
	size_t n;

	if (!id)
		return NULL;
	site = ts_map_get_pointer(&sites->by_stack, key);
	if (site)
		return site == &sites->none ? NULL : site;
	if (ts_map_set_pointer(&sites->by_stack, key, &sites->none))
		return NULL;
	n = ts_codeplace_chain(sites->resolver, session, id, time_ns, kernel, places,
			       TS_ARRAY_LEN(places));
	if (!n)
		return NULL;
	site = ts_pool_alloc(&sites->texts, 1, sizeof(*site));
	site->frame = place_text(&sites->texts, &places[0]);
	for (size_t i = 1; i < n; i++)
		site->callers[i - 1] = place_text(&sites->texts, &places[i]);
	(void)ts_map_set_pointer(&sites->by_stack, key, site);
	return site;
}

const struct ts_launch_site *ts_launch_sites_at(struct ts_launch_sites *sites, uint32_t session,
						uint32_t id, uint64_t time_ns)
{
	return find_site(sites, session, id, time_ns, NULL);
}

const struct ts_launch_site *ts_launch_sites_of_kernel(struct ts_launch_sites *sites,
						       uint32_t session, uint32_t stack,
						       uint64_t time_ns, const char *kernel)
{
	return find_site(sites, session, stack, time_ns, kernel);
}

/*
 * Looks up the row's stack in the cache, and adds it if needed. The cache has one entry per stack,
 * because one stack launches one kernel.
 */
const struct ts_launch_site *ts_launch_sites_of(struct ts_launch_sites *sites,
						const struct ts_sbt_row *row)
{
	return find_site(sites, row->session, ts_resolver_stack(sites->resolver, row),
			 ts_row_start_ns(row->any),
			 row->type == TS_ROW_KERNEL
				 ? ts_resolver_kernel_name(sites->resolver, row->kernel->name)
				 : NULL);
}
