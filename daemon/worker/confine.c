/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's walls. Each stands alone: who gets past one stands before the next. The order matters: root is
 * needed to leave it and to lose the file system, and the filter forbids everything that builds the others. A worker that was
 * started without root keeps its uid, the daemon's: Landlock and the filter stand between the two, and the daemon is not dumpable.
 */
#include "daemon/worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/abi/base.h"

#define NOBODY 65534u
/* As many files as come with a frame, each of which its reader has once more. */
#define MAX_DESCRIPTORS 192u
#define MAX_STACK_BYTES (UINT64_C(8) << 20)

static int limit(int resource, uint64_t most)
{
	struct rlimit now, wanted = {most, most};

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	/* It may have less already, and may not have more. */
	if (now.rlim_max < wanted.rlim_max)
		wanted = (struct rlimit){now.rlim_max, now.rlim_max};
	return setrlimit((__rlimit_resource_t)resource, &wanted) < 0 ? -errno : 0;
}

static int set_limits(const struct ts_confine_options *options)
{
	int r;

	/* Files are mapped, not allocated: of those there may be many times the memory. */
	r = limit(RLIMIT_DATA, options->memory_bytes);
	r = r ?: limit(RLIMIT_AS, options->memory_bytes * 16);
	r = r ?: limit(RLIMIT_STACK, MAX_STACK_BYTES);
	r = r ?: limit(RLIMIT_CPU, options->cpu_seconds);
	r = r ?: limit(RLIMIT_NOFILE, MAX_DESCRIPTORS);
	r = r ?: limit(RLIMIT_FSIZE, 0);
	r = r ?: limit(RLIMIT_CORE, 0);
	/* Threads count as processes do; that there are none of those, the filter sees to. */
	r = r ?: options->threads ? 0 : limit(RLIMIT_NPROC, 0);
	return r ?: limit(RLIMIT_MEMLOCK, 0);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3],
		none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	/* An older kernel has no ambient set to clear. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -errno;
	/* A service's own filter may forbid capset(): it need not be called where there is nothing to lose. */
	if (!syscall(SYS_capget, &header, now) && !memcmp(now, none, sizeof(now)))
		return 0;
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* Of root's rights: first the file system goes, then root. */
static void leave_root(struct ts_confined *confined)
{
	if (geteuid())
		return;
	/* A directory of our own /proc: empty once this process is gone, and nothing to open until then. */
	confined->no_files = !chroot("/proc/self/fdinfo") && !chdir("/");
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		confined->missing |= TS_CONFINE_NO_USER;
	else
		confined->other_user = true;
}

/* struct landlock_ruleset_attr of version 6; what an older kernel does not know is 0. */
struct landlock_rules {
	uint64_t files, ports, scopes;
};

int ts_confine_landlock(void)
{
	/* Rights over files that each version added to: landlock(7). */
	static const unsigned n_file_rights[] = {0, 13, 14, 15, 15, 16};
	const int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const size_t known = TS_ARRAY_LEN(n_file_rights) - 1;
	struct landlock_rules rules = {0};
	int fd, r;

	if (version < 1)
		return version < 0 ? -errno : -ENOSYS;
	/* All rights that the kernel knows are ruled, and no rule grants any. */
	rules.files = (1u << n_file_rights[(size_t)version < known ? (size_t)version : known]) - 1;
	rules.ports = version >= 4 ? 3 : 0;
	rules.scopes = version >= 6 ? 3 : 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (fd < 0)
		return -errno;
	r = syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? -errno : version;
	close(fd);
	return r;
}

/* What names a file, or asks about one: libelf and libdw try, and go on without. */
static const int refused_calls[] = {
	SCMP_SYS(open),	    SCMP_SYS(openat), SCMP_SYS(stat),  SCMP_SYS(lstat),	 SCMP_SYS(access),
	SCMP_SYS(readlink), SCMP_SYS(ioctl),  SCMP_SYS(statx), SCMP_SYS(getcwd),
};

static const int allowed_calls[] = {
	SCMP_SYS(read),		 SCMP_SYS(pread64),	 SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),	 SCMP_SYS(poll),	 SCMP_SYS(ppoll),
	SCMP_SYS(close),	 SCMP_SYS(fstat),	 SCMP_SYS(lseek),
	SCMP_SYS(munmap),	 SCMP_SYS(mremap),	 SCMP_SYS(munlock),
	SCMP_SYS(brk),		 SCMP_SYS(madvise),	 SCMP_SYS(futex),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(sysinfo),
	SCMP_SYS(getrandom),	 SCMP_SYS(exit_group),	 SCMP_SYS(exit),
	SCMP_SYS(sigaltstack),	 SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
};

/* Of threads, and what the C library does for a new one. */
static const int thread_calls[] = {
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(gettid),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(nanosleep),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(rt_sigaction),
};

static const unsigned allowed_controls[] = {F_GETFL, F_GETFD, F_DUPFD_CLOEXEC, F_OFD_GETLK};

static int add_thread_rules(scmp_filter_ctx filter)
{
	static const uint64_t flags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
	static const int names[] = {PR_SET_NAME, PR_SET_TIMERSLACK};
	int r = 0;

	for (size_t i = 0; !r && i < TS_ARRAY_LEN(thread_calls); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, thread_calls[i], 0);
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(names); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
				     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)names[i]));
	/* Its flags are in memory, where a filter does not look; without it the C library takes the other. */
	r = r ?: seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return r
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
					   SCMP_A0(SCMP_CMP_MASKED_EQ, flags, flags));
}

static int add_rules(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; !r && i < TS_ARRAY_LEN(refused_calls); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused_calls[i], 0);
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(allowed_calls); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	/* Memory, but never code. */
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* What fstat() is since glibc 2.33: of a descriptor, not of a name below one. */
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
					SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	/* Of descriptors that it has: what they are, and another number for one. */
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(allowed_controls); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				     SCMP_A1(SCMP_CMP_EQ, allowed_controls[i]));
	return r;
}

static int filter_calls(bool threads)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r;

	if (!filter)
		return -ENOMEM;
	r = add_rules(filter);
	if (!r && threads)
		r = add_thread_rules(filter);
	r = r ?: seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

int ts_confine(const struct ts_confine_options *options, struct ts_confined *ret_confined,
	       const char **ret_what)
{
	struct ts_confined confined = {0};
	int r;

	*ret_what = "its limits";
	r = set_limits(options);
	if (r)
		return r;
	leave_root(&confined);
	*ret_what = "the loss of capabilities";
	r = drop_capabilities();
	if (r)
		return r;
	*ret_what = "no_new_privs";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	if (ts_confine_landlock() > 0)
		confined.no_files = true;
	if (!confined.no_files)
		confined.missing |= TS_CONFINE_NO_ROOT;
	/* After the change of user, which would clear it. */
	if (options->end_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	*ret_what = "the system-call filter";
	r = filter_calls(options->threads);
	if (r)
		return r;
	*ret_confined = confined;
	return 0;
}
