/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of free disk (`--keep-free`) for all recordings of a daemon at once. A recording takes space before the file system
 * sets it aside, and the space counts as used from then on: many sessions that write at the same time do not come below the floor
 * together.
 *
 * Thread-safe. Outlives the recordings that count with it.
 */
#pragma once

#include "daemon/serve/limits.h"

struct ts_disk;

/*
 * `notify_fd`: an eventfd that is written to when a user comes near the end of its share, -1: none. 0 or -ENOMEM.
 */
int ts_disk_new(const struct ts_limits *limits, int notify_fd, struct ts_disk **ret_disk);
void ts_disk_free(struct ts_disk *disk); /* NULL is fine */

/*
 * Takes space on the file system that `fd` is on. False: less than `--keep-free`, or too few inodes, would be left; nothing is
 * taken then. ts_disk_settle() follows once the space is set aside, or is not needed.
 */
bool ts_disk_take(struct ts_disk *disk, int fd, uint64_t n_bytes, uint64_t n_files);
void ts_disk_settle(struct ts_disk *disk, uint64_t n_bytes, uint64_t n_files);

/* A user is near the end of its share: finished traces should give way. */
void ts_disk_press(struct ts_disk *disk);
/* Whether one was, since the last call. */
bool ts_disk_is_pressed(struct ts_disk *disk);
