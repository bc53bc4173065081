/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl index: stores checkpoints in a trace, so that the state at any instant is found without
 * reading the whole trace. main.c runs it; replay/state/checkpoint makes the checkpoints.
 */
#include "proto/rpc/json.h"
#include "replay/state/checkpoint/checkpoint.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <sys/stat.h>

static int complain(const char *path, int r, const struct ts_sbt_error *error)
{
	if (r == -EBUSY)
		ts_complain("%s is still being written; index it when it is finished", path);
	else if (r == -EFBIG || r == TS_E_LIVE || r == TS_SBT_E_LIMIT)
		ts_complain("%s has too many operations in progress at once for checkpoints; the "
			    "file is unchanged",
			    path);
	else if (r == -ENOSPC || r == -EDQUOT)
		ts_complain("cannot write to %s: %s; the file is unchanged", path, strerror(-r));
	else
		ts_source_complain(path, r, error);
	return TS_EXIT_BAD;
}

static int print_report(bool json, const char *path, const struct ts_state_checkpoints *made,
			bool is_new, uint64_t grown)
{
	Ts__Rpc__IndexReport report = TS__RPC__INDEX_REPORT__INIT;
	char n[TS_OUT_FIGURE_BYTES], rows[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES];

	if (json) {
		report.path = (char *)path;
		TS_RPC_SET(&report, checkpoints, made->n);
		TS_RPC_SET(&report, rows, made->n_rows);
		TS_RPC_SET(&report, unanswered, made->n_unanswered);
		TS_RPC_SET(&report, added_bytes, grown);
		return ts_json_print(&report.base);
	}
	ts_out_text(stdout, path);
	if (!made->n)
		printf(" is short: it needs no checkpoints\n");
	else if (!is_new)
		printf(" has %s checkpoints already\n", ts_out_count(n, made->n));
	else
		printf(": %s checkpoints of %s rows, in %s\n", ts_out_count(n, made->n),
		       ts_out_count(rows, made->n_rows), ts_out_bytes(bytes, grown));
	return ts_finish_output(TS_EXIT_OK);
}

static int add_checkpoints(struct ts_sbt_append *append, uint32_t every,
			   struct ts_state_checkpoints *ret_made)
{
	struct ts_sbt_reader *reader = ts_sbt_append_reader(append);
	struct ts_progress progress;
	int r;

	ts_progress_init(&progress, "reading rows:", 0);
	ts_source_watch_reader(reader, &progress);
	r = ts_state_checkpoints_add(append, every, ret_made);
	ts_source_watch_reader(reader, NULL);
	ts_progress_deinit(&progress);
	return r;
}

static int make(const char *path, int fd, uint32_t every, bool json)
{
	ts_cleanup(ts_sbt_append_freep) struct ts_sbt_append *append = NULL;
	struct ts_sbt_error error = {0};
	struct ts_state_checkpoints made = {0};
	struct ts_sbt_reader *reader;
	struct stat status, before;
	int r = ts_sbt_append_new(fd, &append, &error);

	if (r)
		return complain(path, r, &error);
	reader = ts_sbt_append_reader(append);
	if (fstat(fd, &before))
		return complain(path, -errno, &error);
	r = ts_source_join(reader, path);
	if (r)
		return complain(path, r, ts_sbt_reader_error(reader));
	if (!ts_state_checkpoints_find(reader, &made))
		return print_report(json, path, &made, false, 0);
	r = add_checkpoints(append, every, &made);
	if (r)
		return complain(path, r, r == -EFBIG ? &error : ts_sbt_reader_error(reader));
	r = made.n ? ts_sbt_append_commit(append, &error) : 0;
	if (r)
		return complain(path, r, &error);
	if (fstat(fd, &status))
		return complain(path, -errno, &error);
	return print_report(json, path, &made, true, (uint64_t)(status.st_size - before.st_size));
}

struct asked {
	uint64_t every; /* 0: the default */
	bool json;
};

static const struct ts_option command_options[] = {
	{"every", TS_OPTION_LONG, TS_OPTION_NUMBER(struct asked, every), .min = 1,
	 .max = UINT32_MAX, .metavar = "N", .expects = "expected a number of rows, like 8192",
	 .help = "store one checkpoint for N rows (default: about 8192)"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_index(int argc, char **argv)
{
	ts_cleanup(ts_closep) int fd = -1;
	struct ts_operands operands;
	struct asked asked = {0};

	if (ts_options_parse(&ts_command_index, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (operands.n != 1) {
		ts_complain("takes one trace file: `tsctl index run.sbt`");
		return TS_EXIT_BAD;
	}
	fd = ts_source_open_file(operands.words[0], O_RDWR);
	return fd < 0 ? TS_EXIT_BAD
		      : make(operands.words[0], fd, (uint32_t)asked.every, asked.json);
}

const struct ts_command ts_command_index = {
	.name = "index",
	.summary = "store checkpoints in a trace, for `tsctl state`",
	.is_minor = true,
	.text = "usage: tsctl index [OPTION ...] FILE\n"
		"\n"
		"Read all of FILE and append checkpoints to it. A checkpoint has the state at an\n"
		"instant. `tsctl state` then starts from the nearest checkpoint instead of the\n"
		"trace's start, and takes a few milliseconds in a trace of any length. Other\n"
		"readers see no change. Use checkpoints in traces of millions of operations. A\n"
		"hundred million operations take about a minute.\n"
		"\n"
		"If the recording has several files, FILE is the newest. It gets the checkpoints\n"
		"of all files. They are valid until a file is deleted.\n"
		"\n",
	.example = "index run.sbt && tsctl state --at 12.5s run.sbt",
	.help_column = 17,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_index,
};
