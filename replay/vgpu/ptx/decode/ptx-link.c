// SPDX-License-Identifier: Apache-2.0
/*
 * Links modules into an image: selects the definition of each name, lays out variables and shared
 * memory, and decodes every function with decode.c. Also computes the resources of a kernel with
 * all its callees. vgpu-module.c calls this file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/ptx/lanes/ops.h"

struct ts_ptx_linker {
	struct ts_ptx_image *image;
	struct ts_ptx_module *const *modules;
	size_t n_modules;
	struct ts_ptx_error *error;
	uint32_t shared_end; /* end of shared memory that no kernel declares */
	uint32_t codes_capacity, variables_capacity;
};

static bool is_weak(enum ts_ptx_linkage linkage)
{
	return linkage == LINK_WEAK || linkage == LINK_COMMON;
}

static int link_name(struct ts_ptx_linker *l, size_t module, struct ts_ptx_symbol *s)
{
	enum ts_ptx_linkage linkage = s->func ? s->func->linkage : s->var->linkage, other;
	const char *name = s->func ? s->func->name : s->var->name;
	struct ts_ptx_symbol *old = ts_ptx_map_get(&l->image->names, name, strlen(name), 0);

	if (linkage == LINK_NONE || (s->func ? !s->func->defined : linkage == LINK_EXTERN))
		return 0;
	if (old) {
		other = old->func ? old->func->linkage : old->var->linkage;
		if (!old->func != !s->func || (!is_weak(other) && !is_weak(linkage))) {
			if (l->error)
				l->error->module = (uint32_t)module;
			return ts_ptx_fail(l->error, TS_PTX_E_LINK,
					   s->func ? s->func->line : s->var->line,
					   "%s is defined in more than one module", name);
		}
		/*
		 * A strong definition wins over a weak one, the larger of two common ones wins,
		 * else the first one.
		 */
		if (is_weak(linkage) && !(linkage == LINK_COMMON && other == LINK_COMMON &&
					  s->var->bytes > old->var->bytes))
			return 0;
	}
	return ts_ptx_map_put(&l->image->names, name, strlen(name), 0, s);
}

static int link_names(struct ts_ptx_linker *l)
{
	int r = 0;

	for (size_t m = 0; m < l->n_modules; m++) {
		const struct ts_ptx_map *map = &l->modules[m]->symbols;

		for (size_t i = 0; i < map->n_entries && !r; i++)
			r = link_name(l, m, map->entries[i].value);
	}
	return r;
}

/* True if the linker selected this definition for its name. */
static bool is_chosen(struct ts_ptx_linker *l, enum ts_ptx_linkage linkage, const char *name,
		      const void *what)
{
	const struct ts_ptx_symbol *s;

	if (linkage == LINK_NONE)
		return true;
	s = ts_ptx_map_get(&l->image->names, name, strlen(name), 0);
	return s && (s->func == what || s->var == what);
}

static int grow_codes(struct ts_ptx_linker *l, struct ts_ptx_code **ret_code)
{
	struct ts_ptx_image *image = l->image;

	if (TS_GROW(image->codes, l->codes_capacity, image->n_codes + 1))
		return -ENOMEM;
	*ret_code = &image->codes[image->n_codes++];
	**ret_code = (struct ts_ptx_code){.image = image};
	return 0;
}

static enum ts_ptx_builtin builtin_of(const char *name)
{
	return !strcmp(name, "vprintf")	       ? BUILTIN_VPRINTF
	       : !strcmp(name, "malloc")       ? BUILTIN_MALLOC
	       : !strcmp(name, "free")	       ? BUILTIN_FREE
	       : !strcmp(name, "__assertfail") ? BUILTIN_ASSERTFAIL
					       : BUILTIN_NONE;
}

