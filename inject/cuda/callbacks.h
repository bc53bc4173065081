/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's callbacks for calls, resources and state. */
#pragma once

#include <stdint.h>

/*
 * A domain beyond CUPTI's: a call of a library like CUPTI, whose cbid is that of the like-named
 * HIP call.
 */
#define TS_CALLBACKS_LIKE_HIP 0x100u

/* CUPTI's callback for each watched call and resource. `userdata` is the shim. Never fails. */
void ts_callbacks_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);
