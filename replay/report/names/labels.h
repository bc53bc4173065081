/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the application gives to its threads, streams and categories. Create one object for
 * each pass over a trace. Not thread-safe.
 */
#pragma once

#include "sbt/reader.h"

struct ts_labels;

/*
 * Reads the names of a trace. The caller keeps the reader. Returns 0, a negative errno or
 * TS_SBT_E_*.
 */
int ts_labels_new(struct ts_sbt_reader *reader, struct ts_labels **ret_labels);
void ts_labels_free(struct ts_labels *labels);

/* Returns the string id of the object's name; 0 if it has no name, or if `labels` is NULL. */
uint32_t ts_labels_find(const struct ts_labels *labels, uint32_t session, enum ts_name_kind kind,
			uint32_t domain, uint64_t object);
/* Like ts_labels_find(), for a stream by CUPTI's ids. */
uint32_t ts_labels_stream(const struct ts_labels *labels, uint32_t session, uint32_t context,
			  uint32_t stream);
