/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the disk space of a service. Traces count for their users. The service removes finished
 * traces in the right order, and no other file. Shares end a recording cleanly.
 */
#include "test/unit/harness.h"

#include "daemon/serve/recording/retention.h"
#include "daemon/util/log.h"
#include "sbt/format.h"
#include "test/unit/daemon/serve/flood.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)
/* The time that the tests use as now. */
#define NOW_S  1000000000
#define NOW_NS (UINT64_C(1000000000) * NOW_S)
#define KIB    UINT64_C(1024)

/* ---- a made-up directory --------------------------------------------------------------------- */

struct shelf {
	char directory[128];
	struct ts_limits limits;
	struct ts_users *users;
	struct ts_retention *retention;
	ino_t busy; /* a process reads this file; 0: none */
};

static void shelf_make(struct shelf *s)
{
	*s = (struct shelf){0};
	ts_log_setup(TS_LOG_NONE);
	directory_make(s->directory, sizeof(s->directory));
	ts_check_int(chmod(s->directory, 0755), 0);
	ts_limits_init(&s->limits);
	ts_limits_complete(&s->limits, true);
	s->limits.max_disk_bytes = s->limits.max_disk_bytes_user = s->limits.max_disk_files = 0;
}

static bool is_busy(void *data, const struct stat *status)
{
	return status->st_ino == ((struct shelf *)data)->busy;
}

static void shelf_open(struct shelf *s)
{
	const struct ts_retention_options options = {
		.directory = s->directory,
		.limits = &s->limits,
		.users = s->users,
		.data = s,
		.is_busy = is_busy,
	};

	ts_check_int(ts_retention_new(&options, &s->retention), 0);
}

static void shelf_scan(struct shelf *s)
{
	ts_check_int(ts_users_new(&s->limits, true, &s->users), 0);
	shelf_open(s);
	ts_check_int(ts_retention_scan(s->retention), 0);
}

static void remove_all(const char *path)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	ts_check_int(system(command), 0);
}

static void shelf_end(struct shelf *s)
{
	ts_retention_free(s->retention);
	ts_check_int(ts_users_have(s->users, TS_RESOURCE_DISK_BYTES), 0);
	ts_check_int(ts_users_have(s->users, TS_RESOURCE_DISK_FILES), 0);
	ts_users_free(s->users);
	remove_all(s->directory);
}

static const char *path_of(const struct shelf *s, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", s->directory, name);
	return path;
}

static void put_folder(const struct shelf *s, const char *name)
{
	ts_check_int(mkdir(path_of(s, name), 0755), 0);
}

