// SPDX-License-Identifier: Apache-2.0
/*
 * Parses PTX modules: directives and headers of functions. declare.c parses variables, parse-body.c
 * parses bodies. Nesting is limited and sizes are checked. An unknown construct is an error that
 * names it. vgpu-module.c calls ts_ptx_module_parse().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/ptx/parse/parse.h"

static int skip_block(struct ts_ptx_parser *p)
{
	unsigned depth = 0;

	do {
		if (p->tok.kind == TOKEN_END)
			return ts_ptx_unexpected(p, "'}'");
		if (ts_ptx_at(p, '{'))
			depth++;
		else if (ts_ptx_at(p, '}'))
			depth--;
		ts_ptx_next(p);
	} while (depth);
	return 0;
}

static int parse_params(struct ts_ptx_parser *p, struct ts_ptx_var **list, uint32_t *ret_n)
{
	uint32_t n = 0;
	int r = ts_ptx_expect(p, '(');

	if (r || ts_ptx_accept(p, ')'))
		return r;
	do {
		r = ts_ptx_parse_param(p, list);
		if (r)
			return r;
		list = &(*list)->next;
		if (++n > 4096)
			return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
					   "line %u: too many parameters", p->tok.line);
	} while (ts_ptx_accept(p, ','));
	*ret_n = n;
	return ts_ptx_expect(p, ')');
}

static int parse_triple(struct ts_ptx_parser *p, uint32_t triple[3])
{
	uint64_t value = 0;
	int r = 0;

	triple[0] = triple[1] = triple[2] = 1;
	for (int i = 0; i < 3 && !r; i++) {
		r = ts_ptx_take_uint(p, 1u << 16, &value);
		triple[i] = r ? 0 : (uint32_t)value;
		if (!ts_ptx_accept(p, ','))
			break;
	}
	return r;
}

/* Parses the performance directives between a function's header and its body. */
static int parse_func_directives(struct ts_ptx_parser *p, struct ts_ptx_func *f)
{
	uint32_t triple[3];
	uint64_t value = 0;
	int r = 0;

	while (!r && p->tok.kind == TOKEN_DIRECTIVE) {
		if (ts_ptx_accept_word(p, ".maxntid")) {
			r = parse_triple(p, triple);
			f->max_threads = r ? 0 : triple[0] * triple[1] * triple[2];
		} else if (ts_ptx_accept_word(p, ".reqntid")) {
			r = parse_triple(p, f->required);
			f->max_threads = f->required[0] * f->required[1] * f->required[2];
		} else if (ts_ptx_accept_word(p, ".reqnctapercluster")) {
			r = parse_triple(p, f->cluster);
		} else if (ts_ptx_accept_word(p, ".minnctapersm") ||
			   ts_ptx_accept_word(p, ".maxnctapersm")) {
			r = ts_ptx_take_uint(p, UINT32_MAX, &value);
			f->min_blocks = r ? 0 : (uint32_t)value;
		} else if (ts_ptx_accept_word(p, ".maxnreg") ||
			   ts_ptx_accept_word(p, ".maxclusterrank") ||
			   ts_ptx_accept_word(p, ".abi_preserve") ||
			   ts_ptx_accept_word(p, ".abi_preserve_control")) {
			r = ts_ptx_take_uint(p, UINT32_MAX, &value);
		} else if (ts_ptx_accept_word(p, ".pragma")) {
			while (p->tok.kind == TOKEN_STRING || ts_ptx_at(p, ','))
				ts_ptx_next(p);
			r = ts_ptx_expect(p, ';');
		} else if (ts_ptx_accept_word(p, ".noreturn") || ts_ptx_accept_word(p, ".unique") ||
			   ts_ptx_accept_word(p, ".explicitcluster")) {
			continue;
		} else if (ts_ptx_at_word(p, ".loc")) {
			ts_ptx_skip_line(p);
		} else {
			return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
					   "line %u: unknown directive %.*s of function %s",
					   p->tok.line, (int)p->tok.n, p->tok.text, f->name);
		}
	}
	return r;
}

/*
 * Computes the offsets of the kernel's parameters, which lie in order, each with its own alignment.
 */
static int layout_params(struct ts_ptx_parser *p, struct ts_ptx_func *f)
{
	uint64_t at = 0;

	for (struct ts_ptx_var *v = f->params; v; v = v->next) {
		at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
		v->offset = at;
		at += v->bytes;
	}
	if (at > TS_PTX_MAX_PARAM_BYTES)
		return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, f->line,
				   "line %u: %s takes more than %d bytes of parameters", f->line,
				   f->name, TS_PTX_MAX_PARAM_BYTES);
	f->params_bytes = (uint32_t)at;
	return 0;
}

