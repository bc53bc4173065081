/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * The agreement between the eBPF programs and the daemon: settings of a traced process, events in
 * the ring. The programs and the daemon are of one build, so nothing here has a version. Times are
 * bpf_ktime_get_ns(): CLOCK_MONOTONIC. Numbers of processes and threads are those of the initial
 * pid namespace.
 *
 * Programs include this header and have no libc: fixed-width types come from linux/types.h.
 */
#pragma once

#include <linux/types.h>

enum ts_bpf_program {
	TS_BPF_SCHED = 0,
	TS_BPF_FAULTS = 1,
	TS_BPF_SYSCALLS = 2,
	TS_BPF_STACKS = 3, /* stacks of TS_BPF_SCHED's intervals; needs TS_BPF_SCHED */
	TS_BPF_BLOCK = 4,
	TS_BPF_MEMORY = 5,
	TS_BPF_DRIVER = 6,
	TS_BPF_SAMPLES = 7, /* no eBPF program: daemon/sample */
	TS_BPF_N_PROGRAMS = 8
};

/* Number of slots for counters. The slot of a session is its number modulo TS_BPF_SLOTS. */
#define TS_BPF_SLOTS 1024

/*
 * Settings of a process, by its number. An event belongs to the process only if the process started
 * in the span below. Unless `uid` is 0, an event also needs a thread whose six ids are all `uid`
 * and `gid`, and whose memory is dumpable.
 */
struct ts_bpf_traced {
	__u32 session;	/* the daemon's number of the session; never 0 */
	__u32 programs; /* bits of enum ts_bpf_program */
	__u32 counted;	/* subset of `programs`: count events, do not deliver them */
	__u32 uid;	/* uid of the session's process, as seen in the first user namespace */
	__u32 gid;
	__u32 reserved;
	/* CLOCK_BOOTTIME: the process started in [start_ns, start_ns + start_span_ns) */
	__u64 start_ns;
	__u64 start_span_ns;
	__u64 threshold_ns[TS_BPF_N_PROGRAMS]; /* shorter intervals are not delivered */
};

/* Lost events of a session, by program. */
struct ts_bpf_lost {
	__u64 count[TS_BPF_N_PROGRAMS];
};

/* Programs that can count events, and the maximum number of tallies of all sessions together. */
#define TS_BPF_COUNTABLE (1u << TS_BPF_SCHED | 1u << TS_BPF_FAULTS | 1u << TS_BPF_SYSCALLS)
#define TS_BPF_TALLIES	 32768

/*
 * Values of `what` in the key of a tally. TS_BPF_FAULTS: ts_bpf_fault.fault. TS_BPF_SYSCALLS:
 * number of the system call. TS_BPF_SCHED: number of the system call, TS_BPF_NO_SYSCALL or
 * TS_BPF_PREEMPTED.
 */
#define TS_BPF_PREEMPTED 0xfffffffeu

struct ts_bpf_tally_key {
	__u32 session;
	__u32 tid;
	__u32 program;
	__u32 what;
};

/*
 * Count and total time of the events of one thread and kind (the key), since the first such event.
 */
struct ts_bpf_tally {
	__u64 count;
	__u64 ns;
	__u32 pid;
	__u32 reserved;
	char name[16]; /* name of the thread at that event */
};

struct ts_bpf_event {
	__u32 session;
	__u32 program; /* enum ts_bpf_program: selects one of the structs below */
	__u32 tid;
	__u32 pid;
	__u64 start_ns;
	__u64 end_ns;
	char name[16]; /* name of the thread */
};

#define TS_BPF_NO_SYSCALL 0xffffffffu

/*
 * Replaces the tid of another thread if the session's user may not see that thread. The thread's
 * pid is then 0 and its name is empty.
 */
#define TS_BPF_HIDDEN 0xffffffffu

