// SPDX-License-Identifier: Apache-2.0
/*
 * Parser of declarations: words and numbers, declared names, registers, variables with their
 * initialisers. parse.c and parse-body.c call this file; this file calls lex.c for tokens.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/ptx/parse/parse.h"

bool ts_ptx_at_word(const struct ts_ptx_parser *p, const char *word)
{
	return (p->tok.kind == TOKEN_WORD || p->tok.kind == TOKEN_DIRECTIVE) &&
	       strlen(word) == p->tok.n && !memcmp(word, p->tok.text, p->tok.n);
}

bool ts_ptx_accept_word(struct ts_ptx_parser *p, const char *word)
{
	if (!ts_ptx_at_word(p, word))
		return false;
	ts_ptx_next(p);
	return true;
}

int ts_ptx_unexpected(struct ts_ptx_parser *p, const char *wanted)
{
	if (p->tok.kind == TOKEN_END)
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: the text ends before the expected %s", p->tok.line,
				   wanted);
	return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
			   "line %u: %s expected before \"%.*s\"", p->tok.line, wanted,
			   (int)(p->tok.n < 60 ? p->tok.n : 60), p->tok.text);
}

int ts_ptx_expect(struct ts_ptx_parser *p, char c)
{
	char wanted[] = {'\'', c, '\'', 0};

	return ts_ptx_accept(p, c) ? 0 : ts_ptx_unexpected(p, wanted);
}

int ts_ptx_take_uint(struct ts_ptx_parser *p, uint64_t max, uint64_t *ret_value)
{
	if (p->tok.kind != TOKEN_INTEGER)
		return ts_ptx_unexpected(p, "a number");
	if (p->tok.value > max)
		return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
				   "line %u: %.*s is larger than the limit of %llu", p->tok.line,
				   (int)p->tok.n, p->tok.text, (unsigned long long)max);
	*ret_value = p->tok.value;
	ts_ptx_next(p);
	return 0;
}

int ts_ptx_take_name(struct ts_ptx_parser *p, const char **ret_name)
{
	char *name;

	if (p->tok.kind != TOKEN_WORD)
		return ts_ptx_unexpected(p, "a name");
	name = ts_ptx_arena_string(&p->module->arena, p->tok.text, p->tok.n);
	if (!name)
		return -ENOMEM;
	ts_ptx_next(p);
	*ret_name = name;
	return 0;
}

/* Skips the rest of the line. Directives such as .loc and .target end with their line. */
void ts_ptx_skip_line(struct ts_ptx_parser *p)
{
	uint32_t line = p->tok.line;

	while (p->tok.kind != TOKEN_END && p->tok.line == line)
		ts_ptx_next(p);
}

