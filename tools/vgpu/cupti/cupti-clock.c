// SPDX-License-Identifier: Apache-2.0
/*
 * Converts the device's clock to the client's. Records contain CLOCK_REALTIME or the values of the
 * client's timestamp callback. The device's clock is CLOCK_MONOTONIC in nanoseconds. Like CUPTI,
 * the facade reads pairs of both clocks while operations complete, and interpolates device times
 * linearly between them. So a client's clock may tick at any rate, and CLOCK_REALTIME may be
 * stepped. cupti-record.c and cupti-buffer.c call this file.
 */
#include <time.h>

#include "tools/vgpu/cupti/cupti-internal.h"

#define N_PAIRS		 64
#define PAIR_INTERVAL_NS 10000000 /* minimum interval between pairs */
#define STEADY_NS	 1000
/* Time between the first two pairs, which give the rate until there are more pairs. */
#define FIRST_SPAN_NS 1000000

struct pair {
	uint64_t device_ns;
	uint64_t client;
};

static struct {
	pthread_mutex_t lock;
	struct pair pairs[N_PAIRS]; /* oldest first */
	size_t n_pairs;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(ts_cupti_timestamp_fn) the_callback;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t ts_cupti_clock_now(void)
{
	ts_cupti_timestamp_fn callback = atomic_load_explicit(&the_callback, memory_order_acquire);

	if (!callback && ts_cupti_face_ticks)
		return ts_cupti_face_ticks(clock_ns(CLOCK_MONOTONIC));
	return callback ? callback() : clock_ns(CLOCK_REALTIME);
}

/*
 * Reads the client's clock between two readings of the device's; keeps the narrowest of a few
 * tries.
 */
static struct pair take_pair(void)
{
	struct pair best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC);
		uint64_t client = ts_cupti_clock_now();
		uint64_t width = clock_ns(CLOCK_MONOTONIC) - before;

		if (width < best_width) {
			best_width = width;
			best = (struct pair){.device_ns = before + width / 2, .client = client};
		}
	}
	return best;
}

static void add_pair(void)
{
	struct pair pair = take_pair();

	/*
	 * CLOCK_REALTIME runs like CLOCK_MONOTONIC, except while it is being set. So a difference
	 * below the error of a reading is that error. A pair with this difference would make
	 * durations vary.
	 */
	if (state.n_pairs && !atomic_load_explicit(&the_callback, memory_order_relaxed)) {
		const struct pair *last = &state.pairs[state.n_pairs - 1];
		uint64_t expected = last->client + (pair.device_ns - last->device_ns);

		if (pair.client - expected + STEADY_NS < 2 * STEADY_NS)
			pair.client = expected;
	}
	if (state.n_pairs == N_PAIRS) {
		/*
		 * Keep the even pairs of the first half: distant times need less precision than
		 * recent ones.
		 */
		for (size_t i = 0; i < N_PAIRS / 2; i++)
			state.pairs[i] = state.pairs[2 * i];
		for (size_t i = 0; i < 8; i++)
			state.pairs[N_PAIRS / 2 + i] = state.pairs[N_PAIRS - 8 + i];
		state.n_pairs = N_PAIRS / 2 + 8;
	}
	state.pairs[state.n_pairs++] = pair;
}

/*
 * If the newest pair is older than PAIR_INTERVAL_NS before newest_ns (and before now), adds a pair.
 */
static void refresh(uint64_t newest_ns)
{
	if (state.n_pairs) {
		uint64_t due = state.pairs[state.n_pairs - 1].device_ns + PAIR_INTERVAL_NS;

		if (newest_ns < due || clock_ns(CLOCK_MONOTONIC) < due)
			return;
	}
	add_pair();
	if (state.n_pairs == 1) {
		struct timespec pause = {.tv_nsec = FIRST_SPAN_NS};

		/*
		 * Only after the first pair of a clock. A callback's rate is unknown, so wait
		 * before the second pair; CLOCK_REALTIME's rate is known.
		 */
		if (atomic_load_explicit(&the_callback, memory_order_relaxed))
			nanosleep(&pause, NULL);
		else
			state.pairs[state.n_pairs++] =
				(struct pair){.device_ns = state.pairs[0].device_ns + 1,
					      .client = state.pairs[0].client + 1};
		if (state.n_pairs == 1)
			add_pair();
	}
}

static uint64_t convert(uint64_t device_ns)
{
	const struct pair *a, *b;
	double rate;
	size_t high = state.n_pairs - 1;

	if (ts_cupti_face_ticks && !atomic_load_explicit(&the_callback, memory_order_relaxed))
		return ts_cupti_face_ticks(device_ns);

	/*
	 * Most times are after the last pair or just before it. Times outside the pairs are
	 * extrapolated.
	 */
	while (high > 1 && state.pairs[high - 1].device_ns > device_ns)
		high--;
	a = &state.pairs[high - 1];
	b = &state.pairs[high];
	rate = (double)(int64_t)(b->client - a->client) / (double)(b->device_ns - a->device_ns);
	if (device_ns > b->device_ns)
		return b->client + (uint64_t)((double)(device_ns - b->device_ns) * rate);
	return b->client - (uint64_t)((double)(b->device_ns - device_ns) * rate);
}

void ts_cupti_clock_convert(uint64_t *times_ns, size_t n)
{
	uint64_t newest_ns = 0;

	for (size_t i = 0; i < n; i++)
		newest_ns = times_ns[i] > newest_ns ? times_ns[i] : newest_ns;
	pthread_mutex_lock(&state.lock);
	refresh(newest_ns);
	for (size_t i = 0; i < n; i++)
		if (times_ns[i])
			times_ns[i] = convert(times_ns[i]);
	pthread_mutex_unlock(&state.lock);
}

void ts_cupti_clock_set(ts_cupti_timestamp_fn callback)
{
	pthread_mutex_lock(&state.lock);
	atomic_store_explicit(&the_callback, callback, memory_order_release);
	state.n_pairs = 0;
	refresh(0);
	pthread_mutex_unlock(&state.lock);
}
