/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why is the GPU idle? Prints the busy and the idle time of each GPU in nanoseconds, and the causes
 * of the idle time. `tsctl timeline` prints the same.
 *
 *     cc idle.c $(pkg-config --cflags --libs tracesmith) -o idle && ./idle FILE
 */
#include "example.h"

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__TimelineReport *report = (const Ts__Rpc__TimelineReport *)body;

	if (number != TS__RPC__ANSWER__BODY_TIMELINE)
		return 0;
	for (size_t i = 0; i < report->n_devices; i++) {
		const Ts__Rpc__TimelineDevice *device = report->devices[i];

		printf("%" PRIu32 "\tbusy\t%" PRIu64 "\n", device->device, device->busy_ns);
		printf("%" PRIu32 "\tidle\t%" PRIu64 "\n", device->device, device->idle_ns);
		for (size_t j = 0; j < device->n_idle; j++)
			printf("%" PRIu32 "\t%s\t%" PRIu64 "\n", device->device,
			       device->idle[j]->cause, device->idle[j]->ns);
	}
	return 0;
}

int main(int argc, char **argv)
{
	Ts__Rpc__Query__Timeline timeline = TS__RPC__QUERY__TIMELINE__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: idle FILE\n");
		return 2;
	}
	query.body_case = TS__RPC__QUERY__BODY_TIMELINE;
	query.timeline = &timeline;
	return example_ask(argv[1], &query, give);
}
