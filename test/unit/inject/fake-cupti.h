/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test makes the fake libcupti do: it calls the subscriber and fills its buffers as CUPTI would.
 * Read from the environment: FAKE_CUPTI_VERSION, cuptiGetVersion()'s answer; FAKE_CUPTI_HOLDER, the name of
 * a tool that subscribed before; FAKE_CUPTI_SLOW_END, how many microseconds its destructor takes. A call
 * after that began aborts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One <<<>>> launch: cudaLaunchKernel, cuLaunchKernel nested in it, and its kernel record. */
void fake_cupti_launch(void);

/* A call alone. params as the callback id's are; result is what it returns. */
void fake_cupti_call(uint32_t domain, uint32_t cbid, const void *params, int32_t result);

/* Between the two the application is inside the call. */
void fake_cupti_enter(uint32_t domain, uint32_t cbid, const void *params);
void fake_cupti_leave(uint32_t domain, uint32_t cbid, const void *params, int32_t result);

/* The thread leaves every call it is in, and nobody sees it. */
void fake_cupti_forget(void);

/* A stream comes, or goes; made inside the call whose callback id is given. */
void fake_cupti_stream(void *stream, int created);

/* CUPTI meets an error that it does not survive: it ends itself, and tells the subscriber. */
void fake_cupti_fatal(void);

/* Puts a record into the current buffer. */
void fake_cupti_record(const void *record, size_t n_bytes);

uint32_t fake_cupti_n_enabled(void);	    /* callbacks that are on */
uint32_t fake_cupti_n_flushes(void);	    /* of any kind */
uint32_t fake_cupti_n_stream_queries(void); /* ids asked for, but of a stream that comes or goes */
uint32_t fake_cupti_n_subscribed(void);	    /* 0 or 1 */
/* Of a callback that somebody wants. */
uint32_t fake_cupti_is_enabled(uint32_t domain, uint32_t cbid);
uint32_t fake_cupti_n_clocks(void); /* timestamp callbacks that were registered */
uint32_t fake_cupti_order(void);    /* 1 where set-up came in the order that CUPTI wants */
