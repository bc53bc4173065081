// SPDX-License-Identifier: Apache-2.0
/*
 * Splits PTX text into tokens for the parser. An opcode with its modifiers ("ld.global.v4.u32",
 * "fence.proxy.async::generic") is one word, and so is a register with a component ("%tid.x"). The
 * parser and the decoder split them.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/ptx/parse/lex.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static void skip_blank(struct ts_ptx_lexer *l)
{
	while (l->at < l->end) {
		char c = *l->at;

		if (c == '\n') {
			l->line++;
			l->at++;
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			l->at++;
		} else if (c == '/' && l->end - l->at > 1 && l->at[1] == '/') {
			while (l->at < l->end && *l->at != '\n')
				l->at++;
		} else if (c == '/' && l->end - l->at > 1 && l->at[1] == '*') {
			l->at += 2;
			while (l->at < l->end &&
			       !(*l->at == '*' && l->end - l->at > 1 && l->at[1] == '/'))
				l->line += *l->at++ == '\n';
			l->at = l->end - l->at > 1 ? l->at + 2 : l->end;
		} else {
			return;
		}
	}
}

/* Reads 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX: the bits of a float or double. */
static bool lex_bits(struct ts_ptx_lexer *l, struct ts_ptx_token *t)
{
	const char *p = l->at;
	size_t n;

	if (l->end - p < 10 || p[0] != '0')
		return false;
	n = p[1] == 'f' || p[1] == 'F' ? 8 : p[1] == 'd' || p[1] == 'D' ? 16 : 0;
	if (!n || (size_t)(l->end - p) < n + 2)
		return false;
	t->value = 0;
	for (size_t i = 0; i < n; i++) {
		int d = digit(p[2 + i]);

		if (d > 15)
			return false;
		t->value = t->value << 4 | (unsigned)d;
	}
	t->kind = TOKEN_FLOAT;
	t->single = n == 8;
	l->at += n + 2;
	return true;
}

static bool lex_decimal_float(struct ts_ptx_lexer *l, struct ts_ptx_token *t)
{
	char text[64];
	const char *p = l->at;
	size_t n = 0;
	bool is_float = false;
	double value;

	while (p < l->end && is_digit(*p))
		p++;
	if (p < l->end && *p == '.') {
		is_float = true;
		for (p++; p < l->end && is_digit(*p);)
			p++;
	}
	if (p < l->end && (*p == 'e' || *p == 'E')) {
		const char *q = p + 1;

		if (q < l->end && (*q == '+' || *q == '-'))
			q++;
		if (q < l->end && is_digit(*q)) {
			is_float = true;
			while (q < l->end && is_digit(*q))
				q++;
			p = q;
		}
	}
	n = (size_t)(p - l->at);
	if (!is_float || n >= sizeof(text))
		return false;
	memcpy(text, l->at, n);
	text[n] = 0;
	value = strtod(text, NULL);
	memcpy(&t->value, &value, sizeof(value));
	t->kind = TOKEN_FLOAT;
	t->single = false;
	l->at = p;
	return true;
}

static void lex_number(struct ts_ptx_lexer *l, struct ts_ptx_token *t)
{
	unsigned base = 10;

	if (lex_bits(l, t) || lex_decimal_float(l, t))
		return;
	if (*l->at == '0' && l->end - l->at > 1) {
		char c = l->at[1];

		base = c == 'x' || c == 'X' ? 16 : c == 'b' || c == 'B' ? 2 : 8;
		l->at += base == 8 ? 1 : 2;
	}
	t->kind = TOKEN_INTEGER;
	t->value = 0;
	while (l->at < l->end && digit(*l->at) < (int)base)
		t->value = t->value * base + (unsigned)digit(*l->at++);
	if (l->at < l->end && *l->at == 'U')
		l->at++;
	if (l->at < l->end && is_word(*l->at))
		t->kind = TOKEN_BAD;
}

static void lex_word(struct ts_ptx_lexer *l)
{
	while (l->at < l->end) {
		ptrdiff_t left = l->end - l->at;

		if (is_word(*l->at))
			l->at++;
		else if (*l->at == '.' && left > 1 && is_word(l->at[1]))
			l->at += 2;
		else if (left > 2 && l->at[0] == ':' && l->at[1] == ':' && is_word(l->at[2]))
			l->at += 3;
		else
			return;
	}
}

static void lex_string(struct ts_ptx_lexer *l, struct ts_ptx_token *t)
{
	t->kind = TOKEN_STRING;
	t->text = ++l->at;
	while (l->at < l->end && *l->at != '"' && *l->at != '\n')
		l->at += *l->at == '\\' && l->end - l->at > 1 && l->at[1] != '\n' ? 2 : 1;
	t->n = (uint32_t)(l->at - t->text);
	if (l->at < l->end && *l->at == '"')
		l->at++;
	else
		t->kind = TOKEN_BAD;
}

void ts_ptx_lex(struct ts_ptx_lexer *l, struct ts_ptx_token *t)
{
	char c;

	skip_blank(l);
	*t = (struct ts_ptx_token){.line = l->line, .text = l->at};
	if (l->at >= l->end || !*l->at) {
		t->kind = TOKEN_END;
		return;
	}
	c = *l->at;
	if (c == '"') {
		lex_string(l, t);
		return;
	}
	if (is_digit(c)) {
		lex_number(l, t);
	} else if (is_word(c)) {
		t->kind = TOKEN_WORD;
		lex_word(l);
	} else if (c == '.' && l->end - l->at > 1 && is_word(l->at[1])) {
		t->kind = TOKEN_DIRECTIVE;
		l->at++;
		while (l->at < l->end && is_word(*l->at))
			l->at++;
	} else {
		t->kind = strchr("{}()[]<>,;:=+-!@|*&~^?/", c) ? TOKEN_PUNCT : TOKEN_BAD;
		l->at++;
	}
	t->n = (uint32_t)(l->at - t->text);
}
