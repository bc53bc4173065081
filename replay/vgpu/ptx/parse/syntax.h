/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed module: the parser creates it, the linker and the decoder read it. All its memory is in
 * the module's arena except arrays and maps of functions.
 */
#pragma once

#include "proto/abi/map.h"
#include "replay/vgpu/ptx/ptx.h"

enum ts_ptx_type {
	TY_NONE,
	TY_B8,
	TY_B16,
	TY_B32,
	TY_B64,
	TY_B128,
	TY_U8,
	TY_U16,
	TY_U32,
	TY_U64,
	TY_S8,
	TY_S16,
	TY_S32,
	TY_S64,
	TY_F16,
	TY_F16X2,
	TY_BF16,
	TY_BF16X2,
	TY_TF32,
	TY_F32,
	TY_F32X2,
	TY_F64,
	TY_U16X2,
	TY_S16X2,
	TY_E4M3X2,
	TY_E5M2X2,
	/* only for elements of matrices */
	TY_E4M3,
	TY_E5M2,
	TY_S4,
	TY_U4,
	TY_B1,
	TY_PRED,
	TY_N,
};

enum ts_ptx_space {
	SP_GENERIC,
	SP_GLOBAL,
	SP_CONST,
	SP_SHARED,
	SP_LOCAL,
	SP_PARAM,
	SP_REG,
};

enum ts_ptx_linkage {
	LINK_NONE,
	LINK_VISIBLE,
	LINK_WEAK,
	LINK_COMMON,
	LINK_EXTERN,
};

enum {
	TS_PTX_MAX_TEXT_BYTES = 256 << 20,
	TS_PTX_MAX_REGISTERS = 1 << 20, /* per function */
	TS_PTX_MAX_OPERANDS = 16,
	TS_PTX_MAX_LIST = 255,
	TS_PTX_MAX_DEPTH = 64, /* nested braces and lists */
};

/*
 * Bump allocator. _get() returns zeroed memory, _string() a copy of the text; NULL: no memory.
 * _deinit() frees all of it at once.
 */
struct ts_ptx_arena {
	struct ts_ptx_arena_chunk *chunks;
	size_t used;
};
void *ts_ptx_arena_get(struct ts_ptx_arena *arena, size_t n_bytes);
char *ts_ptx_arena_string(struct ts_ptx_arena *arena, const char *text, size_t n);
void ts_ptx_arena_deinit(struct ts_ptx_arena *arena);

/*
 * Map from strings to pointers, in order of insertion. A new value replaces the old one of its key
 * and scope.
 */
struct ts_ptx_map_entry {
	const char *key;
	uint32_t n, scope;
	void *value;
};
struct ts_ptx_map {
	struct ts_ptx_map_entry *entries;
	size_t n_entries, n_allocated;
	struct ts_hashindex index;
};
int ts_ptx_map_put(struct ts_ptx_map *map, const char *key, size_t n, uint32_t scope, void *value);
void *ts_ptx_map_get(const struct ts_ptx_map *map, const char *key, size_t n, uint32_t scope);
void ts_ptx_map_deinit(struct ts_ptx_map *map);

/* One element of an initialiser: bytes, or an address. */
struct ts_ptx_init {
	struct ts_ptx_init *next;
	uint64_t offset;
	uint32_t bytes; /* 1..8 */
	uint64_t value; /* the addend if name is set */
	uint64_t mask;	/* selects bits of the address and shifts them down; 0: all */
	const char *name;
	uint32_t line;
};

struct ts_ptx_var {
	struct ts_ptx_var *next;
	const char *name;
	enum ts_ptx_space space;
	enum ts_ptx_linkage linkage;
	enum ts_ptx_type type;
	uint64_t bytes; /* 0: unsized (extern shared) */
	uint32_t align;
	uint32_t line;
	bool managed;
	bool unsized;
	/* Kernel parameters: in the parameter buffer. Others: set by the decoder. */
	uint64_t offset;
	struct ts_ptx_init *inits;
	int reg;     /* parameter in .reg space: register id; else -1 */
	void *image; /* set by the linker */
};

struct ts_ptx_reg {
	enum ts_ptx_type type;
	/* number of the register in its range, or of the component in its vector */
	uint32_t number;
	const char *name; /* name of the register; if it is in a range, of the range */
	bool is_range;
};

/* A range of registers from name<count>, or one register (count 0). */
struct ts_ptx_regs {
	uint32_t first, count;
	enum ts_ptx_type type;
	uint8_t vector; /* 0, 2 or 4 */
};

enum ts_ptx_operand_kind {
	OPERAND_REG,
	OPERAND_IMM,  /* imm: 64-bit integer */
	OPERAND_FIMM, /* imm: bits of a double, or of a float if single is set */
	OPERAND_NAME, /* variable, function or label; not resolved yet */
	OPERAND_VAR,  /* var [+ off] */
	OPERAND_SREG, /* imm: enum ts_ptx_sreg */
	OPERAND_ADDR, /* [list[0] + off] */
	OPERAND_LIST, /* {a, b} or (a, b) */
	OPERAND_SINK, /* _ */
};

