/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free disk that recordings leave. recording-disk.c calls this module before a file grows and
 * before a file is created. expire.c creates it and asks whether space is short. The file system
 * does not yet count space that a recording has taken but not allocated, so this module subtracts
 * it from the free space of statvfs().
 */
#include "daemon/serve/recording/disk.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"

/* Inodes that stay free, if the file system has a fixed number. */
#define DISK_KEEP_FILES 1024u

struct ts_disk {
	pthread_mutex_t mutex;
	uint64_t keep_free;
	uint64_t taken_bytes, taken_files; /* not yet settled */
	int notify_fd;
	bool is_pressed; /* any thread */
};

int ts_disk_new(const struct ts_limits *limits, int notify_fd, struct ts_disk **ret_disk)
{
	struct ts_disk *disk = calloc(1, sizeof(*disk));

	if (!disk)
		return ts_error_origin(-ENOMEM);
	pthread_mutex_init(&disk->mutex, NULL);
	disk->keep_free = limits->keep_free;
	disk->notify_fd = notify_fd;
	*ret_disk = disk;
	return 0;
}

void ts_disk_free(struct ts_disk *disk)
{
	if (!disk)
		return;
	pthread_mutex_destroy(&disk->mutex);
	free(disk);
}

static bool has_space(const struct ts_disk *disk, const struct statvfs *status, uint64_t n_bytes,
		      uint64_t n_files)
{
	uint64_t free_bytes = (uint64_t)status->f_bavail * status->f_frsize;

	n_bytes += disk->taken_bytes;
	n_files += disk->taken_files;
	return free_bytes >= n_bytes && free_bytes - n_bytes >= disk->keep_free &&
	       (!status->f_files || status->f_favail >= n_files + DISK_KEEP_FILES);
}

bool ts_disk_take(struct ts_disk *disk, int fd, uint64_t n_bytes, uint64_t n_files)
{
	struct statvfs status;
	bool can;

	if (!disk->keep_free)
		return true;
	pthread_mutex_lock(&disk->mutex);
	/* If the file system does not report its free space, the space counts as free. */
	can = fstatvfs(fd, &status) < 0 || has_space(disk, &status, n_bytes, n_files);
	if (can) {
		disk->taken_bytes += n_bytes;
		disk->taken_files += n_files;
	}
	pthread_mutex_unlock(&disk->mutex);
	return can;
}

void ts_disk_settle(struct ts_disk *disk, uint64_t n_bytes, uint64_t n_files)
{
	if (!disk->keep_free)
		return;
	pthread_mutex_lock(&disk->mutex);
	disk->taken_bytes -= n_bytes;
	disk->taken_files -= n_files;
	pthread_mutex_unlock(&disk->mutex);
}

void ts_disk_press(struct ts_disk *disk)
{
	uint64_t one = 1;

	if (__atomic_exchange_n(&disk->is_pressed, true, __ATOMIC_RELAXED) || disk->notify_fd < 0)
		return;
	/* This write fails only on overflow of the eventfd. The loop is awake in that case. */
	if (write(disk->notify_fd, &one, sizeof(one)) < 0)
		return;
}

bool ts_disk_is_pressed(struct ts_disk *disk)
{
	return __atomic_exchange_n(&disk->is_pressed, false, __ATOMIC_RELAXED);
}
