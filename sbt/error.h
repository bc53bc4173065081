/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of sbt beside 0 and negative errnos, and their place in a file. */
#pragma once

#include <stdint.h>

enum ts_sbt_error_code {
	TS_SBT_E_NOT_SBT = 1,	/* not a trace file: it begins with other bytes or is too short */
	TS_SBT_E_VERSION = 2,	/* a version or a feature that this reader does not know */
	TS_SBT_E_CORRUPT = 3,	/* a checksum or a structure is wrong */
	TS_SBT_E_LIMIT = 4,	/* the file, or a part of it, is larger than this reader accepts */
	TS_SBT_E_NOT_FOUND = 5, /* no such id, type or block */
	TS_SBT_E_END = 6,	/* no more rows */
	/* the session has too many unwritten bytes: call its _seal() first */
	TS_SBT_E_FULL = 7,
};

struct ts_sbt_error {
	int code;	/* a negative errno, or TS_SBT_E_*; 0: none */
	uint64_t off;	/* offset in the file, in bytes */
	char text[200]; /* the cause, for a person; without offset and full stop */
};
