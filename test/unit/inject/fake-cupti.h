/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control of the fake libcupti by a test: it calls the subscriber and fills buffers like CUPTI.
 * Environment variables: FAKE_CUPTI_VERSION, cuptiGetVersion()'s answer; FAKE_CUPTI_HOLDER, the
 * name of a tool that subscribed before; FAKE_CUPTI_SLOW_END, the duration of the destructor in
 * microseconds. A call after the destructor began aborts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One <<<>>> launch: cudaLaunchKernel, cuLaunchKernel nested in it, and its kernel record. */
void fake_cupti_launch(void);

/*
 * Makes a single call: calls the subscriber at its entry and its exit. `params` has the type of the
 * callback id; `result` is the call's return value.
 */
void fake_cupti_call(uint32_t domain, uint32_t cbid, const void *params, int32_t result);

/*
 * Enter and leave a call: between fake_cupti_enter() and fake_cupti_leave() the application is
 * inside the call.
 */
void fake_cupti_enter(uint32_t domain, uint32_t cbid, const void *params);
void fake_cupti_leave(uint32_t domain, uint32_t cbid, const void *params, int32_t result);

/* The thread leaves all its calls without an exit callback. */
void fake_cupti_forget(void);

/* Reports that a stream is created or destroyed, inside the call that the thread has entered. */
void fake_cupti_stream(void *stream, int created);

/* Simulates a fatal error of CUPTI: CUPTI ends itself and reports this to the subscriber. */
void fake_cupti_fatal(void);

/* Puts a record into the current buffer. */
void fake_cupti_record(const void *record, size_t n_bytes);

uint32_t fake_cupti_n_enabled(void); /* callbacks that are on */
uint32_t fake_cupti_n_flushes(void); /* of any kind */
/* number of stream queries outside of callbacks for a stream's creation or destruction */
uint32_t fake_cupti_n_stream_queries(void);
uint32_t fake_cupti_n_subscribed(void); /* 0 or 1 */
/* Returns 1 if the callback is enabled. */
uint32_t fake_cupti_is_enabled(uint32_t domain, uint32_t cbid);
uint32_t fake_cupti_n_clocks(void); /* number of timestamp callbacks that were registered */
uint32_t fake_cupti_order(void);    /* 1 if the shim set CUPTI up in the required order */
