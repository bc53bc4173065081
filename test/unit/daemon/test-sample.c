/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests parts of the host sampler. A walk over this thread's own stack finds the frames that the C
 * library's unwinder finds, also through a signal handler. Other parts: Python's line tables,
 * symbols, messages. test/integration/test-host.py tests the whole.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>

#include "test/unit/harness.h"

#include "daemon/sample/sampler.h"

#define STACK_BYTES (16u * 1024)

static inline void skip_machine(void)
{
#if !defined(__x86_64__)
	ts_skip("samples are read on x86-64 alone");
#endif
}

/*
 * Copies the stack from sp to `top`, at most STACK_BYTES: `top` is an address in an outer frame's
 * caller.
 */
static size_t copy_stack(uint8_t *to, uint64_t sp, uint64_t top)
{
	size_t n = top - sp < STACK_BYTES ? top - sp : STACK_BYTES;

	/* Assembly, because a sanitizer would report loads from other frames as out of bounds. */
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t word;

#if defined(__x86_64__)
		__asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(sp + i));
#else
		word = 0;
#endif
		memcpy(to + i, &word, 8);
	}
	return n & ~(size_t)7;
}

static uint64_t stack_top;
static struct ts_unwound_frames walked;
static void *known[64];
static int n_known;

static uint8_t stack_copy[STACK_BYTES];
static size_t n_copied;
static struct ts_unwind_registers registers;

/*
 * Captures the registers and the stack of the calling function. A macro, because a function would
 * capture its own.
 */
#if defined(__x86_64__)
#define TAKE()                                                                                  \
	do {                                                                                    \
		__asm__ volatile("leaq (%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"         \
				 : "=r"(registers.pc), "=r"(registers.sp), "=r"(registers.bp)); \
		n_copied = copy_stack(stack_copy, registers.sp, stack_top);                     \
	} while (0)
#else
#define TAKE() ((void)registers, (void)copy_stack, skip_machine())
#endif

static void walk(void)
{
	struct ts_unwinder *unwinder;
	struct ts_images *images;

	ts_check_int(ts_images_new(getpid(), &images), 0);
	ts_check_int(ts_unwinder_new(images, &unwinder), 0);
	ts_unwinder_walk(unwinder, &registers, stack_copy, n_copied, &walked);
	/* The second walk uses the unwinder's cached rules. */
	ts_unwinder_walk(unwinder, &registers, stack_copy, n_copied, &walked);
	ts_unwinder_free(unwinder);
	ts_images_free(images);
}

static __attribute__((noinline)) void innermost(void)
{
	n_known = backtrace(known, 64);
	TAKE();
	walk();
}

static __attribute__((noinline)) void middle(unsigned depth)
{
	char room[64 + 16 * 3];

	room[depth] = 1;
	if (depth)
		middle(depth - 1);
	else
		innermost();
	__asm__ volatile("" : : "r"(room) : "memory");
}

/*
 * Checks that the walk and backtrace() found the same callers, as far as the stack was copied. A
 * sanitizer adds innermost frames of its own to backtrace().
 */
static void check_same(unsigned least)
{
	unsigned i = 1, own = 0;

	while ((int)(own + 1) < n_known && (uint64_t)known[own + 1] != walked.frames[1])
		own++;
	ts_check(own <= 2);
	for (; i < walked.n && (int)(own + i) < n_known; i++)
		ts_check(walked.frames[i] == (uint64_t)known[own + i]);
	ts_check(i >= least);
	/* Each frame lies higher on the stack than the frame before. */
	for (i = 1; i < walked.n; i++)
		ts_check(walked.at[i] > walked.at[i - 1]);
}

TS_TEST(a_walk_finds_what_backtrace_finds)
{
	/*
	 * All data of this frame lies below this address; the caller's return address lies above.
	 */
	stack_top = (uint64_t)__builtin_frame_address(0) + 64;
	middle(10);
	check_same(12);
}

static void on_signal(int number)
{
	(void)number;
	TAKE();
}

