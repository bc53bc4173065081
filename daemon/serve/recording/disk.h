/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps part of the disk free (`--keep-free`): no recording of the daemon may use it. A recording
 * takes space before the file system allocates it. The space counts as used from then on, so
 * sessions that write at the same time cannot pass the limit together.
 *
 * Thread-safe. The object must outlive its recordings.
 */
#pragma once

#include "daemon/serve/limits.h"

struct ts_disk;

/*
 * Creates the account of free disk. `notify_fd`: an eventfd that is written when a user has nearly
 * used up a share; -1: none. Returns 0 or -ENOMEM.
 */
int ts_disk_new(const struct ts_limits *limits, int notify_fd, struct ts_disk **ret_disk);
void ts_disk_free(struct ts_disk *disk); /* NULL is accepted */

/*
 * Takes space on the file system of `fd`. False: fewer free bytes than `--keep-free`, or too few
 * inodes, would remain; no space is taken. Call ts_disk_settle() once the space is allocated or not
 * needed.
 */
bool ts_disk_take(struct ts_disk *disk, int fd, uint64_t n_bytes, uint64_t n_files);
void ts_disk_settle(struct ts_disk *disk, uint64_t n_bytes, uint64_t n_files);

/* Requests the removal of finished traces, because a user has nearly used up a share. */
void ts_disk_press(struct ts_disk *disk);
/* True if ts_disk_press() was called since the last call. */
bool ts_disk_is_pressed(struct ts_disk *disk);
