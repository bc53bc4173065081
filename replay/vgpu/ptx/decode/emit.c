// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by the decoders of instructions: consumes modifiers of the opcode, converts operands to
 * registers or constants of the image's pool, and adds instructions to the function. decode.c and
 * decode-*.c call this file.
 */
#include <stdlib.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/ptx/decode/decode.h"
#include "replay/vgpu/ptx/lanes/half.h"

int ts_ptx_reserve(void *array, uint32_t n, uint32_t *capacity, size_t element_bytes)
{
	size_t n_space = *capacity;
	char *p;

	if (n < *capacity)
		return 0;
	if (ts_grow(array, &n_space, (size_t)n + 1, element_bytes) || n_space > UINT32_MAX)
		return -ENOMEM;
	memcpy(&p, array, sizeof(p));
	memset(p + *capacity * element_bytes, 0, (n_space - *capacity) * element_bytes);
	*capacity = (uint32_t)n_space;
	return 0;
}

/* Modifiers. */

bool ts_ptx_mod(struct ts_ptx_decoder *d, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = 1; i < d->n_mods; i++) {
		if (d->mods[i].used || d->mods[i].n != n || memcmp(d->mods[i].text, name, n))
			continue;
		d->mods[i].used = true;
		return true;
	}
	return false;
}

enum ts_ptx_type ts_ptx_mod_type(struct ts_ptx_decoder *d)
{
	for (uint32_t i = 1; i < d->n_mods; i++) {
		enum ts_ptx_type type = TY_NONE;

		if (!d->mods[i].used)
			type = ts_ptx_type_of(d->mods[i].text, d->mods[i].n);
		if (!type)
			continue;
		d->mods[i].used = true;
		return type;
	}
	return TY_NONE;
}

enum ts_ptx_rounding ts_ptx_mod_rounding(struct ts_ptx_decoder *d)
{
	return ts_ptx_mod(d, "rn")    ? ROUND_RN
	       : ts_ptx_mod(d, "rz")  ? ROUND_RZ
	       : ts_ptx_mod(d, "rm")  ? ROUND_RM
	       : ts_ptx_mod(d, "rp")  ? ROUND_RP
	       : ts_ptx_mod(d, "rna") ? ROUND_RNA
				      : ROUND_NONE;
}

int ts_ptx_unsupported(struct ts_ptx_decoder *d)
{
	return ts_ptx_fail(d->error, TS_PTX_E_UNSUPPORTED, d->stmt->line,
			   "line %u: unknown instruction %.80s in function %.100s", d->stmt->line,
			   d->stmt->opcode, d->func->name);
}

int ts_ptx_bad(struct ts_ptx_decoder *d, const char *why)
{
	return ts_ptx_fail(d->error, TS_PTX_E_SYNTAX, d->stmt->line,
			   "line %u: %.80s: %s, in function %.80s", d->stmt->line, d->stmt->opcode,
			   why, d->func->name);
}

int ts_ptx_done(struct ts_ptx_decoder *d, uint32_t n_operands)
{
	for (uint32_t i = 1; i < d->n_mods; i++)
		if (!d->mods[i].used)
			return ts_ptx_unsupported(d);
	if (d->stmt->n_operands != n_operands)
		return ts_ptx_bad(d, "the number of operands is wrong");
	return 0;
}

/* Registers and constants. */

enum ts_ptx_class ts_ptx_class_of(enum ts_ptx_type type)
{
	return type == TY_PRED ? CLASS_PRED : ts_ptx_types[type].bytes == 8 ? CLASS_64 : CLASS_32;
}

int ts_ptx_temp(struct ts_ptx_decoder *d, enum ts_ptx_class class, uint32_t *ret_ref)
{
	int r = ts_ptx_reserve(&d->classes, d->n_vregs, &d->vregs_capacity, 1);

	if (r)
		return r;
	d->classes[d->n_vregs] = (uint8_t) class;
	*ret_ref = TS_PTX_VREG_OF(d->n_vregs);
	d->n_vregs++;
	return 0;
}

