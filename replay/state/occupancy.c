/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the theoretical occupancy of launches and sums it by kernel name and by device.
 * replay/report and state-engines.c call this file; this file reads rows through sbt. A trace may
 * hold millions of launches. For each kernel name the module keeps the last configuration and its
 * result, and computes again only if the configuration changes.
 */
#include "replay/state/occupancy.h"

#include "proto/abi/grow.h"
#include "replay/state/overview/passes.h"
#include "replay/state/state-map.h"
#include "sbt/slices.h"
#include "sbt/tap.h"

#include <errno.h>
#include <stdlib.h>

#define NONE TS_STATE_MAP_NONE
/* Since compute capability 3.0. */
#define REGISTER_UNIT 256u
#define MAX_THREADS   1024u
/* Since compute capability 8.0, the system reserves this much shared memory per block. */
#define RESERVED_SHARED	   1024u
#define SHARED_UNIT	   128u
#define SHARED_UNIT_BEFORE 256u

const char *ts_occupancy_limit_name(uint32_t limit)
{
	static const char *const names[TS_OCCUPANCY_LIMITS] = {
		[TS_OCCUPANCY_UNKNOWN] = "unknown",	[TS_OCCUPANCY_FULL] = "full",
		[TS_OCCUPANCY_REGISTERS] = "registers", [TS_OCCUPANCY_SHARED] = "shared_memory",
		[TS_OCCUPANCY_WARPS] = "block_size",	[TS_OCCUPANCY_BLOCKS] = "blocks",
		[TS_OCCUPANCY_GRID] = "grid",
	};

	return limit < TS_OCCUPANCY_LIMITS ? names[limit] : NULL;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint64_t by_registers(const struct ts_row_device *device, const struct ts_row_kernel *kernel,
			     uint64_t warps)
{
	uint64_t parts =
		device->compute_capability_major == 6 && !device->compute_capability_minor ? 2 : 4;
	uint64_t each = round_up((uint64_t)kernel->registers_per_thread * device->threads_per_warp,
				 REGISTER_UNIT);

	/*
	 * Each partition of a multiprocessor has its own registers, and a warp stays in one
	 * partition.
	 */
	return each ? device->max_registers_per_multiprocessor / parts / each * parts / warps
		    : UINT32_MAX;
}

static uint64_t by_shared(const struct ts_row_device *device, const struct ts_row_kernel *kernel)
{
	bool is_recent = device->compute_capability_major >= 8;
	uint64_t each = (uint64_t)kernel->static_shared_bytes + kernel->dynamic_shared_bytes +
			(is_recent ? RESERVED_SHARED : 0);

	each = round_up(each, is_recent ? SHARED_UNIT : SHARED_UNIT_BEFORE);
	return each ? device->max_shared_bytes_per_multiprocessor / each : UINT32_MAX;
}

static bool limits_are_known(const struct ts_row_device *device)
{
	return device->compute_capability_major >= 3 && device->threads_per_warp &&
	       device->n_multiprocessors && device->max_warps_per_multiprocessor &&
	       device->max_blocks_per_multiprocessor && device->max_registers_per_multiprocessor &&
	       device->max_shared_bytes_per_multiprocessor;
}

static bool product(const uint32_t factors[3], double *ret)
{
	*ret = (double)factors[0] * factors[1] * factors[2];
	return factors[0] && factors[1] && factors[2];
}

bool ts_occupancy_of(const struct ts_row_device *device, const struct ts_row_kernel *kernel,
		     struct ts_occupancy *ret_occupancy)
{
	const uint32_t block[] = {kernel->block_x, kernel->block_y, kernel->block_z};
	const uint32_t grid[] = {kernel->grid_x, kernel->grid_y, kernel->grid_z};
	double threads, blocks, at_once;
	uint64_t warps, fits, limits[TS_OCCUPANCY_LIMITS];
	uint32_t limit = TS_OCCUPANCY_REGISTERS;

	*ret_occupancy = (struct ts_occupancy){0};
	if (!device || !limits_are_known(device) || !product(block, &threads) ||
	    !product(grid, &blocks) || threads > MAX_THREADS)
		return false;
	warps = round_up((uint64_t)threads, device->threads_per_warp) / device->threads_per_warp;
	limits[TS_OCCUPANCY_REGISTERS] = by_registers(device, kernel, warps);
	limits[TS_OCCUPANCY_SHARED] = by_shared(device, kernel);
	limits[TS_OCCUPANCY_WARPS] = device->max_warps_per_multiprocessor / warps;
	limits[TS_OCCUPANCY_BLOCKS] = device->max_blocks_per_multiprocessor;
	for (uint32_t i = limit + 1; i < TS_OCCUPANCY_GRID; i++)
		if (limits[i] < limits[limit])
			limit = i;
	fits = limits[limit];
	/*
	 * The kernel ran, so at least one block fits. If the computation says otherwise, a recorded
	 * number is wrong.
	 */
	if (!fits)
		return false;
	ret_occupancy->blocks = (uint32_t)fits;
	ret_occupancy->warps = (uint32_t)(fits * warps);
	ret_occupancy->share =
		(double)(fits * warps) / (double)device->max_warps_per_multiprocessor;
	ret_occupancy->limit =
		fits * warps == device->max_warps_per_multiprocessor ? TS_OCCUPANCY_FULL : limit;
	at_once = (double)fits * device->n_multiprocessors;
	ret_occupancy->waves = blocks / at_once;
	if (blocks < at_once) {
		ret_occupancy->share *= blocks / at_once;
		ret_occupancy->limit = TS_OCCUPANCY_GRID;
	}
	return true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/*
 * Sums of products of a number and a weight. Fractions count in units of 2^-62, so the order of the
 * additions does not change a sum.
 */
struct fixed {
	uint64_t whole, fraction;
};

struct weighted {
	unsigned __int128 whole, fraction;
};

struct group {
	struct ts_occupancy_sum sum; /* without `share` and `waves` */
	struct weighted share, waves;
	struct ts_row_kernel last;
	struct ts_occupancy occupancy;
	struct fixed share_now, waves_now; /* of `occupancy` */
	uint32_t session;		   /* of `last` */
	bool is_known, has_last;
};

struct groups {
	struct group *groups;
	size_t n, n_allocated;
	struct ts_state_map by_key;
	uint32_t last_session, last_key, last_at; /* the last found group; n 0: none */
};

struct ts_occupancy_pass {
	struct ts_sbt_reader *reader;
	struct groups kernels, devices;
};

static void groups_deinit(struct groups *groups)
{
	free(groups->groups);
	ts_state_map_deinit(&groups->by_key);
}

void ts_occupancy_pass_free(struct ts_occupancy_pass *pass)
{
	if (!pass)
		return;
	groups_deinit(&pass->kernels);
	groups_deinit(&pass->devices);
	free(pass);
}

int ts_occupancy_pass_new(struct ts_sbt_reader *reader, struct ts_occupancy_pass **ret_pass)
{
	struct ts_occupancy_pass *pass = calloc(1, sizeof(*pass));

	if (!pass)
		return -ENOMEM;
	pass->reader = reader;
	*ret_pass = pass;
	return 0;
}

void ts_occupancies_free(struct ts_occupancies *occupancies)
{
	if (!occupancies)
		return;
	free(occupancies->kernels);
	free(occupancies->devices);
	free(occupancies);
}

/*
 * Finds or adds the group of a key, which is a kernel's name or a device. *ret_group is NULL if
 * there are already TS_OCCUPANCY_MAX_SUMS groups.
 */
static int find_group(struct groups *groups, uint32_t session, uint32_t key,
		      struct group **ret_group)
{
	uint32_t at = groups->last_at;
	int r;

	*ret_group = NULL;
	if (!groups->n || groups->last_key != key || groups->last_session != session)
		at = ts_state_map_find(&groups->by_key, session, key);
	if (at == NONE) {
		if (groups->n == TS_OCCUPANCY_MAX_SUMS)
			return 0;
		if (TS_GROW(groups->groups, groups->n_allocated, groups->n + 1))
			return -ENOMEM;
		at = (uint32_t)groups->n;
		r = ts_state_map_set(&groups->by_key, session, key, at);
		if (r)
			return r;
		groups->groups[groups->n++] = (struct group){.sum = {.share_min = 1}};
	}
	groups->last_session = session;
	groups->last_key = key;
	groups->last_at = at;
	*ret_group = &groups->groups[at];
	return 0;
}

static bool is_configured_alike(const struct ts_row_kernel *a, const struct ts_row_kernel *b)
{
	return a->device == b->device && a->grid_x == b->grid_x && a->grid_y == b->grid_y &&
	       a->grid_z == b->grid_z && a->block_x == b->block_x && a->block_y == b->block_y &&
	       a->block_z == b->block_z && a->static_shared_bytes == b->static_shared_bytes &&
	       a->dynamic_shared_bytes == b->dynamic_shared_bytes &&
	       a->registers_per_thread == b->registers_per_thread;
}

static struct fixed to_fixed(double number)
{
	uint64_t whole = number < 0x1p63 ? (uint64_t)number : UINT64_C(1) << 63;

	return (struct fixed){whole,
			      number < 0x1p63 ? (uint64_t)((number - (double)whole) * 0x1p62) : 0};
}

static void add_weighted(struct weighted *to, const struct fixed *number, uint64_t weight)
{
	if (number->whole)
		to->whole += (unsigned __int128)number->whole * weight;
	to->fraction += (unsigned __int128)number->fraction * weight;
}

static double sum_of(const struct weighted *sum)
{
	return (double)sum->whole + (double)sum->fraction * 0x1p-62;
}

/* Adds a launch of `kernel` to a sum. */
static void add(struct group *group, const struct group *kernel, uint64_t ns)
{
	const struct ts_occupancy *occupancy = &kernel->occupancy;
	struct ts_occupancy_sum *sum = &group->sum;
	/* A kernel of length 0 has weight 1, the smallest time that the clock resolves. */
	uint64_t weight = ns ? ns : 1;

	sum->count++;
	sum->ns += ns;
	if (!kernel->is_known)
		return;
	sum->known_count++;
	sum->known_ns += ns;
	add_weighted(&group->share, &kernel->share_now, weight);
	add_weighted(&group->waves, &kernel->waves_now, weight);
	sum->limit_ns[occupancy->limit] += (double)weight;
	if (occupancy->share < sum->share_min)
		sum->share_min = occupancy->share;
	if (occupancy->share > sum->share_max)
		sum->share_max = occupancy->share;
}

int ts_occupancy_pass_take(struct ts_occupancy_pass *pass, uint32_t session,
			   const struct ts_row_kernel *row)
{
	uint64_t ns = row->end_ns > row->start_ns ? row->end_ns - row->start_ns : 0;
	struct group *kernel, *device;
	int r = find_group(&pass->kernels, 0, row->name, &kernel);

	if (!r)
		r = find_group(&pass->devices, session, row->device, &device);
	if (r || !kernel || !device)
		return r;
	kernel->sum.name = row->name;
	device->sum.session = session;
	device->sum.device = row->device;
	if (!kernel->has_last || kernel->session != session ||
	    !is_configured_alike(&kernel->last, row)) {
		kernel->is_known =
			ts_occupancy_of(ts_sbt_reader_device(pass->reader, session, row->device),
					row, &kernel->occupancy);
		kernel->share_now = to_fixed(kernel->is_known ? kernel->occupancy.share : 0);
		kernel->waves_now = to_fixed(kernel->is_known ? kernel->occupancy.waves : 0);
		kernel->last = *row;
		kernel->session = session;
		kernel->has_last = true;
	}
	add(kernel, kernel, ns);
	add(device, kernel, ns);
	return 0;
}

static int join_groups(struct groups *all, const struct groups *groups, bool is_kernel)
{
	for (size_t i = 0; i < groups->n; i++) {
		const struct group *group = &groups->groups[i];
		const struct ts_occupancy_sum *sum = &group->sum;
		struct group *to;
		int r = find_group(all, is_kernel ? 0 : sum->session,
				   is_kernel ? sum->name : sum->device, &to);

		if (r || !to)
			return r ? r : TS_SEGMENTS_NONE;
		to->sum.name = sum->name;
		to->sum.session = sum->session;
		to->sum.device = sum->device;
		to->sum.count += sum->count;
		to->sum.ns += sum->ns;
		to->sum.known_count += sum->known_count;
		to->sum.known_ns += sum->known_ns;
		to->share.whole += group->share.whole;
		to->share.fraction += group->share.fraction;
		to->waves.whole += group->waves.whole;
		to->waves.fraction += group->waves.fraction;
		for (uint32_t limit = 0; limit < TS_OCCUPANCY_LIMITS; limit++)
			to->sum.limit_ns[limit] += sum->limit_ns[limit];
		if (sum->share_min < to->sum.share_min)
			to->sum.share_min = sum->share_min;
		if (sum->share_max > to->sum.share_max)
			to->sum.share_max = sum->share_max;
	}
	return 0;
}

int ts_occupancy_pass_join(struct ts_occupancy_pass *all, const struct ts_occupancy_pass *pass)
{
	int r = join_groups(&all->kernels, &pass->kernels, true);

	return r ? r : join_groups(&all->devices, &pass->devices, false);
}

/* A pass over the kernels of a window, by one thread or by several. */
struct kernel_reader {
	struct ts_occupancy_pass *pass;
	const struct ts_sbt_cursor_options *rows;
};

/* The tap of the cursor: the thread that reads ahead makes the sums. */
static int take_kernel(const struct ts_sbt_row *row, void *data)
{
	const struct kernel_reader *reader = data;

	return row->kernel->start_ns >= reader->rows->from_ns
		       ? ts_occupancy_pass_take(reader->pass, row->session, row->kernel)
		       : 0;
}

static int read_kernels(struct kernel_reader *reader, bool *ret_damaged)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader->pass->reader, reader->rows, &cursor);

	if (!r)
		ts_sbt_cursor_tap(cursor, take_kernel, reader);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			*ret_damaged = true;
			r = 0;
		}
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* Called in threads. A part is the pass of a slice. */
static int read_slice(void *part, const struct ts_slice *slice, void *data)
{
	const struct kernel_reader *all = data;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_occupancy_pass **pass = part;
	struct kernel_reader reader = {.rows = all->rows};
	struct ts_sbt_row row;
	int r = ts_occupancy_pass_new(ts_slice_reader(slice), pass);

	reader.pass = *pass;
	r = r ? r : ts_slice_cursor(slice, all->rows, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		r = r ? r : take_kernel(&row, &reader);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int merge_slice(void *part, void *data)
{
	struct ts_occupancy_pass **pass = part;
	const struct kernel_reader *all = data;

	return ts_occupancy_pass_join(all->pass, *pass);
}

static void deinit_slice(void *part)
{
	ts_occupancy_pass_freep(part);
}

/* Sums the slices of the window in threads. *ret_is_done is false if one thread has to sum all. */
static int read_slices(struct kernel_reader *reader, bool *ret_is_done)
{
	const struct ts_slices_work work = {.part_bytes = sizeof(struct ts_occupancy_pass *),
					    .run = read_slice,
					    .merge = merge_slice,
					    .part_deinit = deinit_slice,
					    .data = reader};
	ts_cleanup(ts_slices_freep) struct ts_slices *slices = NULL;
	int r = ts_slices_new(reader->pass->reader, reader->rows, &slices);

	if (r || !slices)
		return r;
	r = ts_slices_run(slices, &work);
	*ret_is_done = !r;
	/* Damage loses the same rows as ever, and so does the limit of sums. */
	return r > 0 || r == -EAGAIN ? 0 : r;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct ts_occupancy_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int compare_devices(const void *a, const void *b)
{
	const struct ts_occupancy_sum *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static int take(struct groups *groups, int (*compare)(const void *, const void *),
		struct ts_occupancy_sum **ret_sums, size_t *ret_n)
{
	struct ts_occupancy_sum *sums = calloc(groups->n + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < groups->n; i++) {
		double weight = 0;

		sums[i] = groups->groups[i].sum;
		for (uint32_t limit = 0; limit < TS_OCCUPANCY_LIMITS; limit++) {
			weight += sums[i].limit_ns[limit];
			if (sums[i].limit_ns[limit] > sums[i].limit_ns[sums[i].limit])
				sums[i].limit = limit;
		}
		sums[i].share = weight > 0 ? sum_of(&groups->groups[i].share) / weight : 0;
		sums[i].waves = weight > 0 ? sum_of(&groups->groups[i].waves) / weight : 0;
		if (!sums[i].known_count)
			sums[i].share_min = 0;
	}
	if (groups->n)
		qsort(sums, groups->n, sizeof(*sums), compare);
	*ret_sums = sums;
	*ret_n = groups->n;
	return 0;
}

int ts_occupancy_pass_finish(struct ts_occupancy_pass *pass, bool is_damaged,
			     struct ts_occupancies **ret_occupancies)
{
	ts_cleanup(ts_occupancies_freep) struct ts_occupancies *occupancies =
		calloc(1, sizeof(*occupancies));
	int r = occupancies ? 0 : -ENOMEM;

	r = r ? r
	      : take(&pass->kernels, compare_kernels, &occupancies->kernels,
		     &occupancies->n_kernels);
	r = r ? r
	      : take(&pass->devices, compare_devices, &occupancies->devices,
		     &occupancies->n_devices);
	if (r)
		return r;
	occupancies->is_damaged = is_damaged;
	*ret_occupancies = ts_take_ptr(occupancies);
	return 0;
}

int ts_occupancies_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
			uint64_t to_ns, struct ts_occupancies **ret_occupancies)
{
	const struct ts_sbt_cursor_options rows = {.types = TS_ROW_BIT(TS_ROW_KERNEL),
						   .session = session,
						   .from_ns = from_ns,
						   .to_ns = to_ns};
	ts_cleanup(ts_occupancy_pass_freep) struct ts_occupancy_pass *sliced = NULL, *alone = NULL;
	struct kernel_reader all = {.rows = &rows};
	bool is_damaged = false, is_done = false;
	int r = ts_occupancy_pass_new(reader, &sliced);

	all.pass = sliced;
	r = r ? r : read_slices(&all, &is_done);
	if (r || is_done)
		return r ? r : ts_occupancy_pass_finish(sliced, false, ret_occupancies);
	r = ts_occupancy_pass_new(reader, &alone);
	all.pass = alone;
	r = r ? r : read_kernels(&all, &is_damaged);
	return r ? r : ts_occupancy_pass_finish(alone, is_damaged, ret_occupancies);
}
