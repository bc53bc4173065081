/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the last message of `tsctl record` from the daemon's summary. cmd-record.c calls this
 * file. Recordings without GPU operations, recordings of other processes only, and incomplete
 * recordings have messages of their own.
 */
#include "tools/tsctl/record/recordsummary.h"

#include "replay/report/info/why-empty.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `types` ends with NULL. */
static uint64_t rows_of(const Ts__Rpc__RecordingSummary *summary, const char *const *types)
{
	uint64_t n = 0;

	for (size_t i = 0; i < summary->n_counts; i++)
		for (size_t j = 0; types[j]; j++)
			if (!strcmp(summary->counts[i]->key, types[j]))
				n += summary->counts[i]->value;
	return n;
}

/* Types of GPU operations. */
static const char *const gpu_types[] = {"kernel", "memcpy", "memset", NULL};
static const char *const pause_types[] = {"pause", NULL};

/*
 * True for a count of calls without device rows, or of device rows without a call. Most often, the
 * missing rows are already counted under another reason.
 */
static bool is_unjoined(const char *reason)
{
	return !strncmp(reason, "unjoined_", 9);
}

/*
 * Formats the losses by reason and returns true if there are any. Only `tsctl info` prints losses
 * that follow from other losses.
 */
static bool format_lost(const Ts__Rpc__RecordingSummary *summary, char *text, size_t n_text)
{
	char count[TS_OUT_FIGURE_BYTES];
	bool others = false;
	size_t at = 0;

	*text = 0;
	for (size_t i = 0; i < summary->n_lost; i++)
		others |= !is_unjoined(summary->lost[i]->key);
	for (size_t i = 0; i < summary->n_lost; i++)
		if (at < n_text && !(others && is_unjoined(summary->lost[i]->key)))
			at += (size_t)snprintf(text + at, n_text - at, "%s%s %s", at ? ", " : "",
					       ts_out_count(count, summary->lost[i]->value),
					       summary->lost[i]->key);
	return summary->n_lost != 0;
}

/* Returns the path as the user gave it, or relative to the working directory. */
static const char *shown_path(const struct ts_record_summary *of)
{
	const char *written = of->summary->path;

	if (written && *written && strcmp(written, of->path))
		return written;
	return of->output ? of->output : strrchr(of->path, '/') + 1;
}

/* Reports a recording that has only calls of processes without the shim. */
static void report_observed(const char *path, const Ts__Rpc__RecordingSummary *summary)
{
	char count[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES], text[TS_WHY_BYTES];
	bool lost = format_lost(summary, text, sizeof(text));

	ts_complain("%s: %s call%s of %u process%s, host half only, %s, %s%s%s%s", path,
		    ts_out_count(count, summary->observed_calls),
		    summary->observed_calls == 1 ? "" : "s", summary->observed,
		    summary->observed == 1 ? "" : "es", ts_out_bytes(bytes, summary->bytes),
		    lost ? "LOST: " : "nothing lost", lost ? text : "",
		    summary->cut_short ? "; CUT SHORT: " : "",
		    summary->cut_short ? summary->cut_short : "");
}

/* Formats the amount that was captured for replay. */
static size_t format_captured(const Ts__Rpc__RecordingSummary *summary, char *text, size_t n_text)
{
	char bytes[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES];
	size_t at;

	if (!summary->captured)
		return 0;
	at = (size_t)snprintf(text, n_text,
			      "; captured %s for replay, which took %s in the program's threads",
			      ts_out_bytes(bytes, summary->captured_bytes),
			      ts_out_duration(took, summary->captured_ns));
	if (summary->unsupported)
		at += (size_t)snprintf(text + at, n_text - at,
				       ", except %u call%s (`tsctl info` lists their kinds)",
				       summary->unsupported, summary->unsupported == 1 ? "" : "s");
	if (summary->capture_ended)
		at += (size_t)snprintf(text + at, n_text - at, "; CAPTURE ENDED EARLY: %.64s",
				       summary->capture_ended);
	return at;
}

static uint64_t lost_of(const Ts__Rpc__RecordingSummary *summary, const char *reason)
{
	for (size_t i = 0; i < summary->n_lost; i++)
		if (!strcmp(summary->lost[i]->key, reason))
			return summary->lost[i]->value;
	return 0;
}

