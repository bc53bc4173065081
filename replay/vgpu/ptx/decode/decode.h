/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the decoder's files. During decoding, an operand field of an instruction contains a
 * virtual register, a pool offset, or a fixed offset of the frame. alloc.c replaces virtual
 * registers by slots when the whole function is decoded.
 */
#pragma once

#include <errno.h>
#include <string.h>

#include "replay/vgpu/ptx/lanes/ops.h"

#define TS_PTX_VREG	   0x80000000u
#define TS_PTX_IS_VREG(v)  (((v)&0x80000001u) == 0x80000000u)
#define TS_PTX_VREG_OF(id) (TS_PTX_VREG | (id) << 1)
#define TS_PTX_VREG_ID(v)  (((v)&0x7fffffffu) >> 1)

enum ts_ptx_class {
	CLASS_PRED,
	CLASS_32,
	CLASS_64,
	CLASS_128, /* two 64-bit registers; no instruction uses it */
	N_CLASSES
};

/* Fields with registers, besides dst (written) and a, b, c, guard (read). */
enum {
	ROLE_DST_READ = 1, /* the old value of the result matters */
	ROLE_TARGET_WRITE = 2,
	ROLE_RECONVERGE_READ = 4,
	ROLE_AUX_READ = 8,
	ROLE_LIST_READ = 16, /* n operands at aux */
	ROLE_LIST_WRITE = 32,
	ROLE_LIST_CALL = 64,   /* a list of triples */
	ROLE_LIST_TABLE = 128, /* target instructions at aux, no registers */
	/* together with ROLE_LIST_WRITE: an element of the list may be TS_PTX_NONE */
	ROLE_LIST_DROPS = 256,
};

struct ts_ptx_note {
	uint16_t roles;
	uint8_t n_list;	      /* elements; for calls: returns and parameters */
	uint8_t n_list_write; /* written elements at the start of the list */
	bool keep;	      /* a join that must stay */
};

struct ts_ptx_fixup {
	const char *label;
	uint32_t line, scope;
	/* the branch whose target is the label; TS_PTX_NONE: `operand` is set instead */
	uint32_t insn;
	uint32_t operand; /* index in the operand list of the element that gets the label */
};

struct ts_ptx_decoder {
	struct ts_ptx_image *image;
	struct ts_ptx_module *module;
	struct ts_ptx_func *func;
	struct ts_ptx_code *code;
	struct ts_ptx_error *error;
	const struct ts_ptx_optable *ops;
	const struct ts_ptx_stmt *stmt;
	const struct ts_ptx_stmt *releasing; /* the last statement with release semantics */
	struct {
		const char *text;
		uint32_t n;
		bool used;
	} mods[16];
	uint32_t n_mods;
	struct ts_ptx_insn *insns;
	struct ts_ptx_note *notes;
	struct ts_ptx_origin *origins;
	uint32_t n_insns, capacity;
	uint32_t *operands;
	uint32_t n_operands, operands_capacity;
	uint8_t *classes; /* class of each virtual register */
	/* Per 128-bit register: the id of its low half; the high half has the next id. */
	uint32_t *halves;
	/* register of the stack pointer, if the function uses alloca; else TS_PTX_NONE */
	uint32_t stack_pointer;
	uint32_t n_vregs, vregs_capacity;
	struct ts_ptx_fixup *fixups;
	uint32_t n_fixups, fixups_capacity;
	uint32_t *callees;
	uint32_t n_callees, callees_capacity;
};

typedef int (*ts_ptx_decode_fn)(struct ts_ptx_decoder *d);
struct ts_ptx_mnemonic {
	const char *name;
	ts_ptx_decode_fn decode;
};
extern const struct ts_ptx_mnemonic ts_ptx_mnemonics_arith[], ts_ptx_mnemonics_bits[],
	ts_ptx_mnemonics_move[], ts_ptx_mnemonics_memory[], ts_ptx_mnemonics_control[],
	ts_ptx_mnemonics_tensor[], ts_ptx_mnemonics_matrix[], ts_ptx_mnemonics_video[],
	ts_ptx_mnemonics_atom[];

