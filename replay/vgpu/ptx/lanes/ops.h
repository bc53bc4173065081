/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor's functions, by family and type. The files of lane loops are compiled once per
 * instruction set of the host (TS_PTX_ISA), and each copy fills its own table. The linker uses the
 * best table that the CPU supports.
 */
#pragma once

#include "replay/vgpu/ptx/code.h"

enum ts_ptx_family {
	/* integers, and floats with the same name */
	F_MOV, /* by width: b32, b64, pred */
	F_ADD,
	F_SUB,
	F_MUL, /* low half */
	F_MUL_HI,
	F_MUL_WIDE,
	F_MAD,
	F_MAD_HI,
	F_MAD_WIDE,
	F_FMA,
	F_DIV,
	F_REM,
	F_ABS,
	F_NEG,
	F_MIN,
	F_MAX,
	F_MIN_NAN,
	F_MAX_NAN,
	F_MIN_XORSIGN,
	F_MAX_XORSIGN,
	F_AND, /* by width and pred */
	F_OR,
	F_XOR,
	F_NOT,
	F_CNOT,
	F_SHL,
	F_SHR,
	F_SAD,
	F_SELP,
	F_ADD_SAT,
	F_SUB_SAT,
	F_MAD_HI_SAT,
	F_ADD_CARRY, /* aux: reads a carry; flags: writes one */
	F_SUB_CARRY,
	F_MAD_CARRY,
	F_MAD_HI_CARRY,
	F_MUL24,
	F_MUL24_HI,
	F_LOP3,
	F_SHF_L,
	F_SHF_R,
	F_PRMT, /* aux: mode */
	F_POPC,
	F_CLZ,
	F_BREV,
	F_BFIND, /* aux: shiftamt */
	F_BFE,
	F_BFI,
	F_BMSK, /* aux: wrap */
	F_SZEXT,
	F_FNS,
	F_DP4A, /* aux: bit 0: a is signed, bit 1: b is signed */
	F_DP2A, /* as F_DP4A; bit 2: hi */
	/* comparisons, in the order of enum ts_ptx_cmp */
	F_SETP,
	F_SETP_LAST = F_SETP + 13,
	F_SET,	    /* by the type written: its true value or zero, by predicate a */
	F_SLCT,	    /* by width of d; c as s32 */
	F_SLCT_F32, /* c as f32 */
	F_TESTP,    /* aux: the property */
	/* float */
	F_SQRT,
	F_RCP,
	F_RSQRT_APPROX,
	F_SQRT_APPROX,
	F_RCP_APPROX,
	F_DIV_APPROX,
	F_SIN,
	F_COS,
	F_LG2,
	F_EX2,
	F_TANH,
	F_COPYSIGN,
	F_SATURATE,
	F_FMA_RELU,
	F_ROUND, /* calls inner with the modes in space */
	/* conversions */
	F_CVT,		    /* aux: types and modes */
	F_CVT_FAST_F32_S32, /* rn, also the next ones */
	F_CVT_FAST_F32_U32,
	F_CVT_FAST_S32_F32, /* rzi */
	F_CVT_FAST_F64_F32,
	F_CVT_FAST_F32_F64,
	F_CVT_FAST_F64_S32,
	F_CVT_FAST_S64_S32,
	F_CVT_FAST_U64_U32,
	F_CVT_FAST_U32_U64,
	F_CVT_FAST_F32_F16,
	F_CVT_FAST_F16_F32,
	F_CVT_FAST_F32_BF16,
	F_CVT_FAST_BF16_F32,
	F_CVT_ROUND_F32, /* by the target: an f32, rounded to an integer; aux as in F_CVT */
	F_CVT_ROUND_F64,
	F_CVT_TO_F32, /* by the source: an integer, to nearest */
	F_CVT_TO_F64,
	F_CVT_SAT,
	F_CVT_INT,    /* by widths; aux: TS_PTX_CVT_INT_AUX */
	F_CVT_PACK,   /* two floats to a pair; aux as in F_CVT */
	F_CVT_UNPACK, /* f16x2 from e4m3x2 or e5m2x2 */
	F_CVT_PACK_INT,
	F_PACK,	  /* mov.bN d, {a, b, ..} */
	F_UNPACK, /* mov.bN {a, b, ..}, d */
	/* memory */
	F_LD, /* by type b8..s64, into 32-bit slots; F_LD64: into 64-bit slots */
	F_LD64,
	F_LD_PARAM, /* a kernel's parameter at imm */
	F_LD_PARAM64,
	F_ST,
	F_ST64,		 /* the value is in 64-bit slots */
	F_LOCAL_ADDRESS, /* d = frame's local base + imm */
	F_CVTA,		 /* imm: the window to add, or its negative */
	F_ISSPACEP,
	F_SREG,
	F_FENCE,
	F_CP_ASYNC,
	F_PREFETCH,
	F_ATOM, /* aux: TS_PTX_ATOM_OP and type */
	F_ATOM_CAS,
	/* n words in the list, as halves: result, value, new value; then enum ts_ptx_atom128 */
	F_ATOM128,
	F_ATOM_VECTOR, /* n elements: the list has results, values, then a word as F_ATOM's aux */
	F_ALLOCA,      /* a: bytes, b and target: the stack pointer, aux: alignment */
	F_MAPA,	       /* b: rank */
	F_CP_BULK,
	F_VIDEO, /* aux: TS_PTX_VIDEO */
	F_MBARRIER,
	/* the warp */
	F_SHFL,	 /* aux: mode */
	F_VOTE,	 /* aux: mode */
	F_MATCH, /* aux: 0 any, 1 all */
	F_REDUX, /* aux: operation */
	F_ELECT,
	F_ACTIVEMASK,
	F_MMA,
	F_WMMA_LOAD, /* b: stride */
	F_WMMA_STORE,
	F_LDMATRIX,
	F_STMATRIX,
	F_MOVMATRIX,
	F_NOP,
	F_N,
};

