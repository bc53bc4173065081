/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failed calls, and launchers of a kernel. Prints each failed call: the number of its operation,
 * its name and its error, and then its stack, innermost frame first. `tsctl view --errors --stacks`
 * prints the same. With the name of a kernel, the program prints the calls that launched it.
 *
 *     cc launched.c $(pkg-config --cflags --libs tracesmith) -o launched && ./launched FILE
 */
#include "example.h"

/* A frame has several symbols if functions were inlined. Without symbols it has an address. */
static void print_frames(const Ts__Rpc__Stack *stack)
{
	for (size_t i = 0; stack && i < stack->n_symbols; i++)
		if (stack->symbols[i]->function)
			printf("\t%s (%s:%" PRIu32 ")\n", stack->symbols[i]->function,
			       stack->symbols[i]->file ? stack->symbols[i]->file : "?",
			       stack->symbols[i]->line);
	for (size_t i = 0; stack && !stack->n_symbols && i < stack->n_frames; i++)
		printf("\t%s\n", stack->frames[i]);
}

/* Receives one row at a time. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__RowList *list = (const Ts__Rpc__RowList *)body;

	if (number != TS__RPC__ANSWER__BODY_ROWS)
		return 0;
	for (size_t i = 0; i < list->n_rows; i++) {
		const Ts__Rpc__Row *row = list->rows[i];

		if (row->row_case == TS__RPC__ROW__ROW_API) {
			printf("%" PRIu64 "\t%s\t%s\n", row->api->op_id, row->api->name,
			       row->api->error ? row->api->error : "-");
			print_frames(row->api->stack);
		} else if (row->row_case == TS__RPC__ROW__ROW_KERNEL) {
			printf("%" PRIu64 "\t%s\t%s\n", row->kernel->op_id, row->kernel->name,
			       row->kernel->thread_name ? row->kernel->thread_name : "-");
			print_frames(row->kernel->stack);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	char call[] = "api", kernel[] = "kernel", *types[] = {argc == 3 ? kernel : call};
	Ts__Rpc__RowFilter filter = TS__RPC__ROW_FILTER__INIT;
	Ts__Rpc__Query__Rows rows = TS__RPC__QUERY__ROWS__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: launched FILE [KERNEL]\n");
		return 2;
	}
	if (argc == 3)
		filter.name = argv[2];
	else
		TS_RPC_SET(&filter, errors, 1);
	TS_RPC_SET(&rows, stacks, 1);
	rows.filter = &filter;
	rows.types = types;
	rows.n_types = 1;
	query.body_case = TS__RPC__QUERY__BODY_ROWS;
	query.rows = &rows;
	return example_ask(argv[1], &query, give);
}
