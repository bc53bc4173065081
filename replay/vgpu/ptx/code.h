/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoded form of a function: the decoder creates it and the executor runs it.
 *
 * A register is a slot of 32 lanes in a frame. A lane has 4 bytes for types of up to 32 bits, and 8
 * bytes for 64-bit types. A predicate is one 32-bit mask. Constants are slots, too, in the image's
 * pool. So an operand is always "bank and offset" (ts_ptx_slot()), and no executor function checks
 * its kind.
 */
#pragma once

#include "replay/vgpu/ptx/parse/syntax.h"

struct ts_ptx_warp;
struct ts_ptx_insn;
/* Runs an instruction for the lanes of mask. Non-zero: a fault is recorded in the warp's worker. */
typedef int (*ts_ptx_fn)(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask);

/* An operand: an offset into the frame, or into the pool if bit 0 is set. */
#define TS_PTX_POOL 1u
#define TS_PTX_NONE UINT32_MAX

/* Fixed offsets in every frame: the predicate that is always true, and the carry flags. */
#define TS_PTX_FRAME_TRUE  0u
#define TS_PTX_FRAME_CC	   4u
#define TS_PTX_FRAME_FIRST 8u

/* Generic addresses outside device memory: above every address of the embedder. */
#define TS_PTX_WINDOW(i)       (UINT64_C(1) << 48 | (uint64_t)(i) << 32)
#define TS_PTX_WINDOW_SHARED   TS_PTX_WINDOW(1)
#define TS_PTX_WINDOW_LOCAL    TS_PTX_WINDOW(2)
#define TS_PTX_WINDOW_PARAM    TS_PTX_WINDOW(3)
#define TS_PTX_WINDOW_FUNCTION TS_PTX_WINDOW(4)
#define TS_PTX_FUNCTION_STRIDE 16u

enum ts_ptx_insn_kind {
	KIND_OP,	 /* fn does all the work */
	KIND_ALWAYS,	 /* as KIND_OP, without a guard */
	KIND_COLLECTIVE, /* fn runs when all lanes of the member mask (operand c) have reached it */
	KIND_JOIN,	 /* diverged lanes may reconverge here */
	KIND_BRA,
	KIND_BRX,
	KIND_CALL,  /* target: function index */
	KIND_CALLI, /* a: 64-bit addresses */
	KIND_RET,
	KIND_EXIT,
	KIND_BARRIER,
	KIND_WARP_BARRIER,
	KIND_YIELD, /* nanosleep */
	KIND_TRAP,
};

enum {
	INSN_A64 = 1,	      /* address operand has 64 bits */
	INSN_FRAME_LOCAL = 2, /* address is relative to the frame's local memory */
	/* volatile, relaxed, acquire or release: the thread may wait for another one */
	INSN_SYNC = 4,
	INSN_DST64 = 8,
	INSN_SRC64 = 16,
	INSN_CC = 32, /* writes the carry flags */
	INSN_SAT = 64,
	INSN_CONDITIONAL = 128, /* a branch with a guard */
};

struct ts_ptx_insn {
	ts_ptx_fn fn;
	uint32_t dst, a, b, c;
	uint32_t guard, guard_xor;
	uint8_t kind;
	uint8_t space; /* address space of a memory access; for F_ROUND: the rounding modes */
	uint8_t flags;
	uint8_t n; /* elements of a vector access */
	/* data of fn: sizes, modes, offset into the operand list; of KIND_BRA: target - index */
	uint32_t aux;
	union {
		uint64_t imm;
		struct {
			uint32_t target, reconverge; /* instruction index; TS_PTX_NONE: none */
		};
	};
	ts_ptx_fn inner; /* called by a wrapping fn */
	uint32_t index;	 /* index in the function; copies of an instruction keep it */
};

/* Origin of an instruction. Only faults and tools read origins, so they are a separate array. */
struct ts_ptx_origin {
	uint32_t line, source_line, source_file;
	uint32_t releases; /* .release, .acq_rel or .sc */
};

/*
 * A call's operand list has three words for each return and parameter: kind, slot or offset, bytes.
 */
enum {
	TS_PTX_PLACE_LOCAL,
	TS_PTX_PLACE_REG32,
	TS_PTX_PLACE_REG64
};

