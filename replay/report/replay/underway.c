/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was noted last is under a lock; who tells takes a copy, so that the one who replays never waits for somebody's terminal or
 * socket, unless it has an answer to give itself.
 */
#include "replay/report/replay/underway.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct ts_underway {
	void (*tell)(void *data, const struct ts_underway_now *now);
	void *data;
	uint32_t every_ms;
	pthread_t thread;
	pthread_mutex_t lock, telling;
	pthread_cond_t wake;
	struct ts_underway_now now;
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

/* The lock of telling is taken first by both, so that none waits for the other with the other's. */
static void tell(struct ts_underway *underway)
{
	struct ts_underway_now now;
	bool is_new;

	pthread_mutex_lock(&underway->telling);
	pthread_mutex_lock(&underway->lock);
	is_new = underway->is_new && !underway->over;
	now = underway->now;
	underway->is_new = false;
	pthread_mutex_unlock(&underway->lock);
	if (is_new)
		underway->tell(underway->data, &now);
	pthread_mutex_unlock(&underway->telling);
}

static void *underway_thread(void *data)
{
	struct ts_underway *underway = data;
	struct timespec next;

	pthread_mutex_lock(&underway->lock);
	while (!underway->over) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		later(&next, underway->every_ms);
		if (pthread_cond_timedwait(&underway->wake, &underway->lock, &next) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&underway->lock);
		tell(underway);
		pthread_mutex_lock(&underway->lock);
	}
	pthread_mutex_unlock(&underway->lock);
	return NULL;
}

int ts_underway_new(void (*tell_)(void *data, const struct ts_underway_now *now), void *data,
		    uint32_t every_ms, struct ts_underway **ret_progress)
{
	struct ts_underway *underway = calloc(1, sizeof(*underway));
	pthread_condattr_t attributes;

	if (!underway)
		return -ENOMEM;
	underway->tell = tell_;
	underway->data = data;
	underway->every_ms = every_ms;
	pthread_mutex_init(&underway->lock, NULL);
	pthread_mutex_init(&underway->telling, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&underway->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&underway->thread, NULL, underway_thread, underway)) {
		free(underway);
		return -ENOMEM;
	}
	*ret_progress = underway;
	return 0;
}

void ts_underway_free(struct ts_underway *underway)
{
	if (!underway)
		return;
	pthread_mutex_lock(&underway->lock);
	underway->over = true;
	pthread_cond_signal(&underway->wake);
	pthread_mutex_unlock(&underway->lock);
	pthread_join(underway->thread, NULL);
	pthread_cond_destroy(&underway->wake);
	pthread_mutex_destroy(&underway->telling);
	pthread_mutex_destroy(&underway->lock);
	free(underway);
}

void ts_underway_note(struct ts_underway *underway, const struct ts_underway_now *now)
{
	if (!underway)
		return;
	pthread_mutex_lock(&underway->lock);
	underway->now = *now;
	underway->is_new = true;
	pthread_mutex_unlock(&underway->lock);
}

void ts_underway_hush(struct ts_underway *underway)
{
	if (!underway)
		return;
	pthread_mutex_lock(&underway->telling);
	pthread_mutex_lock(&underway->lock);
	underway->is_new = false;
	pthread_mutex_unlock(&underway->lock);
	pthread_mutex_unlock(&underway->telling);
}
