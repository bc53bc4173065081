/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the start of a detached program: the program inherits only the given descriptors and
 * environment. The process that starts it gets no child and no signal from it.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "inject/process/spawn-detached.h"
#include "proto/abi/base.h"
#include "test/unit/harness.h"

static volatile sig_atomic_t n_child_signals;

static void on_child(int number)
{
	(void)number;
	n_child_signals++;
}

/* Runs a script with descriptor 3 as its output; returns that output. */
static const char *run_keeping(const char *script, bool keep_stderr)
{
	static char output[4096];
	const char *argv[] = {"sh", "-c", script, NULL};
	const char *environment[] = {"PATH=/usr/bin:/bin", "ONE=1", NULL};
	sigset_t all, before;
	int pair[2], r;
	ssize_t n, used = 0;

	ts_skip_emulated("clone() with CLONE_VM and without a signal at the end");
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	r = ts_spawn_detached("/bin/sh", (char **)argv, (char **)environment, pair[1], keep_stderr);
	sigprocmask(SIG_SETMASK, &before, NULL);
	ts_check_int(r, 0);
	close(pair[1]);
	while ((n = read(pair[0], output + used, sizeof(output) - 1 - (size_t)used)) > 0)
		used += n;
	output[used] = '\0';
	close(pair[0]);
	return output;
}

static const char *run(const char *script)
{
	return run_keeping(script, false);
}

TS_TEST(no_child_and_no_signal)
{
	ts_check(signal(SIGCHLD, on_child) != SIG_ERR);
	ts_check_str(run("echo started >&3"), "started\n");
	ts_check_int(waitpid(-1, NULL, 0), -1);
	ts_check_int(errno, ECHILD);
	ts_check_int(waitpid(-1, NULL, __WALL), -1);
	ts_check_int(n_child_signals, 0);
}

TS_TEST(a_session_of_its_own)
{
	char ours[32];

	snprintf(ours, sizeof(ours), "%d\n", (int)getsid(0));
	ts_check(strcmp(run("exec >&3; cut -d' ' -f6 /proc/self/stat"), ours));
	snprintf(ours, sizeof(ours), "%d\n", (int)getpid());
	ts_check(strcmp(run("echo $PPID >&3"), ours));
}

TS_TEST(descriptors)
{
	int kept = open("/dev/zero", O_RDONLY);

	/* ls itself has one more descriptor, for the directory that it reads. */
	ts_check_str(run("ls /proc/self/fd | wc -l >&3"), "5\n");
	ts_check_str(run("readlink /proc/self/fd/0 /proc/self/fd/2 >&3"), "/dev/null\n/dev/null\n");
	ts_check_int(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	ts_check_str(run_keeping("readlink /proc/self/fd/0 /proc/self/fd/2 >&3", true),
		     "/dev/null\n/dev/zero\n");
	close(kept);
}

TS_TEST(environment_and_signals)
{
	signal(SIGPIPE, SIG_IGN);
	setenv("TWO", "2", 1);
	ts_check_str(run("echo $ONE$TWO >&3"), "1\n");
	ts_check_str(run("exec >&3; grep SigIgn /proc/self/status | cut -f2"),
		     "0000000000000000\n");
	ts_check_str(run("exec >&3; grep SigBlk /proc/self/status | cut -f2"),
		     "0000000000000000\n");
}

TS_TEST(what_is_not_there_is_told)
{
	char name[] = "x", *argv[] = {name, NULL};

	ts_skip_emulated("clone() with CLONE_VM and without a signal at the end");
	ts_check_int(ts_spawn_detached("/nowhere/x", argv, argv + 1, 0, false), -ENOENT);
	ts_check_int(ts_spawn_detached("/dev/null", argv, argv + 1, 0, false), -EACCES);
}

/*
 * Kernels before 5.9, and some sandboxes, have no close_range(). Even high descriptors are not
 * inherited.
 */
TS_TEST(nothing_else_without_close_range)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {TS_ARRAY_LEN(filter), filter};
	struct rlimit limit;
	int high, i;

	ts_check_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
	high = limit.rlim_cur > 3000 ? 2900 : (int)limit.rlim_cur - 1;
	for (i = 0; i < 300; i++)
		ts_check_int(dup2(2, high - i), high - i);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		ts_skip("no seccomp");
	/* 5: see above. */
	ts_check_str(run("ls /proc/self/fd | wc -l >&3"), "5\n");
	for (i = 0; i < 300; i++)
		close(high - i);
}
