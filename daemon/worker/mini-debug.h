/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mini debug information: the symbol table that distributions leave in stripped files, a whole ELF file compressed by xz
 * in the section .gnu_debugdata.
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

/* What it may unpack to. */
#define TS_MINI_DEBUG_MAX_BYTES (64u * 1024 * 1024)

/*
 * The file within. *ret_elf lies in *ret_bytes: elf_end() first, then free(). 0, -ENOENT: there is none, -EBADMSG: it
 * cannot be unpacked, or is too large, -ENOMEM.
 */
int ts_mini_debug_open(Elf *elf, Elf **ret_elf, uint8_t **ret_bytes);
