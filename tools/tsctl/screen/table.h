/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables with columns as wide as their contents, fitted to the terminal. Fill a table first, then
 * print it once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ts_table;

/*
 * `columns` has one letter per column:
 *   l, r  cells are left- or right-aligned
 *   L, R  the same; omitted, last one first, if the last column gets too little room
 *   s     left-aligned; shortened on a narrow terminal, as is the last column
 * Returns 0 or -ENOMEM.
 */
int ts_table_new(const char *columns, struct ts_table **ret_table);
void ts_table_free(struct ts_table *table);
void ts_table_freep(struct ts_table **table);
/*
 * Adds the next cell, row by row, and copies the text; NULL is an empty cell. The first row is the
 * heading. Returns 0 or -ENOMEM.
 */
int ts_table_add(struct ts_table *table, const char *text);
int ts_table_addf(struct ts_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds a separate line, over all columns, below the row of the last cell. Returns 0 or -ENOMEM. */
int ts_table_note(struct ts_table *table, const char *text);
/* Prints each row behind `indent` blanks. `wide`: no omissions and no cuts. */
void ts_table_print(const struct ts_table *table, FILE *file, unsigned int indent, bool wide);
