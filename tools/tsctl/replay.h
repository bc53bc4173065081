/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tsctl replay` was asked, and the executors that can do it: cmd-replay.c reads the options and has the table.
 */
#pragma once

#include "replay/exec/schedule.h"
#include "tools/tsctl/source.h"
#include "tools/tsctl/times.h"

struct ts_replay_asked {
	const char *session;
	bool json, is_dry_run;
	bool has_stream, has_ops, has_from, has_to;
	uint32_t stream;
	uint64_t first_op, last_op; /* operation ids, both included */
	uint32_t n_repeat;	    /* 0: as often as a verdict takes */
	uint32_t check;		    /* TS_CHECK_*: what is looked for */
	uint64_t points_every;	    /* memory is compared after so many operations; 0: at the end */
	uint64_t time_ns;	    /* that a replay may take; 0: any */
	bool debug;		    /* kernels are stopped, for commands from stdin */
	uint32_t n_schedules;	    /* orders to try; 0: none */
	bool unordered_blocks;	    /* blocks become resident in any order, too */
	bool has_seed;
	uint64_t seed;
	struct ts_exec_decisions decisions[TS_EXEC_MAX_DECISIONS]; /* that alone count */
	size_t n_decisions;
	struct ts_time from, to;
	unsigned long long limit; /* steps that are listed */
	const char **what_if;	  /* edits, or @ and the file that has them; what argv has */
	size_t n_what_if;
};

struct ts_replay_executor {
	const char *name; /* as --on has it */
	bool has_what_if;
	/*
	 * Both take what was asked and an open trace, and return the exit status. `plan` is `--mode dry-run`; an executor that
	 * needs no more than a trace has takes ts_replay_plan().
	 */
	int (*run)(const struct ts_replay_asked *asked, struct ts_source *source);
	int (*plan)(const struct ts_replay_asked *asked, struct ts_source *source);
};

extern const struct ts_replay_executor ts_replay_emulate;
extern const struct ts_replay_executor ts_replay_vgpu;
