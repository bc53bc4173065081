/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small trace with samples: a Python program keeps a stream waiting for a second, 70 % of its own code in preprocess(), 30 % in
 * load(); another thread is in native code. Made without a GPU, a shim or a daemon.
 *
 *	ms of the trace
 *	   0..1     the thread `loader` is off its CPU: since then scheduling is known
 *	   1..2     the first kernel of stream 7
 *	   2..1002  the gap: `main` has a sample each 5 ms, 126 in preprocess() and 54 in load(), but 402..502, when it sleeps in load()
 *	   2..102   `loader` has a sample each 5 ms: 18 in resample(), by way of libc, one at an address in no file, one without a stack
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
	SAMPLED_PREPROCESS = 1,	 /* data.py:31, from below numpy */
	SAMPLED_PREPROCESS_NEXT, /* data.py:32 */
	SAMPLED_LOAD,		 /* data.py:12 */
	SAMPLED_NATIVE,		 /* resample.c:88, from below libc */
	SAMPLED_NOWHERE,	 /* an address in no file */
	SAMPLED_NO_SYMBOLS,	 /* a library without symbols */
	SAMPLED_LIBC_ALONE,	 /* nothing but libc */
	SAMPLED_LAUNCH,		 /* train.py:7, from below the shim */
};

/*
 * Writes the trace to `fd`, which it takes over: open for reading and writing. `few`: of the samples only the first of preprocess() and
 * the first of load(). Returns 0, a negative errno or TS_SBT_E_*.
 */
int sampled_write(int fd, bool few);
