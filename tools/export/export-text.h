/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of an export. Each text is kept once and numbered from 0; number 0 is "". The traced
 * program chose the texts of a trace. The kept text is UTF-8 without control characters, which
 * every format accepts.
 */
#pragma once

#include "sbt/intern.h"

struct ts_texts {
	struct ts_intern intern;
	/* of uint64_t: offset of each text in intern.bytes, and the end of the last one */
	struct ts_buffer offs;
	struct ts_buffer clean; /* the current text */
};

void ts_texts_init(struct ts_texts *texts);
void ts_texts_deinit(struct ts_texts *texts);

/*
 * Keeps `text`; invalid UTF-8 and terminal controls become \xNN. NULL is "". Returns 0, -ENOMEM, or
 * -E2BIG: too many texts.
 */
int ts_texts_add(struct ts_texts *texts, const char *text, uint32_t *ret_id);
int ts_texts_addf(struct ts_texts *texts, uint32_t *ret_id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

uint32_t ts_texts_n(const struct ts_texts *texts);
/* Returns a text, not terminated; valid until the next text is added. */
const char *ts_texts_at(const struct ts_texts *texts, uint32_t id, size_t *ret_n_bytes);
