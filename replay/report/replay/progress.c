/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a replay's progress from a thread of its own. The modules of this folder note the
 * progress; tsctl and the daemon's worker receive the reports.
 *
 * A lock protects the latest progress. The reporting thread copies the progress and calls `report`
 * without that lock. So the replay never waits for a terminal or a socket, except before it gives
 * an answer.
 */
#include "replay/report/replay/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct ts_replay_progress {
	void (*report)(void *data, const struct ts_replay_progress_now *now);
	void *data;
	uint32_t every_ms;
	pthread_t thread;
	pthread_mutex_t lock, reporting;
	pthread_cond_t wake;
	struct ts_replay_progress_now now;
	bool is_new, over;
};

static void later(struct timespec *time, uint32_t ms)
{
	time->tv_sec += ms / 1000;
	time->tv_nsec += (long)(ms % 1000) * 1000000;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

/*
 * Calls `report` with the latest progress. This function and ts_replay_progress_pause() both lock
 * `reporting` before `lock`, so they cannot deadlock.
 */
static void report_now(struct ts_replay_progress *progress)
{
	struct ts_replay_progress_now now;
	bool is_new;

	pthread_mutex_lock(&progress->reporting);
	pthread_mutex_lock(&progress->lock);
	is_new = progress->is_new && !progress->over;
	now = progress->now;
	progress->is_new = false;
	pthread_mutex_unlock(&progress->lock);
	if (is_new)
		progress->report(progress->data, &now);
	pthread_mutex_unlock(&progress->reporting);
}

static void *progress_thread(void *data)
{
	struct ts_replay_progress *progress = data;
	struct timespec next;

	pthread_mutex_lock(&progress->lock);
	while (!progress->over) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		later(&next, progress->every_ms);
		if (pthread_cond_timedwait(&progress->wake, &progress->lock, &next) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&progress->lock);
		report_now(progress);
		pthread_mutex_lock(&progress->lock);
	}
	pthread_mutex_unlock(&progress->lock);
	return NULL;
}

int ts_replay_progress_new(void (*report)(void *data, const struct ts_replay_progress_now *now),
			   void *data, uint32_t every_ms, struct ts_replay_progress **ret_progress)
{
	struct ts_replay_progress *progress = calloc(1, sizeof(*progress));
	pthread_condattr_t attributes;

	if (!progress)
		return -ENOMEM;
	progress->report = report;
	progress->data = data;
	progress->every_ms = every_ms;
	pthread_mutex_init(&progress->lock, NULL);
	pthread_mutex_init(&progress->reporting, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&progress->thread, NULL, progress_thread, progress)) {
		free(progress);
		return -ENOMEM;
	}
	*ret_progress = progress;
	return 0;
}

void ts_replay_progress_free(struct ts_replay_progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->over = true;
	pthread_cond_signal(&progress->wake);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->wake);
	pthread_mutex_destroy(&progress->reporting);
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

void ts_replay_progress_note(struct ts_replay_progress *progress,
			     const struct ts_replay_progress_now *now)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->now = *now;
	progress->is_new = true;
	pthread_mutex_unlock(&progress->lock);
}

void ts_replay_progress_pause(struct ts_replay_progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->reporting);
	pthread_mutex_lock(&progress->lock);
	progress->is_new = false;
	pthread_mutex_unlock(&progress->lock);
	pthread_mutex_unlock(&progress->reporting);
}
