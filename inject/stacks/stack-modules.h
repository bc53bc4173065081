/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the mapped ELF files as MODULE definitions. Readers use them later, and on other
 * machines, to turn addresses into names.
 */
#pragma once

#include "inject/ring/definitions.h"

#define TS_MODULES_MAX 4096u

struct ts_modules {
	struct ts_definitions *definitions;
	enum ts_clock clock;
	uint64_t n_added, n_removed; /* the loader's counts at the last update */
	uint32_t n;
	struct ts_module *known; /* mapped modules, at most TS_MODULES_MAX */
	struct ts_module *found;
};

/* Returns 0 or -ENOMEM. */
int ts_modules_init(struct ts_modules *modules, struct ts_definitions *definitions,
		    enum ts_clock clock);

/*
 * Defines the modules that were mapped or unmapped since the last call. Takes the loader's lock for
 * a moment, so only a thread of the shim may call it. *ret_unloaded is set if a module was
 * unmapped.
 */
void ts_modules_update(struct ts_modules *modules, bool *ret_unloaded);
