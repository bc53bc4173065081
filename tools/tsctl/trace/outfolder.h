/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output folder of a command: many files in folders of their own. Each file appears when it is
 * complete (outfile.h). An earlier file of the same name is replaced; other files stay.
 */
#pragma once

#include "tools/tsctl/trace/outfile.h"

struct ts_outfolder {
	const char *root;
	char *path; /* of the open file */
	struct ts_outfile file;
	unsigned int n_files;
};

/*
 * Creates the folder, unless it exists. The caller keeps `root`. Functions return TS_EXIT_OK, or
 * TS_EXIT_BAD after an error message.
 */
int ts_outfolder_open(struct ts_outfolder *folder, const char *root);
/*
 * Begins a file, and creates the missing folders of its path, which is relative and trusted. One
 * file is open at a time.
 */
int ts_outfolder_begin(struct ts_outfolder *folder, const char *path, FILE **ret_file);
/* Completes the open file. */
int ts_outfolder_finish(struct ts_outfolder *folder);
/* Frees the struct, and removes the open file. Accepts a zeroed struct. */
void ts_outfolder_deinit(struct ts_outfolder *folder);
