/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the findings of replay/check to messages, with remedies. execjson.c calls this file;
 * this file calls sidejson.c.
 */
#include "replay/report/replay/checkjson.h"

#include "proto/abi/base.h"
#include "replay/report/replay/sidejson.h"

#include <errno.h>
#include <inttypes.h>

static const struct {
	const char *name;
	uint32_t what;
} checks[] = {
	{"races", TS_CHECK_RACES}, {"init", TS_CHECK_INIT}, {"bounds", TS_CHECK_BOUNDS},
	{"order", TS_CHECK_ORDER}, {"all", TS_CHECK_ALL},
};

int ts_checkjson_what(char *const *names, size_t n, uint32_t *ret_what)
{
	uint32_t what = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < TS_ARRAY_LEN(checks) && strcmp(checks[at].name, names[i]))
			at++;
		if (at == TS_ARRAY_LEN(checks))
			return -EINVAL;
		what |= checks[at].what;
	}
	*ret_what = what;
	return 0;
}

static const struct ts_row_operation *operation_of(const struct ts_replay *replay,
						   const struct ts_check_side *side)
{
	return side->sequence && side->sequence <= replay->program->n
		       ? &replay->program->operations[side->sequence - 1]
		       : NULL;
}

static Ts__Rpc__ReplaySide *make_side(struct ts_replay *replay, const struct ts_check_side *side,
				      bool with_stack)
{
	Ts__Rpc__ReplaySide *to = ts_sidejson_make(replay, side->sequence, with_stack);
	struct ts_pool *pool = &replay->pool;

	if (!to)
		return NULL;
	if (side->is_read || side->is_write || side->is_atomic)
		to->access = ts_pool_copy(pool, side->is_atomic	 ? "atomic"
						: side->is_write ? "write"
								 : "read");
	if (side->has_thread) {
		to->function =
			ts_pool_copy(pool, ts_sidejson_function(replay, operation_of(replay, side),
								side->function));
		TS_RPC_SET(to, line, side->line);
		to->n_block = to->n_thread = 3;
		to->block = ts_pool_alloc(pool, 3, sizeof(uint32_t));
		to->thread = ts_pool_alloc(pool, 3, sizeof(uint32_t));
		memcpy(to->block, side->block, sizeof(side->block));
		memcpy(to->thread, side->thread, sizeof(side->thread));
	}
	if (side->source_line) {
		to->source_file = ts_pool_copy(pool, side->source_file);
		TS_RPC_SET(to, source_line, side->source_line);
	}
	return to;
}

/* ---- remedies -------------------------------------------------------------------------------- */

static void add_remedy(struct ts_replay *replay, Ts__Rpc__ReplayFinding *to, char *remedy)
{
	if (!to->remedies)
		to->remedies = ts_pool_alloc(&replay->pool, 2, sizeof(*to->remedies));
	to->remedies[to->n_remedies++] = remedy;
}

static const char *line_of(struct ts_replay *replay, const Ts__Rpc__ReplaySide *side)
{
	const char *file = side->source_file ? strrchr(side->source_file, '/') : NULL;

	if (side->has_source_line)
		return ts_pool_printf(&replay->pool, "%s:%" PRIu32,
				      file		  ? file + 1
				      : side->source_file ? side->source_file
							  : "line",
				      side->source_line);
	return ts_pool_printf(&replay->pool, "PTX line %" PRIu32, side->line);
}

static void add_for_threads(struct ts_replay *replay, const struct ts_check_finding *from,
			    Ts__Rpc__ReplayFinding *to)
{
	bool is_behind = to->earlier->line > to->access->line;
	const char *first = line_of(replay, is_behind ? to->access : to->earlier);
	const char *second = line_of(replay, is_behind ? to->earlier : to->access);

	if (!memcmp(from->access.block, from->earlier.block, sizeof(from->access.block)))
		add_remedy(
			replay, to,
			ts_pool_printf(&replay->pool,
				       "__syncthreads() between %s and %s, reached by all threads "
				       "of the block",
				       first, second));
	else
		add_remedy(
			replay, to,
			ts_pool_printf(&replay->pool,
				       "two launches, one up to %s and one from %s on: blocks of "
				       "one launch have no order",
				       first, second));
	add_remedy(replay, to,
		   ts_pool_printf(&replay->pool, "atomic operations at %s and %s", first, second));
}

