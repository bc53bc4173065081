/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds uses of freed memory: see misuse.h. replay/report calls this file; this file uses spans.c
 * and pools.c.
 *
 * The first pass reads allocations, frees and accesses, and collects candidates. The second pass
 * reads the calls and device rows of the candidates and decides. The first pass orders rows by
 * operation id if it can. Rows of CUPTI and of the host are slightly out of order by time; their
 * ids are in order.
 */
#include "replay/state/memory/misuse.h"

#include "proto/abi/grow.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "replay/state/memory/pools.h"
#include "replay/state/memory/spans.h"
#include "replay/state/memory/state-memory.h"
#include "sbt/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum error of the order of rows. */
#define SLACK_NS UINT64_C(10000000)
#define MAX_LATE 1024u
/* Kinds of loss by which the trace may lack an allocation. */
#define HIDING_LOSSES                                                                        \
	(1u << TS_LOSS_RING_FULL | 1u << TS_LOSS_NO_SHARD | 1u << TS_LOSS_CUPTI_DROPPED |    \
	 1u << TS_LOSS_NO_BUFFER | 1u << TS_LOSS_BAD_RECORD | 1u << TS_LOSS_UNKNOWN_RECORD | \
	 1u << TS_LOSS_YIELDED | 1u << TS_LOSS_DISK | 1u << TS_LOSS_BAD_TIME |               \
	 1u << TS_LOSS_LATE | 1u << TS_LOSS_UNDRAINED | 1u << TS_LOSS_NO_MEMORY |            \
	 1u << TS_LOSS_YIELDED_TO_END)

enum proof {
	PROOF_NONE,
	PROOF_DEVICE,
	PROOF_HOST
};

/* Roles of a call in a finding. */
enum role {
	ROLE_USE,
	ROLE_FREED,
	ROLE_ALLOCATED,
	ROLES
};

struct candidate {
	struct ts_misuse misuse;
	uint32_t proof; /* PROOF_*: memory kind in the candidate's device row */
	uint32_t access;
	bool dropped;
};

struct session {
	uint32_t session;
	/* for a free before this time, the trace may lack a later allocation at the same address */
	uint64_t trusted_ns;
	bool is_untrusted;
};

/* An address range that the application mapped itself (cuMemMap()). */
struct mapping {
	uint32_t session;
	uint64_t ns;
};

/* A call that the second pass looks for. */
struct want {
	uint64_t op_id;
	uint32_t session;
	uint32_t candidate;
	uint32_t role; /* enum role */
	bool is_found; /* the first row of op_id was read; later rows are ignored */
};

struct pass {
	struct ts_misuses *misuses;
	struct ts_spans spans;
	struct ts_pools pools;
	struct candidate *candidates;
	size_t n_candidates, n_candidates_allocated;
	struct session *sessions;
	size_t n_sessions, n_sessions_allocated;
	struct mapping *mappings;
	size_t n_mappings, n_mappings_allocated;
	struct want *wanted; /* by session and operation */
	size_t n_wanted;
};

static void pass_deinit(struct pass *pass)
{
	ts_spans_deinit(&pass->spans);
	ts_pools_deinit(&pass->pools);
	free(pass->candidates);
	free(pass->sessions);
	free(pass->mappings);
	free(pass->wanted);
}

void ts_misuses_free(struct ts_misuses *misuses)
{
	if (!misuses)
		return;
	free(misuses->list);
	free(misuses->pools);
	free(misuses);
}

const char *ts_misuse_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[TS_MISUSE_READ] = "read_after_free",
		[TS_MISUSE_WRITE] = "write_after_free",
		[TS_MISUSE_DOUBLE_FREE] = "double_free",
	};

	return kind < TS_ARRAY_LEN(names) ? names[kind] : NULL;
}

/* ---- what may be wrong ----------------------------------------------------------------------- */

/*
 * Returns the session's entry. NULL: the session has no pause, no yield and no loss of
 * HIDING_LOSSES, so no allocation is missing for these reasons.
 */
static struct session *find_session(struct pass *pass, uint32_t session)
{
	for (size_t i = 0; i < pass->n_sessions; i++)
		if (pass->sessions[i].session == session)
			return &pass->sessions[i];
	return NULL;
}