static int pool_reserve(struct ts_ptx_image *image, uint32_t bytes, uint32_t *ret_slot)
{
	if (image->pool_bytes + bytes > image->pool_capacity) {
		uint32_t capacity = image->pool_capacity ? image->pool_capacity * 2 : 8192;
		uint8_t *p;

		if (capacity > 1u << 30)
			return -ENOMEM;
		p = aligned_alloc(64, capacity);
		if (!p)
			return -ENOMEM;
		if (image->pool_bytes)
			memcpy(p, image->pool, image->pool_bytes);
		free(image->pool);
		image->pool = p;
		image->pool_capacity = capacity;
	}
	*ret_slot = image->pool_bytes;
	image->pool_bytes += (bytes + 63) & ~63u;
	return 0;
}

static void pool_fill(struct ts_ptx_image *image, uint32_t slot, uint64_t value,
		      enum ts_ptx_class class)
{
	void *p = image->pool + slot;

	if (class == CLASS_PRED)
		*(uint32_t *)p = value ? UINT32_MAX : 0;
	for (int i = 0; class == CLASS_32 && i < 32; i++)
		((uint32_t *)p)[i] = (uint32_t)value;
	for (int i = 0; class == CLASS_64 && i < 32; i++)
		((uint64_t *)p)[i] = value;
}

int ts_ptx_pool_value(struct ts_ptx_image *image, uint64_t value, enum ts_ptx_class class,
		      uint32_t *ret_ref)
{
	char key[9], *kept;
	uint32_t slot;
	void *found;
	int r;

	if (class == CLASS_32)
		value = (uint32_t)value;
	memcpy(key, &value, 8);
	key[8] = (char)class;
	found = ts_ptx_map_get(&image->constants, key, sizeof(key), 0);
	if (found) {
		*ret_ref = (uint32_t)(uintptr_t)found;
		return 0;
	}
	r = pool_reserve(image, class == CLASS_64 ? 256 : class == CLASS_32 ? 128 : 4, &slot);
	if (r)
		return r;
	pool_fill(image, slot, value, class);
	*ret_ref = slot | TS_PTX_POOL;
	kept = ts_ptx_arena_string(&image->arena, key, sizeof(key));
	return kept ? ts_ptx_map_put(&image->constants, kept, sizeof(key), 0,
				     (void *)(uintptr_t)*ret_ref)
		    : -ENOMEM;
}

/* Adds a pool slot for a variable's address. The address is set when the variable is placed. */
static int pool_variable(struct ts_ptx_decoder *d, uint32_t variable, uint64_t addend,
			 uint32_t *ret_ref)
{
	struct ts_ptx_image *image = d->image;
	uint32_t slot;
	int r;

	for (uint32_t i = image->n_pool_addresses; i-- > 0 && image->n_pool_addresses - i < 256;) {
		const struct ts_ptx_pool_address *a = &image->pool_addresses[i];

		if (a->variable == variable && a->addend == addend) {
			*ret_ref = a->slot | TS_PTX_POOL;
			return 0;
		}
	}
	r = pool_reserve(image, 256, &slot);
	if (!r)
		r = ts_ptx_reserve(&image->pool_addresses, image->n_pool_addresses,
				   &image->pool_addresses_capacity, sizeof(*image->pool_addresses));
	if (r)
		return r;
	pool_fill(image, slot, 0, CLASS_64);
	image->pool_addresses[image->n_pool_addresses++] =
		(struct ts_ptx_pool_address){slot, variable, addend};
	*ret_ref = slot | TS_PTX_POOL;
	return 0;
}

int ts_ptx_image_place(struct ts_ptx_image *image, size_t i, uint64_t address)
{
	if (i >= image->n_variables || address >= TS_PTX_WINDOW(0) ||
	    address % image->variables[i].info.align)
		return -EINVAL;
	image->variables[i].info.address = address;
	for (uint32_t k = 0; k < image->n_pool_addresses; k++)
		if (image->pool_addresses[k].variable == i)
			pool_fill(image, image->pool_addresses[k].slot,
				  address + image->pool_addresses[k].addend, CLASS_64);
	return 0;
}

