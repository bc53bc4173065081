/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a running kernel: races by the happens-before relation, reads of unwritten memory, and
 * accesses out of bounds. The PTX engine calls this file as an observer (vgpu/ptx/observe.h); this
 * file calls cells.c, check-clocks.c, strays.c and findings.c.
 *
 * Each thread has a clock. Each thread also has a set of clocks of other threads: their accesses up
 * to these clocks happened before (check-clocks.h). Two things order threads:
 * - Barriers of a block or a warp.
 * - A strong read of an address to which a strong write has published the writer's set. A write
 *   publishes if it is a release, or if its thread has executed a fence before. After a barrier,
 *   the other threads may also publish the accesses before that fence.
 *
 * A strong read needs no fence after it to order the two threads. PTX requires the fence, but
 * programs omit it, so the check does not report a missing fence.
 *
 * A plain store of the value that memory already has does not race with the thread that stored the
 * value: several threads may set the same flag.
 */
#include "replay/check/check-internal.h"

#define WARP	     32u
#define MAX_BARRIERS 17u
#define READ_BITS    0u
#define WRITE_BITS   1u
#define STRONG_BITS  2u

/*
 * An allocation's padding extends from its end to the next multiple of this unit (ts_vgpu_reach()).
 */
#define MEMORY_UNIT_BYTES 512u

struct thread {
	struct ts_check_clocks *knows;
	/* the thread's set of clocks at its last fence; NULL: no fence yet */
	struct ts_check_clocks *fenced;
	uint32_t clock; /* starts at 1 */
};

struct barrier {
	struct ts_check_clocks *knows, *fenced;
	uint32_t waiting[TS_PTX_MAX_THREADS / WARP];
};

struct published {
	struct ts_check_clocks *knows;
};

struct ts_check_block {
	uint32_t first; /* number of the block's first thread */
	uint32_t n_threads;
	uint32_t shared_bytes;
	struct ts_check_cells cells; /* of shared memory */
	struct ts_map published;
	uint8_t *written; /* Shared memory: one bit per byte. NULL: not checked. */
	struct barrier barriers[MAX_BARRIERS];
	struct thread threads[];
};

/* A page with bits for its accessed bytes: read, written, strong. */
struct touched {
	uint64_t page;
	uint8_t bits[3][TS_CHECK_PAGE_BYTES / 8];
};

static void note_error(struct ts_check *check, int r)
{
	if (r == -E2BIG)
		check->n_unlooked++;
	else if (r && !check->error)
		check->error = r;
}

static void deinit_published(struct ts_map *map)
{
	TS_MAP_EACH (map, slot) {
		struct published *published = (void *)(uintptr_t)slot->value;

		ts_check_clocks_unref(published->knows);
		free(published);
	}
	ts_map_deinit(map);
}

/* Computes the side's block and thread indices from the number of a thread. */
static void place_thread(const struct ts_check_kernel *kernel, uint32_t number,
			 struct ts_check_side *side)
{
	const struct ts_ptx_launch *launch = kernel->launch;
	uint32_t block = number / kernel->block_threads, thread = number % kernel->block_threads;

	side->has_thread = true;
	side->block[0] = block % launch->grid[0];
	side->block[1] = block / launch->grid[0] % launch->grid[1];
	side->block[2] = block / launch->grid[0] / launch->grid[1];
	side->thread[0] = thread % launch->block[0];
	side->thread[1] = thread / launch->block[0] % launch->block[1];
	side->thread[2] = thread / launch->block[0] / launch->block[1];
}

static void place_instruction(const struct ts_check_kernel *kernel, uint32_t place,
			      struct ts_check_side *side)
{
	struct ts_ptx_site site;

	ts_ptx_image_site(kernel->image, place, &site);
	snprintf(side->function, sizeof(side->function), "%s", site.function);
	side->line = site.line;
	if (site.source_file)
		snprintf(side->source_file, sizeof(side->source_file), "%s", site.source_file);
	side->source_line = site.source_line;
}

static uint32_t number_of(const struct ts_check_kernel *kernel)
{
	return kernel->block->first + kernel->access->warp * WARP + kernel->lane;
}

