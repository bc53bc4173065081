/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws `tsctl watch` on a terminal: see watchscreen.h. cmd-watch.c calls this file. Each line is
 * built in full, cleaned, and cut to the screen's width. Lines beyond the screen are left out.
 */
#include "tools/tsctl/machine/watchscreen.h"

#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define HOME	   "\033[H"
#define CLEAR	   "\033[2J"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"

__attribute__((format(printf, 3, 4))) static void put(struct ts_watchscreen *screen,
						      enum ts_style style, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (screen->line + 1 >= screen->height)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs(ts_term_style(stdout, style), stdout);
	ts_out_text_cut(stdout, text, screen->width);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	fputs(CLEAR_LINE "\n", stdout);
	screen->line++;
}

void ts_watchscreen_begin(struct ts_watchscreen *screen)
{
	screen->width = ts_term_width(stdout);
	screen->height = ts_term_height(stdout);
	screen->line = 0;
	fputs(screen->is_cleared ? HOME : HOME CLEAR, stdout);
	screen->is_cleared = true;
}

static void put_rates(struct ts_watchscreen *screen, const Ts__Rpc__WatchLine *line)
{
	char api[TS_OUT_FIGURE_BYTES], kernels[TS_OUT_FIGURE_BYTES], copies[TS_OUT_FIGURE_BYTES];
	char file[TS_OUT_FIGURE_BYTES], waiting[TS_OUT_FIGURE_BYTES], count[TS_OUT_FIGURE_BYTES];

	put(screen, TS_STYLE_PLAIN, "  per second %s calls, %s kernels, %s copies",
	    ts_out_count(api, (uint64_t)(line->api_per_s + 0.5)),
	    ts_out_count(kernels, (uint64_t)(line->kernels_per_s + 0.5)),
	    ts_out_count(copies, (uint64_t)(line->copies_per_s + 0.5)));
	put(screen, TS_STYLE_PLAIN, "  file %s, to be written %s",
	    ts_out_bytes(file, line->file_bytes), ts_out_bytes(waiting, line->unwritten_bytes));
	for (size_t i = 0; i < line->n_lost; i++)
		if (line->lost[i]->value)
			put(screen, TS_STYLE_RED, "  lost %s: %s", line->lost[i]->key,
			    ts_out_count(count, line->lost[i]->value));
}

static double percent(uint64_t ns, uint64_t of_ns)
{
	return of_ns ? 100.0 * (double)ns / (double)of_ns : 0;
}

static void put_gpus(struct ts_watchscreen *screen, const Ts__Rpc__WatchLine *line)
{
	char live[TS_OUT_FIGURE_BYTES], peak[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES];

	if (line->host_half_only) {
		put(screen, TS_STYLE_DIM, "  not preloaded: only its calls are recorded");
		return;
	}
	if (!line->has_window_ns) {
		put(screen, TS_STYLE_DIM, "  GPU activity is not known at this time");
		return;
	}
	put(screen, TS_STYLE_PLAIN, "  memory %s, at most %s", ts_out_bytes(live, line->live_bytes),
	    ts_out_bytes(peak, line->peak_bytes));
	for (size_t i = 0; i < line->n_devices; i++) {
		const Ts__Rpc__TimelineDevice *device = line->devices[i];

		put(screen, TS_STYLE_GREEN,
		    "  GPU %" PRIu32 " busy %.1f %%: compute %.1f %%, copies %.1f %%, both %.1f %%",
		    device->device, percent(device->busy_ns, line->window_ns),
		    percent(device->compute_ns, line->window_ns),
		    percent(device->copy_ns, line->window_ns),
		    percent(device->overlap_ns, line->window_ns));
	}
	if (!line->n_devices)
		put(screen, TS_STYLE_DIM, "  no GPU operation");
	for (size_t i = 0; i < line->n_kernels; i++)
		put(screen, TS_STYLE_PLAIN, "  %5.1f %%  %10s  %s",
		    percent(line->kernels[i]->ns, line->kernels_ns),
		    ts_out_duration(took, line->kernels[i]->ns), line->kernels[i]->name);
}

static void put_capture(struct ts_watchscreen *screen, const Ts__Rpc__LiveCapture *capture)
{
	char bytes[TS_OUT_FIGURE_BYTES], most[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES];

	put(screen, capture->ended ? TS_STYLE_YELLOW : TS_STYLE_PLAIN,
	    "  capture %s: %s%s%s, took %s in the program's threads%s%s",
	    capture->state ? capture->state : "?", ts_out_bytes(bytes, capture->bytes),
	    capture->max_bytes ? " of " : "",
	    capture->max_bytes ? ts_out_bytes(most, capture->max_bytes) : "",
	    ts_out_duration(took, capture->ns), capture->ended ? ": " : "",
	    capture->ended ? capture->ended : "");
}

void ts_watchscreen_session(struct ts_watchscreen *screen, const Ts__Rpc__WatchLine *line)
{
	put(screen, TS_STYLE_BOLD, "%u  %s  %s", line->pid, line->state,
	    line->program ? line->program : "");
	put_rates(screen, line);
	if (line->capture)
		put_capture(screen, line->capture);
	put_gpus(screen, line);
}

void ts_watchscreen_end(struct ts_watchscreen *screen)
{
	(void)screen;
	fputs(CLEAR_REST, stdout);
}