/*
 * Prints the number of captured operations. Needed for traces without GPU rows, which may still
 * have these.
 */
static void format_operations(const Ts__Rpc__RecordingSummary *summary, const char *path,
			      char *text, size_t n_text)
{
	static const char *const operation_types[] = {"operation", NULL};
	char count[TS_OUT_FIGURE_BYTES];
	uint64_t n = rows_of(summary, operation_types);

	if (n)
		snprintf(text, n_text,
			 "; but %s operation%s captured: `tsctl replay --on vgpu %.400s`",
			 ts_out_count(count, n), n == 1 ? " was" : "s were", path);
}

void ts_record_summary_print(const struct ts_record_summary *of)
{
	const Ts__Rpc__RecordingSummary *summary = of->summary;
	struct ts_why why = {.reason = summary->empty_reason,
			     .reason_text = summary->empty_text,
			     .reason_program = summary->empty_program,
			     .n_sessions = summary->sessions,
			     .n_annotations = summary->annotations,
			     .n_unjoined = lost_of(summary, "unjoined_api"),
			     .end = of->end,
			     .stopped = rows_of(summary, pause_types) != 0,
			     .hint = of->empty_hint};
	const char *path = shown_path(of);
	char count[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES], text[TS_WHY_BYTES],
		more[1024] = "", kept[64] = "";
	size_t at = 0;
	uint64_t n = rows_of(summary, gpu_types), n_kept;

	if (summary->error && *summary->error) {
		ts_complain("%s is incomplete: %s", path, summary->error);
		return;
	}
	if (of->quiet)
		return;
	if (summary->cut_short)
		at = (size_t)snprintf(more, sizeof(more), "; CUT SHORT: %.128s",
				      summary->cut_short);
	if (!n && summary->cut_short && !summary->observed) {
		bool lost = format_lost(summary, text, sizeof(text));

		format_operations(summary, path, more + at, sizeof(more) - at);
		ts_complain("%s holds no GPU operation%s%s%s", path, lost ? "; LOST: " : "", text,
			    more);
		return;
	}
	if (!n && summary->observed) {
		report_observed(path, summary);
		return;
	}
	if (!n) {
		ts_why_empty(&why, text);
		format_operations(summary, path, more + at, sizeof(more) - at);
		ts_complain("%s holds no GPU operation: %s%s", path, text, more);
		return;
	}
	at += format_captured(summary, more + at, sizeof(more) - at);
	if (summary->observed)
		at += (size_t)snprintf(more + at, sizeof(more) - at,
				       "; %" PRIu64 " calls of %u other process%s, host half only",
				       summary->observed_calls, summary->observed,
				       summary->observed == 1 ? "" : "es");
	if (summary->stopped)
		at += (size_t)snprintf(more + at, sizeof(more) - at,
				       "; %u process%s continued unrecorded", summary->stopped,
				       summary->stopped == 1 ? "" : "es");
	if (summary->refused)
		at += (size_t)snprintf(more + at, sizeof(more) - at, "; %u NOT RECORDED: %.256s",
				       summary->refused,
				       summary->empty_text && *summary->empty_text
					       ? summary->empty_text
					       : "tracesmithd refused it");
	if (summary->names_missing)
		snprintf(more + at, sizeof(more) - at, "; stacks have no names: %.128s",
			 summary->names_missing);
	n_kept = ts_rotation_kept(of->rotation, path);
	if (n_kept < n)
		snprintf(kept, sizeof(kept), "the last %s of ", ts_out_count(count, n_kept));
	if (format_lost(summary, text, sizeof(text)))
		ts_complain("%s: %s%s GPU operation%s, %s; LOST: %s%s; `tsctl info %s` explains",
			    path, kept, ts_out_count(count, n), n == 1 ? "" : "s",
			    ts_out_bytes(bytes, summary->bytes), text, more, path);
	else
		ts_complain("%s: %s%s GPU operation%s, %s, nothing lost%s", path, kept,
			    ts_out_count(count, n), n == 1 ? "" : "s",
			    ts_out_bytes(bytes, summary->bytes), more);
}
