/* SPDX-License-Identifier: Apache-2.0 */
/* What checks found (replay/check), as messages. */
#include "replay/report/checkjson.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/names.h"

#include <errno.h>

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

const char *ts_checkjson_kernel(const struct ts_exec_program *program,
				const struct ts_row_operation *launch)
{
	uint64_t function = launch->object;

	/* A handle that stands for another one has no name of its own. */
	for (uint64_t i = launch->kind == TS_OPERATION_LAUNCH ? launch->sequence : 0; i-- > 0;) {
		const struct ts_row_operation *row = &program->operations[i];

		if (row->kind != TS_OPERATION_FUNCTION || row->object != function)
			continue;
		if (row->name)
			return ts_sbt_reader_string(program->reader, row->name, NULL);
		function = row->parent;
	}
	return NULL;
}

static Ts__Rpc__ReplaySide *make_side(const struct ts_checkjson *from,
				      const struct ts_check_side *side, bool with_stack)
{
	Ts__Rpc__ReplaySide *to = ts_pool_alloc(from->pool, 1, sizeof(*to));
	const struct ts_row_operation *row;

	if (!side->sequence || side->sequence > from->program->n)
		return NULL;
	row = &from->program->operations[side->sequence - 1];
	ts__rpc__replay_side__init(to);
	TS_RPC_SET(to, sequence, row->sequence);
	TS_RPC_SET(to, op_id, row->op_id);
	to->kind = ts_pool_copy(from->pool, ts_name_operation_kind(row->kind));
	TS_RPC_SET(to, stream_handle, row->stream_handle);
	to->name = ts_pool_copy(from->pool, ts_checkjson_kernel(from->program, row));
	if (side->is_read || side->is_write || side->is_atomic)
		to->access = ts_pool_copy(from->pool, side->is_atomic  ? "atomic"
						      : side->is_write ? "write"
								       : "read");
	if (side->has_thread) {
		to->function = ts_pool_copy(from->pool, side->function);
		TS_RPC_SET(to, line, side->line);
		to->n_block = to->n_thread = 3;
		to->block = ts_pool_alloc(from->pool, 3, sizeof(uint32_t));
		to->thread = ts_pool_alloc(from->pool, 3, sizeof(uint32_t));
		memcpy(to->block, side->block, sizeof(side->block));
		memcpy(to->thread, side->thread, sizeof(side->thread));
	}
	if (side->source_line) {
		to->source_file = ts_pool_copy(from->pool, side->source_file);
		TS_RPC_SET(to, source_line, side->source_line);
	}
	if (with_stack)
		to->stack = from->stack_of(from->userdata, row->op_id);
	return to;
}

static Ts__Rpc__ReplayFinding *make_finding(const struct ts_checkjson *from,
					    const struct ts_check_finding *finding)
{
	Ts__Rpc__ReplayFinding *to = ts_pool_alloc(from->pool, 1, sizeof(*to));

	ts__rpc__replay_finding__init(to);
	to->kind = ts_pool_copy(from->pool, ts_check_kind_name(finding->kind));
	to->space = ts_pool_copy(from->pool, finding->is_shared ? "shared" : "global");
	if (*finding->kernel)
		to->kernel = ts_pool_copy(from->pool, finding->kernel);
	TS_RPC_SET(to, address, finding->address);
	TS_RPC_SET(to, bytes, finding->bytes);
	if (finding->allocation_bytes) {
		TS_RPC_SET(to, allocation, finding->allocation);
		TS_RPC_SET(to, allocation_bytes, finding->allocation_bytes);
	}
	TS_RPC_SET(to, times, finding->n);
	to->access = make_side(from, &finding->access, true);
	to->earlier = make_side(from, &finding->earlier,
				finding->earlier.sequence != finding->access.sequence);
	return to;
}

void ts_checkjson_fill(const struct ts_checkjson *from, const struct ts_check *check, uint32_t what,
		       Ts__Rpc__ReplayResult *to)
{
	const struct ts_check_finding *findings;
	size_t n;

	to->checked = ts_pool_alloc(from->pool, TS_ARRAY_LEN(checks), sizeof(*to->checked));
	for (size_t i = 0; i < TS_ARRAY_LEN(checks); i++)
		if (checks[i].what != TS_CHECK_ALL && (what & checks[i].what))
			to->checked[to->n_checked++] = ts_pool_copy(from->pool, checks[i].name);
	findings = ts_check_findings(check, &n);
	to->findings = ts_pool_alloc(from->pool, n + 1, sizeof(*to->findings));
	for (size_t i = 0; i < n; i++)
		to->findings[to->n_findings++] = make_finding(from, &findings[i]);
	if (ts_check_n_more(check))
		TS_RPC_SET(to, more_findings, ts_check_n_more(check));
	if (ts_check_n_unlooked(check))
		TS_RPC_SET(to, unlooked, ts_check_n_unlooked(check));
}
