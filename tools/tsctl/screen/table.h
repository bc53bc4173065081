/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables whose columns are as wide as what is in them, fitted to the terminal. A table is filled first and printed once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ts_table;

/*
 * `columns`: a letter each.
 *   l, r  cells lean to the left or right
 *   L, R  the same; left out, the last one first, where a terminal leaves too little room for the last column
 *   s     leans to the left; cut where a terminal is too narrow, as the last column is
 */
int ts_table_new(const char *columns, struct ts_table **ret_table);
void ts_table_free(struct ts_table *table);
void ts_table_freep(struct ts_table **table);
/* Adds the next cell, row by row; the text is copied, NULL is an empty one. The first row is the heading. -ENOMEM. */
int ts_table_add(struct ts_table *table, const char *text);
int ts_table_addf(struct ts_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds a line of its own behind the row of the last cell, over all columns. -ENOMEM. */
int ts_table_note(struct ts_table *table, const char *text);
/* Prints each row behind `indent` blanks. `wide`: what does not fit the terminal is printed all the same. */
void ts_table_print(const struct ts_table *table, FILE *file, unsigned int indent, bool wide);
