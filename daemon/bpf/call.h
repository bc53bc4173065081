/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * The agreement between the eBPF programs on the vendors' libraries and the daemon. The programs
 * and the daemon are of one build. Times are bpf_ktime_get_ns(): CLOCK_MONOTONIC. Numbers of
 * processes and threads are those of the initial pid namespace.
 *
 * Programs include this header and have no libc: fixed-width types come from linux/types.h.
 */
#pragma once

#include <linux/types.h>

/*
 * A probe's cookie describes the function to the program: its number, its role, and its interesting
 * arguments. These are among the first six (0 to 5).
 *
 * 	bits 0..15	number, of call-functions.h
 * 	bits 16..19	enum ts_call_role
 * 	bits 20..22	argument that is a size in bytes; TS_CALL_NONE
 * 	bits 24..26	argument that multiplies the size; TS_CALL_NONE
 * 	bits 28..31	left shift of the size
 * 	bits 32..34	argument that is a handle; TS_CALL_NONE
 * 	bits 36..38	NAMES: argument that is the name; ALIAS: argument that is the other handle
 * 	bit 40		the argument points to the handle, which is valid at the return
 */
enum ts_call_role {
	TS_CALL_PLAIN = 0,
	TS_CALL_NAMES = 1, /* reports the name of a kernel; not recorded as a call */
	TS_CALL_ALIAS = 2, /* reports another handle of a kernel; not recorded as a call */
	TS_CALL_SHIM = 3,  /* the process has libtsinject.so and begins to use it */
};

#define TS_CALL_NONE		 7u
#define TS_CALL_INDIRECT	 (1ull << 40)

#define TS_CALL_NUMBER(cookie)	 ((__u32)((cookie)&0xffff))
#define TS_CALL_ROLE(cookie)	 ((__u32)((cookie) >> 16 & 15))
#define TS_CALL_BYTES(cookie)	 ((__u32)((cookie) >> 20 & 7))
#define TS_CALL_TIMES(cookie)	 ((__u32)((cookie) >> 24 & 7))
#define TS_CALL_SHIFT(cookie)	 ((__u32)((cookie) >> 28 & 15))
#define TS_CALL_HANDLE(cookie)	 ((__u32)((cookie) >> 32 & 7))
#define TS_CALL_ARGUMENT(cookie) ((__u32)((cookie) >> 36 & 7))

/* State of a process, by its number. */
struct ts_call_process {
	/* 1: the process has a session of its own, or begins one; its calls are not reported */
	__u32 excluded;
	__u32 seen; /* 1: an event of the process was sent */
	__u64 lost; /* calls of the process that were lost for lack of room */
};

enum ts_call_event_type {
	TS_CALL_EVENT_CALL = 1,
	TS_CALL_EVENT_NAME = 2,	 /* struct ts_call_name */
	TS_CALL_EVENT_ALIAS = 3, /* `handle` and `bytes` are handles of the same kernel */
	/* The process ended, or executes another program. `bytes`: number of lost calls. */
	TS_CALL_EVENT_OVER = 4,
	TS_CALL_EVENT_SHIM = 5, /* the process is excluded from now on */
};

struct ts_call_event {
	__u32 type;
	__u32 number; /* number of the function */
	__u32 pid;
	__u32 tid;
	__u32 uid;
	__s32 result;
	__u64 start_ns;
	__u64 end_ns;
	__u64 bytes;
	__u64 handle;
	char name[16]; /* name of the thread */
};

#define TS_CALL_NAME_BYTES 1024

struct ts_call_name {
	struct ts_call_event event;
	char text[TS_CALL_NAME_BYTES];
};