static int add_code(struct ts_ptx_linker *l, size_t module, struct ts_ptx_func *f)
{
	struct ts_ptx_code *c;
	int r = grow_codes(l, &c);

	if (r)
		return r;
	c->name = ts_ptx_arena_string(&l->image->arena, f->name, strlen(f->name));
	c->func = f;
	c->module = (uint32_t)module;
	c->builtin = f->defined ? BUILTIN_NONE : builtin_of(f->name);
	/* An index for now: the array may still move. */
	f->image = (void *)(uintptr_t)l->image->n_codes;
	return c->name ? 0 : -ENOMEM;
}

static int add_codes(struct ts_ptx_linker *l)
{
	int r = 0;

	for (size_t m = 0; m < l->n_modules; m++)
		for (struct ts_ptx_func *f = l->modules[m]->funcs; f && !r; f = f->next) {
			const struct ts_ptx_symbol *s =
				ts_ptx_resolve_name(l->image, l->modules[m], f->name);

			f->image = NULL;
			if (f->defined ? is_chosen(l, f->linkage, f->name, f) : s && s->func == f)
				r = add_code(l, m, f);
		}
	for (size_t m = 0; m < l->n_modules && !r; m++)
		for (struct ts_ptx_func *f = l->modules[m]->funcs; f; f = f->next)
			if (f->image)
				f->image = &l->image->codes[(uintptr_t)f->image - 1];
	return r;
}

static int add_variable(struct ts_ptx_linker *l, size_t module, struct ts_ptx_var *v)
{
	struct ts_ptx_image *image = l->image;
	struct ts_ptx_image_variable *out;

	if (TS_GROW(image->variables, l->variables_capacity, image->n_variables + 1))
		return -ENOMEM;
	if (v->unsized)
		return ts_ptx_fail(l->error, TS_PTX_E_LINK, v->line, "line %u: %s has no size",
				   v->line, v->name);
	out = &image->variables[image->n_variables++];
	*out = (struct ts_ptx_image_variable){.var = v, .module = (uint32_t)module};
	out->info = (struct ts_ptx_variable){
		.name = ts_ptx_arena_string(&image->arena, v->name, strlen(v->name)),
		.bytes = v->bytes,
		.align = v->align,
		.constant = v->space == SP_CONST,
		.managed = v->managed,
		.visible = v->linkage != LINK_NONE,
	};
	v->image = (void *)(uintptr_t)image->n_variables;
	return out->info.name ? 0 : -ENOMEM;
}

static int place_shared(struct ts_ptx_linker *l, struct ts_ptx_var *v, uint64_t *end)
{
	uint64_t at = (*end + v->align - 1) & ~(uint64_t)(v->align - 1);

	if (v->unsized || v->linkage == LINK_EXTERN)
		return 0;
	if (v->bytes > TS_PTX_MAX_SHARED_BYTES || at + v->bytes > TS_PTX_MAX_SHARED_BYTES)
		return ts_ptx_fail(l->error, TS_PTX_E_LIMIT, v->line,
				   "line %u: %s: more than %u bytes of shared memory", v->line,
				   v->name, TS_PTX_MAX_SHARED_BYTES);
	v->offset = at;
	*end = at + v->bytes;
	return 0;
}

/*
 * Adds the variables of a list. Places shared variables from *end on, or not at all if end is NULL.
 */
static int add_list(struct ts_ptx_linker *l, size_t module, struct ts_ptx_var *list, bool global,
		    uint64_t *end)
{
	int r = 0;

	for (struct ts_ptx_var *v = list; v && !r; v = v->next) {
		if (v->space == SP_SHARED) {
			if (end)
				r = place_shared(l, v, end);
			continue;
		}
		if (v->space != SP_GLOBAL && v->space != SP_CONST)
			continue;
		v->image = NULL;
		if (v->linkage != LINK_EXTERN && (!global || is_chosen(l, v->linkage, v->name, v)))
			r = add_variable(l, module, v);
	}
	return r;
}

