/* SPDX-License-Identifier: Apache-2.0 */
/* Emulates a long trace with bounded memory. */
#pragma once

#include "replay/emulate/emulate.h"
#include "tools/studio/server/requests/studio-times.h"

/* Figures of an emulation. `end_ns` is from the origin. */
struct ts_studio_whole {
	uint64_t before_ns, after_ns, end_ns;
	uint64_t n_ops, n_calls, n_edited, n_windows;
	uint64_t n_broken; /* waits in a cycle that were released */
	bool is_damaged;   /* damaged blocks were left out */
};

struct ts_studio_whole_options {
	struct ts_studio_call *call; /* has a reader and tiles */
	const struct ts_emulate_edit *edits;
	size_t n_edits;
	const struct ts_emulate_names *names;
	uint64_t from_ns; /* from the origin: the layer has the rows from this time on */
};

/*
 * Emulates the call's trace in windows, and makes a layer of it: see emulate-windows.h and
 * ts_tiles_layer_begin(). Other emulations may run between two windows. Reports progress in the
 * server's layers. The caller frees *ret_layer. Returns 0, -ENOMEM, -ECANCELED, -EINVAL with a
 * message of TS_EMULATE_TEXT_BYTES, or the errors of ts_emulate_windows_next().
 */
int ts_studio_whole_emulate(const struct ts_studio_whole_options *options,
			    struct ts_tiles_layer **ret_layer, struct ts_studio_whole *ret_sums,
			    char *ret_message);