/* decode.c */
extern const struct ts_ptx_mnemonic *const ts_ptx_mnemonic_tables[]; /* NULL-terminated */

/* emit.c */
int ts_ptx_reserve(void *array, uint32_t n, uint32_t *capacity, size_t element_bytes);
bool ts_ptx_mod(struct ts_ptx_decoder *d, const char *name);
enum ts_ptx_type ts_ptx_mod_type(struct ts_ptx_decoder *d);
enum ts_ptx_rounding ts_ptx_mod_rounding(struct ts_ptx_decoder *d);
/* Checks that every modifier is used and the number of operands is right. Returns 0 or an error. */
int ts_ptx_done(struct ts_ptx_decoder *d, uint32_t n_operands);
int ts_ptx_unsupported(struct ts_ptx_decoder *d);
int ts_ptx_bad(struct ts_ptx_decoder *d, const char *why);
enum ts_ptx_class ts_ptx_class_of(enum ts_ptx_type type);
int ts_ptx_src(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_type type,
	       uint32_t *ret_ref);
/* Accepts a register of any width. */
int ts_ptx_src_any(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_type type,
		   uint32_t *ret_ref, bool *ret_64);
/* Returns the halves of a 128-bit register or of a pair in braces. */
int ts_ptx_pair_of(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		   struct ts_ptx_operand ret_halves[2]);
int ts_ptx_src_pred(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t *ret_ref,
		    bool *ret_negated);
int ts_ptx_dst(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, enum ts_ptx_class class,
	       uint32_t *ret_ref);
int ts_ptx_dst_any(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t *ret_ref,
		   bool *ret_64);
int ts_ptx_temp(struct ts_ptx_decoder *d, enum ts_ptx_class class, uint32_t *ret_ref);
int ts_ptx_pool_value(struct ts_ptx_image *image, uint64_t value, enum ts_ptx_class class,
		      uint32_t *ret_ref);
struct ts_ptx_insn ts_ptx_insn_of(const struct ts_ptx_decoder *d, enum ts_ptx_family family,
				  enum ts_ptx_type type);
int ts_ptx_emit(struct ts_ptx_decoder *d, const struct ts_ptx_insn *in, struct ts_ptx_note note);
int ts_ptx_list_add(struct ts_ptx_decoder *d, uint32_t value);
/*
 * Emit a branch around an instruction that must not be guarded, and the join after that
 * instruction.
 */
int ts_ptx_guard_open(struct ts_ptx_decoder *d, uint32_t *ret_bra);
int ts_ptx_guard_close(struct ts_ptx_decoder *d, uint32_t bra);
/* Decodes d, a, b, ... of one type, with n sources. */
int ts_ptx_simple(struct ts_ptx_decoder *d, enum ts_ptx_family family, enum ts_ptx_type type,
		  int n);

/* decode-memory.c */
/* Decodes [address]: sets a, imm, flags and the space. */
int ts_ptx_address(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o,
		   enum ts_ptx_space space, struct ts_ptx_insn *in);
enum ts_ptx_space ts_ptx_mod_space(struct ts_ptx_decoder *d);
/* Consumes memory order and scope. True: the access is volatile, relaxed or stronger. */
bool ts_ptx_mod_sync(struct ts_ptx_decoder *d);
uint32_t ts_ptx_mod_vector(struct ts_ptx_decoder *d);

/* decode-wmma.c */
/* Adds the registers of one fragment to the operand list. */
int ts_ptx_fragment(struct ts_ptx_decoder *d, const struct ts_ptx_operand *o, uint32_t n,
		    enum ts_ptx_type type, bool write);
/* Makes `in` an instruction that all 32 lanes run together. */
int ts_ptx_whole_warp(struct ts_ptx_decoder *d, struct ts_ptx_insn *in, uint32_t *ret_bra);

/* cfg.c: computes blocks and reconvergence, and removes unused joins. */
int ts_ptx_cfg(struct ts_ptx_decoder *d);
/* alloc.c: gives virtual registers their slots. */
int ts_ptx_alloc(struct ts_ptx_decoder *d);