static int add_func(struct ts_ptx_parser *p, struct ts_ptx_func *f)
{
	struct ts_ptx_symbol *old =
		ts_ptx_map_get(&p->module->symbols, f->name, strlen(f->name), 0);

	if (old && (!old->func || (old->func->defined && f->defined)))
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, f->line,
				   "line %u: %s is defined twice", f->line, f->name);
	if (old && old->func->linkage != LINK_NONE && f->linkage == LINK_NONE)
		f->linkage = old->func->linkage;
	*p->module->funcs_end = f;
	p->module->funcs_end = &f->next;
	return old && !f->defined ? 0 : ts_ptx_add_symbol(p, f->name, f, NULL);
}

static int parse_func(struct ts_ptx_parser *p, enum ts_ptx_linkage linkage, bool entry)
{
	struct ts_ptx_func *f = ts_ptx_arena_get(&p->module->arena, sizeof(*f));
	uint32_t scope = 0;
	int r = 0;

	if (!f)
		return -ENOMEM;
	f->entry = entry;
	f->linkage = linkage;
	f->name = "(unnamed)";
	p->func = f;
	p->scope = 0;
	while (ts_ptx_accept_word(p, ".noreturn") || ts_ptx_accept_word(p, ".unique"))
		continue;
	if (ts_ptx_accept_word(p, ".attribute"))
		r = ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
				"line %u: attributes of functions are not supported", p->tok.line);
	if (!r && !entry && ts_ptx_at(p, '('))
		r = parse_params(p, &f->returns, &f->n_returns);
	f->line = p->tok.line;
	if (!r)
		r = ts_ptx_take_name(p, &f->name);
	if (!r && ts_ptx_at(p, '('))
		r = parse_params(p, &f->params, &f->n_params);
	if (!r)
		r = layout_params(p, f);
	if (!r)
		r = parse_func_directives(p, f);
	if (!r && ts_ptx_at(p, '{')) {
		f->defined = true;
		/*
		 * Add the function before its body is parsed, because the body may call the
		 * function.
		 */
		r = add_func(p, f);
		if (!r)
			r = ts_ptx_parse_body(p);
	} else if (!r) {
		r = ts_ptx_expect(p, ';');
		if (!r)
			r = add_func(p, f);
	}
	ts_ptx_map_deinit(&f->names);
	/* If the function is not in the module's list, free its memory outside the arena here. */
	if (r) {
		struct ts_ptx_func *g = p->module->funcs;

		while (g && g != f)
			g = g->next;
		if (!g) {
			ts_ptx_map_deinit(&f->labels);
			free(f->regs);
			free(f->stmts);
			free(f->scopes);
		}
	}
	p->func = NULL;
	p->scope = scope;
	return r;
}

static int parse_file(struct ts_ptx_parser *p)
{
	struct ts_ptx_file *file = ts_ptx_arena_get(&p->module->arena, sizeof(*file));
	uint64_t number = 0;
	int r;

	if (!file)
		return -ENOMEM;
	ts_ptx_next(p);
	r = ts_ptx_take_uint(p, UINT32_MAX, &number);
	if (r)
		return r;
	if (p->tok.kind != TOKEN_STRING)
		return ts_ptx_unexpected(p, "a file name");
	file->number = (uint32_t)number;
	file->path = ts_ptx_arena_string(&p->module->arena, p->tok.text, p->tok.n);
	if (!file->path)
		return -ENOMEM;
	file->next = p->module->files;
	p->module->files = file;
	ts_ptx_skip_line(p);
	return 0;
}

static int parse_alias(struct ts_ptx_parser *p)
{
	struct ts_ptx_symbol *s;
	const char *name = NULL, *target = NULL;
	int r;

	ts_ptx_next(p);
	if ((r = ts_ptx_take_name(p, &name)) || (r = ts_ptx_expect(p, ',')) ||
	    (r = ts_ptx_take_name(p, &target)) || (r = ts_ptx_expect(p, ';')))
		return r;
	s = ts_ptx_map_get(&p->module->symbols, name, strlen(name), 0);
	if (!s || !s->func || s->func->defined)
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: %s, the name of an alias, is not a function without a "
				   "body",
				   p->tok.line, name);
	s->func->alias = target;
	return 0;
}

