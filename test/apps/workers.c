/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers [ROUNDS [THREADS [PROCESSES]]]: copies, kernels, memsets, allocations and events, with
 * all results checked, from several threads of one or more processes.
 * test/integration/test-death.py kills it in the middle of its work. A round is about twenty calls.
 *
 * With more than one process, the first process only forks the others and returns their worst
 * status. Each child writes its own truth, $TS_TRUTH.0 and so on. With TS_APP_WAIT each process
 * waits for the end of its input before it ends.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "test/apps/gpu.h"

#define MAX_THREADS   16
#define MAX_PROCESSES 16
#define N	      (1u << 8)
#define LAUNCHES      8

struct job {
	pthread_t thread;
	long rounds;
	int number;
};

static void round_run(struct gpu_stream stream, float *device, void *event, float seed)
{
	float in[N], out[N], *copy = gpu_malloc(sizeof(in));

	for (uint32_t i = 0; i < N; i++)
		in[i] = seed + (float)(i % 7);
	gpu_h2d(device, in, sizeof(in));
	for (int i = 0; i < LAUNCHES; i++)
		gpu_scale(N, i % 2 ? 0.5f : 2, device, stream);
	gpu_d2d_async(copy, device, sizeof(in), stream);
	gpu_saxpy(N, 3, device, copy, stream);
	gpu_event_record(event, stream);
	gpu_event_sync(event);
	gpu_d2h(out, copy, sizeof(out));
	gpu_set_async(copy, 0, sizeof(in), stream);
	gpu_stream_sync(stream);
	gpu_free(copy);
	for (uint32_t i = 0; i < N; i++) {
		if (out[i] == 4 * in[i])
			continue;
		printf("workers: out[%u] is %g, not %g\n", i, (double)out[i], (double)(4 * in[i]));
		exit(1);
	}
}

static void *job_run(void *argument)
{
	const struct job *job = argument;
	struct gpu_stream stream;
	float *device;
	void *event;

	gpu_set_device(0);
	stream = gpu_stream_create(true);
	device = gpu_malloc(N * sizeof(*device));
	event = gpu_event_create();
	for (long round = 0; round < job->rounds; round++)
		round_run(stream, device, event, (float)(job->number + round % 100));
	gpu_event_destroy(event);
	gpu_free(device);
	gpu_stream_destroy(stream);
	return NULL;
}

static int work(long rounds, int n_threads)
{
	struct job jobs[MAX_THREADS];

	gpu_open(NULL);
	for (int i = 0; i < n_threads; i++) {
		jobs[i] = (struct job){.rounds = rounds, .number = i};
		if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i])) {
			fprintf(stderr, "workers: no thread\n");
			return 1;
		}
	}
	for (int i = 0; i < n_threads; i++)
		pthread_join(jobs[i].thread, NULL);
	gpu_device_sync();
	while (getenv("TS_APP_WAIT") && getchar() != EOF)
		;
	return gpu_close();
}

static int fork_workers(long rounds, int n_threads, int n)
{
	const char *path = getenv(TS_TRUTH_ENVIRONMENT);
	int worst = 0, status;
	char name[4096];

	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (child < 0) {
			perror("workers: fork");
			return 1;
		}
		if (child)
			continue;
		snprintf(name, sizeof(name), "%s.%d", path ? path : "", i);
		if (path)
			setenv(TS_TRUTH_ENVIRONMENT, name, 1);
		exit(work(rounds, n_threads));
	}
	while (wait(&status) > 0) {
		int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

		worst = code > worst ? code : worst;
	}
	return worst;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	int n_threads = argc > 2 ? atoi(argv[2]) : 4;
	int n_processes = argc > 3 ? atoi(argv[3]) : 1;
	int status;

	if (rounds < 1 || n_threads < 1 || n_threads > MAX_THREADS || n_processes < 1 ||
	    n_processes > MAX_PROCESSES) {
		fprintf(stderr, "workers: a round, 1 to %d threads, 1 to %d processes\n",
			MAX_THREADS, MAX_PROCESSES);
		return 2;
	}
	status = n_processes > 1 ? fork_workers(rounds, n_threads, n_processes)
				 : work(rounds, n_threads);
	if (!status)
		printf("workers: %ld rounds of %d threads in %d processes\n", rounds, n_threads,
		       n_processes);
	return status;
}
