/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the offsets of the functions that an ELF file exports. The file is untrusted. Not
 * thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * Finds for each name the offset in the file of its first instruction; 0: the file lacks the
 * function. Closes `fd`, on failure too. Returns 0, -ENOMEM, or -ENOEXEC: not an ELF file of this
 * machine.
 */
int ts_elf_offsets(int fd, char *const *names, size_t n, uint64_t *ret_offsets);