enum ts_ptx_cmp {
	CMP_EQ,
	CMP_NE,
	CMP_LT,
	CMP_LE,
	CMP_GT,
	CMP_GE,
	CMP_EQU,
	CMP_NEU,
	CMP_LTU,
	CMP_LEU,
	CMP_GTU,
	CMP_GEU,
	CMP_NUM,
	CMP_NAN,
};

enum ts_ptx_boolop {
	BOOL_NONE,
	BOOL_AND,
	BOOL_OR,
	BOOL_XOR
};

/* aux of F_SETP */
#define TS_PTX_SETP_AUX(boolop, negate_c) ((uint32_t)(boolop) | (uint32_t)(negate_c) << 4)

enum ts_ptx_rounding {
	ROUND_RN,
	ROUND_RZ,
	ROUND_RM,
	ROUND_RP,
	ROUND_RNA,
	ROUND_NONE
};

/* aux of F_CVT: types and modes */
#define TS_PTX_CVT_TO(aux)    ((aux)&31)
#define TS_PTX_CVT_FROM(aux)  ((aux) >> 5 & 31)
#define TS_PTX_CVT_ROUND(aux) ((aux) >> 10 & 7)
#define TS_PTX_CVT_INTEGER    (1u << 13) /* .rni and others: round to an integer */
#define TS_PTX_CVT_FTZ	      (1u << 14)
#define TS_PTX_CVT_SAT	      (1u << 15)
#define TS_PTX_CVT_RELU	      (1u << 16)
#define TS_PTX_CVT_SATFINITE  (1u << 17)

/* aux of F_CVT_INT: shift left and back, for source and target, and sign extension */
#define TS_PTX_CVT_INT_AUX(shift_a, signed_a, shift_d, signed_d)                      \
	((uint32_t)(shift_a) | (uint32_t)(signed_a) << 7 | (uint32_t)(shift_d) << 8 | \
	 (uint32_t)(signed_d) << 15)

/* modes of F_ROUND: enum ts_ptx_rounding and these */
#define TS_PTX_MODE_FTZ (1u << 4)
#define TS_PTX_MODE_SAT (1u << 5)

/* aux of KIND_BARRIER; a: number, b: threads, c: predicate, imm: negates it */
enum {
	TS_PTX_BAR_SYNC,
	TS_PTX_BAR_ARRIVE,
	TS_PTX_BAR_CLUSTER_ARRIVE, /* without a number */
	TS_PTX_BAR_CLUSTER_WAIT,
	TS_PTX_BAR_POPC,
	TS_PTX_BAR_AND,
	TS_PTX_BAR_OR
};

