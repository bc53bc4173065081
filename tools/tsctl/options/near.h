/* SPDX-License-Identifier: Apache-2.0 */
/* How far a mistyped name is from another. */
#pragma once

#include <stddef.h>

/* A name that is farther from the one that was typed is not suggested. */
#define TS_NEAR_EDITS 2u

/*
 * Returns how many edits (insert, delete, replace, swap neighbours) turn a into b; SIZE_MAX if one
 * is longer than 64 bytes.
 */
size_t ts_edit_distance(const char *a, const char *b);