static void point_variables(struct ts_ptx_linker *l, struct ts_ptx_var *list)
{
	for (struct ts_ptx_var *v = list; v; v = v->next)
		if ((v->space == SP_GLOBAL || v->space == SP_CONST) && v->image)
			v->image = &l->image->variables[(uintptr_t)v->image - 1];
}

static int add_variables(struct ts_ptx_linker *l)
{
	uint64_t end = 0;
	int r = 0;

	for (size_t m = 0; m < l->n_modules && !r; m++) {
		r = add_list(l, m, l->modules[m]->vars, true, &end);
		for (struct ts_ptx_func *f = l->modules[m]->funcs; f && !r; f = f->next)
			r = add_list(l, m, f->vars, false, f->entry ? NULL : &end);
	}
	for (size_t m = 0; m < l->n_modules && !r; m++) {
		point_variables(l, l->modules[m]->vars);
		for (struct ts_ptx_func *f = l->modules[m]->funcs; f; f = f->next)
			point_variables(l, f->vars);
	}
	l->shared_end = (uint32_t)end;
	return r;
}

/*
 * End of the shared memory that a kernel and its callees name, without the kernel's own variables.
 */
struct ts_ptx_reach {
	struct ts_ptx_linker *l;
	uint8_t *seen;
	uint32_t *todo, n_todo;
	uint64_t end;
};

static void reach_operand(struct ts_ptx_reach *x, struct ts_ptx_module *module, uint32_t code,
			  const struct ts_ptx_operand *o)
{
	const struct ts_ptx_symbol *s = NULL;
	const struct ts_ptx_var *v = o->kind == OPERAND_VAR ? o->var : NULL;
	struct ts_ptx_image *image = x->l->image;

	for (uint32_t i = 0; i < o->n_list; i++) {
		const struct ts_ptx_operand *inner = &o->list[i];

		/* Lists nest no deeper than an address in a list. */
		if (inner->n_list)
			for (uint32_t k = 0; k < inner->n_list; k++)
				reach_operand(x, module, code, &inner->list[k]);
		reach_operand(x, module, code, inner);
	}
	if (o->kind == OPERAND_NAME)
		s = ts_ptx_resolve_name(image, module, o->name);
	if (s && s->var)
		v = s->var;
	if (v && v->space == SP_SHARED && !v->unsized && v->linkage != LINK_EXTERN &&
	    !(image->codes[code].func->entry && o->kind == OPERAND_VAR) &&
	    v->offset + v->bytes > x->end)
		x->end = v->offset + v->bytes;
	if (s && s->func && s->func->image) {
		uint32_t callee = (uint32_t)((struct ts_ptx_code *)s->func->image - image->codes);

		if (!x->seen[callee]) {
			x->seen[callee] = 1;
			x->todo[x->n_todo++] = callee;
		}
	}
}

static int reach_shared(struct ts_ptx_linker *l, uint32_t kernel, uint64_t *ret_end)
{
	struct ts_ptx_image *image = l->image;
	struct ts_ptx_reach x = {.l = l};

	x.seen = calloc(image->n_codes + 1u, 1);
	x.todo = calloc(image->n_codes + 1u, sizeof(*x.todo));
	if (!x.seen || !x.todo) {
		free(x.seen);
		free(x.todo);
		return -ENOMEM;
	}
	x.seen[kernel] = 1;
	x.todo[x.n_todo++] = kernel;
	while (x.n_todo) {
		uint32_t code = x.todo[--x.n_todo];
		const struct ts_ptx_func *f = image->codes[code].func;

		for (uint32_t i = 0; i < f->n_stmts; i++) {
			const struct ts_ptx_stmt *s = &f->stmts[i];

			/* An indirect call may reach any function. */
			if (!strncmp(s->opcode, "call", 4) && s->n_operands &&
			    (s->operands[0].kind == OPERAND_REG ||
			     (s->n_operands > 1 && s->operands[1].kind == OPERAND_REG)))
				x.end = l->shared_end;
			for (uint32_t k = 0; k < s->n_operands; k++)
				reach_operand(&x, l->modules[image->codes[code].module], code,
					      &s->operands[k]);
		}
	}
	*ret_end = x.end;
	free(x.seen);
	free(x.todo);
	return 0;
}

