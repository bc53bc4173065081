// SPDX-License-Identifier: Apache-2.0
/*
 * Parses function bodies: declarations, labels and instructions with their operands. This file
 * resolves names of registers and local variables, whose scope is known here. The decoder resolves
 * labels, functions and the module's variables. parse.c calls this file; this file calls declare.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/ptx/parse/parse.h"

static int open_scope(struct ts_ptx_parser *p)
{
	struct ts_ptx_func *f = p->func;
	int r = TS_GROW(f->scopes, f->scopes_capacity, f->n_scopes + 1);

	if (r)
		return r;
	f->scopes[f->n_scopes].parent = p->scope;
	p->scope = f->n_scopes++;
	return 0;
}

static struct ts_ptx_name *lookup(const struct ts_ptx_parser *p, const char *name, size_t n)
{
	for (uint32_t scope = p->scope;; scope = p->func->scopes[scope].parent) {
		struct ts_ptx_name *found = ts_ptx_map_get(&p->func->names, name, n, scope);

		if (found || !scope)
			return found;
	}
}

/*
 * Finds a register by name: a single one, one of a range (%r12 of %r<20>), or a vector's component
 * (%v.x).
 */
static bool lookup_reg(const struct ts_ptx_parser *p, const char *name, size_t n, uint32_t *ret_reg)
{
	const struct ts_ptx_name *found = lookup(p, name, n);
	size_t digits = 0;
	uint64_t index = 0;

	if (found) {
		*ret_reg = found->regs.first;
		return found->kind == NAME_REGS && !found->regs.count && !found->regs.vector;
	}
	if (n > 2 && name[n - 2] == '.') {
		static const char parts[] = "xyzwrgba";
		const char *part = strchr(parts, name[n - 1]);

		found = lookup(p, name, n - 2);
		if (!part || !found || found->kind != NAME_REGS || found->regs.count ||
		    (part - parts) % 4 >= found->regs.vector)
			return false;
		*ret_reg = found->regs.first + (uint32_t)((part - parts) % 4);
		return true;
	}
	while (digits < n && digits < 9 && name[n - 1 - digits] >= '0' &&
	       name[n - 1 - digits] <= '9')
		digits++;
	/* A name may end in digits: the shortest suffix that selects a range wins. */
	for (size_t take = 1; take <= digits; take++) {
		uint64_t scale = 1;

		index = 0;
		for (size_t i = 1; i <= take; i++, scale *= 10)
			index += (uint64_t)(name[n - i] - '0') * scale;
		if (take > 1 && name[n - take] == '0')
			continue;
		found = lookup(p, name, n - take);
		if (found && found->kind == NAME_REGS && index < found->regs.count) {
			*ret_reg = found->regs.first + (uint32_t)index;
			return true;
		}
	}
	return false;
}

static int parse_reg(struct ts_ptx_parser *p)
{
	uint8_t vector = 0;
	enum ts_ptx_type type;
	int r;

	if (ts_ptx_accept_word(p, ".v2"))
		vector = 2;
	else if (ts_ptx_accept_word(p, ".v4"))
		vector = 4;
	type = p->tok.kind == TOKEN_DIRECTIVE ? ts_ptx_type_of(p->tok.text + 1, p->tok.n - 1)
					      : TY_NONE;
	if (type == TY_NONE || ts_ptx_types[type].klass == 'x')
		return ts_ptx_unexpected(p, "a type");
	ts_ptx_next(p);
	do {
		struct ts_ptx_name what = {.kind = NAME_REGS, .regs = {0, 0, type, vector}};
		const char *name;
		uint64_t count = 0;

		r = ts_ptx_take_name(p, &name);
		if (r)
			return r;
		if (ts_ptx_accept(p, '<')) {
			r = ts_ptx_take_uint(p, TS_PTX_MAX_REGISTERS, &count);
			if (r || (r = ts_ptx_expect(p, '>')))
				return r;
			if (vector)
				return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
						   "line %u: ranges of vector registers are not "
						   "supported",
						   p->tok.line);
			if (!count)
				continue;
		}
		what.regs.count = (uint32_t)count;
		r = ts_ptx_new_regs(p, type, name, count || vector,
				    count    ? (uint32_t)count
				    : vector ? vector
					     : 1,
				    &what.regs.first);
		if (!r)
			r = ts_ptx_declare(p, name, &what);
		if (r)
			return r;
	} while (ts_ptx_accept(p, ','));
	return ts_ptx_expect(p, ';');
}

static int parse_operand(struct ts_ptx_parser *p, struct ts_ptx_operand *o, unsigned depth);

