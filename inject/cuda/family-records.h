/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of libraries like CUPTI: puts them into CUPTI's layout, by the table of
 * proto/abi/vendor/cupti_family.h. Thread-safe.
 */
#pragma once

#include "proto/abi/vendor/cupti_family.h"

/*
 * Returns the record in CUPTI's layout: the record itself, or `space` filled from it. ret_n_bytes:
 * the part of CUPTI's structure that is valid. Returns NULL for a kind that the table lacks, with
 * kind INVALID. Returns NULL with the record's kind if the record's name cannot be read.
 */
const void *ts_family_plain(const struct ts_pti_vendor *vendor, const void *record, void *space,
			    size_t n_space, uint32_t *ret_kind, size_t *ret_n_bytes);

/* True if the string's first byte can be read. NULL is no name, and true. */
bool ts_family_is_readable(const char *name);

/*
 * Checks the place that a library gave for a record: behind the previous one (NULL: none), and
 * wholly inside the buffer.
 */
bool ts_family_is_next(const struct ts_pti_vendor *vendor, const uint8_t *buffer,
		       size_t valid_bytes, const void *previous, const void *record);
