/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace made of other traces into a new file: see copyout.h. The commands cut, merge and
 * dump call this file. This file also prints warnings and a summary.
 */
#include "tools/tsctl/trace/copyout.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>

/*
 * Reports the number of rows read as the progress, because rows are read and written one block at a
 * time.
 */
static void watch(struct ts_sbt_copy_source *sources, size_t n_sources,
		  struct ts_progress *progress)
{
	for (size_t i = 0; i < n_sources; i++)
		ts_source_watch_reader(sources[i].reader, progress);
}

static int write_trace(struct ts_sbt_copy_source *sources, size_t n_sources,
		       const struct ts_sbt_copy_options *options, struct ts_outfile *out,
		       struct ts_sbt_copy_report *ret_report)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	struct ts_progress progress;
	ts_cleanup(ts_closep) int fd =
		fcntl(out->fd < 0 ? STDOUT_FILENO : out->fd, F_DUPFD_CLOEXEC, 3);
	int r = fd < 0 ? -errno : ts_sbt_writer_new(fd, &writer);

	if (r)
		return r;
	ts_take_fd(&fd);
	ts_progress_init(&progress, "copying rows:", 0);
	watch(sources, n_sources, &progress);
	r = ts_sbt_copy(sources, n_sources, options, writer, ret_report);
	r = r ?: ts_sbt_writer_finish(writer);
	watch(sources, n_sources, NULL);
	ts_progress_deinit(&progress);
	return r;
}

/* Reports, in one line, what the copy lacks. */
static int complain_missing(const struct ts_sbt_copy_source *sources, size_t n_sources,
			    const struct ts_sbt_copy_report *report)
{
	if (report->n_damaged) {
		ts_complain("%s is damaged at byte %" PRIu64
			    ": %s; %s has all readable rows (%" PRIu64 " block%s are missing)",
			    report->damaged, report->damage.off, report->damage.text, "the copy",
			    report->n_damaged, report->n_damaged == 1 ? "" : "s");
		return TS_EXIT_FINDING;
	}
	for (size_t i = 0; i < n_sources; i++) {
		if (ts_sbt_reader_state(sources[i].reader) != TS_SBT_TRUNCATED)
			continue;
		ts_complain("%s is cut off: rows in the lost part are not in the copy",
			    sources[i].name);
		return TS_EXIT_FINDING;
	}
	return TS_EXIT_OK;
}

int ts_copy_out(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, const char *path,
		struct ts_sbt_copy_report *ret_report)
{
	ts_cleanup(ts_outfile_deinit) struct ts_outfile out = {0};
	int r;

	if (!strcmp(path, "-") && isatty(STDOUT_FILENO)) {
		ts_complain("a trace cannot be written to a terminal; name a file with -o");
		return TS_EXIT_BAD;
	}
	if (ts_outfile_open(&out, path))
		return TS_EXIT_BAD;
	r = write_trace(sources, n_sources, options, &out, ret_report);
	if (r) {
		ts_complain("cannot write %s: %s", out.shown,
			    r < 0 ? strerror(-r)
				  : "the rows are larger than the maximum size of a trace");
		return TS_EXIT_BAD;
	}
	if (ts_outfile_finish(&out))
		return TS_EXIT_BAD;
	/*
	 * A copy without the capture is correct and not a finding, but users must know it before
	 * they delete the whole trace.
	 */
	if (ret_report->n_left_out)
		ts_complain("%s has no capture for replay: keep the whole trace for `tsctl "
			    "replay --on vgpu`",
			    out.shown);
	return complain_missing(sources, n_sources, ret_report);
}

int ts_copy_out_print(const char *path, const struct ts_sbt_copy_report *report)
{
	char rows[TS_OUT_FIGURE_BYTES], sessions[TS_OUT_FIGURE_BYTES];

	if (!strcmp(path, "-"))
		return TS_EXIT_OK;
	ts_out_text(stdout, path);
	printf(": %s row%s of %s session%s\n", ts_out_count(rows, report->n_rows),
	       report->n_rows == 1 ? "" : "s", ts_out_count(sessions, report->n_sessions),
	       report->n_sessions == 1 ? "" : "s");
	return ts_finish_output(TS_EXIT_OK);
}
