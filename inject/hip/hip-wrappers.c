/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of HIP's calls, one for each watched call, made from proto/abi/vendor/hip.calls.
 * hip-register.c puts them into a dispatch table, or hip-symbols.c calls them. A wrapper calls
 * hip-calls.c before and after the runtime's own function.
 */
#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_params.h"

struct hip_wrapper {
	uint32_t slot;
	void *function;
};

static inline void *next_call(uint32_t slot)
{
	return ts_loaded.hip.next[slot];
}

static inline bool enter(struct ts_hip_frame *frame, uint32_t call, const void *params)
{
	return ts_hip_enter(frame, call, params);
}

static inline void leave(struct ts_hip_frame *frame, int32_t result)
{
	ts_hip_leave(frame, result);
}

#include "inject/generated-hip-wrappers.h"

void *ts_hip_wrapper(uint32_t slot)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(wrappers); i++)
		if (wrappers[i].slot == slot)
			return wrappers[i].function;
	return NULL;
}

bool ts_hip_claim(uint32_t way)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&ts_loaded.hip.wrapped, &none, 1, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return false;
	ts_loaded.hip.way = way;
	ts_loaded.hip.wrapper = ts_hip_wrapper;
	return true;
}

void ts_hip_unclaim(void)
{
	ts_loaded.hip.way = 0;
	__atomic_store_n(&ts_loaded.hip.wrapped, 0, __ATOMIC_RELAXED);
}

size_t ts_hip_wrap(void **table, size_t n_bytes)
{
	struct ts_hip_runtime *runtime = &ts_loaded.hip;
	size_t n_slots = n_bytes / sizeof(void *), n = 0;

	if (n_slots > TS_HIP_MAX_SLOTS)
		n_slots = TS_HIP_MAX_SLOTS;
	/* The first word is the table's size, not a function. */
	memcpy(runtime->next + 1, table + 1, (n_slots - 1) * sizeof(void *));
	runtime->n_slots = (uint32_t)n_slots;
	for (size_t i = 0; i < TS_ARRAY_LEN(wrappers); i++) {
		if (wrappers[i].slot >= n_slots || !table[wrappers[i].slot])
			continue;
		table[wrappers[i].slot] = wrappers[i].function;
		n++;
	}
	return n;
}
