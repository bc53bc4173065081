/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads .eh_frame: the search table of a library leads to a function's description, whose little program is run up
 * to an address. Only what ordinary frames are made of on x86-64 is understood (the CFA by stack or frame pointer, the
 * return address right below it, the frame pointer saved or untouched); whatever else a description says of these
 * three makes the rule unknown, never approximate: signal frames, expressions, other registers, foreign encodings.
 * Registers that none of this depends on are passed over.
 */
#include "inject/cfi.h"
#include "inject/loader.h"

#define REGISTER_BP	  6u
#define REGISTER_SP	  7u
#define REGISTER_RA	  16u

#define ENCODING_ABSOLUTE 0x00u
#define ENCODING_RELATIVE 0x1bu /* to where it stands, signed, 4 bytes */
#define ENCODING_TABLE	  0x3bu /* to the table, signed, 4 bytes */
#define ENCODING_COUNT	  0x03u /* 4 bytes */

#define REMEMBERED_MAX	  8u

/* Bytes being read. Reading past the end gives zeros and is remembered. */
struct input {
	const uint8_t *at, *end;
	bool failed;
};

enum saved {
	SAVED_NOT = 0, /* the register is what it was */
	SAVED_AT_CFA,  /* at CFA + off */
	SAVED_NONE,    /* gone: of the return address, there is no caller */
	SAVED_OTHER,   /* in a way that is not understood */
};

struct state {
	uint8_t kind; /* enum ts_cfi_kind */
	int64_t cfa_off;
	struct {
		enum saved saved;
		int64_t off;
	} bp, ra, sp;
};

struct description {
	struct input common, own; /* programs */
	uintptr_t start, end;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;
	bool augmented;
};

struct query {
	uintptr_t address;
	uintptr_t first, end; /* of the library's mapping that can be read */
	uintptr_t function_start, function_end;
	struct ts_cfi_rule rule;
};

static bool take(struct input *input, void *ret, size_t n_bytes)
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

static uint8_t take_u8(struct input *input)
{
	uint8_t value;

	take(input, &value, sizeof(value));
	return value;
}

static uint64_t take_number(struct input *input, uint8_t *ret_last, unsigned *ret_bits)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = take_u8(input);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_last = byte;
	*ret_bits = shift;
	return value;
}

static uint64_t take_unsigned(struct input *input)
{
	unsigned bits;
	uint8_t last;

	return take_number(input, &last, &bits);
}

