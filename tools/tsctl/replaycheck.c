/* SPDX-License-Identifier: Apache-2.0 */
/* What checks found (replay/check), as messages and as text. */
#include "tools/tsctl/replaycheck.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/names.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

static const struct {
	const char *name;
	uint32_t what;
} checks[] = {
	{"races", TS_CHECK_RACES}, {"init", TS_CHECK_INIT}, {"bounds", TS_CHECK_BOUNDS},
	{"order", TS_CHECK_ORDER}, {"all", TS_CHECK_ALL},
};

int ts_replaycheck_parse(const char *text, uint32_t *ret_what)
{
	uint32_t what = 0;

	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < TS_ARRAY_LEN(checks) &&
		       (strlen(checks[i].name) != n || strncmp(checks[i].name, at, n)))
			i++;
		if (i == TS_ARRAY_LEN(checks)) {
			ts_complain("--check %s: it is `all`, or some of races, init, bounds, "
				    "order, with commas between",
				    text);
			return -EINVAL;
		}
		what |= checks[i].what;
	}
	*ret_what = what;
	return 0;
}

const char *ts_replaycheck_kernel(const struct ts_exec_program *program,
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

static Ts__Rpc__ReplaySide *make_side(const struct ts_replaycheck *from,
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
	to->name = ts_pool_copy(from->pool, ts_replaycheck_kernel(from->program, row));
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

static Ts__Rpc__ReplayFinding *make_finding(const struct ts_replaycheck *from,
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

void ts_replaycheck_fill(const struct ts_replaycheck *from, const struct ts_check *check,
			 uint32_t what, Ts__Rpc__ReplayResult *to)
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

static void print_side(const char *what, const Ts__Rpc__ReplaySide *side)
{
	printf("  %s", what);
	if (side->access)
		printf(" %s", !strcmp(side->access, "atomic") ? "atomic access" : side->access);
	printf(" by operation %" PRIu64 " (%s", side->sequence, side->kind ? side->kind : "?");
	if (side->name) {
		printf(" of ");
		ts_out_text(stdout, side->name);
	}
	putchar(')');
	if (side->function) {
		printf(", block (%u,%u,%u), thread (%u,%u,%u), PTX line %u", side->block[0],
		       side->block[1], side->block[2], side->thread[0], side->thread[1],
		       side->thread[2], side->line);
		if (side->source_file) {
			printf(", ");
			ts_out_text(stdout, side->source_file);
			printf(":%u", side->source_line);
		}
	}
	putchar('\n');
	if (side->stack)
		ts_text_stack(side->stack, 4);
}

static void print_finding(const Ts__Rpc__ReplayFinding *finding)
{
	static const struct {
		const char *kind, *text, *first, *second;
	} texts[] = {
		{"race", "A data race", "this", "against an earlier"},
		{"unwritten", "A read of what nobody wrote", "this", ""},
		{"out-of-bounds", "An access outside of what is allocated", "this", ""},
		{"stray", "An access to memory that the kernel has no pointer to", "this", ""},
		{"unordered", "Operations that nothing orders", "this", "against an earlier"},
		{"host-changed", "Host memory changed while it was copied from",
		 "seen changed for the", "which was copied from by an earlier"},
	};
	size_t i = 0;

	while (i + 1 < TS_ARRAY_LEN(texts) && strcmp(texts[i].kind, finding->kind))
		i++;
	printf("%s: %" PRIu64 " bytes at %s0x%" PRIx64, texts[i].text, finding->bytes,
	       strcmp(finding->space, "shared") ? "" : "shared memory's ", finding->address);
	if (finding->has_allocation) {
		uint64_t offset = finding->address - finding->allocation;

		if (offset < finding->allocation_bytes)
			printf(", offset %" PRIu64 " of the %" PRIu64 " bytes at 0x%" PRIx64,
			       offset, finding->allocation_bytes, finding->allocation);
		else
			printf(", nearest to the %" PRIu64 " bytes at 0x%" PRIx64,
			       finding->allocation_bytes, finding->allocation);
	}
	if (finding->kernel) {
		printf(", in kernel ");
		ts_out_text(stdout, finding->kernel);
	}
	if (finding->times > 1)
		printf(", %" PRIu64 " times", finding->times);
	putchar('\n');
	if (finding->access)
		print_side(texts[i].first, finding->access);
	if (finding->earlier)
		print_side(texts[i].second, finding->earlier);
}

void ts_replaycheck_print(const Ts__Rpc__ReplayResult *result)
{
	if (!result->n_checked)
		return;
	printf("  checked for");
	for (size_t i = 0; i < result->n_checked; i++)
		printf("%s %s", i ? "," : "", result->checked[i]);
	printf(": %s\n", result->n_findings ? "" : "nothing found");
	for (size_t i = 0; i < result->n_findings; i++)
		print_finding(result->findings[i]);
	if (result->more_findings)
		printf("%" PRIu64 " more that are not listed.\n", result->more_findings);
	if (result->unlooked)
		printf("%" PRIu64 " accesses could not be looked at: there are too many to keep.\n",
		       result->unlooked);
}
