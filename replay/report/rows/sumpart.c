/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums rows by numbers: see sumpart.h. rowsums.c calls this file. Rows of one type and one name
 * come in runs, and a name mostly has few stacks, so look-ups try the last result first.
 */
#include "replay/report/rows/sumpart.h"

#include "proto/abi/grow.h"
#include "replay/report/names/rowkey.h"

#define TYPES_LAUNCHED \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

int ts_sum_part_init(struct ts_sum_part *part, bool launches, bool is_first)
{
	part->has_launchers = launches;
	part->is_first = is_first;
	return launches ? ts_launchers_init(&part->launchers) : 0;
}

static void clear_names(struct ts_sum_part *part)
{
	for (size_t i = 0; i < part->n_names; i++)
		ts_durations_deinit(&part->names[i].sum.durations);
	part->n_names = 0;
	part->n_bytes = 0;
}

void ts_sum_part_deinit(struct ts_sum_part *part)
{
	clear_names(part);
	free(part->names);
	free(part->sites);
	free(part->later);
	ts_hashindex_deinit(&part->by_key);
	ts_hashindex_deinit(&part->by_stack);
	ts_launchers_deinit(&part->launchers);
}

bool ts_sum_part_is_large(const struct ts_sum_part *part)
{
	return part->n_names > TS_SUM_PART_NAMES / 2 || part->n_sites > TS_SUM_PART_SITES / 2 ||
	       part->n_bytes > TS_SUM_PART_BYTES / 2;
}

void ts_sum_part_clear(struct ts_sum_part *part)
{
	clear_names(part);
	part->n_sites = 0;
	part->n_later = 0;
	part->n_rows = 0;
	ts_hashindex_clear(&part->by_key);
	ts_hashindex_clear(&part->by_stack);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name(const struct ts_sum_name *name, uint32_t type, uint64_t key)
{
	return name->type == type && name->key == key;
}

static int find_name(struct ts_sum_part *part, uint32_t type, uint64_t key, uint32_t *ret_name)
{
	const uint64_t hash = key ^ (uint64_t)type << 58;
	const uint32_t last = part->last[type];

	if (last < part->n_names && is_name(&part->names[last], type, key)) {
		*ret_name = last;
		return 0;
	}
	TS_HASHINDEX_EACH (&part->by_key, hash, at)
		if (is_name(&part->names[at.number], type, key)) {
			*ret_name = part->last[type] = at.number;
			return 0;
		}
	if (part->n_names == TS_SUM_PART_NAMES)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(part->names, part->n_names_allocated, part->n_names + 1) ||
	    ts_hashindex_add(&part->by_key, hash, (uint32_t)part->n_names))
		return -ENOMEM;
	*ret_name = part->last[type] = (uint32_t)part->n_names;
	part->names[part->n_names++] =
		(struct ts_sum_name){.type = type, .key = key, .sum = {.min_ns = UINT64_MAX}};
	return 0;
}

static int add_sum(struct ts_sum_part *part, uint32_t name, uint64_t ns, uint64_t bytes)
{
	struct ts_row_sum *sum = &part->names[name].sum;
	const uint64_t n_before = sum->durations.n_bytes;
	int r;

	sum->count++;
	sum->total_ns += ns;
	sum->bytes += bytes;
	sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	r = ts_durations_add(&sum->durations, ns);
	part->n_bytes += sum->durations.n_bytes - n_before;
	return r ? r : part->n_bytes > TS_SUM_PART_BYTES ? TS_SBT_E_LIMIT : 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool is_site(const struct ts_sum_site *a, const struct ts_sum_site *b)
{
	return a->name == b->name && a->stack == b->stack && a->session == b->session;
}

static int find_site(struct ts_sum_part *part, const struct ts_sum_site *more, uint32_t *ret_site)
{
	const uint32_t key[] = {more->name, more->session, more->stack};
	const uint64_t hash =
		ts_hash_seeded_bytes(ts_hashindex_seed(&part->by_stack), key, sizeof(key));

	TS_HASHINDEX_EACH (&part->by_stack, hash, at)
		if (is_site(&part->sites[at.number], more)) {
			*ret_site = at.number;
			return 0;
		}
	if (part->n_sites == TS_SUM_PART_SITES)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(part->sites, part->n_sites_allocated, part->n_sites + 1) ||
	    ts_hashindex_add(&part->by_stack, hash, (uint32_t)part->n_sites))
		return -ENOMEM;
	*ret_site = (uint32_t)part->n_sites;
	part->sites[part->n_sites] = *more;
	part->sites[part->n_sites++].count = 0;
	return 0;
}