static uint64_t literal(const struct ts_ptx_operand *o, enum ts_ptx_type type)
{
	bool wide = type == TY_F64, is_float = wide || type == TY_F32 || type == TY_TF32;
	double x;

	if (o->kind == OPERAND_IMM && !is_float)
		return o->imm;
	if (o->kind == OPERAND_IMM)
		x = (double)(int64_t)o->imm;
	else if (o->single && !wide)
		return o->imm;
	else if (o->single)
		x = (double)ts_ptx_float((uint32_t)o->imm);
	else if (ts_ptx_types[type].bytes == 8)
		return o->imm;
	else
		x = ts_ptx_double(o->imm);
	if (type == TY_F16)
		return ts_ptx_to_f16((float)x);
	return wide ? ts_ptx_bits64(x) : ts_ptx_bits((float)x);
}

struct ts_ptx_insn ts_ptx_insn_of(const struct ts_ptx_decoder *d, enum ts_ptx_family family,
				  enum ts_ptx_type type)
{
	return (struct ts_ptx_insn){.fn = d->ops->fn[family][type],
				    .dst = TS_PTX_NONE,
				    .a = TS_PTX_NONE,
				    .b = TS_PTX_NONE,
				    .c = TS_PTX_NONE,
				    .n = 1,
				    .target = TS_PTX_NONE,
				    .reconverge = TS_PTX_NONE};
}

int ts_ptx_emit(struct ts_ptx_decoder *d, const struct ts_ptx_insn *in, struct ts_ptx_note note)
{
	const struct ts_ptx_stmt *s = d->stmt;
	uint32_t capacity = d->capacity, notes = d->capacity, origins = d->capacity;
	struct ts_ptx_insn *out;
	int r;

	if (in->kind == KIND_OP && !in->fn)
		return ts_ptx_unsupported(d);
	r = ts_ptx_reserve(&d->insns, d->n_insns, &capacity, sizeof(*d->insns));
	if (!r)
		r = ts_ptx_reserve(&d->notes, d->n_insns, &notes, sizeof(*d->notes));
	if (!r)
		r = ts_ptx_reserve(&d->origins, d->n_insns, &origins, sizeof(*d->origins));
	if (r)
		return r;
	d->capacity = capacity;
	out = &d->insns[d->n_insns];
	*out = *in;
	if (in->guard == TS_PTX_NONE) {
		out->guard = TS_PTX_FRAME_TRUE;
	} else if (s && s->guard != UINT32_MAX) {
		out->guard = TS_PTX_VREG_OF(s->guard);
		out->guard_xor ^= s->guard_negated ? UINT32_MAX : 0;
	}
	d->notes[d->n_insns] = note;
	if (s)
		d->origins[d->n_insns] = (struct ts_ptx_origin){s->line, s->source_line,
								s->source_file, s == d->releasing};
	d->n_insns++;
	return 0;
}

int ts_ptx_list_add(struct ts_ptx_decoder *d, uint32_t value)
{
	int r = ts_ptx_reserve(&d->operands, d->n_operands, &d->operands_capacity,
			       sizeof(*d->operands));

	if (!r)
		d->operands[d->n_operands++] = value;
	return r;
}

int ts_ptx_guard_open(struct ts_ptx_decoder *d, uint32_t *ret_bra)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);

	*ret_bra = TS_PTX_NONE;
	if (d->stmt->guard == UINT32_MAX)
		return 0;
	*ret_bra = d->n_insns;
	in.kind = KIND_BRA;
	in.guard_xor = UINT32_MAX;
	in.flags = INSN_CONDITIONAL;
	return ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

int ts_ptx_guard_close(struct ts_ptx_decoder *d, uint32_t bra)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_NOP, TY_NONE);

	if (bra == TS_PTX_NONE)
		return 0;
	d->insns[bra].target = d->n_insns;
	in.kind = KIND_JOIN;
	in.guard = TS_PTX_NONE;
	return ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

