/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: text from strangers made safe for a terminal, and figures with units.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of all texts here NULL is an empty one. Prints text with control characters, bidirectional ones too, and bytes that are not UTF-8 escaped as \xNN. */
void ts_out_text(FILE *file, const char *text);
/* The same; where it is longer than `columns`, "..." stands for its middle. 0: all of it. */
void ts_out_text_cut(FILE *file, const char *text, size_t columns);
/* Columns that the text takes. */
size_t ts_out_width(const char *text);
/* The next piece of a text that has not ended: returns its bytes; `shown` is how it is printed, in so many columns. */
size_t ts_out_piece(const char *text, char shown[8], size_t *ret_columns);

#define TS_OUT_FIGURE_BYTES 32

/* Each writes at most TS_OUT_FIGURE_BYTES into `buffer` and returns it. */
char *ts_out_duration(char *buffer, uint64_t ns); /* "12.35 ms": four digits */
char *ts_out_bytes(char *buffer, uint64_t bytes); /* "16.00 MiB" */
char *ts_out_count(char *buffer, uint64_t count); /* "1,000,000" */
#define TS_OUT_COUNTED_BYTES 64
/* A count with its noun: "1 copy", "2,000 copies". `noun` is singular. Writes at most TS_OUT_COUNTED_BYTES. */
char *ts_out_counted(char *buffer, uint64_t count, const char *noun);
/* Nanoseconds with the decimal point at the second: "0.001234567". */
char *ts_out_seconds(char *buffer, uint64_t ns);

#define TS_OUT_THREAD_BYTES 64

/*
 * A thread that a kernel event names: "name/tid"; the name alone if the number is 0, which the recorder kept from the session's
 * user; "" for none. Writes at most TS_OUT_THREAD_BYTES into `buffer` and returns it.
 */
char *ts_out_thread(char *buffer, const char *name, uint32_t tid);
