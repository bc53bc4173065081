/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the GPU's state at an instant of a trace: streams, operations in progress, allocated
 * bytes. TIME is in nanoseconds from the trace's start. --json prints the whole answer, like `tsctl
 * state --json`.
 *
 *     cc state.c $(pkg-config --cflags --libs tracesmith) -o state && ./state FILE TIME [--json]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracesmith.h>

/* The library never ends the process; this program does. */
static void out_of_memory(void)
{
	fputs("state: no memory for the answer\n", stderr);
	exit(2);
}

static int print_json(const ProtobufCMessage *answer)
{
	struct ts_json json = {0};
	int r = ts_json_message(&json, answer);

	if (!r)
		puts(json.data);
	ts_json_deinit(&json);
	return r;
}

static void print_report(const Ts__Rpc__StateReport *report)
{
	for (size_t i = 0; i < report->n_streams; i++)
		printf("stream\t%" PRIu32 "\t%s\n", report->streams[i]->stream,
		       report->streams[i]->state);
	for (size_t i = 0; i < report->n_operations; i++) {
		const Ts__Rpc__StateOperation *operation = report->operations[i];

		printf("operation\t%" PRIu64 "\t%s\t%s\n", operation->op_id, operation->state,
		       operation->name ? operation->name : operation->type);
	}
	printf("allocated\t%" PRIu64 "\tbytes\n", report->allocated_bytes);
}

/* Receives the answer; a state is one message. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const int *json = data;

	if (number != TS__RPC__ANSWER__BODY_STATE)
		return 0;
	if (*json)
		return print_json(body);
	print_report((const Ts__Rpc__StateReport *)body);
	return 0;
}

static int ask(struct ts_sbt_reader *reader, uint64_t ns, int json, const char *path)
{
	struct ts_query_options options = {.give = give, .data = &json, .no_memory = out_of_memory};
	Ts__Rpc__Moment at = TS__RPC__MOMENT__INIT;
	Ts__Rpc__Query__State state = TS__RPC__QUERY__STATE__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_query_end end;
	char why[TS_QUERY_WHY_BYTES];
	int r;

	TS_RPC_SET(&at, ns, ns);
	TS_RPC_SET(&at, from_start, 1);
	TS_RPC_SET(&state, stacks, json);
	state.at = &at;
	query.body_case = TS__RPC__QUERY__BODY_STATE;
	query.state = &state;
	r = ts_query_run(reader, 0, &query, &options, &end);
	if (r) {
		ts_query_why(path, r, ts_sbt_reader_error(reader), why);
		fprintf(stderr, "%s\n", why);
		return 2;
	}
	if (end.is_damaged)
		fprintf(stderr, "%s: %s\n", path, end.damage.text);
	return end.is_damaged ? 2 : 0;
}

int main(int argc, char **argv)
{
	struct ts_sbt_error error;
	struct ts_sbt_reader *reader;
	int json = argc == 4 && !strcmp(argv[3], "--json");
	int fd, r;

	if (argc != 3 && !json) {
		fprintf(stderr, "usage: state FILE TIME [--json]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	r = ts_sbt_reader_open(fd, &reader, &error);
	close(fd);
	if (r) {
		fprintf(stderr, "%s: %s\n", argv[1], error.text);
		return 2;
	}
	r = ask(reader, strtoull(argv[2], NULL, 10), json, argv[1]);
	ts_sbt_reader_free(reader);
	return r;
}
