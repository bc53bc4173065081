/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the state at an instant. ts_state_at() starts from the nearest checkpoint (checkpoint/).
 * If no checkpoint is usable, it reads the trace from the start with a builder (state.c). The
 * answers of replay/report call this file.
 */
#include "replay/state/checkpoint/checkpoint.h"
#include "replay/state/state-builder.h"

static int read_all(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		    struct ts_state **ret_state)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_ROWS, .session = session};
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	int r = ts_state_builder_new(at_ns, &builder);

	if (!r)
		r = ts_state_builder_devices(builder, reader);
	if (!r)
		r = ts_state_machine_prepare(builder->machine, reader, session);
	if (!r)
		r = ts_sbt_cursor_new(reader, &options, &cursor);
	if (!r)
		r = ts_state_builder_read(builder, cursor);
	return r == TS_SBT_E_END ? ts_state_builder_finish(builder, ret_state) : r;
}

int ts_state_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		struct ts_state **ret_state)
{
	int r = ts_state_from_checkpoint(reader, session, at_ns, ret_state), bad = r;

	if (r != TS_SBT_E_NOT_FOUND && r != TS_SBT_E_CORRUPT)
		return r;
	r = read_all(reader, session, at_ns, ret_state);
	if (!r)
		(*ret_state)->is_checkpoint_bad = bad == TS_SBT_E_CORRUPT;
	return r;
}
