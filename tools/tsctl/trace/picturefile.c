/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pictures to files: see picturefile.h. cmd-timeline.c and cmd-memory.c call this file;
 * replay/report/pictures draws.
 */
#include "tools/tsctl/trace/picturefile.h"

#include "proto/abi/base.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/tsctl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const ts_picture_file_formats[] = {
	[TS_PICTURE_FILE_TEXT] = "text",
	[TS_PICTURE_FILE_JSON] = "json",
	[TS_PICTURE_FILE_SVG] = "svg",
	[TS_PICTURE_FILE_PNG] = "png",
	NULL,
};

int ts_picture_file_check(unsigned int format, const char *output, bool *is_json)
{
	if (*is_json && ts_picture_file_is_drawn(format)) {
		ts_complain("--json and `--format %s` exclude each other",
			    ts_picture_file_formats[format]);
		return TS_EXIT_BAD;
	}
	if (output && !ts_picture_file_is_drawn(format)) {
		ts_complain("--output requires `--format svg` or `png`; text and JSON go to "
			    "standard output");
		return TS_EXIT_BAD;
	}
	if (format == TS_PICTURE_FILE_PNG && (!output || !strcmp(output, "-")) &&
	    isatty(STDOUT_FILENO)) {
		ts_complain("png cannot be written to a terminal; name a file with -o");
		return TS_EXIT_BAD;
	}
	*is_json = *is_json || format == TS_PICTURE_FILE_JSON;
	return TS_EXIT_OK;
}

void ts_picture_file_options(const struct ts_about *about, uint64_t width,
			     struct ts_picture_options *ret_options)
{
	const char *name = strrchr(about->path, '/');

	*ret_options = (struct ts_picture_options){
		.width = (uint32_t)width,
		.title = name && name[1] ? name + 1 : about->path,
		.origin_ns = about->origin_ns,
	};
}

int ts_picture_file_put(FILE *file, unsigned int format, const char *svg, size_t n_bytes)
{
	ts_cleanup(ts_freep) unsigned char *png = NULL;
	size_t n_png;
	int r;

	if (format == TS_PICTURE_FILE_SVG) {
		fwrite(svg, 1, n_bytes, file);
		return TS_EXIT_OK;
	}
	r = ts_picture_png(svg, n_bytes, &png, &n_png);
	if (r) {
		ts_complain("cannot draw the picture: %s", ts_picture_why(r));
		return TS_EXIT_BAD;
	}
	fwrite(png, 1, n_png, file);
	return TS_EXIT_OK;
}

int ts_picture_file_write(const char *output, unsigned int format, int r, char *svg, size_t n_bytes)
{
	ts_cleanup(ts_freep) char *owned = svg;
	ts_cleanup(ts_outfile_deinit) struct ts_outfile out = {.fd = -1};

	if (r) {
		ts_complain("cannot draw the picture: %s", ts_picture_why(r));
		return TS_EXIT_BAD;
	}
	if (ts_outfile_open(&out, output))
		return TS_EXIT_BAD;
	if (ts_picture_file_put(out.file, format, owned, n_bytes))
		return TS_EXIT_BAD;
	return ts_outfile_finish(&out);
}
