/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl repair: finishes, in place, a trace with a torn end. main.c runs it; sbt/rewrite repairs
 * the file.
 */
#include "sbt/repair.h"
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

static int print_json(const char *path, const struct ts_sbt_repair_report *report,
		      const struct ts_sbt_verify_report *verified, uint64_t bytes_before)
{
	Ts__Rpc__RepairReport message = TS__RPC__REPAIR_REPORT__INIT;
	struct ts_sbt_error first = verified->first;

	message.path = (char *)path;
	TS_RPC_SET(&message, changed, !report->was_finished);
	TS_RPC_SET(&message, bytes_before, bytes_before);
	TS_RPC_SET(&message, bytes_cut, report->cut_bytes);
	TS_RPC_SET(&message, bytes_after, report->file_bytes);
	TS_RPC_SET(&message, blocks, report->n_blocks);
	TS_RPC_SET(&message, rows, report->n_rows);
	if (verified->n_findings)
		message.error = first.text;
	return ts_json_print(&message.base);
}

static int print_report(const char *path, const struct ts_sbt_repair_report *report,
			const struct ts_sbt_verify_report *verified)
{
	char blocks[TS_OUT_FIGURE_BYTES], rows[TS_OUT_FIGURE_BYTES], cut[TS_OUT_FIGURE_BYTES];

	if (verified->n_findings) {
		ts_complain("%s is finished, but damaged at byte %" PRIu64
			    ": %s; `tsctl repair` cannot restore this part; the rest can be read",
			    path, verified->first.off, verified->first.text);
		return TS_EXIT_OK;
	}
	ts_out_text(stdout, path);
	if (report->was_finished)
		printf(": nothing to repair; the file was finished\n");
	else
		printf(": finished now; kept %s block%s with %s row%s, cut off %s\n",
		       ts_out_count(blocks, report->n_blocks), report->n_blocks == 1 ? "" : "s",
		       ts_out_count(rows, report->n_rows), report->n_rows == 1 ? "" : "s",
		       ts_out_bytes(cut, report->cut_bytes));
	return ts_finish_output(TS_EXIT_OK);
}

static void show_progress(uint64_t done_bytes, uint64_t file_bytes, void *data)
{
	struct ts_progress *progress = data;

	progress->total = file_bytes;
	ts_progress_step(progress, done_bytes);
}

struct asked {
	bool json;
};

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_repair(int argc, char **argv)
{
	struct ts_sbt_repair_report report = {0};
	struct ts_sbt_verify_report verified = {0};
	struct ts_sbt_error error = {0};
	struct ts_progress progress;
	ts_cleanup(ts_closep) int fd = -1;
	off_t bytes_before;
	struct ts_operands operands;
	struct asked asked = {0};
	const char *path;
	int r;

	if (ts_options_parse(&ts_command_repair, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (operands.n != 1) {
		ts_complain("takes one trace file: `tsctl repair run.sbt`");
		return TS_EXIT_BAD;
	}
	path = operands.words[0];
	fd = ts_source_open_file(path, O_RDWR);
	if (fd < 0)
		return TS_EXIT_BAD;
	bytes_before = lseek(fd, 0, SEEK_END);
	r = ts_sbt_repair(fd, &report, &error);
	if (r == -EBUSY) {
		ts_complain("%s is still being written; repair it when its writer has ended", path);
		return TS_EXIT_BAD;
	}
	if (r) {
		ts_source_complain(path, r, &error);
		return TS_EXIT_BAD;
	}
	if (report.was_finished) {
		ts_progress_init(&progress, "verifying", 0);
		r = ts_sbt_verify(fd,
				  &(struct ts_sbt_verify_options){.on_progress = show_progress,
								  .data = &progress},
				  &verified);
		ts_progress_deinit(&progress);
		if (r) {
			ts_source_complain(path, r, &verified.first);
			return TS_EXIT_BAD;
		}
	}
	if (asked.json)
		r = print_json(path, &report, &verified,
			       bytes_before > 0 ? (uint64_t)bytes_before : 0);
	else
		r = print_report(path, &report, &verified);
	return r ? r : verified.n_findings ? TS_EXIT_FINDING : TS_EXIT_OK;
}

const struct ts_command ts_command_repair = {
	.name = "repair",
	.summary = "finish a trace file that was cut off",
	.is_minor = true,
	.text = "usage: tsctl repair [--json] FILE\n"
		"\n"
		"Finish a trace whose writer died or whose end was lost, in place. Cut off the\n"
		"bytes after the last whole block, and append an index and an end marker. Earlier\n"
		"bytes stay unchanged. Damage inside a finished file is reported, not repaired;\n"
		"the other blocks can be read. Exit with 0 if FILE is finished and whole; 1 if it\n"
		"is finished but damaged; 2 if it is no trace or still being written.\n"
		"\n",
	.example = "repair run.sbt && tsctl verify run.sbt",
	.help_column = 10,
	.is_help_narrow = true,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_repair,
};
