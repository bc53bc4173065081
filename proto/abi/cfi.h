/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: finds a frame's caller by the .eh_frame of a library. The shim reads
 * libraries of its own process (inject/stacks/stack-cfi.c); the daemon's sampler reads files
 * (daemon/sample/code-file.c).
 *
 * The search table (.eh_frame_hdr) leads to a function's description. The reader runs the
 * description's program up to an address. The reader understands ordinary frames on x86-64 and
 * aarch64: the CFA by stack or frame pointer, the return address saved at a fixed distance from it,
 * the frame pointer saved or unchanged. Everything else makes the rule unknown, never approximate:
 * signal frames, expressions, other registers, foreign encodings. Registers that the walk does not
 * need are skipped.
 *
 * On aarch64, a function may sign the return address that it saves (pointer authentication). The
 * rule states that, although a walk strips every return address: without a signature, stripping
 * changes nothing.
 *
 * The bytes are untrusted: no read leaves [first, end), and these bytes bound every loop. Pure;
 * thread-safe; no allocation. Sources: LSB core specification, "Exception Frames"; DWARF 5, 6.4;
 * "DWARF for the Arm 64-bit Architecture", 4.
 */
#pragma once

#include "proto/abi/base.h"

enum ts_cfi_machine {
	TS_CFI_X86_64 = 0,
	TS_CFI_AARCH64 = 1,
};

/* The machine of this process. */
#if defined(__aarch64__)
#define TS_CFI_HERE TS_CFI_AARCH64
#else
#define TS_CFI_HERE TS_CFI_X86_64
#endif

enum ts_cfi_kind {
	TS_CFI_UNKNOWN = 0, /* no rule, or an unsupported one: use a full unwinder */
	TS_CFI_BY_SP = 1,   /* CFA = stack pointer + cfa_off */
	TS_CFI_BY_BP = 2,   /* CFA = frame pointer + cfa_off */
	/* CFA = the word at frame pointer + cfa_off: a function that aligns its stack. */
	TS_CFI_REALIGNED = 3,
	TS_CFI_ROOT = 4, /* no caller */
	/* Like REALIGNED, but bp_off counts from the frame pointer, and may be 0. */
	TS_CFI_REALIGNED_BP = 5,
};

/*
 * The caller's stack pointer is the CFA. The caller's frame pointer is the word at CFA + bp_off; if
 * bp_off is 0, the frame pointer is unchanged. ts_cfi_ra_off() has the place of the return address.
 */
struct ts_cfi_rule {
	int32_t cfa_off;
	int16_t bp_off;
	uint8_t kind;	  /* enum ts_cfi_kind */
	uint8_t ra_words; /* of ts_cfi_ra_off(), and TS_CFI_SIGNED */
};

/* Bit of ra_words: the function signs its return address. */
#define TS_CFI_SIGNED	    0x80u
#define TS_CFI_RA_WORDS_MAX 0x7f

/* Returns the distance of the return address's word from the CFA: -8 in all rules of x86-64. */
static inline int32_t ts_cfi_ra_off(const struct ts_cfi_rule *rule)
{
	const int32_t n_words = rule->ra_words & TS_CFI_RA_WORDS_MAX;

	/* 0: the word behind the saved frame pointer. */
	return n_words ? -8 * n_words : rule->bp_off + 8;
}

/* DWARF's numbers of the frame pointer, the stack pointer and the return address. */
struct ts_cfi_registers {
	uint8_t bp, sp, ra;
};

static inline struct ts_cfi_registers ts_cfi_registers(enum ts_cfi_machine machine)
{
	return machine == TS_CFI_AARCH64 ? (struct ts_cfi_registers){29, 31, 30}
					 : (struct ts_cfi_registers){6, 7, 16};
}

#define TS_CFI_ENCODING_ABSOLUTE 0x00u
#define TS_CFI_ENCODING_RELATIVE 0x1bu /* relative to its own address, signed, 4 bytes */
#define TS_CFI_ENCODING_TABLE	 0x3bu /* relative to the table, signed, 4 bytes */
#define TS_CFI_ENCODING_COUNT	 0x03u /* 4 bytes */

#define TS_CFI_REMEMBERED_MAX	 8u
#define TS_CFI_OP_BREG_0	 0x70u /* DW_OP_breg0 */

/* Input bytes. A read past the end returns zeros and sets `failed`. */
struct ts_cfi_input {
	const uint8_t *at, *end;
	bool failed;
};