static void make_older(const struct shelf *s, const char *name, unsigned hours)
{
	struct timespec times[2] = {{NOW_S - 3600 * (time_t)hours, 0},
				    {NOW_S - 3600 * (time_t)hours, 0}};

	ts_check_int(utimensat(AT_FDCWD, path_of(s, name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static void put_bytes(const struct shelf *s, const char *name, const char *magic, size_t n_kib,
		      unsigned hours)
{
	int fd = open(path_of(s, name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ts_check(fd >= 0);
	ts_check_int(fallocate(fd, 0, 0, (off_t)(n_kib * KIB)), 0);
	ts_check_int(pwrite(fd, magic, 8, 0), 8);
	close(fd);
	make_older(s, name, hours);
}

static void put_trace(const struct shelf *s, const char *name, size_t n_kib, unsigned hours)
{
	put_bytes(s, name, TS_SBT_FILE_MAGIC, n_kib, hours);
}

static bool has(const struct shelf *s, const char *name)
{
	struct stat status;

	return !lstat(path_of(s, name), &status);
}

static uint64_t kib_of(const struct shelf *s, uid_t uid)
{
	struct ts_user *user = ts_users_ref(s->users, uid);
	uint64_t n_bytes = ts_user_has(user, TS_RESOURCE_DISK_BYTES);

	ts_user_unref(user);
	return n_bytes / KIB;
}

static size_t expire(struct shelf *s)
{
	return ts_retention_expire(s->retention, NOW_NS, SIZE_MAX);
}

#define ALICE 70001u
#define BOB   70002u

/* ---- files that count ----------------------------------------------------------------------- */

TS_TEST(counts)
{
	struct shelf s;

	shelf_make(&s);
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 64, 5);
	put_trace(&s, "70001/tracesmith-a-1.1.sbt", 32, 6);
	put_trace(&s, "70001/tracesmith-a-1-dump1.sbt", 16, 5);
	put_trace(&s, "70001/tracesmith-a-1.sbt.AbC123", 8, 5);
	put_folder(&s, "70002");
	put_trace(&s, "70002/tracesmith-b-1.sbt", 128, 5);
	put_trace(&s, "tracesmith-c-1.sbt", 256, 5);
	shelf_scan(&s);
	ts_check_int(kib_of(&s, 70001), 120);
	ts_check_int(kib_of(&s, 70002), 128);
	/* Traces in no user's folder count for their owner, here the daemon's own user. */
	ts_check_int(kib_of(&s, getuid()), 256);
	ts_check_int(ts_retention_n_files(s.retention), 6);
	ts_check_int(expire(&s), 0);
	shelf_end(&s);
}

/* A file that is no trace does not count, and is not removed, however old it is. */
TS_TEST(only_traces)
{
	static const char *const names[] = {
		"70001/notes.sbt",
		"70001/tracesmith-a-1.txt",
		"70001/tracesmith-.sbt",
		"70001/tracesmith-text-1.sbt",
		"70001/x.sbt",
		"70001/tracesmith-a-1.sbt.AbC12",
		"070002/tracesmith-a-1.sbt",
		"-1/tracesmith-a-1.sbt",
		"name/tracesmith-a-1.sbt",
		"4294967295/tracesmith-a-1.sbt",
	};
	static const char *const folders[] = {"70001", "070002", "-1", "name", "4294967295"};
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 1;
	for (size_t i = 0; i < TS_ARRAY_LEN(folders); i++)
		put_folder(&s, folders[i]);
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		put_bytes(&s, names[i], i == 3 ? "not one!" : TS_SBT_FILE_MAGIC, 16, 100);
	put_folder(&s, "70001/tracesmith-folder-1.sbt");
	ts_check_int(mkfifo(path_of(&s, "70001/tracesmith-fifo-1.sbt"), 0600), 0);
	put_trace(&s, "70001/target", 16, 100);
	ts_check_int(symlink("target", path_of(&s, "70001/tracesmith-link-1.sbt")), 0);
	/* A link to a user's folder is no folder. */
	put_folder(&s, "elsewhere");
	put_trace(&s, "elsewhere/tracesmith-a-1.sbt", 16, 100);
	ts_check_int(symlink("elsewhere", path_of(&s, "70003")), 0);
	shelf_scan(&s);
	ts_check_int(ts_retention_n_files(s.retention), 0);
	ts_check_int(expire(&s), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		ts_check(has(&s, names[i]));
	ts_check(has(&s, "70001/target") && has(&s, "elsewhere/tracesmith-a-1.sbt"));
	shelf_end(&s);
}

/* Earlier versions wrote files of users directly into the directory. The user can change them. */
TS_TEST(flat_files)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct shelf s;
	int fd;

	if (getuid())
		ts_skip("only root gives files away");
	shelf_make(&s);
	s.limits.retain_age = 10;
	put_trace(&s, "tracesmith-a-1.sbt", 64, 20);
	ts_check_int(chown(path_of(&s, "tracesmith-a-1.sbt"), ALICE, ALICE), 0);
	put_trace(&s, "tracesmith-b-1.sbt", 64, 5);
	ts_check_int(chown(path_of(&s, "tracesmith-b-1.sbt"), BOB, BOB), 0);
	/* The file is removed despite its owner's lock. Its blocks count, not its size. */
	fd = open(path_of(&s, "tracesmith-a-1.sbt"), O_RDWR | O_CLOEXEC);
	ts_check_int(fcntl(fd, F_OFD_SETLK, &lock), 0);
	ts_check_int(ftruncate(fd, INT64_C(1) << 40), 0);
	make_older(&s, "tracesmith-a-1.sbt", 20);
	shelf_scan(&s);
	ts_check_int(kib_of(&s, ALICE), 64);
	ts_check_int(expire(&s), 1);
	ts_check(!has(&s, "tracesmith-a-1.sbt") && has(&s, "tracesmith-b-1.sbt"));
	close(fd);
	shelf_end(&s);
	/* If other users may write to the directory, the service keeps the files of users there. */
	shelf_make(&s);
	s.limits.retain_age = 10;
	ts_check_int(chmod(s.directory, 01777), 0);
	put_trace(&s, "tracesmith-a-1.sbt", 64, 20);
	ts_check_int(chown(path_of(&s, "tracesmith-a-1.sbt"), ALICE, ALICE), 0);
	put_trace(&s, "tracesmith-c-1.sbt", 64, 20);
	shelf_scan(&s);
	ts_check_int(expire(&s), 1);
	ts_check(has(&s, "tracesmith-a-1.sbt") && !has(&s, "tracesmith-c-1.sbt"));
	shelf_end(&s);
}

/* ---- files that are removed ----------------------------------------------------------------- */

TS_TEST(age)
{
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 24;
	put_folder(&s, "70001");
	put_folder(&s, "70002");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 16, 25);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 16, 23);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 16, 100);
	put_trace(&s, "70002/tracesmith-a-1.sbt", 16, 25);
	shelf_scan(&s);
	ts_check_int(expire(&s), 3);
	ts_check(!has(&s, "70001/tracesmith-a-1.sbt") && !has(&s, "70001/tracesmith-a-3.sbt"));
	ts_check(has(&s, "70001/tracesmith-a-2.sbt"));
	/* The removal of a user's last trace also removes the user's folder. */
	ts_check(!has(&s, "70002"));
	ts_check_int(expire(&s), 0);
	ts_check_int(ts_retention_expire(s.retention, NOW_NS + 2 * HOUR_NS, SIZE_MAX), 1);
	ts_check(!has(&s, "70001"));
	shelf_end(&s);
}

TS_TEST(size_of_a_user)
{
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_size_user = 100 * KIB;
	put_folder(&s, "70001");
	put_folder(&s, "70002");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 40, 3);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 40, 1);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 40, 2);
	put_trace(&s, "70002/tracesmith-a-1.sbt", 96, 50);
	shelf_scan(&s);
	ts_check_int(expire(&s), 1);
	ts_check(!has(&s, "70001/tracesmith-a-1.sbt"));
	ts_check(has(&s, "70002/tracesmith-a-1.sbt"));
	ts_check_int(kib_of(&s, ALICE), 80);
	shelf_end(&s);
}

