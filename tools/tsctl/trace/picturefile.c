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

const char *const ts_picture_file_formats[] = {
	[TS_PICTURE_FILE_TEXT] = "text",
	[TS_PICTURE_FILE_JSON] = "json",
	[TS_PICTURE_FILE_SVG] = "svg",
	NULL,
};

int ts_picture_file_check(unsigned int format, const char *output, bool *is_json)
{
	if (*is_json && format == TS_PICTURE_FILE_SVG) {
		ts_complain("--json and `--format svg` exclude each other");
		return TS_EXIT_BAD;
	}
	if (output && format != TS_PICTURE_FILE_SVG) {
		ts_complain("--output requires `--format svg`; text and JSON go to standard "
			    "output");
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

int ts_picture_file_write(const char *output, int r, char *svg, size_t n_bytes)
{
	ts_cleanup(ts_freep) char *owned = svg;
	ts_cleanup(ts_outfile_deinit) struct ts_outfile out = {.fd = -1};

	if (r) {
		ts_complain("cannot draw the picture: %s", strerror(-r));
		return TS_EXIT_BAD;
	}
	if (ts_outfile_open(&out, output))
		return TS_EXIT_BAD;
	fwrite(owned, 1, n_bytes, out.file);
	return ts_outfile_finish(&out);
}