/*
 * Returns a new finding for the current lane's access. Returns NULL if the finding is already
 * known, or if there are too many findings.
 */
static struct ts_check_finding *found(struct ts_check *check, enum ts_check_kind kind,
				      uint32_t other, uint64_t address)
{
	const struct ts_check_kernel *kernel = &check->kernel;
	const struct ts_ptx_access *access = kernel->access;
	struct ts_check_finding *finding = ts_check_found(check, kind, access->place, other, 0);

	if (!finding)
		return NULL;
	finding->is_shared = access->flags & TS_PTX_ACCESS_SHARED;
	finding->address = address;
	finding->bytes = access->bytes;
	finding->access.is_read = access->flags & TS_PTX_ACCESS_READ;
	finding->access.is_write = access->flags & TS_PTX_ACCESS_WRITE;
	finding->access.is_atomic = access->flags & TS_PTX_ACCESS_STRONG;
	place_instruction(kernel, access->place, &finding->access);
	place_thread(kernel, number_of(kernel), &finding->access);
	ts_check_locate(check, finding);
	return finding;
}

static bool is_ordered(void *userdata, const struct ts_check_trail *earlier)
{
	const struct ts_check *check = userdata;
	const struct ts_check_kernel *kernel = &check->kernel;
	const struct thread *thread =
		&kernel->block->threads[kernel->access->warp * WARP + kernel->lane];

	return ts_check_clocks_know(thread->knows, earlier->who, earlier->clock,
				    kernel->block_threads);
}

/* True if the later of two plain stores stores the value that memory already has. */
static bool is_same_value(const struct ts_check_kernel *kernel,
			  const struct ts_check_trail *earlier)
{
	const struct ts_ptx_access *access = kernel->access;
	uint32_t other = earlier->who - (kernel->block->first + access->warp * WARP);

	if (!access->values || access->bytes > TS_PTX_OBSERVED_BYTES)
		return false;
	/*
	 * Both lanes store by the same instruction, so memory still has an older value: compare the
	 * two stored values.
	 */
	if (earlier->what == access->place && other < kernel->lane &&
	    (access->lanes >> other & 1) && access->address[other] == access->address[kernel->lane])
		return !memcmp(access->values[other], access->values[kernel->lane], access->bytes);
	return !memcmp(access->host[kernel->lane], access->values[kernel->lane], access->bytes);
}

static void conflict(void *userdata, const struct ts_check_trail *earlier, uint32_t earlier_flags,
		     uint64_t address)
{
	struct ts_check *check = userdata;
	const struct ts_check_kernel *kernel = &check->kernel;
	struct ts_check_finding *finding;

	if ((earlier_flags & (TS_CHECK_WRITE | TS_CHECK_STRONG)) == TS_CHECK_WRITE &&
	    is_same_value(kernel, earlier))
		return;
	finding = found(check, TS_CHECK_FOUND_RACE, earlier->what, address);
	if (!finding)
		return;
	finding->earlier.sequence = finding->access.sequence;
	finding->earlier.op_id = finding->access.op_id;
	finding->earlier.is_read = earlier_flags & TS_CHECK_READ;
	finding->earlier.is_write = earlier_flags & TS_CHECK_WRITE;
	finding->earlier.is_atomic = earlier_flags & TS_CHECK_STRONG;
	place_instruction(kernel, earlier->what, &finding->earlier);
	place_thread(kernel, earlier->who, &finding->earlier);
}

/*
 * Returns the key's entry. If the map has none, adds one of n_bytes zeros. Entries are released
 * with free(). Returns NULL if memory is short.
 */
static void *get_or_add(struct ts_map *map, uint64_t key, size_t n_bytes)
{
	void *thing = ts_map_get_pointer(map, key);

	if (thing || ts_map_reserve(map, 1))
		return thing;
	thing = calloc(1, n_bytes);
	(void)ts_map_set_pointer(map, key, thing);
	return thing;
}

/* Adds the set of clocks published at the address to the thread's set. */
static void acquire(const struct ts_map *published, uint64_t address, struct thread *thread)
{
	const struct published *one = ts_map_get_pointer(published, address >> 2);

	if (one)
		ts_check_clocks_join(&thread->knows, one->knows);
}

