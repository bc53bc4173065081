/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to standard output: what `--json` prints.
 */
#pragma once

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

/* One line. Returns the exit status: TS_EXIT_OK, or TS_EXIT_BAD after a complaint. */
int ts_json_print(const ProtobufCMessage *message);
