/* SPDX-License-Identifier: Apache-2.0 */
/* Where the debugger stops: a line of the PTX or of the source, a function; and under which condition. */
#pragma once

#include "replay/report/names/names.h"
#include "replay/vgpu/ptx/debug.h"

#define TS_DEBUGSTOP_TESTS 4u

/* A register, or where a thread is in the grid, against a number. */
struct ts_debugstop_test {
	char name[64];
	char compare[3];
	char value[32];
};

struct ts_debugstop {
	char where[256]; /* a file, a function, or "": a line of the PTX */
	uint32_t line;	 /* 0: a function's first instruction */
	struct ts_debugstop_test tests[TS_DEBUGSTOP_TESTS];
	uint32_t n_tests;
};

/* Takes a word from a line: blanks before and behind it are skipped. "" at the end. */
char *ts_debugstop_word(char **rest);

/*
 * "[later] LINE|FILE:LINE|FUNCTION [if NAME OP VALUE [and ...]]"; false: what is wrong with it was printed. Without `later` it has to
 * be somewhere in the image that the warp runs, and the registers in a function of it; there a function may be named as in C++, with
 * or without its template arguments.
 */
bool ts_debugstop_parse(struct ts_debugstop *stop, char *rest, struct ts_ptx_warp *warp,
			struct ts_demangler *demangler);
void ts_debugstop_print(const struct ts_debugstop *stop);

/* before: where the warp was when it was asked last; NULL: nowhere. */
bool ts_debugstop_is_at(const struct ts_debugstop *stop, const struct ts_ptx_place *place,
			const struct ts_ptx_place *before);
/* The first active lane of which the tests hold; -1: none. *ret_missing: a register of them that is not there; else NULL. */
int ts_debugstop_lane(const struct ts_debugstop *stop, struct ts_ptx_warp *warp,
		      const char **ret_missing);

/* A register of a lane's call by name; false: there is none. *ret_i may be NULL. */
bool ts_debugstop_register(const struct ts_ptx_warp *warp, uint32_t lane, const char *name,
			   struct ts_ptx_register_view *ret_view, size_t *ret_i);
/* A value as registers of the type have it: 7, -1, 0xff; 1.5 where it is of floats. */
bool ts_debugstop_value(const char *word, const char *type, uint64_t *ret_value);
