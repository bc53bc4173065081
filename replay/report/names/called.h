/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the application calls its threads, streams and categories. One for each pass over a trace; one thread.
 */
#pragma once

#include "sbt/reader.h"

struct ts_called;

/* The reader stays the caller's. Returns 0, a negative errno or TS_SBT_E_*. */
int ts_called_new(struct ts_sbt_reader *reader, struct ts_called **ret_called);
void ts_called_free(struct ts_called *called);

/* The id of the string, 0 where it has no name. NULL `called`: nothing has. */
uint32_t ts_called_find(const struct ts_called *called, uint32_t session, enum ts_name_kind kind,
			uint32_t domain, uint64_t object);
uint32_t ts_called_stream(const struct ts_called *called, uint32_t session, uint32_t context,
			  uint32_t stream);
