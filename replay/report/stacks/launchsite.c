/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that were seen lie in a hash table by session and id.
 */
#include "replay/report/stacks/launchsite.h"

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"
#include "replay/report/pool.h"
#include "replay/report/stacks/codeplace.h"

struct site {
	uint32_t session, stack; /* stack 0: a free slot */
	struct ts_launch_site *site;
};

struct ts_launch_sites {
	struct ts_resolver *resolver;
	struct site *slots;
	size_t n_slots, n; /* a power of two; at most half of them taken */
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
	sites->n_slots = 256;
	sites->slots = calloc(sites->n_slots, sizeof(*sites->slots));
	if (!sites->slots) {
		free(sites);
		return -ENOMEM;
	}
	*ret_sites = sites;
	return 0;
}

void ts_launch_sites_free(struct ts_launch_sites *sites)
{
	if (!sites)
		return;
	ts_pool_deinit(&sites->texts);
	free(sites->slots);
	free(sites);
}

void ts_launch_sites_freep(struct ts_launch_sites **sites)
{
	ts_launch_sites_free(*sites);
}

static struct site *find(struct site *slots, size_t n_slots, uint32_t session, uint32_t stack)
{
	uint64_t at = ts_hash_key((uint64_t)session << 32 | stack) >> 32;

	for (;; at++) {
		struct site *slot = &slots[at & (n_slots - 1)];

		if (!slot->stack || (slot->stack == stack && slot->session == session))
			return slot;
	}
}

static bool grow(struct ts_launch_sites *sites)
{
	size_t n_slots = 2 * sites->n_slots;
	struct site *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < sites->n_slots; i++)
		if (sites->slots[i].stack)
			*find(slots, n_slots, sites->slots[i].session, sites->slots[i].stack) =
				sites->slots[i];
	free(sites->slots);
	sites->slots = slots;
	sites->n_slots = n_slots;
	return true;
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
	struct site *slot;
	size_t n;

	if (!id || (2 * sites->n >= sites->n_slots && !grow(sites)))
		return NULL;
	slot = find(sites->slots, sites->n_slots, session, id);
	if (slot->stack)
		return slot->site;
	*slot = (struct site){session, id, NULL};
	sites->n++;
	n = ts_codeplace_chain(sites->resolver, session, id, time_ns, kernel, places,
			       TS_ARRAY_LEN(places));
	if (!n)
		return NULL;
	slot->site = ts_pool_alloc(&sites->texts, 1, sizeof(*slot->site));
	slot->site->frame = place_text(&sites->texts, &places[0]);
	for (size_t i = 1; i < n; i++)
		slot->site->callers[i - 1] = place_text(&sites->texts, &places[i]);
	return slot->site;
}

const struct ts_launch_site *ts_launch_sites_at(struct ts_launch_sites *sites, uint32_t session,
						uint32_t id, uint64_t time_ns)
{
	return find_site(sites, session, id, time_ns, NULL);
}

/* A stack launches one kernel. */
const struct ts_launch_site *ts_launch_sites_of(struct ts_launch_sites *sites,
						const struct ts_sbt_row *row)
{
	return find_site(sites, row->session, ts_resolver_stack(sites->resolver, row),
			 ts_row_start_ns(row->any),
			 row->type == TS_ROW_KERNEL
				 ? ts_resolver_kernel_name(sites->resolver, row->kernel->name)
				 : NULL);
}
