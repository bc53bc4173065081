/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests priorities: the order of kernels on a device without room for all. Small scenarios with
 * drawings, and the rule itself checked against the run of a random program. Kernels have one warp
 * per block: the small shape runs 16 per multiprocessor, and has 4 multiprocessors.
 */
#include "test/unit/harness.h"

#include "replay/vgpu/vgpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define N_SM	4u
#define PER_SM	16u
#define ALL	(N_SM * PER_SM)
#define LOG_MAX 2048u

struct ran {
	uint64_t tag, queued_ns, start_ns, end_ns;
	uint32_t stream, n_sm;
};

static struct {
	pthread_mutex_t lock;
	struct ran ran[LOG_MAX];
	size_t n;
} the_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_done(void *userdata, const struct ts_vgpu_done *done)
{
	uint32_t blocks = done->u.kernel.grid.x, n_sm = (blocks + PER_SM - 1) / PER_SM;

	(void)userdata;
	if (done->kind != TS_VGPU_OP_KERNEL && done->kind != TS_VGPU_OP_COPY)
		return;
	pthread_mutex_lock(&the_log.lock);
	ts_check(the_log.n < LOG_MAX);
	the_log.ran[the_log.n++] = (struct ran){.tag = done->tag,
						.queued_ns = done->queued_ns,
						.start_ns = done->start_ns,
						.end_ns = done->end_ns,
						.stream = done->stream_id,
						.n_sm = n_sm < N_SM ? n_sm : N_SM};
	pthread_mutex_unlock(&the_log.lock);
}

static struct ts_vgpu *the_machine;
static struct ts_vgpu_context *the_context;
static struct ts_vgpu_event *the_gate;
static int is_open;

static void wait_for_gate(void *arg)
{
	struct timespec ts = {.tv_nsec = 100000};

	(void)arg;
	while (!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE))
		nanosleep(&ts, NULL);
}

static struct ts_vgpu_stream *stream(int priority)
{
	struct ts_vgpu_stream *s;

	ts_check_int(ts_vgpu_stream_new(the_context, TS_VGPU_STREAM_NON_BLOCKING, priority, &s), 0);
	return s;
}

/* Kernels do not compute anything: their duration follows from their shape. */
static void begin(const char *clock)
{
	static const struct ts_vgpu_observer observer = {.done = on_done};
	struct ts_vgpu_stream *gate;
	struct ts_vgpu_spec spec;
	char message[160], text[64];

	snprintf(text, sizeof(text), "small,clock=%s", clock);
	ts_check_int(ts_vgpu_spec_parse(text, &spec, message, sizeof(message)), 0);
	ts_check_int(ts_vgpu_new(&spec, &the_machine), 0);
	ts_vgpu_set_observer(the_machine, &observer);
	ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(the_machine, 0), &the_context), 0);
	/*
	 * Streams that wait for the gate are held until the scenario has queued all its operations.
	 */
	gate = stream(0);
	ts_check_int(ts_vgpu_event_new(the_machine, &the_gate), 0);
	ts_check_int(ts_vgpu_host_function(gate, wait_for_gate, NULL, 0), 0);
	ts_check_int(ts_vgpu_event_record(the_gate, gate, 0), 0);
}

static void end(void)
{
	__atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
	ts_check_int(ts_vgpu_context_synchronize(the_context), 0);
	ts_vgpu_set_observer(the_machine, NULL);
}

static void stop(void)
{
	ts_vgpu_event_free(the_gate);
	ts_vgpu_free(the_machine);
}

static struct ts_vgpu_stream *held(int priority)
{
	struct ts_vgpu_stream *s = stream(priority);

	ts_check_int(ts_vgpu_stream_wait(s, the_gate, 0), 0);
	return s;
}

static void kernel(struct ts_vgpu_stream *s, char tag, uint32_t blocks)
{
	const struct ts_vgpu_launch launch = {.grid = {blocks, 1, 1},
					      .block = {32, 1, 1},
					      .tag = (uint64_t)tag};

	ts_check_int(ts_vgpu_launch(s, &launch), 0);
}

static const struct ran *of(char tag)
{
	for (size_t i = 0; i < the_log.n; i++)
		if (the_log.ran[i].tag == (uint64_t)tag)
			return &the_log.ran[i];
	ts_check(!"it was reported");
	return NULL;
}

/*
 * Checks that the kernels ran one after the other in this order, each starting when the previous
 * one ended.
 */
