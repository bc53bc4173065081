/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information of this process's own libraries. */
#pragma once

#include "proto/abi/cfi.h"

/*
 * Returns the rule at a return address. For an instruction, pass the address after it. Iterates
 * over the libraries (loader.h): not for the hot path. Like every unwinder, it trusts the
 * libraries' content, but it reads only within their own mapping.
 */
struct ts_cfi_rule ts_cfi_find(uintptr_t return_address);

/*
 * Finds the bounds of the function that contains the address, by its unwind information. False:
 * there is none.
 */
bool ts_cfi_function(uintptr_t address, uintptr_t *ret_start, uintptr_t *ret_end);