static void publish(struct ts_check *check, struct ts_map *published, uint64_t address,
		    struct thread *thread, uint32_t number, bool releases)
{
	struct published *one;

	if (!releases && !thread->fenced)
		return;
	one = get_or_add(published, address >> 2, sizeof(*one));
	if (!one) {
		note_error(check, -ENOMEM);
		return;
	}
	ts_check_clocks_join(&one->knows, releases ? thread->knows : thread->fenced);
	if (!releases)
		return;
	ts_check_clocks_learn(&one->knows, TS_CHECK_THREAD, number, thread->clock,
			      check->kernel.block_threads);
	thread->clock++;
}

static void look_for_races(struct ts_check *check)
{
	struct ts_check_kernel *kernel = &check->kernel;
	const struct ts_ptx_access *access = kernel->access;
	struct ts_check_block *block = kernel->block;
	bool shared = access->flags & TS_PTX_ACCESS_SHARED;
	bool strong = access->flags & TS_PTX_ACCESS_STRONG;
	struct ts_map *published = shared ? &block->published : &kernel->published;
	struct thread *thread = &block->threads[access->warp * WARP + kernel->lane];
	uint64_t address = access->address[kernel->lane];
	struct ts_check_touch touch = {
		.flags = (access->flags & TS_PTX_ACCESS_READ ? TS_CHECK_READ : 0) |
			 (access->flags & TS_PTX_ACCESS_WRITE ? TS_CHECK_WRITE : 0) |
			 (strong ? TS_CHECK_STRONG : 0),
		.mine = {number_of(kernel), thread->clock, access->place},
		.userdata = check,
		.is_ordered = is_ordered,
		.conflict = conflict,
	};

	if (strong && (access->flags & TS_PTX_ACCESS_READ))
		acquire(published, address, thread);
	note_error(check, ts_check_cells_touch(shared ? &block->cells : &kernel->cells, address,
					       access->bytes, TS_CHECK_MAX_CELL_BYTES, &touch));
	if (strong && (access->flags & TS_PTX_ACCESS_WRITE))
		publish(check, published, address, thread, touch.mine.who,
			access->flags & TS_PTX_ACCESS_RELEASE);
}

static void look_for_unwritten(struct ts_check *check, struct ts_check_allocation *in)
{
	const struct ts_ptx_access *access = check->kernel.access;
	uint64_t address = access->address[check->kernel.lane], first;

	if ((access->flags & TS_PTX_ACCESS_READ) &&
	    !ts_check_is_written(in, address, access->bytes, &first)) {
		(void)found(check, TS_CHECK_FOUND_UNWRITTEN, 0, first);
		/* Report each byte only once. */
		ts_check_mark_written(in, address, access->bytes);
	}
	if (access->flags & TS_PTX_ACCESS_WRITE)
		ts_check_mark_written(in, address, access->bytes);
}

/*
 * Reports accesses to the padding after an allocation's end. The engine, like hardware, does not
 * fault for such accesses. Returns true if the access has bytes in the padding.
 */
static bool look_for_padding(struct ts_check *check, const struct ts_check_allocation *in)
{
	const struct ts_check_allocations *allocations = &check->allocations;
	const struct ts_ptx_access *access = check->kernel.access;
	uint64_t address = access->address[check->kernel.lane], end, first;
	const struct ts_check_allocation *next;

	if (!in)
		in = ts_check_allocation_before(allocations, address);
	if (!in || address + access->bytes <= in->address + in->bytes)
		return false;
	end = in->address + in->bytes;
	first = address > end ? address : end;
	next = ts_check_allocation_behind(allocations, in->address);
	/*
	 * The access is beyond the padding: in memory that kernels allocate, or in an adjacent
	 * mapping.
	 */
	if (first >= ts_align_up(end, MEMORY_UNIT_BYTES) || (next && next->address <= first))
		return false;
	(void)found(check, TS_CHECK_FOUND_OUT_OF_BOUNDS, 0, first);
	return true;
}

