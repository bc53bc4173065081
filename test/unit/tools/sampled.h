/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small trace with samples. A Python program keeps a stream idle for a second: 70 % of its own
 * code is in preprocess(), 30 % in load(). Another thread runs native code. Made without a GPU, a
 * shim or a daemon.
 *
 *	ms of the trace
 *	   0..1     the thread `loader` is off its CPU; scheduling is known from here on
 *	   1..2     the first kernel of stream 7
 *	   2..1002  the gap: `main` has a sample every 5 ms, 126 in preprocess() and 54 in load();
 *		    none in 402..502, when it sleeps in load()
 *	   2..102   `loader` has a sample every 5 ms: 18 in libc called by resample(), one at an
 *		    address in no file, one without a stack
 *	1002..1003  the second kernel, whose call took the last 10 us of the gap
 */
#pragma once

#include "sbt/writer.h"

#define SAMPLED_START_NS  UINT64_C(1000000000)
#define SAMPLED_PERIOD_NS UINT64_C(5000000)
#define SAMPLED_SESSION	  1u
#define SAMPLED_TID	  500u

/* Ids of stacks. */
enum sampled_stack {
	SAMPLED_PREPROCESS = 1,	 /* data.py:31, calls numpy */
	SAMPLED_PREPROCESS_NEXT, /* data.py:32 */
	SAMPLED_LOAD,		 /* data.py:12 */
	SAMPLED_NATIVE,		 /* resample.c:88, calls libc */
	SAMPLED_NOWHERE,	 /* an address in no file */
	SAMPLED_NO_SYMBOLS,	 /* a library without symbols */
	SAMPLED_LIBC_ALONE,	 /* only libc */
	SAMPLED_LAUNCH,		 /* train.py:7, below the shim's frames */
};

/*
 * Writes the trace that the head of this file describes to `fd`, and closes `fd`. The caller opens
 * `fd` for reading and writing. With `few`, the trace has only two samples: one in preprocess() and
 * one in load(). Returns 0, a negative errno or TS_SBT_E_*.
 */
int sampled_write(int fd, bool few);
