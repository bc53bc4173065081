/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl memory: how much memory was live over a trace, who held most of it, what was never freed.
 */
#include "replay/state/memory.h"

#include "proto/rpc/json.h"
#include "replay/report/misusejson.h"
#include "replay/report/names.h"
#include "replay/report/stackjson.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/source.h"
#include "tools/tsctl/term.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_LISTED 10u
#define MAX_LISTED     (1u << 20)

struct asked {
	const char *session;
	unsigned long long limit;
	bool json, stacks, wide;
};

static char *kind_name(struct ts_pool *pool, uint32_t kind)
{
	const char *name = ts_name_memory_kind(kind);

	return name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "kind %" PRIu32, kind);
}

static void make_holders(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_memory_holders *holders, bool stacks, size_t *ret_n,
			 Ts__Rpc__MemoryHolder ***ret_messages)
{
	Ts__Rpc__MemoryHolder **messages =
		ts_pool_alloc(pool, holders->n_largest + 1, sizeof(*messages));

	for (size_t i = 0; i < holders->n_largest; i++) {
		const struct ts_memory_holder *holder = &holders->largest[i];
		Ts__Rpc__MemoryHolder *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_holder__init(message);
		TS_RPC_SET(message, session, holder->session);
		TS_RPC_SET(message, address, holder->row.address);
		TS_RPC_SET(message, bytes, holder->row.bytes);
		message->kind = kind_name(pool, holder->row.memory_kind);
		if (holder->row.device != TS_NO_DEVICE)
			TS_RPC_SET(message, device, holder->row.device);
		TS_RPC_SET(message, start_ns, holder->row.start_ns);
		TS_RPC_SET(message, op_id, holder->row.op_id);
		ts_stackjson_thread(resolver, pool, holder->session, holder->thread, &message->tid,
				    &message->has_tid, &message->thread_name);
		if (stacks && holder->stack)
			message->stack = ts_stackjson_make(resolver, pool, holder->session,
							   holder->stack, holder->call_ns);
		messages[i] = message;
	}
	*ret_n = holders->n_largest;
	*ret_messages = messages;
}

static void make_groups(struct ts_pool *pool, const struct ts_memory *memory,
			Ts__Rpc__MemoryReport *report)
{
	report->groups = ts_pool_alloc(pool, memory->n_groups + 1, sizeof(*report->groups));
	for (size_t i = 0; i < memory->n_groups; i++) {
		const struct ts_memory_group *group = &memory->groups[i];
		Ts__Rpc__MemoryGroup *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_group__init(message);
		TS_RPC_SET(message, session, group->session);
		if (group->device != TS_NO_DEVICE)
			TS_RPC_SET(message, device, group->device);
		message->kind = kind_name(pool, group->kind);
		if (group->pool)
			TS_RPC_SET(message, pool, group->pool);
		if (group->stream != TS_NO_DEVICE)
			TS_RPC_SET(message, stream, group->stream);
		TS_RPC_SET(message, allocs, group->n_allocs);
		TS_RPC_SET(message, frees, group->n_frees);
		TS_RPC_SET(message, total_bytes, group->total_bytes);
		TS_RPC_SET(message, peak_bytes, group->peak_bytes);
		TS_RPC_SET(message, peak_ns, group->peak_ns);
		TS_RPC_SET(message, live_bytes, group->live_bytes);
		report->groups[report->n_groups++] = message;
	}
}

static void make_points(struct ts_pool *pool, const struct ts_memory *memory,
			Ts__Rpc__MemoryReport *report)
{
	uint64_t part_ns = (memory->to_ns - memory->from_ns) / TS_MEMORY_POINTS + 1;

	report->points = ts_pool_alloc(pool, TS_MEMORY_POINTS, sizeof(*report->points));
	for (size_t i = 0; i < TS_MEMORY_POINTS && memory->peak_bytes; i++) {
		Ts__Rpc__MemoryPoint *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_point__init(message);
		TS_RPC_SET(message, start_ns, memory->from_ns + i * part_ns);
		TS_RPC_SET(message, bytes, memory->points[i]);
		report->points[report->n_points++] = message;
	}
}