static int parse_list(struct ts_ptx_parser *p, struct ts_ptx_operand *o, char close, unsigned depth)
{
	struct ts_ptx_operand *list = NULL;
	uint32_t n = 0, capacity = 0;
	int r = 0;

	o->kind = OPERAND_LIST;
	o->paren = close == ')';
	if (ts_ptx_accept(p, close))
		return 0;
	do {
		if (n == TS_PTX_MAX_LIST)
			r = ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
					"line %u: more than %d operands in a list", p->tok.line,
					TS_PTX_MAX_LIST);
		if (!r)
			r = TS_GROW(list, capacity, n + 1);
		if (!r)
			r = parse_operand(p, &list[n], depth + 1);
		n++;
	} while (!r && ts_ptx_accept(p, ','));
	if (!r)
		r = ts_ptx_expect(p, close);
	if (!r) {
		o->n_list = (uint8_t)n;
		o->list = ts_ptx_arena_get(&p->module->arena, n * sizeof(*list));
		if (o->list)
			memcpy(o->list, list, n * sizeof(*list));
		else
			r = -ENOMEM;
	}
	free(list);
	return r;
}

/* Parses [base + offset]. */
static int parse_address(struct ts_ptx_parser *p, struct ts_ptx_operand *o, unsigned depth)
{
	struct ts_ptx_operand *base = ts_ptx_arena_get(&p->module->arena, sizeof(*base));
	int r;

	if (!base)
		return -ENOMEM;
	r = parse_operand(p, base, depth + 1);
	if (r)
		return r;
	o->kind = OPERAND_ADDR;
	o->list = base;
	o->n_list = 1;
	if (ts_ptx_at(p, ','))
		return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
				   "line %u: addresses of textures, surfaces and tensors are not "
				   "supported",
				   p->tok.line);
	return ts_ptx_expect(p, ']');
}

static int parse_offset(struct ts_ptx_parser *p, struct ts_ptx_operand *o)
{
	while (ts_ptx_at(p, '+') || ts_ptx_at(p, '-')) {
		bool negative = ts_ptx_at(p, '-');
		uint64_t value;
		int r;

		ts_ptx_next(p);
		if (ts_ptx_accept(p, '-'))
			negative = !negative;
		r = ts_ptx_take_uint(p, UINT64_MAX, &value);
		if (r)
			return r;
		o->off = (int64_t)((uint64_t)o->off + (negative ? 0 - value : value));
	}
	return 0;
}

static int parse_word_operand(struct ts_ptx_parser *p, struct ts_ptx_operand *o)
{
	const char *text = p->tok.text;
	size_t n = p->tok.n;
	const struct ts_ptx_name *name;

	if (n == 1 && *text == '_') {
		o->kind = OPERAND_SINK;
		ts_ptx_next(p);
	} else if (lookup_reg(p, text, n, &o->reg)) {
		o->kind = OPERAND_REG;
		ts_ptx_next(p);
	} else if ((name = lookup(p, text, n))) {
		if (name->kind == NAME_REGS && !name->regs.vector)
			return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
					   "line %u: %.*s is a range of registers, not an "
					   "operand",
					   p->tok.line, (int)n, text);
		if (name->kind == NAME_REGS) { /* a vector register stands for its components */
			o->kind = OPERAND_LIST;
			o->n_list = name->regs.vector;
			o->list = ts_ptx_arena_get(&p->module->arena, o->n_list * sizeof(*o->list));
			if (!o->list)
				return -ENOMEM;
			for (uint8_t i = 0; i < o->n_list; i++)
				o->list[i] = (struct ts_ptx_operand){.kind = OPERAND_REG,
								     .reg = name->regs.first + i,
								     .reg2 = UINT32_MAX};
		} else {
			o->kind = OPERAND_VAR;
			o->var = name->var;
		}
		ts_ptx_next(p);
	} else if (*text == '%') {
		o->imm = ts_ptx_sreg_of(text, n);
		if (!o->imm)
			return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
					   "line %u: unknown register %.*s", p->tok.line,
					   (int)(n < 80 ? n : 80), text);
		o->kind = OPERAND_SREG;
		ts_ptx_next(p);
	} else if (n == 7 && !memcmp(text, "WARP_SZ", 7)) {
		o->kind = OPERAND_IMM;
		o->imm = 32;
		ts_ptx_next(p);
	} else {
		o->kind = OPERAND_NAME;
		return ts_ptx_take_name(p, &o->name);
	}
	if ((o->kind == OPERAND_REG || o->kind == OPERAND_SINK) && ts_ptx_accept(p, '|')) {
		if (p->tok.kind == TOKEN_WORD && p->tok.n == 1 && *p->tok.text == '_') {
			ts_ptx_next(p);
		} else if (p->tok.kind != TOKEN_WORD ||
			   !lookup_reg(p, p->tok.text, p->tok.n, &o->reg2)) {
			return ts_ptx_unexpected(p, "a register");
		} else {
			ts_ptx_next(p);
		}
	}
	return 0;
}

