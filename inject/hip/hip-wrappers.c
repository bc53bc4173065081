/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of HIP's calls, one for each watched call, made from proto/abi/vendor/hip.calls.
 * hip-register.c puts them into a dispatch table, or hip-symbols.c calls them. A wrapper calls
 * hip-calls.c before and after the runtime's own function.
 *
 * A wrapper is a thunk of a few bytes (calls/call-thunks.h). All of them run ts_hip_call_through(),
 * which has the caller's registers and stack as words. It packs the arguments into the structure
 * that the call's records are made of (hip_params.h), by the signature of the call, and passes the
 * words on as they are.
 */
#include "inject/calls/call-thunks.h"
#include "inject/context.h"
#include "inject/hip/hip-recorder.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_params.h"

/* Room for the largest structure of arguments, and for the most words of arguments on a stack. */
#define PARAMS_BYTES  128
#define N_STACK_WORDS 8u

struct wrapped {
	uint16_t slot, id;
	uint16_t signature; /* the offset in `signatures` */
};

#include "inject/generated-hip-wrappers.h"

#define FITS_(name) \
	static_assert(sizeof(struct name##_params) <= PARAMS_BYTES, "the arguments of " #name);
WRAPPED_CALLS(FITS_)
#undef FITS_

/* Size and alignment of an argument by its letter in a signature. */
static const struct argument {
	uint8_t n_bytes, align;
} arguments[] = {
	['b' - 'a'] = {1, 1},
	['h' - 'a'] = {2, 2},
	['w' - 'a'] = {4, 4},
	['p' - 'a'] = {8, 8},
	['d' - 'a'] = {sizeof(struct ts_hip_dim3), _Alignof(struct ts_hip_dim3)},
	['e' - 'a'] = {sizeof(struct ts_hip_extent), _Alignof(struct ts_hip_extent)},
	['r' - 'a'] = {sizeof(struct ts_hip_pitched_ptr), _Alignof(struct ts_hip_pitched_ptr)},
	['i' - 'a'] = {sizeof(struct ts_hip_ipc_mem_handle),
		       _Alignof(struct ts_hip_ipc_mem_handle)},
};
static_assert(sizeof(struct ts_hip_ipc_event_handle) == sizeof(struct ts_hip_ipc_mem_handle) &&
		      _Alignof(struct ts_hip_ipc_event_handle) ==
			      _Alignof(struct ts_hip_ipc_mem_handle),
	      "they share a letter");

/* A caller's words with arguments. */
struct words {
	const uint64_t *registers, *stack;
	uint32_t n_registers, n_stack; /* used by the arguments so far */
};

/* Returns the bytes of the next argument, by the rules of the processor's calling convention. */
static const void *next_argument(struct words *words, uint32_t n_bytes)
{
	uint32_t n = (n_bytes + 7) / 8;
	const uint64_t *from;

#ifdef __aarch64__
	/* A larger one lies elsewhere: its word is the address. */
	const bool is_elsewhere = n > 2;

	n = is_elsewhere ? 1 : n;
#else
	const bool is_elsewhere = false;
#endif
	if (n <= 2 && words->n_registers + n <= TS_THUNK_N_REGISTERS) {
		from = words->registers + words->n_registers;
		words->n_registers += n;
	} else {
		from = words->stack + words->n_stack;
		words->n_stack += n;
#ifdef __aarch64__
		/* No later argument gets a register. */
		words->n_registers = TS_THUNK_N_REGISTERS;
#endif
	}
	return is_elsewhere ? (const void *)(uintptr_t)*from : from;
}

/* Packs the arguments as the structure has them. */
static void pack(const char *signature, struct words *words, uint8_t *ret_params)
{
	const struct argument *argument;
	const void *from;
	size_t at = 0;

	for (; *signature; signature++) {
		argument = &arguments[*signature - 'a'];
		from = next_argument(words, argument->n_bytes);
		at = (at + argument->align - 1) & ~(size_t)(argument->align - 1);
		if (argument->n_bytes == 8)
			memcpy(ret_params + at, from, 8);
		else if (argument->n_bytes == 4)
			memcpy(ret_params + at, from, 4);
		else
			memcpy(ret_params + at, from, argument->n_bytes);
		at += argument->n_bytes;
	}
}

#ifdef __aarch64__
#define MORE_REGISTERS	, uint64_t, uint64_t
#define MORE(registers) , (registers)[6], (registers)[7]
#else
#define MORE_REGISTERS
#define MORE(registers)
#endif

/* Calls the runtime's function with the words. */
static int32_t pass_on(void *next, const struct words *words)
{
	const uint64_t *r = words->registers;
	int32_t (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t MORE_REGISTERS);
	int32_t (*long_call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			     uint64_t MORE_REGISTERS, uint64_t, uint64_t, uint64_t, uint64_t,
			     uint64_t, uint64_t, uint64_t, uint64_t);
	uint64_t s[N_STACK_WORDS] = {0};

	*(void **)&call = *(void **)&long_call = next;
	if (ts_likely(!words->n_stack))
		return call(r[0], r[1], r[2], r[3], r[4], r[5] MORE(r));
	/* No more words than there are: the stack may end behind them. */
	for (uint32_t i = 0; i < words->n_stack && i < N_STACK_WORDS; i++)
		s[i] = words->stack[i];
	return long_call(r[0], r[1], r[2], r[3], r[4], r[5] MORE(r), s[0], s[1], s[2], s[3], s[4],
			 s[5], s[6], s[7]);
}

/* The thunks call this. */
int32_t ts_hip_call_through(uint32_t index, const uint64_t *registers, const uint64_t *stack);

__attribute__((used)) int32_t ts_hip_call_through(uint32_t index, const uint64_t *registers,
						  const uint64_t *stack)
{
	const struct wrapped *wrapped = &wrappers[index];
	const char *signature = signatures + wrapped->signature;
	void *next = ts_loaded.hip.next[wrapped->slot];
	struct words words = {.registers = registers, .stack = stack};
	uint64_t params[PARAMS_BYTES / 8];
	struct ts_hip_frame frame;
	int32_t result;

	pack(signature, &words, (uint8_t *)params);
	if (!ts_hip_enter(&frame, wrapped->id, *signature ? params : NULL))
		return pass_on(next, &words);
	result = pass_on(next, &words);
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

static void *thunk(size_t index)
{
	return (void *)(uintptr_t)(ts_hip_thunks + index * TS_THUNK_BYTES);
}

void *ts_hip_wrapper(uint32_t slot)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(wrappers); i++)
		if (wrappers[i].slot == slot)
			return thunk(i);
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
		table[wrappers[i].slot] = thunk(i);
		n++;
	}
	return n;
}