static void make_report(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, bool stacks, Ts__Rpc__MemoryReport *report)
{
	ts__rpc__memory_report__init(report);
	TS_RPC_SET(report, peak_bytes, memory->peak_bytes);
	if (memory->peak_bytes)
		TS_RPC_SET(report, peak_ns, memory->peak_ns);
	make_holders(resolver, pool, &memory->at_peak, stacks, &report->n_at_peak,
		     &report->at_peak);
	TS_RPC_SET(report, peak_allocations, memory->at_peak.n);
	make_holders(resolver, pool, &memory->never_freed, stacks, &report->n_never_freed,
		     &report->never_freed);
	TS_RPC_SET(report, never_freed_allocations, memory->never_freed.n);
	TS_RPC_SET(report, never_freed_bytes, memory->never_freed.bytes);
	make_groups(pool, memory, report);
	make_points(pool, memory, report);
	TS_RPC_SET(report, unknown_frees, memory->n_unknown_frees);
	TS_RPC_SET(report, damaged, memory->is_damaged);
}

/* ---- for people --------------------------------------------------------------------------------- */

static void add_number(struct ts_table *table, bool is_known, uint32_t number)
{
	if (is_known)
		ts_table_addf(table, "%" PRIu32, number);
	else
		ts_table_add(table, "");
}

static void print_groups(const Ts__Rpc__MemoryReport *report, bool wide)
{
	static const char *const cells[] = {"SESSION", "DEVICE", "PEAK",   "AT END", "ALLOCS",
					    "FREES",   "POOL",	 "STREAM", "KIND"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!report->n_groups || ts_table_new("rrrrrrrrl", &table))
		return;
	putchar('\n');
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_groups; i++) {
		const Ts__Rpc__MemoryGroup *group = report->groups[i];

		ts_table_addf(table, "%u", group->session);
		add_number(table, group->has_device, group->device);
		ts_table_add(table, ts_out_bytes(figure, group->peak_bytes));
		ts_table_add(table, ts_out_bytes(figure, group->live_bytes));
		ts_table_add(table, ts_out_count(figure, group->allocs));
		ts_table_add(table, ts_out_count(figure, group->frees));
		if (group->has_pool)
			ts_table_addf(table, "0x%" PRIx64, group->pool);
		else
			ts_table_add(table, "");
		add_number(table, group->has_stream, group->stream);
		ts_table_add(table, group->kind);
	}
	ts_table_print(table, stdout, 2, wide);
}

static void print_holders(const struct asked *asked, const char *title, uint64_t n, size_t n_listed,
			  Ts__Rpc__MemoryHolder *const *holders)
{
	char bytes[TS_OUT_FIGURE_BYTES];

	if (!n)
		return;
	printf("\n%s%s%s (%" PRIu64 ")\n", ts_term_style(stdout, TS_STYLE_BOLD), title,
	       ts_term_style(stdout, TS_STYLE_PLAIN), n);
	for (size_t i = 0; i < n_listed; i++) {
		const Ts__Rpc__MemoryHolder *holder = holders[i];

		printf("  %10s  0x%012" PRIx64 "  %s", ts_out_bytes(bytes, holder->bytes),
		       holder->address, holder->kind);
		if (holder->has_device)
			printf(", device %u", holder->device);
		if (holder->has_tid)
			printf(", thread %u", holder->tid);
		putchar('\n');
		if (asked->stacks && holder->stack)
			ts_text_stack(holder->stack, 14);
	}
	if (n > n_listed)
		printf("  and %" PRIu64 " more: --limit lists them\n", n - n_listed);
}

static void print_points(const Ts__Rpc__MemoryReport *report)
{
	static const char levels[] = " .:-=+*#%@";

	if (!report->peak_bytes)
		return;
	printf("  over time  [");
	for (size_t i = 0; i < report->n_points; i++) {
		uint64_t bytes = report->points[i]->bytes;
		/* Something is never shown as nothing. */
		double level = (double)bytes / (double)report->peak_bytes * 9;

		putchar(levels[bytes ? (level < 1 ? 1 : (int)level) : 0]);
	}
	puts("]");
}

