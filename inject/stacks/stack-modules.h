/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ELF files are mapped where, as MODULE definitions: what turns a stack's addresses into names,
 * later and elsewhere.
 */
#pragma once

#include "inject/ring/definitions.h"

#define TS_MODULES_MAX 4096u

struct ts_modules {
	struct ts_definitions *definitions;
	enum ts_clock clock;
	uint64_t n_added, n_removed; /* the loader's counts when last looked */
	uint32_t n;
	struct ts_module *known; /* mapped, TS_MODULES_MAX of them */
	struct ts_module *found;
};

/* Returns 0 or -ENOMEM. */
int ts_modules_init(struct ts_modules *modules, struct ts_definitions *definitions,
		    enum ts_clock clock);

/*
 * Defines what was mapped, and what went, since the last call. Takes the loader's lock for a moment: for a
 * thread of ours only. *ret_unloaded: something went.
 */
void ts_modules_update(struct ts_modules *modules, bool *ret_unloaded);
