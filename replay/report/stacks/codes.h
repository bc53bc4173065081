/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in which samples lie. replay/state identifies a function by a number (struct
 * ts_gaps_code). The function is the one of the frame that codeplace.h chooses. Not thread-safe;
 * each stack is looked up once.
 */
#pragma once

#include "replay/report/names/resolver.h"
#include "replay/state/gaps/gaps.h"

struct ts_codes;

/* A function. Texts are valid as long as the `ts_codes`. */
struct ts_code {
	const char *function; /* the function's name; if unknown, the file name of its library */
	const char *file;     /* path of the source file; NULL: not known */
	uint32_t line;	      /* line with the most samples; 0: not known */
};

/*
 * Makes an object that has a pointer to the resolver. The caller frees the resolver after the
 * object. Returns 0 or -ENOMEM.
 */
int ts_codes_new(struct ts_resolver *resolver, struct ts_codes **ret_codes);
void ts_codes_free(struct ts_codes *codes);
void ts_codes_freep(struct ts_codes **codes);

/* Returns the object for ts_gaps_options.code. Valid as long as `codes`. */
const struct ts_gaps_code *ts_codes_find(struct ts_codes *codes);

/* Finds a function by its number. Returns false if there is no such number. */
bool ts_codes_at(const struct ts_codes *codes, uint32_t number, struct ts_code *ret_code);

/*
 * Prints "preprocess (data.py:31)", or "libm.so.6" if no function is known. Returns the length; the
 * text is truncated to n_bytes.
 */
size_t ts_code_text(const char *function, const char *file, uint32_t line, char *text,
		    size_t n_bytes);
