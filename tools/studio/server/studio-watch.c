/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that watches clients: see studio-watch.h. http.c calls this module. A browser closes
 * the connection of a request that the page aborts, for example because the view has moved on.
 */
#include "tools/studio/server/studio-watch.h"

#include "proto/abi/base.h"

#include <poll.h>

#define PERIOD_NS 20000000L

struct ts_studio_watch {
	struct ts_studio *studio;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t is_changed;
	struct ts_studio_call *calls;
	bool is_ending;
};

/* A client that has sent more before it closed the connection is gone as well. */
static bool is_gone(const struct ts_studio_watch *watch, const struct ts_studio_call *call)
{
	struct pollfd client = {.fd = call->socket, .events = POLLRDHUP};

	return atomic_load_explicit(&watch->studio->is_ending, memory_order_relaxed) ||
	       (poll(&client, 1, 0) > 0 && client.revents);
}

static void *run(void *data)
{
	struct ts_studio_watch *watch = data;

	pthread_mutex_lock(&watch->lock);
	while (!watch->is_ending) {
		if (!watch->calls) {
			pthread_cond_wait(&watch->is_changed, &watch->lock);
			continue;
		}
		for (struct ts_studio_call *call = watch->calls; call; call = call->next)
			if (is_gone(watch, call))
				__atomic_store_n(&call->is_cancelled, 1, __ATOMIC_RELAXED);
		ts_studio_wait(&watch->is_changed, &watch->lock, PERIOD_NS);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

int ts_studio_watch_new(struct ts_studio *studio, struct ts_studio_watch **ret_watch)
{
	struct ts_studio_watch *watch = calloc(1, sizeof(*watch));
	int r;

	if (!watch)
		return -ENOMEM;
	watch->studio = studio;
	pthread_mutex_init(&watch->lock, NULL);
	r = ts_studio_wait_init(&watch->is_changed);
	r = r ? r : pthread_create(&watch->thread, NULL, run, watch);
	if (r) {
		free(watch);
		return -r;
	}
	*ret_watch = watch;
	return 0;
}

void ts_studio_watch_free(struct ts_studio_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_ending = true;
	pthread_cond_signal(&watch->is_changed);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	pthread_mutex_destroy(&watch->lock);
	pthread_cond_destroy(&watch->is_changed);
	free(watch);
}

void ts_studio_watch_add(struct ts_studio_watch *watch, struct ts_studio_call *call)
{
	pthread_mutex_lock(&watch->lock);
	call->next = watch->calls;
	if (!watch->calls)
		pthread_cond_signal(&watch->is_changed);
	watch->calls = call;
	pthread_mutex_unlock(&watch->lock);
}

void ts_studio_watch_remove(struct ts_studio_watch *watch, struct ts_studio_call *call)
{
	struct ts_studio_call **at = &watch->calls;

	pthread_mutex_lock(&watch->lock);
	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	pthread_mutex_unlock(&watch->lock);
}
