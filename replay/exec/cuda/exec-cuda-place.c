/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places memory at its captured addresses. exec-cuda.c calls this file at the start and end,
 * exec-cuda-memory.c for allocations.
 *
 * The driver chooses addresses itself and treats a requested address as a hint. So each address
 * passes through these states:
 *
 *	held       an empty mapping of this process, before the driver starts
 *	reserved   cuMemAddressReserve() after the start; its result is compared with the request
 *	backed     whole granules of device memory, from the first allocation in them to the last
 *
 * A range that is not available stays unreserved with a reason in `why`.
 */
#include "proto/abi/grow.h"
#include "replay/exec/cuda/exec-cuda-internal.h"

#include <sys/mman.h>

#define MAX_RANGES    16384u /* Linux allows 65530 mappings per process by default */
#define FIRST_ADDRESS (UINT64_C(1) << 16)
#define END_ADDRESS   (UINT64_C(1) << 47)

static uint64_t down(uint64_t address)
{
	return address & ~(TS_EXEC_CUDA_GRANULE - 1);
}

static uint64_t up(uint64_t address)
{
	return down(address + TS_EXEC_CUDA_GRANULE - 1);
}

static bool is_placeable(uint64_t address, uint64_t bytes)
{
	return address >= FIRST_ADDRESS && address < END_ADDRESS && bytes &&
	       bytes <= END_ADDRESS - address;
}

