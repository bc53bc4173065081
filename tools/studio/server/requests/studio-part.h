/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the part of a trace that is emulated, and reads it. */
#pragma once

#include "replay/emulate/emulate.h"

#include <stdbool.h>

/* Calls and operations of a part. */
#define TS_STUDIO_PART_ITEMS (1u << 18)

/* Calls and operations that are read before a part, and after it. */
#define TS_STUDIO_MARGIN_ITEMS (1u << 16)

/* Absolute times. */
struct ts_studio_part {
	uint64_t from_ns, to_ns; /* calls that start in it are emulated */
	/*
	 * The rows of this window are read: also earlier calls, whose operations are not emulated,
	 * and later operations of the part's calls.
	 */
	uint64_t read_from_ns, read_to_ns;
};

/*
 * Chooses a part with about TS_STUDIO_PART_ITEMS calls and operations around the view
 * [from_ns, to_ns), or with the first ones of a longer view. `session` 0: all.
 * Returns false if the whole trace is as short. The numbers are estimates from the sizes of blocks.
 */
bool ts_studio_part_choose(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
			   uint64_t to_ns, struct ts_studio_part *ret_part);

/* Returns the number of calls and operations in the blocks of the trace. */
uint64_t ts_studio_part_count(struct ts_sbt_reader *reader, uint32_t session);

/*
 * Makes a program of a part, as ts_emulate_read() does with options from_ns and to_ns, but reads
 * only the part. The result is the same if no operation starts more than TS_STUDIO_MARGIN_ITEMS
 * after its call. Errors as ts_emulate_read(). The caller frees *ret_program.
 */
int ts_studio_part_read(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
			const struct ts_studio_part *part, struct ts_emulate_program **ret_program);