static int parse_header(struct ts_ptx_parser *p)
{
	if (!ts_ptx_at_word(p, ".version"))
		return ts_ptx_unexpected(p, ".version");
	ts_ptx_next(p);
	if (p->tok.kind != TOKEN_FLOAT || p->tok.n < 3)
		return ts_ptx_unexpected(p, "a version");
	p->module->version = (uint32_t)strtoul(p->tok.text, NULL, 10) * 10 +
			     (uint32_t)(p->tok.text[p->tok.n - 1] - '0');
	ts_ptx_next(p);
	if (!ts_ptx_at_word(p, ".target"))
		return ts_ptx_unexpected(p, ".target");
	ts_ptx_next(p);
	if (p->tok.kind == TOKEN_WORD && p->tok.n > 3 && !memcmp(p->tok.text, "sm_", 3))
		p->module->sm = (uint32_t)strtoul(p->tok.text + 3, NULL, 10);
	ts_ptx_skip_line(p);
	/* PTX before 2.3 has no such directive: the compiler's option decided. */
	if (p->module->version < 23 && !ts_ptx_at_word(p, ".address_size"))
		return 0;
	if (!ts_ptx_accept_word(p, ".address_size"))
		return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
				   "line %u: 32-bit addresses are not supported (no .address_size "
				   "64)",
				   p->tok.line);
	if (p->tok.kind != TOKEN_INTEGER || p->tok.value != 64)
		return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
				   "line %u: the address size must be 64", p->tok.line);
	ts_ptx_next(p);
	return 0;
}

static int parse_toplevel(struct ts_ptx_parser *p)
{
	enum ts_ptx_linkage linkage = LINK_NONE;

	if (p->tok.kind != TOKEN_DIRECTIVE)
		return ts_ptx_unexpected(p, "a directive");
	if (ts_ptx_at_word(p, ".file"))
		return parse_file(p);
	if (ts_ptx_at_word(p, ".alias"))
		return parse_alias(p);
	if (ts_ptx_at_word(p, ".loc")) {
		ts_ptx_skip_line(p);
		return 0;
	}
	if (ts_ptx_accept_word(p, ".pragma")) {
		while (p->tok.kind == TOKEN_STRING || ts_ptx_at(p, ','))
			ts_ptx_next(p);
		return ts_ptx_expect(p, ';');
	}
	if (ts_ptx_accept_word(p, ".section")) {
		ts_ptx_next(p);
		return ts_ptx_at(p, '{') ? skip_block(p) : ts_ptx_unexpected(p, "'{'");
	}
	if (ts_ptx_accept_word(p, ".visible"))
		linkage = LINK_VISIBLE;
	else if (ts_ptx_accept_word(p, ".weak"))
		linkage = LINK_WEAK;
	else if (ts_ptx_accept_word(p, ".common"))
		linkage = LINK_COMMON;
	else if (ts_ptx_accept_word(p, ".extern"))
		linkage = LINK_EXTERN;
	if (ts_ptx_accept_word(p, ".func"))
		return parse_func(p, linkage, false);
	if (ts_ptx_accept_word(p, ".entry"))
		return parse_func(p, linkage, true);
	if (ts_ptx_accept_word(p, ".global"))
		return ts_ptx_parse_vars(p, SP_GLOBAL, linkage);
	if (ts_ptx_accept_word(p, ".const"))
		return ts_ptx_parse_vars(p, SP_CONST, linkage);
	if (ts_ptx_accept_word(p, ".shared"))
		return ts_ptx_parse_vars(p, SP_SHARED, linkage);
	return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line, "line %u: directive %.*s",
			   p->tok.line, (int)p->tok.n, p->tok.text);
}

int ts_ptx_module_parse(const char *text, size_t n_bytes, struct ts_ptx_module **ret_module,
			struct ts_ptx_error *error)
{
	struct ts_ptx_parser p = {.lexer = {text, text + n_bytes, 1}, .error = error};
	int r;

	if (error)
		*error = (struct ts_ptx_error){0};
	if (n_bytes > TS_PTX_MAX_TEXT_BYTES)
		return ts_ptx_fail(error, TS_PTX_E_LIMIT, 0, "the text is longer than %d bytes",
				   TS_PTX_MAX_TEXT_BYTES);
	p.module = calloc(1, sizeof(*p.module));
	if (!p.module)
		return -ENOMEM;
	p.module->funcs_end = &p.module->funcs;
	p.module->vars_end = &p.module->vars;
	ts_ptx_next(&p);
	r = parse_header(&p);
	while (!r && p.tok.kind != TOKEN_END)
		r = parse_toplevel(&p);
	if (r) {
		ts_ptx_module_free(p.module);
		return r;
	}
	*ret_module = p.module;
	return 0;
}

void ts_ptx_module_free(struct ts_ptx_module *module)
{
	if (!module)
		return;
	for (struct ts_ptx_func *f = module->funcs; f; f = f->next) {
		ts_ptx_map_deinit(&f->labels);
		ts_ptx_map_deinit(&f->names);
		free(f->regs);
		free(f->stmts);
		free(f->scopes);
	}
	ts_ptx_map_deinit(&module->symbols);
	ts_ptx_arena_deinit(&module->arena);
	free(module);
}