static int compare(const void *a, const void *b)
{
	const struct cuda_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int gather(struct cuda_state *state)
{
	const struct ts_exec_program *program = state->program;
	size_t n = 0, n_apart = 0;

	state->ranges = calloc(program->end + 1, sizeof(*state->ranges));
	if (!state->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < program->end; i++) {
		const struct ts_row_operation *operation = &program->operations[i];

		if (operation->kind == TS_OPERATION_ALLOC &&
		    is_placeable(operation->dst, operation->bytes))
			state->ranges[n++] =
				(struct cuda_range){.start = down(operation->dst),
						    .end = up(operation->dst + operation->bytes)};
	}
	qsort(state->ranges, n, sizeof(*state->ranges), compare);
	for (size_t i = 0; i < n; i++) {
		struct cuda_range *last = n_apart ? &state->ranges[n_apart - 1] : NULL;

		if (last && state->ranges[i].start <= last->end) {
			if (state->ranges[i].end > last->end)
				last->end = state->ranges[i].end;
		} else {
			state->ranges[n_apart++] = state->ranges[i];
		}
	}
	state->n_ranges = n_apart;
	return 0;
}

int ts_exec_cuda_hold(struct cuda_state *state)
{
	int r = gather(state);

	for (size_t i = 0; !r && i < state->n_ranges; i++) {
		struct cuda_range *range = &state->ranges[i];
		void *wanted = (void *)(uintptr_t)range->start, *got;

		range->why = i < MAX_RANGES ? NULL
					    : "the capture has too many separate ranges of "
					      "memory";
		if (range->why)
			continue;
		got = mmap(wanted, range->end - range->start, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			   0);
		range->is_held = got == wanted;
		if (range->is_held)
			continue;
		/*
		 * A Linux kernel without MAP_FIXED_NOREPLACE treats the address as a hint, so
		 * compare the result.
		 */
		if (got != MAP_FAILED)
			munmap(got, range->end - range->start);
		range->why = "this process already uses that address";
	}
	return r;
}

void ts_exec_cuda_let_go(struct cuda_state *state)
{
	for (size_t i = 0; i < state->n_ranges; i++)
		if (state->ranges[i].is_held) {
			munmap((void *)(uintptr_t)state->ranges[i].start,
			       state->ranges[i].end - state->ranges[i].start);
			state->ranges[i].is_held = false;
		}
}

void ts_exec_cuda_reserve(struct cuda_state *state)
{
	const struct ts_exec_cuda_driver *driver = &state->driver;

	for (size_t i = 0; i < state->n_ranges; i++) {
		struct cuda_range *range = &state->ranges[i];
		uint64_t bytes = range->end - range->start, got = 0;

		if (range->is_held)
			munmap((void *)(uintptr_t)range->start, bytes);
		range->is_held = false;
		if (range->why)
			continue;
		if (driver->reserve(&got, bytes, 0, range->start, 0)) {
			range->why = "the driver cannot reserve that address";
		} else if (got != range->start) {
			(void)driver->unreserve(got, bytes);
			range->why = "the driver reserved another address than the requested one";
		}
	}
}

static void unmap(struct cuda_state *state, const struct cuda_block *block)
{
	(void)state->driver.unmap(block->start, block->bytes);
	(void)state->driver.memory_release(block->handle);
}

void ts_exec_cuda_unreserve(struct cuda_state *state)
{
	for (size_t i = 0; i < state->n_blocks; i++)
		unmap(state, &state->blocks[i]);
	state->n_blocks = 0;
	for (size_t i = 0; i < state->n_ranges; i++)
		if (!state->ranges[i].why)
			(void)state->driver.unreserve(state->ranges[i].start,
						      state->ranges[i].end -
							      state->ranges[i].start);
	state->n_ranges = 0;
}

/* Returns the index of the first block that ends after the address, or the number of blocks. */
static size_t first_past(const struct cuda_state *state, uint64_t address)
{
	size_t low = 0, high = state->n_blocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->blocks[middle].start + state->blocks[middle].bytes > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Gives access to the block to its own device and to each other device that can have access. */
static int let_reach(struct cuda_state *state, struct cuda_block *block, uint32_t device)
{
	struct ts_cu_mem_access_desc who = {
		{TS_CU_MEM_LOCATION_TYPE_DEVICE, (int32_t)device},
		TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	int r = state->driver.set_access(block->start, block->bytes, &who, 1);

	if (r)
		return r;
	block->devices = 1u << device;
	for (uint32_t i = 0; i < state->n_devices; i++) {
		who.location.id = (int32_t)i;
		if (i != device && !state->driver.set_access(block->start, block->bytes, &who, 1))
			block->devices |= 1u << i;
	}
	return 0;
}

static int insert(struct cuda_state *state, size_t i, const struct cuda_block *block)
{
	if (TS_GROW(state->blocks, state->block_capacity, state->n_blocks + 1))
		return -ENOMEM;
	memmove(&state->blocks[i + 1], &state->blocks[i],
		(state->n_blocks - i) * sizeof(*state->blocks));
	state->blocks[i] = *block;
	state->n_blocks++;
	return 0;
}

/* Maps new device memory as block `i`. */
static int back(struct cuda_state *state, const struct ts_exec_io *io, uint32_t device, size_t i,
		uint64_t start, uint64_t bytes)
{
	const struct ts_cu_mem_allocation_prop what = {
		.type = TS_CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {TS_CU_MEM_LOCATION_TYPE_DEVICE, (int32_t)device},
	};
	struct cuda_block block = {.start = start, .bytes = bytes};
	int r = ts_exec_cuda_result(state, io,
				    state->driver.memory_new(&block.handle, bytes, &what, 0));

	if (r)
		return r;
	r = ts_exec_cuda_result(state, io, state->driver.map(start, bytes, 0, block.handle, 0));
	if (r) {
		(void)state->driver.memory_release(block.handle);
		return r;
	}
	r = ts_exec_cuda_result(state, io, let_reach(state, &block, device));
	r = r ?: insert(state, i, &block);
	if (r)
		unmap(state, &block);
	return r;
}

static const struct cuda_range *range_of(const struct cuda_state *state, uint64_t address)
{
	size_t low = 0, high = state->n_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->ranges[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < state->n_ranges && state->ranges[low].start <= address ? &state->ranges[low]
									    : NULL;
}

/* Unmaps the unused blocks of a range. */
static void sweep(struct cuda_state *state, uint64_t start, uint64_t end)
{
	size_t i = first_past(state, start), to = i;

	for (; i < state->n_blocks && state->blocks[i].start < end; i++) {
		if (state->blocks[i].n_users)
			state->blocks[to++] = state->blocks[i];
		else
			unmap(state, &state->blocks[i]);
	}
	if (to == i)
		return;
	memmove(&state->blocks[to], &state->blocks[i],
		(state->n_blocks - i) * sizeof(*state->blocks));
	state->n_blocks -= i - to;
}

int ts_exec_cuda_place(struct cuda_state *state, const struct ts_exec_io *io, uint32_t device,
		       uint64_t address, uint64_t bytes, const char **ret_why)
{
	const struct cuda_range *range = range_of(state, address);
	uint64_t start = down(address), end, at;
	size_t first;
	int r = 0;

	if (!is_placeable(address, bytes) || !range || range->why) {
		*ret_why = range && range->why ? range->why
					       : "no process can have memory at that address";
		return 0;
	}
	*ret_why = NULL;
	end = up(address + bytes);
	first = first_past(state, start);
	at = start;
	for (size_t i = first; !r && at < end; i++) {
		const struct cuda_block *block = i < state->n_blocks ? &state->blocks[i] : NULL;
		uint64_t next = block && block->start < end ? block->start : end;

		if (next > at) {
			r = back(state, io, device, i, at, next - at);
			at = next;
			continue;
		}
		if (!(block->devices & 1u << device))
			*ret_why = "the same memory block holds memory of a device that this "
				   "device cannot access";
		at = block->start + block->bytes;
	}
	if (r || *ret_why) {
		sweep(state, start, end);
		return r;
	}
	for (size_t i = first; i < state->n_blocks && state->blocks[i].start < end; i++)
		state->blocks[i].n_users++;
	return 0;
}

void ts_exec_cuda_displace(struct cuda_state *state, uint64_t address, uint64_t bytes)
{
	uint64_t start = down(address), end = up(address + bytes);

	for (size_t i = first_past(state, start);
	     i < state->n_blocks && state->blocks[i].start < end; i++)
		state->blocks[i].n_users--;
	sweep(state, start, end);
}
