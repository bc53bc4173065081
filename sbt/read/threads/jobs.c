/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and their queue of jobs: see jobs.h. verify.c, prefetch.c and slices.c call this
 * module; ahead.c and replay/ start threads with it.
 *
 *     added by the caller --> waiting --> running in a thread --> done --> taken by the caller
 *     n_added                 n_started                                    n_taken
 */

#include "sbt/read/threads/jobs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#define STACK_BYTES (1024u * 1024)

struct worker {
	struct ts_jobs *jobs;
	pthread_t thread;
	void *state;
};

struct ts_jobs {
	struct ts_jobs_kind kind;
	unsigned n_threads, n_jobs;
	struct worker workers[TS_SBT_MAX_THREADS];
	pthread_mutex_t lock;
	pthread_cond_t added; /* or `stop` was set */
	pthread_cond_t done;
	bool stop;
	/* Numbers of jobs since the start; job `i` lies in slot i % n_jobs. */
	uint64_t n_added, n_started, n_taken;
	bool *is_done; /* by slot */
	uint8_t *slots;
};

unsigned ts_sbt_max_threads(void)
{
	const char *text = secure_getenv("TRACESMITH_THREADS");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;
	cpu_set_t cpus;

	if (!n && !sched_getaffinity(0, sizeof(cpus), &cpus))
		n = (unsigned long)CPU_COUNT(&cpus);
	else if (!n)
		/* The machine has more processors than cpu_set_t has bits. */
		n = TS_SBT_MAX_THREADS;
	return n > TS_SBT_MAX_THREADS ? TS_SBT_MAX_THREADS : n ? (unsigned)n : 1;
}

int ts_sbt_thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int r = pthread_attr_init(&attributes);

	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* The application's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = r ? r : pthread_create(ret_thread, &attributes, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}

static void *slot(struct ts_jobs *jobs, uint64_t job)
{
	return jobs->slots + job % jobs->n_jobs * jobs->kind.job_bytes;
}

static void *work(void *data)
{
	const struct worker *worker = data;
	struct ts_jobs *jobs = worker->jobs;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		uint64_t job = jobs->n_started;

		if (jobs->stop)
			break;
		if (job == jobs->n_added) {
			pthread_cond_wait(&jobs->added, &jobs->lock);
			continue;
		}
		jobs->n_started++;
		pthread_mutex_unlock(&jobs->lock);
		jobs->kind.run(worker->state, slot(jobs, job));
		pthread_mutex_lock(&jobs->lock);
		jobs->is_done[job % jobs->n_jobs] = true;
		pthread_cond_signal(&jobs->done);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

static int start_worker(struct ts_jobs *jobs)
{
	struct worker *worker = &jobs->workers[jobs->n_threads];
	int r;

	worker->jobs = jobs;
	worker->state = calloc(1, jobs->kind.state_bytes);
	if (!worker->state)
		return -ENOMEM;
	r = ts_sbt_thread_start(&worker->thread, work, worker);
	if (r)
		free(worker->state);
	else
		jobs->n_threads++;
	return r;
}

static void deinit(struct ts_jobs *jobs)
{
	pthread_cond_destroy(&jobs->done);
	pthread_cond_destroy(&jobs->added);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs->is_done);
	free(jobs->slots);
	free(jobs);
}

int ts_jobs_new(unsigned n_threads, unsigned n_jobs, const struct ts_jobs_kind *kind,
		struct ts_jobs **ret_jobs)
{
	struct ts_jobs *jobs = calloc(1, sizeof(*jobs));
	int r = 0;

	if (!jobs)
		return -ENOMEM;
	jobs->kind = *kind;
	jobs->n_jobs = n_jobs;
	/* These functions of glibc do not fail with default attributes. */
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->added, NULL);
	pthread_cond_init(&jobs->done, NULL);
	jobs->is_done = calloc(n_jobs, sizeof(*jobs->is_done));
	jobs->slots = calloc(n_jobs, kind->job_bytes);
	if (!jobs->is_done || !jobs->slots)
		r = -ENOMEM;
	while (!r && jobs->n_threads < n_threads)
		r = start_worker(jobs);
	if (!jobs->n_threads) {
		deinit(jobs);
		return r;
	}
	*ret_jobs = jobs;
	return 0;
}

void ts_jobs_free(struct ts_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->stop = true;
	pthread_cond_broadcast(&jobs->added);
	pthread_mutex_unlock(&jobs->lock);
	for (unsigned i = 0; i < jobs->n_threads; i++) {
		pthread_join(jobs->workers[i].thread, NULL);
		jobs->kind.state_deinit(jobs->workers[i].state);
		free(jobs->workers[i].state);
	}
	deinit(jobs);
}

void *ts_jobs_slot(struct ts_jobs *jobs)
{
	return jobs->n_added - jobs->n_taken < jobs->n_jobs ? slot(jobs, jobs->n_added) : NULL;
}

void ts_jobs_add(struct ts_jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->is_done[jobs->n_added % jobs->n_jobs] = false;
	jobs->n_added++;
	pthread_cond_signal(&jobs->added);
	pthread_mutex_unlock(&jobs->lock);
}

bool ts_jobs_left(const struct ts_jobs *jobs)
{
	return jobs->n_taken < jobs->n_added;
}

void *ts_jobs_take(struct ts_jobs *jobs)
{
	uint64_t job = jobs->n_taken;

	pthread_mutex_lock(&jobs->lock);
	while (!jobs->is_done[job % jobs->n_jobs])
		pthread_cond_wait(&jobs->done, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	jobs->n_taken++;
	return slot(jobs, job);
}
