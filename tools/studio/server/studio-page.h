/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, embedded in the program by the build (embed.py). */
#pragma once

#include <stddef.h>

struct ts_studio_file {
	const char *name; /* "index.html" */
	const char *content_type;
	const unsigned char *bytes;
	size_t n_bytes;
};

extern const struct ts_studio_file ts_studio_files[];
extern const size_t ts_studio_n_files;