/* Stores that the trace may lack allocations of the session from before `ns`; 0: from any time. */
static int distrust(struct pass *pass, uint32_t session, uint64_t ns)
{
	struct session *found = find_session(pass, session);
	int r;

	if (!found) {
		r = TS_GROW(pass->sessions, pass->n_sessions_allocated, pass->n_sessions + 1);
		if (r)
			return r;
		found = &pass->sessions[pass->n_sessions++];
		*found = (struct session){.session = session};
	}
	if (!ns)
		found->is_untrusted = true;
	if (ns > found->trusted_ns)
		found->trusted_ns = ns;
	return 0;
}

static int add_candidate(struct pass *pass, uint32_t kind, uint32_t access, uint64_t op_id,
			 const struct ts_span *span, uint64_t address, uint64_t bytes, uint64_t ns)
{
	const struct session *session = find_session(pass, span->session);
	struct candidate *candidate;
	int r;

	if (pass->n_candidates == TS_MISUSE_MAX ||
	    (session && span->freed.ns < session->trusted_ns))
		return 0;
	r = TS_GROW(pass->candidates, pass->n_candidates_allocated, pass->n_candidates + 1);
	if (r)
		return r;
	candidate = &pass->candidates[pass->n_candidates++];
	*candidate = (struct candidate){.access = access,
					.misuse = {.kind = kind,
						   .session = span->session,
						   .memory_kind = span->kind,
						   .device = span->device,
						   .address = address,
						   .bytes = bytes,
						   .block = span->block,
						   .block_bytes = span->bytes,
						   .use = {.op_id = op_id, .start_ns = ns},
						   .freed = {.op_id = span->freed.op_id,
							     .start_ns = span->freed.ns},
						   .allocated = {.op_id = span->allocated.op_id,
								 .start_ns = span->allocated.ns}}};
	return 0;
}

/*
 * Drops the candidates that used the block after its new allocation: only the allocation's row came
 * late.
 */
static void drop_reallocated(struct pass *pass, uint32_t session, const struct ts_row_memory *row)
{
	for (size_t i = pass->n_candidates, n = 0; i-- && n < MAX_LATE; n++) {
		struct candidate *candidate = &pass->candidates[i];
		struct ts_misuse *misuse = &candidate->misuse;

		if (misuse->use.start_ns + SLACK_NS < row->start_ns)
			return;
		if (misuse->session == session && row->op_id < misuse->use.op_id &&
		    row->address < misuse->address + (misuse->bytes ? misuse->bytes : 1) &&
		    misuse->address - row->address < row->bytes)
			candidate->dropped = true;
	}
}

static int feed_alloc(struct pass *pass, uint32_t session, const struct ts_row_memory *row)
{
	const struct ts_span span = {.start = row->address,
				     .end = row->address + row->bytes,
				     .block = row->address,
				     .bytes = row->bytes,
				     .pool = row->pool,
				     .allocated = {row->op_id, row->start_ns},
				     .session = session,
				     .device = row->device,
				     .kind = row->memory_kind};
	int r = ts_pools_feed(&pass->pools, &pass->spans, session, row);

	if (r)
		return r;
	drop_reallocated(pass, session, row);
	/* An empty or wrapping range is malformed. */
	r = ts_spans_add(&pass->spans, &span);
	return r == -EINVAL ? 0 : r;
}

static int feed_free(struct pass *pass, uint32_t session, const struct ts_row_memory *row)
{
	struct ts_span *span = ts_spans_over(&pass->spans, session, row->address, row->address + 1);
	struct ts_span unknown = {.start = row->address,
				  .end = row->address + row->bytes,
				  .block = row->address,
				  .pool = row->pool,
				  .freed = {row->op_id, row->start_ns},
				  .session = session,
				  .device = row->device,
				  .kind = row->memory_kind};
	int r = ts_pools_feed(&pass->pools, &pass->spans, session, row);

	if (r || !row->start_ns)
		return r;
	/*
	 * A call that began before the block's allocation freed the block before: another thread
	 * got its address before the call returned.
	 */
	if (span && !span->freed.ns && row->op_id && span->allocated.op_id > row->op_id)
		return 0;
	if (span && !span->freed.ns && span->block == row->address) {
		span->freed = unknown.freed;
		return 0;
	}
	if (span && span->freed.ns && span->block == row->address &&
	    span->freed.op_id < row->op_id && ts_memory_is_device(span->kind))
		r = add_candidate(pass, TS_MISUSE_DOUBLE_FREE, TS_ACCESS_FREE, row->op_id, span,
				  row->address, 0, row->start_ns);
	/*
	 * The block was allocated before the recording began, so it has no span yet. The free adds
	 * one.
	 */
	if (!r && !span)
		r = ts_spans_add(&pass->spans, &unknown);
	return r == -EINVAL ? 0 : r;
}

