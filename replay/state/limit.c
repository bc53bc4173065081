/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for limits: see limit.h. */
#include "replay/state/limit.h"

#include <stdio.h>

#include "proto/abi/base.h"

struct limit {
	unsigned int n;
	const char *of;
};

static const struct limit limits[] = {
	[TS_E_STREAMS - TS_E_STREAMS] = {TS_MAX_STREAMS, "streams"},
	[TS_E_THREADS - TS_E_STREAMS] = {TS_MAX_THREADS, "threads"},
	[TS_E_LIVE - TS_E_STREAMS] = {TS_MAX_LIVE,
				      "allocations, events, calls or operations at one time"},
	[TS_E_POOLS - TS_E_STREAMS] = {TS_MAX_POOLS, "memory pools"},
	[TS_E_GROUPS - TS_E_STREAMS] = {TS_MAX_MEMORY_GROUPS,
					"combinations of device, pool, stream and kind of memory"},
	[TS_E_PARTS - TS_E_STREAMS] = {TS_MAX_TIMELINE_PARTS,
				       "cells of a timeline (streams times --width)"},
	[TS_E_EMULATED - TS_E_STREAMS] = {TS_MAX_EMULATED, "calls and operations"},
	[TS_E_GRAPH_NODES - TS_E_STREAMS] = {TS_MAX_GRAPH_NODES, "calls and operations"},
	[TS_E_GRAPH_EDGES - TS_E_STREAMS] = {TS_MAX_GRAPH_EDGES, "dependencies"},
	[TS_E_DIFF_NAMES - TS_E_STREAMS] = {TS_MAX_DIFF_NAMES, "names of operations"},
};

/* Writes a number with its digits in groups: 262144 as "262,144". */
static void group_digits(unsigned int n, char ret_text[16])
{
	if (n >= 1000000)
		snprintf(ret_text, 16, "%u,%03u,%03u", n / 1000000, n / 1000 % 1000, n % 1000);
	else
		snprintf(ret_text, 16, "%u,%03u", n / 1000, n % 1000);
}

bool ts_limit_text(int r, const struct ts_sbt_error *error, char ret_text[TS_LIMIT_TEXT_BYTES])
{
	static const char remedy[] = "`tsctl cut` writes a trace of a part of it";
	char n[16];

	if (r == TS_SBT_E_LIMIT) {
		bool is_said = error && error->code == r && *error->text;

		snprintf(ret_text, TS_LIMIT_TEXT_BYTES, "is too large to read%s%s; %s",
			 is_said ? ": " : "", is_said ? error->text : "", remedy);
		return true;
	}
	if (r < TS_E_STREAMS || r >= TS_E_LIMIT_UNKNOWN)
		return false;
	group_digits(limits[r - TS_E_STREAMS].n, n);
	snprintf(ret_text, TS_LIMIT_TEXT_BYTES, "holds more than %s %s, which is the limit; %s", n,
		 limits[r - TS_E_STREAMS].of, remedy);
	return true;
}

_Static_assert(TS_ARRAY_LEN(limits) == TS_E_LIMIT_UNKNOWN - TS_E_STREAMS, "each has a text");
