/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles names by libiberty, which knows Rust's names too. debug-info.c, elf-file.c and jit.c
 * call this module. The result can be much longer than the name, and a crafted name can take long.
 * This module limits the length of the name; the limits of the process bound the rest.
 */
#include "daemon/worker/worker-demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

#define MAX_MANGLED_BYTES (16u * 1024)

char *ts_worker_demangle(const char *mangled)
{
	if (strnlen(mangled, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return NULL;
	if (!strncmp(mangled, "_R", 2))
		return rust_demangle(mangled, DMGL_PARAMS);
	if (strncmp(mangled, "_Z", 2) && strncmp(mangled, "___Z", 4))
		return NULL;
	/* The older Rust mangling is C++'s with a hash at its end, which users do not need. */
	if (strstr(mangled, "17h")) {
		char *name = rust_demangle(mangled, DMGL_PARAMS);

		if (name)
			return name;
	}
	return cplus_demangle_v3(mangled, DMGL_PARAMS | DMGL_ANSI);
}
