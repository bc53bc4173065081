/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that work for one caller: a bounded queue of jobs whose results come back in the order in
 * which the jobs were added. Private to sbt/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sbt/reader-threads.h"

struct ts_jobs_kind {
	size_t job_bytes;
	size_t state_bytes;		     /* of each thread's own memory, zeroed at the start */
	void (*run)(void *state, void *job); /* called in a thread */
	void (*state_deinit)(void *state);   /* called by ts_jobs_free() after the thread's end */
};

struct ts_jobs;

/*
 * Starts up to n_threads threads, at most TS_SBT_MAX_THREADS; fewer if the system or the memory
 * permits no more. The queue holds n_jobs jobs.
 * -ENOMEM, -EAGAIN: no thread was started.
 */
int ts_jobs_new(unsigned n_threads, unsigned n_jobs, const struct ts_jobs_kind *kind,
		struct ts_jobs **ret_jobs);

/* Waits for the jobs that run, drops the others, and ends the threads. Accepts NULL. */
void ts_jobs_free(struct ts_jobs *jobs);

/* Returns the memory of the next job, or NULL if the queue is full. */
void *ts_jobs_slot(struct ts_jobs *jobs);

/* Adds the job in the memory of ts_jobs_slot(). */
void ts_jobs_add(struct ts_jobs *jobs);

/* Returns true if there are jobs that were not taken. */
bool ts_jobs_left(const struct ts_jobs *jobs);

/*
 * Waits for the oldest job and returns it; it is valid until the next call of ts_jobs_add(). There
 * must be one.
 */
void *ts_jobs_take(struct ts_jobs *jobs);
