/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of addresses in an ELF file and its separate debug file: functions, functions inlined
 * into them, source lines. The files are untrusted. The limits of the process bound the cost; this
 * module does not. Not thread-safe.
 */
#pragma once

#include "daemon/worker/found.h"

struct ts_elf;

/* An NT_GNU_BUILD_ID note has 20 bytes; SBT has room for 32. */
#define TS_ELF_MAX_BUILD_ID 64u

/*
 * Opens a file. Takes ownership of the descriptors, also on failure; a descriptor is -1 if there is
 * no such file. `alternate` is the file that the debug file (or the file itself) names by
 * .gnu_debugaltlink. A debug file of another file is not used; ts_elf_why() then has the reason.
 * Returns 0, -ENOMEM, or -ENOEXEC: not an ELF file.
 */
int ts_elf_open(int fd, int debug_fd, int alternate_fd, struct ts_elf **ret_elf);
void ts_elf_free(struct ts_elf *elf); /* NULL is fine */

/* Returns the size of the file's own build id; 0: none. */
size_t ts_elf_build_id(const struct ts_elf *elf, const uint8_t **ret_build_id);
/*
 * Returns the build id of a further file that has more debug information and that the caller has
 * not passed; 0: there is no such file.
 */
size_t ts_elf_wants(const struct ts_elf *elf, const uint8_t **ret_build_id);
/*
 * Returns the name of the debug file, if the caller passed no debug file and the file itself has no
 * debug information. NULL: none.
 */
const char *ts_elf_debug_link(const struct ts_elf *elf);
/* True if the file or its debug file has readable debug information. */
bool ts_elf_has_debug_info(const struct ts_elf *elf);
/*
 * Returns a sentence (without a full stop) about a problem of the file; NULL: the file has no
 * problem.
 */
const char *ts_elf_why(const struct ts_elf *elf);

/*
 * Finds the symbols of ascending addresses. These are the file's own addresses, before the file is
 * mapped. Adds one entry for each to `found`. Returns 0 or -ENOMEM.
 */
int ts_elf_find(struct ts_elf *elf, const uint64_t *addresses, size_t n, struct ts_found *found);
