/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a worker process: limits, user, capabilities, file system, system calls. main.c calls
 * this module before the first untrusted byte.
 *
 *     set_limits()             memory, processor time, descriptors
 *     leave_root()             empty root directory, then user nobody    (root only)
 *     drop_capabilities()      none is left
 *     no_new_privs, not dumpable
 *     ts_confine_landlock()    no file by name, no TCP, no other process
 *     filter_calls()           system calls that are not listed kill the process
 *
 * Each wall stands alone: code that passes one wall meets the next. The order matters. Only root
 * can change the root directory and the user, and the filter forbids the calls that build the other
 * walls. A worker without root keeps its uid, which is the daemon's. Then Landlock and the filter
 * protect the daemon, and the daemon is not dumpable.
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
/* Enough for all descriptors of a frame, each with one duplicate by the reader of the file. */
#define MAX_DESCRIPTORS 192u
#define MAX_STACK_BYTES (UINT64_C(8) << 20)

static int limit(int resource, uint64_t most)
{
	struct rlimit now, wanted = {most, most};

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	/* The current limit may be lower already, and cannot be raised. */
	if (now.rlim_max < wanted.rlim_max)
		wanted = (struct rlimit){now.rlim_max, now.rlim_max};
	return setrlimit((__rlimit_resource_t)resource, &wanted) < 0 ? -errno : 0;
}

static int set_limits(const struct ts_confine_options *options)
{
	int r;

	/* Files are mapped, not allocated, so the address space may be many times the memory. */
	r = limit(RLIMIT_DATA, options->memory_bytes);
	r = r ?: limit(RLIMIT_AS, options->memory_bytes * 16);
	r = r ?: limit(RLIMIT_STACK, MAX_STACK_BYTES);
	r = r ?: limit(RLIMIT_CPU, options->cpu_seconds);
	r = r ?: limit(RLIMIT_NOFILE, MAX_DESCRIPTORS);
	r = r ?: limit(RLIMIT_FSIZE, 0);
	r = r ?: limit(RLIMIT_CORE, 0);
	/* RLIMIT_NPROC counts threads too. With threads, the filter alone forbids processes. */
	r = r ?: options->threads ? 0 : limit(RLIMIT_NPROC, 0);
	return r ?: limit(RLIMIT_MEMLOCK, 0);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3],
		none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	/* A kernel before Linux 4.3 has no ambient set. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -errno;
	/*
	 * A service's own filter may forbid capset(), so skip it if there is no capability to drop.
	 */
	if (!syscall(SYS_capget, &header, now) && !memcmp(now, none, sizeof(now)))
		return 0;
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* Gives up the file system and then root's ids; the first step needs root. */
static void leave_root(struct ts_confined *confined)
{
	if (geteuid())
		return;
	/*
	 * The new root directory is in this process's /proc. It is empty after the process ends;
	 * until then no file in it can be opened.
	 */
	confined->no_files = !chroot("/proc/self/fdinfo") && !chdir("/");
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		confined->missing |= TS_CONFINE_NO_USER;
	else
		confined->other_user = true;
}

/* struct landlock_ruleset_attr of version 6; fields that an older kernel does not know are 0. */
struct landlock_rules {
	uint64_t files, ports, scopes;
};

int ts_confine_landlock(void)
{
	/* Number of file rights in each version of Landlock: landlock(7). */
	static const unsigned n_file_rights[] = {0, 13, 14, 15, 15, 16};
	const int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const size_t known = TS_ARRAY_LEN(n_file_rights) - 1;
	struct landlock_rules rules = {0};
	int fd, r;

	if (version < 1)
		return version < 0 ? -errno : -ENOSYS;
	/* The rule set handles all rights that the kernel knows, and no rule grants any. */
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

/*
 * Calls that name a file or examine one. libelf and libdw try them and continue without. A machine
 * without the older call of a pair has no rule for it.
 */
static const int refused_calls[] = {
	SCMP_SYS(open),	      SCMP_SYS(openat),	   SCMP_SYS(stat),	 SCMP_SYS(lstat),
	SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(ioctl),	   SCMP_SYS(statx),	 SCMP_SYS(getcwd),
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

/* Calls of threads, and of the C library for a new thread. */
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
	/*
	 * The flags of clone3() are in memory, which a filter cannot read. With ENOSYS, the C
	 * library calls clone().
	 */
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
	/* Memory may never be executable. */
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* fstat() is this call since glibc 2.33: it examines a descriptor, not a name. */
	r = r
		    ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
					SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	/* Allow only the fcntl() commands that examine or duplicate a descriptor. */
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

	*ret_what = "the resource limits";
	r = set_limits(options);
	if (r)
		return r;
	leave_root(&confined);
	*ret_what = "dropping capabilities";
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
	/* This is set after the change of user, because that change clears it. */
	if (options->end_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	*ret_what = "the system-call filter";
	r = filter_calls(options->threads);
	if (r)
		return r;
	*ret_confined = confined;
	return 0;
}