static int64_t take_signed(struct input *input)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = take_number(input, &last, &bits);

	if (last & 0x40 && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

static void skip(struct input *input, uint64_t n_bytes)
{
	if (n_bytes > (uint64_t)(input->end - input->at)) {
		input->failed = true;
		n_bytes = (uint64_t)(input->end - input->at);
	}
	input->at += n_bytes;
}

/* What a register's rule is from now on. */
static void set_saved(struct state *state, uint64_t number, enum saved saved, int64_t off)
{
	if (number == REGISTER_BP) {
		state->bp.saved = saved;
		state->bp.off = off;
	} else if (number == REGISTER_RA) {
		state->ra.saved = saved;
		state->ra.off = off;
	} else if (number == REGISTER_SP) {
		state->sp.saved = saved;
		state->sp.off = off;
	}
}

static void restore(struct state *state, const struct state *initial, uint64_t number)
{
	if (number == REGISTER_BP)
		state->bp = initial->bp;
	else if (number == REGISTER_RA)
		state->ra = initial->ra;
	else if (number == REGISTER_SP)
		state->sp = initial->sp;
}

static void set_cfa_register(struct state *state, uint64_t number)
{
	state->kind = number == REGISTER_SP   ? TS_CFI_BY_SP
		      : number == REGISTER_BP ? TS_CFI_BY_BP
					      : TS_CFI_UNKNOWN;
}

/* The one expression that compilers use for the CFA of a function: the word at a distance from the frame pointer. */
static void set_cfa_expression(struct state *state, struct input *program)
{
	enum {
		OP_BREG_BP = 0x76,
		OP_DEREF = 0x06
	};
	uint64_t n_bytes = take_unsigned(program);
	struct input expression = {program->at, program->at, false};

	skip(program, n_bytes);
	expression.end = program->at;
	state->kind = TS_CFI_UNKNOWN;
	if (take_u8(&expression) != OP_BREG_BP)
		return;
	state->cfa_off = take_signed(&expression);
	if (take_u8(&expression) == OP_DEREF && expression.at == expression.end &&
	    !expression.failed)
		state->kind = TS_CFI_REALIGNED;
}

/* Of the instructions without an operand in their first byte, those about registers and the CFA. False: not understood. */
static bool run_extended(const struct description *description, struct state *state,
			 const struct state *initial, struct input *program, uint8_t op)
{
	const int64_t factor = description->data_factor;
	uint64_t number;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		number = take_unsigned(program);
		set_saved(state, number, SAVED_AT_CFA, (int64_t)take_unsigned(program) * factor);
		return true;
	case 0x06: /* restore_extended */
		restore(state, initial, take_unsigned(program));
		return true;
	case 0x07: /* undefined */
		set_saved(state, take_unsigned(program), SAVED_NONE, 0);
		return true;
	case 0x08: /* same_value */
		set_saved(state, take_unsigned(program), SAVED_NOT, 0);
		return true;
	case 0x09: /* register */
		set_saved(state, take_unsigned(program), SAVED_OTHER, 0);
		take_unsigned(program);
		return true;
	case 0x0c: /* def_cfa */
		set_cfa_register(state, take_unsigned(program));
		state->cfa_off = (int64_t)take_unsigned(program);
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa_register(state, take_unsigned(program));
		return true;
	case 0x0e: /* def_cfa_offset */
		state->cfa_off = (int64_t)take_unsigned(program);
		return true;
	case 0x0f: /* def_cfa_expression */
		set_cfa_expression(state, program);
		return true;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		set_saved(state, take_unsigned(program), SAVED_OTHER, 0);
		skip(program, take_unsigned(program));
		return true;
	case 0x11: /* offset_extended_sf */
		number = take_unsigned(program);
		set_saved(state, number, SAVED_AT_CFA, take_signed(program) * factor);
		return true;
	case 0x12: /* def_cfa_sf */
		set_cfa_register(state, take_unsigned(program));
		state->cfa_off = take_signed(program) * factor;
		return true;
	case 0x13: /* def_cfa_offset_sf */
		state->cfa_off = take_signed(program) * factor;
		return true;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		set_saved(state, take_unsigned(program), SAVED_OTHER, 0);
		take_unsigned(program);
		return true;
	case 0x2e: /* GNU_args_size: pushed arguments, which the CFA's own rule already counts */
		take_unsigned(program);
		return true;
	default:
		return false;
	}
}

/* By how much an instruction moves on in the code; *ret_is_advance says whether it is one that does. */
static uint64_t take_advance(struct input *program, uint8_t op, bool *ret_is_advance)
{
	uint16_t two;
	uint32_t four;

	*ret_is_advance = true;
	if (op >> 6 == 1)
		return op & 0x3f;
	switch (op) {
	case 0x02:
		return take_u8(program);
	case 0x03:
		take(program, &two, sizeof(two));
		return two;
	case 0x04:
		take(program, &four, sizeof(four));
		return four;
	default:
		*ret_is_advance = false;
		return 0;
	}
}

