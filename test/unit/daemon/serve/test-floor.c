/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `--keep-free`: the minimum of free disk space holds when a session begins, and while many
 * sessions write.
 */
#include "test/unit/harness.h"

#include <sys/statvfs.h>

#include "daemon/serve/recording/disk.h"
#include "sbt/reader.h"
#include "test/unit/daemon/serve/flood.h"

/* Reserved space and files count until their blocks are on the disk, and then no longer. */
TS_TEST(floor_counts_what_was_taken)
{
	const struct ts_limits limits = {.keep_free = 4 << 20};
	struct ts_disk *disk;
	struct statvfs status;
	uint64_t n_free;
	struct world w;
	int fd;

	world_make(&w, "size=16m,nr_inodes=1100");
	fd = open(w.service.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ts_check_int(fstatvfs(fd, &status), 0);
	n_free = (uint64_t)status.f_bavail * status.f_frsize - limits.keep_free;
	ts_check_int(ts_disk_new(&limits, -1, &disk), 0);
	ts_check(ts_disk_take(disk, fd, n_free / 2, 0));
	ts_check(ts_disk_take(disk, fd, n_free - n_free / 2, 0));
	ts_check(!ts_disk_take(disk, fd, 1, 0));
	ts_check(!ts_disk_take(disk, fd, UINT64_MAX / 2, 0));
	ts_disk_settle(disk, n_free / 2, 0);
	ts_check(ts_disk_take(disk, fd, n_free / 2, 0));
	ts_disk_settle(disk, n_free, 0);
	/* 1024 inodes of the existing ones stay free. */
	ts_check(ts_disk_take(disk, fd, 0, status.f_favail - 1024));
	ts_check(!ts_disk_take(disk, fd, 0, 1));
	ts_disk_settle(disk, 0, status.f_favail - 1024);
	ts_check(ts_disk_take(disk, fd, 0, 1));
	ts_disk_settle(disk, 0, 1);
	ts_disk_free(disk);
	close(fd);
	umount2(w.service.directory, MNT_DETACH);
	rmdir(w.service.directory);
}

/* A session begins where less room is left than the writer likes to reserve. */
TS_TEST(floor_at_a_begin)
{
	static const char *const options[][2] = {{"--keep-free", "4M"}, {NULL, NULL}};
	const off_t n_left = (4 << 20) + (260 << 10);
	struct statvfs disk;
	struct producer p;
	struct world w;
	char path[PATH_MAX];
	int file, fd;

	world_make(&w, "size=16m");
	world_start(&w, options);
	snprintf(path, sizeof(path), "%s/filler", w.service.directory);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ts_check_int(statvfs(w.service.directory, &disk), 0);
	ts_check_int(fallocate(file, 0, 0, (off_t)(disk.f_bavail * disk.f_frsize) - n_left), 0);
	close(file);
	producer_init(&p, 2, true);
	ts_check(session_as(70001, &w, &p, &fd));
	ts_check_int(statvfs(w.service.directory, &disk), 0);
	ts_check(disk.f_bavail * disk.f_frsize >= 4 << 20);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	close(fd);
	producer_deinit(&p);
	world_end(&w);
}

/* A sanitizer sees fewer sessions, and a disk that is full sooner. */
#define IS_SHORT (TS_TEST_SANITIZED && !ts_soak())

/* Many sessions write as fast as they can. Each reserves a quarter of a MiB or more at a time. */
#define N_FLOODS  (IS_SHORT ? 16u : 48u)
#define DISK_SIZE (IS_SHORT ? "size=48m" : "size=96m")
TS_TEST(floor)
{
	static const char *const options[][2] = {{"--keep-free", "24M"},
						 {"--max-disk-bytes-user", "0"},
						 {"--max-disk-bytes", "0"},
						 {NULL, NULL}};
	uint64_t least = UINT64_MAX;
	struct statvfs disk;
	unsigned n_left = N_FLOODS, n_refused = 0, n_missing = 0;
	struct world w;

	world_make(&w, DISK_SIZE);
	world_start(&w, options);
	for (unsigned i = 0; i < N_FLOODS; i++)
		(void)flood_as(70001 + i, &w);
	while (n_left) {
		uint64_t n_free;
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);

		ts_check(pid >= 0 && pid != w.service.pid);
		if (pid) {
			ts_check(!status || WEXITSTATUS(status) == FLOOD_REFUSED);
			n_refused += status != 0;
			n_left--;
		}
		ts_check_int(statvfs(w.service.directory, &disk), 0);
		n_free = (uint64_t)disk.f_bavail * disk.f_frsize;
		least = n_free < least ? n_free : least;
		/* The floods need the processor. */
		usleep(100);
	}
	fprintf(stderr, "least free: %" PRIu64 " of 24 MiB\n", least);
	ts_check(least >= 24 << 20);
	/* All traces are finished: their end blocks had room, too. */
	for (uint32_t session = 1; session <= N_FLOODS; session++) {
		int file = trace_open(&w, session);
		struct ts_sbt_reader *reader;

		if (file < 0) {
			n_missing++;
			continue;
		}
		ts_check_int(ts_sbt_reader_open(file, &reader, NULL), 0);
		ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
		ts_sbt_reader_free(reader);
		close(file);
	}
	ts_check_int(n_missing, n_refused);
	ts_check(n_refused < N_FLOODS / 2);
	world_end(&w);
}