enum ts_cfi_saved {
	TS_CFI_SAVED_NOT = 0, /* the register is unchanged */
	TS_CFI_SAVED_AT_CFA,  /* at CFA + off */
	TS_CFI_SAVED_AT_BP,   /* at the frame pointer + off: in a function that aligns its stack */
	TS_CFI_SAVED_NONE,    /* lost; for the return address: no caller */
	TS_CFI_SAVED_OTHER,   /* in an unsupported way */
};

struct ts_cfi_state {
	struct ts_cfi_registers registers;
	uint8_t kind;	/* enum ts_cfi_kind */
	bool is_signed; /* the return address */
	int64_t cfa_off;
	struct {
		enum ts_cfi_saved saved;
		int64_t off;
	} bp, ra, sp;
};

struct ts_cfi_description {
	struct ts_cfi_input common, own; /* programs */
	enum ts_cfi_machine machine;
	uintptr_t address; /* the requested address */
	uintptr_t start, end;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;
	bool augmented;
};

/*
 * A query. The caller sets the first four fields. `address` is the thread's pc; for a return
 * address, subtract 1. [first, end) is the segment that holds the table and the descriptions. All
 * addresses are those at which the bytes lie in this process now. A caller that reads a file adds
 * the distance between that place and the file's own addresses to `address`.
 */
struct ts_cfi_query {
	enum ts_cfi_machine machine;
	uintptr_t address;
	uintptr_t first, end;
	uintptr_t function_start, function_end; /* result; 0: no function contains the address */
	struct ts_cfi_rule rule;		/* result; UNKNOWN: none */
};

static inline bool ts_cfi_take(struct ts_cfi_input *input, void *ret, size_t n_bytes)
{
	memset(ret, 0, n_bytes);
	if ((size_t)(input->end - input->at) < n_bytes) {
		input->failed = true;
		input->at = input->end;
		return false;
	}
	memcpy(ret, input->at, n_bytes);
	input->at += n_bytes;
	return true;
}

static inline uint8_t ts_cfi_take_u8(struct ts_cfi_input *input)
{
	uint8_t value;

	ts_cfi_take(input, &value, sizeof(value));
	return value;
}

static inline uint64_t ts_cfi_take_number(struct ts_cfi_input *input, uint8_t *ret_last,
					  unsigned *ret_bits)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = ts_cfi_take_u8(input);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_last = byte;
	*ret_bits = shift;
	return value;
}

static inline uint64_t ts_cfi_take_unsigned(struct ts_cfi_input *input)
{
	unsigned bits;
	uint8_t last;

	return ts_cfi_take_number(input, &last, &bits);
}

