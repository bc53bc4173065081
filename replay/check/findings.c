/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores findings, one for each pair of places, with a count and the allocation. check-kernel.c and
 * check-operations.c add findings; checkjson.c reads them.
 */
#include "replay/check/check-internal.h"

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

/*
 * True if the finding has already counted this pair of operations. Further conflicting bytes of the
 * same pair are then not counted.
 */
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
		/*
		 * Two threads may conflict in either order, so compare the places in both orders.
		 */
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
