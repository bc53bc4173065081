/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtracesmith reads, writes and asks traces, and talks to the daemon's control socket.
 *
 *	cc program.c $(pkg-config --cflags --libs tracesmith)
 *
 * sbt/reader.h     open a trace, its definitions, rows by type, session and window, totals by name
 * sbt/arrays.h     columns as arrays, for speed
 * sbt/symbols.h    functions, files and lines of stacks' frames; sbt/modules.h: what is mapped where
 * sbt/writer.h     write a trace; sbt/append.h: add symbols to one
 * sbt/verify.h     check every byte; sbt/repair.h: give a cut file an end
 * replay/report/query.h   ask a trace for its state at an instant, a timeline, memory, a graph, sums,
 *                  a replay; question and answer are messages of proto/rpc/tracesmith.proto
 * proto/client/client.h   ask a running tracesmithd; answers are messages of proto/rpc/tracesmith.proto
 *
 * The library keeps no state between calls that a program could notice. The first replay on a virtual GPU fills tables and
 * registers a fork handler (pthread_atfork()). Each header states which threads may call its functions.
 */
#pragma once

#include "proto/abi/session.h" /* enum ts_session_state and its kin */
#include "proto/client/client.h"
#include "proto/rpc/json.h"
#include "replay/report/query.h"
#include "replay/report/replay/progress.h"
#include "replay/state/limit.h"
#include "sbt/append.h"
#include "sbt/arrays.h"
#include "sbt/modules.h"
#include "sbt/reader.h"
#include "sbt/repair.h"
#include "sbt/symbols.h"
#include "sbt/verify.h"
#include "sbt/writer.h"
