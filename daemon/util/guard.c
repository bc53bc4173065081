/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SIGBUS handler and its list of guards. ingest/ingest-memory.c creates guards; session-round.c
 * and session-end.c check them. The list only grows, and freed guards are reused, so the handler
 * never reads freed memory. The list is global, as signal handlers are.
 */
#include "daemon/util/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct ts_guard {
	struct ts_guard *next; /* constant once the guard is in the list */
	uintptr_t from;	       /* 0: free */
	uintptr_t to;
	bool hit;
	bool in_use;
};

static struct ts_guard *guards;
static pthread_mutex_t guards_mutex = PTHREAD_MUTEX_INITIALIZER;

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)info->si_addr;
	struct ts_guard *guard;
	int saved_errno = errno;

	(void)context;
	/* Acquire, pairs with the release in ts_guard_new(): the handler sees complete fields. */
	for (guard = __atomic_load_n(&guards, __ATOMIC_ACQUIRE); guard; guard = guard->next) {
		uintptr_t from = __atomic_load_n(&guard->from, __ATOMIC_ACQUIRE);
		void *page = (void *)(at & ~(page_bytes - 1));

		if (!from || at < from || at >= __atomic_load_n(&guard->to, __ATOMIC_RELAXED))
			continue;
		if (mmap(page, page_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		__atomic_store_n(&guard->hit, true, __ATOMIC_RELAXED);
		errno = saved_errno;
		return;
	}
	/* A bug of the daemon: with the default action, the repeated fault ends the process. */
	signal(number, SIG_DFL);
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	sigaction(SIGBUS, &action, NULL);
}

int ts_guard_new(void *base, size_t n_bytes, struct ts_guard **ret_guard)
{
	struct ts_guard *guard;

	pthread_mutex_lock(&guards_mutex);
	if (!guards)
		install();
	for (guard = guards; guard && guard->in_use; guard = guard->next)
		;
	if (!guard) {
		guard = calloc(1, sizeof(*guard));
		if (!guard) {
			pthread_mutex_unlock(&guards_mutex);
			return -ENOMEM;
		}
		guard->next = guards;
		__atomic_store_n(&guards, guard, __ATOMIC_RELEASE);
	}
	guard->in_use = true;
	pthread_mutex_unlock(&guards_mutex);
	__atomic_store_n(&guard->hit, false, __ATOMIC_RELAXED);
	__atomic_store_n(&guard->to, (uintptr_t)base + n_bytes, __ATOMIC_RELAXED);
	/* Pairs with the handler's acquire. */
	__atomic_store_n(&guard->from, (uintptr_t)base, __ATOMIC_RELEASE);
	*ret_guard = guard;
	return 0;
}

void ts_guard_free(struct ts_guard *guard)
{
	if (!guard)
		return;
	__atomic_store_n(&guard->from, 0, __ATOMIC_RELEASE);
	pthread_mutex_lock(&guards_mutex);
	guard->in_use = false;
	pthread_mutex_unlock(&guards_mutex);
}

bool ts_guard_hit(const struct ts_guard *guard)
{
	return __atomic_load_n(&guard->hit, __ATOMIC_RELAXED);
}
