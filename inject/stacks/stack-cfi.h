/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information of this process's own libraries.
 */
#pragma once

#include "proto/abi/cfi.h"

/*
 * The rule at a return address; for that of the instruction itself, give the address after it. Walks the libraries
 * (loader.h): not for the hot path. What the libraries say is believed, as every unwinder does, but read within
 * their own mapping alone.
 */
struct ts_cfi_rule ts_cfi_find(uintptr_t return_address);

/* Of the function that holds it, as its unwinding information bounds it. False where there is none. */
bool ts_cfi_function(uintptr_t address, uintptr_t *ret_start, uintptr_t *ret_end);
