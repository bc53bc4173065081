/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mini debug information: the symbol table that distributions leave in stripped files. The table is
 * in a whole ELF file, compressed by xz, in the section .gnu_debugdata.
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

/* Largest unpacked size. */
#define TS_MINI_DEBUG_MAX_BYTES (64u * 1024 * 1024)

/*
 * Unpacks and opens the inner file. *ret_elf uses *ret_bytes: call elf_end() first, then free().
 * Returns 0. -ENOENT: the file has no mini debug information. -EBADMSG: it cannot be unpacked, or
 * is too large. -ENOMEM: no memory.
 */
int ts_mini_debug_open(Elf *elf, Elf **ret_elf, uint8_t **ret_bytes);
