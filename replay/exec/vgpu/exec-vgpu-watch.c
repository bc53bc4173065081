/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches running kernels: a kernel may never end, and then the replay waits for it forever.
 * exec-vgpu.c starts and ends the watch.
 *
 * A thread checks every LOOK_NS nanoseconds if the replay is cancelled or its time is up. Then it
 * makes the device abort all running kernels. The thread also ends kernels that wait for memory
 * that no operation of the replay writes: in the captured program, a host thread wrote this memory
 * while the kernel ran.
 */
#include "replay/exec/vgpu/exec-vgpu-internal.h"

#include <time.h>

#define LOOK_NS 20000000
/*
 * Number of consecutive checks at which all kernels only wait. After so many checks, the replay
 * is not merely between two operations, and the thread ends the kernels' waits.
 */
#define MAX_WAITING 50

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static void end_waits(struct vgpu_state *state)
{
	bool waits = ts_vgpu_executor_only_watches(state->executor) &&
		     ts_vgpu_waits_for_kernels(state->vgpu);

	state->watch.n_waiting = waits ? state->watch.n_waiting + 1 : 0;
	if (state->watch.n_waiting == MAX_WAITING)
		ts_vgpu_executor_end_waits(state->executor);
}

static void *watch_thread(void *userdata)
{
	struct vgpu_state *state = userdata;
	struct watch *watch = &state->watch;
	bool interrupted = false;
	struct timespec next;

	pthread_mutex_lock(&watch->lock);
	while (!watch->over && !interrupted) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		if (watch->until_ns && nanoseconds(&next) > watch->until_ns)
			watch->is_late = interrupted = true;
		if (watch->cancel && __atomic_load_n(watch->cancel, __ATOMIC_RELAXED))
			interrupted = true;
		if (!watch->is_alone)
			end_waits(state);
		next.tv_nsec += LOOK_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		if (!interrupted)
			(void)pthread_cond_timedwait(&watch->cond, &watch->lock, &next);
	}
	pthread_mutex_unlock(&watch->lock);
	if (interrupted)
		ts_vgpu_interrupt(state->vgpu);
	return NULL;
}

int ts_exec_vgpu_watch(struct vgpu_state *state, const struct ts_exec_options *options,
		       const volatile int *cancel)
{
	struct watch *watch = &state->watch;
	pthread_condattr_t attributes;
	struct timespec now;

	watch->is_alone = options->check || options->schedule;
	if (!cancel && !options->time_ns && watch->is_alone)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	watch->cancel = cancel;
	watch->until_ns = options->time_ns ? nanoseconds(&now) + options->time_ns : 0;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->cond, &attributes);
	pthread_condattr_destroy(&attributes);
	watch->started = !pthread_create(&watch->thread, NULL, watch_thread, state);
	return watch->started ? 0 : -ENOMEM;
}

void ts_exec_vgpu_watch_end(struct vgpu_state *state)
{
	struct watch *watch = &state->watch;

	if (!watch->started)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->over = true;
	pthread_cond_signal(&watch->cond);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	pthread_mutex_destroy(&watch->lock);
	pthread_cond_destroy(&watch->cond);
	watch->started = false;
}
