/* SPDX-License-Identifier: Apache-2.0 */
/* Where an ELF file has the functions that it offers to others. The file is a stranger's; one thread. */
#pragma once

#include "proto/abi/base.h"

/*
 * Of each name the place in the file at which its first instruction lies, 0 where the file does not have it. Takes the
 * descriptor over. -ENOEXEC: not an ELF file of this machine.
 */
int ts_elf_offsets(int fd, char *const *names, size_t n, uint64_t *ret_offsets);
