/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A breakpoint of the debugger: a line of the PTX or of the source, or a function, with optional
 * conditions.
 */
#pragma once

#include "replay/report/names/names.h"
#include "replay/vgpu/ptx/debug.h"

#define TS_DEBUGSTOP_TESTS 4u

/* A comparison of a register, or of a thread's place in the grid, with a number. */
struct ts_debugstop_test {
	char name[64];
	char compare[3];
	char value[32];
};

struct ts_debugstop {
	char where[256]; /* file or function; "": a line of the PTX */
	uint32_t line;	 /* 0: first instruction of a function */
	struct ts_debugstop_test tests[TS_DEBUGSTOP_TESTS];
	uint32_t n_tests;
};

/* Reads a word from a line and skips the blanks around it. Returns "" at the end. */
char *ts_debugstop_word(char **rest);

/*
 * Parses "[later] LINE|FILE:LINE|FUNCTION [if NAME OP VALUE [and ...]]". If it is wrong, prints the
 * error and returns false. Without `later`, the place must be in the image that the warp runs, and
 * the registers in a function of it. A function of the image may have its C++ name, with or without
 * template arguments.
 */
bool ts_debugstop_parse(struct ts_debugstop *stop, char *rest, struct ts_ptx_warp *warp,
			struct ts_demangler *demangler);
void ts_debugstop_print(const struct ts_debugstop *stop);

/* True if the warp reaches the breakpoint. `before` is the warp's previous place; NULL: none. */
bool ts_debugstop_is_at(const struct ts_debugstop *stop, const struct ts_ptx_place *place,
			const struct ts_ptx_place *before);
/*
 * Returns the first active lane that meets all tests, or -1. *ret_missing: a register that does not
 * exist, or NULL.
 */
int ts_debugstop_lane(const struct ts_debugstop *stop, struct ts_ptx_warp *warp,
		      const char **ret_missing);

/* Finds a register of a lane's call by name. Returns false if there is none. *ret_i may be NULL. */
bool ts_debugstop_register(const struct ts_ptx_warp *warp, uint32_t lane, const char *name,
			   struct ts_ptx_register_view *ret_view, size_t *ret_i);
/* Parses a value for registers of the type: 7, -1, 0xff; 1.5 for floats. */
bool ts_debugstop_value(const char *word, const char *type, uint64_t *ret_value);