static int decode_all(struct ts_ptx_linker *l)
{
	struct ts_ptx_image *image = l->image;
	int r = 0;

	for (uint32_t i = 0; i < image->n_codes && !r; i++) {
		struct ts_ptx_code *c = &image->codes[i];
		uint64_t end = 0;

		if (!c->func->defined)
			continue;
		if (c->func->entry) {
			r = reach_shared(l, i, &end);
			for (struct ts_ptx_var *v = c->func->vars; v && !r; v = v->next)
				if (v->space == SP_SHARED)
					r = place_shared(l, v, &end);
		}
		if (!r)
			r = ts_ptx_decode(image, l->modules[c->module], c, l->error);
		if (r > 0 && l->error)
			l->error->module = c->module;
	}
	return r;
}

static int copy_files(struct ts_ptx_linker *l)
{
	for (size_t m = 0; m < l->n_modules; m++) {
		struct ts_ptx_file *list = NULL;

		for (const struct ts_ptx_file *f = l->modules[m]->files; f; f = f->next) {
			struct ts_ptx_file *copy =
				ts_ptx_arena_get(&l->image->arena, sizeof(*copy));

			if (!copy)
				return -ENOMEM;
			*copy = (struct ts_ptx_file){list, f->number,
						     ts_ptx_arena_string(&l->image->arena, f->path,
									 strlen(f->path))};
			if (!copy->path)
				return -ENOMEM;
			list = copy;
		}
		for (uint32_t i = 0; i < l->image->n_codes; i++)
			if (l->image->codes[i].module == m)
				l->image->codes[i].files = list;
	}
	return 0;
}

static int copy_init(struct ts_ptx_linker *l, struct ts_ptx_image_variable *v,
		     const struct ts_ptx_init *from, struct ts_ptx_image_init *to)
{
	const struct ts_ptx_symbol *s;

	*to = (struct ts_ptx_image_init){from->offset, from->value, from->mask,
					 from->bytes,  TS_PTX_NONE, TS_PTX_NONE};
	if (!from->name)
		return 0;
	s = ts_ptx_resolve_name(l->image, l->modules[v->module], from->name);
	if (s && s->func && s->func->image)
		to->function = (uint32_t)((struct ts_ptx_code *)s->func->image - l->image->codes);
	else if (s && s->var && s->var->image &&
		 (s->var->space == SP_GLOBAL || s->var->space == SP_CONST))
		to->variable = (uint32_t)((struct ts_ptx_image_variable *)s->var->image -
					  l->image->variables);
	else
		return ts_ptx_fail(l->error, TS_PTX_E_LINK, from->line,
				   "line %u: no module defines %s, used in the initial value of %s",
				   from->line, from->name, v->info.name);
	return 0;
}

static int copy_inits(struct ts_ptx_linker *l)
{
	int r = 0;

	for (uint32_t i = 0; i < l->image->n_variables; i++) {
		struct ts_ptx_image_variable *v = &l->image->variables[i];
		uint32_t n = 0;

		for (const struct ts_ptx_init *x = v->var->inits; x; x = x->next)
			n++;
		v->inits = ts_ptx_arena_get(&l->image->arena, (n + 1u) * sizeof(*v->inits));
		if (!v->inits)
			return -ENOMEM;
		for (const struct ts_ptx_init *x = v->var->inits; x && !r; x = x->next)
			r = copy_init(l, v, x, &v->inits[v->n_inits++]);
		if (r)
			return r;
	}
	return 0;
}

