/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that `tsctl analyze` needs to know of a trace, from one walk over its rows: timeline,
 * findings, occupancy, failed calls, and the launches by kernel and stack. One walk decodes each
 * block once and finds each dependency once, so it costs less than half of the single answers.
 */
#pragma once

#include "replay/state/occupancy.h"
#include "replay/state/overview/analysis.h"
#include "replay/state/overview/errors.h"
#include "replay/state/overview/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches of one kernel with one stack. */
struct ts_overview_launch {
	uint32_t session;
	uint32_t name;
	uint32_t stack; /* 0: no stack, or no call */
	uint64_t count;
	uint64_t start_ns; /* of the first kernel */
};

struct ts_overview {
	struct ts_timeline *timeline; /* with one part */
	struct ts_analysis *analysis;
	struct ts_occupancies *occupancies;
	struct ts_call_errors *errors;
	struct ts_overview_launch *launches; /* in order of their first kernel */
	size_t n_launches;
};

/*
 * Reads a trace. `session` 0: all. Each answer is as from its own function. Returns 0, -ENOMEM,
 * TS_E_STREAMS, or the errors of sbt/reader.h. The caller calls ts_overview_deinit() in any case.
 */
int ts_overview_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_overview *overview);
void ts_overview_deinit(struct ts_overview *overview);

#ifdef __cplusplus
}
#endif
