/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of a trace as a line on standard output, as wide as the terminal.
 */
#pragma once

#include "replay/report/names/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of a terminal from which on all columns of a row are printed. */
#define TS_VIEWROW_WIDE 144u

/* Embed it, zeroed. */
struct ts_viewrow {
	struct ts_resolver *resolver;
	uint64_t origin_ns;
	size_t width; /* of the terminal; 0: nothing is cut */
	bool is_narrow, stacks;
	struct ts_viewrow_name *names; /* that were cut */
	size_t n_names;
};

/* The resolver stays the caller's and outlives it. `wide`: nothing is cut. `stacks`: with the stack below each row. */
void ts_viewrow_init(struct ts_viewrow *view, struct ts_resolver *resolver, bool wide, bool stacks);
void ts_viewrow_deinit(struct ts_viewrow *view);
void ts_viewrow_heading(const struct ts_viewrow *view);
void ts_viewrow_print(struct ts_viewrow *view, const struct ts_sbt_row *row);
