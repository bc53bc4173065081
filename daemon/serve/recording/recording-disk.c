/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disk accounting of a service's trace files (TS_RESOURCE_DISK_BYTES, TS_RESOURCE_DISK_FILES), from
 * the first byte on. The writer (sbt/write) calls space_take() before its file uses space. The
 * requested space includes the room that is reserved for the file's end. The request must fit the
 * user's share, the share of all users and the free disk to keep (disk.c). A recording whose
 * request is refused ends like one whose disk is full. peers.c, server-system.c and
 * recording-rotation.c call the other functions.
 */
#include "daemon/serve/recording/recording.h"

#include <errno.h>

#define NO_SHARE_USER \
	"the user's share of the disk is used up by traces (see --max-disk-bytes-user)"
#define NO_SHARE_ALL "the traces' share of the disk is used up (see --max-disk-bytes)"

/* If a user has used more than this many eighths of a share, finished traces are removed. */
#define PRESS_EIGHTHS 7

static void refuse(struct ts_recording *recording, const char *why)
{
	const char *none = NULL;

	/* Keep the first reason: later ones do not replace it. */
	__atomic_compare_exchange_n(&recording->no_space, &none, why, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static bool is_near(uint64_t has, uint64_t most)
{
	return has >= most / 8 * PRESS_EIGHTHS;
}

static void press(const struct ts_recording *recording)
{
	const struct ts_user *user = recording->user;

	for (unsigned i = TS_RESOURCE_DISK_BYTES; i <= TS_RESOURCE_DISK_FILES; i++)
		if (is_near(ts_user_has(user, i), ts_user_most(user, i)) ||
		    is_near(ts_users_have(ts_user_users(user), i),
			    ts_users_most(ts_user_users(user), i)))
			ts_disk_press(recording->disk);
}

static const char *why_no_share(const struct ts_user *user, uint64_t n_bytes)
{
	uint64_t has = ts_user_has(user, TS_RESOURCE_DISK_BYTES),
		 most = ts_user_most(user, TS_RESOURCE_DISK_BYTES);

	return has > most || n_bytes > most - has ? NO_SHARE_USER : NO_SHARE_ALL;
}

static int space_take(void *data, uint64_t n_bytes)
{
	struct ts_recording *recording = data;
	struct ts_user *user = recording->user;

	if (!ts_user_take(user, TS_RESOURCE_DISK_BYTES, n_bytes)) {
		press(recording);
		refuse(recording, why_no_share(user, n_bytes));
		return -EDQUOT;
	}
	if (!ts_disk_take(recording->disk, recording->read_fd, n_bytes, 0)) {
		ts_user_give(user, TS_RESOURCE_DISK_BYTES, n_bytes);
		refuse(recording, TS_RECORDING_NOTHING_FREE);
		return -ENOSPC;
	}
	__atomic_add_fetch(&recording->disk_bytes, n_bytes, __ATOMIC_RELAXED);
	press(recording);
	return 0;
}

static void space_settle(void *data, uint64_t n_bytes)
{
	struct ts_recording *recording = data;

	ts_disk_settle(recording->disk, n_bytes, 0);
}

static void space_give(void *data, uint64_t n_bytes)
{
	ts_recording_give_bytes(data, n_bytes);
}

void ts_recording_give_bytes(struct ts_recording *recording, uint64_t n_bytes)
{
	if (!recording->disk)
		return;
	__atomic_sub_fetch(&recording->disk_bytes, n_bytes, __ATOMIC_RELAXED);
	ts_user_give(recording->user, TS_RESOURCE_DISK_BYTES, n_bytes);
}

int ts_recording_take_file(struct ts_recording *recording)
{
	if (!recording->disk)
		return 0;
	if (!ts_user_take(recording->user, TS_RESOURCE_DISK_FILES, 1)) {
		press(recording);
		return -EDQUOT;
	}
	if (!ts_disk_take(recording->disk, recording->read_fd, 0, 1)) {
		ts_user_give(recording->user, TS_RESOURCE_DISK_FILES, 1);
		return -ENOSPC;
	}
	__atomic_add_fetch(&recording->n_disk_files, 1, __ATOMIC_RELAXED);
	return 0;
}

void ts_recording_settle_file(struct ts_recording *recording)
{
	if (recording->disk)
		ts_disk_settle(recording->disk, 0, 1);
}

void ts_recording_give_file(struct ts_recording *recording, uint64_t n_bytes)
{
	if (!recording->disk)
		return;
	ts_recording_give_bytes(recording, n_bytes);
	__atomic_sub_fetch(&recording->n_disk_files, 1, __ATOMIC_RELAXED);
	ts_user_give(recording->user, TS_RESOURCE_DISK_FILES, 1);
}

int ts_recording_count(struct ts_recording *recording, struct ts_disk *disk)
{
	const struct ts_sbt_space space = {recording, space_take, space_settle, space_give};
	int r;

	if (!ts_user_take(recording->user, TS_RESOURCE_DISK_FILES, 1))
		return -EDQUOT;
	recording->n_disk_files = 1;
	recording->disk = disk;
	r = ts_sbt_writer_space(recording->writer, &space);
	if (r)
		ts_recording_uncount(recording);
	return r;
}

void ts_recording_uncount(struct ts_recording *recording)
{
	if (!recording->disk)
		return;
	ts_user_give(recording->user, TS_RESOURCE_DISK_BYTES, recording->disk_bytes);
	ts_user_give(recording->user, TS_RESOURCE_DISK_FILES, recording->n_disk_files);
	recording->disk = NULL;
	recording->disk_bytes = 0;
	recording->n_disk_files = 0;
}
