/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that TraceSmith makes in the application's process under a seccomp filter. It makes
 * no others. `tsctl devices` prints the list for its machine, and inject/README.md has it as a
 * table for x86-64. A test runs a program under a filter that kills it for every other call.
 *
 * 	X(name, start, why)
 *
 * start 1: only to start a private daemon. This happens if TRACESMITH_SOCKET is unset, no service
 * listens, and any filter was present when the program began. A program that installs a filter
 * itself gets no private daemon.
 */
#pragma once

/* Linux for aarch64 does not have the older call of such a pair. */
#if defined(__x86_64__)
#define TS_SANDBOX_EITHER(X, older, newer, start, why) X(older, start, why)
#else
#define TS_SANDBOX_EITHER(X, older, newer, start, why) X(newer, start, why)
#endif

#define TS_SANDBOX_CALLS(X)                                                                       \
	X(openat, 0,                                                                              \
	  "opens /proc/self/status, /dev/null, the file of the clock source, libraries, and code" \
	  " that is captured for replay")                                                         \
	X(read, 0, "the files that openat opens")                                                 \
	X(pread64, 0, "libraries")                                                                \
	X(newfstatat, 0, "libraries, code that is captured for replay")                           \
	X(close, 0, "files and sockets of the shim")                                              \
	TS_SANDBOX_EITHER(X, readlink, readlinkat, 0, "the program's name")                       \
	X(brk, 0, "memory of the C library for threads and libraries")                            \
	X(mmap, 0, "memory of threads, tables and CUPTI's buffers; libraries")                    \
	X(mremap, 0, "more of the session's memory, as it is used")                               \
	X(munmap, 0, "memory that is no longer used")                                             \
	X(mprotect, 0, "libraries, threads")                                                      \
	X(madvise, 0,                                                                             \
	  "excludes the session's memory from children and core dumps; gives it pages")           \
	X(munlock, 0, "keeps the shim's memory unlocked after mlockall()")                        \
	X(mincore, 0, "libunwind: whether a stack can be read")                                   \
	X(process_vm_readv, 0, "capture level replay: memory that may be unmapped")               \
	X(prlimit64, 0, "limits that the session's memory keeps to; a thread's stack")            \
	X(memfd_create, 0, "the session's memory")                                                \
	X(ftruncate, 0, "the session's memory")                                                   \
	X(fcntl, 0, "seals of the session's memory; descriptors out of the way")                  \
	X(getrandom, 0, "the session's id")                                                       \
	X(clone3, 0, "the threads ts-link and ts-flush")                                          \
	X(clone, 0, "those threads, if there is no clone3")                                       \
	X(set_robust_list, 0, "those threads")                                                    \
	X(rseq, 0, "those threads")                                                               \
	X(rt_sigprocmask, 0, "those threads; libunwind: whether a stack can be read")             \
	X(rt_sigaction, 0, "a window that a signal opens (--capture window,signal=)")             \
	X(prctl, 0, "names of threads")                                                           \
	X(gettid, 0, "numbers of threads")                                                        \
	X(getpid, 0, "whether this is a forked child")                                            \
	X(exit, 0, "the end of ts-flush")                                                         \
	X(close_range, 0, "ts-link has its own table of descriptors")                             \
	X(socket, 0, "the daemon")                                                                \
	X(connect, 0, "the daemon")                                                               \
	X(sendmsg, 0, "the daemon")                                                               \
	X(recvfrom, 0, "the daemon")                                                              \
	TS_SANDBOX_EITHER(X, poll, ppoll, 0, "the daemon")                                        \
	X(futex, 0, "threads wait for each other and wake the daemon")                            \
	X(clock_gettime, 0, "times, if the kernel does not give them without a call")             \
	X(clock_nanosleep, 0, "waiting for room in a full ring (--lossless, capture)")            \
	X(write, 0, "TRACESMITH_DEBUG")                                                           \
	TS_SANDBOX_EITHER(X, access, faccessat, 1, "where the daemon is")                         \
	X(socketpair, 1, "the daemon's connection")                                               \
	X(setsid, 1, "in the daemon's process, before execve()")                                  \
	TS_SANDBOX_EITHER(X, dup2, dup3, 1, "in the daemon's process, before execve()")           \
	X(getdents64, 1, "in the daemon's process, if there is no close_range()")                 \
	X(execve, 1, "in the daemon's process")                                                   \
	X(exit_group, 1, "in the daemon's process, if execve() fails")                            \
	X(wait4, 1, "the process between the application and the daemon has ended")
