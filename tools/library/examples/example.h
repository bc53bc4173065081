/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the examples that ask a question: opens the trace, asks, prints errors. Copy
 * this header with an example.
 */
#pragma once

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracesmith.h>

/* The library never ends the process; this program does. */
static inline void example_no_memory(void)
{
	fputs("no memory for the answer\n", stderr);
	exit(2);
}

/* Opens the trace, or prints why not and ends the program. */
static inline struct ts_sbt_reader *example_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;

	if (fd < 0) {
		perror(path);
		exit(2);
	}
	if (ts_sbt_reader_open(fd, &reader, &error)) {
		fprintf(stderr, "%s: %s\n", path, error.text);
		exit(2);
	}
	close(fd);
	return reader;
}

/* A result of `give` that ends the question without a further message. */
#define EXAMPLE_PRINTED (-1000)

/*
 * Asks about the trace. `give` receives the answer: a message, and its number in Answer. Returns
 * the exit status: 0, or 2 after a message.
 */
static inline int example_ask(const char *path, const Ts__Rpc__Query *query,
			      int (*give)(void *data, unsigned number,
					  const ProtobufCMessage *body))
{
	struct ts_query_options options = {.give = give, .no_memory = example_no_memory};
	struct ts_sbt_reader *reader = example_open(path);
	struct ts_query_end end = {0};
	char why[TS_QUERY_WHY_BYTES];
	int r = ts_query_run(reader, 0, query, &options, &end);

	if (r && r != EXAMPLE_PRINTED) {
		ts_query_why(path, r, ts_sbt_reader_error(reader), why);
		fprintf(stderr, "%s\n", why);
	} else if (end.is_damaged) {
		fprintf(stderr, "%s: %s\n", path, end.damage.text);
	}
	ts_sbt_reader_free(reader);
	return r || end.is_damaged ? 2 : 0;
}
