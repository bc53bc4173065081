/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bursts [THREADS]: launches on command, so that test/integration/test-switch.py can switch
 * recording between launches. Each line of standard input is a command:
 *
 *	go N	each thread launches N times and waits for its stream; then prints "done"
 *	run	all threads launch in bursts until the next command; prints "running" after
 *		each thread's first burst
 *	halt	all threads stop; then prints "halted"
 *	off	tracesmith_stop(), prints "off"
 *	on	tracesmith_start(), prints "on"
 *	mark	tracesmith_mark("enough"), prints "marked"
 *
 * Each answer ends with the number of launches so far. The program ends at the end of its input.
 */
#include <pthread.h>

#include "inject/include/tracesmith/annotate.h"
#include "test/apps/gpu.h"

#define MAX_THREADS 64
#define BURST	    16

struct job {
	pthread_t thread;
	struct gpu_stream stream;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job jobs[MAX_THREADS];
	int n;
	unsigned order; /* sequence number of the current order */
	long launches;	/* per thread; 0: until the next order; < 0: none */
	bool over;
	int n_done;
	int n_began;
	unsigned long long total;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool is_current(unsigned order)
{
	return __atomic_load_n(&all.order, __ATOMIC_RELAXED) == order;
}

static unsigned long long burst(struct gpu_stream stream, long n)
{
	for (long i = 0; i < n; i++)
		gpu_nothing(stream);
	gpu_stream_sync(stream);
	return (unsigned long long)n;
}

/* Executes one order. The caller holds the lock; obey() releases it during the launches. */
static void obey(struct job *job, unsigned order, long launches)
{
	unsigned long long n = 0;

	pthread_mutex_unlock(&all.lock);
	if (launches > 0) {
		n = burst(job->stream, launches);
	} else {
		while (!launches && is_current(order)) {
			n += burst(job->stream, BURST);
			if (n == BURST) {
				pthread_mutex_lock(&all.lock);
				all.n_began++;
				pthread_cond_broadcast(&all.changed);
				pthread_mutex_unlock(&all.lock);
			}
			usleep(2000);
		}
	}
	pthread_mutex_lock(&all.lock);
	all.total += n;
	all.n_done++;
	pthread_cond_broadcast(&all.changed);
}

static void *job_run(void *argument)
{
	struct job *job = argument;
	unsigned seen = 0;

	gpu_set_device(0);
	job->stream = gpu_stream_create(false);
	pthread_mutex_lock(&all.lock);
	while (!all.over) {
		if (all.order == seen) {
			pthread_cond_wait(&all.changed, &all.lock);
			continue;
		}
		seen = all.order;
		obey(job, seen, all.launches);
	}
	pthread_mutex_unlock(&all.lock);
	gpu_stream_destroy(job->stream);
	return NULL;
}

/*
 * Issues an order and prints the answer. When a thread in a `run` notices the new order, it ends
 * the `run` and adds 1 to n_done.
 */
static void give(long launches, bool until_begun, const char *answer)
{
	pthread_mutex_lock(&all.lock);
	all.n_done = all.n_began = 0;
	all.launches = launches;
	__atomic_fetch_add(&all.order, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&all.changed);
	while ((until_begun ? all.n_began : all.n_done) < all.n)
		pthread_cond_wait(&all.changed, &all.lock);
	printf("%s %llu\n", answer, all.total);
	fflush(stdout);
	pthread_mutex_unlock(&all.lock);
}

/* Ends a `run`. */
static void halt(void)
{
	pthread_mutex_lock(&all.lock);
	all.n_done = 0;
	all.launches = -1;
	__atomic_fetch_add(&all.order, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&all.changed);
	/*
	 * Each thread adds 1 to n_done twice: at the end of the run, and for this order, which
	 * launches nothing.
	 */
	while (all.n_done < 2 * all.n)
		pthread_cond_wait(&all.changed, &all.lock);
	printf("halted %llu\n", all.total);
	fflush(stdout);
	pthread_mutex_unlock(&all.lock);
}

static void own_switch(void (*function)(void), const char *answer)
{
	function();
	printf("%s %llu\n", answer, all.total);
	fflush(stdout);
}

static void say_enough(void)
{
	tracesmith_mark("enough");
}

int main(int argc, char **argv)
{
	char line[64];
	long n;

	all.n = argc > 1 ? atoi(argv[1]) : 4;
	if (all.n < 1 || all.n > MAX_THREADS) {
		fprintf(stderr, "bursts: 1 to %d threads\n", MAX_THREADS);
		return 2;
	}
	gpu_open(NULL);
	for (int i = 0; i < all.n; i++)
		if (pthread_create(&all.jobs[i].thread, NULL, job_run, &all.jobs[i])) {
			fprintf(stderr, "bursts: no thread\n");
			return 1;
		}
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "go %ld", &n) == 1 && n > 0)
			give(n, false, "done");
		else if (!strcmp(line, "run\n"))
			give(0, true, "running");
		else if (!strcmp(line, "halt\n"))
			halt();
		else if (!strcmp(line, "off\n"))
			own_switch(tracesmith_stop, "off");
		else if (!strcmp(line, "on\n"))
			own_switch(tracesmith_start, "on");
		else if (!strcmp(line, "mark\n"))
			own_switch(say_enough, "marked");
		else
			return 2;
	}
	pthread_mutex_lock(&all.lock);
	all.over = true;
	pthread_cond_broadcast(&all.changed);
	pthread_mutex_unlock(&all.lock);
	for (int i = 0; i < all.n; i++)
		pthread_join(all.jobs[i].thread, NULL);
	gpu_device_sync();
	return gpu_close();
}
