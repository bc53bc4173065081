/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kernels that ran during an allocation's life: see lifetimes.h. replay/report calls this
 * file. The first pass collects the allocations that cover the address. The second pass compares
 * each kernel with all these allocations, because they are few.
 */
#include "replay/state/memory/lifetimes.h"

#include "proto/abi/grow.h"
#include "replay/state/memory/state-memory.h"
#include "replay/state/state-map.h"
#include "sbt/slices.h"

#include <errno.h>
#include <stdlib.h>

/* Limit on kernel names per allocation. */
#define MAX_NAMES 65536u

struct pass {
	struct ts_lifetimes *lifetimes;
	uint64_t address;
	struct ts_state_map kernel_by_name[TS_LIFETIMES_MAX];
	size_t n_allocated[TS_LIFETIMES_MAX];
};

void ts_lifetimes_free(struct ts_lifetimes *lifetimes)
{
	if (!lifetimes)
		return;
	for (size_t i = 0; i < lifetimes->n_allocations; i++)
		free(lifetimes->allocations[i].kernels);
	free(lifetimes->allocations);
	free(lifetimes);
}

static void end_last(struct pass *pass, const struct ts_sbt_row *row, bool is_same)
{
	struct ts_lifetimes *lifetimes = pass->lifetimes;

	for (size_t i = lifetimes->n_allocations; i-- > 0;) {
		struct ts_lifetimes_allocation *allocation = &lifetimes->allocations[i];

		if (allocation->session != row->session || allocation->end_ns != UINT64_MAX ||
		    (is_same && allocation->row.address != row->memory->address))
			continue;
		allocation->end_ns = row->memory->start_ns;
		allocation->free_op_id = row->memory->op_id;
		return;
	}
}

static int take_memory(const struct ts_sbt_row *row, void *data)
{
	struct pass *pass = data;
	const struct ts_row_memory *memory = row->memory;
	struct ts_lifetimes *lifetimes = pass->lifetimes;

	if (row->type == TS_ROW_FREE) {
		end_last(pass, row, true);
		return 0;
	}
	if (pass->address < memory->address || pass->address - memory->address >= memory->bytes)
		return 0;
	/*
	 * An earlier allocation may still be open here. Live allocations do not overlap, so its
	 * free was not recorded. It ends now.
	 */
	end_last(pass, row, false);
	lifetimes->n_all++;
	if (lifetimes->n_allocations == TS_LIFETIMES_MAX)
		return 0;
	lifetimes->allocations[lifetimes->n_allocations++] = (struct ts_lifetimes_allocation){
		.session = row->session,
		.row = *memory,
		.end_ns = UINT64_MAX,
	};
	return 0;
}

static int add_kernel(struct pass *pass, size_t i, uint32_t name, uint64_t ns)
{
	struct ts_lifetimes_allocation *allocation = &pass->lifetimes->allocations[i];
	uint32_t at = ts_state_map_find(&pass->kernel_by_name[i], 0, name);
	int r;

	allocation->count++;
	allocation->ns += ns;
	if (at == TS_STATE_MAP_NONE) {
		if (allocation->n_kernels == MAX_NAMES)
			return 0;
		if (TS_GROW(allocation->kernels, pass->n_allocated[i], allocation->n_kernels + 1))
			return -ENOMEM;
		at = (uint32_t)allocation->n_kernels;
		r = ts_state_map_set(&pass->kernel_by_name[i], 0, name, at);
		if (r)
			return r;
		allocation->kernels[allocation->n_kernels++] =
			(struct ts_lifetimes_kernel){.name = name};
	}
	allocation->kernels[at].count++;
	allocation->kernels[at].ns += ns;
	return 0;
}

static bool ran_within(const struct ts_lifetimes_allocation *allocation, uint32_t session,
		       const struct ts_row_kernel *kernel)
{
	const struct ts_row_memory *memory = &allocation->row;

	if (session != allocation->session || kernel->end_ns <= memory->start_ns)
		return false;
	if (ts_memory_is_device(memory->memory_kind) && kernel->device != memory->device)
		return false;
	return kernel->start_ns < allocation->end_ns ||
	       (memory->async && kernel->op_id < allocation->free_op_id);
}

static int take_kernel(const struct ts_sbt_row *row, void *data)
{
	struct pass *pass = data;
	const struct ts_row_kernel *kernel = row->kernel;
	uint64_t ns = kernel->end_ns > kernel->start_ns ? kernel->end_ns - kernel->start_ns : 0;
	int r = 0;

	for (size_t i = 0; !r && i < pass->lifetimes->n_allocations; i++)
		if (ran_within(&pass->lifetimes->allocations[i], row->session, kernel))
			r = add_kernel(pass, i, kernel->name, ns);
	return r;
}

static int read_rows(struct pass *pass, struct ts_sbt_reader *reader, uint32_t session,
		     uint64_t types, int (*take)(const struct ts_sbt_row *, void *))
{
	const struct ts_sbt_cursor_options options = {.types = types, .session = session};
	const struct ts_row_search all = {.take = take, .data = pass};

	return ts_rows_search(reader, &options, &all, &pass->lifetimes->is_damaged);
}

static int compare_kernels(const void *a, const void *b)
{
	const struct ts_lifetimes_kernel *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

int ts_lifetimes_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t address,
		      struct ts_lifetimes **ret_lifetimes)
{
	ts_cleanup(ts_lifetimes_freep) struct ts_lifetimes *lifetimes =
		calloc(1, sizeof(*lifetimes));
	struct pass *pass = calloc(1, sizeof(*pass));
	int r = lifetimes && pass ? 0 : -ENOMEM;

	if (!r)
		lifetimes->allocations = calloc(TS_LIFETIMES_MAX, sizeof(*lifetimes->allocations));
	if (!r && !lifetimes->allocations)
		r = -ENOMEM;
	if (!r) {
		pass->lifetimes = lifetimes;
		pass->address = address;
		r = read_rows(pass, reader, session,
			      TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE), take_memory);
	}
	if (!r && lifetimes->n_allocations)
		r = read_rows(pass, reader, session, TS_ROW_BIT(TS_ROW_KERNEL), take_kernel);
	for (size_t i = 0; pass && i < TS_LIFETIMES_MAX; i++)
		ts_state_map_deinit(&pass->kernel_by_name[i]);
	free(pass);
	if (r)
		return r;
	for (size_t i = 0; i < lifetimes->n_allocations; i++)
		if (lifetimes->allocations[i].n_kernels)
			qsort(lifetimes->allocations[i].kernels,
			      lifetimes->allocations[i].n_kernels,
			      sizeof(*lifetimes->allocations[i].kernels), compare_kernels);
	*ret_lifetimes = lifetimes;
	lifetimes = NULL;
	return 0;
}
