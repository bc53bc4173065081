/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as JSON: fills the row message of proto/rpc/tracesmith.proto from the columns of sbt/schema.h, as
 * proto/abi/rows/rows.table specifies, and prints it from its descriptor. A new column or field needs no change here.
 */
#pragma once

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

struct ts_rowjson;

/*
 * `resolver` stays the caller's and outlives it. `pool`, where it is not NULL, holds the frames of a row's stack
 * until the next row; without one there are none. -ENOMEM.
 */
int ts_rowjson_new(struct ts_resolver *resolver, struct ts_pool *pool,
		   struct ts_rowjson **ret_rowjson);
void ts_rowjson_free(struct ts_rowjson *rowjson);
void ts_rowjson_freep(struct ts_rowjson **rowjson);

/* Appends the row as one object. Returns 0, -ENOMEM, or -ENOTSUP for a type without a message. */
int ts_rowjson_append(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		      struct ts_json *json);

/* The row as a message, which is valid until the next one. Returns 0, or -ENOTSUP for a type without a message. */
int ts_rowjson_make(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		    Ts__Rpc__Row *ret_message);
/* The message in it, of whatever type; NULL: of one that this version does not know. */
const ProtobufCMessage *ts_rowjson_message(const Ts__Rpc__Row *row);
