/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleans and interns texts; the exporters call this file. sbt's interner finds a text by its bytes;
 * this file also keeps each text's offset, to find a text by its number.
 */
#include "tools/export/export-text.h"

#include "proto/abi/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>

void ts_texts_init(struct ts_texts *texts)
{
	uint64_t seed = 0;

	/* Without randomness an attacker could make names collide, which costs only time. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = 1;
	*texts = (struct ts_texts){0};
	ts_intern_init(&texts->intern, seed);
}

void ts_texts_deinit(struct ts_texts *texts)
{
	ts_intern_deinit(&texts->intern);
	ts_buffer_deinit(&texts->offs);
	ts_buffer_deinit(&texts->clean);
}

/*
 * Returns the bytes of the UTF-8 sequence at the terminated `text`; 0: malformed or a control
 * character.
 */
static size_t utf8_bytes(const unsigned char *text)
{
	uint32_t point;
	size_t n;

	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	point = text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < 0xa0 || (n == 3 && point < 0x800) || (n == 4 && point < 0x10000) ||
	    (point >= 0xd800 && point < 0xe000) || point > 0x10ffff || point == 0x2028 ||
	    point == 0x2029)
		return 0;
	return n;
}

static int clean_text(struct ts_buffer *clean, const char *text)
{
	char escaped[8];
	int r = 0;

	clean->n = 0;
	while (!r && *text) {
		size_t n = 0, run = 0;

		while (text[run] && (n = utf8_bytes((const unsigned char *)text + run)))
			run += n;
		r = ts_buffer_append(clean, text, run);
		text += run;
		if (r || !*text)
			break;
		r = ts_buffer_append(clean, escaped,
				     (size_t)snprintf(escaped, sizeof(escaped), "\\x%02x",
						      (unsigned char)*text++));
	}
	return r;
}

static uint64_t off_at(const struct ts_texts *texts, uint32_t i)
{
	uint64_t off;

	memcpy(&off, texts->offs.bytes + i * sizeof(off), sizeof(off));
	return off;
}

int ts_texts_add(struct ts_texts *texts, const char *text, uint32_t *ret_id)
{
	uint64_t off = texts->intern.bytes.n;
	uint8_t *reserved;
	uint32_t id;
	bool is_new;
	int r;

	if (!text || !*text) {
		*ret_id = 0;
		return 0;
	}
	r = clean_text(&texts->clean, text);
	if (!r && texts->clean.n > UINT32_MAX)
		r = -E2BIG;
	if (!r)
		r = ts_buffer_reserve(&texts->offs, 2 * sizeof(off), &reserved);
	if (!r)
		r = ts_intern(&texts->intern, texts->clean.bytes, (uint32_t)texts->clean.n, &id,
			      &is_new);
	if (r)
		return r == -EOVERFLOW ? -E2BIG : r;
	if (is_new) {
		if (texts->intern.bytes.n != off + texts->clean.n)
			return -E2BIG;
		if (!texts->offs.n)
			ts_buffer_append(&texts->offs, &off, sizeof(off));
		off = texts->intern.bytes.n;
		ts_buffer_append(&texts->offs, &off, sizeof(off));
	}
	*ret_id = id;
	return 0;
}

int ts_texts_addf(struct ts_texts *texts, uint32_t *ret_id, const char *format, ...)
{
	ts_cleanup(ts_freep) char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return ts_texts_add(texts, text, ret_id);
}

uint32_t ts_texts_n(const struct ts_texts *texts)
{
	return texts->intern.last_id + 1;
}

const char *ts_texts_at(const struct ts_texts *texts, uint32_t id, size_t *ret_n_bytes)
{
	*ret_n_bytes = id ? off_at(texts, id) - off_at(texts, id - 1) : 0;
	return id ? (const char *)texts->intern.bytes.bytes + off_at(texts, id - 1) : "";
}
