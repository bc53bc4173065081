/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the description of a captured operation for a replay's verdict: operation id, demangled
 * kernel, stream number, call and calling frame. The replay's pool owns all results. Fields are
 * absent if the trace lacks their data.
 */
#pragma once

#include "replay/report/replay/replay.h"

/*
 * Makes the description of an operation. Returns NULL if the program has no such operation.
 * `with_stack` adds the whole stack, if recorded.
 */
Ts__Rpc__ReplaySide *ts_sidejson_make(struct ts_replay *replay, uint64_t sequence, bool with_stack);
/*
 * Returns the demangled name of the launched kernel. NULL if the operation is no launch, or if its
 * function has no name.
 */
const char *ts_sidejson_kernel(struct ts_replay *replay, const struct ts_row_operation *launch);
/*
 * Like ts_sidejson_kernel(), but does not search the operations. Also NULL if a function created
 * after the launch has the same handle.
 */
const char *ts_sidejson_signature(struct ts_replay *replay, const struct ts_row_operation *launch);
/*
 * Returns the demangled name of a PTX function that runs in the launch. `name` is mangled and may
 * be truncated. Valid as long as the replay.
 */
const char *ts_sidejson_function(struct ts_replay *replay, const struct ts_row_operation *launch,
				 const char *name);
/* Returns a string of the trace, demangled; NULL if there is no such string. */
const char *ts_sidejson_string(struct ts_replay *replay, uint32_t id);
/* Returns `text` with its mangled names demangled. The replay's pool owns the result. */
char *ts_sidejson_text(struct ts_replay *replay, const char *text);

/*
 * Returns the number of remedies, and their texts in *ret_remedies. Each remedy alone would order
 * the two operations, which are in different streams.
 */
size_t ts_sidejson_remedies(struct ts_replay *replay, const Ts__Rpc__ReplaySide *earlier,
			    const Ts__Rpc__ReplaySide *later, char ***ret_remedies);
/* Returns the stream's name for a remedy: "stream 14", "default stream 7". */
const char *ts_sidejson_stream(struct ts_replay *replay, const Ts__Rpc__ReplaySide *side);
/*
 * Returns the prefix of the interface that the operation's call belongs to: "cuda" (runtime) or
 * "cu" (driver).
 */
const char *ts_sidejson_prefix(const Ts__Rpc__ReplaySide *side);
