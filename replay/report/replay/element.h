/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the array element and its type at an address where a replay differs. Memory has no types,
 * so the type comes from the signature of a kernel. The kernel is the one of the latest earlier
 * launch with the nearest pointer to that address. The verdict names this launch as the source of
 * the type.
 */
#pragma once

#include "replay/report/names/value.h"
#include "replay/report/replay/replay.h"

struct ts_element {
	struct ts_value_type type;
	uint64_t address;   /* address of the differing part */
	uint64_t index;	    /* element's index from the pointer */
	uint32_t part;	    /* part of a vector, from 0 */
	uint64_t sequence;  /* the launch's sequence number */
	uint32_t parameter; /* number of the parameter, from 1 */
};

/*
 * Finds the element at the difference's address. `buffer` is the allocation that holds the address.
 * Returns false if no launch between the allocation and the difference has a typed pointer to the
 * address or below it. Also returns false if a pointer without a known type is nearer.
 */
bool ts_element_find(struct ts_replay *replay, const struct ts_exec_difference *difference,
		     const struct ts_row_operation *buffer, struct ts_element *ret_element);
/*
 * Prints the expected and the found value of the differing part, from the bytes in the difference.
 * Returns false if the difference has too few bytes.
 */
bool ts_element_values(const struct ts_replay *replay, const struct ts_exec_difference *difference,
		       const struct ts_element *element, char ret_expected[TS_VALUE_TEXT_BYTES],
		       char ret_found[TS_VALUE_TEXT_BYTES]);
