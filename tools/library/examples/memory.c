/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why is memory full, and what leaks? Prints the peak in bytes, the largest allocations at the
 * peak, and those that were never freed. `tsctl memory` prints the same.
 *
 *     cc memory.c $(pkg-config --cflags --libs tracesmith) -o memory && ./memory FILE
 */
#include "example.h"

static void print_holders(const char *when, Ts__Rpc__MemoryHolder **holders, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s\t%" PRIu64 "\t0x%" PRIx64 "\t%s\n", when, holders[i]->bytes,
		       holders[i]->address, holders[i]->kind);
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__MemoryReport *report = (const Ts__Rpc__MemoryReport *)body;

	if (number != TS__RPC__ANSWER__BODY_MEMORY)
		return 0;
	printf("peak\t%" PRIu64 "\n", report->peak_bytes);
	print_holders("at peak", report->at_peak, report->n_at_peak);
	printf("leaked\t%" PRIu64 "\n", report->never_freed_bytes);
	print_holders("never freed", report->never_freed, report->n_never_freed);
	return 0;
}

int main(int argc, char **argv)
{
	Ts__Rpc__Query__Memory memory = TS__RPC__QUERY__MEMORY__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: memory FILE\n");
		return 2;
	}
	query.body_case = TS__RPC__QUERY__BODY_MEMORY;
	query.memory = &memory;
	return example_ask(argv[1], &query, give);
}