static bool look_for_shared_padding(struct ts_check *check)
{
	const struct ts_check_kernel *kernel = &check->kernel;
	uint64_t address = kernel->access->address[kernel->lane], end = kernel->block->shared_bytes;

	if (address + kernel->access->bytes <= end)
		return false;
	(void)found(check, TS_CHECK_FOUND_OUT_OF_BOUNDS, 0, address > end ? address : end);
	return true;
}

/*
 * Returns the allocation that the current access to global memory lies in. Returns NULL for memory
 * that kernels allocate, because `allocations` does not list it.
 */
static struct ts_check_allocation *allocation_of(struct ts_check *check)
{
	struct ts_check_kernel *kernel = &check->kernel;
	uint64_t address = kernel->access->address[kernel->lane];
	struct ts_check_allocation *in =
		kernel->last < check->allocations.n ? &check->allocations.all[kernel->last] : NULL;

	if (!in || address - in->address >= in->bytes)
		in = ts_check_allocation_at(&check->allocations, address);
	if (in)
		kernel->last = (uint32_t)(in - check->allocations.all);
	return in;
}

static void look_at_memory(struct ts_check *check)
{
	struct ts_check_kernel *kernel = &check->kernel;
	struct ts_check_allocation shared = {.bytes = UINT32_MAX,
					     .written = kernel->block->written};
	struct ts_check_allocation *in = &shared;
	bool is_shared = kernel->access->flags & TS_PTX_ACCESS_SHARED;

	if (!is_shared)
		in = allocation_of(check);
	if ((check->what & TS_CHECK_BOUNDS) &&
	    (is_shared ? look_for_shared_padding(check) : look_for_padding(check, in)))
		return;
	if (in && (check->what & TS_CHECK_INIT))
		look_for_unwritten(check, in);
	if (!is_shared && ts_check_strays_is_one(check, in, kernel->access->address[kernel->lane]))
		(void)found(check, TS_CHECK_FOUND_STRAY, 0, kernel->access->address[kernel->lane]);
}

static void touch_page(struct ts_check *check, uint64_t address, uint32_t n, uint32_t which)
{
	uint64_t number = address >> TS_CHECK_PAGE_SHIFT;
	uint32_t offset = address & (TS_CHECK_PAGE_BYTES - 1);
	struct touched *page = get_or_add(&check->kernel.touched, number, sizeof(*page));

	if (!page) {
		note_error(check, -ENOMEM);
		return;
	}
	page->page = number;
	for (uint32_t i = offset; i < offset + n; i++)
		page->bits[which][i / 8] |= (uint8_t)(1u << i % 8);
}

static void touch(struct ts_check *check)
{
	const struct ts_ptx_access *access = check->kernel.access;
	uint64_t address = access->address[check->kernel.lane];
	uint32_t which = access->flags & TS_PTX_ACCESS_STRONG  ? STRONG_BITS
			 : access->flags & TS_PTX_ACCESS_WRITE ? WRITE_BITS
							       : READ_BITS;

	for (uint32_t left = access->bytes; left;) {
		uint32_t n = TS_CHECK_PAGE_BYTES - (address & (TS_CHECK_PAGE_BYTES - 1));

		n = left < n ? left : n;
		touch_page(check, address, n, which);
		address += n;
		left -= n;
	}
}

static void on_access(void *userdata, void *block, const struct ts_ptx_access *access)
{
	struct ts_check *check = userdata;
	struct ts_check_kernel *kernel = &check->kernel;

	kernel->access = access;
	kernel->block = block;
	for (uint32_t left = access->lanes; left; left &= left - 1) {
		kernel->lane = (uint32_t)__builtin_ctz(left);
		if (check->what & (TS_CHECK_INIT | TS_CHECK_BOUNDS))
			look_at_memory(check);
		if ((check->what & TS_CHECK_RACES) && !kernel->too_large)
			look_for_races(check);
		if ((check->what & TS_CHECK_ORDER) && !(access->flags & TS_PTX_ACCESS_SHARED))
			touch(check);
	}
}

