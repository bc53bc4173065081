/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found about a list of addresses, gathered in the form in which a WorkerAnswer carries it: texts
 * once, frames by number. Bounded, for what fills it is a stranger's file. One thread.
 */
#pragma once

#include "sbt/intern.h"

#define TS_FOUND_MAX_NAME_BYTES 4096u		   /* longer names are cut */
#define TS_FOUND_MAX_TEXT_BYTES (8u * 1024 * 1024) /* further names are left out */
#define TS_FOUND_MAX_FRAMES	(512u * 1024)	   /* further ones are left out */
#define TS_FOUND_MAX_INLINED	64u		   /* frames of one address */

struct ts_found {
	struct ts_intern texts;
	struct ts_buffer lengths;   /* u32 each, of texts */
	struct ts_buffer n_frames;  /* u32 each, of addresses */
	struct ts_buffer functions; /* u32 each, as the two below */
	struct ts_buffer files;
	struct ts_buffer lines;
	uint32_t n_open; /* frames of the address at hand */
	bool full;	 /* something was left out */
	int error;	 /* -ENOMEM; sticky */
};

void ts_found_init(struct ts_found *found);
void ts_found_deinit(struct ts_found *found);

/* A text's number; 0 for none, and where there is no room. Ends at its first NUL. */
uint32_t ts_found_text(struct ts_found *found, const char *text);

/* One more frame of the address at hand, innermost first; then the address is done. */
void ts_found_frame(struct ts_found *found, uint32_t function, uint32_t file, uint32_t line);
void ts_found_next(struct ts_found *found);
