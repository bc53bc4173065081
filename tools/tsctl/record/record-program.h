/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a program before it runs: its path, and whether preloading works for it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct ts_program {
	char path[PATH_MAX];
	bool is_elf;
	/* An ELF file without an interpreter: there is no loader and no preloading. */
	bool is_static;
	/* Set-user-ID, set-group-ID or file capabilities: the loader ignores LD_PRELOAD. */
	bool is_privileged;
	/* The file has device code and does not need a shared libcudart. */
	bool has_static_cudart;
	char script_interpreter[256]; /* from a script's first line; else "" */
};

/*
 * Finds `command` as execvp() does and inspects it. Returns 0, -ENOENT (not found), -EACCES (not
 * executable), -EISDIR, or another negative errno.
 */
int ts_program_find(const char *command, struct ts_program *ret_program);

/* Inspects one file: is it ELF, and does it lack PT_INTERP? Returns 0 or a negative errno. */
int ts_program_inspect(const char *path, struct ts_program *program);