/* The user with the most bytes loses a trace, though the other user's trace is older. */
TS_TEST(size_of_all)
{
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_size = 200 * KIB;
	put_folder(&s, "70001");
	put_folder(&s, "70002");
	put_trace(&s, "70002/tracesmith-a-1.sbt", 40, 1000);
	put_trace(&s, "70001/tracesmith-a-1.sbt", 80, 3);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 80, 2);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 80, 1);
	shelf_scan(&s);
	ts_check_int(expire(&s), 1);
	ts_check(!has(&s, "70001/tracesmith-a-1.sbt") && has(&s, "70002/tracesmith-a-1.sbt"));
	/* Each step removes the oldest trace of the user with the most bytes at that step. */
	s.limits.retain_size = 60 * KIB;
	ts_check_int(expire(&s), 2);
	ts_check(has(&s, "70002/tracesmith-a-1.sbt") && !has(&s, "70001"));
	shelf_end(&s);
}

/*
 * If a recording needs more than the user's share, the service removes the user's oldest traces.
 * Traces of other users stay.
 */
TS_TEST(share_of_a_user)
{
	struct ts_user *alice;
	struct shelf s;

	shelf_make(&s);
	s.limits.max_disk_bytes_user = 160 * KIB;
	put_folder(&s, "70001");
	put_folder(&s, "70002");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 40, 3);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 60, 2);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 52, 1);
	put_trace(&s, "70002/tracesmith-a-1.sbt", 156, 9);
	shelf_scan(&s);
	ts_check_int(expire(&s), 0);
	alice = ts_users_ref(s.users, ALICE);
	ts_check(ts_user_take(alice, TS_RESOURCE_DISK_BYTES, 8 * KIB));
	ts_check(!ts_user_take(alice, TS_RESOURCE_DISK_BYTES, 8 * KIB));
	ts_check_int(expire(&s), 1);
	ts_check(!has(&s, "70001/tracesmith-a-1.sbt") && has(&s, "70001/tracesmith-a-2.sbt"));
	ts_check(ts_user_take(alice, TS_RESOURCE_DISK_BYTES, 36 * KIB));
	ts_check_int(expire(&s), 1);
	ts_check(has(&s, "70001/tracesmith-a-3.sbt") && has(&s, "70002/tracesmith-a-1.sbt"));
	ts_user_give(alice, TS_RESOURCE_DISK_BYTES, 44 * KIB);
	ts_user_unref(alice);
	shelf_end(&s);
}

