/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured operations as a replay's verdict names them: the number of the call, the kernel demangled, the stream's number, the call
 * and the frame that made it. All goes with the replay's pool. Parts that the trace does not have are absent.
 */
#pragma once

#include "replay/report/replay/replay.h"

/* NULL: the program has no such operation. With a stack: all of it, where it was recorded. */
Ts__Rpc__ReplaySide *ts_sidejson_make(struct ts_replay *replay, uint64_t sequence, bool with_stack);
/* The kernel of a launch, demangled; NULL: the operation is no launch, or its function has no name. */
const char *ts_sidejson_kernel(struct ts_replay *replay, const struct ts_row_operation *launch);
/* The same in little time; also NULL if the function's handle became another's behind the launch. */
const char *ts_sidejson_signature(struct ts_replay *replay, const struct ts_row_operation *launch);
/* `name` of a function in PTX that runs in the launch, demangled; it may be cut. Lives as long as the replay. */
const char *ts_sidejson_function(struct ts_replay *replay, const struct ts_row_operation *launch,
				 const char *name);
/* A string of the trace, demangled; NULL: there is no such string. */
const char *ts_sidejson_string(struct ts_replay *replay, uint32_t id);
/* `text` with the mangled names in it demangled; goes with the replay's pool. */
char *ts_sidejson_text(struct ts_replay *replay, const char *text);

/* Texts, any one of which would order two operations in different streams. */
size_t ts_sidejson_remedies(struct ts_replay *replay, const Ts__Rpc__ReplaySide *earlier,
			    const Ts__Rpc__ReplaySide *later, char ***ret_remedies);
/* The stream as a remedy names it: "stream 14", "default stream 7". */
const char *ts_sidejson_stream(struct ts_replay *replay, const Ts__Rpc__ReplaySide *side);
/* The application's interface, by the call of an operation: "cuda", or "cu" of the driver's. */
const char *ts_sidejson_prefix(const Ts__Rpc__ReplaySide *side);