static int sreg_operand(struct ts_ptx_decoder *d, enum ts_ptx_sreg sreg, uint64_t addend,
			enum ts_ptx_class class, uint32_t *ret_ref)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, F_SREG, TY_NONE);
	int r = ts_ptx_temp(d, class, &in.dst);

	in.aux = sreg;
	in.imm = addend;
	in.guard = TS_PTX_NONE;
	d->code->uses_reserved_shared |= sreg == SREG_RESERVED_SMEM;
	if (class == CLASS_64)
		in.flags |= INSN_DST64;
	*ret_ref = in.dst;
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}

/* Makes an operand of the address of a variable. */
static int var_operand(struct ts_ptx_decoder *d, const struct ts_ptx_var *v, int64_t off,
		       enum ts_ptx_class class, uint32_t *ret_ref)
{
	struct ts_ptx_insn in;
	int r;

	switch (v->space) {
	case SP_SHARED:
		if (v->unsized || v->linkage == LINK_EXTERN) {
			d->code->uses_dynamic_shared = true;
			return sreg_operand(d, SREG_DYNAMIC_SMEM_OFFSET, (uint64_t)off, class,
					    ret_ref);
		}
		if (v->offset + v->bytes > d->code->shared_bytes)
			d->code->shared_bytes = (uint32_t)(v->offset + v->bytes);
		return ts_ptx_pool_value(d->image, v->offset + (uint64_t)off, class, ret_ref);
	case SP_PARAM:
		if (d->func->entry && v->image == d->func)
			return ts_ptx_pool_value(d->image, v->offset + (uint64_t)off, class,
						 ret_ref);
		__attribute__((fallthrough));
	case SP_LOCAL:
		in = ts_ptx_insn_of(d, F_LOCAL_ADDRESS, TY_NONE);
		r = ts_ptx_temp(d, class, &in.dst);
		in.imm = v->offset + (uint64_t)off;
		in.guard = TS_PTX_NONE;
		if (class == CLASS_64)
			in.flags |= INSN_DST64;
		*ret_ref = in.dst;
		return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
	default:
		if (class != CLASS_64)
			return ts_ptx_bad(d, "the address needs a 64-bit register");
		if (!v->image)
			return ts_ptx_fail(d->error, TS_PTX_E_LINK, d->stmt->line,
					   "line %u: %s is used in %s, but no module defines it",
					   d->stmt->line, v->name, d->func->name);
		return pool_variable(d,
				     (uint32_t)((struct ts_ptx_image_variable *)v->image -
						d->image->variables),
				     (uint64_t)off, ret_ref);
	}
}

static int name_operand(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
			enum ts_ptx_class class, uint32_t *ret_ref)
{
	struct ts_ptx_symbol *s = ts_ptx_resolve_name(d->image, d->module, o->name);

	if (!s)
		return ts_ptx_fail(d->error, TS_PTX_E_SYNTAX, d->stmt->line,
				   "line %u: %.100s is not declared, in function %.80s",
				   d->stmt->line, o->name, d->func->name);
	if (s->var)
		return var_operand(d, s->var, o->off, class, ret_ref);
	if (class != CLASS_64 || !s->func->image)
		return ts_ptx_bad(d, "the address of a function needs a 64-bit register");
	return ts_ptx_pool_value(d->image,
				 TS_PTX_WINDOW_FUNCTION +
					 (uint64_t)((struct ts_ptx_code *)s->func->image -
						    d->image->codes) *
						 TS_PTX_FUNCTION_STRIDE,
				 CLASS_64, ret_ref);
}

static int src_class(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		     enum ts_ptx_type type, enum ts_ptx_class class, uint32_t *ret_ref)
{
	switch (o->kind) {
	case OPERAND_REG:
		if (o->negated || o->reg2 != UINT32_MAX)
			return ts_ptx_bad(d, "an operand has the wrong kind");
		if (d->classes[o->reg] != class)
			return ts_ptx_bad(d, "a register's size differs from the instruction's");
		*ret_ref = TS_PTX_VREG_OF(o->reg);
		return 0;
	case OPERAND_IMM:
	case OPERAND_FIMM:
		return ts_ptx_pool_value(d->image, literal(o, type), class, ret_ref);
	case OPERAND_SREG:
		return sreg_operand(d, (enum ts_ptx_sreg)o->imm, 0, class, ret_ref);
	case OPERAND_VAR:
		return var_operand(d, o->var, o->off, class, ret_ref);
	case OPERAND_NAME:
		return name_operand(d, o, class, ret_ref);
	default:
		return ts_ptx_bad(d, "an operand has the wrong kind");
	}
}