int ts_ptx_declare(struct ts_ptx_parser *p, const char *name, const struct ts_ptx_name *what)
{
	struct ts_ptx_name *entry;

	if (ts_ptx_map_get(&p->func->names, name, strlen(name), p->scope))
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: %s is declared twice", p->tok.line, name);
	entry = ts_ptx_arena_get(&p->module->arena, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = *what;
	return ts_ptx_map_put(&p->func->names, name, strlen(name), p->scope, entry);
}

int ts_ptx_new_regs(struct ts_ptx_parser *p, enum ts_ptx_type type, const char *name, bool is_range,
		    uint32_t count, uint32_t *ret_first)
{
	struct ts_ptx_func *f = p->func;

	if (count > TS_PTX_MAX_REGISTERS - f->n_regs)
		return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
				   "line %u: %s declares more than %d registers", p->tok.line,
				   f->name, TS_PTX_MAX_REGISTERS);
	if (TS_GROW(f->regs, f->regs_capacity, f->n_regs + count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		f->regs[f->n_regs + i] = (struct ts_ptx_reg){.type = type,
							     .number = i,
							     .name = name,
							     .is_range = is_range};
	*ret_first = f->n_regs;
	f->n_regs += count;
	return 0;
}

static int take_type(struct ts_ptx_parser *p, enum ts_ptx_type *ret_type)
{
	enum ts_ptx_type type = TY_NONE;

	if (p->tok.kind == TOKEN_DIRECTIVE)
		type = ts_ptx_type_of(p->tok.text + 1, p->tok.n - 1);
	if (type == TY_NONE || ts_ptx_types[type].klass == 'x')
		return ts_ptx_unexpected(p, "a type");
	ts_ptx_next(p);
	*ret_type = type;
	return 0;
}

/* Parses [.attribute(...)] [.align N] [.v2|.v4] .type [.ptr [.space] [.align N]] */
static int parse_var_head(struct ts_ptx_parser *p, struct ts_ptx_var *v, uint32_t *ret_vector)
{
	uint64_t align = 0;
	int r;

	*ret_vector = 1;
	for (;;) {
		if (ts_ptx_accept_word(p, ".attribute")) {
			r = ts_ptx_expect(p, '(');
			while (!r && !ts_ptx_at(p, ')')) {
				if (ts_ptx_at_word(p, ".managed"))
					v->managed = true;
				else if (p->tok.kind == TOKEN_END)
					return ts_ptx_unexpected(p, "')'");
				ts_ptx_next(p);
			}
			if (r || (r = ts_ptx_expect(p, ')')))
				return r;
		} else if (ts_ptx_accept_word(p, ".align")) {
			r = ts_ptx_take_uint(p, 1u << 16, &align);
			if (r)
				return r;
			if (!align || (align & (align - 1)))
				return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
						   "line %u: an alignment must be a power of two",
						   p->tok.line);
		} else if (ts_ptx_accept_word(p, ".v2")) {
			*ret_vector = 2;
		} else if (ts_ptx_accept_word(p, ".v4")) {
			*ret_vector = 4;
		} else {
			break;
		}
	}
	r = take_type(p, &v->type);
	if (r)
		return r;
	if (v->type == TY_PRED && v->space != SP_REG)
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: predicates have no memory", p->tok.line);
	v->align = align ? (uint32_t)align : ts_ptx_types[v->type].bytes * *ret_vector;
	if (ts_ptx_accept_word(p, ".ptr")) {
		uint64_t unused;

		while (p->tok.kind == TOKEN_DIRECTIVE) {
			bool is_align = ts_ptx_at_word(p, ".align");

			ts_ptx_next(p);
			if (is_align && (r = ts_ptx_take_uint(p, UINT32_MAX, &unused)))
				return r;
		}
	}
	return 0;
}

/*
 * Parses the name and the dimensions of a variable: name [dims]. Sets bytes and unsized. The first
 * dimension may be empty; ret_inner is the size of one of its elements.
 */
static int parse_var_tail(struct ts_ptx_parser *p, struct ts_ptx_var *v, uint32_t vector,
			  uint64_t *ret_inner)
{
	uint64_t bytes = (uint64_t)ts_ptx_types[v->type].bytes * vector, inner = bytes;
	bool first = true;
	int r;

	v->line = p->tok.line;
	r = ts_ptx_take_name(p, &v->name);
	if (r)
		return r;
	while (ts_ptx_accept(p, '[')) {
		uint64_t n = 1;

		if (ts_ptx_at(p, ']') && first)
			v->unsized = true;
		else if ((r = ts_ptx_take_uint(p, UINT32_MAX, &n)))
			return r;
		if (n && bytes > (UINT64_C(1) << 40) / n)
			return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, v->line,
					   "line %u: %s is too large", v->line, v->name);
		bytes *= n;
		if (!first)
			inner *= n;
		first = false;
		if ((r = ts_ptx_expect(p, ']')))
			return r;
	}
	v->bytes = v->unsized ? 0 : bytes;
	*ret_inner = inner;
	return 0;
}

struct ts_ptx_initialiser {
	struct ts_ptx_parser *p;
	struct ts_ptx_var *v;
	struct ts_ptx_init **end;
	uint64_t offset;
	uint32_t width;
};