TS_TEST(share_of_files)
{
	struct ts_user *alice;
	char name[64];
	struct shelf s;

	shelf_make(&s);
	s.limits.max_disk_files = 64;
	put_folder(&s, "70001");
	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "70001/tracesmith-a-%u.sbt", i);
		put_trace(&s, name, 4, i);
	}
	shelf_scan(&s);
	alice = ts_users_ref(s.users, ALICE);
	ts_check(!ts_user_take(alice, TS_RESOURCE_DISK_FILES, 1));
	ts_user_put(alice, TS_RESOURCE_DISK_BYTES, 1);
	ts_check_int(expire(&s), 2);
	ts_check(!has(&s, "70001/tracesmith-a-15.sbt") && has(&s, "70001/tracesmith-a-13.sbt"));
	ts_check(ts_user_take(alice, TS_RESOURCE_DISK_FILES, 1));
	ts_user_give(alice, TS_RESOURCE_DISK_FILES, 1);
	ts_user_give(alice, TS_RESOURCE_DISK_BYTES, 1);
	ts_user_unref(alice);
	shelf_end(&s);
}

/* Files of a recording are one trace, as old as its newest file; a dump is a separate trace. */
TS_TEST(several_files)
{
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 24;
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.1.sbt", 16, 50);
	put_trace(&s, "70001/tracesmith-a-1.2.sbt", 16, 40);
	put_trace(&s, "70001/tracesmith-a-1.sbt", 16, 20);
	put_trace(&s, "70001/tracesmith-a-1-dump1.1.sbt", 16, 50);
	put_trace(&s, "70001/tracesmith-a-1-dump1.sbt", 16, 40);
	put_trace(&s, "70001/tracesmith-a.1-7.9.sbt", 16, 60);
	put_trace(&s, "70001/tracesmith-a.1-7.10.sbt", 16, 60);
	put_trace(&s, "70001/tracesmith-a.1-7.sbt", 16, 60);
	put_trace(&s, "70001/tracesmith-a.1-7.sbt.AbC123", 16, 60);
	shelf_scan(&s);
	ts_check_int(expire(&s), 2);
	ts_check(has(&s, "70001/tracesmith-a-1.1.sbt") && has(&s, "70001/tracesmith-a-1.2.sbt"));
	ts_check(!has(&s, "70001/tracesmith-a-1-dump1.1.sbt"));
	ts_check(!has(&s, "70001/tracesmith-a.1-7.10.sbt"));
	ts_check(!has(&s, "70001/tracesmith-a.1-7.sbt.AbC123"));
	ts_check_int(kib_of(&s, ALICE), 48);
	shelf_end(&s);
}

/*
 * A dump shares the blocks of its recording: they exist once, and count until the last name is
 * removed.
 */
TS_TEST(links_count_once)
{
	char other[256];
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 24;
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 64, 20);
	put_trace(&s, "70001/tracesmith-a-1.1.sbt", 32, 30);
	snprintf(other, sizeof(other), "%s", path_of(&s, "70001/tracesmith-a-1-dump1.sbt"));
	ts_check_int(link(path_of(&s, "70001/tracesmith-a-1.1.sbt"), other), 0);
	shelf_scan(&s);
	ts_check_int(kib_of(&s, ALICE), 96);
	ts_check_int(expire(&s), 1);
	ts_check(!has(&s, "70001/tracesmith-a-1-dump1.sbt"));
	ts_check_int(kib_of(&s, ALICE), 96);
	shelf_end(&s);
}

