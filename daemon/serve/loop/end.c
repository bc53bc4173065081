/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that waits for an end signal and bounds the end of the daemon. server.c starts it
 * before any other thread. The bound does not hold if a thread waits in the kernel and ignores
 * SIGKILL. Descriptors from other users cannot cause such a wait (see
 * daemon/util/porter/porter.h). The file system of the daemon's own files can cause it.
 */
#include "daemon/serve/loop/end.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

struct ts_end {
	pthread_mutex_t mutex;
	pthread_cond_t done_changed;
	pthread_t thread;
	sigset_t signals;
	int wake_fd;
	int a_signal; /* one of `signals` */
	bool done;
	int signal;
	uint64_t signal_ns;
	void (*give_up)(void *data);
	void *data;
};

/*
 * Waits until by_ns. True if ts_end_free() stopped the thread before, because the process ends by
 * itself.
 */
static bool comes(struct ts_end *end, uint64_t by_ns)
{
	const struct timespec by = {.tv_sec = (time_t)(by_ns / 1000000000),
				    .tv_nsec = (long)(by_ns % 1000000000)};
	bool done;
	int r = 0;

	pthread_mutex_lock(&end->mutex);
	while (!end->done && !r)
		r = pthread_cond_timedwait(&end->done_changed, &end->mutex, &by);
	done = end->done;
	pthread_mutex_unlock(&end->mutex);
	return done;
}

static bool is_done(struct ts_end *end)
{
	bool done;

	pthread_mutex_lock(&end->mutex);
	done = end->done;
	pthread_mutex_unlock(&end->mutex);
	return done;
}

static void *wait_for_end(void *data)
{
	struct ts_end *end = data;
	const uint64_t one = 1;
	uint64_t now_ns;
	int number;

	sigwait(&end->signals, &number);
	if (is_done(end))
		return NULL;
	now_ns = ts_clock_monotonic_ns();
	__atomic_store_n(&end->signal, number, __ATOMIC_RELAXED);
	__atomic_store_n(&end->signal_ns, now_ns, __ATOMIC_RELAXED);
	/* This write fails only on overflow of the eventfd. The loop is awake in that case. */
	if (write(end->wake_fd, &one, sizeof(one)) < 0)
		ts_log(TS_LOG_DEBUG, "eventfd: %s", strerror(errno));
	if (!comes(end, now_ns + TS_END_MS * UINT64_C(1000000)))
		end->give_up(end->data);
	return NULL;
}

int ts_end_new(const sigset_t *signals, int wake_fd, void (*give_up)(void *data), void *data,
	       struct ts_end **ret_end)
{
	struct ts_end *end = calloc(1, sizeof(*end));
	pthread_condattr_t attributes;
	sigset_t all, old;
	int r;

	if (!end)
		return ts_error_origin(-ENOMEM);
	end->signals = *signals;
	end->wake_fd = wake_fd;
	end->give_up = give_up;
	end->data = data;
	for (int number = 1; number < NSIG && !end->a_signal; number++)
		if (sigismember(signals, number) == 1)
			end->a_signal = number;
	pthread_mutex_init(&end->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&end->done_changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&end->thread, NULL, wait_for_end, end);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	if (r) {
		pthread_cond_destroy(&end->done_changed);
		pthread_mutex_destroy(&end->mutex);
		free(end);
		return ts_error_origin(-r);
	}
	pthread_setname_np(end->thread, "end");
	*ret_end = end;
	return 0;
}

void ts_end_free(struct ts_end *end)
{
	if (!end)
		return;
	pthread_mutex_lock(&end->mutex);
	end->done = true;
	pthread_cond_signal(&end->done_changed);
	pthread_mutex_unlock(&end->mutex);
	/* Before the first signal, the thread waits in sigwait(). */
	pthread_kill(end->thread, end->a_signal);
	pthread_join(end->thread, NULL);
	pthread_cond_destroy(&end->done_changed);
	pthread_mutex_destroy(&end->mutex);
	free(end);
}

int ts_end_signal(const struct ts_end *end)
{
	return __atomic_load_n(&end->signal, __ATOMIC_RELAXED);
}

const uint64_t *ts_end_signal_ns(const struct ts_end *end)
{
	return &end->signal_ns;
}
