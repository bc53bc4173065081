/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules out of call frame information, for both machines: the descriptions here are those that GCC,
 * clang and glibc write. The reader for aarch64 is tested on each machine.
 */
#include "proto/abi/cfi.h"
#include "test/unit/harness.h"

#define FUNCTION 0x1000 /* the function's distance from the table */
#define N_CODE	 0x100

struct file {
	uint8_t bytes[512] __attribute__((aligned(16)));
	size_t n;
};

static void add(struct file *file, const void *bytes, size_t n)
{
	ts_check(file->n + n <= sizeof(file->bytes));
	memcpy(file->bytes + file->n, bytes, n);
	file->n += n;
}

static void add_u32(struct file *file, uint32_t value)
{
	add(file, &value, sizeof(value));
}

/* Pads the record that began at `start` and writes its length. */
static void end_record(struct file *file, size_t start)
{
	const uint8_t nop = 0;
	uint32_t n_bytes;

	while (file->n % 4)
		add(file, &nop, 1);
	n_bytes = (uint32_t)(file->n - start - 4);
	memcpy(file->bytes + start, &n_bytes, sizeof(n_bytes));
}

/* Returns the rule at an offset in a function with this common part and this program. */
static struct ts_cfi_rule rule_of(enum ts_cfi_machine machine, const char *letters,
				  const uint8_t *common, size_t n_common, const uint8_t *own,
				  size_t n_own, uint32_t off)
{
	static const uint8_t header[] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0};
	const uint8_t version = 1, n_augmentation = 1, encoding = 0x1b, none = 0;
	struct file file = {.n = 0};
	struct ts_cfi_query query = {.machine = machine};
	size_t at_common, at_own;
	uint32_t pair[2] = {0};

	add(&file, header, sizeof(header));
	add_u32(&file, 1);
	add(&file, pair, sizeof(pair)); /* written below */
	at_common = file.n;
	add_u32(&file, 0);
	add_u32(&file, 0);
	add(&file, &version, 1);
	add(&file, letters, strlen(letters) + 1);
	add(&file, common, 3); /* factors, the return address's register */
	add(&file, &n_augmentation, 1);
	add(&file, &encoding, 1);
	add(&file, common + 3, n_common - 3);
	end_record(&file, at_common);
	at_own = file.n;
	add_u32(&file, 0);
	add_u32(&file, (uint32_t)(file.n - at_common));
	add_u32(&file, FUNCTION - (uint32_t)file.n);
	add_u32(&file, N_CODE);
	add(&file, &none, 1);
	add(&file, own, n_own);
	end_record(&file, at_own);
	pair[0] = FUNCTION;
	pair[1] = (uint32_t)at_own;
	memcpy(file.bytes + 12, pair, sizeof(pair));

	query.first = (uintptr_t)file.bytes;
	query.end = query.first + file.n;
	query.address = query.first + FUNCTION + off;
	ts_cfi_search(&query, query.first);
	if (query.rule.kind) {
		ts_check(query.function_start == query.first + FUNCTION);
		ts_check(query.function_end == query.function_start + N_CODE);
	}
	return query.rule;
}

static void check_rule(struct ts_cfi_rule rule, enum ts_cfi_kind kind, int cfa_off, int bp_off,
		       int ra_off, bool is_signed)
{
	ts_check_int(rule.kind, kind);
	ts_check_int(rule.cfa_off, cfa_off);
	ts_check_int(rule.bp_off, bp_off);
	ts_check_int(ts_cfi_ra_off(&rule), ra_off);
	ts_check_int(!!(rule.ra_words & TS_CFI_SIGNED), is_signed);
}

/* factors 4 and -8, register x30; CFA = sp */
static const uint8_t arm[] = {4, 0x78, 30, 0x0c, 31, 0};
#define ARM(letters, own, off) \
	rule_of(TS_CFI_AARCH64, letters, arm, sizeof(arm), own, sizeof(own), off)

/* stp x29, x30, [sp, #-48]!; ...; ldp x29, x30, [sp], #48 */
static const uint8_t record[] = {0x41, 0x0e, 48, 0x9d, 6, 0x9e, 5, 0x48, 0xde, 0xdd, 0x0e, 0};

