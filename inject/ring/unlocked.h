/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's own memory, which costs only its touched pages, also after mlockall(). A program that
 * locks its memory and has set RLIMIT_MEMLOCK accordingly has not budgeted for the shim.
 *
 * Under MCL_FUTURE a plain mmap() populates the whole mapping, counts it as locked, and fails
 * beyond the limit. The functions here map one page, unlock it, and let this unlocked mapping grow,
 * so the limit needs room for one page only. MCL_CURRENT locks everything that is mapped at that
 * moment, so nothing large is mapped before its use.
 *
 * Thread-safe and signal-safe. errno is not preserved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns zeroed private memory, from the kernel's mmap() and mremap() only. The caller unmaps it
 * with munmap(). NULL: no memory.
 */
void *ts_unlocked_map(size_t n_bytes);

/* Grows such a mapping, perhaps at another address. NULL: no memory, and the old mapping stays. */
void *ts_unlocked_grow(void *at, size_t n_old, size_t n_new);

/*
 * Extends a mapping of a shared file: maps the next n_bytes of the file, after the byte that is
 * mapped just before `end`. It needs no descriptor of the file. Returns the address of the first of
 * these bytes; the page before is mapped, too. The new mapping has the madvise() flags of the old
 * one. NULL: no memory.
 */
void *ts_unlocked_map_behind(const void *end, size_t n_bytes);

/* Unmaps the result of ts_unlocked_map_behind() for the same n_bytes. */
void ts_unlocked_unmap_behind(void *at, size_t n_bytes);

/* Unlocks memory that another function mapped. */
void ts_unlocked_release(void *at, size_t n_bytes);
