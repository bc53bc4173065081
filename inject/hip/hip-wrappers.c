/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of HIP's calls, one for each watched call, made from proto/abi/vendor/hip.calls.
 * hip-register.c puts them into a dispatch table, or hip-symbols.c calls them. A wrapper calls
 * hip-calls.c before and after the runtime's own function.
 *
 * A wrapper is a thunk of a few bytes (calls/call-thunks.h). All of them run ts_hip_call_through(),
 * which has the caller's registers and stack as words. It packs the arguments into the structure
 * that the call's records are made of (hip_params.h), by the moves of the call's signature, and
 * passes the words on as they are. The usual launches have functions of their own.
 */
#include "inject/calls/call-thunks.h"
#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_params.h"

/* Room for the largest structure of arguments, and for the most words of arguments on a stack. */
#define PARAMS_BYTES  128
#define N_STACK_WORDS 8u

/* A word of the caller's that goes to a place in the structure of arguments. */
struct move {
	uint8_t word, to;
	/* Not 0: the caller's word is an address; the word with this number there goes. */
	uint8_t of;
};

/* A sequence of arguments: its moves, in the order of places, and its words on the stack. */
struct signature {
	uint16_t first;
	uint8_t n, n_stack;
};

struct wrapped {
	uint16_t slot, id, signature;
};

#include "inject/generated-hip-wrappers.h"

#define FITS_(name, n_bytes)                                                              \
	static_assert(sizeof(struct name##_params) ==                                     \
				      (((n_bytes) + _Alignof(struct name##_params) - 1) & \
				       -_Alignof(struct name##_params)) &&                \
			      sizeof(struct name##_params) <= PARAMS_BYTES,               \
		      "the arguments of " #name);
WRAPPED_CALLS(FITS_)
#undef FITS_

/*
 * Packs the arguments as the structure has them. Each move writes a whole word, and the next one
 * overwrites the bytes that are too many. So there is room for one more word behind the structure.
 */
static inline void pack(const struct signature *signature, const uint64_t *words,
			uint8_t *ret_params)
{
	const struct move *move = &moves[signature->first];

	for (const struct move *end = move + signature->n; move < end; move++) {
		uint64_t word = words[move->word];

#ifdef __aarch64__
		if (move->of)
			word = ((const uint64_t *)(uintptr_t)word)[move->of - 1];
#endif
		memcpy(ret_params + move->to, &word, sizeof(word));
	}
}

#ifdef __aarch64__
#define MORE_REGISTERS , uint64_t, uint64_t
#define MORE(words)    , (words)[6], (words)[7]
#else
#define MORE_REGISTERS
#define MORE(words)
#endif

/* Calls the runtime's function with the caller's words. */
static inline int32_t pass_on(void *next, const uint64_t *w, uint32_t n_stack)
{
	const uint64_t *stack = w + TS_THUNK_STACK_AT;
	int32_t (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t MORE_REGISTERS);
	int32_t (*longer_call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			       uint64_t MORE_REGISTERS, uint64_t, uint64_t);
	int32_t (*longest_call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
				uint64_t MORE_REGISTERS, uint64_t, uint64_t, uint64_t, uint64_t,
				uint64_t, uint64_t, uint64_t, uint64_t);
	uint64_t s[N_STACK_WORDS] = {0};

	*(void **)&call = *(void **)&longer_call = *(void **)&longest_call = next;
	if (!n_stack)
		return call(w[0], w[1], w[2], w[3], w[4], w[5] MORE(w));
	/* No more words than there are: the stack may end behind them. */
	if (n_stack <= 2)
		return longer_call(w[0], w[1], w[2], w[3], w[4], w[5] MORE(w), stack[0],
				   n_stack > 1 ? stack[1] : 0);
	for (uint32_t i = 0; i < n_stack && i < N_STACK_WORDS; i++)
		s[i] = stack[i];
	return longest_call(w[0], w[1], w[2], w[3], w[4], w[5] MORE(w), s[0], s[1], s[2], s[3],
			    s[4], s[5], s[6], s[7]);
}

/* The thunks call this. */
int32_t ts_hip_call_through(uint32_t index, const uint64_t *words);

__attribute__((used)) int32_t ts_hip_call_through(uint32_t index, const uint64_t *words)
{
	const struct wrapped *wrapped = &wrappers[index];
	const struct signature *signature = &signatures[wrapped->signature];
	uint64_t params[PARAMS_BYTES / 8 + 1];
	struct ts_hip_frame frame;
	int32_t result;
	bool entered;

	pack(signature, words, (uint8_t *)params);
	entered = ts_hip_enter(&frame, wrapped->id, signature->n ? params : NULL);
	result = pass_on(ts_loaded.hip.next[wrapped->slot], words, signature->n_stack);
	if (entered)
		ts_hip_leave(&frame, result);
	return result;
}

extern const char ts_hip_thunks[] __attribute__((visibility("hidden")));

/* One thunk for each wrapper, in their order. */
/* clang-format off */
__asm__("	.text\n"
	"	.balign " TS_THUNK_TEXT(TS_THUNK_BYTES) "\n"
	"	.globl ts_hip_thunks\n"
	"	.hidden ts_hip_thunks\n"
	"	.type ts_hip_thunks, %function\n"
	"ts_hip_thunks:\n"
	"	.cfi_startproc\n"
	"	.set .Lts_hip_index, 0\n"
	"	.rept " TS_THUNK_TEXT(N_WRAPPERS) "\n"
	TS_THUNK(".Lts_hip_index", ".Lts_hip_call")
	"	.set .Lts_hip_index, .Lts_hip_index + 1\n"
	"	.endr\n"
	TS_THUNK_SHARED_CALL(".Lts_hip_call", "ts_hip_call_through")
	"	.cfi_endproc\n"
	"	.size ts_hip_thunks, . - ts_hip_thunks\n");
/* clang-format on */

/* Returns the function that stands before the runtime's: a thunk, or for a usual launch its own. */
static void *wrapper_of(size_t index)
{
	switch (wrappers[index].id) {
#define DIRECT_(name, id) \
	case (id):        \
		return (void *)(uintptr_t)direct_##name;
		DIRECT_CALLS(DIRECT_)
#undef DIRECT_
	default:
		return (void *)(uintptr_t)(ts_hip_thunks + index * TS_THUNK_BYTES);
	}
}

void *ts_hip_wrapper(uint32_t slot)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(wrappers); i++)
		if (wrappers[i].slot == slot)
			return wrapper_of(i);
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
		table[wrappers[i].slot] = wrapper_of(i);
		n++;
	}
	return n;
}
