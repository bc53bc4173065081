/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of a list of addresses, in the form of a WorkerAnswer: each text once, frames by the
 * number of a text. Bounded, because untrusted files fill it. Not thread-safe.
 */
#pragma once

#include "sbt/intern.h"

#define TS_FOUND_MAX_NAME_BYTES 4096u		   /* longer names are cut */
#define TS_FOUND_MAX_TEXT_BYTES (8u * 1024 * 1024) /* further names are dropped */
#define TS_FOUND_MAX_FRAMES	(512u * 1024)	   /* further frames are dropped */
#define TS_FOUND_MAX_INLINED	64u		   /* frames of one address */

struct ts_found {
	struct ts_intern texts;
	struct ts_buffer lengths;   /* u32: length of each text */
	struct ts_buffer n_frames;  /* u32: frames of each address */
	struct ts_buffer functions; /* u32 per frame, like the next two */
	struct ts_buffer files;
	struct ts_buffer lines;
	uint32_t n_open; /* frames of the current address */
	bool full;	 /* something was dropped */
	int error;	 /* -ENOMEM; stays */
};

/* Initialise an empty list, and free the memory of a list. */
void ts_found_init(struct ts_found *found);
void ts_found_deinit(struct ts_found *found);

/* Returns the number of a text; 0: no text, or no room. The text ends at its first NUL. */
uint32_t ts_found_text(struct ts_found *found, const char *text);

/*
 * ts_found_frame() adds a frame to the current address, innermost first. ts_found_next() ends the
 * address.
 */
void ts_found_frame(struct ts_found *found, uint32_t function, uint32_t file, uint32_t line);
void ts_found_next(struct ts_found *found);
