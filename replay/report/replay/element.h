/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which element of which type lies at an address where a replay differs. Memory has no types: the launch before with the nearest
 * pointer to there gives one, by its kernel's signature. The verdict names that launch.
 */
#pragma once

#include "replay/report/names/value.h"
#include "replay/report/replay/replay.h"

struct ts_element {
	struct ts_value_type type;
	uint64_t address;   /* of the part that differs */
	uint64_t index;	    /* of the element, from where the pointer points */
	uint32_t part;	    /* of a vector, from 0 */
	uint64_t sequence;  /* of the launch */
	uint32_t parameter; /* from 1 */
};

/*
 * `buffer`: the allocation that holds the address. False: no launch between the two has a pointer of a known type to there or below,
 * or another pointer, of which no type is known, is nearer.
 */
bool ts_element_find(struct ts_replay *replay, const struct ts_exec_difference *difference,
		     const struct ts_row_operation *buffer, struct ts_element *ret_element);
/* Both values of the part, by the bytes that the difference has. False: there are too few. */
bool ts_element_values(const struct ts_replay *replay, const struct ts_exec_difference *difference,
		       const struct ts_element *element, char ret_expected[TS_VALUE_TEXT_BYTES],
		       char ret_found[TS_VALUE_TEXT_BYTES]);