static int parse_operand(struct ts_ptx_parser *p, struct ts_ptx_operand *o, unsigned depth)
{
	bool negative = false;
	int r;

	*o = (struct ts_ptx_operand){.reg2 = UINT32_MAX, .reg = UINT32_MAX};
	if (depth > 4)
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
				   "line %u: operands nested too deeply", p->tok.line);
	if (ts_ptx_accept(p, '['))
		return parse_address(p, o, depth);
	if (ts_ptx_accept(p, '{'))
		return parse_list(p, o, '}', depth);
	if (ts_ptx_accept(p, '('))
		return parse_list(p, o, ')', depth);
	if (ts_ptx_accept(p, '!'))
		o->negated = true;
	else if (ts_ptx_accept(p, '-'))
		negative = true;
	else
		(void)ts_ptx_accept(p, '+');
	if (p->tok.kind == TOKEN_INTEGER) {
		o->kind = OPERAND_IMM;
		o->imm = negative ? 0 - p->tok.value : p->tok.value;
		ts_ptx_next(p);
		return 0;
	}
	if (p->tok.kind == TOKEN_FLOAT) {
		o->kind = OPERAND_FIMM;
		o->single = p->tok.single;
		o->imm = p->tok.value ^ (negative ? UINT64_C(1) << (p->tok.single ? 31 : 63) : 0);
		ts_ptx_next(p);
		return 0;
	}
	if (p->tok.kind != TOKEN_WORD || negative)
		return ts_ptx_unexpected(p, "an operand");
	r = parse_word_operand(p, o);
	return r ? r : parse_offset(p, o);
}

static int parse_guard(struct ts_ptx_parser *p, struct ts_ptx_stmt *s)
{
	s->guard_negated = ts_ptx_accept(p, '!');
	if (p->tok.kind != TOKEN_WORD || !lookup_reg(p, p->tok.text, p->tok.n, &s->guard) ||
	    p->func->regs[s->guard].type != TY_PRED)
		return ts_ptx_unexpected(p, "a predicate");
	ts_ptx_next(p);
	return 0;
}

static int parse_instruction(struct ts_ptx_parser *p)
{
	struct ts_ptx_operand operands[TS_PTX_MAX_OPERANDS];
	struct ts_ptx_stmt s = {.guard = UINT32_MAX,
				.scope = p->scope,
				.source_line = p->source_line,
				.source_file = p->source_file};
	struct ts_ptx_func *f = p->func;
	int r = 0;

	if (ts_ptx_accept(p, '@'))
		r = parse_guard(p, &s);
	s.line = p->tok.line;
	if (!r)
		r = ts_ptx_take_name(p, &s.opcode);
	if (r)
		return r;
	while (!ts_ptx_at(p, ';')) {
		if (s.n_operands == TS_PTX_MAX_OPERANDS)
			return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, p->tok.line,
					   "line %u: too many operands", p->tok.line);
		r = parse_operand(p, &operands[s.n_operands], 0);
		if (r)
			return r;
		s.n_operands++;
		/* "call (ret), f, (args), proto" and "mov.b32 a, b" */
		if (!ts_ptx_accept(p, ',') && !ts_ptx_at(p, ';'))
			return ts_ptx_unexpected(p, "',' or ';'");
	}
	ts_ptx_next(p);
	s.operands = ts_ptx_arena_get(&p->module->arena, (s.n_operands + 1u) * sizeof(*operands));
	if (!s.operands)
		return -ENOMEM;
	memcpy(s.operands, operands, s.n_operands * sizeof(*operands));
	r = TS_GROW(f->stmts, f->stmts_capacity, f->n_stmts + 1);
	if (!r)
		f->stmts[f->n_stmts++] = s;
	return r;
}

static int parse_targets(struct ts_ptx_parser *p, struct ts_ptx_label *label)
{
	const char **targets = NULL;
	uint32_t n = 0, capacity = 0;
	int r;

	do {
		r = TS_GROW(targets, capacity, n + 1);
		if (!r)
			r = ts_ptx_take_name(p, &targets[n]);
		n++;
	} while (!r && ts_ptx_accept(p, ','));
	if (!r) {
		label->is_table = true;
		label->n_targets = n;
		label->targets = ts_ptx_arena_get(&p->module->arena, n * sizeof(*targets));
		if (label->targets)
			memcpy(label->targets, targets, n * sizeof(*targets));
		else
			r = -ENOMEM;
	}
	free(targets);
	return r ? r : ts_ptx_expect(p, ';');
}

