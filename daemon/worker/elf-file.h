/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file, and its separate debug file, know about addresses: functions, what is inlined into
 * them, source lines. Files are a stranger's; what this costs is bounded by the limits of the process that it
 * runs in, not here. One thread.
 */
#pragma once

#include "daemon/worker/found.h"

struct ts_elf;

/* An NT_GNU_BUILD_ID note has 20 bytes; SBT has room for 32. */
#define TS_ELF_MAX_BUILD_ID 64u

/*
 * Takes descriptors over, -1 where there is none, at success and at failure. `alternate` is what the debug file
 * (or the file itself) refers to with .gnu_debugaltlink. A debug file that is not this file's is not
 * used: ts_elf_why() says so. -ENOEXEC: not an ELF file.
 */
int ts_elf_open(int fd, int debug_fd, int alternate_fd, struct ts_elf **ret_elf);
void ts_elf_free(struct ts_elf *elf); /* NULL is fine */

/* The file's own; 0: it has none. */
size_t ts_elf_build_id(const struct ts_elf *elf, const uint8_t **ret_build_id);
/* Of a file that would tell more and was not given; 0: none. */
size_t ts_elf_wants(const struct ts_elf *elf, const uint8_t **ret_build_id);
/* Name of its debug file, of which nothing was given or found; NULL: none. */
const char *ts_elf_debug_link(const struct ts_elf *elf);
bool ts_elf_has_debug_info(const struct ts_elf *elf);
/* What is wrong with it, in a sentence without a full stop; NULL: nothing. */
const char *ts_elf_why(const struct ts_elf *elf);

/* Ascending addresses, in the file's own view. Adds one entry each to `found`. */
int ts_elf_find(struct ts_elf *elf, const uint64_t *addresses, size_t n, struct ts_found *found);