struct ts_bpf_off_cpu {
	struct ts_bpf_event event;
	__u64 woken_ns;
	__u64 argument; /* first argument of the system call */
	__u32 syscall;	/* TS_BPF_NO_SYSCALL: none */
	__u32 state;	/* state of the task when it left the CPU, as in the kernel; 0: runnable */
	__u32 io_wait;
	__u32 preempted; /* the kernel preempted it, whatever its state */
	__u32 waker_context;
	__u32 waker_tid;
	__u32 waker_pid;
	__u32 next_tid;
	__u32 next_pid;
	__u32 cpu;
	__u32 end_cpu;
	__u32 migrations;
	char waker[16];
	char next[16];
};

/* waker_context: as in sbt/schema.h. */
#define TS_BPF_WAKER_THREAD    1
#define TS_BPF_WAKER_INTERRUPT 2

/*
 * The lane of a CPU: a ring of intervals that ended on this CPU. Only the program of sched_switch
 * writes the lane, and the kernel never interrupts that program by another one of the same CPU. The
 * daemon maps all lanes and reads them. The counters only grow. Event number i of a CPU has the
 * place cpu * n_events + i % n_events of the map `lane_events`. Each counter has two cache lines
 * for itself, because CPUs load lines in pairs.
 */
struct ts_bpf_lane {
	__u64 n_written; /* the program stores it after the event */
	__u64 n_events;	 /* a power of two, set by the daemon; 0: the lane is not used yet */
	__u64 reserved[14];
	__u64 n_read; /* the daemon stores it after it has copied the event */
	__u64 reserved_too[15];
};

#define TS_BPF_STACK_FRAMES 48

/* An interval with the user stack of its system call. */
struct ts_bpf_off_cpu_stack {
	struct ts_bpf_off_cpu interval;
	__u32 n_frames;
	__u32 reserved;
	__u64 frames[TS_BPF_STACK_FRAMES]; /* innermost first */
};

struct ts_bpf_fault {
	struct ts_bpf_event event;
	__u64 address;
	__u64 instruction;
	__u32 fault;  /* 1: minor, 2: major */
	__u32 memory; /* as in sbt/schema.h */
};

#define TS_BPF_FILE_BYTES 64

struct ts_bpf_syscall {
	struct ts_bpf_event event;
	__s64 result;
	__u64 address;
	__u64 bytes;
	__u64 offset;
	__u32 syscall;
	__s32 fd;
	__u32 operation;
	__u32 has_file;
	char file[TS_BPF_FILE_BYTES]; /* an event without a file ends in front of this field */
};

#define TS_BPF_DISK_BYTES 32

struct ts_bpf_block_io {
	struct ts_bpf_event event;
	__u64 issued_ns;
	__u64 sector;
	__u64 bytes;
	__u32 operation; /* `operation` and `flags` have the values of sbt/schema.h */
	__u32 flags;
	__s32 error; /* negative errno, or the block layer's number; 0: success */
	__u32 reserved;
	__u64 bio;
	__u64 done_bytes;
	char disk[TS_BPF_DISK_BYTES];
};

/* A thread that had to reclaim memory, or a process that the kernel killed for lack of memory. */
struct ts_bpf_pressure {
	struct ts_bpf_event event;
	__u64 pages;
	__u32 kind; /* as in sbt/schema.h */
	__u32 by_tid;
	__u32 by_pid;
	__u32 reserved;
	char by[16];
};

#define TS_BPF_RING_BYTES 32

/*
 * A thread's wait for a fence, a fence, or a job of the GPU scheduler. `key` is the address of the
 * fence in the kernel; for a job, the address of the job's scheduler fence.
 */
struct ts_bpf_driver {
	struct ts_bpf_event event;
	__u64 issued_ns;
	__u64 context;
	__u64 number;
	__u64 key;
	__u32 kind; /* as in sbt/schema.h */
	__s32 error;
	char ring[TS_BPF_RING_BYTES];
};
