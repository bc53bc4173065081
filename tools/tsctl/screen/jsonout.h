/* SPDX-License-Identifier: Apache-2.0 */
/* Prints messages as JSON on standard output, for `--json`. */
#pragma once

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

/* Prints one line. Returns TS_EXIT_OK, or TS_EXIT_BAD after an error message. */
int ts_json_print(const ProtobufCMessage *message);
