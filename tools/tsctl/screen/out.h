/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: makes untrusted text safe for a terminal, and formats figures with units. A
 * NULL text counts as empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints text. Control characters, bidirectional controls and bytes that are not UTF-8 are escaped
 * as \xNN.
 */
void ts_out_text(FILE *file, const char *text);
/*
 * Like ts_out_text(). If the text is longer than `columns`, "..." replaces its middle. `columns` 0:
 * no limit.
 */
void ts_out_text_cut(FILE *file, const char *text, size_t columns);
/* Returns the printed width in columns. */
size_t ts_out_width(const char *text);
/*
 * Returns the bytes of the text's next piece. The text must not be at its end. `shown` is the
 * printed form and *ret_columns its width.
 */
size_t ts_out_piece(const char *text, char shown[8], size_t *ret_columns);

#define TS_OUT_FIGURE_BYTES 32

/* Each writes at most TS_OUT_FIGURE_BYTES into `buffer` and returns it. */
char *ts_out_duration(char *buffer, uint64_t ns); /* "12.35 ms": four digits */
char *ts_out_bytes(char *buffer, uint64_t bytes); /* "16.00 MiB" */
char *ts_out_count(char *buffer, uint64_t count); /* "1,000,000" */
#define TS_OUT_COUNTED_BYTES 64
/*
 * Writes a count with its noun: "1 copy", "2,000 copies". `noun` is singular. At most
 * TS_OUT_COUNTED_BYTES.
 */
char *ts_out_counted(char *buffer, uint64_t count, const char *noun);
/* Writes nanoseconds as seconds: "0.001234567". */
char *ts_out_seconds(char *buffer, uint64_t ns);

#define TS_OUT_THREAD_BYTES 64

/*
 * Writes a thread of a kernel event: "name/tid"; only the name if the number is 0, because the
 * recorder hid it from the session's user; "" for none. At most TS_OUT_THREAD_BYTES. Returns
 * `buffer`.
 */
char *ts_out_thread(char *buffer, const char *name, uint32_t tid);
