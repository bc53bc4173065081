/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the output terminal, and progress lines: see term.h. Commands and printers call
 * this file. Nothing is cached: a command asks once and keeps the answer.
 */
#include "tools/tsctl/screen/term.h"

#include "proto/abi/base.h"
#include "proto/abi/clock.h"

#include <inttypes.h>
#include <sys/ioctl.h>

#define SHOW_AFTER_NS UINT64_C(1000000000)
#define SHOW_EVERY_NS UINT64_C(100000000)

bool ts_term_color(FILE *file)
{
	const char *no_color = secure_getenv("NO_COLOR"), *term = secure_getenv("TERM");

	return isatty(fileno(file)) && (!no_color || !*no_color) && term && strcmp(term, "dumb");
}

unsigned int ts_term_width(FILE *file)
{
	struct winsize size;

	if (!isatty(fileno(file)))
		return 0;
	if (ioctl(fileno(file), TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

unsigned int ts_term_height(FILE *file)
{
	struct winsize size;

	if (!isatty(fileno(file)))
		return 0;
	if (ioctl(fileno(file), TIOCGWINSZ, &size) || !size.ws_row)
		return 24;
	return size.ws_row;
}

const char *ts_term_style(FILE *file, enum ts_style style)
{
	static const char *const sequences[] = {
		[TS_STYLE_PLAIN] = "\033[0m",  [TS_STYLE_BOLD] = "\033[1m",
		[TS_STYLE_DIM] = "\033[2m",    [TS_STYLE_RED] = "\033[31m",
		[TS_STYLE_GREEN] = "\033[32m", [TS_STYLE_YELLOW] = "\033[33m",
	};

	return ts_term_color(file) ? sequences[style] : "";
}

void ts_progress_init(struct ts_progress *progress, const char *what, uint64_t total)
{
	progress->what = what;
	progress->total = total;
	progress->is_terminal = isatty(STDERR_FILENO);
	progress->start_ns = ts_clock_monotonic_ns();
	progress->shown_ns = 0;
	progress->done = 0;
}

void ts_progress_step(struct ts_progress *progress, uint64_t done)
{
	uint64_t now;

	if (!progress->is_terminal)
		return;
	now = ts_clock_monotonic_ns();
	if (now - progress->start_ns < SHOW_AFTER_NS ||
	    (progress->shown_ns && now - progress->shown_ns < SHOW_EVERY_NS))
		return;
	/* Unflushed output on the same terminal would mix with the progress line. */
	if (!progress->shown_ns && isatty(STDOUT_FILENO))
		fflush(stdout);
	progress->shown_ns = now;
	if (progress->total)
		fprintf(stderr, "\r\033[K%s %u%%", progress->what,
			(unsigned int)(100 * (double)done / (double)progress->total));
	else
		fprintf(stderr, "\r\033[K%s %" PRIu64, progress->what, done);
	fflush(stderr);
}

void ts_progress_add(struct ts_progress *progress, uint64_t more)
{
	progress->done += more;
	ts_progress_step(progress, progress->done);
}

uint64_t ts_count_lines(const char *lines, size_t n_bytes)
{
	const char *end = lines + n_bytes;
	uint64_t n = 0;

	for (; lines < end; n++)
		lines = (const char *)memchr(lines, '\n', (size_t)(end - lines)) + 1;
	return n;
}

void ts_progress_deinit(struct ts_progress *progress)
{
	if (progress->shown_ns)
		fputs("\r\033[K", stderr);
	progress->shown_ns = 0;
}
