/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of packaging/glibc that stand for functions of newer versions of glibc: this
 * program's own ones give the answers of glibc's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/harness.h"

/* glibc's function of this name. */
static void *theirs(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = dlsym(libc, name);

	ts_check(found);
	dlclose(libc);
	return found;
}

static int constructed;

__attribute__((constructor)) static void construct(int argc, char **argv, char **environment)
{
	constructed = argc > 0 && argv[0] && environment == environ;
}

TS_TEST(constructors_run_with_their_arguments)
{
	ts_check(constructed);
}

TS_TEST(names_are_those_of_glibc)
{
	const char *(*error_name)(int) = (const char *(*)(int))theirs("strerrorname_np");
	const char *(*signal_name)(int) = (const char *(*)(int))theirs("sigabbrev_np");

	ts_check(error_name != strerrorname_np && signal_name != sigabbrev_np);
	for (int i = -2; i < 4200; i++) {
		ts_check(!error_name(i) == !strerrorname_np(i));
		if (error_name(i))
			ts_check_str(strerrorname_np(i), error_name(i));
	}
	for (int i = -2; i < 130; i++) {
		ts_check(!signal_name(i) == !sigabbrev_np(i));
		if (signal_name(i))
			ts_check_str(sigabbrev_np(i), signal_name(i));
	}
}

static void check_same(const struct stat *a, const struct stat *b)
{
	ts_check(a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
		 a->st_size == b->st_size && a->st_nlink == b->st_nlink &&
		 a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_blocks == b->st_blocks);
}

TS_TEST(stat_gives_what_glibc_gives)
{
	int (*stat_of)(const char *, struct stat *) =
		(int (*)(const char *, struct stat *))theirs("stat64");
	int (*lstat_of)(const char *, struct stat *) =
		(int (*)(const char *, struct stat *))theirs("lstat64");
	struct stat ours, wanted;
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	ts_check_int(stat("/etc/passwd", &ours), 0);
	ts_check_int(stat_of("/etc/passwd", &wanted), 0);
	check_same(&ours, &wanted);
	ts_check_int(fstat(fd, &ours), 0);
	check_same(&ours, &wanted);
	ts_check_int(fstatat(fd, "", &ours, AT_EMPTY_PATH), 0);
	check_same(&ours, &wanted);
	ts_check_int(lstat("/proc/self/exe", &ours), 0);
	ts_check_int(lstat_of("/proc/self/exe", &wanted), 0);
	ts_check(S_ISLNK(ours.st_mode) && ours.st_ino == wanted.st_ino);
	ts_check_int(stat("/nothing", &ours), -1);
	ts_check_int(errno, ENOENT);
	close(fd);
}

TS_TEST(descriptors_are_closed)
{
	int low = fcntl(STDERR_FILENO, F_DUPFD, 50), high = fcntl(STDERR_FILENO, F_DUPFD, 70);
	posix_spawn_file_actions_t actions;
	char text[100];
	char shell[] = "sh", option[] = "-c", *argv[] = {shell, option, text, NULL};
	int status = 0;
	pid_t pid;

	snprintf(text, sizeof(text), "test -e /proc/self/fd/%d && ! test -e /proc/self/fd/%d", low,
		 high);
	ts_check_int(posix_spawn_file_actions_init(&actions), 0);
	ts_check_int(posix_spawn_file_actions_addclosefrom_np(&actions, 60), 0);
	ts_check_int(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ), 0);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	posix_spawn_file_actions_destroy(&actions);
	closefrom(60);
	ts_check_int(fcntl(high, F_GETFD), -1);
	ts_check(fcntl(low, F_GETFD) >= 0);
	closefrom(low);
	ts_check_int(fcntl(low, F_GETFD), -1);
}