static void check_order(const char *tags)
{
	for (; tags[1]; tags++)
		ts_check_int(of(tags[0])->end_ns, of(tags[1])->start_ns);
}

/*
 * Each kernel needs the whole device. a is called first and runs to its end. b and c overtake d,
 * even though c was not ready when a ended.
 *
 *	low   aaaa        dddd
 *	high      bbbbcccc
 */
TS_TEST(a_higher_priority_goes_first_where_the_device_is_full)
{
	struct ts_vgpu_stream *low, *other, *high;

	begin("model");
	low = stream(0);
	other = stream(0);
	high = stream(-1);
	/* Long enough that the other kernels are called while it runs. */
	kernel(low, 'a', 20000 * ALL);
	kernel(other, 'd', ALL);
	kernel(high, 'b', ALL);
	kernel(high, 'c', ALL);
	end();
	if (of('c')->queued_ns < of('a')->end_ns)
		check_order("abcd");
	stop();
}

/*
 *	-5    c
 *	-1    .b
 *	 0    ..a	called in the order of the letters, all ready at once
 */
TS_TEST(of_those_that_are_ready_the_most_urgent_goes_first)
{
	static const char *const clocks[] = {"model", "host"};

	for (unsigned int i = 0; i < 2; i++) {
		struct ts_vgpu_stream *s[3];

		the_log.n = 0;
		is_open = 0;
		begin(clocks[i]);
		s[0] = held(0);
		s[1] = held(-1);
		/* Beyond the range of priorities. */
		s[2] = held(-100);
		ts_check_int(ts_vgpu_stream_priority(s[2]), TS_VGPU_PRIORITY_GREATEST);
		for (int k = 0; k < 3; k++)
			kernel(s[k], (char)('a' + k), ALL);
		end();
		if (i)
			ts_check(of('c')->end_ns <= of('b')->start_ns &&
				 of('b')->end_ns <= of('a')->start_ns);
		else
			check_order("cba");
		stop();
	}
}

/*
 *	aaaa
 *	    bbbb
 *	        cccc	equal priorities: in the order of the calls
 */
TS_TEST(of_one_priority_who_came_first_goes_first)
{
	struct ts_vgpu_stream *s[3];

	begin("model");
	for (int k = 0; k < 3; k++)
		s[k] = held(-3);
	for (int k = 0; k < 3; k++)
		kernel(s[k], (char)('a' + k), ALL);
	end();
	check_order("abc");
	stop();
}

/*
 *	low    aaaa	half of the device
 *	high   bbbbbbbb	the other half: with room for all, no kernel waits
 *	low        cccc	has room at once, but waits for
 *	high   ....dddd	d, which is more urgent and has no room
 */
TS_TEST(nobody_passes_a_more_urgent_one)
{
	struct ts_vgpu_stream *s[4];

	begin("model");
	s[0] = held(-5);
	s[1] = held(-5);
	s[2] = held(0);
	s[3] = held(-1);
	kernel(s[0], 'a', ALL / 4);
	kernel(s[1], 'b', ALL / 4);
	kernel(s[2], 'c', ALL / 4);
	kernel(s[3], 'd', ALL);
	end();
	ts_check_int(of('a')->start_ns, of('b')->start_ns);
	ts_check(of('d')->start_ns >= of('a')->end_ns && of('d')->start_ns >= of('b')->end_ns);
	ts_check_int(of('c')->start_ns, of('d')->end_ns);
	stop();
}

/*
 *	low   bbbb	the stream of b has the lower priority, but the launch of b
 *	high  ....aaaa	has a higher priority than a
 */
TS_TEST(a_launch_may_have_a_priority_of_its_own)
{
	struct ts_vgpu_launch launch = {.grid = {ALL, 1, 1},
					.block = {32, 1, 1},
					.tag = 'b',
					.has_priority = true,
					.priority = -4};
	struct ts_vgpu_stream *low, *high;

	begin("model");
	high = held(-2);
	low = held(0);
	kernel(high, 'a', ALL);
	ts_check_int(ts_vgpu_launch(low, &launch), 0);
	end();
	check_order("ba");
	stop();
}

/*
 * One engine per direction: copies run in the order in which they became ready, whatever their
 * priority is.
 *
 *	low   copy 1
 *	high        copy 2
 */