TS_TEST(busy_ones_stay)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct stat status;
	struct shelf s;
	int fd;

	shelf_make(&s);
	s.limits.retain_age = 24;
	s.limits.retain_size_user = 1;
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 16, 50);
	put_trace(&s, "70001/tracesmith-a-1.1.sbt", 16, 50);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 16, 40);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 16, 30);
	put_trace(&s, "70001/tracesmith-a-4.sbt", 16, 30);
	/* A process reads one of the two files of trace a-1. Another daemon writes trace a-2. */
	ts_check_int(stat(path_of(&s, "70001/tracesmith-a-1.1.sbt"), &status), 0);
	s.busy = status.st_ino;
	shelf_scan(&s);
	fd = open(path_of(&s, "70001/tracesmith-a-2.sbt"), O_RDWR | O_CLOEXEC);
	ts_check_int(fcntl(fd, F_OFD_SETLK, &lock), 0);
	ts_check_int(expire(&s), 2);
	ts_check(has(&s, "70001/tracesmith-a-1.sbt") && has(&s, "70001/tracesmith-a-1.1.sbt"));
	ts_check(has(&s, "70001/tracesmith-a-2.sbt"));
	close(fd);
	s.busy = 0;
	ts_check_int(expire(&s), 2);
	ts_check(!has(&s, "70001"));
	shelf_end(&s);
}

TS_TEST(written_before_the_scan)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct shelf s;
	int fd;

	shelf_make(&s);
	s.limits.retain_age = 1;
	put_trace(&s, "tracesmith-a-1.sbt", 16, 50);
	fd = open(path_of(&s, "tracesmith-a-1.sbt"), O_RDWR | O_CLOEXEC);
	ts_check_int(fcntl(fd, F_OFD_SETLK, &lock), 0);
	shelf_scan(&s);
	close(fd);
	ts_check_int(ts_retention_n_files(s.retention), 0);
	ts_check_int(expire(&s), 0);
	shelf_end(&s);
}

/* If another file or a link has replaced a trace or a folder, the replacement stays. */
TS_TEST(replaced_files)
{
	char target[256], trace[256];
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 1;
	put_folder(&s, "70001");
	put_folder(&s, "70002");
	put_folder(&s, "other");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 16, 50);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 16, 50);
	put_trace(&s, "70002/tracesmith-a-1.sbt", 16, 50);
	put_trace(&s, "target", 16, 50);
	put_trace(&s, "other/tracesmith-a-1.sbt", 16, 50);
	shelf_scan(&s);
	snprintf(target, sizeof(target), "%s", path_of(&s, "target"));
	snprintf(trace, sizeof(trace), "%s", path_of(&s, "70001/tracesmith-a-1.sbt"));
	ts_check_int(unlink(trace), 0);
	ts_check_int(symlink(target, trace), 0);
	put_trace(&s, "new", 32, 50);
	snprintf(target, sizeof(target), "%s", path_of(&s, "new"));
	ts_check_int(rename(target, path_of(&s, "70001/tracesmith-a-2.sbt")), 0);
	remove_all(path_of(&s, "70002"));
	ts_check_int(symlink("other", path_of(&s, "70002")), 0);
	expire(&s);
	ts_check(has(&s, "target") && has(&s, "70001/tracesmith-a-1.sbt"));
	ts_check(has(&s, "70001/tracesmith-a-2.sbt") && has(&s, "other/tracesmith-a-1.sbt"));
	ts_check_int(ts_retention_n_files(s.retention), 0);
	shelf_end(&s);
}