static uint64_t init_value(const struct ts_ptx_token *t, enum ts_ptx_type type, bool negative)
{
	uint64_t bits = t->value;
	double value;
	float narrow;

	if (t->kind == TOKEN_FLOAT) {
		memcpy(&value, &bits, 8);
		if (t->single) {
			uint32_t low = (uint32_t)bits;

			memcpy(&narrow, &low, 4);
			if (ts_ptx_types[type].bytes == 4)
				return negative ? low ^ 0x80000000u : low;
			value = (double)narrow;
		}
	} else {
		if (ts_ptx_types[type].klass != 'f')
			return negative ? 0 - bits : bits;
		value = (double)bits;
	}
	value = negative ? -value : value;
	narrow = (float)value;
	bits = 0;
	memcpy(&bits, ts_ptx_types[type].bytes == 4 ? (void *)&narrow : (void *)&value,
	       ts_ptx_types[type].bytes == 4 ? 4 : 8);
	return bits;
}

/* Parses NAME or generic(NAME), each with an optional + N or - N. */
static int init_address(struct ts_ptx_parser *p, struct ts_ptx_init *init)
{
	bool generic = ts_ptx_accept_word(p, "generic");
	uint64_t addend = 0;
	int r = generic ? ts_ptx_expect(p, '(') : 0;

	if (r || (r = ts_ptx_take_name(p, &init->name)))
		return r;
	if (generic && (r = ts_ptx_expect(p, ')')))
		return r;
	if (ts_ptx_accept(p, '+')) {
		r = ts_ptx_take_uint(p, INT64_MAX, &addend);
	} else if (ts_ptx_accept(p, '-')) {
		r = ts_ptx_take_uint(p, INT64_MAX, &addend);
		addend = 0 - addend;
	}
	init->value = addend;
	return r;
}

static int init_element(struct ts_ptx_initialiser *in)
{
	struct ts_ptx_parser *p = in->p;
	struct ts_ptx_init *init;
	bool negative = ts_ptx_accept(p, '-');
	int r = 0;

	if (!in->v->unsized && in->offset + in->width > in->v->bytes)
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: %s has more initial values than elements", p->tok.line,
				   in->v->name);
	init = ts_ptx_arena_get(&p->module->arena, sizeof(*init));
	if (!init)
		return -ENOMEM;
	init->offset = in->offset;
	init->bytes = in->width;
	init->line = p->tok.line;
	in->offset += in->width;
	if (p->tok.kind == TOKEN_WORD) {
		r = init_address(p, init);
	} else if (p->tok.kind == TOKEN_INTEGER || p->tok.kind == TOKEN_FLOAT) {
		init->value = init_value(&p->tok, in->v->type, negative);
		ts_ptx_next(p);
		if (ts_ptx_accept(p, '(')) { /* 0xFF00(name): selected bits of an address */
			init->mask = init->value;
			if (!init->mask)
				return ts_ptx_unexpected(p, "a mask that is not zero");
			r = init_address(p, init);
			if (!r)
				r = ts_ptx_expect(p, ')');
		}
	} else {
		return ts_ptx_unexpected(p, "an initial value");
	}
	*in->end = init;
	in->end = &init->next;
	return r;
}

/*
 * Parses an initialiser's list. `level` is its nesting depth. A closed inner list fills its row up,
 * which is right for one dimension and for full rows.
 */
static int init_list(struct ts_ptx_initialiser *in, uint64_t inner, unsigned level)
{
	struct ts_ptx_parser *p = in->p;
	int r = 0;

	if (level > TS_PTX_MAX_DEPTH)
		return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
				   "line %u: nested too deeply", p->tok.line);
	if (ts_ptx_accept(p, '}'))
		return 0;
	do {
		uint64_t start = in->offset;

		if (!ts_ptx_accept(p, '{')) {
			r = init_element(in);
		} else {
			r = init_list(in, in->width, level + 1);
			if (!r && !level && in->offset < start + inner)
				in->offset = start + inner;
		}
	} while (!r && ts_ptx_accept(p, ','));
	return r ? r : ts_ptx_expect(p, '}');
}

