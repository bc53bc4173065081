/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each wrapper of HIP's calls passes all arguments on to the runtime's function, and its result
 * back, and the shim gets them as the structure of the call has them. hip-wrappers.c alone is
 * linked: the functions here stand for the shim.
 */
#include <string.h>

#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_params.h"
#include "test/unit/harness.h"

struct checked {
	const char *name;
	uint32_t slot, id;
	void *next;
	int32_t (*call)(void *wrapper);
	void (*check_params)(const void *params);
};

static uint8_t pattern[256] __attribute__((aligned(16)));
static uint32_t n_same, n_different;

/* The arguments that each call gets: bytes that differ from their neighbours. */
static const void *expected(void)
{
	return pattern;
}

static void same(const void *got, const void *wanted, size_t n_bytes)
{
	if (memcmp(got, wanted, n_bytes) == 0)
		n_same++;
	else
		n_different++;
}

#include "test/unit/inject/generated-hip-wrapper-checks.h"

struct ts_loaded ts_loaded;

static const struct checked *current;
static uint32_t n_entered, n_left;
static bool records;

bool ts_hip_enter(struct ts_hip_frame *frame, uint32_t call, const void *params)
{
	n_entered++;
	ts_check_int(call, current->id);
	current->check_params(params);
	frame->op_id = UINT64_C(0x123456789) + call;
	return records;
}

void ts_hip_leave(const struct ts_hip_frame *frame, int32_t result)
{
	n_left++;
	ts_check_int(frame->op_id, UINT64_C(0x123456789) + current->id);
	ts_check_int(result, current->id);
}

static void call_all(bool is_recorded)
{
	void *wrapper;

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + 1);
	records = is_recorded;
	n_entered = n_left = 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(checked); i++) {
		current = &checked[i];
		wrapper = ts_hip_wrapper(current->slot);
		ts_check(wrapper != NULL);
		ts_loaded.hip.next[current->slot] = current->next;
		n_same = n_different = 0;
		ts_check_int(current->call(wrapper), current->id);
		ts_check_int(n_different, 0);
		if (n_different)
			ts_check_str(current->name, "a call whose arguments are passed on");
		ts_loaded.hip.next[current->slot] = NULL;
	}
	ts_check_int(n_entered, TS_ARRAY_LEN(checked));
	ts_check_int(n_left, is_recorded ? TS_ARRAY_LEN(checked) : 0);
}

TS_TEST(recorded_calls)
{
	call_all(true);
}

TS_TEST(other_calls)
{
	call_all(false);
}

TS_TEST(slots_without_a_wrapper)
{
	ts_check(ts_hip_wrapper(0) == NULL);
	ts_check(ts_hip_wrapper(TS_HIP_MAX_SLOTS) == NULL);
}
