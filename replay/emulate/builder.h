/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within replay/emulate: a program while it is made. read.c collects rows, layout.c puts them in order.
 */
#pragma once

#include "replay/emulate/program.h"

struct ts_emulate_waited {
	uint32_t call, type, context, stream, session, event;
};

struct ts_emulate_builder {
	struct ts_emulate_program *program;
	struct ts_emulate_options options;
	struct ts_sbt_reader *reader;
	struct ts_state_map call_by_op, queue_by_id, context_by_id, thread_by_id, engine_by_id;
	struct ts_emulate_item *raws; /* before their place is known */
	size_t n_raws, n_raws_allocated;
	struct ts_emulate_waited *waits;
	size_t n_waits, n_waits_allocated;
	uint32_t *last_calls; /* of each queue; NONE */
	size_t n_last_allocated;
};
