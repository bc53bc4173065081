/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --check`: what is looked for, and what was found, for people. */
#include "replay/report/checkjson.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/replay.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX_CHECKS 16u

/* The names in the list, and how many; 0 where one of them is none. */
static size_t read_list(struct ts_pool *pool, const char *text, char *names[MAX_CHECKS])
{
	uint32_t what;
	size_t n = 0;

	for (const char *at = text; at && n < MAX_CHECKS; at = strchr(at, ',')) {
		at += at != text;
		names[n++] = ts_pool_printf(pool, "%.*s", (int)strcspn(at, ","), at);
	}
	return n == MAX_CHECKS || ts_checkjson_what(names, n, &what) ? 0 : n;
}

bool ts_replaycheck_is_list(const char *text)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	char *names[MAX_CHECKS];

	return read_list(&pool, text, names) != 0;
}

int ts_replaycheck_parse(struct ts_replay_asked *asked, const char *text)
{
	char **names = ts_pool_alloc(&asked->pool, MAX_CHECKS, sizeof(*names));
	size_t n = read_list(&asked->pool, text, names);

	if (!n) {
		ts_complain("--check %s: it is `all`, or some of races, init, bounds, order, with "
			    "commas between",
			    text);
		return -EINVAL;
	}
	asked->query.check = names;
	asked->query.n_check = n;
	return 0;
}

static void print_side(const char *what, const Ts__Rpc__ReplaySide *side)
{
	printf("  %s", what);
	if (side->access)
		printf(" %s", !strcmp(side->access, "atomic") ? "atomic access" : side->access);
	printf(" by operation %" PRIu64 " (%s", side->op_id, side->kind ? side->kind : "?");
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
	if (result->n_findings)
		printf(": %" PRIu64 " found\n", result->n_findings + result->more_findings);
	else
		puts(": nothing found");
	for (size_t i = 0; i < result->n_findings; i++)
		print_finding(result->findings[i]);
	if (result->more_findings)
		printf("%" PRIu64 " more that are not listed.\n", result->more_findings);
	if (result->unlooked)
		printf("%" PRIu64 " accesses could not be looked at: there are too many to keep.\n",
		       result->unlooked);
}
