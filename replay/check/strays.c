/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds strays: accesses to allocated memory to which the kernel has no pointer. An example is an
 * index that runs from one allocation into another. check-kernel.c calls this file.
 *
 * To avoid false findings, each of these words counts as a pointer: the words of the kernel's
 * arguments, each word of memory that the kernel has read, and the addresses of the module's
 * variables. The words that the module's constants hold when the kernel starts count as well; if
 * they cannot be read, the kernel is not checked.
 */
#include "replay/check/check-internal.h"

#define MAX_BIAS_BYTES 64u

static bool is_beside(const struct ts_check_allocation *one, const struct ts_check_allocation *next)
{
	return one->is_mapped && next->is_mapped && one->address + one->bytes == next->address;
}

/*
 * Marks an allocation as reachable, and all mappings adjacent to it: together they are one range of
 * addresses.
 */
static void reach(struct ts_check *check, const struct ts_check_allocation *allocation)
{
	const struct ts_check_allocations *allocations = &check->allocations;
	bool *reached = check->kernel.reached;
	size_t first, last;

	if (!allocation || reached[allocation - allocations->all])
		return;
	first = last = (size_t)(allocation - allocations->all);
	while (first && is_beside(&allocations->all[first - 1], &allocations->all[first]))
		first--;
	while (last + 1 < allocations->n &&
	       is_beside(&allocations->all[last], &allocations->all[last + 1]))
		last++;
	for (size_t i = first; i <= last; i++)
		reached[i] = true;
}

/*
 * Marks the allocations that the pointer may belong to as reachable. The pointer may lie in its
 * allocation, at its end, or slightly before its start. An array that counts from 1 has a pointer
 * one element before its start; this address may lie in the adjacent allocation. If the pointer
 * lies neither in an allocation nor at the end of one, marks the nearest one.
 */
static void reach_by(struct ts_check *check, uint64_t pointer)
{
	const struct ts_check_allocations *allocations = &check->allocations;
	const struct ts_check_allocation *at = ts_check_allocation_at(allocations, pointer);
	const struct ts_check_allocation *before = ts_check_allocation_at(allocations, pointer - 1);
	const struct ts_check_allocation *behind = ts_check_allocation_behind(allocations, pointer);

	reach(check, at);
	reach(check, before);
	if (behind && behind->address - pointer <= MAX_BIAS_BYTES)
		reach(check, behind);
	if (!at && !before)
		reach(check, ts_check_allocation_near(allocations, pointer));
}

static bool looks_like_one(const struct ts_check *check, uint64_t pointer)
{
	const struct ts_check_allocations *allocations = &check->allocations;
	const struct ts_check_allocation *last = &allocations->all[allocations->n - 1];
	uint64_t slack = UINT64_C(1) << 20;

	return pointer + slack >= allocations->all[0].address &&
	       pointer <= last->address + last->bytes + slack;
}

static void reach_words(struct ts_check *check, const uint8_t *bytes, size_t n, size_t step)
{
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= n; i += step) {
		memcpy(&word, bytes + i, sizeof(word));
		if (looks_like_one(check, word))
			reach_by(check, word);
	}
}

/*
 * Treats the words of the constant as pointers of the kernel. The observer does not see reads of
 * constant memory, but constants do not change while the kernel runs. Returns false if the
 * constants cannot be read.
 */
static bool reach_constant(struct ts_check *check, const struct ts_ptx_variable *variable)
{
	/* Kernels read pointers as aligned words. */
	uint64_t skip = -variable->address & 7, n = variable->bytes;
	const uint8_t *bytes;

	if (n < skip + sizeof(uint64_t))
		return true;
	bytes = check->memory ? check->memory(check->memory_userdata, variable->address, n) : NULL;
	if (bytes)
		reach_words(check, bytes + skip, n - skip, sizeof(uint64_t));
	return bytes;
}

int ts_check_strays_begin(struct ts_check *check)
{
	struct ts_check_kernel *kernel = &check->kernel;
	size_t n = check->allocations.n;
	struct ts_ptx_variable variable;
	bool *reached;

	kernel->knows_pointers = false;
	if (!(check->what & TS_CHECK_BOUNDS) || !n)
		return 0;
	reached = realloc(kernel->reached, n * sizeof(*reached));
	if (!reached)
		return -ENOMEM;
	memset(reached, 0, n * sizeof(*reached));
	kernel->reached = reached;
	for (size_t i = 0; i < ts_ptx_image_n_variables(kernel->image); i++) {
		ts_ptx_image_variable(kernel->image, i, &variable);
		if (variable.constant && !reach_constant(check, &variable))
			return 0;
		reach(check, ts_check_allocation_at(&check->allocations, variable.address));
	}
	reach_words(check, kernel->launch->params, kernel->launch->params_bytes, 1);
	kernel->knows_pointers = true;
	return 0;
}

bool ts_check_strays_is_one(struct ts_check *check, const struct ts_check_allocation *in,
			    uint64_t address)
{
	const struct ts_check_kernel *kernel = &check->kernel;
	const struct ts_ptx_access *access = kernel->access;
	uint64_t first = address & ~UINT64_C(7), end = (address + access->bytes + 7) & ~UINT64_C(7);

	if (!kernel->knows_pointers)
		return false;
	if (in && !kernel->reached[in - check->allocations.all])
		return true;
	if (!(access->flags & TS_PTX_ACCESS_READ))
		return false;
	/*
	 * Memory that kernels allocate begins and ends at aligned words, so only other allocations
	 * need clipping.
	 */
	if (in && first < in->address)
		first += 8;
	if (in && end > in->address + in->bytes)
		end -= 8;
	if (first < end)
		reach_words(check, access->host[kernel->lane] + (first - address),
			    (size_t)(end - first), 8);
	return false;
}
