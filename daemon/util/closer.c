/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of descriptors, each with one detached thread while it is not empty. porter-process.c calls this module. A timer's signal
 * interrupts a close() that lingers, and the kernel completes that close by itself. No signal interrupts a close() that waits for a
 * FUSE server: it holds up its own queue's thread alone.
 */
#include "daemon/util/closer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOSER_INTERRUPT   SIGUSR2
#define CLOSER_PATIENCE_NS (20 * 1000000L) /* for one descriptor */

struct closer_entry {
	struct closer_entry *next;
	int fd;
};

struct closer_queue {
	struct closer_queue *next;
	struct ts_closer *closer;
	uint64_t number;
	struct closer_entry *first, **end;
	unsigned n_waiting; /* the one that a thread is closing included */
	bool has_thread;
};

struct ts_closer {
	pthread_mutex_t mutex;
	struct closer_queue *queues;
	unsigned n_waiting;
	unsigned n_threads;
};

/* Exists so that the signal interrupts instead of killing. */
static void closer_on_signal(int number)
{
	(void)number;
}

int ts_closer_new(struct ts_closer **ret_closer)
{
	struct sigaction action = {.sa_handler = closer_on_signal};
	struct ts_closer *closer = calloc(1, sizeof(*closer));

	if (!closer)
		return -ENOMEM;
	pthread_mutex_init(&closer->mutex, NULL);
	sigaction(CLOSER_INTERRUPT, &action, NULL);
	*ret_closer = closer;
	return 0;
}

/* Fires repeatedly: the first signal may come before close() begins. */
static bool closer_timer(timer_t *ret_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = CLOSER_INTERRUPT};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return !timer_create(CLOCK_MONOTONIC, &event, ret_timer);
}

static void closer_arm(timer_t timer, long ns)
{
	struct itimerspec time = {.it_interval = {0, ns}, .it_value = {0, ns}};

	timer_settime(timer, 0, &time, NULL);
}

static struct closer_queue *closer_find(struct ts_closer *closer, uint64_t number)
{
	struct closer_queue *queue = closer->queues;

	while (queue && queue->number != number)
		queue = queue->next;
	return queue;
}

/* The queue's first descriptor; -1: it is empty. */
static int closer_take(struct closer_queue *queue)
{
	struct closer_entry *entry = queue->first;
	int fd;

	if (!entry)
		return -1;
	queue->first = entry->next;
	if (!queue->first)
		queue->end = &queue->first;
	fd = entry->fd;
	free(entry);
	return fd;
}

static void closer_remove(struct closer_queue *queue)
{
	struct closer_queue **p = &queue->closer->queues;

	while (*p != queue)
		p = &(*p)->next;
	*p = queue->next;
	free(queue);
}

/* A queue that has descriptors and got no thread; NULL: none. */
static struct closer_queue *closer_adopt(const struct ts_closer *closer)
{
	struct closer_queue *queue = closer->queues;

	while (queue && (queue->has_thread || !queue->first))
		queue = queue->next;
	if (queue)
		queue->has_thread = true;
	return queue;
}

static void *closer_main(void *data)
{
	struct closer_queue *queue = data;
	struct ts_closer *closer = queue->closer;
	timer_t timer;
	bool timed = closer_timer(&timer);

	pthread_mutex_lock(&closer->mutex);
	do {
		int fd;

		while ((fd = closer_take(queue)) >= 0) {
			pthread_mutex_unlock(&closer->mutex);
			if (timed)
				closer_arm(timer, CLOSER_PATIENCE_NS);
			close(fd);
			if (timed)
				closer_arm(timer, 0);
			pthread_mutex_lock(&closer->mutex);
			queue->n_waiting--;
			closer->n_waiting--;
		}
		closer_remove(queue);
		queue = closer_adopt(closer);
	} while (queue);
	closer->n_threads--;
	pthread_mutex_unlock(&closer->mutex);
	if (timed)
		timer_delete(timer);
	return NULL;
}

/* With the mutex held. A queue that gets no thread now is adopted by a thread whose queue becomes empty. */
static void closer_serve(struct closer_queue *queue)
{
	struct ts_closer *closer = queue->closer;
	pthread_attr_t attributes;
	sigset_t set, old;
	pthread_t id;

	if (queue->has_thread ||
	    (closer->n_threads >= TS_CLOSER_MAX_THREADS && queue->number >= TS_CLOSER_FIRST_SHARED))
		return;
	sigfillset(&set);
	sigdelset(&set, CLOSER_INTERRUPT);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	queue->has_thread = !pthread_create(&id, &attributes, closer_main, queue);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	closer->n_threads += queue->has_thread;
}

static struct closer_queue *closer_queue(struct ts_closer *closer, uint64_t number)
{
	struct closer_queue *queue = closer_find(closer, number);

	if (queue)
		return queue;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	*queue = (struct closer_queue){.next = closer->queues,
				       .closer = closer,
				       .number = number,
				       .end = &queue->first};
	closer->queues = queue;
	return queue;
}

void ts_closer_close(struct ts_closer *closer, uint64_t number, int fd)
{
	struct closer_entry *entry;
	struct closer_queue *queue;

	if (fd < 0)
		return;
	entry = malloc(sizeof(*entry));
	pthread_mutex_lock(&closer->mutex);
	queue = entry ? closer_queue(closer, number) : NULL;
	if (queue) {
		*entry = (struct closer_entry){NULL, fd};
		*queue->end = entry;
		queue->end = &entry->next;
		queue->n_waiting++;
		closer->n_waiting++;
		closer_serve(queue);
	} else {
		/* Without memory for the entry the descriptor stays open until the process ends. */
		free(entry);
	}
	pthread_mutex_unlock(&closer->mutex);
}

unsigned ts_closer_waiting(struct ts_closer *closer, uint64_t number)
{
	const struct closer_queue *queue;
	unsigned n;

	pthread_mutex_lock(&closer->mutex);
	queue = closer_find(closer, number);
	n = queue ? queue->n_waiting : 0;
	pthread_mutex_unlock(&closer->mutex);
	return n;
}

unsigned ts_closer_waiting_all(struct ts_closer *closer)
{
	unsigned n;

	pthread_mutex_lock(&closer->mutex);
	n = closer->n_waiting;
	pthread_mutex_unlock(&closer->mutex);
	return n;
}
