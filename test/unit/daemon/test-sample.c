/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests parts of the host sampler. A walk over this thread's own stack finds the frames that the C
 * library's unwinder finds, also through a signal handler. Other parts: Python's line tables,
 * symbols, messages, and the copy of Python frames from a made-up interpreter in this process.
 * test/integration/test-host.py tests the whole.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "test/unit/harness.h"

#include "daemon/sample/pyframes.h"
#include "daemon/sample/pyring.h"
#include "daemon/sample/rate.h"
#include "daemon/sample/sampler.h"
#include "daemon/sample/threads.h"

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

/* An interpreter with one thread, as struct ts_bpf_python describes it: with chunks and shims. */
#define PAGE 4096u
struct made_frame {
	uint64_t code, previous, instruction;
	uint8_t owner, reserved[7];
};
struct made_thread {
	uint64_t next, id, native_id, frame, room[20];
};
static struct {
	uint64_t next, threads;
} interpreter;
static struct made_thread thread;
static uint64_t interpreters;
static const struct ts_bpf_python made = {
	.next_off = 0,
	.threads_off = 8,
	.thread_next = offsetof(struct made_thread, next),
	.thread_id = offsetof(struct made_thread, id),
	.thread_frame = offsetof(struct made_thread, frame),
	.thread_cframe = TS_BPF_PYTHON_NONE,
	.frame_code = offsetof(struct made_frame, code),
	.frame_previous = offsetof(struct made_frame, previous),
	.frame_instruction = offsetof(struct made_frame, instruction),
	.frame_owner = offsetof(struct made_frame, owner),
	.frame_is_entry = TS_BPF_PYTHON_NONE,
	.frame_bytes = offsetof(struct made_frame, owner) + 1,
	.offset = TS_PYTHON_OFFSET_POINTER,
	.shims = 1,
	.chunks = 1,
};

static struct ts_remote_frames *make_interpreter(void)
{
	struct ts_bpf_python config = made;
	struct ts_remote_frames *frames;

	thread.id = 77;
	thread.native_id = (uint64_t)getpid();
	interpreter.threads = (uint64_t)&thread;
	interpreters = (uint64_t)&interpreter;
	config.interpreters = (uint64_t)&interpreters;
	ts_check_int(ts_remote_frames_new(getpid(), &config, &frames), 0);
	return frames;
}

/* Puts a frame at `at` whose caller is the thread's frame. */
static void call(void *at, uint64_t code)
{
	struct made_frame frame = {.code = code, .previous = thread.frame, .instruction = code + 8};

	memcpy(at, &frame, sizeof(frame));
	thread.frame = (uint64_t)at;
}