/* Checks one side of a copy, or the target of a set. */
static int feed_side(struct pass *pass, uint32_t session, const struct ts_row_access *row,
		     uint32_t kind, uint64_t address, uint64_t bytes)
{
	struct ts_span *span;

	if (!address || !bytes || address + bytes < address)
		return 0;
	span = ts_spans_over(&pass->spans, session, address, address + bytes);
	while (span && span->session == session && span->start < address + bytes && !span->freed.ns)
		span = ts_spans_next(span);
	if (!span || span->session != session || span->start >= address + bytes ||
	    span->freed.op_id >= row->op_id || !ts_memory_is_device(span->kind))
		return 0;
	return add_candidate(pass, kind, row->access, row->op_id, span, address, bytes,
			     row->start_ns);
}

static int feed_access(struct pass *pass, uint32_t session, const struct ts_row_access *row)
{
	struct ts_span *span;
	int r;

	/* A failed allocation names no memory. A successful one has rows with more information. */
	if (row->access >= TS_ACCESS_ALLOC)
		return 0;
	pass->misuses->n_accesses++;
	if (row->access != TS_ACCESS_FREE) {
		r = feed_side(pass, session, row, TS_MISUSE_WRITE, row->dst, row->dst_bytes);
		return r ? r
			 : feed_side(pass, session, row, TS_MISUSE_READ, row->src, row->src_bytes);
	}
	if (row->dst == UINT64_MAX)
		return 0;
	span = ts_spans_over(&pass->spans, session, row->dst, row->dst + 1);
	if (!span)
		pass->misuses->n_unknown_frees++;
	if (!span || !span->freed.ns || span->block != row->dst || span->freed.op_id >= row->op_id)
		return 0;
	return add_candidate(pass, TS_MISUSE_DOUBLE_FREE, row->access, row->op_id, span, row->dst,
			     0, row->start_ns);
}

static int feed(const struct ts_sbt_row *row, void *data)
{
	struct pass *pass = data;

	switch (row->type) {
	case TS_ROW_ALLOC:
		return feed_alloc(pass, row->session, row->memory);
	case TS_ROW_FREE:
		return feed_free(pass, row->session, row->memory);
	case TS_ROW_ACCESS:
		return feed_access(pass, row->session, row->access);
	case TS_ROW_PAUSE:
		return distrust(pass, row->session, row->pause->start_ns);
	case TS_ROW_YIELD:
		return distrust(pass, row->session, row->yield->start_ns);
	case TS_ROW_LOSS:
		if (row->loss->reason >= 32 || !(HIDING_LOSSES >> row->loss->reason & 1))
			return 0;
		return distrust(pass, row->session, row->loss->end_ns);
	default:
		return 0;
	}
}

static int read_uses(struct pass *pass, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_ALLOC) |
							       TS_ROW_BIT(TS_ROW_FREE) |
							       TS_ROW_BIT(TS_ROW_ACCESS) |
							       TS_ROW_BIT(TS_ROW_PAUSE) |
							       TS_ROW_BIT(TS_ROW_YIELD) |
							       TS_ROW_BIT(TS_ROW_LOSS),
						      .session = session};
	const struct ts_row_search all = {.take = feed, .data = pass};

	return ts_rows_search(reader, &options, &all, &pass->misuses->is_damaged);
}

/* ---- whether it is --------------------------------------------------------------------------- */