int ts_sum_part_add_site(struct ts_sum_part *part, const struct ts_sum_site *more)
{
	uint32_t *last = &part->names[more->name].last_site;
	struct ts_sum_site *site;

	if (*last >= part->n_sites || !is_site(&part->sites[*last], more)) {
		int r = find_site(part, more, last);

		if (r)
			return r;
	}
	site = &part->sites[*last];
	site->count += more->count;
	if (more->first < site->first) {
		site->first = more->first;
		site->first_ns = more->first_ns;
	}
	return 0;
}

/* Keeps a row until the calls of earlier parts are known. Rows of a graph launch come in runs. */
static int add_later(struct ts_sum_part *part, uint32_t name, uint32_t session, uint64_t op_id,
		     uint64_t start_ns)
{
	struct ts_sum_later *last = part->n_later ? &part->later[part->n_later - 1] : NULL;

	if (last && last->name == name && last->session == session && last->op_id == op_id) {
		last->count++;
		return 0;
	}
	if (part->n_later == TS_SUM_PART_LATER)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(part->later, part->n_later_allocated, part->n_later + 1))
		return -ENOMEM;
	part->later[part->n_later++] = (struct ts_sum_later){.name = name,
							     .session = session,
							     .op_id = op_id,
							     .count = 1,
							     .first = part->n_rows,
							     .first_ns = start_ns};
	return 0;
}

static int add_launched(struct ts_sum_part *part, const struct ts_sbt_row *row, uint32_t name)
{
	/* The launched types share their first fields (sbt/schema.h). */
	const struct ts_row_kernel *common = row->kernel;
	struct ts_sum_site site = {.name = name,
				   .session = row->session,
				   .count = 1,
				   .first = part->n_rows,
				   .first_ns = common->start_ns};
	struct ts_launcher launcher;

	if (!part->has_launchers || !common->op_id)
		return 0;
	if (ts_launchers_find(&part->launchers, row->session, common->op_id, &launcher)) {
		site.stack = launcher.stack;
		return site.stack ? ts_sum_part_add_site(part, &site) : 0;
	}
	if (part->is_first || ts_launchers_has_place(&part->launchers, row->session, common->op_id))
		return 0;
	return add_later(part, name, row->session, common->op_id, common->start_ns);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Samples are summed by stack, and their name is their place in the code. */
static int add_sample(struct ts_sum_part *part, const struct ts_sbt_row *row)
{
	const struct ts_row_sample *sample = row->sample;
	struct ts_sum_site site = {.session = row->session,
				   .stack = sample->stack,
				   .count = 1,
				   .first = part->n_rows,
				   .first_ns = sample->start_ns};
	int r = find_name(part, row->type, (uint64_t)row->session << 32 | sample->stack,
			  &site.name);

	r = r ? r : add_sum(part, site.name, sample->period_ns, 0);
	return r ? r : ts_sum_part_add_site(part, &site);
}

static uint64_t bytes_of(const struct ts_sbt_row *row)
{
	return row->schema->bytes_column < 0
		       ? 0
		       : ts_column_get(&row->schema->columns[row->schema->bytes_column], row->any);
}

void ts_sum_part_call(struct ts_sum_part *part, const struct ts_sbt_row *row)
{
	const struct ts_row_api *api = row->api;
	const struct ts_launcher launcher = {api->op_id, row->session, api->thread, api->stack};

	ts_launchers_add(&part->launchers, &launcher);
}

int ts_sum_part_add(struct ts_sum_part *part, const struct ts_sbt_row *row)
{
	uint32_t name;
	uint64_t key;
	int r;

	part->n_rows++;
	if (row->type == TS_ROW_SAMPLE)
		return add_sample(part, row);
	if (!ts_row_key(row, &key))
		return 0;
	r = find_name(part, row->type, key, &name);
	r = r ? r
	      : add_sum(part, name,
			ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any),
			row->type == TS_ROW_RANGE ? 0 : bytes_of(row));
	return !r && TS_ROW_BIT(row->type) & TYPES_LAUNCHED ? add_launched(part, row, name) : r;
}
