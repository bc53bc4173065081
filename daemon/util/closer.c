/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One list of descriptors, one detached thread for each uid that has some in it. A close that
 * lingers is interrupted by a timer's signal: the kernel then goes on with it by itself. What no
 * signal interrupts (FUSE) holds up its own uid's thread and nobody else.
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

#define CLOSER_MAX_THREADS 64u
#define CLOSER_INTERRUPT   SIGUSR2
#define CLOSER_PATIENCE_NS (20 * 1000000L) /* for one descriptor */
#define CLOSER_FAREWELL_S  1

struct closer_entry {
	struct closer_entry *next;
	uid_t uid;
	int fd;
};

struct closer_thread {
	struct closer_thread *next;
	struct ts_closer *closer;
	uid_t uid;
};

struct ts_closer {
	pthread_mutex_t mutex;
	pthread_cond_t idle; /* no thread is left */
	struct closer_entry *entries;
	struct closer_entry **end;
	unsigned n_entries;
	struct closer_thread *threads;
	unsigned n_threads;
};

/* Only there to interrupt. */
static void closer_on_signal(int number)
{
	(void)number;
}

int ts_closer_new(struct ts_closer **ret_closer)
{
	struct sigaction action = {.sa_handler = closer_on_signal};
	struct ts_closer *closer = calloc(1, sizeof(*closer));
	pthread_condattr_t attributes;

	if (!closer)
		return -ENOMEM;
	closer->end = &closer->entries;
	pthread_mutex_init(&closer->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&closer->idle, &attributes);
	pthread_condattr_destroy(&attributes);
	sigaction(CLOSER_INTERRUPT, &action, NULL);
	*ret_closer = closer;
	return 0;
}

/* Fires again and again: a signal that comes just before the close() began is not the last. */
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

/* The first of this uid's, taken out of the list; -1: none. */
static int closer_take(struct ts_closer *closer, uid_t uid)
{
	for (struct closer_entry **p = &closer->entries; *p; p = &(*p)->next) {
		struct closer_entry *entry = *p;
		int fd = entry->fd;

		if (entry->uid != uid)
			continue;
		*p = entry->next;
		if (!*p)
			closer->end = p;
		free(entry);
		return fd;
	}
	return -1;
}

/* Another uid's that has waited for a thread, where all were busy. */
static bool closer_adopt(struct ts_closer *closer, struct closer_thread *self)
{
	for (const struct closer_entry *entry = closer->entries; entry; entry = entry->next) {
		const struct closer_thread *other = closer->threads;

		while (other && other->uid != entry->uid)
			other = other->next;
		if (other)
			continue;
		self->uid = entry->uid;
		return true;
	}
	return false;
}

static void closer_leave(struct ts_closer *closer, struct closer_thread *self)
{
	for (struct closer_thread **p = &closer->threads; *p; p = &(*p)->next)
		if (*p == self) {
			*p = self->next;
			break;
		}
	closer->n_threads--;
	free(self);
	/* Who waits for this frees the closer: nothing of it is touched but the mutex. */
	if (!closer->n_threads)
		pthread_cond_signal(&closer->idle);
}

static void *closer_main(void *data)
{
	struct closer_thread *self = data;
	struct ts_closer *closer = self->closer;
	timer_t timer;
	bool timed = closer_timer(&timer);

	pthread_mutex_lock(&closer->mutex);
	do {
		int fd;

		while ((fd = closer_take(closer, self->uid)) >= 0) {
			pthread_mutex_unlock(&closer->mutex);
			if (timed)
				closer_arm(timer, CLOSER_PATIENCE_NS);
			close(fd);
			if (timed)
				closer_arm(timer, 0);
			pthread_mutex_lock(&closer->mutex);
			closer->n_entries--;
		}
	} while (closer_adopt(closer, self));
	if (timed)
		timer_delete(timer);
	closer_leave(closer, self);
	pthread_mutex_unlock(&closer->mutex);
	return NULL;
}

/* With the mutex held. Where there can be no thread now, a later one takes over. */
static void closer_serve(struct ts_closer *closer, uid_t uid)
{
	struct closer_thread *thread;
	pthread_attr_t attributes;
	sigset_t set, old;
	pthread_t id;
	int r;

	for (thread = closer->threads; thread; thread = thread->next)
		if (thread->uid == uid)
			return;
	if (closer->n_threads >= CLOSER_MAX_THREADS)
		return;
	thread = malloc(sizeof(*thread));
	if (!thread)
		return;
	*thread = (struct closer_thread){closer->threads, closer, uid};
	sigfillset(&set);
	sigdelset(&set, CLOSER_INTERRUPT);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	r = pthread_create(&id, &attributes, closer_main, thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	if (r) {
		free(thread);
		return;
	}
	closer->threads = thread;
	closer->n_threads++;
}

void ts_closer_close(struct ts_closer *closer, uid_t uid, int fd)
{
	struct closer_entry *entry;

	if (fd < 0)
		return;
	entry = malloc(sizeof(*entry));
	/* Without memory for 24 bytes the descriptor is lost: better than everybody's time. */
	if (!entry)
		return;
	*entry = (struct closer_entry){NULL, uid, fd};
	pthread_mutex_lock(&closer->mutex);
	*closer->end = entry;
	closer->end = &entry->next;
	closer->n_entries++;
	closer_serve(closer, uid);
	pthread_mutex_unlock(&closer->mutex);
}

unsigned ts_closer_waiting(struct ts_closer *closer, uid_t uid, unsigned *ret_n_all)
{
	unsigned n = 0;

	pthread_mutex_lock(&closer->mutex);
	for (const struct closer_entry *entry = closer->entries; entry; entry = entry->next)
		n += entry->uid == uid;
	*ret_n_all = closer->n_entries;
	pthread_mutex_unlock(&closer->mutex);
	return n;
}

void ts_closer_free(struct ts_closer *closer)
{
	struct timespec until;
	bool idle;

	if (!closer)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += CLOSER_FAREWELL_S;
	pthread_mutex_lock(&closer->mutex);
	while (closer->n_threads)
		if (pthread_cond_timedwait(&closer->idle, &closer->mutex, &until))
			break;
	idle = !closer->n_threads;
	pthread_mutex_unlock(&closer->mutex);
	/* A thread that is still held up has the closer in its hands. */
	if (!idle)
		return;
	while (closer->entries) {
		struct closer_entry *entry = closer->entries;

		/* No thread could be had for it: the process's end closes it. */
		closer->entries = entry->next;
		free(entry);
	}
	pthread_cond_destroy(&closer->idle);
	pthread_mutex_destroy(&closer->mutex);
	free(closer);
}
