/* SPDX-License-Identifier: Apache-2.0 */
/* Distance between a mistyped name and a known one. */
#pragma once

#include <stddef.h>

/* A name with a larger distance is not suggested. */
#define TS_NEAR_EDITS 2u

/*
 * Returns how many edits (insert, delete, replace, swap neighbours) turn a into b; SIZE_MAX if one
 * is longer than 64 bytes.
 */
size_t ts_edit_distance(const char *a, const char *b);
