/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ctf LAUNCHES: emits the rows of a training job (training.h) as tracepoints of LTTng-UST
 * (tracepoint-rows.h), for a session that enabled them.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "test/bench/tracepoint-rows.h"

#include "test/bench/bench.h"
#include "test/bench/training.h"

int main(int argc, char **argv)
{
	struct ts_training *training = malloc(sizeof(*training));
	uint64_t n_launches = ts_bench_count(argc, argv, 100000), n = 0;

	if (!training)
		return 1;
	ts_training_init(training, 1, 32);
	while (n < n_launches) {
		ts_training_step(training);
		for (unsigned i = 0; i < training->n_api; i++)
			lttng_ust_tracepoint(tracesmith_rows, api, &training->api[i]);
		for (unsigned i = 0; i < training->n_kernels; i++)
			lttng_ust_tracepoint(tracesmith_rows, kernel, &training->kernels[i]);
		for (unsigned i = 0; i < training->n_copies; i++)
			lttng_ust_tracepoint(tracesmith_rows, memcpy, &training->copies[i]);
		for (unsigned i = 0; i < training->n_sets; i++)
			lttng_ust_tracepoint(tracesmith_rows, memset, &training->sets[i]);
		n += training->n_kernels + training->n_copies + training->n_sets;
	}
	printf("{\"n\": %" PRIu64 ", \"enabled\": %d}\n", n,
	       lttng_ust_tracepoint_enabled(tracesmith_rows, kernel) ? 1 : 0);
	free(training);
	return 0;
}