/* Resources of a kernel with all its callees: the deepest stack, the largest shared memory. */
struct ts_ptx_needs {
	uint64_t local;
	uint32_t shared;
	uint32_t registers;
	bool dynamic, reserved, recursive, indirect;
	uint8_t state; /* 0: new, 1: in progress, 2: known, 3: waits for callees */
};

static void need_callee(struct ts_ptx_needs *to, const struct ts_ptx_needs *from, uint64_t *deepest)
{
	if (from->state == 1) {
		to->recursive = true;
		return;
	}
	if (from->local > *deepest)
		*deepest = from->local;
	if (from->shared > to->shared)
		to->shared = from->shared;
	if (from->registers > to->registers)
		to->registers = from->registers;
	to->dynamic |= from->dynamic;
	to->reserved |= from->reserved;
	to->recursive |= from->recursive;
	to->indirect |= from->indirect;
}

static void needs_of(const struct ts_ptx_image *image, struct ts_ptx_needs *needs, uint32_t *stack,
		     uint32_t root)
{
	uint32_t depth = 0;

	stack[depth++] = root;
	while (depth) {
		uint32_t i = stack[depth - 1];
		const struct ts_ptx_code *c = &image->codes[i];
		struct ts_ptx_needs *n = &needs[i];
		uint64_t deepest = 0;
		bool waits = false;

		if (n->state == 0) {
			n->state = 1;
			for (uint32_t k = 0; k < c->n_callees; k++)
				if (!needs[c->callees[k]].state) {
					stack[depth++] = c->callees[k];
					waits = true;
					break;
				}
			if (waits) {
				n->state = 3; /* visit it again */
				continue;
			}
		} else if (n->state == 3) {
			n->state = 1;
			for (uint32_t k = 0; k < c->n_callees && !waits; k++)
				if (!needs[c->callees[k]].state) {
					stack[depth++] = c->callees[k];
					waits = true;
				}
			if (waits) {
				n->state = 3;
				continue;
			}
		}
		*n = (struct ts_ptx_needs){.shared = c->shared_bytes,
					   .dynamic = c->uses_dynamic_shared,
					   .reserved = c->uses_reserved_shared,
					   .indirect = c->open_stack,
					   .registers = c->n_registers,
					   .state = 1};
		for (uint32_t k = 0; k < c->n_callees; k++) {
			struct ts_ptx_needs *callee = &needs[c->callees[k]];

			if (callee->state == 3 || callee == n)
				n->recursive = true;
			else
				need_callee(n, callee, &deepest);
		}
		n->local = c->local_bytes + deepest;
		n->state = 2;
		depth--;
	}
}

static int kernel_init(struct ts_ptx_linker *l, struct ts_ptx_kernel *k, struct ts_ptx_code *c,
		       const struct ts_ptx_needs *n)
{
	const struct ts_ptx_func *f = c->func;
	struct ts_ptx_param *params =
		ts_ptx_arena_get(&l->image->arena, (f->n_params + 1u) * sizeof(*params));
	uint32_t i = 0;

	if (!params)
		return -ENOMEM;
	if (n->local > TS_PTX_MAX_LOCAL_BYTES)
		return ts_ptx_fail(l->error, TS_PTX_E_LIMIT, f->line,
				   "line %u: kernel %s needs %llu bytes of local memory, more than "
				   "the limit",
				   f->line, f->name, (unsigned long long)n->local);
	for (const struct ts_ptx_var *v = f->params; v; v = v->next)
		params[i++] =
			(struct ts_ptx_param){(uint32_t)v->offset, (uint32_t)v->bytes, v->align};
	k->image = l->image;
	k->code = c;
	c->open_stack = n->indirect;
	c->uses_reserved_shared = n->reserved;
	k->info = (struct ts_ptx_kernel_info){
		.name = c->name,
		.n_params = f->n_params,
		.params_bytes = f->params_bytes,
		.params = params,
		.static_shared_bytes = n->shared,
		.local_bytes = (uint32_t)n->local,
		.n_registers = n->registers + 8 > 255 ? 255 : n->registers + 8,
		.max_threads = f->max_threads,
		.min_blocks_per_sm = f->min_blocks,
		.uses_dynamic_shared = n->dynamic,
		.recursive = n->recursive || n->indirect,
		.line = f->line,
	};
	memcpy(k->info.required_block, f->required, sizeof(f->required));
	memcpy(k->info.required_cluster, f->cluster, sizeof(f->cluster));
	return 0;
}

