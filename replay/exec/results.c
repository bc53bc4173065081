/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores and compares the results of runs. run.c, explore.c and replay/report call this file. The
 * module keeps a hash of each result, not its bytes. If two runs differ, the bytes of the later one
 * are available. The bytes of the earlier one come from a repeated run up to that result (run.c).
 */
#include "replay/exec/results.h"

#include <string.h>

#include "proto/abi/grow.h"

void ts_exec_results_deinit(struct ts_exec_results *results)
{
	free(results->results);
	free(results->bytes);
	*results = (struct ts_exec_results){0};
}

static void keep_bytes(struct ts_exec_results *results, const uint8_t *bytes, uint64_t n)
{
	uint8_t *copy = n <= TS_EXEC_KEPT_BYTES ? malloc(n ? n : 1) : NULL;

	/*
	 * If memory is short, the comparison still works; only the place of the difference stays
	 * unknown.
	 */
	if (!copy)
		return;
	if (n)
		memcpy(copy, bytes, n);
	free(results->bytes);
	results->bytes = copy;
	results->n_bytes = n;
	results->number = results->n;
}

static struct ts_exec_difference difference_of(const struct ts_exec_result *result)
{
	return (struct ts_exec_difference){.found = true,
					   .kind = (enum ts_exec_result_kind)result->kind,
					   .sequence = result->sequence,
					   .op_id = result->op_id,
					   .address = result->address,
					   .bytes = result->n_bytes};
}

int ts_exec_results_note(struct ts_exec_results *results, const struct ts_exec_results *before,
			 const struct ts_exec_result *result, const uint8_t *bytes,
			 const struct ts_exec_options *options, struct ts_exec_difference *first)
{
	const struct ts_exec_difference *kept = options->kept;
	struct ts_exec_result one = *result;
	const struct ts_exec_result *other =
		before && results->n < before->n ? &before->results[results->n] : NULL;
	bool differs;

	one.hash = ts_hash128(bytes, one.n_bytes);
	differs = before && !first->found && (!other || memcmp(other, &one, sizeof(one)));
	if (results->n >= TS_EXEC_MAX_RESULTS)
		return -E2BIG;
	if (TS_GROW(results->results, results->capacity, results->n + 1))
		return -ENOMEM;
	results->results[results->n++] = one;
	if (differs)
		*first = difference_of(&one);
	if (differs || results->n == options->wanted ||
	    (kept && one.kind == kept->kind && one.sequence == kept->sequence &&
	     one.address == kept->address))
		keep_bytes(results, bytes, one.n_bytes);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ts_exec_result *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void ts_exec_results_sort(struct ts_exec_results *results)
{
	if (results->n)
		qsort(results->results, results->n, sizeof(*results->results), compare);
}

void ts_exec_results_compare(const struct ts_exec_results *before,
			     const struct ts_exec_results *results,
			     struct ts_exec_difference *first)
{
	size_t n = results->n < before->n ? results->n : before->n, i = 0;

	while (i < n &&
	       !memcmp(&before->results[i], &results->results[i], sizeof(*results->results)))
		i++;
	if (i < n)
		*first = difference_of(&results->results[i]);
	else if (results->n != before->n)
		*first = difference_of(&(results->n > n ? results : before)->results[n]);
}

void ts_exec_difference_place(struct ts_exec_difference *difference, const uint8_t *expected,
			      uint64_t n_expected, const uint8_t *found, uint64_t n_found)
{
	uint64_t n = n_expected < n_found ? n_expected : n_found, at = 0;

	while (at < n && expected[at] == found[at])
		at++;
	difference->offset = at;
	difference->n_before =
		(uint32_t)(at < sizeof(difference->before) ? at : sizeof(difference->before));
	if (difference->n_before)
		memcpy(difference->before, found + at - difference->n_before, difference->n_before);
	for (difference->n = 0; difference->n < sizeof(difference->expected) && at < n; at++) {
		difference->expected[difference->n] = expected[at];
		difference->found_bytes[difference->n++] = found[at];
	}
}

bool ts_exec_results_point(const struct ts_exec_results *results, size_t *at,
			   struct ts_exec_point *ret_point)
{
	const struct ts_exec_result *first;
	struct ts_hash128 hash;
	size_t end;

	while (*at < results->n && results->results[*at].kind != TS_EXEC_RESULT_POINT)
		++*at;
	if (*at == results->n)
		return false;
	first = &results->results[*at];
	*ret_point = (struct ts_exec_point){.sequence = first->sequence, .op_id = first->op_id};
	for (end = *at; end < results->n && results->results[end].kind == TS_EXEC_RESULT_POINT &&
			results->results[end].sequence == first->sequence;
	     end++)
		ret_point->n_bytes += results->results[end].n_bytes;
	hash = ts_hash128((const uint8_t *)first, (end - *at) * sizeof(*first));
	ret_point->digest[0] = hash.a;
	ret_point->digest[1] = hash.b;
	*at = end;
	return true;
}

/* Returns the device address from which the operation read the differing byte. */
static uint64_t address_of(const struct ts_exec_program *program,
			   const struct ts_exec_difference *difference)
{
	if (difference->kind == TS_EXEC_RESULT_READ)
		return ts_exec_source_of(&program->operations[difference->sequence - 1],
					 difference->offset);
	return difference->address + difference->offset;
}

void ts_exec_results_place(const struct ts_exec_program *program,
			   const struct ts_exec_results *before, const struct ts_exec_results *now,
			   struct ts_exec_difference *difference)
{
	if (!before->bytes || !now->bytes)
		return;
	ts_exec_difference_place(difference, before->bytes, before->n_bytes, now->bytes,
				 now->n_bytes);
	difference->address = address_of(program, difference);
}