static void on_begin(void *userdata, const struct ts_ptx_launch *launch)
{
	struct ts_check *check = userdata;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

	threads = (threads + WARP - 1) / WARP * WARP;
	check->kernel = (struct ts_check_kernel){
		.launch = launch,
		.image = ts_ptx_kernel_image(launch->kernel),
		.block_threads = (uint32_t)threads,
		.too_large = blocks > UINT32_MAX / threads,
		.touched = check->kernel.touched,
		.reached = check->kernel.reached,
	};
	note_error(check, ts_check_strays_begin(check));
	check->n_unlooked += check->kernel.too_large;
}

static void on_end(void *userdata, const struct ts_ptx_fault *fault)
{
	struct ts_check *check = userdata;
	struct ts_check_finding *finding;

	if (fault && (check->what & TS_CHECK_BOUNDS) &&
	    (fault->kind == TS_PTX_FAULT_OUT_OF_BOUNDS || fault->kind == TS_PTX_FAULT_READ_ONLY)) {
		finding = ts_check_found(check, TS_CHECK_FOUND_OUT_OF_BOUNDS, fault->line, 0, 0);
		if (finding) {
			struct ts_check_side *side = &finding->access;

			finding->address = fault->address;
			finding->bytes = fault->bytes;
			finding->is_shared = fault->is_shared;
			side->is_write = fault->is_write;
			side->is_read = !fault->is_write;
			side->has_thread = true;
			memcpy(side->function, fault->function, sizeof(side->function));
			memcpy(side->source_file, fault->source_file, sizeof(side->source_file));
			memcpy(side->block, fault->block, sizeof(side->block));
			memcpy(side->thread, fault->thread, sizeof(side->thread));
			side->line = fault->line;
			side->source_line = fault->source_line;
			ts_check_locate(check, finding);
		}
	}
	ts_check_cells_deinit(&check->kernel.cells);
	deinit_published(&check->kernel.published);
	check->kernel.launch = NULL;
}

static void *on_block_begin(void *userdata, uint64_t index, uint32_t shared_bytes,
			    uint32_t reserved_bytes)
{
	struct ts_check *check = userdata;
	struct ts_check_kernel *kernel = &check->kernel;
	struct ts_check_block *block =
		calloc(1, sizeof(*block) + kernel->block_threads * sizeof(block->threads[0]));

	if (!block)
		return NULL;
	block->n_threads = kernel->block_threads;
	block->shared_bytes = shared_bytes;
	block->first = (uint32_t)(index * kernel->block_threads);
	for (uint32_t i = 0; i < block->n_threads; i++)
		block->threads[i].clock = 1;
	if (check->what & TS_CHECK_INIT) {
		/* Including the padding. */
		block->written = calloc((shared_bytes + MEMORY_UNIT_BYTES) / 8 + 1, 1);
		if (!block->written) {
			free(block);
			return NULL;
		}
		ts_check_mark_written(&(struct ts_check_allocation){.bytes = UINT32_MAX,
								    .written = block->written},
				      shared_bytes - reserved_bytes, reserved_bytes);
	}
	return block;
}

static void on_block_end(void *userdata, void *at)
{
	struct ts_check_block *block = at;

	(void)userdata;
	for (uint32_t i = 0; i < block->n_threads; i++) {
		ts_check_clocks_unref(block->threads[i].knows);
		ts_check_clocks_unref(block->threads[i].fenced);
	}
	for (uint32_t i = 0; i < MAX_BARRIERS; i++) {
		ts_check_clocks_unref(block->barriers[i].knows);
		ts_check_clocks_unref(block->barriers[i].fenced);
	}
	ts_check_cells_deinit(&block->cells);
	deinit_published(&block->published);
	free(block->written);
	free(block);
}

/*
 * Joins the sets and the own clocks of the lanes. If all lanes of a warp have the same clock, adds
 * one entry for the warp, so that a published set does not need one entry for each lane.
 */
