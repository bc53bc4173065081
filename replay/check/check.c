/* SPDX-License-Identifier: Apache-2.0 */
/* The checks' life, what was found, and what operations write and read as a whole. */
#include "replay/check/internal.h"

const char *ts_check_kind_name(enum ts_check_kind kind)
{
	static const char *const names[] = {
		[TS_CHECK_FOUND_RACE] = "race",
		[TS_CHECK_FOUND_UNWRITTEN] = "unwritten",
		[TS_CHECK_FOUND_OUT_OF_BOUNDS] = "out-of-bounds",
		[TS_CHECK_FOUND_UNORDERED] = "unordered",
		[TS_CHECK_FOUND_HOST_CHANGED] = "host-changed",
		[TS_CHECK_FOUND_STRAY] = "stray",
	};

	return (size_t)kind < TS_ARRAY_LEN(names) ? names[kind] : NULL;
}

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
	free(check->kernel.reached);
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

/* Whether the finding was counted for these two operations; each access of theirs is another. */
static bool is_counted(struct ts_check *check, size_t i, uint64_t earlier)
{
	uint64_t *pair = check->pairs[i];

	if (earlier && check->operation && pair[0] == check->operation->sequence &&
	    pair[1] == earlier)
		return true;
	pair[0] = check->operation ? check->operation->sequence : 0;
	pair[1] = earlier;
	return false;
}

struct ts_check_finding *ts_check_found(struct ts_check *check, enum ts_check_kind kind,
					uint32_t place, uint32_t other, uint64_t earlier)
{
	const char *kernel =
		check->kernel.launch ? ts_ptx_kernel_info(check->kernel.launch->kernel)->name : "";
	struct ts_check_finding *finding;

	for (size_t i = 0; i < check->n_findings; i++) {
		finding = &check->findings[i];
		/* Which of two came first is chance. */
		if (finding->kind == kind &&
		    ((check->places[i][0] == place && check->places[i][1] == other) ||
		     (check->places[i][0] == other && check->places[i][1] == place)) &&
		    !strncmp(finding->kernel, kernel, sizeof(finding->kernel) - 1)) {
			finding->n += !is_counted(check, i, earlier);
			return NULL;
		}
	}
	if (check->n_findings == TS_CHECK_MAX_FINDINGS) {
		check->n_more++;
		return NULL;
	}
	check->places[check->n_findings][0] = place;
	check->places[check->n_findings][1] = other;
	(void)is_counted(check, check->n_findings, earlier);
	finding = &check->findings[check->n_findings++];
	*finding = (struct ts_check_finding){.kind = kind, .n = 1};
	snprintf(finding->kernel, sizeof(finding->kernel), "%s", kernel);
	if (check->operation) {
		finding->access.sequence = check->operation->sequence;
		finding->access.op_id = check->operation->op_id;
	}
	return finding;
}

void ts_check_locate(const struct ts_check *check, struct ts_check_finding *finding)
{
	const struct ts_check_allocation *allocation =
		finding->is_shared
			? NULL
			: ts_check_allocation_near(&check->allocations, finding->address);

	finding->allocation = allocation ? allocation->address : 0;
	finding->allocation_bytes = allocation ? allocation->bytes : 0;
}

const struct ts_check_finding *ts_check_findings(const struct ts_check *check, size_t *ret_n)
{
	*ret_n = check->n_findings;
	return check->findings;
}

uint64_t ts_check_n_more(const struct ts_check *check)
{
	return check->n_more;
}

uint64_t ts_check_n_unlooked(const struct ts_check *check)
{
	return check->n_unlooked;
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
 * A copy's bytes are as written as those that they come from: a copy of bytes that nobody wrote is no mistake yet. All n bytes lie in
 * `to`, and in one allocation where they come from.
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

/* How many of n bytes lie in the allocation; all if there is none. */
static uint64_t bytes_within(const struct ts_check_allocation *one, uint64_t address, uint64_t n)
{
	uint64_t left = one ? one->bytes - (address - one->address) : n;

	return n < left ? n : left;
}

int ts_check_writes(struct ts_check *check, uint64_t address, uint64_t bytes, uint64_t from)
{
	uint64_t at = address, left = bytes, n;
	struct ts_check_allocation *to;

	/* Mappings lie side by side, and one write may go on from one into the next. */
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