TS_TEST(refresh)
{
	struct shelf s;

	shelf_make(&s);
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 16, 5);
	put_trace(&s, "70001/tracesmith-a-2.1.sbt", 16, 5);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 16, 5);
	put_trace(&s, "70001/tracesmith-a-3.sbt", 16, 5);
	shelf_scan(&s);
	ts_check_int(unlink(path_of(&s, "70001/tracesmith-a-1.sbt")), 0);
	ts_check_int(unlink(path_of(&s, "70001/tracesmith-a-2.sbt")), 0);
	ts_check_int(truncate(path_of(&s, "70001/tracesmith-a-3.sbt"), 0), 0);
	ts_retention_refresh(s.retention);
	ts_check_int(kib_of(&s, ALICE), 16);
	ts_check_int(ts_retention_n_files(s.retention), 2);
	shelf_end(&s);
}

TS_TEST(new_traces)
{
	char paths[2][256], *const list[] = {paths[0], paths[1]};
	struct ts_user *alice;
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_size_user = 100 * KIB;
	put_folder(&s, "70001");
	put_trace(&s, "70001/tracesmith-a-1.sbt", 64, 5);
	shelf_scan(&s);
	put_trace(&s, "70001/tracesmith-a-2.1.sbt", 32, 2);
	put_trace(&s, "70001/tracesmith-a-2.sbt", 32, 1);
	snprintf(paths[0], sizeof(paths[0]), "%s", path_of(&s, "70001/tracesmith-a-2.1.sbt"));
	snprintf(paths[1], sizeof(paths[1]), "%s", path_of(&s, "70001/tracesmith-a-2.sbt"));
	alice = ts_users_ref(s.users, ALICE);
	ts_check_int(ts_retention_add(s.retention, alice, list, 2), 0);
	ts_check_int(kib_of(&s, ALICE), 128);
	ts_check_int(expire(&s), 1);
	ts_check(has(&s, "70001/tracesmith-a-2.1.sbt") && !has(&s, "70001/tracesmith-a-1.sbt"));
	/* A file elsewhere, or a file that no longer exists, is not added. */
	snprintf(paths[0], sizeof(paths[0]), "/dev/null");
	snprintf(paths[1], sizeof(paths[1]), "%s", path_of(&s, "70001/tracesmith-a-9.sbt"));
	ts_check_int(ts_retention_add(s.retention, alice, list, 2), 0);
	ts_check_int(kib_of(&s, ALICE), 64);
	ts_user_unref(alice);
	shelf_end(&s);
}

/* A pass is bounded; the next pass continues. */
TS_TEST(passes)
{
	char name[64];
	struct shelf s;

	shelf_make(&s);
	s.limits.retain_age = 1;
	put_folder(&s, "70001");
	for (unsigned i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "70001/tracesmith-a-%u.sbt", i);
		put_trace(&s, name, 4, 10 + i);
	}
	shelf_scan(&s);
	ts_check_int(ts_retention_expire(s.retention, NOW_NS, 4), 4);
	ts_check(!has(&s, "70001/tracesmith-a-9.sbt") && has(&s, "70001/tracesmith-a-5.sbt"));
	ts_check_int(ts_retention_expire(s.retention, NOW_NS, 4), 4);
	ts_check_int(ts_retention_expire(s.retention, NOW_NS, 4), 2);
	shelf_end(&s);
}

/* ---- a service ------------------------------------------------------------------------------- */

static void check_recorded(uid_t uid, const struct world *w)
{
	struct producer p;
	int fd;

	producer_init(&p, 2, true);
	produce(&p, 1);
	ts_check(session_as(uid, w, &p, &fd));
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	close(fd);
	producer_deinit(&p);
}