static void print_report(const struct asked *asked, const struct ts_source *source,
			 const Ts__Rpc__MemoryReport *report)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(source->reader);
	char figure[TS_OUT_FIGURE_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, source->path);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	if (!report->n_groups && !report->unknown_frees && !report->misuse_count) {
		puts(": no memory was allocated.");
		return;
	}
	printf(": at most %s on devices", ts_out_bytes(figure, report->peak_bytes));
	if (report->has_peak_ns)
		printf(", at %s s", ts_out_seconds(figure, report->peak_ns > origin_ns
								   ? report->peak_ns - origin_ns
								   : 0));
	putchar('\n');
	print_points(report);
	print_groups(report, asked->wide);
	print_holders(asked, "Largest at the peak", report->peak_allocations, report->n_at_peak,
		      report->at_peak);
	print_holders(asked, "Never freed, as far as was recorded", report->never_freed_allocations,
		      report->n_never_freed, report->never_freed);
	if (report->unknown_frees)
		printf("\n%" PRIu64
		       " times memory was freed whose allocation is not in the trace.\n",
		       report->unknown_frees);
	ts_text_misuses(report, origin_ns, asked->stacks, asked->wide);
}

static int tell(const struct asked *asked, struct ts_source *source)
{
	struct ts_resolver_options options = {.session = source->session};
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = NULL;
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = NULL;
	ts_cleanup(ts_misuses_freep) struct ts_misuses *misuses = NULL;
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__MemoryReport report;
	int status, r = ts_resolver_new(source->reader, &options, &resolver);

	if (!r)
		r = ts_memory_read(source->reader, source->session, (size_t)asked->limit, &memory);
	if (!r)
		r = ts_misuses_read(source->reader, source->session, (size_t)asked->limit,
				    &misuses);
	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	make_report(resolver, &pool, memory, asked->json || asked->stacks, &report);
	ts_misusejson_fill(resolver, &pool, misuses, asked->json || asked->stacks, &report);
	if (asked->json) {
		status = ts_json_print(&report.base);
	} else {
		print_report(asked, source, &report);
		status = ts_finish_output(TS_EXIT_OK);
	}
	if (status || !memory->is_damaged)
		return status;
	ts_source_complain(source->path, TS_SBT_E_CORRUPT, ts_sbt_reader_error(source->reader));
	return TS_EXIT_BAD;
}

static int run_memory(int argc, char **argv)
{
	static const struct option longs[] = {
		{"limit", required_argument, NULL, 'n'}, {"session", required_argument, NULL, 's'},
		{"stacks", no_argument, NULL, 'S'},	 {"wide", no_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},	 {0},
	};
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	struct asked asked = {.limit = DEFAULT_LISTED};
	int option;

	while ((option = ts_option_next(argc, argv, ":n:s:j", longs)) != -1) {
		if (option == 'n') {
			if (ts_parse_number(optarg, 0, MAX_LISTED, &asked.limit)) {
				ts_complain("--limit %s: it is a number of allocations, at most %u",
					    optarg, MAX_LISTED);
				return TS_EXIT_BAD;
			}
		} else if (option == 's')
			asked.session = optarg;
		else if (option == 'S')
			asked.stacks = true;
		else if (option == 'w')
			asked.wide = true;
		else if (option == 'j')
			asked.json = true;
		else
			return TS_EXIT_BAD;
	}
	if (ts_one_trace(argc, asked.session, "memory", ""))
		return TS_EXIT_BAD;
	if (ts_source_open(&source, asked.session ? NULL : argv[optind], asked.session))
		return TS_EXIT_BAD;
	return tell(&asked, &source);
}

const struct ts_command ts_command_memory = {
	.name = "memory",
	.summary = "tell what memory was live, who held it and what was not freed",
	.help = "usage: tsctl memory [OPTION ...] FILE | --session N\n"
		"\n"
		"Tells how much memory was live at most, per device, kind, pool and allocating\n"
		"stream; who held it then; and what was never freed. Bytes count from the call\n"
		"that allocated to the call that freed. Copies and sets of memory that had been\n"
		"freed, and frees of it, are told of with the calls (not what kernels and graphs\n"
		"are given: it is not recorded); and pools that grew though enough was unused.\n"
		"\n"
		"  -n, --limit N     allocations that are listed, 10 unless told\n"
		"      --stacks      with the host stack of each of their calls\n"
		"      --wide        tables in full\n"
		"  -s, --session N   a session of the daemon, by number or pid\n"
		"      --json        one JSON object, with the stacks\n"
		"\n"
		"example: tsctl memory --stacks run.sbt\n",
	.run = run_memory,
};