/* Runs a program until it passes the address or ends. False: it says what is not understood. */
static bool run(const struct description *description, struct input program, uintptr_t address,
		const struct state *initial, struct state *state)
{
	struct state remembered[REMEMBERED_MAX];
	uintptr_t location = description->start;
	unsigned n_remembered = 0;

	while (program.at < program.end) {
		uint8_t op = take_u8(&program);
		bool is_advance;
		uint64_t advance = take_advance(&program, op, &is_advance);

		if (is_advance) {
			location += advance * description->code_factor;
			if (location > address)
				break;
		} else if (op >> 6 == 2) {
			set_saved(state, op & 0x3f, SAVED_AT_CFA,
				  (int64_t)take_unsigned(&program) * description->data_factor);
		} else if (op >> 6 == 3) {
			restore(state, initial, op & 0x3f);
		} else if (op == 0x0a) { /* remember_state */
			if (n_remembered == REMEMBERED_MAX)
				return false;
			remembered[n_remembered++] = *state;
		} else if (op == 0x0b) { /* restore_state */
			if (!n_remembered)
				return false;
			*state = remembered[--n_remembered];
		} else if (!run_extended(description, state, initial, &program, op)) {
			return false;
		}
	}
	return !program.failed;
}

/* A record's contents, its length read. False: it is none that can be read. */
static bool open_record(const struct query *query, uintptr_t at, struct input *ret_input)
{
	struct input input = {(const uint8_t *)at, (const uint8_t *)query->end, false};
	uint32_t n_bytes;

	if (at < query->first || at >= query->end)
		return false;
	if (!take(&input, &n_bytes, sizeof(n_bytes)) || !n_bytes || n_bytes == UINT32_MAX ||
	    n_bytes > (size_t)(input.end - input.at))
		return false;
	input.end = input.at + n_bytes;
	*ret_input = input;
	return true;
}

static bool read_augmentation(struct description *description, struct input *input,
			      const char *letters)
{
	uint64_t n_bytes;
	const uint8_t *end;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	description->augmented = true;
	n_bytes = take_unsigned(input);
	end = input->at;
	if (n_bytes > (uint64_t)(input->end - input->at))
		return false;
	end += n_bytes;
	for (; *letters; letters++) {
		if (*letters == 'R')
			description->encoding = take_u8(input);
		else if (*letters == 'L')
			take_u8(input);
		else if (*letters == 'P') {
			/* A pointer of 4 or 8 bytes; other encodings are not in use. */
			uint8_t size = take_u8(input) & 0x0f;

			skip(input, size == 0x03 || size == 0x0b ? 4 : 8);
		} else {
			/* 'S': a signal frame, whose caller was interrupted, not calling. */
			return false;
		}
	}
	if (input->failed || input->at > end)
		return false;
	input->at = end;
	return true;
}

static bool read_common(const struct query *query, uintptr_t at, struct description *description)
{
	struct input input;
	const char *letters;
	uint64_t ra_register;
	uint32_t id;
	uint8_t version;

	if (!open_record(query, at, &input))
		return false;
	take(&input, &id, sizeof(id));
	version = take_u8(&input);
	letters = (const char *)input.at;
	if (id || (version != 1 && version != 3) ||
	    strnlen(letters, (size_t)(input.end - input.at)) == (size_t)(input.end - input.at))
		return false;
	skip(&input, strlen(letters) + 1);
	description->code_factor = take_unsigned(&input);
	description->data_factor = take_signed(&input);
	ra_register = version == 1 ? take_u8(&input) : take_unsigned(&input);
	description->encoding = ENCODING_ABSOLUTE;
	description->augmented = false;
	if (ra_register != REGISTER_RA || !read_augmentation(description, &input, letters))
		return false;
	description->common = input;
	return !input.failed;
}

static bool read_description(const struct query *query, uintptr_t at,
			     struct description *description)
{
	struct input input;
	uintptr_t place;
	uint32_t back;

	if (!open_record(query, at, &input))
		return false;
	place = (uintptr_t)input.at;
	take(&input, &back, sizeof(back));
	if (!back || !read_common(query, place - back, description))
		return false;
	place = (uintptr_t)input.at;
	if (description->encoding == ENCODING_RELATIVE) {
		int32_t start;
		uint32_t n_bytes;

		take(&input, &start, sizeof(start));
		take(&input, &n_bytes, sizeof(n_bytes));
		description->start = place + (uintptr_t)(intptr_t)start;
		description->end = description->start + n_bytes;
	} else if (description->encoding == ENCODING_ABSOLUTE) {
		take(&input, &description->start, sizeof(description->start));
		take(&input, &description->end, sizeof(description->end));
		description->end += description->start;
	} else {
		return false;
	}
	if (description->augmented)
		skip(&input, take_unsigned(&input));
	description->own = input;
	return !input.failed && query->address >= description->start &&
	       query->address < description->end;
}

