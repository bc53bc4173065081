/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the shim's own that costs what is touched of it, also after mlockall(): a program that locks its memory, and has
 * RLIMIT_MEMLOCK for that, has neither counted with ours.
 *
 * Under MCL_FUTURE a plain mmap() populates all of a mapping, counts all of it as locked, and fails beyond the limit. The functions here
 * map one page, unlock it, and let that unlocked mapping grow; so the limit needs room for one page. MCL_CURRENT
 * locks everything that is mapped at that moment, so nothing large is mapped before its use.
 *
 * Thread-safe, and signal-safe. errno is not preserved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zeroed private memory, from mmap() alone. The caller unmaps it by munmap(). NULL: there is none. */
void *ts_unlocked_map(size_t n_bytes);

/* Makes such a mapping larger, maybe elsewhere. NULL: there is no room, and the old mapping stays. */
void *ts_unlocked_grow(void *at, size_t n_old, size_t n_new);

/*
 * Maps n_bytes of a shared file once more that follow the byte before `end`, which is mapped. Needs no descriptor of the file.
 * Returns where the byte of `end` is mapped; the page before it is mapped along with it. The new mapping has the old one's madvise() flags.
 * NULL: there is no room.
 */
void *ts_unlocked_map_behind(const void *end, size_t n_bytes);

/* Unmaps what ts_unlocked_map_behind() returned for the same n_bytes. */
void ts_unlocked_unmap_behind(void *at, size_t n_bytes);

/* Unlocks what was mapped otherwise. */
void ts_unlocked_release(void *at, size_t n_bytes);
