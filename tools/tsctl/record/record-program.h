/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be told of a program before it runs: where it lies, and whether preloading reaches it.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct ts_program {
	char path[PATH_MAX];
	bool is_elf;
	bool is_static;	    /* an ELF file without an interpreter: no loader, so no preloading */
	bool is_privileged; /* set-user-ID, set-group-ID or file capabilities: the loader ignores us */
	bool has_static_cudart;	      /* holds device code, and asks the loader for no libcudart */
	char script_interpreter[256]; /* of a script's first line; "" where it is none */
};

/*
 * Finds `command` as execvp() would, and reads the first bytes of it. Returns 0, -ENOENT where there is
 * none, -EACCES where it may not be executed, -EISDIR, or another negative errno.
 */
int ts_program_find(const char *command, struct ts_program *ret_program);

/* Looks at one file: is it an ELF file without PT_INTERP? Returns 0 or a negative errno. */
int ts_program_inspect(const char *path, struct ts_program *program);