static inline int64_t ts_cfi_take_signed(struct ts_cfi_input *input)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = ts_cfi_take_number(input, &last, &bits);

	if (last & 0x40 && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

/*
 * Returns value * factor, for a factored offset of DWARF. Computes unsigned, because untrusted
 * numbers may overflow.
 */
static inline int64_t ts_cfi_times(uint64_t value, int64_t factor)
{
	return (int64_t)(value * (uint64_t)factor);
}

static inline void ts_cfi_skip(struct ts_cfi_input *input, uint64_t n_bytes)
{
	if (n_bytes > (uint64_t)(input->end - input->at)) {
		input->failed = true;
		n_bytes = (uint64_t)(input->end - input->at);
	}
	input->at += n_bytes;
}

/* Sets a register's rule for the following addresses. */
static inline void ts_cfi_set_saved(struct ts_cfi_state *state, uint64_t number,
				    enum ts_cfi_saved saved, int64_t off)
{
	if (number == state->registers.bp) {
		state->bp.saved = saved;
		state->bp.off = off;
	} else if (number == state->registers.ra) {
		state->ra.saved = saved;
		state->ra.off = off;
	} else if (number == state->registers.sp) {
		state->sp.saved = saved;
		state->sp.off = off;
	}
}

static inline void ts_cfi_restore(struct ts_cfi_state *state, const struct ts_cfi_state *initial,
				  uint64_t number)
{
	if (number == state->registers.bp)
		state->bp = initial->bp;
	else if (number == state->registers.ra)
		state->ra = initial->ra;
	else if (number == state->registers.sp)
		state->sp = initial->sp;
}

static inline void ts_cfi_set_cfa_register(struct ts_cfi_state *state, uint64_t number)
{
	state->kind = number == state->registers.sp   ? TS_CFI_BY_SP
		      : number == state->registers.bp ? TS_CFI_BY_BP
						      : TS_CFI_UNKNOWN;
}

/*
 * Sets the CFA by one of the two expressions in use on x86-64. In a function that aligns its stack,
 * compilers keep the CFA in a word at an offset from the frame pointer. Linkers describe a PLT
 * entry by the instruction's position in its 16 bytes: after the push, the offset is 8 bytes
 * larger.
 */
static inline void ts_cfi_set_cfa_expression(struct ts_cfi_state *state,
					     struct ts_cfi_input *program, uintptr_t address)
{
	/* breg7 (sp) 8, breg16 (ip) 0, lit15, and, litN, ge, lit3, shl, plus */
	static const uint8_t before[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
	static const uint8_t after[] = {0x2a, 0x33, 0x24, 0x22};
	enum {
		OP_LITERAL_0 = 0x30,
		OP_DEREF = 0x06
	};
	uint64_t n_bytes = ts_cfi_take_unsigned(program);
	struct ts_cfi_input expression = {program->at, program->at, false};

	ts_cfi_skip(program, n_bytes);
	expression.end = program->at;
	state->kind = TS_CFI_UNKNOWN;
	if (n_bytes == sizeof(before) + 1 + sizeof(after) && !program->failed &&
	    !memcmp(expression.at, before, sizeof(before)) &&
	    !memcmp(expression.at + sizeof(before) + 1, after, sizeof(after))) {
		state->kind = TS_CFI_BY_SP;
		state->cfa_off =
			(address & 15) + OP_LITERAL_0 >= expression.at[sizeof(before)] ? 16 : 8;
		return;
	}
	if (ts_cfi_take_u8(&expression) != TS_CFI_OP_BREG_0 + state->registers.bp)
		return;
	state->cfa_off = ts_cfi_take_signed(&expression);
	if (ts_cfi_take_u8(&expression) == OP_DEREF && expression.at == expression.end &&
	    !expression.failed)
		state->kind = TS_CFI_REALIGNED;
}

/*
 * Sets a register's rule by an expression for the place of its saved value. Compilers use one such
 * expression, in a function that aligns its stack: an offset from the frame pointer.
 */
static inline void ts_cfi_set_saved_expression(struct ts_cfi_state *state,
					       struct ts_cfi_input *program)
{
	const uint64_t number = ts_cfi_take_unsigned(program);
	const uint64_t n_bytes = ts_cfi_take_unsigned(program);
	struct ts_cfi_input expression = {program->at, program->at, false};
	int64_t off;

	ts_cfi_skip(program, n_bytes);
	expression.end = program->at;
	if (ts_cfi_take_u8(&expression) == TS_CFI_OP_BREG_0 + state->registers.bp) {
		off = ts_cfi_take_signed(&expression);
		if (expression.at == expression.end && !expression.failed) {
			ts_cfi_set_saved(state, number, TS_CFI_SAVED_AT_BP, off);
			return;
		}
	}
	ts_cfi_set_saved(state, number, TS_CFI_SAVED_OTHER, 0);
}

/*
 * Runs an instruction without an operand in its first byte, about registers or the CFA. False:
 * unsupported.
 */
static inline bool ts_cfi_run_extended(const struct ts_cfi_description *description,
				       struct ts_cfi_state *state,
				       const struct ts_cfi_state *initial,
				       struct ts_cfi_input *program, uint8_t op)
{
	const int64_t factor = description->data_factor;
	uint64_t number;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		number = ts_cfi_take_unsigned(program);
		ts_cfi_set_saved(state, number, TS_CFI_SAVED_AT_CFA,
				 ts_cfi_times(ts_cfi_take_unsigned(program), factor));
		return true;
	case 0x06: /* restore_extended */
		ts_cfi_restore(state, initial, ts_cfi_take_unsigned(program));
		return true;
	case 0x07: /* undefined */
		ts_cfi_set_saved(state, ts_cfi_take_unsigned(program), TS_CFI_SAVED_NONE, 0);
		return true;
	case 0x08: /* same_value */
		ts_cfi_set_saved(state, ts_cfi_take_unsigned(program), TS_CFI_SAVED_NOT, 0);
		return true;
	case 0x09: /* register */
		ts_cfi_set_saved(state, ts_cfi_take_unsigned(program), TS_CFI_SAVED_OTHER, 0);
		ts_cfi_take_unsigned(program);
		return true;
	case 0x0c: /* def_cfa */
		ts_cfi_set_cfa_register(state, ts_cfi_take_unsigned(program));
		state->cfa_off = (int64_t)ts_cfi_take_unsigned(program);
		return true;
	case 0x0d: /* def_cfa_register */
		ts_cfi_set_cfa_register(state, ts_cfi_take_unsigned(program));
		return true;
	case 0x0e: /* def_cfa_offset */
		state->cfa_off = (int64_t)ts_cfi_take_unsigned(program);
		return true;
	case 0x0f: /* def_cfa_expression */
		ts_cfi_set_cfa_expression(state, program, description->address);
		return true;
	case 0x10: /* expression */
		ts_cfi_set_saved_expression(state, program);
		return true;
	case 0x16: /* val_expression */
		ts_cfi_set_saved(state, ts_cfi_take_unsigned(program), TS_CFI_SAVED_OTHER, 0);
		ts_cfi_skip(program, ts_cfi_take_unsigned(program));
		return true;
	case 0x11: /* offset_extended_sf */
		number = ts_cfi_take_unsigned(program);
		ts_cfi_set_saved(state, number, TS_CFI_SAVED_AT_CFA,
				 ts_cfi_times((uint64_t)ts_cfi_take_signed(program), factor));
		return true;
	case 0x12: /* def_cfa_sf */
		ts_cfi_set_cfa_register(state, ts_cfi_take_unsigned(program));
		state->cfa_off = ts_cfi_times((uint64_t)ts_cfi_take_signed(program), factor);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		state->cfa_off = ts_cfi_times((uint64_t)ts_cfi_take_signed(program), factor);
		return true;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		ts_cfi_set_saved(state, ts_cfi_take_unsigned(program), TS_CFI_SAVED_OTHER, 0);
		ts_cfi_take_unsigned(program);
		return true;
	case 0x2c: /* AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* AARCH64_negate_ra_state */
		state->is_signed = !state->is_signed;
		return description->machine == TS_CFI_AARCH64;
	case 0x2e: /* GNU_args_size: pushed arguments, which the CFA's own rule already counts */
		ts_cfi_take_unsigned(program);
		return true;
	default:
		return false;
	}
}

/*
 * Returns how far an instruction advances the location; *ret_is_advance is false for any other
 * instruction.
 */
static inline uint64_t ts_cfi_take_advance(struct ts_cfi_input *program, uint8_t op,
					   bool *ret_is_advance)
{
	uint16_t two;
	uint32_t four;

	*ret_is_advance = true;
	if (op >> 6 == 1)
		return op & 0x3f;
	switch (op) {
	case 0x02:
		return ts_cfi_take_u8(program);
	case 0x03:
		ts_cfi_take(program, &two, sizeof(two));
		return two;
	case 0x04:
		ts_cfi_take(program, &four, sizeof(four));
		return four;
	default:
		*ret_is_advance = false;
		return 0;
	}
}

/*
 * Runs a program until it passes the address or ends. False: it contains an unsupported
 * instruction.
 */
static inline bool ts_cfi_run(const struct ts_cfi_description *description,
			      struct ts_cfi_input program, uintptr_t address,
			      const struct ts_cfi_state *initial, struct ts_cfi_state *state)
{
	struct ts_cfi_state remembered[TS_CFI_REMEMBERED_MAX];
	uintptr_t location = description->start;
	unsigned n_remembered = 0;

	while (program.at < program.end) {
		uint8_t op = ts_cfi_take_u8(&program);
		bool is_advance;
		uint64_t advance = ts_cfi_take_advance(&program, op, &is_advance);

		if (is_advance) {
			location += advance * description->code_factor;
			if (location > address)
				break;
		} else if (op >> 6 == 2) {
			ts_cfi_set_saved(state, op & 0x3f, TS_CFI_SAVED_AT_CFA,
					 ts_cfi_times(ts_cfi_take_unsigned(&program),
						      description->data_factor));
		} else if (op >> 6 == 3) {
			ts_cfi_restore(state, initial, op & 0x3f);
		} else if (op == 0x0a) { /* remember_state */
			if (n_remembered == TS_CFI_REMEMBERED_MAX)
				return false;
			remembered[n_remembered++] = *state;
		} else if (op == 0x0b) { /* restore_state */
			if (!n_remembered)
				return false;
			*state = remembered[--n_remembered];
		} else if (!ts_cfi_run_extended(description, state, initial, &program, op)) {
			return false;
		}
	}
	return !program.failed;
}

/* Reads a record's length and returns its content. False: the record is not readable. */
static inline bool ts_cfi_open_record(const struct ts_cfi_query *query, uintptr_t at,
				      struct ts_cfi_input *ret_input)
{
	struct ts_cfi_input input = {(const uint8_t *)at, (const uint8_t *)query->end, false};
	uint32_t n_bytes;

	if (at < query->first || at >= query->end)
		return false;
	if (!ts_cfi_take(&input, &n_bytes, sizeof(n_bytes)) || !n_bytes || n_bytes == UINT32_MAX ||
	    n_bytes > (size_t)(input.end - input.at))
		return false;
	input.end = input.at + n_bytes;
	*ret_input = input;
	return true;
}

static inline bool ts_cfi_read_augmentation(struct ts_cfi_description *description,
					    struct ts_cfi_input *input, const char *letters)
{
	uint64_t n_bytes;
	const uint8_t *end;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	description->augmented = true;
	n_bytes = ts_cfi_take_unsigned(input);
	end = input->at;
	if (n_bytes > (uint64_t)(input->end - input->at))
		return false;
	end += n_bytes;
	for (; *letters; letters++) {
		if (*letters == 'R')
			description->encoding = ts_cfi_take_u8(input);
		else if (*letters == 'L')
			ts_cfi_take_u8(input);
		else if (*letters == 'B' && description->machine == TS_CFI_AARCH64)
			continue; /* the key of signatures */
		else if (*letters == 'P') {
			/* A pointer of 4 or 8 bytes; other encodings do not occur. */
			uint8_t size = ts_cfi_take_u8(input) & 0x0f;

			ts_cfi_skip(input, size == 0x03 || size == 0x0b ? 4 : 8);
		} else {
			/*
			 * 'S' marks a signal frame, whose caller was interrupted and did not call.
			 */
			return false;
		}
	}
	if (input->failed || input->at > end)
		return false;
	input->at = end;
	return true;
}

static inline bool ts_cfi_read_common(const struct ts_cfi_query *query, uintptr_t at,
				      struct ts_cfi_description *description)
{
	struct ts_cfi_input input;
	const char *letters;
	uint64_t ra_register;
	uint32_t id;
	uint8_t version;

	if (!ts_cfi_open_record(query, at, &input))
		return false;
	ts_cfi_take(&input, &id, sizeof(id));
	version = ts_cfi_take_u8(&input);
	letters = (const char *)input.at;
	if (id || (version != 1 && version != 3) ||
	    strnlen(letters, (size_t)(input.end - input.at)) == (size_t)(input.end - input.at))
		return false;
	ts_cfi_skip(&input, strlen(letters) + 1);
	description->code_factor = ts_cfi_take_unsigned(&input);
	description->data_factor = ts_cfi_take_signed(&input);
	ra_register = version == 1 ? ts_cfi_take_u8(&input) : ts_cfi_take_unsigned(&input);
	description->encoding = TS_CFI_ENCODING_ABSOLUTE;
	description->augmented = false;
	if (ra_register != ts_cfi_registers(description->machine).ra ||
	    !ts_cfi_read_augmentation(description, &input, letters))
		return false;
	description->common = input;
	return !input.failed;
}

static inline bool ts_cfi_read_description(const struct ts_cfi_query *query, uintptr_t at,
					   struct ts_cfi_description *description)
{
	struct ts_cfi_input input;
	uintptr_t place;
	uint32_t back;

	if (!ts_cfi_open_record(query, at, &input))
		return false;
	place = (uintptr_t)input.at;
	ts_cfi_take(&input, &back, sizeof(back));
	if (!back || !ts_cfi_read_common(query, place - back, description))
		return false;
	place = (uintptr_t)input.at;
	if (description->encoding == TS_CFI_ENCODING_RELATIVE) {
		int32_t start;
		uint32_t n_bytes;

		ts_cfi_take(&input, &start, sizeof(start));
		ts_cfi_take(&input, &n_bytes, sizeof(n_bytes));
		description->start = place + (uintptr_t)(intptr_t)start;
		description->end = description->start + n_bytes;
	} else if (description->encoding == TS_CFI_ENCODING_ABSOLUTE) {
		ts_cfi_take(&input, &description->start, sizeof(description->start));
		ts_cfi_take(&input, &description->end, sizeof(description->end));
		description->end += description->start;
	} else {
		return false;
	}
	if (description->augmented)
		ts_cfi_skip(&input, ts_cfi_take_unsigned(&input));
	description->own = input;
	return !input.failed && query->address >= description->start &&
	       query->address < description->end;
}

/* Sets the place of the return address, after bp_off. False: a rule cannot have this place. */
static inline bool ts_cfi_set_ra(const struct ts_cfi_state *state, enum ts_cfi_machine machine,
				 struct ts_cfi_rule *rule)
{
	const int64_t off = state->ra.off;

	if (off % 8 || (machine == TS_CFI_X86_64 && off != -8))
		return false;
	if (off < 0 && off >= -8 * TS_CFI_RA_WORDS_MAX)
		rule->ra_words = (uint8_t)(-off / 8);
	else if (!rule->bp_off || off != rule->bp_off + 8)
		return false;
	if (state->is_signed)
		rule->ra_words |= TS_CFI_SIGNED;
	return true;
}

static inline struct ts_cfi_rule ts_cfi_to_rule(const struct ts_cfi_state *state,
						enum ts_cfi_machine machine)
{
	struct ts_cfi_rule rule = {0, 0, TS_CFI_UNKNOWN, 0};
	bool is_at_bp = false;

	if (state->ra.saved == TS_CFI_SAVED_NONE) {
		rule.kind = TS_CFI_ROOT;
		return rule;
	}
	if (state->sp.saved != TS_CFI_SAVED_NOT || state->ra.saved != TS_CFI_SAVED_AT_CFA ||
	    state->cfa_off > INT32_MAX || state->cfa_off < INT32_MIN || state->cfa_off % 8)
		return rule;
	if (state->bp.saved == TS_CFI_SAVED_AT_CFA || state->bp.saved == TS_CFI_SAVED_AT_BP) {
		is_at_bp = state->bp.saved == TS_CFI_SAVED_AT_BP;
		if (is_at_bp ? state->kind != TS_CFI_REALIGNED : !state->bp.off)
			return rule;
		if (state->bp.off % 8 || state->bp.off > INT16_MAX || state->bp.off < INT16_MIN)
			return rule;
		rule.bp_off = (int16_t)state->bp.off;
	} else if (state->bp.saved != TS_CFI_SAVED_NOT) {
		return rule;
	}
	if (!ts_cfi_set_ra(state, machine, &rule))
		return rule;
	rule.kind = is_at_bp ? TS_CFI_REALIGNED_BP : state->kind;
	rule.cfa_off = (int32_t)state->cfa_off;
	return rule;
}

static inline void ts_cfi_interpret(struct ts_cfi_query *query, uintptr_t at)
{
	struct ts_cfi_state initial = {ts_cfi_registers(query->machine), .kind = TS_CFI_UNKNOWN};
	struct ts_cfi_description description = {.address = query->address,
						 .machine = query->machine};
	struct ts_cfi_state state;

	if (!ts_cfi_read_description(query, at, &description))
		return;
	query->function_start = description.start;
	query->function_end = description.end;
	if (!ts_cfi_run(&description, description.common, UINTPTR_MAX, &initial, &initial))
		return;
	state = initial;
	if (ts_cfi_run(&description, description.own, query->address, &initial, &state))
		query->rule = ts_cfi_to_rule(&state, query->machine);
}

/*
 * Answers a query; `table` is the address of .eh_frame_hdr. The table holds pairs of a function's
 * start and its description, sorted, relative to the table.
 */
static inline void ts_cfi_search(struct ts_cfi_query *query, uintptr_t table)
{
	struct pair {
		int32_t start, description;
	};
	const struct pair *pairs;
	uint32_t n_pairs, low = 0, high;
	uint8_t header[4];

	if (table % 4 || table < query->first || table > query->end || query->end - table < 12)
		return;
	memcpy(header, (const void *)table, sizeof(header));
	if (header[0] != 1 || header[1] != TS_CFI_ENCODING_RELATIVE ||
	    header[2] != TS_CFI_ENCODING_COUNT || header[3] != TS_CFI_ENCODING_TABLE)
		return;
	memcpy(&n_pairs, (const void *)(table + 8), sizeof(n_pairs));
	if (n_pairs > (query->end - table - 12) / sizeof(*pairs))
		return;
	pairs = (const struct pair *)(table + 12);
	high = n_pairs;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table + (uintptr_t)(intptr_t)pairs[middle].start <= query->address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		ts_cfi_interpret(query, table + (uintptr_t)(intptr_t)pairs[low - 1].description);
}