int ts_ptx_src(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_type type,
	       uint32_t *ret_ref)
{
	if (type == TY_PRED || type == TY_B128)
		return ts_ptx_unsupported(d);
	return src_class(d, o, type, ts_ptx_class_of(type), ret_ref);
}

int ts_ptx_src_any(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_type type,
		   uint32_t *ret_ref, bool *ret_64)
{
	enum ts_ptx_class class = ts_ptx_class_of(type);

	if (o->kind == OPERAND_REG)
		class = d->classes[o->reg];
	if (class != CLASS_32 && class != CLASS_64)
		return ts_ptx_bad(d, "the instruction does not support this kind of register");
	*ret_64 = class == CLASS_64;
	return src_class(d, o, type, class, ret_ref);
}

int ts_ptx_pair_of(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		   struct ts_ptx_operand ret_halves[2])
{
	if (o->kind == OPERAND_LIST && o->n_list == 2) {
		ret_halves[0] = o->list[0];
		ret_halves[1] = o->list[1];
		return 0;
	}
	if (o->kind == OPERAND_SINK) {
		ret_halves[0] = ret_halves[1] = *o;
		return 0;
	}
	if (o->kind != OPERAND_REG || o->negated || o->reg2 != UINT32_MAX ||
	    d->classes[o->reg] != CLASS_128)
		return ts_ptx_bad(d, "the operand must be a 128-bit register");
	ret_halves[0] = ret_halves[1] = *o;
	ret_halves[0].reg = d->halves[o->reg];
	ret_halves[1].reg = d->halves[o->reg] + 1;
	return 0;
}

int ts_ptx_src_pred(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t *ret_ref,
		    bool *ret_negated)
{
	*ret_negated = o->negated;
	if (o->kind == OPERAND_IMM)
		return ts_ptx_pool_value(d->image, o->imm != 0, CLASS_PRED, ret_ref);
	if (o->kind != OPERAND_REG || d->classes[o->reg] != CLASS_PRED)
		return ts_ptx_bad(d, "the operand must be a predicate");
	*ret_ref = TS_PTX_VREG_OF(o->reg);
	return 0;
}

int ts_ptx_dst(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_class class,
	       uint32_t *ret_ref)
{
	if (o->kind == OPERAND_SINK)
		return ts_ptx_temp(d, class, ret_ref);
	if (o->kind != OPERAND_REG || d->classes[o->reg] != class)
		return ts_ptx_bad(d, "the result must be a register of the instruction's size");
	*ret_ref = TS_PTX_VREG_OF(o->reg);
	return 0;
}

int ts_ptx_dst_any(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t *ret_ref,
		   bool *ret_64)
{
	enum ts_ptx_class class = o->kind == OPERAND_REG ? d->classes[o->reg] : CLASS_32;

	*ret_64 = class == CLASS_64;
	if (class != CLASS_32 && class != CLASS_64)
		return ts_ptx_bad(d, "the instruction does not support this kind of register");
	return ts_ptx_dst(d, o, class, ret_ref);
}

int ts_ptx_simple(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type, int n)
{
	struct ts_ptx_insn in = ts_ptx_insn_of(d, family, type);
	const struct ts_ptx_operand *o = d->stmt->operands;
	uint32_t *fields[] = {&in.a, &in.b, &in.c};
	int r = ts_ptx_done(d, (uint32_t)n + 1);

	if (!type)
		return ts_ptx_unsupported(d);
	for (int i = 0; i < n && !r; i++)
		r = ts_ptx_src(d, &o[i + 1], type, fields[i]);
	if (!r)
		r = ts_ptx_dst(d, &o[0], ts_ptx_class_of(type), &in.dst);
	return r ? r : ts_ptx_emit(d, &in, (struct ts_ptx_note){0});
}
