/* SPDX-License-Identifier: Apache-2.0 */
/* The places of HIP's functions in its dispatch table, and the runtime's own functions there. */
#pragma once

#include "inject/context.h"
#include "proto/abi/vendor/hip_slots.h"
#include "proto/abi/vendor/hip_types.h"

enum ts_hip_slot {
#define TS_HIP_SLOT_(slot, name, kind) TS_HIP_SLOT_##name = (slot),
	TS_HIP_SLOTS(TS_HIP_SLOT_)
#undef TS_HIP_SLOT_
};

/* Returns the runtime's function of this name, NULL if its table has none. */
#define ts_hip_next(name) ((name##_fn *)ts_loaded.hip.next[TS_HIP_SLOT_##name])