struct ts_ptx_code_param {
	uint32_t bytes, align, offset; /* offset in the frame's local memory */
	uint32_t reg;		       /* slot of a parameter in .reg space; else TS_PTX_NONE */
	bool is_64;
};

enum ts_ptx_builtin {
	BUILTIN_NONE,
	BUILTIN_VPRINTF,
	BUILTIN_MALLOC,
	BUILTIN_FREE,
	BUILTIN_ASSERTFAIL,
};

/* A register with its name, in an image for a debugger. */
struct ts_ptx_named {
	const char *name;
	uint32_t number;
	bool is_range;
	uint8_t width; /* bytes of a lane; 0: one bit of a mask */
	enum ts_ptx_type type;
	uint32_t slot; /* offset in the frame */
	/*
	 * Live range, as positions: 2 * instruction for a read, + 1 for a write. TS_PTX_NONE: none.
	 */
	uint32_t first, last;
};

struct ts_ptx_code {
	const char *name;
	struct ts_ptx_image *image;
	struct ts_ptx_func *func; /* only while linking */
	uint32_t module;
	enum ts_ptx_builtin builtin;
	struct ts_ptx_insn *insns;
	struct ts_ptx_origin *origins;
	uint32_t n_insns;
	uint32_t *operands; /* operand lists too long for an instruction */
	uint32_t n_operands;
	uint32_t frame_bytes;  /* bytes of registers */
	uint32_t local_bytes;  /* local memory of one frame of a thread */
	uint32_t shared_bytes; /* end of the shared memory that the function itself names */
	uint32_t n_registers;
	bool uses_dynamic_shared, uses_reserved_shared;
	bool open_stack; /* indirect calls or alloca: the stack size is not known */
	struct ts_ptx_code_param *params;
	uint32_t n_params, n_returns; /* returns come first in params */
	uint32_t *callees;
	uint32_t n_callees;
	bool recursive; /* part of a cycle of calls */
	struct ts_ptx_file *files;
	uint8_t *observed_bytes; /* observe.c, per instruction; NULL: the image is not observed */
	uint32_t first_place;	 /* index of its first instruction in the image */
	struct ts_ptx_named *named;
	uint32_t n_named;
};

struct ts_ptx_kernel {
	struct ts_ptx_kernel_info info;
	struct ts_ptx_image *image;
	struct ts_ptx_code *code;
};

struct ts_ptx_image_variable {
	struct ts_ptx_variable info;
	struct ts_ptx_var *var; /* only while linking */
	uint32_t module;
	struct ts_ptx_image_init {
		uint64_t offset, value, mask;
		uint32_t bytes;
		uint32_t variable, function; /* TS_PTX_NONE, or the symbol whose address is added */
	} * inits;
	uint32_t n_inits;
};

/* A pool slot with a variable's address. */
struct ts_ptx_pool_address {
	uint32_t slot, variable;
	uint64_t addend;
};

struct ts_ptx_image {
	struct ts_ptx_arena arena;
	struct ts_ptx_map names;     /* only while linking: struct ts_ptx_symbol of visible names */
	struct ts_ptx_map constants; /* only while linking: value and class to offset in the pool */
	struct ts_ptx_image_variable *variables;
	uint32_t n_variables;
	struct ts_ptx_code *codes;
	uint32_t n_codes;
	struct ts_ptx_kernel *kernels;
	uint32_t n_kernels;
	uint8_t *pool;
	uint32_t pool_bytes, pool_capacity;
	struct ts_ptx_pool_address *pool_addresses;
	uint32_t n_pool_addresses, pool_addresses_capacity;
	const struct ts_ptx_optable *ops;
	const char *const *texts; /* one per module; NULL: registers have no names */
};

/* ptx-image.c: looks up a name in a module. Returns NULL if the module has no such symbol. */
struct ts_ptx_symbol *ts_ptx_resolve_name(const struct ts_ptx_image *image,
					  struct ts_ptx_module *module, const char *name);

/* decode.c */
int ts_ptx_decode(struct ts_ptx_image *image, struct ts_ptx_module *module,
		  struct ts_ptx_code *code, struct ts_ptx_error *error);
