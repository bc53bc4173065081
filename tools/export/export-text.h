/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of an export: each kept once and numbered from 0, which is "". What comes from a trace is whatever the traced
 * program chose; what is kept is UTF-8 without control characters, which every format takes.
 */
#pragma once

#include "sbt/intern.h"

struct ts_texts {
	struct ts_intern intern;
	struct ts_buffer
		offs; /* of uint64_t: where each lies in intern.bytes, and where the last ends */
	struct ts_buffer clean; /* the one at hand */
};

void ts_texts_init(struct ts_texts *texts);
void ts_texts_deinit(struct ts_texts *texts);

/*
 * Keeps `text`, with what is no UTF-8 or controls a terminal as \xNN; NULL is "". 0, -ENOMEM, or -E2BIG: there are
 * too many.
 */
int ts_texts_add(struct ts_texts *texts, const char *text, uint32_t *ret_id);
int ts_texts_addf(struct ts_texts *texts, uint32_t *ret_id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

uint32_t ts_texts_n(const struct ts_texts *texts);
/* Not terminated; valid until the next text comes. */
const char *ts_texts_at(const struct ts_texts *texts, uint32_t id, size_t *ret_n_bytes);