static void gather(const struct ts_check *check, struct ts_check_block *block, uint32_t warp,
		   uint32_t lanes, struct ts_check_clocks **knows, struct ts_check_clocks **fenced)
{
	const uint32_t block_threads = check->kernel.block_threads;
	const struct thread *last = NULL;
	uint32_t first = block->first + warp * WARP, clock = 0;
	bool same = lanes == UINT32_MAX;

	for (uint32_t left = lanes; left; left &= left - 1) {
		struct thread *thread =
			&block->threads[warp * WARP + (uint32_t)__builtin_ctz(left)];

		same = same && (!clock || clock == thread->clock);
		clock = thread->clock;
		if (!last || last->knows != thread->knows)
			ts_check_clocks_join(knows, thread->knows);
		if (fenced && (!last || last->fenced != thread->fenced))
			ts_check_clocks_join(fenced, thread->fenced);
		last = thread;
	}
	if (same) {
		ts_check_clocks_learn(knows, TS_CHECK_WARP, first / WARP, clock, block_threads);
		return;
	}
	for (uint32_t left = lanes; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);

		ts_check_clocks_learn(knows, TS_CHECK_THREAD, first + lane,
				      block->threads[warp * WARP + lane].clock, block_threads);
	}
}

static void set(struct ts_check_clocks **to, struct ts_check_clocks *clocks)
{
	struct ts_check_clocks *old = *to;

	*to = ts_check_clocks_ref(clocks);
	ts_check_clocks_unref(old);
}

/* Gives all lanes the same set, and the same clock, later than the old clock of each. */
static void give(struct ts_check_block *block, uint32_t warp, uint32_t lanes,
		 struct ts_check_clocks *knows, struct ts_check_clocks *fenced)
{
	uint32_t clock = 0;

	for (uint32_t left = lanes; left; left &= left - 1) {
		const struct thread *thread =
			&block->threads[warp * WARP + (uint32_t)__builtin_ctz(left)];

		clock = thread->clock > clock ? thread->clock : clock;
	}
	for (uint32_t left = lanes; left; left &= left - 1) {
		struct thread *thread =
			&block->threads[warp * WARP + (uint32_t)__builtin_ctz(left)];

		set(&thread->knows, knows);
		set(&thread->fenced, fenced);
		thread->clock = clock + 1;
	}
}

/*
 * Treats the lanes that execute one fence together as one thread: each lane may publish the other
 * lanes' accesses before the fence.
 */
static void on_fence(void *userdata, void *at, uint32_t warp, uint32_t lanes)
{
	const struct ts_check *check = userdata;
	struct ts_check_block *block = at;
	struct ts_check_clocks *fenced = NULL;

	gather(check, block, warp, lanes, &fenced, NULL);
	for (uint32_t left = lanes; left; left &= left - 1) {
		struct thread *thread =
			&block->threads[warp * WARP + (uint32_t)__builtin_ctz(left)];

		set(&thread->fenced, fenced);
		thread->clock++;
	}
	ts_check_clocks_unref(fenced);
}

static void on_warp_sync(void *userdata, void *at, uint32_t warp, uint32_t lanes)
{
	struct ts_check_clocks *knows = NULL, *fenced = NULL;

	gather(userdata, at, warp, lanes, &knows, &fenced);
	give(at, warp, lanes, knows, fenced);
	ts_check_clocks_unref(knows);
	ts_check_clocks_unref(fenced);
}

static void on_arrive(void *userdata, void *at, uint32_t number, uint32_t warp, uint32_t lanes,
		      bool waits)
{
	struct ts_check_block *block = at;
	struct barrier *barrier = &block->barriers[number];

	gather(userdata, block, warp, lanes, &barrier->knows, &barrier->fenced);
	if (waits) {
		barrier->waiting[warp] |= lanes;
		return;
	}
	for (uint32_t left = lanes; left; left &= left - 1)
		block->threads[warp * WARP + (uint32_t)__builtin_ctz(left)].clock++;
}

/*
 * Adds one entry for the whole block to the barrier's set, with the latest clock of the block's
 * threads. All threads get this clock and count as arrived, ended threads too.
 */
static void know_block(const struct ts_check *check, struct ts_check_block *block,
		       struct barrier *barrier)
{
	uint32_t clock = 0;

