/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of pictures as text, independent of the locale. Each function writes at most
 * TS_FIGURE_BYTES to `text` and returns it.
 */
#pragma once

#include <stdint.h>

#define TS_FIGURE_BYTES 48

/* "12.35 ms": four digits. */
char *ts_figure_duration(char text[TS_FIGURE_BYTES], uint64_t ns);
/* "12.345678 ms": all digits, in the largest unit that is not above max_ns. */
char *ts_figure_exact(char text[TS_FIGURE_BYTES], uint64_t ns, uint64_t max_ns);
/* "16.00 MiB": four digits. */
char *ts_figure_bytes(char text[TS_FIGURE_BYTES], uint64_t bytes);
/* "16 MiB": without trailing zeros. */
char *ts_figure_round_bytes(char text[TS_FIGURE_BYTES], uint64_t bytes);
/* "1,000,000" */
char *ts_figure_count(char text[TS_FIGURE_BYTES], uint64_t count);
/* "12.3 %" */
char *ts_figure_percent(char text[TS_FIGURE_BYTES], uint64_t part, uint64_t whole);
