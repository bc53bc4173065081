/* SPDX-License-Identifier: Apache-2.0 */
/* tsctl verify: checks each byte of a trace file. main.c runs it; sbt implements the check. */
#include "sbt/verify.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define MAX_SHOWN 20u

struct verify {
	struct ts_progress progress;
	unsigned int n_shown;
	bool quiet; /* do not list findings */
};

static void show_finding(const struct ts_sbt_error *error, void *data)
{
	struct verify *verify = data;

	if (verify->quiet || verify->n_shown++ >= MAX_SHOWN)
		return;
	ts_progress_deinit(&verify->progress);
	printf("  byte %" PRIu64 ": ", error->off);
	ts_out_text(stdout, error->text);
	putchar('\n');
}

static void show_progress(uint64_t done_bytes, uint64_t file_bytes, void *data)
{
	struct verify *verify = data;

	verify->progress.total = file_bytes;
	ts_progress_step(&verify->progress, done_bytes);
}

static bool is_finished(const struct ts_sbt_verify_report *report)
{
	return report->state == TS_SBT_FINISHED;
}

static int print_json(const char *path, const struct ts_sbt_verify_report *report)
{
	Ts__Rpc__VerifyReport message = TS__RPC__VERIFY_REPORT__INIT;
	Ts__Rpc__VerifyReport__CountsEntry entries[TS_ROW_EVENT_END], *counts[TS_ROW_EVENT_END];
	struct ts_sbt_error first = report->first;

	message.counts = counts;
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		Ts__Rpc__VerifyReport__CountsEntry *entry = &entries[message.n_counts];

		if (!ts_row_schema(type))
			continue;
		ts__rpc__verify_report__counts_entry__init(entry);
		entry->key = (char *)(uintptr_t)ts_row_schema(type)->name;
		TS_RPC_SET(entry, value, report->counts[type]);
		counts[message.n_counts++] = entry;
	}
	message.path = (char *)path;
	TS_RPC_SET(&message, ok, !report->n_findings);
	TS_RPC_SET(&message, finished, is_finished(report));
	TS_RPC_SET(&message, bytes, report->file_bytes);
	TS_RPC_SET(&message, blocks, report->n_blocks);
	TS_RPC_SET(&message, rows, report->n_rows);
	if (report->n_findings) {
		TS_RPC_SET(&message, bad_offset, report->first.off);
		message.error = first.text;
	}
	return ts_json_print(&message.base);
}

static void print_whole(const char *path, const struct ts_sbt_verify_report *report)
{
	char blocks[TS_OUT_FIGURE_BYTES], rows[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, path);
	printf(": %swhole%s, %s block%s, %s rows, %s", ts_term_style(stdout, TS_STYLE_GREEN),
	       ts_term_style(stdout, TS_STYLE_PLAIN), ts_out_count(blocks, report->n_blocks),
	       report->n_blocks == 1 ? "" : "s", ts_out_count(rows, report->n_rows),
	       ts_out_bytes(bytes, report->file_bytes));
	if (!is_finished(report))
		printf("; it is still being written");
	if (report->n_unknown_blocks || report->n_unknown_columns)
		printf("; %" PRIu64 " blocks and %" PRIu64 " columns are of a newer version",
		       report->n_unknown_blocks, report->n_unknown_columns);
	putchar('\n');
}

/* Prints one line to stderr as a summary, because the findings are already listed. */
static void print_damage(const char *path, const struct ts_sbt_verify_report *report)
{
	if (report->n_findings > MAX_SHOWN)
		printf("  and %" PRIu64 " more\n", report->n_findings - MAX_SHOWN);
	ts_complain("%s is damaged from byte %" PRIu64 " of %" PRIu64 " on: %s; %s", path,
		    report->good_bytes, report->file_bytes, report->first.text,
		    is_finished(report)
			    ? "`tsctl repair` cannot restore this part; the rest can be read"
			    : "`tsctl repair` finishes it after its last whole block");
}

static void print_report(const char *path, const struct ts_sbt_verify_report *report)
{
	if (report->n_findings)
		print_damage(path, report);
	else
		print_whole(path, report);
}

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct verify, quiet), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_verify(int argc, char **argv)
{
	struct verify verify = {0};
	struct ts_sbt_verify_options options = {.on_finding = show_finding,
						.on_progress = show_progress,
						.data = &verify};
	struct ts_sbt_verify_report report = {0};
	ts_cleanup(ts_closep) int fd = -1;
	struct ts_operands operands;
	const char *path;
	int r;

	if (ts_options_parse(&ts_command_verify, argc, argv, &verify, &operands))
		return TS_EXIT_BAD;
	if (operands.n != 1) {
		ts_complain("takes one trace file: `tsctl verify run.sbt`");
		return TS_EXIT_BAD;
	}
	path = operands.words[0];
	fd = ts_source_open_file(path, O_RDONLY);
	if (fd < 0)
		return TS_EXIT_BAD;
	ts_progress_init(&verify.progress, "verifying", 0);
	r = ts_sbt_verify(fd, &options, &report);
	ts_progress_deinit(&verify.progress);
	if (r) {
		ts_source_complain(path, r, &report.first);
		return TS_EXIT_BAD;
	}
	if (verify.quiet) {
		r = print_json(path, &report);
	} else {
		print_report(path, &report);
		r = ts_finish_output(TS_EXIT_OK);
	}
	return r ? r : report.n_findings ? TS_EXIT_FINDING : TS_EXIT_OK;
}

const struct ts_command ts_command_verify = {
	.name = "verify",
	.summary = "check that a trace file is whole",
	.text = "usage: tsctl verify [--json] FILE\n"
		"\n"
		"Read all of FILE and check its checksums, structure and index, and each id that\n"
		"a row refers to. List each error with the byte at which it begins. A file that\n"
		"was never finished counts as damaged, unless it is still being written. Rows are\n"
		"events, as in `tsctl info`. Exit with 0 if FILE is whole; 1 if it is damaged; 2\n"
		"if it is no trace.\n"
		"\n",
	.example = "verify run.sbt",
	.help_column = 10,
	.is_help_narrow = true,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_verify,
};
