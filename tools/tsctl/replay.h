/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tsctl replay` was asked, and the executors that can do it: cmd-replay.c reads the options and has the table.
 */
#pragma once

#include "tools/tsctl/source.h"
#include "tools/tsctl/times.h"

struct ts_replay_asked {
	const char *session;
	bool json, is_dry_run;
	bool has_stream, has_ops, has_from, has_to;
	uint32_t stream;
	uint64_t first_op, last_op; /* operation ids, both included */
	struct ts_time from, to;
};

struct ts_replay_executor {
	const char *name; /* as --on has it */
	/* Both take what was asked and an open trace, and return the exit status. */
	int (*run)(const struct ts_replay_asked *asked, struct ts_source *source);
	/* `--mode dry-run`. */
	int (*plan)(const struct ts_replay_asked *asked, struct ts_source *source);
};

extern const struct ts_replay_executor ts_replay_emulate;