	for (uint32_t i = 0; i < block->n_threads; i++)
		clock = block->threads[i].clock > clock ? block->threads[i].clock : clock;
	ts_check_clocks_learn(&barrier->knows, TS_CHECK_BLOCK,
			      block->first / check->kernel.block_threads, clock,
			      check->kernel.block_threads);
	for (uint32_t i = 0; i < block->n_threads; i++)
		block->threads[i].clock = clock;
	for (uint32_t warp = 0; warp < block->n_threads / WARP; warp++)
		barrier->waiting[warp] = UINT32_MAX;
}

static void on_complete(void *userdata, void *at, uint32_t number, bool all)
{
	struct ts_check_block *block = at;
	struct barrier *barrier = &block->barriers[number];

	if (all)
		know_block(userdata, block, barrier);
	for (uint32_t warp = 0; warp < block->n_threads / WARP; warp++)
		if (barrier->waiting[warp])
			give(block, warp, barrier->waiting[warp], barrier->knows, barrier->fenced);
	ts_check_clocks_unref(barrier->knows);
	ts_check_clocks_unref(barrier->fenced);
	*barrier = (struct barrier){0};
}

void ts_check_kernel_init(struct ts_check *check)
{
	check->observer = (struct ts_ptx_observer){
		.userdata = check,
		.begin = on_begin,
		.end = on_end,
		.block_begin = on_block_begin,
		.block_end = on_block_end,
		.access = on_access,
		.fence = on_fence,
		.warp_sync = on_warp_sync,
		.arrive = on_arrive,
		.complete = on_complete,
	};
}

static int touch_bits(struct ts_check *check, const struct touched *page, uint32_t which,
		      uint32_t flags)
{
	const uint8_t *bits = page->bits[which];
	uint64_t address = page->page << TS_CHECK_PAGE_SHIFT;
	uint32_t i = 0;
	int r = 0;

	while (!r && i < TS_CHECK_PAGE_BYTES) {
		uint32_t start;

		while (i < TS_CHECK_PAGE_BYTES && !(bits[i / 8] >> i % 8 & 1))
			i += bits[i / 8] ? 1 : 8 - i % 8;
		start = i;
		while (i < TS_CHECK_PAGE_BYTES && (bits[i / 8] >> i % 8 & 1))
			i++;
		if (i > start)
			r = ts_check_operations_touch(check, address + start, i - start, flags);
	}
	return r;
}

static int compare_pages(const void *a, const void *b)
{
	const struct touched *const *x = a, *const *y = b;

	return (*x)->page < (*y)->page ? -1 : (*x)->page > (*y)->page;
}

static int touch_pages(struct ts_check *check, struct touched **pages, size_t n_pages)
{
	int r = 0;

	for (size_t i = 0; !r && i < n_pages; i++) {
		r = touch_bits(check, pages[i], READ_BITS, TS_CHECK_READ);
		r = r ?: touch_bits(check, pages[i], WRITE_BITS, TS_CHECK_WRITE);
		r = r
			    ?: touch_bits(check, pages[i], STRONG_BITS,
					  TS_CHECK_READ | TS_CHECK_WRITE | TS_CHECK_STRONG);
	}
	return r;
}

static void deinit_touched(struct ts_map *touched)
{
	TS_MAP_EACH (touched, slot)
		free((void *)(uintptr_t)slot->value);
	ts_map_deinit(touched);
}

int ts_check_kernel_touched(struct ts_check *check)
{
	struct ts_map *touched = &check->kernel.touched;
	size_t n_pages = ts_map_count(touched);
	struct touched **pages = n_pages ? calloc(n_pages, sizeof(*pages)) : NULL;
	int r = n_pages ? -ENOMEM : 0;

	if (pages) {
		n_pages = 0;
		TS_MAP_EACH (touched, slot)
			pages[n_pages++] = (void *)(uintptr_t)slot->value;
		/*
		 * Sorts the pages by address, so that the order of findings is the same in each
		 * run.
		 */
		qsort(pages, n_pages, sizeof(*pages), compare_pages);
		r = touch_pages(check, pages, n_pages);
	}
	free(pages);
	deinit_touched(touched);
	return r;
}

void ts_check_kernel_deinit(struct ts_check_kernel *kernel)
{
	free(kernel->reached);
	deinit_touched(&kernel->touched);
}
