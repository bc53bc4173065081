/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks what a trace means, by a Query: of a file here, or of the daemon, which has it worked out by a process without privileges
 * (`--served`). Both give the same messages.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "tools/tsctl/screen/times.h"

#include <stdbool.h>

/* The trace, for whoever draws. */
struct ts_about {
	const char *path;
	uint64_t origin_ns; /* where its time begins */
	bool many_sessions; /* and all of them are meant */
};

struct ts_asking {
	const char *file, *session; /* one of them: as ts_source_open() takes them */
	bool served;
	bool is_one; /* the answer is one message, else a list that comes in parts; of those `about` may be empty */
	/* Takes the answer's message, or a part; returns TS_EXIT_OK, or with what the command ends. */
	int (*take)(void *data, const struct ts_about *about, const ProtobufCMessage *body);
	/*
	 * Instead of `take`, where that is all: prints the answer for people, unless `json` has it printed as it is. Whoever answered
	 * may have left out whatever a message may lack, and put any number and text into the rest.
	 */
	void (*print)(const void *data, const struct ts_about *about, const ProtobufCMessage *body);
	bool json;
	void *data;
	/* Of replays: set from anywhere, it ends with what was found so far; who draws how far it is. NULL: there is none. */
	const volatile int *cancel;
	struct ts_replay_progress *progress;
	uint32_t n_threads;		  /* of a virtual GPU here; 0: the default */
	const struct ts_executor *device; /* may be replayed on, here; or NULL */
	/* Set on return: the trace is damaged, and what is left of it was told. */
	bool is_damaged;
};

/* Returns TS_EXIT_OK, what `take` returned, or TS_EXIT_BAD after a complaint. Sets what in `query` says which trace. */
int ts_ask(struct ts_asking *asking, Ts__Rpc__Query *query);

/* A time as a message; returns it. */
Ts__Rpc__Moment *ts_ask_moment(const struct ts_time *time, Ts__Rpc__Moment *ret_moment);