static void add_remedies(struct ts_replay *replay, const struct ts_check_finding *from,
			 Ts__Rpc__ReplayFinding *to)
{
	if (!to->access || !to->earlier)
		return;
	if (from->kind == TS_CHECK_FOUND_UNORDERED)
		to->n_remedies =
			ts_sidejson_remedies(replay, to->earlier, to->access, &to->remedies);
	else if (from->kind == TS_CHECK_FOUND_RACE)
		add_for_threads(replay, from, to);
	else if (from->kind == TS_CHECK_FOUND_HOST_CHANGED)
		add_remedy(replay, to,
			   ts_pool_printf(&replay->pool,
					  "%sStreamSynchronize(%s) after operation %" PRIu64
					  " and before the host writes to that memory",
					  ts_sidejson_prefix(to->earlier),
					  ts_sidejson_stream(replay, to->earlier),
					  to->earlier->op_id));
}

/* ---- findings -------------------------------------------------------------------------------- */

static void fill_allocation(struct ts_replay *replay, const struct ts_check_finding *from,
			    Ts__Rpc__ReplayFinding *to)
{
	const struct ts_row_operation *buffer;

	if (!from->allocation_bytes)
		return;
	TS_RPC_SET(to, allocation, from->allocation);
	TS_RPC_SET(to, allocation_bytes, from->allocation_bytes);
	buffer = ts_exec_program_allocation(replay->program, from->access.sequence,
					    from->allocation);
	if (!buffer || buffer->dst != from->allocation)
		return;
	if (buffer->kind == TS_OPERATION_VARIABLE)
		to->allocation_name =
			ts_pool_copy(&replay->pool, ts_sidejson_string(replay, buffer->name));
	else
		TS_RPC_SET(to, allocation_op_id, buffer->op_id);
}

static Ts__Rpc__ReplayFinding *make_finding(struct ts_replay *replay,
					    const struct ts_check_finding *finding)
{
	Ts__Rpc__ReplayFinding *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));

	ts__rpc__replay_finding__init(to);
	to->kind = ts_pool_copy(&replay->pool, ts_check_kind_name(finding->kind));
	to->space = ts_pool_copy(&replay->pool, finding->is_shared ? "shared" : "global");
	if (*finding->kernel)
		to->kernel =
			ts_pool_copy(&replay->pool,
				     ts_sidejson_function(replay,
							  operation_of(replay, &finding->access),
							  finding->kernel));
	TS_RPC_SET(to, address, finding->address);
	TS_RPC_SET(to, bytes, finding->bytes);
	fill_allocation(replay, finding, to);
	TS_RPC_SET(to, times, finding->n);
	to->access = make_side(replay, &finding->access, true);
	to->earlier = make_side(replay, &finding->earlier,
				finding->earlier.sequence != finding->access.sequence);
	add_remedies(replay, finding, to);
	return to;
}

void ts_checkjson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_check_finding *findings;
	struct ts_pool *pool = &replay->pool;
	size_t n;

	to->checked = ts_pool_alloc(pool, TS_ARRAY_LEN(checks), sizeof(*to->checked));
	for (size_t i = 0; i < TS_ARRAY_LEN(checks); i++)
		if (checks[i].what != TS_CHECK_ALL && (replay->what & checks[i].what))
			to->checked[to->n_checked++] = ts_pool_copy(pool, checks[i].name);
	findings = ts_check_findings(replay->check, &n);
	to->findings = ts_pool_alloc(pool, n + 1, sizeof(*to->findings));
	for (size_t i = 0; i < n; i++)
		to->findings[to->n_findings++] = make_finding(replay, &findings[i]);
	if (ts_check_n_more(replay->check))
		TS_RPC_SET(to, more_findings, ts_check_n_more(replay->check));
	if (ts_check_n_unlooked(replay->check))
		TS_RPC_SET(to, unlooked, ts_check_n_unlooked(replay->check));
}
