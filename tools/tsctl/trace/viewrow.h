/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a row of a trace as a line on standard output, fitted to the terminal. */
#pragma once

#include "replay/report/names/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Minimum terminal width for all columns of a row. */
#define TS_VIEWROW_WIDE 144u

/* Embed it, zeroed. */
struct ts_viewrow {
	struct ts_resolver *resolver;
	uint64_t origin_ns;
	size_t width; /* terminal width; 0: no cuts */
	bool is_narrow, stacks;
	struct ts_viewrow_name *names; /* shortened names */
	size_t n_names, n_names_allocated;
};

/*
 * The resolver belongs to the caller and must outlive the view. `wide`: no cuts. `stacks`: print
 * the stack below each row.
 */
void ts_viewrow_init(struct ts_viewrow *view, struct ts_resolver *resolver, bool wide, bool stacks);
void ts_viewrow_deinit(struct ts_viewrow *view);
void ts_viewrow_heading(const struct ts_viewrow *view);
void ts_viewrow_print(struct ts_viewrow *view, const struct ts_sbt_row *row);