static void check_cut_short(const struct world *w, uint32_t session, const char *why, off_t most)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	const char *cut_short;
	struct stat status;
	int file = trace_open(w, session);

	ts_check(file >= 0);
	ts_check_int(fstat(file, &status), 0);
	ts_check(status.st_size <= most && status.st_size > most / 4);
	ts_check_int(ts_sbt_reader_open(file, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	cut_short = ts_sbt_reader_metadata(reader, TS_METADATA_CUT_SHORT);
	ts_check(cut_short && strstr(cut_short, why));
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check(summary.lost[TS_LOSS_DISK] > 0);
	ts_sbt_reader_free(reader);
	close(file);
}

static Ts__Rpc__Answer *status_as(uid_t uid, const struct world *w)
{
	struct ts_client *client = client_as(uid, w);
	Ts__Rpc__Answer *answer;

	ts_check_int(ts_client_status(client, &answer), 0);
	ts_client_free(client);
	return answer;
}

/*
 * Returns the bytes of the traces in the directory. A file with several names counts once in the
 * bytes, and once for each name in *ret_n_files.
 */
static uint64_t bytes_in(const char *directory, size_t *ret_n_files)
{
	uint64_t n_bytes = 0;
	struct stat status;
	ino_t seen[256];
	glob_t traces;
	size_t n = 0;

	service_traces(directory, &traces);
	ts_check(traces.gl_pathc <= TS_ARRAY_LEN(seen));
	for (size_t i = 0; i < traces.gl_pathc; i++) {
		bool known = false;

		/* Rotation has just removed this part. */
		if (lstat(traces.gl_pathv[i], &status))
			continue;
		for (size_t k = 0; k < n; k++)
			known |= seen[k] == status.st_ino;
		seen[n++] = status.st_ino;
		n_bytes += known ? 0 : (uint64_t)status.st_blocks * 512;
	}
	*ret_n_files = n;
	globfree(&traces);
	return n_bytes;
}

/*
 * Four subordinate uids of one person write without end. Together they get the share of one person,
 * and the service serves another person at the same time.
 */
TS_TEST(share_ends_a_session)
{
	static const char *const options[][2] = {{"--max-disk-bytes", "64M"},
						 {"--max-disk-bytes-user", "4M"},
						 {NULL, NULL}};
	Ts__Rpc__Answer *answer;
	size_t n_files;
	struct world w;
	pid_t pids[4];

	world_begin(&w, options);
	check_recorded(70002, &w);
	for (uid_t i = 0; i < 4; i++)
		pids[i] = flood_as(200000 + i, &w);
	for (uid_t i = 0; i < 4; i++) {
		check_recorded(70002, &w);
		check_flooded(pids[i]);
	}
	check_recorded(70002, &w);
	answer = status_as(70001, &w);
	ts_check_int(answer->status->disk_bytes_most, 4 << 20);
	ts_check(answer->status->disk_bytes <= 4 << 20);
	ts_check_int(answer->status->disk_bytes_all, bytes_in(w.service.directory, &n_files));
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check(bytes_in(w.service.directory, &n_files) <= (4 << 20) + 6 * 65536);
	/* Traces of alice's sessions that ended first may have made room for her other sessions. */
	ts_check(n_files > 6 && n_files <= 10);
	world_end(&w);
}

/*
 * A trace that reaches its user's limit is finished and has the reason in its metadata. The service
 * keeps this trace until the user's next recording needs the room.
 */
TS_TEST(oldest_makes_room)
{
	static const char *const options[][2] = {{"--max-disk-bytes", "64M"},
						 {"--max-disk-bytes-user", "2M"},
						 {NULL, NULL}};
	struct world w;
	int file;

	world_begin(&w, options);
	check_recorded(70002, &w);
	check_flooded(flood_as(70001, &w));
	check_cut_short(&w, 2, "--max-disk-bytes-user", 2 << 20);
	check_flooded(flood_as(70001, &w));
	check_cut_short(&w, 3, "--max-disk-bytes-user", 2 << 20);
	ts_check_int(trace_open(&w, 2), -1);
	file = trace_open(&w, 1);
	ts_check(file >= 0);
	close(file);
	world_end(&w);
}

/*
 * A trace stays while a question about it runs. Recordings that need its room are refused until the
 * question ends.
 */
TS_TEST(question_keeps_its_trace)
{
	static const char *const options[][2] = {{"--max-disk-bytes", "64M"},
						 {"--max-disk-bytes-user", "2M"},
						 {NULL, NULL}};
	struct ts_handshake_reason packet;
	struct ts_client *client;
	struct producer p;
	struct world w;
	int file, fd;

	world_begin(&w, options);
	check_flooded(flood_as(70001, &w));
	file = trace_open(&w, 1);
	ts_check(file >= 0);
	client = client_as(70001, &w);
	ask_about(client, file);
	close(file);
	ts_check_int(poll(&(struct pollfd){.fd = ts_client_fd(client), .events = POLLIN}, 1, 300),
		     0);
	producer_init(&p, 1, true);
	fd = connect_as(70001, w.service.inject, SOCK_SEQPACKET);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "--max-disk-bytes-user"));
	close(fd);
	check_recorded(70002, &w);
	ts_client_free(client);
	/* The service notices the worker's end a little later. */
	for (unsigned i = 0; i < 1000; i++) {
		if (session_as(70001, &w, &p, &fd))
			break;
		close(fd);
		usleep(10000);
	}
	close(fd);
	producer_deinit(&p);
	ts_check_int(trace_open(&w, 1), -1);
	world_end(&w);
}

