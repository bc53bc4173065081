/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of an answer as a file: options, checks and output of the commands that draw.
 */
#pragma once

#include "replay/report/pictures/picture.h"
#include "tools/tsctl/trace/ask.h"

#include <stdio.h>

/* Values of --format, and their words. */
enum {
	TS_PICTURE_FILE_TEXT,
	TS_PICTURE_FILE_JSON,
	TS_PICTURE_FILE_SVG,
	TS_PICTURE_FILE_PNG
};
extern const char *const ts_picture_file_formats[];
#define TS_PICTURE_FILE_EXPECTS "expected `text`, `json`, `svg` or `png`"

static inline bool ts_picture_file_is_drawn(unsigned int format)
{
	return format == TS_PICTURE_FILE_SVG || format == TS_PICTURE_FILE_PNG;
}

/*
 * Checks --format together with --json and --output; sets *is_json. Returns TS_EXIT_OK, or
 * TS_EXIT_BAD after an error message.
 */
int ts_picture_file_check(unsigned int format, const char *output, bool *is_json);

/* Sets the options of a picture of this trace. The title is the name of the file. */
void ts_picture_file_options(const struct ts_about *about, uint64_t width,
			     struct ts_picture_options *ret_options);

/*
 * Writes a picture to `output`, NULL: standard output, and frees `svg`. `format` is SVG or PNG. `r`
 * is the result of the function that drew it. Returns TS_EXIT_OK, or TS_EXIT_BAD after an error
 * message.
 */
int ts_picture_file_write(const char *output, unsigned int format, int r, char *svg,
			  size_t n_bytes);
/* The same into an open file, which stays open. */
int ts_picture_file_put(FILE *file, unsigned int format, const char *svg, size_t n_bytes);