struct ts_ptx_operand {
	uint8_t kind;
	bool negated; /* !p */
	bool single;
	bool paren;
	uint8_t n_list;
	uint32_t reg, reg2; /* reg2: d|p; UINT32_MAX: none */
	uint64_t imm;
	int64_t off;
	const char *name;
	struct ts_ptx_var *var;
	struct ts_ptx_operand *list;
};

struct ts_ptx_stmt {
	const char *opcode; /* complete: "add.rn.f32" */
	uint32_t line;
	uint32_t scope; /* for labels */
	uint32_t source_line, source_file;
	uint32_t guard; /* register id; UINT32_MAX: none */
	bool guard_negated;
	uint8_t n_operands;
	struct ts_ptx_operand *operands;
};

struct ts_ptx_label {
	const char *name;
	uint32_t stmt; /* index of the next statement */
	/* .branchtargets */
	bool is_table;
	uint32_t n_targets, line, scope;
	const char **targets;
};

struct ts_ptx_scope {
	uint32_t parent;
};

struct ts_ptx_func {
	struct ts_ptx_func *next;
	const char *name;
	enum ts_ptx_linkage linkage;
	bool entry, defined;
	uint32_t line;
	struct ts_ptx_var *params, *returns; /* lists in order */
	uint32_t n_params, n_returns, params_bytes;
	uint32_t max_threads, required[3], min_blocks, cluster[3];
	struct ts_ptx_var *vars; /* declared in the body */
	struct ts_ptx_reg *regs;
	uint32_t n_regs, regs_capacity;
	struct ts_ptx_stmt *stmts;
	uint32_t n_stmts, stmts_capacity;
	struct ts_ptx_scope *scopes;
	uint32_t n_scopes, scopes_capacity;
	struct ts_ptx_map labels;
	struct ts_ptx_map names; /* only while parsing */
	void *image;		 /* set by the linker */
	const char *alias;	 /* .alias name, aliasee */
};

struct ts_ptx_file {
	struct ts_ptx_file *next;
	uint32_t number;
	const char *path;
};

struct ts_ptx_module {
	struct ts_ptx_arena arena;
	struct ts_ptx_map symbols; /* struct ts_ptx_symbol */
	struct ts_ptx_func *funcs, **funcs_end;
	struct ts_ptx_var *vars, **vars_end;
	struct ts_ptx_file *files;
	uint32_t version; /* major * 10 + minor */
	uint32_t sm;
};

struct ts_ptx_symbol {
	struct ts_ptx_func *func;
	struct ts_ptx_var *var;
};

/* types.c */
struct ts_ptx_type_info {
	const char *name;
	uint8_t bytes; /* pred: 0 */
	char klass;    /* b, u, s, f, p; h: packed pairs; x: not in registers */
};
extern const struct ts_ptx_type_info ts_ptx_types[TY_N];
enum ts_ptx_type ts_ptx_type_of(const char *name, size_t n);

enum ts_ptx_sreg {
	SREG_NONE,
	SREG_TID_X,
	SREG_TID_Y,
	SREG_TID_Z,
	SREG_NTID_X,
	SREG_NTID_Y,
	SREG_NTID_Z,
	SREG_CTAID_X,
	SREG_CTAID_Y,
	SREG_CTAID_Z,
	SREG_NCTAID_X,
	SREG_NCTAID_Y,
	SREG_NCTAID_Z,
	SREG_LANEID,
	SREG_WARPID,
	SREG_NWARPID,
	SREG_SMID,
	SREG_NSMID,
	SREG_GRIDID,
	SREG_LANEMASK_EQ,
	SREG_LANEMASK_LE,
	SREG_LANEMASK_LT,
	SREG_LANEMASK_GE,
	SREG_LANEMASK_GT,
	SREG_CLOCK,
	SREG_CLOCK_HI,
	SREG_CLOCK64,
	SREG_GLOBALTIMER,
	SREG_GLOBALTIMER_LO,
	SREG_GLOBALTIMER_HI,
	SREG_DYNAMIC_SMEM_SIZE,
	SREG_TOTAL_SMEM_SIZE,
	SREG_AGGR_SMEM_SIZE,
	SREG_ENVREG1,
	SREG_ENVREG2,
	/*
	 * Zero without clusters: envreg0, 3.., is_explicit_cluster, cluster_ctaid, cluster_ctarank.
	 */
	SREG_ZERO,
	SREG_ONE, /* cluster_nctaid, cluster_nctarank */
	SREG_CURRENT_GRAPH_EXEC,
	SREG_RESERVED_SMEM, /* shared memory of cooperative groups, behind the kernel's own */
	SREG_RESERVED_SMEM_END,
	SREG_RESERVED_SMEM_SIZE,
	SREG_DYNAMIC_SMEM_OFFSET, /* our own: start of extern shared arrays */
};
enum ts_ptx_sreg ts_ptx_sreg_of(const char *name, size_t n);
bool ts_ptx_sreg_is_64(enum ts_ptx_sreg sreg);
/* Stores an error and returns code. If an error is already stored, keeps the first one. */
int ts_ptx_fail(struct ts_ptx_error *error, int code, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