TS_TEST(copies_have_no_priority)
{
	struct ts_vgpu_copy copy = {
		.width = 1 << 20, .height = 1, .depth = 1, .async = true, .tag = 'a'};
	struct ts_vgpu_stream *low, *high;
	void *pinned;

	begin("model");
	low = held(0);
	high = held(-5);
	ts_check_int(ts_vgpu_alloc(the_context, 1 << 20, 0, NULL, &copy.dst), 0);
	ts_check_int(ts_vgpu_alloc_pinned(the_context, 1 << 20, 0, &pinned), 0);
	copy.src = (uint64_t)(uintptr_t)pinned;
	ts_check_int(ts_vgpu_copy(low, &copy), 0);
	copy.tag = 'b';
	ts_check_int(ts_vgpu_copy(high, &copy), 0);
	end();
	check_order("ab");
	stop();
}

/* ---- the rule, of any program ---------------------------------------------------------------- */

#define N	  600u
#define N_STREAMS 9u

static int priority_of[64];
static uint64_t ready_ns[LOG_MAX];

static bool is_more_urgent(size_t a, size_t b)
{
	const struct ran *x = &the_log.ran[a], *y = &the_log.ran[b];

	if (priority_of[x->stream] != priority_of[y->stream])
		return priority_of[x->stream] < priority_of[y->stream];
	return ready_ns[a] != ready_ns[b] ? ready_ns[a] < ready_ns[b] : x->queued_ns < y->queued_ns;
}

/*
 * True if kernel k could not begin at an instant, because it had no room or a more urgent kernel
 * was ready.
 */
static bool had_to_wait(size_t k, uint64_t at_ns)
{
	uint32_t used = 0;

	for (size_t i = 0; i < the_log.n; i++) {
		const struct ran *other = &the_log.ran[i];

		if (other->start_ns <= at_ns && other->end_ns > at_ns)
			used += other->n_sm;
		else if (ready_ns[i] <= at_ns && other->start_ns > at_ns && is_more_urgent(i, k))
			return true;
	}
	return used + the_log.ran[k].n_sm > N_SM;
}

static void check_kernel(size_t k)
{
	const struct ran *ran = &the_log.ran[k];

	ts_check(ran->start_ns >= ready_ns[k]);
	ts_check(ran->start_ns == ready_ns[k] || had_to_wait(k, ready_ns[k]));
	for (size_t i = 0; i < the_log.n; i++) {
		const struct ran *other = &the_log.ran[i];

		/* No kernel began that should have let kernel k go first. */
		if (other->start_ns >= ready_ns[k] && other->start_ns < ran->start_ns)
			ts_check(is_more_urgent(i, k));
		/* At each end of another kernel there was a reason to continue to wait. */
		if (other->end_ns > ready_ns[k] && other->end_ns < ran->start_ns)
			ts_check(had_to_wait(k, other->end_ns));
	}
}

TS_TEST(any_program_keeps_the_rule)
{
	struct ts_vgpu_stream *s[N_STREAMS];
	uint64_t last_ns[64] = {0};
	unsigned int seed = 2711, n_waited = 0;

	begin("model");
	for (unsigned int i = 0; i < N_STREAMS; i++) {
		s[i] = stream(-(int)(i % 3));
		ts_check(ts_vgpu_stream_id(s[i]) < 64);
		priority_of[ts_vgpu_stream_id(s[i])] = -(int)(i % 3);
	}
	for (unsigned int i = 0; i < N; i++) {
		unsigned int more = (seed = seed * 1103515245 + 12345) >> 16;

		kernel(s[more % N_STREAMS], 'k', 1 + more % 7 * more % 300);
		/* Now and then the host waits for a stream. */
		if (more % 97 == 0)
			ts_check_int(ts_vgpu_stream_synchronize(s[more % N_STREAMS]), 0);
	}
	end();
	ts_check_int(the_log.n, N);
	for (size_t i = 0; i < the_log.n; i++) {
		const struct ran *ran = &the_log.ran[i];

		/* The kernels of a stream are reported in order. */
		ready_ns[i] = ran->queued_ns > last_ns[ran->stream] ? ran->queued_ns
								    : last_ns[ran->stream];
		last_ns[ran->stream] = ran->end_ns;
		n_waited += ran->start_ns > ready_ns[i];
	}
	for (size_t i = 0; i < the_log.n; i++)
		check_kernel(i);
	ts_check(n_waited > N / 10);
	stop();
}
