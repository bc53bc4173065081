/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as JSON: fills the row message of proto/rpc/tracesmith.proto from the columns of
 * sbt/schema.h, as proto/abi/rows/rows.table specifies, and prints it from its descriptor. A new
 * column or field needs no change here. Not thread-safe.
 */
#pragma once

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

struct ts_rowjson;

/*
 * Creates a converter of rows. The caller keeps `resolver`, which must outlive the converter.
 * `pool` holds the frames of a row's stack until the next row; if `pool` is NULL, rows have no
 * frames. Returns 0 or -ENOMEM.
 */
int ts_rowjson_new(struct ts_resolver *resolver, struct ts_pool *pool,
		   struct ts_rowjson **ret_rowjson);
void ts_rowjson_free(struct ts_rowjson *rowjson);
void ts_rowjson_freep(struct ts_rowjson **rowjson);

/* Appends the row as one object. Returns 0, -ENOMEM, or -ENOTSUP for a type without a message. */
int ts_rowjson_append(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		      struct ts_json *json);

/*
 * Makes a message of the row, valid until the next call. Returns 0, or -ENOTSUP for a type without
 * a message.
 */
int ts_rowjson_make(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		    Ts__Rpc__Row *ret_message);
/* Returns the message of the row's type; NULL if this version does not know the type. */
const ProtobufCMessage *ts_rowjson_message(const Ts__Rpc__Row *row);