enum {
	TS_PTX_SHFL_UP,
	TS_PTX_SHFL_DOWN,
	TS_PTX_SHFL_BFLY,
	TS_PTX_SHFL_IDX
};
enum {
	TS_PTX_VOTE_ALL,
	TS_PTX_VOTE_ANY,
	TS_PTX_VOTE_UNI,
	TS_PTX_VOTE_BALLOT
};
enum {
	TS_PTX_REDUX_ADD,
	TS_PTX_REDUX_AND,
	TS_PTX_REDUX_OR,
	TS_PTX_REDUX_XOR,
	TS_PTX_REDUX_MIN_U,
	TS_PTX_REDUX_MAX_U,
	TS_PTX_REDUX_MIN_S,
	TS_PTX_REDUX_MAX_S,
};

/* aux of F_ATOM: operation and type. */
#define TS_PTX_ATOM_OP(aux)   ((aux)&15)
#define TS_PTX_ATOM_TYPE(aux) ((aux) >> 4)

/* Returns the number of elements in one register of a matrix. */
static inline uint32_t ts_ptx_per_register(enum ts_ptx_type type)
{
	switch (type) {
	case TY_S4:
	case TY_U4:
		return 8;
	case TY_B1:
		return 32;
	default:
		return ts_ptx_types[type].bytes < 4 ? 4u / ts_ptx_types[type].bytes : 1;
	}
}

/* imm of F_MMA: shape and the types of D, A, B and C. The instruction's n is the shape's n. */
#define TS_PTX_MMA(m, k, td, ta, tb, tc)                                                        \
	((uint64_t)(m) | (uint64_t)(k) / 4 << 8 | (uint64_t)(td) << 16 | (uint64_t)(ta) << 24 | \
	 (uint64_t)(tb) << 32 | (uint64_t)(tc) << 40)
#define TS_PTX_MMA_M(imm)    ((uint32_t)(imm)&255)
#define TS_PTX_MMA_K(imm)    (((uint32_t)((imm) >> 8) & 255) * 4)
#define TS_PTX_MMA_D(imm)    ((enum ts_ptx_type)((imm) >> 16 & 255))
#define TS_PTX_MMA_A(imm)    ((enum ts_ptx_type)((imm) >> 24 & 255))
#define TS_PTX_MMA_B(imm)    ((enum ts_ptx_type)((imm) >> 32 & 255))
#define TS_PTX_MMA_C(imm)    ((enum ts_ptx_type)((imm) >> 40 & 255))
#define TS_PTX_MMA_SATFINITE (UINT64_C(1) << 48)
#define TS_PTX_MMA_XOR	     (UINT64_C(1) << 49) /* xor of bits; else and */

/*
 * Describes the matrix of F_WMMA_LOAD and F_WMMA_STORE, in the word behind the registers in the
 * operand list: which matrix, rows, columns, column-major layout, type of the elements.
 */
enum ts_ptx_matrix {
	TS_PTX_MATRIX_A,
	TS_PTX_MATRIX_B,
	TS_PTX_MATRIX_C
};
#define TS_PTX_WMMA(which, rows, columns, by_column, type)                        \
	((uint32_t)(which) | (uint32_t)(by_column) << 2 | (uint32_t)(type) << 3 | \
	 (uint32_t)(rows) << 8 | (uint32_t)(columns) << 16)
#define TS_PTX_WMMA_WHICH(v)	 ((v)&3)
#define TS_PTX_WMMA_BY_COLUMN(v) ((v) >> 2 & 1)
#define TS_PTX_WMMA_TYPE(v)	 ((enum ts_ptx_type)((v) >> 3 & 31))
#define TS_PTX_WMMA_ROWS(v)	 ((v) >> 8 & 255)
#define TS_PTX_WMMA_COLUMNS(v)	 ((v) >> 16)
#define TS_PTX_MATRIX_TRANS	 INSN_SAT

enum {
	TS_PTX_MBARRIER_INIT,
	TS_PTX_MBARRIER_INVAL,
	TS_PTX_MBARRIER_EXPECT_TX,
	TS_PTX_MBARRIER_COMPLETE_TX,
	TS_PTX_MBARRIER_ARRIVE,
	TS_PTX_MBARRIER_ARRIVE_EXPECT_TX,
	TS_PTX_MBARRIER_ARRIVE_DROP,
	TS_PTX_MBARRIER_WAIT,
	TS_PTX_MBARRIER_WAIT_PARITY,
};

