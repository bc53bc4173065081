/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of requests: numbers and lists of numbers in untrusted text. Thread-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a decimal number without sign or blank. Returns 0 or -EINVAL. */
int ts_query_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret_value);

/*
 * Reads numbers with commas between. Returns their count, at most `most`, or -EINVAL: no number,
 * more of them, or not a number of 32 bits.
 */
int ts_query_numbers(const char *text, uint32_t *ret_values, size_t most);

/*
 * Returns true if the C library handles a POSIX extended regular expression with bounded memory and
 * time. Repetitions such as a{9} are copies, and nested ones multiply. Time with references to
 * groups (\1) is exponential.
 */
bool ts_query_is_cheap_regex(const char *text);

/* Returns true if two texts are equal; the time depends on the length of `given` alone. */
bool ts_query_is_secret(const char *secret, const char *given);
