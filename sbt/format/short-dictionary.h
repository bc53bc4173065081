/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary of short blocks: what small traces have in common. FORMAT.md, "Dictionary",
 * specifies its bytes. Private to sbt/.
 */
#pragma once

#include "proto/abi/base.h"

/* Returns the dictionary in zstd's format, tables and content, and sets *ret_n to its bytes. */
const uint8_t *ts_short_dictionary(size_t *ret_n);

/* Returns the dictionary's content, without the tables, and sets *ret_n to its bytes. */
const uint8_t *ts_short_dictionary_content(size_t *ret_n);
