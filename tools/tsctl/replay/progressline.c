/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress of a replay: see progressline.h. cmd-replay.c calls this file. */
#include "tools/tsctl/replay/progressline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/abi/clock.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"

#define EVERY_NS      UINT64_C(2000000000)
#define LINE_BYTES    512u
#define LEAST_COLUMNS 20u
#define MOST_COLUMNS  200u

void ts_progressline_init(struct ts_progressline *progress, bool is_asked)
{
	const char *term = secure_getenv("TERM");

	*progress = (struct ts_progressline){
		.is_asked = is_asked,
		.is_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb"),
	};
}

bool ts_progressline_is_wanted(const struct ts_progressline *progress)
{
	return progress->is_asked || progress->is_terminal;
}

/* Returns text for a phase of the replay; the daemon sends phases by their names. */
static const char *words(const char *doing)
{
	static const char *const all[][2] = {
		{"reading", "reading the trace"},
		{"emulating", "emulating"},
		{"replaying", "replaying"},
		{"comparing", "replaying again, to compare"},
		{"ordering", "replaying in other orders"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(all); i++)
		if (!strcmp(all[i][0], doing))
			return all[i][1];
	return "working";
}

/* Prints the amount: operations of a replay, rows, or virtual time. */
static size_t print_amount(char *line, size_t n, const struct ts_replay_progress_now *now,
			   uint64_t elapsed_ns)
{
	char done[TS_OUT_FIGURE_BYTES], all[TS_OUT_FIGURE_BYTES], rate[TS_OUT_FIGURE_BYTES];
	double seconds = (double)elapsed_ns / 1e9;
	int written;

	if (!strcmp(now->doing, "emulating"))
		written = snprintf(line, n, "%s of about %s", ts_out_duration(done, now->done),
				   ts_out_duration(all, now->all));
	else if (now->all)
		written = snprintf(line, n, "%s of %s operations", ts_out_count(done, now->done),
				   ts_out_count(all, now->all));
	else
		written = snprintf(line, n, "%s rows", ts_out_count(done, now->done));
	if (strcmp(now->doing, "emulating") && seconds > 0.1)
		written += snprintf(line + written, n - (size_t)written, ", %s a second",
				    ts_out_count(rate, (uint64_t)((double)now->done / seconds)));
	return (size_t)written;
}

static void print_line(char *line, size_t n, const struct ts_replay_progress_now *now,
		       uint64_t elapsed_ns)
{
	size_t at = (size_t)snprintf(line, n, "%s", words(now->doing));

	if (now->replay > 1)
		at += (size_t)snprintf(line + at, n - at, " (the %" PRIu32 ". time)", now->replay);
	at += (size_t)snprintf(line + at, n - at, ": ");
	at += print_amount(line + at, n - at, now, elapsed_ns);
	if (now->operation[0] && at < n)
		snprintf(line + at, n - at, ": %.120s", now->operation);
}

void ts_progressline_draw(void *data, const struct ts_replay_progress_now *now)
{
	struct ts_progressline *progress = data;
	uint64_t now_ns = ts_clock_monotonic_ns();
	unsigned int columns = ts_term_width(stderr);
	char line[LINE_BYTES];

	if (!ts_progressline_is_wanted(progress))
		return;
	if (!progress->start_ns || progress->replay != now->replay ||
	    progress->doing != words(now->doing)) {
		progress->start_ns = now_ns;
		progress->replay = now->replay;
		progress->doing = words(now->doing);
	}
	if (!progress->is_terminal && progress->said_ns && now_ns < progress->said_ns + EVERY_NS)
		return;
	progress->said_ns = now_ns;
	print_line(line, sizeof(line), now, now_ns - progress->start_ns);
	if (progress->is_terminal)
		fputs("\r\033[K", stderr);
	if (columns < LEAST_COLUMNS || columns > MOST_COLUMNS)
		columns = progress->is_terminal ? 80 : MOST_COLUMNS;
	ts_out_text_cut(stderr, line, columns - 1);
	if (!progress->is_terminal)
		fputc('\n', stderr);
	fflush(stderr);
	progress->is_shown = progress->is_terminal;
}

void ts_progressline_wipe(struct ts_progressline *progress)
{
	if (!progress->is_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->is_shown = false;
}
