/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file of a command. It appears when it is complete; until then the earlier file stays.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct ts_outfile {
	FILE *file;
	int fd;	   /* of `file`; not for standard output */
	int error; /* errno of the first failed write, as stdio does not keep it; 0: none */
	/* The final path. NULL: standard output, or not a regular file. */
	char *path;
	char *temporary;  /* NULL: none */
	bool is_nameless; /* the temporary name is not assigned yet */
	const char *shown;
};

/*
 * Opens an output; `path` NULL or "-" is standard output. Pipes and devices are written directly. A
 * trace is never overwritten. Returns TS_EXIT_OK, or TS_EXIT_BAD after an error message.
 */
int ts_outfile_open(struct ts_outfile *out, const char *path);
/* Moves the file to its path. Returns TS_EXIT_OK, or TS_EXIT_BAD after an error message. */
int ts_outfile_finish(struct ts_outfile *out);
/* Frees the struct. Removes the file unless ts_outfile_finish() succeeded. */
void ts_outfile_deinit(struct ts_outfile *out);