enum ts_ptx_atom {
	ATOM_ADD,
	ATOM_AND,
	ATOM_OR,
	ATOM_XOR,
	ATOM_EXCH,
	ATOM_MIN,
	ATOM_MAX,
	ATOM_INC,
	ATOM_DEC,
};

/* The word behind F_ATOM128's list. */
enum ts_ptx_atom128 {
	TS_PTX_ATOM128_LOAD,
	TS_PTX_ATOM128_STORE,
	TS_PTX_ATOM128_EXCH,
	TS_PTX_ATOM128_CAS,
};

enum ts_ptx_video {
	VIDEO_ADD,
	VIDEO_SUB,
	VIDEO_AVRG,
	VIDEO_ABSDIFF,
	VIDEO_MIN,
	VIDEO_MAX,
	VIDEO_SHL,
	VIDEO_SHR,
	VIDEO_SET,
	VIDEO_MAD,
};

/* aux of F_VIDEO. The second operation: 0 none, 1 add, 2 min, 3 max. */
#define TS_PTX_VIDEO_OP_MASK	  15u
#define TS_PTX_VIDEO_PARTS_SHIFT  4
#define TS_PTX_VIDEO_SIGNED_D	  (1u << 7)
#define TS_PTX_VIDEO_SIGNED_A	  (1u << 8)
#define TS_PTX_VIDEO_SIGNED_B	  (1u << 9)
#define TS_PTX_VIDEO_SAT	  (1u << 10)
#define TS_PTX_VIDEO_WRAP	  (1u << 11)
#define TS_PTX_VIDEO_CMP_SHIFT	  12
#define TS_PTX_VIDEO_SCALE_SHIFT  15
#define TS_PTX_VIDEO_SECOND_SHIFT 19

struct ts_ptx_optable {
	const char *isa;
	ts_ptx_fn fn[F_N][TY_N];
	/*
	 * Runs the warp's current split until its slice ends, it stops, or it faults; see
	 * ptx-exec.h.
	 */
	int (*loop)(struct ts_ptx_warp *w);
};

/*
 * misc.c: returns the table of the instruction set `isa`, or the best table if `isa` is NULL.
 * Returns NULL if the CPU does not support the instruction set.
 */
const struct ts_ptx_optable *ts_ptx_ops(const char *isa);
/*
 * ptx-link.c: ts_ptx_link() with a chosen instruction set, for tests. -EINVAL: the CPU does not
 * support it.
 */
int ts_ptx_link_isa(struct ts_ptx_module *const *modules, size_t n_modules, const char *isa,
		    struct ts_ptx_image **ret_image, struct ts_ptx_error *error);

/* Fill functions, one per file and instruction set. */
#define TS_PTX_DECLARE_ISA(isa)                                     \
	void ts_ptx_fill_int_##isa(struct ts_ptx_optable *);        \
	void ts_ptx_fill_set_##isa(struct ts_ptx_optable *);        \
	void ts_ptx_fill_float_##isa(struct ts_ptx_optable *);      \
	void ts_ptx_fill_half_##isa(struct ts_ptx_optable *);       \
	void ts_ptx_fill_mma_##isa(struct ts_ptx_optable *);        \
	void ts_ptx_fill_matrix_##isa(struct ts_ptx_optable *);     \
	void ts_ptx_fill_cvt_##isa(struct ts_ptx_optable *);        \
	void ts_ptx_fill_mem_##isa(struct ts_ptx_optable *);        \
	void ts_ptx_fill_collective_##isa(struct ts_ptx_optable *); \
	void ts_ptx_fill_loop_##isa(struct ts_ptx_optable *);
TS_PTX_DECLARE_ISA(base)
TS_PTX_DECLARE_ISA(v3)
TS_PTX_DECLARE_ISA(v4)

/* Fill the table with the functions of the files that are compiled once. */
void ts_ptx_fill_approx(struct ts_ptx_optable *);
void ts_ptx_fill_atom(struct ts_ptx_optable *);
void ts_ptx_fill_misc(struct ts_ptx_optable *);
void ts_ptx_fill_async(struct ts_ptx_optable *);
void ts_ptx_fill_video(struct ts_ptx_optable *);