TS_TEST(a_frame_record_of_gcc)
{
	/* Before the store and after the load, the return address is in x30 alone. */
	ts_check_int(ARM("zR", record, 0).kind, TS_CFI_UNKNOWN);
	check_rule(ARM("zR", record, 4), TS_CFI_BY_SP, 48, -48, -40, false);
	check_rule(ARM("zR", record, 32), TS_CFI_BY_SP, 48, -48, -40, false);
	ts_check_int(ARM("zR", record, 36).kind, TS_CFI_UNKNOWN);
	ts_check_int(ARM("zR", record, N_CODE).kind, TS_CFI_UNKNOWN);
}

TS_TEST(a_frame_record_of_clang)
{
	/* The CFA by the frame pointer; registers that a walk does not need. */
	static const uint8_t own[] = {0x41, 0x0e, 32, 0x0c, 29, 16, 0x93, 4, 0x94,
				      3,    0x9e, 1,  0x9d, 2,	5,  72,	  6};

	check_rule(ARM("zR", own, 8), TS_CFI_BY_BP, 16, -16, -8, false);
}

TS_TEST(a_frame_record_under_a_large_array)
{
	/* 8 KiB of locals between the frame record and the CFA: two bytes for each number. */
	static const uint8_t own[] = {0x41, 0x0e, 0xa0, 0x40, 0x9d, 0x84, 0x08, 0x9e, 0x83, 0x08};

	check_rule(ARM("zR", own, 8), TS_CFI_BY_SP, 8224, -8224, -8216, false);
}

TS_TEST(a_return_address_without_a_frame_pointer)
{
	static const uint8_t own[] = {0x41, 0x0e, 16, 0x9e, 2};
	/* Too far from the CFA for a rule without a frame record. */
	static const uint8_t far_away[] = {0x41, 0x0e, 0xa0, 0x40, 0x9e, 0x84, 0x08};

	check_rule(ARM("zR", own, 4), TS_CFI_BY_SP, 16, 0, -16, false);
	ts_check_int(ARM("zR", far_away, 4).kind, TS_CFI_UNKNOWN);
}

TS_TEST(signed_return_addresses)
{
	/* paciasp; stp; ...; ldp; autiasp */
	static const uint8_t own[] = {0x41, 0x2d, 0x41, 0x0e, 32, 0x9d, 4,    0x9e, 3,	 0x0a,
				      0x44, 0xde, 0xdd, 0x0e, 0,  0x41, 0x2d, 0x41, 0x0b};

	check_rule(ARM("zR", own, 8), TS_CFI_BY_SP, 32, -32, -24, true);
	/* The other key. */
	check_rule(ARM("zRB", own, 8), TS_CFI_BY_SP, 32, -32, -24, true);
	ts_check_int(ARM("zR", own, 24).kind, TS_CFI_UNKNOWN);
	/* The state comes back with the registers. */
	check_rule(ARM("zR", own, 32), TS_CFI_BY_SP, 32, -32, -24, true);
	/* x86-64 has neither the instruction nor the letter. */
	ts_check_int(rule_of(TS_CFI_X86_64, "zR",
			     (const uint8_t[]){1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}, 8, own,
			     sizeof(own), 8)
			     .kind,
		     TS_CFI_UNKNOWN);
}

TS_TEST(the_first_function_and_signal_frames)
{
	static const uint8_t start[] = {0x07, 30};

	ts_check_int(ARM("zR", start, 8).kind, TS_CFI_ROOT);
	ts_check_int(ARM("zRS", record, 8).kind, TS_CFI_UNKNOWN);
}

TS_TEST(x86_64_has_its_return_address_below_the_cfa)
{
	static const uint8_t common[] = {1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
	/* push %rbp; mov %rsp, %rbp */
	static const uint8_t own[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6};
	static const uint8_t moved[] = {0x41, 0x0e, 16, 0x90, 2};

	check_rule(rule_of(TS_CFI_X86_64, "zR", common, sizeof(common), own, sizeof(own), 0),
		   TS_CFI_BY_SP, 8, 0, -8, false);
	check_rule(rule_of(TS_CFI_X86_64, "zR", common, sizeof(common), own, sizeof(own), 8),
		   TS_CFI_BY_BP, 16, -16, -8, false);
	ts_check_int(
		rule_of(TS_CFI_X86_64, "zR", common, sizeof(common), moved, sizeof(moved), 8).kind,
		TS_CFI_UNKNOWN);
	/* Descriptions of another machine are not read. */
	ts_check_int(
		rule_of(TS_CFI_AARCH64, "zR", common, sizeof(common), own, sizeof(own), 8).kind,
		TS_CFI_UNKNOWN);
}
