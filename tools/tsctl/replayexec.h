/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `tsctl replay --on vgpu` share: replayexec.c does it, replaydry.c says what it would do. */
#pragma once

#include "replay/exec/schedule.h"
#include "replay/report/stackjson.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/replay.h"

/* Of one session. */
struct replay {
	const struct ts_replay_asked *asked;
	struct ts_source *source;
	const struct ts_executor *executor;
	struct ts_exec_program *program;
	struct ts_exec_report first;	/* of the first replay */
	struct ts_exec_report last;	/* of the last one, which alone may differ from the first */
	struct ts_exec_results results; /* of the first one */
	uint32_t n_replays;
	struct ts_exec_schedule
		usual; /* where other orders were asked for: as it is without decisions */
	struct ts_exec_explored explored;
	struct ts_check *check; /* NULL: nobody looks on */
	struct ts_pool pool;
	struct ts_resolver *resolver;
};

/* What the trace names as such, each once. */
size_t ts_replayexec_unsupported(struct replay *replay, char ***ret_names);
/* NULL: it did not. */
char *ts_replayexec_why_ended(struct replay *replay);
void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut);

/* replaydry.c. Returns the exit status. */
int ts_replayexec_plan(struct replay *replay);
