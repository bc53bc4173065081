/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on the cost of processes, clients and files: one struct and one table of names, defaults
 * and bounds. The table also serves the command line and --help. Layouts and protocols have further
 * bounds (proto/abi/, proto/rpc/).
 */
#pragma once

#include <stdio.h>

#include "proto/abi/base.h"

struct ts_limits {
	uint64_t max_sessions;
	uint64_t max_sessions_user;
	uint64_t max_session_bytes;
	uint64_t max_definition_bytes;
	uint64_t max_definition_bytes_all;
	uint64_t max_session_memory;
	uint64_t max_memory;
	uint64_t max_connections;
	uint64_t max_clients;
	uint64_t max_requests;
	uint64_t max_answers;
	uint64_t max_traces;
	uint64_t max_queries;
	uint64_t max_query_ms;
	uint64_t max_query_bytes;
	uint64_t max_query_memory;
	uint64_t max_replay_ms;
	uint64_t max_replay_memory;
	uint64_t max_file_bytes; /* 0: no limit */
	uint64_t keep_free;	 /* 0: none */
	/* Limits on all trace files of a service, unfinished and finished. 0: no limit. */
	uint64_t max_disk_bytes;
	uint64_t max_disk_bytes_user;
	uint64_t max_disk_files;
	/*
	 * Finished traces are removed if they exceed one of these limits. 0: no removal. The age is
	 * in hours.
	 */
	uint64_t retain_age;
	uint64_t retain_size;
	uint64_t retain_size_user;
	/* Limits for recordings in several files (recording-rotation.c). 0: off. Ages are in ms. */
	uint64_t rotate_size;
	uint64_t rotate_age;
	uint64_t keep;
	uint64_t keep_last_size;
	uint64_t keep_last_age;
};

#define TS_LIMITS_N (sizeof(struct ts_limits) / sizeof(uint64_t))

/* Marks all limits as unset. */
void ts_limits_init(struct ts_limits *limits);
/* Sets defaults for unset limits. Without is_service, limits for services get 0. */
void ts_limits_complete(struct ts_limits *limits, bool is_service);

/*
 * Converts a percentage of the disk ("20%") to bytes. `disk_bytes`: size of the file system of the
 * traces.
 */
void ts_limits_resolve(struct ts_limits *limits, uint64_t disk_bytes);

/* Returns the name of the i-th option, without dashes; i < TS_LIMITS_N. */
const char *ts_limits_name(size_t i);
/* Parses `text`. Returns 0, or -EINVAL and one line for the user in ret_why. */
int ts_limits_set(struct ts_limits *limits, size_t i, const char *text, char *ret_why,
		  size_t n_why);
/* Prints the lines about limits in --help. */
void ts_limits_help(FILE *file);
