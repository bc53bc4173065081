/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates and frees the checks, and handles reads and writes of whole operations. execjson.c
 * creates the checks; run.c, checked.c and exec/vgpu call them.
 */
#include "replay/check/check-internal.h"

int ts_check_new(uint32_t what, struct ts_check **ret_check)
{
	struct ts_check *check = calloc(1, sizeof(*check));

	if (!check)
		return -ENOMEM;
	check->what = what;
	ts_check_kernel_init(check);
	*ret_check = check;
	return 0;
}

void ts_check_free(struct ts_check *check)
{
	if (!check)
		return;
	for (size_t i = 0; i < check->allocations.n; i++)
		free(check->allocations.all[i].written);
	free(check->allocations.all);
	ts_check_kernel_deinit(&check->kernel);
	ts_check_operations_deinit(&check->operations);
	free(check);
}

void ts_check_memory(struct ts_check *check,
		     const uint8_t *(*memory)(void *userdata, uint64_t address, uint64_t n_bytes),
		     void *userdata)
{
	check->memory = memory;
	check->memory_userdata = userdata;
}

const struct ts_ptx_observer *ts_check_observer(const struct ts_check *check)
{
	return &check->observer;
}

int ts_check_begin(struct ts_check *check, const struct ts_row_operation *operation)
{
	check->operation = operation;
	return check->what & TS_CHECK_ORDER ? ts_check_operations_begin(check, operation) : 0;
}

int ts_check_done(struct ts_check *check)
{
	int r = ts_check_kernel_touched(check);

	if (check->what & TS_CHECK_ORDER)
		r = r ?: ts_check_operations_done(check);
	check->operation = NULL;
	return check->error ? check->error : r;
}

/*
 * Copies the written state of the source's bytes to the bytes of `to`: a copy of unwritten bytes is
 * not yet an error. All n bytes lie in `to`, and in one allocation of the source.
 */
static void copy_written(struct ts_check_allocation *to, uint64_t address, uint64_t n,
			 const struct ts_check_allocation *source, uint64_t from)
{
	uint64_t unwritten;

	if (!to->written || !source || ts_check_is_written(source, from, n, &unwritten)) {
		ts_check_mark_written(to, address, n);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t offset = address + i - to->address;

		if (ts_check_is_written(source, from + i, 1, &unwritten))
			to->written[offset / 8] |= (uint8_t)(1u << offset % 8);
		else
			to->written[offset / 8] &= (uint8_t) ~(1u << offset % 8);
	}
}

/*
 * Returns the number of bytes, at most n, that lie in the allocation; n if there is no allocation.
 */
static uint64_t bytes_within(const struct ts_check_allocation *one, uint64_t address, uint64_t n)
{
	uint64_t left = one ? one->bytes - (address - one->address) : n;

	return n < left ? n : left;
}

int ts_check_writes(struct ts_check *check, uint64_t address, uint64_t bytes, uint64_t from)
{
	uint64_t at = address, left = bytes, n;
	struct ts_check_allocation *to;

	/* Mappings may be adjacent, and one write may span several. */
	for (; left && (to = ts_check_allocation_at(&check->allocations, at)); left -= n) {
		const struct ts_check_allocation *source =
			from ? ts_check_allocation_at(&check->allocations, from) : NULL;

		n = bytes_within(source, from, bytes_within(to, at, left));
		copy_written(to, at, n, source, from);
		at += n;
		from += from ? n : 0;
	}
	return check->what & TS_CHECK_ORDER
		       ? ts_check_operations_touch(check, address, bytes, TS_CHECK_WRITE)
		       : 0;
}

int ts_check_reads(struct ts_check *check, uint64_t address, uint64_t bytes)
{
	return check->what & TS_CHECK_ORDER
		       ? ts_check_operations_touch(check, address, bytes, TS_CHECK_READ)
		       : 0;
}

int ts_check_takes(struct ts_check *check, uint64_t address, const uint8_t *bytes, size_t n_bytes)
{
	return check->what & TS_CHECK_ORDER
		       ? ts_check_operations_take(check, address, bytes, n_bytes)
		       : 0;
}
