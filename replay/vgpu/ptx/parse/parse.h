/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parser's files: parse.c (modules) and parse-body.c (bodies) call declare.c
 * (declarations).
 */
#pragma once

#include "replay/vgpu/ptx/parse/lex.h"

struct ts_ptx_parser {
	struct ts_ptx_lexer lexer;
	struct ts_ptx_token tok;
	struct ts_ptx_module *module;
	struct ts_ptx_func *func; /* function whose header or body is parsed */
	uint32_t scope;
	uint32_t source_line, source_file;
	struct ts_ptx_error *error;
};

enum ts_ptx_name_kind {
	NAME_REGS,
	NAME_VAR
};

struct ts_ptx_name {
	enum ts_ptx_name_kind kind;
	struct ts_ptx_regs regs;
	struct ts_ptx_var *var;
};

static inline void ts_ptx_next(struct ts_ptx_parser *p)
{
	ts_ptx_lex(&p->lexer, &p->tok);
}

static inline bool ts_ptx_at(const struct ts_ptx_parser *p, char c)
{
	return p->tok.kind == TOKEN_PUNCT && *p->tok.text == c;
}

static inline bool ts_ptx_accept(struct ts_ptx_parser *p, char c)
{
	if (!ts_ptx_at(p, c))
		return false;
	ts_ptx_next(p);
	return true;
}

bool ts_ptx_at_word(const struct ts_ptx_parser *p, const char *word);
bool ts_ptx_accept_word(struct ts_ptx_parser *p, const char *word);
int ts_ptx_expect(struct ts_ptx_parser *p, char c);
int ts_ptx_unexpected(struct ts_ptx_parser *p, const char *wanted);
int ts_ptx_take_uint(struct ts_ptx_parser *p, uint64_t max, uint64_t *ret_value);
int ts_ptx_take_name(struct ts_ptx_parser *p, const char **ret_name);
int ts_ptx_add_symbol(struct ts_ptx_parser *p, const char *name, struct ts_ptx_func *func,
		      struct ts_ptx_var *var);
void ts_ptx_skip_line(struct ts_ptx_parser *p);

/* Parses a declaration behind its space's directive, including ';'. */
int ts_ptx_parse_vars(struct ts_ptx_parser *p, enum ts_ptx_space space,
		      enum ts_ptx_linkage linkage);
/* Parses one formal parameter. */
int ts_ptx_parse_param(struct ts_ptx_parser *p, struct ts_ptx_var **ret_var);
int ts_ptx_declare(struct ts_ptx_parser *p, const char *name, const struct ts_ptx_name *what);
int ts_ptx_new_regs(struct ts_ptx_parser *p, enum ts_ptx_type type, const char *name, bool is_range,
		    uint32_t count, uint32_t *ret_first);
int ts_ptx_parse_body(struct ts_ptx_parser *p);
