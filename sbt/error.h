/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sbt's functions return besides 0 and negative errnos, and where in a file it was.
 */
#pragma once

#include <stdint.h>

enum ts_sbt_error_code {
	TS_SBT_E_NOT_SBT = 1,	/* no trace file: its first bytes are something else, or too few */
	TS_SBT_E_VERSION = 2,	/* a version or a feature that this reader does not know */
	TS_SBT_E_CORRUPT = 3,	/* a checksum or a structure is wrong */
	TS_SBT_E_LIMIT = 4,	/* larger than what this reader accepts */
	TS_SBT_E_NOT_FOUND = 5, /* no such id, type or block */
	TS_SBT_E_END = 6,	/* no more rows */
	TS_SBT_E_FULL = 7,	/* too much is unwritten: seal first */
};

struct ts_sbt_error {
	int code;	/* a negative errno, or TS_SBT_E_*; 0: none */
	uint64_t off;	/* the byte of the file that it is about */
	char text[200]; /* what is wrong, for a person; no offset in it, no full stop */
};