static int add_kernels(struct ts_ptx_linker *l)
{
	struct ts_ptx_image *image = l->image;
	struct ts_ptx_needs *needs = calloc(image->n_codes + 1u, sizeof(*needs));
	uint32_t *stack = calloc(image->n_codes + 2u, sizeof(*stack));
	int r = needs && stack ? 0 : -ENOMEM;

	image->kernels = calloc(image->n_codes + 1u, sizeof(*image->kernels));
	if (!image->kernels)
		r = -ENOMEM;
	for (uint32_t i = 0; i < image->n_codes && !r; i++) {
		struct ts_ptx_code *c = &image->codes[i];

		if (!c->func->entry || !c->func->defined)
			continue;
		if (!needs[i].state)
			needs_of(image, needs, stack, i);
		r = kernel_init(l, &image->kernels[image->n_kernels++], c, &needs[i]);
	}
	free(needs);
	free(stack);
	return r;
}

static int link_with(struct ts_ptx_module *const *modules, size_t n_modules,
		     const char *const *texts, const char *isa, struct ts_ptx_image **ret_image,
		     struct ts_ptx_error *error)
{
	struct ts_ptx_linker l = {.modules = modules, .n_modules = n_modules, .error = error};
	int r;

	if (error)
		*error = (struct ts_ptx_error){0};
	if (!n_modules || !ts_ptx_ops(isa))
		return -EINVAL;
	l.image = calloc(1, sizeof(*l.image));
	if (!l.image)
		return -ENOMEM;
	l.image->ops = ts_ptx_ops(isa);
	l.image->texts = texts;
	r = link_names(&l);
	if (!r)
		r = add_codes(&l);
	if (!r)
		r = add_variables(&l);
	if (!r)
		r = copy_files(&l);
	if (!r)
		r = decode_all(&l);
	if (!r)
		r = copy_inits(&l);
	if (!r)
		r = add_kernels(&l);
	ts_ptx_map_deinit(&l.image->names);
	ts_ptx_map_deinit(&l.image->constants);
	for (uint32_t i = 0; i < l.image->n_codes; i++)
		l.image->codes[i].func = NULL;
	for (uint32_t i = 0; i < l.image->n_variables; i++)
		l.image->variables[i].var = NULL;
	if (r) {
		ts_ptx_image_free(l.image);
		return r;
	}
	*ret_image = l.image;
	return 0;
}

int ts_ptx_link_isa(struct ts_ptx_module *const *modules, size_t n_modules, const char *isa,
		    struct ts_ptx_image **ret_image, struct ts_ptx_error *error)
{
	return link_with(modules, n_modules, NULL, isa, ret_image, error);
}

int ts_ptx_link_named(struct ts_ptx_module *const *modules, const char *const *texts,
		      size_t n_modules, struct ts_ptx_image **ret_image, struct ts_ptx_error *error)
{
	return link_with(modules, n_modules, texts, NULL, ret_image, error);
}

int ts_ptx_link(struct ts_ptx_module *const *modules, size_t n_modules,
		struct ts_ptx_image **ret_image, struct ts_ptx_error *error)
{
	return ts_ptx_link_isa(modules, n_modules, NULL, ret_image, error);
}

void ts_ptx_image_free(struct ts_ptx_image *image)
{
	if (!image)
		return;
	free(image->variables);
	free(image->codes);
	free(image->kernels);
	free(image->pool);
	free(image->pool_addresses);
	ts_ptx_arena_deinit(&image->arena);
	free(image);
}