static struct ts_cfi_rule to_rule(const struct state *state)
{
	struct ts_cfi_rule rule = {0, 0, TS_CFI_UNKNOWN, 0};

	if (state->ra.saved == SAVED_NONE) {
		rule.kind = TS_CFI_ROOT;
		return rule;
	}
	if (state->sp.saved != SAVED_NOT || state->ra.saved != SAVED_AT_CFA ||
	    state->ra.off != -8 || state->cfa_off > INT32_MAX || state->cfa_off < INT32_MIN ||
	    state->cfa_off % 8)
		return rule;
	if (state->bp.saved == SAVED_AT_CFA) {
		if (!state->bp.off || state->bp.off % 8 || state->bp.off > INT16_MAX ||
		    state->bp.off < INT16_MIN)
			return rule;
		rule.bp_off = (int16_t)state->bp.off;
	} else if (state->bp.saved != SAVED_NOT) {
		return rule;
	}
	rule.kind = state->kind;
	rule.cfa_off = (int32_t)state->cfa_off;
	return rule;
}

static void interpret(struct query *query, uintptr_t at)
{
	struct state initial = {.kind = TS_CFI_UNKNOWN}, state;
	struct description description;

	if (!read_description(query, at, &description))
		return;
	query->function_start = description.start;
	query->function_end = description.end;
	if (!run(&description, description.common, UINTPTR_MAX, &initial, &initial))
		return;
	state = initial;
	if (run(&description, description.own, query->address, &initial, &state))
		query->rule = to_rule(&state);
}

/* The search table: pairs of a function's start and its description, in order, relative to the table. */
static void search(struct query *query, uintptr_t table)
{
	struct pair {
		int32_t start, description;
	};
	const struct pair *pairs;
	uint32_t n_pairs, low = 0, high;
	uint8_t header[4];

	if (table < query->first || query->end - table < 12)
		return;
	memcpy(header, (const void *)table, sizeof(header));
	if (header[0] != 1 || header[1] != ENCODING_RELATIVE || header[2] != ENCODING_COUNT ||
	    header[3] != ENCODING_TABLE)
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
		interpret(query, table + (uintptr_t)(intptr_t)pairs[low - 1].description);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct query *query = data;
	const ElfW(Phdr) *table = NULL;
	bool inside = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			table = segment;
		else if (segment->p_type == PT_LOAD && query->address >= from &&
			 query->address - from < segment->p_memsz)
			inside = true;
	}
	if (!inside)
		return 0;
	for (i = 0; table && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		/* Table and descriptions lie in one segment; what does not is not read. */
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) ||
		    table->p_vaddr < segment->p_vaddr ||
		    table->p_vaddr - segment->p_vaddr >= segment->p_filesz)
			continue;
		query->first = info->dlpi_addr + segment->p_vaddr;
		query->end = query->first + segment->p_filesz;
		search(query, info->dlpi_addr + table->p_vaddr);
		break;
	}
	return 1;
}

struct ts_cfi_rule ts_cfi_find(uintptr_t return_address)
{
	/* The instruction before it is the call: after a call that never returns, another function may begin. */
	struct query query = {.address = return_address - 1};

#if defined(__x86_64__)
	(void)ts_loader_iterate(visit, &query);
#endif
	return query.rule;
}

bool ts_cfi_function(uintptr_t address, uintptr_t *ret_start, uintptr_t *ret_end)
{
	struct query query = {.address = address};

	(void)ts_loader_iterate(visit, &query);
	if (!query.function_end)
		return false;
	*ret_start = query.function_start;
	*ret_end = query.function_end;
	return true;
}