static void check_codes(struct ts_remote_frames *frames, uint32_t n, uint64_t innermost)
{
	struct ts_bpf_python_stack stack;

	ts_check(ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	ts_check_int(stack.n, n);
	ts_check(!stack.is_broken);
	for (uint32_t i = 0; i < n; i++) {
		ts_check_int(stack.frames[i].code, innermost - i);
		ts_check_int(stack.frames[i].instruction, innermost - i + 8);
		ts_check(!stack.frames[i].is_end);
	}
}

TS_TEST(python_frames_are_copied_as_they_are_now)
{
	struct ts_remote_frames *frames = make_interpreter();
	struct ts_bpf_python_stack stack;
	uint8_t *memory =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ts_check(memory != MAP_FAILED);
	/* Nothing is mapped before the first frame and behind the last page. */
	ts_check(!munmap(memory, PAGE) && !munmap(memory + 2 * PAGE, PAGE));
	memory += PAGE;
	ts_check(!ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	for (uint32_t i = 0; i < 5; i++)
		call(memory + i * 160, 101 + i);
	/* The first read knows no memory yet; the second knows all of it. */
	check_codes(frames, 5, 105);
	check_codes(frames, 5, 105);
	/* Another function at the same place, and deeper ones up to the end of the page. */
	thread.frame = (uint64_t)memory + 3 * 160;
	call(memory + 4 * 160, 105);
	for (uint32_t i = 5; i < 25; i++)
		call(memory + i * 160, 101 + i);
	check_codes(frames, 25, 125);
	/* Back to the outermost function. */
	thread.frame = (uint64_t)memory;
	check_codes(frames, 1, 101);
	ts_remote_frames_free(frames);
}

TS_TEST(python_frames_on_two_stacks)
{
	struct ts_remote_frames *frames = make_interpreter();
	struct ts_bpf_python_stack stack;
	static struct made_frame chunk[4], shims[2];

	thread.frame = 0;
	for (unsigned i = 0; i < 2; i++) {
		call(&shims[1 - i], 1);
		shims[1 - i].owner = TS_PYTHON_OWNED_BY_C_STACK;
		call(&chunk[2 * i], 200 + 2 * i);
		call(&chunk[2 * i + 1], 201 + 2 * i);
	}
	for (unsigned k = 0; k < 3; k++) {
		ts_check(ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
		ts_check_int(stack.n, 6);
		ts_check_int(stack.frames[0].code, 203);
		ts_check_int(stack.frames[1].code, 202);
		ts_check(!stack.frames[2].code && stack.frames[2].is_end);
		ts_check(stack.frames[2].at == (uint64_t)&shims[0]);
		ts_check_int(stack.frames[4].code, 200);
		ts_check(stack.frames[5].at == (uint64_t)&shims[1] && stack.frames[5].is_end);
	}
	ts_remote_frames_free(frames);
}

/* A process may start any number of threads, one after the other. */
TS_TEST(python_frames_after_many_threads)
{
	struct ts_remote_frames *frames = make_interpreter();
	struct ts_bpf_python_stack stack;
	static struct made_frame one;

	thread.frame = 0;
	call(&one, 401);
	for (uint32_t tid = 1; tid <= 3000; tid++)
		if (tid != (uint32_t)getpid())
			ts_check(!ts_remote_frames_read(frames, tid, &stack));
	check_codes(frames, 1, 401);
	ts_remote_frames_free(frames);
}

TS_TEST(python_frames_that_cannot_be_are_dropped)
{
	struct ts_remote_frames *frames = make_interpreter();
	struct ts_bpf_python_stack stack;
	static struct made_frame one;

	thread.frame = 0;
	call(&one, 301);
	check_codes(frames, 1, 301);
	/* An address that is not mapped, and one that is no multiple of 8. */
	one.previous = 8;
	ts_check(!ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	one.previous = (uint64_t)&one + 1;
	ts_check(!ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	/* A frame that is its own caller: as many frames as there is room for. */
	one.previous = (uint64_t)&one;
	ts_check(ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	ts_check_int(stack.n, TS_BPF_PYTHON_FRAMES);
	/* The state belongs to another thread now. */
	thread.id = 78;
	thread.native_id++;
	one.previous = 0;
	ts_check(!ts_remote_frames_read(frames, (uint32_t)getpid(), &stack));
	ts_remote_frames_free(frames);
}

TS_TEST(python_stacks_wait_for_their_samples)
{
	struct ts_bpf_python_stack stack = {.n = 1, .frames = {{.code = 401}}};
	const struct ts_bpf_python_stack *found;
	struct ts_python_ring *ring;

	ts_check_int(ts_python_ring_new(&ring), 0);
	for (uint32_t tid = 1; tid <= 3; tid++) {
		stack.tid = tid;
		stack.time_ns = UINT64_C(1000000000) + tid;
		ts_python_ring_put(ring, &stack);
	}
	ts_python_ring_drain(ring);
	ts_check(!ts_python_ring_find(ring, 4, 1000000004));
	ts_check(!ts_python_ring_find(ring, 2, 1010000002));
	found = ts_python_ring_find(ring, 2, 1000000002);
	ts_check(found && found->tid == 2 && found->n == 1 && found->frames[0].code == 401);
	ts_check(!ts_python_ring_find(ring, 2, 1000000002));
	/* A stack of another thread may come late. */
	stack.tid = 4;
	stack.time_ns = UINT64_C(999000000);
	ts_python_ring_put(ring, &stack);
	ts_check(ts_python_ring_find(ring, 1, 1000000001) != NULL);
	/* More than a second later, the others are gone. */
	stack.tid = 3;
	stack.time_ns = UINT64_C(3000000000);
	ts_python_ring_put(ring, &stack);
	ts_check(!ts_python_ring_find(ring, 3, 1000000003));
	ts_check(ts_python_ring_find(ring, 3, 3000000000) != NULL);
	ts_python_ring_free(ring);
}

static int take_nothing(void *data, const struct ts_thread_sample *sample, size_t *ret_depth_bytes)
{
	(void)sample;
	*ret_depth_bytes = 0;
	++*(unsigned *)data;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

TS_TEST(a_wait_ends_each_time)
{
	unsigned n_samples = 0;
	const struct ts_sampled_calls calls = {take_nothing, NULL, NULL, &n_samples};
	struct ts_sampled_options options = {.period_ns = 5000000,
					     .program_fd = -1,
					     .wait_ms = 20,
					     .wake_fd = -1};
	struct ts_sampled_threads *threads;
	int ends[2], r;
	bool is_woken;

	ts_check(!pipe(ends));
	options.wake_fd = ends[0];
	for (unsigned prompt = 0; prompt < 2; prompt++) {
		options.prompt = prompt;
		r = ts_sampled_threads_new(getpid(), &options, &threads);
		if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSYS || r == -EOPNOTSUPP)
			ts_skip("no perf events");
		ts_check_int(r, 0);
		/* This thread runs; the samples come when the wait is over. */
		for (unsigned i = 0; i < 4; i++) {
			uint64_t begun = now_ns();

			while (now_ns() - begun < 10000000)
				;
			begun = now_ns();
			ts_check_int(ts_sampled_threads_wait(threads, &calls, &is_woken), 0);
			ts_check(!is_woken);
			ts_check(now_ns() - begun >= 19000000);
			ts_check_int(ts_sampled_threads_take(threads, &calls), 0);
		}
		ts_check(n_samples);
		n_samples = 0;
		ts_check_int(write(ends[1], "", 1), 1);
		ts_check_int(ts_sampled_threads_wait(threads, &calls, &is_woken), 0);
		ts_check(is_woken);
		ts_check_int(read(ends[0], &r, 1), 1);
		ts_sampled_threads_free(threads);
	}
	close(ends[0]);
	close(ends[1]);
}

/* ---- the period ------------------------------------------------------------------------------ */

struct counted {
	uint64_t n[2], ns; /* samples of the first and of other periods, and their time */
	uint64_t first_ns;
};

static int count_sample(void *data, const struct ts_thread_sample *sample, size_t *ret_depth_bytes)
{
	struct counted *counted = data;

	*ret_depth_bytes = 0;
	counted->n[sample->period_ns != counted->first_ns]++;
	counted->ns += sample->period_ns;
	return 0;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(struct ts_sampled_threads *threads, const struct ts_sampled_calls *calls,
		 uint64_t ns)
{
	uint64_t begun = thread_ns();

	for (uint64_t done = 0; done < ns; done = thread_ns() - begun)
		ts_check_int(ts_sampled_threads_take(threads, calls), 0);
}

/* A change of the period leaves the time right that the samples stand for. */
TS_TEST(samples_have_the_period_of_their_time)
{
	struct counted counted = {.first_ns = 1000000};
	const struct ts_sampled_calls calls = {count_sample, NULL, NULL, &counted};
	const struct ts_sampled_options options = {.period_ns = 1000000,
						   .program_fd = -1,
						   .wait_ms = 20,
						   .wake_fd = -1};
	struct ts_sampled_threads *threads;
	int r = ts_sampled_threads_new(getpid(), &options, &threads);
	uint64_t begun = thread_ns(), ns;

	if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSYS || r == -EOPNOTSUPP)
		ts_skip("no perf events");
	ts_check_int(r, 0);
	work(threads, &calls, 100000000);
	ts_check(counted.n[0] && !counted.n[1]);
	ts_check_int(ts_sampled_threads_set_period(threads, 4000000, &calls), 0);
	counted.n[0] = 0;
	work(threads, &calls, 300000000);
	ts_check(!counted.n[0] && counted.n[1]);
	ts_check_int(ts_sampled_threads_set_period(threads, 1000000, &calls), 0);
	work(threads, &calls, 100000000);
	ts_check(counted.n[0]);
	ns = thread_ns() - begun;
	ts_check(counted.ns <= ns / 4 * 5);
	/* Time in the kernel has no samples if the kernel does not allow them. */
	ts_check(counted.ns >= ns / 4 * 3 || ts_sampled_threads_is_user_only(threads));
	ts_sampled_threads_free(threads);
}

#define SECOND UINT64_C(1000000000)

/* ---- the length of the copied stack ---------------------------------------------------------- */

struct copied {
	size_t depth_bytes; /* of all stacks */
	size_t wanted_bytes;
	bool is_reached; /* a sample came with a copy of wanted_bytes */
};

/* Counts this thread alone: a sanitizer's own thread has samples, too. */
static int note_copy(void *data, const struct ts_thread_sample *sample, size_t *ret_depth_bytes)
{
	struct copied *copied = data;
	size_t n = sample->n_stack_bytes;
	bool is_cut = n >= TS_SAMPLE_LEAST_STACK_BYTES && !(n & (n - 1));

	if (sample->inner_tid != (uint32_t)gettid()) {
		*ret_depth_bytes = 0;
		return 0;
	}
	copied->is_reached |= n == copied->wanted_bytes;
	/* Outside reaches(), the stack ends after a few KiB, and so does the copy. */
	*ret_depth_bytes = copied->depth_bytes <= n ? copied->depth_bytes : is_cut ? SIZE_MAX : n;
	return 0;
}

/*
 * Works until a copy has that length. False: none within limit_ns of its processor time. ASan would
 * put the array on the heap.
 */
__attribute__((noinline, no_sanitize("address"))) static bool reaches(
	struct ts_sampled_threads *threads, const struct ts_sampled_calls *calls,
	struct copied *copied, size_t n_bytes, uint64_t limit_ns)
{
	volatile uint8_t stack[20000];
	uint64_t begun = thread_ns();

	copied->wanted_bytes = n_bytes;
	copied->is_reached = false;
	/* The kernel copies only pages that are in memory. */
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
	do
		ts_check_int(ts_sampled_threads_take(threads, calls), stack[0]);
	while (!copied->is_reached && thread_ns() - begun < limit_ns);
	return copied->is_reached;
}

TS_TEST(the_copied_stack_is_as_long_as_the_stacks_need)
{
	struct copied copied = {.depth_bytes = 1500};
	const struct ts_sampled_calls calls = {note_copy, NULL, NULL, &copied};
	const struct ts_sampled_options options = {.period_ns = 100000,
						   .program_fd = -1,
						   .wait_ms = 20,
						   .wake_fd = -1};
	struct ts_sampled_threads *threads;
	int r = ts_sampled_threads_new(getpid(), &options, &threads);

	if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSYS || r == -EOPNOTSUPP)
		ts_skip("no perf events");
	ts_check_int(r, 0);
	ts_check(reaches(threads, &calls, &copied, TS_SAMPLE_STACK_BYTES, SECOND));
	ts_check(reaches(threads, &calls, &copied, TS_SAMPLE_LEAST_STACK_BYTES, SECOND));
	/* A deeper stack is cut once. */
	copied.depth_bytes = 5000;
	ts_check(reaches(threads, &calls, &copied, TS_SAMPLE_STACK_BYTES, SECOND));
	ts_check(reaches(threads, &calls, &copied, 8192, SECOND));
	/* A thread whose stack was deep once keeps room for it. */
	copied.depth_bytes = 100;
	ts_check(!reaches(threads, &calls, &copied, TS_SAMPLE_LEAST_STACK_BYTES, SECOND / 10));
	copied.depth_bytes = 20000;
	ts_check(reaches(threads, &calls, &copied, TS_SAMPLE_STACK_BYTES, SECOND));
	ts_check(!reaches(threads, &calls, &copied, 8192, SECOND / 10));
	ts_sampled_threads_free(threads);
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* A second in which `n` threads ran all the time, and each sample cost `ns`. */
static uint64_t add_second(struct ts_sample_rate *rate, unsigned n, uint64_t ns)
{
	uint64_t samples = n * SECOND / rate->period_ns;

	return ts_sample_rate_add(rate, SECOND, samples, samples * ns);
}

TS_TEST(the_rate_follows_the_cost)
{
	const uint64_t first_ns = SECOND / 199;
	struct ts_sample_rate rate;
	uint64_t low_ns;

	ts_sample_rate_init(&rate, first_ns);
	/* Cheap samples, whatever the number of threads, and the expensive start of a program. */
	for (unsigned i = 0; i < 20; i++)
		ts_check_int(add_second(&rate, i == 4 ? 1 : 16, i < 2 || i == 9 ? 209000 : 12000),
			     first_ns);
	/* 60 us a sample are 0.3 % of a core at 50 Hz. */
	for (unsigned i = 0; i < 2; i++)
		ts_check_int(add_second(&rate, 1, 60000), first_ns);
	low_ns = add_second(&rate, 1, 60000);
	ts_check(low_ns >= 19990000 && low_ns <= 20010000);
	for (unsigned i = 0; i < 20; i++)
		ts_check_int(add_second(&rate, 4, i % 5 ? 57000 : 99000), low_ns);
	/* A process that mostly sleeps costs little of a core. */
	for (unsigned i = 0; i < 2; i++)
		ts_check_int(ts_sample_rate_add(&rate, 20 * SECOND, 32, 32 * 60000), low_ns);
	ts_check_int(ts_sample_rate_add(&rate, 20 * SECOND, 32, 32 * 60000), first_ns);
	/* The rate does not fall further than to an eighth. */
	for (unsigned i = 0; i < 9; i++)
		(void)add_second(&rate, 1, 100000000);
	ts_check_int(rate.period_ns, 8 * first_ns);
	/* Cheap again. */
	for (unsigned i = 0; i < 9; i++)
		(void)add_second(&rate, 1, 2000);
	ts_check_int(rate.period_ns, first_ns);
}
