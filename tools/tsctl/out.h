/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: text from strangers made safe for a terminal, figures with units, and tables whose
 * columns are as wide as what is in them. A table is filled first and printed once.
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

#define TS_OUT_FIGURE_BYTES 32

/* Each writes at most TS_OUT_FIGURE_BYTES into `buffer` and returns it. */
char *ts_out_duration(char *buffer, uint64_t ns); /* "12.35 ms": four digits */
char *ts_out_bytes(char *buffer, uint64_t bytes); /* "16.00 MiB" */
char *ts_out_count(char *buffer, uint64_t count); /* "1,000,000" */
/* Nanoseconds with the decimal point at the second: "0.001234567". */
char *ts_out_seconds(char *buffer, uint64_t ns);

#define TS_OUT_THREAD_BYTES 64

/*
 * A thread that a kernel event names: "name/tid"; the name alone if the number is 0, which the recorder kept from the session's
 * user; "" for none. Writes at most TS_OUT_THREAD_BYTES into `buffer` and returns it.
 */
char *ts_out_thread(char *buffer, const char *name, uint32_t tid);

struct ts_table;

/* `columns`: a letter each, l or r for the side that cells lean to. Of the last a terminal may see the ends only. */
int ts_table_new(const char *columns, struct ts_table **ret_table);
void ts_table_free(struct ts_table *table);
void ts_table_freep(struct ts_table **table);
/* Adds the next cell, row by row; the text is copied. The first row is the heading. -ENOMEM. */
int ts_table_add(struct ts_table *table, const char *text);
int ts_table_addf(struct ts_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints each row behind `indent` blanks. `wide`: what does not fit the terminal is printed all the same. */
void ts_table_print(const struct ts_table *table, FILE *file, unsigned int indent, bool wide);