static __attribute__((noinline)) void raise_it(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

TS_TEST(a_walk_goes_through_a_signal_handler)
{
	struct sigaction action = {.sa_handler = on_signal};
	bool found = false;

	stack_top = (uint64_t)__builtin_frame_address(0) + 64;
	sigaction(SIGUSR1, &action, NULL);
	raise_it();
	walk();
	for (uint32_t i = 0; i < walked.n; i++)
		found |= walked.frames[i] - (uint64_t)&raise_it < 64;
	ts_check(found);
}

TS_TEST(stacks_that_cannot_be_end_the_walk)
{
	const struct ts_unwind_registers nowhere = {0x10, 0x1000, 0};
	struct ts_unwind_registers here = {(uint64_t)&raise_it, 0x1000, 0x1000};
	struct ts_unwinder *unwinder;
	struct ts_images *images;
	uint64_t words[64];

	/* Each word points back into the stack, or to code. */
	for (size_t i = 0; i < TS_ARRAY_LEN(words); i++)
		words[i] = i % 2 ? (uint64_t)&raise_it + 1 : 0x1000 + 8 * (i / 2);
	ts_check_int(ts_images_new(getpid(), &images), 0);
	ts_check_int(ts_unwinder_new(images, &unwinder), 0);
	ts_unwinder_walk(unwinder, &nowhere, words, sizeof(words), &walked);
	ts_check_int(walked.n, 1);
	ts_unwinder_walk(unwinder, &here, NULL, 0, &walked);
	ts_check_int(walked.n, 1);
	ts_unwinder_walk(unwinder, &here, words, sizeof(words), &walked);
	ts_check(walked.n >= 1 && walked.n <= TS_ARRAY_LEN(words) + 1);
	ts_unwinder_free(unwinder);
	ts_images_free(images);
}

TS_TEST(symbols_are_where_the_loader_has_them)
{
	struct ts_images *images;
	uint64_t address, n_bytes;
	const char *path;

	skip_machine();
	ts_check_int(ts_images_new(getpid(), &images), 0);
	ts_check(ts_images_symbol(images, "libc.so", "getpid", &address, &n_bytes, &path));
	ts_check(address == (uint64_t)dlsym(RTLD_DEFAULT, "getpid"));
	ts_check(strstr(path, "libc.so"));
	ts_check(!ts_images_symbol(images, "libc.so", "no_such_function", &address, &n_bytes,
				   &path));
	ts_check(!ts_images_symbol(images, "no-such-library", "getpid", &address, &n_bytes, &path));
	ts_images_free(images);
}

/* ---- Python's lines -------------------------------------------------------------------------- */

static void check_lines(unsigned minor, const uint8_t *table, size_t n, const uint32_t *lines,
			size_t n_lines)
{
	for (size_t i = 0; i < n_lines; i++)
		ts_check_int(ts_remote_python_line(minor, table, n, 10, (int32_t)(2 * i)),
			     lines[i]);
	/* The function has not begun. */
	ts_check_int(ts_remote_python_line(minor, table, n, 10, -1), 10);
}

TS_TEST(lines_of_python)
{
	/* Line 11 for two instructions, 12 for one, 10 again for one. */
	static const uint8_t lnotab[] = {0, 1, 4, 1, 2, (uint8_t)-2};
	static const uint8_t linetable[] = {4, 1, 2, 1, 2, (uint8_t)-2, 2, (uint8_t)-128};
	/*
	 * Entries: line +1 for 2 code units; line +1 for 1, without columns; line -2 for 1, long
	 * form; no line for 1.
	 */
	static const uint8_t locations[] = {
		0x80 | 11 << 3 | 1, 0, 0, 0x80 | 13 << 3, 2, 0x80 | 14 << 3, 5, 0, 1, 1,
		0x80 | 15 << 3};
	static const uint32_t lines[] = {11, 11, 12, 10, 0};

	check_lines(8, lnotab, sizeof(lnotab), lines, 4);
	check_lines(9, lnotab, sizeof(lnotab), lines, 4);
	check_lines(10, linetable, sizeof(linetable), lines, 5);
	for (unsigned minor = 11; minor <= 13; minor++)
		check_lines(minor, locations, sizeof(locations), lines, 5);
	/* Beyond the end. */
	ts_check_int(ts_remote_python_line(12, locations, sizeof(locations), 10, 100), 0);
	ts_check_int(ts_remote_python_line(12, NULL, 0, 10, 0), 0);
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t put_item(uint8_t *to, uint32_t kind, const void *bytes, uint32_t n)
{
	struct ts_sampler_item item = {kind, n};

	memcpy(to, &item, sizeof(item));
	memcpy(to + sizeof(item), bytes, n);
	return sizeof(item) + ((n + 7) & ~7u);
}

TS_TEST(items_that_cannot_be_are_passed_over)
{
	const struct ts_sampler_lost lost = {7};
	struct ts_sampler_sample sample = {.tid = 1, .n_frames = 1000000};
	struct ts_sampler_text text = {.id = 1, .n_text = 100};
	struct ts_sampler_item item;
	uint8_t message[1024] = {0};
	const uint8_t *at;
	size_t n = 0, off = 0;

	n += put_item(message + n, TS_SAMPLER_SAMPLE, &sample, sizeof(sample));
	n += put_item(message + n, TS_SAMPLER_TEXT, &text, sizeof(text));
	n += put_item(message + n, 99, "x", 1);
	n += put_item(message + n, TS_SAMPLER_LOST, "short", 5);
	sample.n_frames = 0;
	sample.tid = 0;
	n += put_item(message + n, TS_SAMPLER_SAMPLE, &sample, sizeof(sample));
	n += put_item(message + n, TS_SAMPLER_LOST, &lost, sizeof(lost));
	ts_check(ts_sampler_next(message, n, &off, &item, &at));
	ts_check_int(item.kind, TS_SAMPLER_LOST);
	ts_check(!memcmp(at, &lost, sizeof(lost)));
	ts_check(!ts_sampler_next(message, n, &off, &item, &at));
	/* An item whose length exceeds the message. */
	item = (struct ts_sampler_item){TS_SAMPLER_WHY, UINT32_MAX};
	memcpy(message, &item, sizeof(item));
	off = 0;
	ts_check(!ts_sampler_next(message, n, &off, &item, &at));
}
