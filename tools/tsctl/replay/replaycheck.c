/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --check`: parses the list of checks and prints the findings. cmd-replay.c and
 * replayexec.c call this file.
 */
#include "replay/report/replay/checkjson.h"
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX_CHECKS 16u

const char *const ts_replaycheck_words[] = {"all", "races", "init", "bounds", "order", NULL};

/* Splits the list into names and returns their number, or 0 if a name is unknown. */
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
		ts_complain("--check %s: expected `all`, or some of races, init, bounds, order, "
			    "separated by commas",
			    text);
		return -EINVAL;
	}
	asked->query.check = names;
	asked->query.n_check = n;
	return 0;
}

static void print_thread(const Ts__Rpc__ReplaySide *side)
{
	printf("      block (%u,%u,%u), thread (%u,%u,%u), ", side->block[0], side->block[1],
	       side->block[2], side->thread[0], side->thread[1], side->thread[2]);
	if (side->source_file) {
		ts_out_text(stdout, side->source_file);
		printf(":%u, ", side->source_line);
	}
	printf("PTX line %u", side->line);
	if (side->function) {
		printf(" of ");
		ts_out_text(stdout, side->function);
	}
	putchar('\n');
}

static void print_side(const char *what, bool with_access, const Ts__Rpc__ReplaySide *side)
{
	printf("    %s", what);
	if (with_access && side->access)
		printf("%s by ", !strcmp(side->access, "atomic") ? "atomic access" : side->access);
	ts_replayside_print(side);
	ts_replayside_print_site(side);
	putchar('\n');
	if (side->function)
		print_thread(side);
}

static void print_memory(const Ts__Rpc__ReplayFinding *finding)
{
	uint64_t offset = finding->address - finding->allocation;
	char figures[2][TS_OUT_FIGURE_BYTES];

	printf("%s byte%s at %s0x%" PRIx64, ts_out_count(figures[0], finding->bytes),
	       finding->bytes == 1 ? "" : "s",
	       strcmp(finding->space, "shared") ? "" : "shared memory's ", finding->address);
	if (!finding->has_allocation)
		return;
	ts_out_count(figures[1], finding->allocation_bytes);
	if (offset < finding->allocation_bytes)
		printf(", offset %" PRIu64 " of the %s bytes", offset, figures[1]);
	else
		printf(", nearest to the %s bytes at 0x%" PRIx64, figures[1], finding->allocation);
	if (finding->has_allocation_op_id) {
		printf(" that operation %" PRIu64 " allocated", finding->allocation_op_id);
	} else if (finding->allocation_name) {
		printf(" of the variable ");
		ts_out_text(stdout, finding->allocation_name);
	} else {
		printf(" that no captured call allocated, such as a variable of a module");
	}
}

static const struct kind {
	const char *kind, *text, *earlier, *access;
	bool with_access;
} kinds[] = {
	/* Ordered by severity, worst first. */
	{"unordered", "Nothing orders two operations", "earlier: ", "later: ", true},
	{"race", "Data race: nothing orders two threads", "one: ", "the other: ", true},
	{"out-of-bounds", "Access outside all allocations", "", "", true},
	{"stray", "Access to memory that the kernel has no pointer to", "", "", true},
	{"host-changed", "Host memory changed during a copy from it", "copied by ",
	 "seen changed for ", false},
	{"unwritten", "Read of memory that was never written", "", "", true},
};

static size_t kind_of(const Ts__Rpc__ReplayFinding *finding)
{
	size_t i = 0;

	while (i + 1 < TS_ARRAY_LEN(kinds) && strcmp(kinds[i].kind, finding->kind))
		i++;
	return i;
}

const Ts__Rpc__ReplayFinding *ts_replaycheck_gravest(const Ts__Rpc__ReplayResult *result)
{
	const Ts__Rpc__ReplayFinding *found = result->findings[0];

	for (size_t i = 1; i < result->n_findings; i++)
		if (kind_of(result->findings[i]) < kind_of(found))
			found = result->findings[i];
	return found;
}

static void print_finding(const Ts__Rpc__ReplayFinding *finding)
{
	const struct kind *kind = &kinds[kind_of(finding)];
	const Ts__Rpc__ReplaySide *earlier = finding->earlier, *access = finding->access;

	printf("%s: ", kind->text);
	print_memory(finding);
	if (finding->kernel) {
		printf(", in kernel ");
		ts_out_text(stdout, finding->kernel);
	}
	if (finding->times > 1)
		printf(", %" PRIu64 " times", finding->times);
	putchar('\n');
	if (earlier)
		print_side(kind->earlier, kind->with_access, earlier);
	if (access)
		print_side(kind->access, kind->with_access, access);
	ts_replayside_print_remedies("to order them:", finding->n_remedies, finding->remedies);
	if (earlier && (!access || access->op_id != earlier->op_id))
		ts_replayside_print_stack(earlier, earlier->stack);
	if (access)
		ts_replayside_print_stack(access, access->stack);
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
	for (size_t kind = 0; kind < TS_ARRAY_LEN(kinds); kind++)
		for (size_t i = 0; i < result->n_findings; i++)
			if (kind_of(result->findings[i]) == kind)
				print_finding(result->findings[i]);
	if (result->more_findings)
		printf("%" PRIu64 " more that are not listed.\n", result->more_findings);
	if (result->unlooked)
		printf("%" PRIu64 " accesses were not checked: there are too many to keep.\n",
		       result->unlooked);
}
