/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a command makes: it is there when it is whole, and until then what was there before stays.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct ts_outfile {
	FILE *file;
	int fd;	   /* of `file`, unless that is standard output */
	int error; /* errno of the first write that failed; 0: none. stdio forgets it */
	char *path; /* what it is to be; NULL: standard output, or something that is no regular file */
	char *temporary;  /* NULL: there is none */
	bool is_nameless; /* it has not got the temporary name yet */
	const char *shown;
};

/*
 * `path` NULL or "-" is standard output. Pipes and devices are written as they are. A trace is never overwritten, that which is
 * read least of all. Returns TS_EXIT_OK, or TS_EXIT_BAD after a complaint.
 */
int ts_outfile_open(struct ts_outfile *out, const char *path);
/* Puts it in its place. Returns TS_EXIT_OK, or TS_EXIT_BAD after a complaint. */
int ts_outfile_finish(struct ts_outfile *out);
/* Without that, nothing is left of it. */
void ts_outfile_deinit(struct ts_outfile *out);