/* True for a call that creates memory without a row. */
static bool maps_memory(const struct ts_row_api *call)
{
	const uint32_t domain = ts_api_base(call->domain);

	if (domain == TS_API_CUDA_RUNTIME)
		return call->cbid == TS_CUPTI_RUNTIME_CBID_cudaIpcOpenMemHandle_v4010 ||
		       call->cbid == TS_CUPTI_RUNTIME_CBID_cudaMemPoolImportPointer_v11020;
	return domain == TS_API_CUDA_DRIVER &&
	       (call->cbid == TS_CUPTI_DRIVER_CBID_cuMemAddressReserve ||
		call->cbid == TS_CUPTI_DRIVER_CBID_cuMemMap);
}

static int compare_wanted(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

/* Returns the first entry for the operation, or n_wanted. */
static size_t find_wanted(const struct pass *pass, uint32_t session, uint64_t op_id)
{
	const struct want key = {.session = session, .op_id = op_id};
	size_t low = 0, high = pass->n_wanted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_wanted(&pass->wanted[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_wanted(const struct pass *pass, size_t i, uint32_t session, uint64_t op_id)
{
	return i < pass->n_wanted && pass->wanted[i].session == session &&
	       pass->wanted[i].op_id == op_id;
}

static int settle_call(struct pass *pass, uint32_t session, const struct ts_row_api *call)
{
	int r;

	if (maps_memory(call)) {
		r = TS_GROW(pass->mappings, pass->n_mappings_allocated, pass->n_mappings + 1);
		if (r)
			return r;
		pass->mappings[pass->n_mappings++] = (struct mapping){session, call->start_ns};
	}
	for (size_t i = find_wanted(pass, session, call->op_id);
	     is_wanted(pass, i, session, call->op_id) && !pass->wanted[i].is_found; i++) {
		struct ts_misuse *misuse = &pass->candidates[pass->wanted[i].candidate].misuse;
		struct ts_misuse_call *const to[] = {&misuse->use, &misuse->freed,
						     &misuse->allocated};

		pass->wanted[i].is_found = true;
		*to[pass->wanted[i].role] = (struct ts_misuse_call){.op_id = call->op_id,
								    .start_ns = call->start_ns,
								    .end_ns = call->end_ns,
								    .thread = call->thread,
								    .stack = call->stack,
								    .result = call->result,
								    .domain = call->domain,
								    .cbid = call->cbid};
	}
	return 0;
}

static void settle_side(struct pass *pass, uint32_t session, uint64_t op_id, uint32_t dst_kind,
			uint32_t src_kind)
{
	for (size_t i = find_wanted(pass, session, op_id); is_wanted(pass, i, session, op_id);
	     i++) {
		struct candidate *candidate = &pass->candidates[pass->wanted[i].candidate];
		uint32_t kind = candidate->misuse.kind == TS_MISUSE_READ ? src_kind : dst_kind;

		if (candidate->proof != PROOF_NONE)
			return;
		if (pass->wanted[i].role == ROLE_USE)
			candidate->proof = ts_memory_is_device(kind) ? PROOF_DEVICE : PROOF_HOST;
	}
}

static bool is_settled_by(const struct ts_sbt_row *row, const void *data)
{
	const struct pass *pass = data;
	/* The three types have their operation in different places. */
	uint64_t op_id = row->type == TS_ROW_API      ? row->api->op_id
			 : row->type == TS_ROW_MEMCPY ? row->memcpy_->op_id
						      : row->memset_->op_id;

	return (row->type == TS_ROW_API && maps_memory(row->api)) ||
	       is_wanted(pass, find_wanted(pass, row->session, op_id), row->session, op_id);
}

static int settle(const struct ts_sbt_row *row, void *data)
{
	struct pass *pass = data;

	switch (row->type) {
	case TS_ROW_API:
		return settle_call(pass, row->session, row->api);
	case TS_ROW_MEMCPY:
		settle_side(pass, row->session, row->memcpy_->op_id, row->memcpy_->dst_kind,
			    row->memcpy_->src_kind);
		return 0;
	case TS_ROW_MEMSET:
		settle_side(pass, row->session, row->memset_->op_id, row->memset_->memory_kind,
			    row->memset_->memory_kind);
		return 0;
	default:
		return 0;
	}
}

static int want_calls(struct pass *pass)
{
	pass->wanted = calloc(ROLES * pass->n_candidates, sizeof(*pass->wanted));
	if (!pass->wanted)
		return -ENOMEM;
	for (size_t i = 0; i < pass->n_candidates; i++) {
		const struct ts_misuse *misuse = &pass->candidates[i].misuse;
		const uint64_t ops[] = {misuse->use.op_id, misuse->freed.op_id,
					misuse->allocated.op_id};

		for (uint32_t role = 0; role < ROLES; role++)
			if (ops[role])
				pass->wanted[pass->n_wanted++] =
					(struct want){ops[role], misuse->session, (uint32_t)i, role,
						      false};
	}
	qsort(pass->wanted, pass->n_wanted, sizeof(*pass->wanted), compare_wanted);
	return 0;
}

static int read_calls(struct pass *pass, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API) |
							       TS_ROW_BIT(TS_ROW_MEMCPY) |
							       TS_ROW_BIT(TS_ROW_MEMSET),
						      .session = session};
	const struct ts_row_search search = {.keeps = is_settled_by, .take = settle, .data = pass};
	int r = want_calls(pass);

	return r ? r : ts_rows_search(reader, &options, &search, &pass->misuses->is_damaged);
}

/* True if the candidate is to be reported. Sets its unsure flags. */
static bool holds(const struct pass *pass, struct candidate *candidate)
{
	struct ts_misuse *misuse = &candidate->misuse;
	const struct ts_misuse_call *use = &misuse->use, *freed = &misuse->freed;

	if (candidate->dropped || candidate->proof == PROOF_HOST)
		return false;
	if (!use->end_ns || !freed->end_ns)
		misuse->unsure |= TS_MISUSE_UNSURE_CALL;
	else if (freed->end_ns > use->start_ns && (!use->thread || use->thread != freed->thread))
		return false;
	/*
	 * If a copy failed, the address had no memory, so no unrecorded allocation reuses the
	 * block.
	 */
	if (candidate->access == TS_ACCESS_COPY && candidate->proof == PROOF_NONE &&
	    !(use->end_ns && use->result))
		misuse->unsure |= TS_MISUSE_UNSURE_DEVICE;
	for (size_t i = 0; i < pass->n_mappings; i++)
		if (pass->mappings[i].session == misuse->session &&
		    pass->mappings[i].ns >= freed->start_ns &&
		    pass->mappings[i].ns <= use->start_ns)
			misuse->unsure |= TS_MISUSE_UNSURE_MAPPED;
	for (size_t i = 0; i < pass->n_sessions; i++)
		if (pass->sessions[i].session == misuse->session && pass->sessions[i].is_untrusted)
			misuse->unsure |= TS_MISUSE_UNSURE_LOST;
	if (pass->misuses->is_damaged)
		misuse->unsure |= TS_MISUSE_UNSURE_LOST;
	return true;
}

static int list(struct pass *pass, size_t max_listed)
{
	struct ts_misuses *misuses = pass->misuses;
	size_t n = max_listed < pass->n_candidates ? max_listed : pass->n_candidates;

	misuses->list = calloc(n + 1, sizeof(*misuses->list));
	if (!misuses->list)
		return -ENOMEM;
	for (size_t i = 0; i < pass->n_candidates; i++) {
		if (!holds(pass, &pass->candidates[i]))
			continue;
		misuses->n++;
		if (misuses->n_listed < max_listed)
			misuses->list[misuses->n_listed++] = pass->candidates[i].misuse;
	}
	return 0;
}

int ts_misuses_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		    struct ts_misuses **ret_misuses)
{
	ts_cleanup(ts_misuses_freep) struct ts_misuses *misuses = calloc(1, sizeof(*misuses));
	ts_cleanup(pass_deinit) struct pass pass = {.misuses = misuses};
	int r = misuses ? read_uses(&pass, reader, session) : -ENOMEM;

	if (!r && pass.n_candidates)
		r = read_calls(&pass, reader, session);
	if (!r)
		r = list(&pass, max_listed);
	if (!r)
		r = ts_pools_take(&pass.pools, &misuses->pools, &misuses->n_pools);
	if (r)
		return r;
	*ret_misuses = misuses;
	misuses = NULL;
	return 0;
}