TS_TEST(open_descriptors_keep_no_blocks)
{
	static const char *const options[][2] = {{"--max-disk-bytes", "64M"},
						 {"--max-disk-bytes-user", "2M"},
						 {NULL, NULL}};
	struct stat status;
	struct world w;
	int file;

	world_begin(&w, options);
	check_flooded(flood_as(70001, &w));
	file = trace_open(&w, 1);
	ts_check(file >= 0);
	check_flooded(flood_as(70001, &w));
	ts_check_int(fstat(file, &status), 0);
	ts_check_int(status.st_nlink, 0);
	ts_check_int(status.st_blocks, 0);
	close(file);
	world_end(&w);
}

/* When the service starts again, earlier traces count, and old traces are removed. */
TS_TEST(at_the_start)
{
	static const char *const options[][2] = {{"--retain-age", "48"}, {NULL, NULL}};
	struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	char old[256] = "";
	size_t n_files;
	struct world w;
	glob_t traces;

	world_begin(&w, options);
	check_recorded(70001, &w);
	check_recorded(70001, &w);
	check_recorded(70002, &w);
	world_stop(&w);
	service_traces(w.service.directory, &traces);
	ts_check_int(traces.gl_pathc, 3);
	snprintf(old, sizeof(old), "%s", traces.gl_pathv[0]);
	globfree(&traces);
	ts_check_int(utimensat(AT_FDCWD, old, times, 0), 0);
	world_start(&w, options);
	for (unsigned i = 0; i < 1000 && !access(old, F_OK); i++)
		usleep(10000);
	ts_check(access(old, F_OK) < 0);
	bytes_in(w.service.directory, &n_files);
	ts_check_int(n_files, 2);
	world_end(&w);
}

/*
 * The account of a user with rotated recordings, kept parts and dumps equals the bytes on the disk.
 */
TS_TEST(rotation_and_dumps)
{
	static const char *const options[][2] = {{"--max-disk-bytes-user", "3M"},
						 {"--rotate-size", "256K"},
						 {"--keep", "3"},
						 {NULL, NULL}};
	uint64_t n_bytes = 0, n_counted = 1;
	Ts__Rpc__Answer *answer;
	size_t n_files = 0;
	struct world w;
	pid_t pids[2];

	world_begin(&w, options);
	for (unsigned i = 0; i < 2; i++)
		pids[i] = flood_as(70001 + i, &w);
	for (unsigned i = 0; i < 10; i++) {
		usleep(100000);
		kill(w.service.pid, SIGUSR1);
	}
	for (unsigned i = 0; i < 2; i++)
		kill(pids[i], SIGKILL);
	for (unsigned i = 0; i < 2; i++)
		waitpid(pids[i], NULL, 0);
	/* The service ends a session when it notices the end of its process. */
	for (unsigned i = 0; i < 500; i++) {
		answer = status_as(0, &w);
		n_counted = answer->status->disk_bytes_all;
		n_bytes = bytes_in(w.service.directory, &n_files);
		if (!answer->status->sessions_live && n_bytes == n_counted)
			i = 500;
		ts__rpc__answer__free_unpacked(answer, NULL);
		usleep(10000);
	}
	ts_check_int(n_counted, n_bytes);
	ts_check(n_bytes && n_bytes <= (6 << 20) + (1 << 20));
	world_end(&w);
}
