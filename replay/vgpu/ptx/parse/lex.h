/* SPDX-License-Identifier: Apache-2.0 */
/* Splits PTX text into tokens, with their lines. */
#pragma once

#include "replay/vgpu/ptx/parse/syntax.h"

enum ts_ptx_token_kind {
	TOKEN_END,
	TOKEN_WORD,	 /* name, %name, opcode: letters, digits, '_', '$', '%', and inner dots */
	TOKEN_DIRECTIVE, /* .name */
	TOKEN_INTEGER,
	TOKEN_FLOAT, /* value: bits of a double, or of a float if single is set */
	TOKEN_STRING,
	TOKEN_PUNCT, /* text[0] */
	TOKEN_BAD,
};

struct ts_ptx_token {
	enum ts_ptx_token_kind kind;
	bool single;
	uint32_t line;
	uint32_t n;
	const char *text;
	uint64_t value;
};

struct ts_ptx_lexer {
	const char *at, *end;
	uint32_t line;
};

void ts_ptx_lex(struct ts_ptx_lexer *lexer, struct ts_ptx_token *ret_token);
