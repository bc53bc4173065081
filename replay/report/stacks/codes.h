/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that samples were in, by function: what replay/state knows as a number (struct ts_gaps_code). The function is that of
 * the frame that codeplace.h chooses. One thread; each stack is looked up once.
 */
#pragma once

#include "replay/report/names/resolver.h"
#include "replay/state/gaps/gaps.h"

struct ts_codes;

/* A function. Texts live as long as `ts_codes`. */
struct ts_code {
	const char *function; /* the file of a library, where no function is known */
	const char *file;     /* path of the source file; NULL: not known */
	uint32_t line;	      /* in it: where most of the samples were; 0: not known */
};

/* The resolver stays the caller's and outlives it. -ENOMEM. */
int ts_codes_new(struct ts_resolver *resolver, struct ts_codes **ret_codes);
void ts_codes_free(struct ts_codes *codes);
void ts_codes_freep(struct ts_codes **codes);

/* For the options of ts_gaps_read(). Lives as long as `codes`. */
const struct ts_gaps_code *ts_codes_find(struct ts_codes *codes);

/* False: there is no such number. */
bool ts_codes_at(const struct ts_codes *codes, uint32_t number, struct ts_code *ret_code);

/* "preprocess (data.py:31)"; "libm.so.6" where no function is known. Returns the length, cut to n_bytes. */
size_t ts_code_text(const char *function, const char *file, uint32_t line, char *text,
		    size_t n_bytes);