static int parse_label(struct ts_ptx_parser *p)
{
	struct ts_ptx_label *label = ts_ptx_arena_get(&p->module->arena, sizeof(*label));
	int r;

	if (!label)
		return -ENOMEM;
	label->line = p->tok.line;
	label->scope = p->scope;
	label->stmt = p->func->n_stmts;
	r = ts_ptx_take_name(p, &label->name);
	if (!r)
		r = ts_ptx_expect(p, ':');
	if (r)
		return r;
	if (ts_ptx_map_get(&p->func->labels, label->name, strlen(label->name), p->scope))
		return ts_ptx_fail(p->error, TS_PTX_E_SYNTAX, label->line,
				   "line %u: label %s is defined twice", label->line, label->name);
	r = ts_ptx_map_put(&p->func->labels, label->name, strlen(label->name), p->scope, label);
	if (!r && ts_ptx_accept_word(p, ".branchtargets"))
		return parse_targets(p, label);
	/* Skip targets and prototypes of indirect calls: the call contains enough information. */
	if (!r && (ts_ptx_at_word(p, ".callprototype") || ts_ptx_at_word(p, ".calltargets"))) {
		while (p->tok.kind != TOKEN_END && !ts_ptx_at(p, ';'))
			ts_ptx_next(p);
		return ts_ptx_expect(p, ';');
	}
	return r;
}

static void parse_loc(struct ts_ptx_parser *p)
{
	uint32_t line = p->tok.line;

	ts_ptx_next(p);
	if (p->tok.kind == TOKEN_INTEGER && p->tok.line == line) {
		p->source_file = (uint32_t)p->tok.value;
		ts_ptx_next(p);
		if (p->tok.kind == TOKEN_INTEGER && p->tok.line == line)
			p->source_line = (uint32_t)p->tok.value;
	}
	while (p->tok.kind != TOKEN_END && p->tok.line == line)
		ts_ptx_next(p);
}

static int parse_body_directive(struct ts_ptx_parser *p)
{
	if (ts_ptx_accept_word(p, ".reg"))
		return parse_reg(p);
	if (ts_ptx_accept_word(p, ".local"))
		return ts_ptx_parse_vars(p, SP_LOCAL, LINK_NONE);
	if (ts_ptx_accept_word(p, ".shared"))
		return ts_ptx_parse_vars(p, SP_SHARED, LINK_NONE);
	if (ts_ptx_accept_word(p, ".param"))
		return ts_ptx_parse_vars(p, SP_PARAM, LINK_NONE);
	if (ts_ptx_accept_word(p, ".global"))
		return ts_ptx_parse_vars(p, SP_GLOBAL, LINK_NONE);
	if (ts_ptx_accept_word(p, ".const"))
		return ts_ptx_parse_vars(p, SP_CONST, LINK_NONE);
	if (ts_ptx_at_word(p, ".loc")) {
		parse_loc(p);
		return 0;
	}
	if (ts_ptx_accept_word(p, ".pragma")) {
		while (p->tok.kind == TOKEN_STRING || ts_ptx_at(p, ','))
			ts_ptx_next(p);
		return ts_ptx_expect(p, ';');
	}
	return ts_ptx_fail(p->error, TS_PTX_E_UNSUPPORTED, p->tok.line,
			   "line %u: unknown directive %.*s in function "
			   "%s",
			   p->tok.line, (int)p->tok.n, p->tok.text, p->func->name);
}

int ts_ptx_parse_body(struct ts_ptx_parser *p)
{
	unsigned depth = 0;
	int r;

	/* Scope 0 is the header's scope with the parameters; the body's scope is inside it. */
	r = open_scope(p);
	if (!r)
		r = ts_ptx_expect(p, '{');
	p->scope = 0;
	p->source_line = p->source_file = 0;
	while (!r) {
		if (ts_ptx_accept(p, '{')) {
			if (++depth > TS_PTX_MAX_DEPTH)
				return ts_ptx_fail(p->error, TS_PTX_E_LIMIT, p->tok.line,
						   "line %u: nested too deeply", p->tok.line);
			r = open_scope(p);
		} else if (ts_ptx_at(p, '}')) {
			ts_ptx_next(p);
			if (!depth)
				return 0;
			depth--;
			p->scope = p->func->scopes[p->scope].parent;
		} else if (p->tok.kind == TOKEN_DIRECTIVE) {
			r = parse_body_directive(p);
		} else if (p->tok.kind == TOKEN_WORD) {
			const char *at = p->lexer.at;

			while (at < p->lexer.end && (*at == ' ' || *at == '\t'))
				at++;
			if (at < p->lexer.end && *at == ':')
				r = parse_label(p);
			else
				r = parse_instruction(p);
		} else if (ts_ptx_at(p, '@')) {
			r = parse_instruction(p);
		} else if (!ts_ptx_accept(p, ';')) {
			r = ts_ptx_unexpected(p, "an instruction");
		}
	}
	return r;
}
