/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtracesmith reads, writes and queries traces, and talks to the daemon's control socket.
 *
 *	cc program.c $(pkg-config --cflags --libs tracesmith)
 *
 *     sbt/reader.h     open a trace, its definitions, rows by type, session and window,
 *                      totals by name
 *     sbt/arrays.h     columns as arrays, for speed
 *     sbt/columns.h    columns of all rows of a type, with a selection
 *     sbt/arrow.h      the same by Apache Arrow's C stream interface
 *     sbt/symbols.h    functions, files and lines of stack frames
 *     sbt/modules.h    the module mapped at an address and a time
 *     sbt/writer.h     write a trace
 *     sbt/append.h     add symbols to a trace
 *     sbt/copy.h       write a window of a trace, or several traces, as a new trace
 *     sbt/verify.h     check every byte
 *     sbt/repair.h     finish a cut file
 *     replay/report/names/callname.h   names of calls
 *     replay/report/pictures/picture.h   answers and sums by stack as pictures (SVG)
 *     replay/report/query.h   query a trace for its contents, an analysis, gaps, its state at an
 *                      instant, a timeline, memory, a graph, sums, a replay; messages of
 *                      proto/rpc/tracesmith.proto
 *     replay/report/query-diff.h   compare traces of two builds
 *     replay/report/ask-json.h   the same queries, with JSON in and JSON out
 *     tools/export/export.h   write a trace in a format of other tools
 *     tools/export/arrow/dataset.h   write a trace as files of Apache Arrow
 *     proto/client/client.h   query a running tracesmithd, with the same messages
 *
 * The library keeps no state between calls that a program can notice. The first replay on a virtual
 * GPU fills tables and registers a fork handler (pthread_atfork()). Each header states which
 * threads may call its functions.
 */
#pragma once

#include "proto/abi/session.h" /* enum ts_session_state and similar */
#include "proto/client/client.h"
#include "proto/rpc/json-read.h"
#include "proto/rpc/json.h"
#include "replay/report/ask-json.h"
#include "replay/report/names/callname.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/query-diff.h"
#include "replay/report/query.h"
#include "replay/report/replay/progress.h"
#include "replay/state/limit.h"
#include "sbt/append.h"
#include "sbt/arrays.h"
#include "sbt/arrow.h"
#include "sbt/columns.h"
#include "sbt/copy.h"
#include "sbt/modules.h"
#include "sbt/reader.h"
#include "sbt/repair.h"
#include "sbt/symbols.h"
#include "sbt/verify.h"
#include "sbt/writer.h"
#include "tools/export/arrow/dataset.h"
#include "tools/export/export.h"
