/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the numbers of flows as Perfetto reads them: each launch leads to its own kernel and to no
 * other, whatever their order.
 */
#include "test/unit/harness.h"

#include "tools/export/perfetto/flows.h"

#define N_OPS	 200000u
#define N_READER (4u * N_OPS)

enum side {
	CALL,
	KERNEL
};

struct event {
	uint64_t time_ns;
	uint32_t op;
	enum side side;
};

/* For each number, the operation that it last stood for. */
struct reading {
	uint32_t open[N_READER];
	uint32_t n_joined, n_two_bytes;
};

static uint64_t random_state = 1;

static uint32_t chance(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void see(struct reading *reading, uint64_t number, uint32_t op, bool ends)
{
	ts_check(number && number < N_READER);
	reading->n_two_bytes += number < 1u << 14;
	if (reading->open[number]) {
		ts_check_int(reading->open[number], op);
		reading->n_joined++;
	} else {
		ts_check(!ends);
	}
	reading->open[number] = ends ? 0 : op;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/*
 * Feeds calls and kernels. Each kernel comes up to `most` calls after its own call. One of every
 * `early` kernels comes before its call, and one of every `without` kernels is missing.
 */
static void run(uint32_t most, uint32_t early, uint32_t without, struct reading *reading,
		uint32_t *ret_n)
{
	struct event *events = calloc(2 * N_OPS, sizeof(*events));
	struct ts_flows *flows;
	uint32_t n = 0, n_pairs = 0;

	ts_check(events && !ts_flows_new(&flows));
	memset(reading, 0, sizeof(*reading));
	for (uint32_t op = 1; op <= N_OPS; op++) {
		uint64_t time_ns = UINT64_C(100000000) + 100u * op;
		uint32_t after = 1 + chance(most);

		events[n++] = (struct event){time_ns, op, CALL};
		if (without && !chance(without))
			continue;
		events[n++] =
			(struct event){early && !chance(early) ? time_ns - after : time_ns + after,
				       op, KERNEL};
		n_pairs++;
	}
	qsort(events, n, sizeof(*events), by_time);
	for (uint32_t i = 0; i < n; i++) {
		bool ends = false;
		uint64_t number =
			events[i].side == CALL
				? ts_flows_call(flows, events[i].op, true, events[i].time_ns)
				: ts_flows_kernel(flows, events[i].op, events[i].time_ns, &ends);

		see(reading, number, events[i].op, ends);
	}
	*ret_n = n_pairs;
	ts_flows_free(flows);
	free(events);
}

static struct reading reading;

TS_TEST(short_ones)
{
	uint32_t n;

	run(1000, 0, 0, &reading, &n);
	ts_check_int(reading.n_joined, n);
	ts_check_int(reading.n_two_bytes, 2 * n);
}

/*
 * Each flow joins its launch and its kernel, also if there are more flows at once than short
 * numbers, or than slots.
 */
TS_TEST(many_at_once)
{
	uint32_t n;

	for (uint32_t most = 1000000; most <= 10000000; most *= 10) {
		run(most, 0, 0, &reading, &n);
		ts_check_int(reading.n_joined, n);
	}
}

TS_TEST(any_order)
{
	uint32_t n;

	for (uint32_t early = 2; early <= 200; early *= 10) {
		run(50000, early, 0, &reading, &n);
		ts_check_int(reading.n_joined, n);
		run(10000000, early, 5, &reading, &n);
		ts_check_int(reading.n_joined, n);
	}
}

/*
 * A kernel that begins together with its call does not end a flow: the reader may see either first.
 */
TS_TEST(together)
{
	struct ts_flows *flows;
	uint64_t number;
	bool ends;

	ts_check(!ts_flows_new(&flows));
	number = ts_flows_call(flows, 7, true, 100);
	ts_check_int(ts_flows_kernel(flows, 7, 100, &ends), number);
	ts_check(!ends);
	ts_check(ts_flows_call(flows, 8, true, 101) != number);
	ts_flows_free(flows);
}

/* A call that is no launch may have any number of operations. */
TS_TEST(others)
{
	struct ts_flows *flows;
	bool ends;

	ts_check(!ts_flows_new(&flows));
	ts_check_int(ts_flows_call(flows, 7, false, 100), ts_flows_other(7));
	for (int i = 0; i < 3; i++) {
		ts_check_int(ts_flows_kernel(flows, 7, 200, &ends), ts_flows_other(7));
		ts_check(!ends);
	}
	ts_flows_free(flows);
}