static int parse_init(struct ts_ptx_parser *p, struct ts_ptx_var *v, uint64_t inner)
{
	struct ts_ptx_initialiser in = {p, v, &v->inits, 0, ts_ptx_types[v->type].bytes};
	int r;

	if (in.width > 8)
		return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, v->line,
				   "line %u: initial values of type %s are not supported", v->line,
				   ts_ptx_types[v->type].name);
	r = ts_ptx_accept(p, '{') ? init_list(&in, inner, 0) : init_element(&in);
	if (!r && v->unsized) {
		v->bytes = in.offset;
		v->unsized = false;
	}
	return r;
}

int ts_ptx_add_symbol(struct ts_ptx_parser *p, const char *name, struct ts_ptx_func *func,
		      struct ts_ptx_var *var)
{
	struct ts_ptx_symbol *s = ts_ptx_arena_get(&p->module->arena, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct ts_ptx_symbol){func, var};
	return ts_ptx_map_put(&p->module->symbols, name, strlen(name), 0, s);
}

/* Adds a variable to the module. A module may declare a variable extern and then define it. */
static int add_var(struct ts_ptx_parser *p, struct ts_ptx_var *v)
{
	struct ts_ptx_symbol *old =
		ts_ptx_map_get(&p->module->symbols, v->name, strlen(v->name), 0);

	if (old && (!old->var || (old->var->linkage != LINK_EXTERN && v->linkage != LINK_EXTERN)))
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, v->line,
				   "line %u: %s is declared twice", v->line, v->name);
	if (old && v->linkage == LINK_EXTERN)
		return 0;
	*p->module->vars_end = v;
	p->module->vars_end = &v->next;
	return ts_ptx_add_symbol(p, v->name, NULL, v);
}

int ts_ptx_parse_vars(struct ts_ptx_parser *p, enum ts_ptx_space space, enum ts_ptx_linkage linkage)
{
	struct ts_ptx_var head = {.space = space, .linkage = linkage, .reg = -1};
	uint32_t vector;
	int r = parse_var_head(p, &head, &vector);

	while (!r) {
		struct ts_ptx_var *v = ts_ptx_arena_get(&p->module->arena, sizeof(*v));
		uint64_t inner;

		if (!v)
			return -ENOMEM;
		*v = head;
		r = parse_var_tail(p, v, vector, &inner);
		if (!r && ts_ptx_accept(p, '='))
			r = parse_init(p, v, inner);
		if (!r && p->func) {
			struct ts_ptx_name name = {.kind = NAME_VAR, .var = v};

			v->next = p->func->vars;
			p->func->vars = v;
			r = ts_ptx_declare(p, v->name, &name);
		} else if (!r) {
			r = add_var(p, v);
		}
		if (r || !ts_ptx_accept(p, ','))
			break;
	}
	return r ? r : ts_ptx_expect(p, ';');
}

int ts_ptx_parse_param(struct ts_ptx_parser *p, struct ts_ptx_var **ret_var)
{
	struct ts_ptx_var *v = ts_ptx_arena_get(&p->module->arena, sizeof(*v));
	struct ts_ptx_name name;
	uint64_t inner;
	uint32_t vector;
	int r;

	if (!v)
		return -ENOMEM;
	v->reg = -1;
	if (ts_ptx_accept_word(p, ".param"))
		v->space = SP_PARAM;
	else if (ts_ptx_accept_word(p, ".reg"))
		v->space = SP_REG;
	else
		return ts_ptx_unexpected(p, ".param");
	r = parse_var_head(p, v, &vector);
	if (!r)
		r = parse_var_tail(p, v, vector, &inner);
	if (r)
		return r;
	name = (struct ts_ptx_name){.kind = NAME_VAR, .var = v};
	if (v->space == SP_REG) {
		name = (struct ts_ptx_name){.kind = NAME_REGS, .regs = {0, 0, v->type, 0}};
		r = ts_ptx_new_regs(p, v->type, v->name, false, 1, &name.regs.first);
		v->reg = (int)name.regs.first;
	} else if (v->bytes > TS_PTX_MAX_PARAM_BYTES) {
		r = ts_ptx_fail(p->error, TS_PTX_E_LIMIT, v->line,
				"line %u: parameter %s is too large", v->line, v->name);
	}
	*ret_var = v;
	return r || !strcmp(v->name, "_") ? r : ts_ptx_declare(p, v->name, &name);
}
