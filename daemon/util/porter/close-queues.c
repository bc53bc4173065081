/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of descriptors to close. Each queue has one detached thread while it is not empty.
 * porter-process.c and the helpers of overflow.c call this module. A timer's signal interrupts a
 * lingering close(), which the kernel then completes by itself. No signal interrupts a close() that
 * waits for a FUSE server: it blocks only the thread of its own queue.
 */
#include "daemon/util/porter/close-queues.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_INTERRUPT	  SIGUSR2
#define CLOSE_PATIENCE_NS (20 * 1000000L) /* per descriptor */

struct close_entry {
	struct close_entry *next;
	int fd;
};

struct close_queue {
	struct close_queue *next;
	struct ts_close_queues *all;
	uint64_t number;
	struct close_entry *first, **end;
	unsigned n_waiting; /* including the descriptor that is being closed */
	bool has_thread;
};

struct ts_close_queues {
	pthread_mutex_t mutex;
	struct close_queue *queues;
	unsigned n_waiting;
	unsigned n_threads;
};

/* Does nothing. With a handler, the signal interrupts close() instead of ending the process. */
static void on_signal(int number)
{
	(void)number;
}

int ts_close_queues_new(struct ts_close_queues **ret_all)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct ts_close_queues *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	pthread_mutex_init(&all->mutex, NULL);
	sigaction(CLOSE_INTERRUPT, &action, NULL);
	*ret_all = all;
	return 0;
}

/*
 * Makes the timer whose signal interrupts close(). The timer is periodic, because the first signal
 * may come before close() begins.
 */
static bool make_timer(timer_t *ret_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = CLOSE_INTERRUPT};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return !timer_create(CLOCK_MONOTONIC, &event, ret_timer);
}

static void arm(timer_t timer, long ns)
{
	struct itimerspec time = {.it_interval = {0, ns}, .it_value = {0, ns}};

	timer_settime(timer, 0, &time, NULL);
}

static struct close_queue *find(struct ts_close_queues *all, uint64_t number)
{
	struct close_queue *queue = all->queues;

	while (queue && queue->number != number)
		queue = queue->next;
	return queue;
}

/* Removes the queue's first descriptor. -1: the queue is empty. */
static int take(struct close_queue *queue)
{
	struct close_entry *entry = queue->first;
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

static void remove_queue(struct close_queue *queue)
{
	struct close_queue **p = &queue->all->queues;

	while (*p != queue)
		p = &(*p)->next;
	*p = queue->next;
	free(queue);
}

/* Finds a queue with descriptors but without a thread. NULL: none. */
static struct close_queue *adopt(const struct ts_close_queues *all)
{
	struct close_queue *queue = all->queues;

	while (queue && (queue->has_thread || !queue->first))
		queue = queue->next;
	if (queue)
		queue->has_thread = true;
	return queue;
}

static void *close_all(void *data)
{
	struct close_queue *queue = data;
	struct ts_close_queues *all = queue->all;
	timer_t timer;
	bool timed = make_timer(&timer);

	pthread_mutex_lock(&all->mutex);
	do {
		int fd;

		while ((fd = take(queue)) >= 0) {
			pthread_mutex_unlock(&all->mutex);
			if (timed)
				arm(timer, CLOSE_PATIENCE_NS);
			close(fd);
			if (timed)
				arm(timer, 0);
			pthread_mutex_lock(&all->mutex);
			queue->n_waiting--;
			all->n_waiting--;
		}
		remove_queue(queue);
		queue = adopt(all);
	} while (queue);
	all->n_threads--;
	pthread_mutex_unlock(&all->mutex);
	if (timed)
		timer_delete(timer);
	return NULL;
}

/*
 * Starts the queue's thread; the mutex is held. If no thread can start now, a thread whose own
 * queue becomes empty adopts the queue.
 */
static void serve(struct close_queue *queue)
{
	struct ts_close_queues *all = queue->all;
	pthread_attr_t attributes;
	sigset_t set, old;
	pthread_t id;

	if (queue->has_thread ||
	    (all->n_threads >= TS_CLOSE_MAX_THREADS && queue->number >= TS_CLOSE_FIRST_SHARED))
		return;
	sigfillset(&set);
	sigdelset(&set, CLOSE_INTERRUPT);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	queue->has_thread = !pthread_create(&id, &attributes, close_all, queue);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	all->n_threads += queue->has_thread;
}

static struct close_queue *find_or_add(struct ts_close_queues *all, uint64_t number)
{
	struct close_queue *queue = find(all, number);

	if (queue)
		return queue;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	*queue = (struct close_queue){.next = all->queues,
				      .all = all,
				      .number = number,
				      .end = &queue->first};
	all->queues = queue;
	return queue;
}

void ts_close_queues_add(struct ts_close_queues *all, uint64_t number, int fd)
{
	struct close_entry *entry;
	struct close_queue *queue;

	if (fd < 0)
		return;
	entry = malloc(sizeof(*entry));
	pthread_mutex_lock(&all->mutex);
	queue = entry ? find_or_add(all, number) : NULL;
	if (queue) {
		*entry = (struct close_entry){NULL, fd};
		*queue->end = entry;
		queue->end = &entry->next;
		queue->n_waiting++;
		all->n_waiting++;
		serve(queue);
	} else {
		/*
		 * Without memory for the entry, the descriptor stays open until the process ends.
		 */
		free(entry);
	}
	pthread_mutex_unlock(&all->mutex);
}

unsigned ts_close_queues_waiting(struct ts_close_queues *all, uint64_t number)
{
	const struct close_queue *queue;
	unsigned n;

	pthread_mutex_lock(&all->mutex);
	queue = find(all, number);
	n = queue ? queue->n_waiting : 0;
	pthread_mutex_unlock(&all->mutex);
	return n;
}

unsigned ts_close_queues_waiting_all(struct ts_close_queues *all)
{
	unsigned n;

	pthread_mutex_lock(&all->mutex);
	n = all->n_waiting;
	pthread_mutex_unlock(&all->mutex);
	return n;
}
