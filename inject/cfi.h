/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information, as far as ordinary frames need it: how to go from a frame to its caller.
 */
#pragma once

#include "proto/abi/base.h"

enum ts_cfi_kind {
	TS_CFI_UNKNOWN = 0, /* no rule, or one that is none of these: for a full unwinder */
	TS_CFI_BY_SP = 1,   /* CFA = stack pointer + cfa_off */
	TS_CFI_BY_BP = 2,   /* CFA = frame pointer + cfa_off */
	TS_CFI_REALIGNED =
		3, /* CFA = the word at frame pointer + cfa_off: a function that aligns its stack */
	TS_CFI_ROOT = 4, /* has no caller */
};

/*
 * The caller's stack pointer is the CFA, the return address the word before it; its frame pointer is the word at
 * CFA + bp_off, or what it was where that is 0.
 */
struct ts_cfi_rule {
	int32_t cfa_off;
	int16_t bp_off;
	uint8_t kind; /* enum ts_cfi_kind */
	uint8_t reserved;
};

/*
 * The rule at a return address; for that of the instruction itself, give the address after it. Walks the libraries
 * (loader.h): not for the hot path. What the libraries say is believed, as every unwinder does, but read within
 * their own mapping alone.
 */
struct ts_cfi_rule ts_cfi_find(uintptr_t return_address);

/* Of the function that holds it, as its unwinding information bounds it. False where there is none. */
bool ts_cfi_function(uintptr_t address, uintptr_t *ret_start, uintptr_t *ret_end);
