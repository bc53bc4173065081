/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes, clients and files may cost the daemon: one struct, one table of names, defaults and bounds, which is the
 * command line's and the help's too. Beyond these stand only bounds that a layout or a protocol has (proto/abi/, proto/rpc/).
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
	uint64_t max_file_bytes; /* 0: none */
	uint64_t keep_free;	 /* 0: nothing */
	/* Trace files that a service holds, live and finished. 0: no limit. */
	uint64_t max_disk_bytes;
	uint64_t max_disk_bytes_user;
	uint64_t max_disk_files;
	/* Finished traces beyond it are removed. 0: none are. The age is in hours. */
	uint64_t retain_age;
	uint64_t retain_size;
	uint64_t retain_size_user;
	/* Recordings in several files. 0: not so. Ages are in ms. */
	uint64_t rotate_size;
	uint64_t rotate_age;
	uint64_t keep;
	uint64_t keep_last_size;
	uint64_t keep_last_age;
};

#define TS_LIMITS_N (sizeof(struct ts_limits) / sizeof(uint64_t))

/* Nothing is set. */
void ts_limits_init(struct ts_limits *limits);
/* What was not set gets its default; a file that is its user's own has no limit. */
void ts_limits_complete(struct ts_limits *limits, bool is_service);

/* A share of the disk ("20%") becomes bytes: `disk_bytes` is the size of the file system that holds the traces. */
void ts_limits_resolve(struct ts_limits *limits, uint64_t disk_bytes);

/* The i-th option's name, without dashes; i < TS_LIMITS_N. */
const char *ts_limits_name(size_t i);
/* 0, or -EINVAL and a line for people. */
int ts_limits_set(struct ts_limits *limits, size_t i, const char *text, char *ret_why,
		  size_t n_why);
/* The lines of --help. */
void ts_limits_help(FILE *file);
