/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured stacks equal the real stacks, frame by frame. The functions of this test know their own
 * callers, so the tests compare with these. In check mode the shim also unwinds each stack in full
 * and compares. The tests also check which method found each stack: cache, walk, or full unwinding.
 * Built with little optimisation, so that each place in the source is one place in the program.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "inject/stacks/stack.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

static struct fixture f;
static struct ts_stack_walker walker;
static __thread struct ts_stack_cache *cache;
static __thread uint32_t last_id;
static __thread uint32_t last_flags;

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
/* Used after a call: the call is no tail call, and the compiler does not know its result. */
#define KEEP(r) __asm__ volatile("" : "+r"(r))

static void set_up(uint64_t arena_bytes)
{
	fixture_init(&f, 4, TS_RING_MIN_BYTES, arena_bytes);
	ts_stack_init(&walker, false, true);
	if (!ts_stack_works(&walker))
		ts_skip("no libunwind");
#if !defined(__x86_64__) && !defined(__aarch64__)
	ts_skip("stacks are recognised on x86-64 and aarch64 alone");
#endif
	/*
	 * The test program contains the shim's code, so the walker must not skip frames of the
	 * shim's file.
	 */
	memset(walker.skip, 0, sizeof(walker.skip));
	ts_check(walker.watch.works);
	ts_check(walker.watch.n_added >= 1);
}

static NOINLINE int capture(void *data)
{
	(void)data;
	last_flags = 0;
	last_id = ts_stack_capture(&walker, &f.definitions, &cache, &last_flags);
	ts_check(last_id != TS_ID_UNKNOWN);
	return 0;
}

static const uint64_t *frames_of(uint32_t id, uint32_t *ret_n)
{
	const struct ts_definition *definition = fixture_definition(&f, TS_DEF_STACK, id);

	ts_check(definition);
	*ret_n = definition->n;
	return (const uint64_t *)(definition + 1);
}

/* Returns the number of frames of a stack that lie in the function. */
static uint32_t count_in(uint32_t id, const void *function)
{
	uintptr_t start, end;
	const uint64_t *frames;
	uint32_t n, i, found = 0;

	ts_check(ts_cfi_function((uintptr_t)function, &start, &end));
	frames = frames_of(id, &n);
	for (i = 0; i < n; i++)
		found += frames[i] - 1 >= start && frames[i] - 1 < end;
	return found;
}

static void check_counts(uint64_t n_cached, uint64_t n_walked, uint64_t n_unwound)
{
	struct ts_stack_counts counts = ts_stack_counts(&walker);

	ts_check_int(counts.n_differ, 0);
	ts_check_int(counts.n_cached, n_cached);
	ts_check_int(counts.n_walked, n_walked);
	ts_check_int(counts.n_unwound, n_unwound);
}

static NOINLINE int recurse(int depth)
{
	int r = depth ? recurse(depth - 1) : capture(NULL);

	KEEP(r);
	return r;
}

TS_TEST(recursion_of_known_depth)
{
	static const int depths[] = {1, 2, 3, 10, 50, 200};
	uint32_t n, n_before = 0, round, ids[TS_ARRAY_LEN(depths)];
	size_t i;

	set_up(1024 * 1024);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < TS_ARRAY_LEN(depths); i++) {
			recurse(depths[i]);
			ts_check(!last_flags);
			ts_check_int(count_in(last_id, (void *)recurse), depths[i] + 1);
			frames_of(last_id, &n);
			if (i)
				ts_check_int(n - n_before, depths[i] - depths[i - 1]);
			n_before = n;
			if (round)
				ts_check_int(last_id, ids[i]);
			ids[i] = last_id;
		}
	}
	/* Each stack is walked twice and then recognised. */
	check_counts(3 * TS_ARRAY_LEN(depths), 2 * TS_ARRAY_LEN(depths), 0);
	fixture_deinit(&f);
}

TS_TEST(ten_thousand_deep)
{
	const struct ts_definition *definition;
	uint32_t id = 0, i;

	set_up(1024 * 1024);
	for (i = 0; i < 4; i++) {
		recurse(10000);
		ts_check_int(last_flags, TS_STACK_CUT);
		ts_check(!id || id == last_id);
		id = last_id;
	}
	definition = fixture_definition(&f, TS_DEF_STACK, id);
	ts_check_int(definition->flags, TS_STACK_TRUNCATED);
	ts_check_int(definition->n, TS_STACK_DEPTH_MAX);
	check_counts(2, 2, 0);
	/* A truncated stack gets another id than a complete stack with the same frames. */
	recurse(100);
	ts_check(!last_flags && last_id != id);
	fixture_deinit(&f);
}

struct library {
	void *handle;
	int (*call)(int (*callback)(void *), void *data);
	int (*deep)(int (*callback)(void *), void *data, int depth);
	int (*aligned)(int (*callback)(void *), void *data, long c, long d, long e, long f, long g,
		       long h);
};

static struct library open_library(const char *path)
{
	struct library library = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};

	ts_check(library.handle);
	*(void **)&library.call = dlsym(library.handle, "library_call");
	*(void **)&library.deep = dlsym(library.handle, "library_deep");
	*(void **)&library.aligned = dlsym(library.handle, "library_aligned");
	ts_check(library.call && library.deep && library.aligned);
	return library;
}

static void go_through(const char *path)
{
	struct library library;
	int i;

	set_up(1024 * 1024);
	library = open_library(path);
	for (i = 0; i < 4; i++) {
		library.deep(capture, NULL, 20);
		ts_check_int(count_in(last_id, (void *)library.deep), 21);
		ts_check_int(count_in(last_id, (void *)go_through), 1);
	}
	check_counts(2, 2, 0);
	fixture_deinit(&f);
}

TS_TEST(a_library_without_frame_pointers)
{
	go_through(TEST_STACK_LIBRARY);
}

TS_TEST(a_library_with_frame_pointers)
{
	go_through(TEST_STACK_LIBRARY_FP);
}

TS_TEST(a_library_that_aligns_its_stack)
{
	struct library library;
	int i;

	set_up(1024 * 1024);
	library = open_library(TEST_STACK_LIBRARY);
	for (i = 0; i < 4; i++) {
		library.aligned(capture, NULL, 16, 0, 0, 0, 16, 0);
		ts_check_int(count_in(last_id, (void *)library.aligned), 1);
		ts_check_int(count_in(last_id, (void *)ts_test_run_a_library_that_aligns_its_stack),
			     1);
	}
	check_counts(2, 2, 0);
	fixture_deinit(&f);
}

#ifdef TEST_STACK_LIBRARY_SIGNED
/* The library signs its return addresses, if the processor can. */
TS_TEST(a_library_with_signed_return_addresses)
{
	go_through(TEST_STACK_LIBRARY_SIGNED);
}
#endif

/*
 * A second library has the same functions at the same addresses as the first, but with frames of
 * another size. Rules cached for the first library are wrong for the second.
 */
TS_TEST(a_library_goes_and_another_comes_in_its_place)
{
	static const char *const paths[] = {TEST_STACK_LIBRARY, TEST_STACK_LIBRARY_BIG,
					    TEST_STACK_LIBRARY_FP};
	void *first = NULL;
	uint64_t n_cached = 0;
	volatile int i, j;
	int n_same = 0;

	set_up(1024 * 1024);
	for (i = 0; i < 30; i++) {
		struct library library = open_library(paths[i % 3]);

		n_same += (void *)library.call == first;
		first = first ? first : (void *)library.call;
		for (j = 0; j < 4; j++) {
			library.call(capture, NULL);
			ts_check_int(count_in(last_id, (void *)library.call), 1);
			ts_check_int(
				count_in(
					last_id,
					(void *)ts_test_run_a_library_goes_and_another_comes_in_its_place),
				1);
			/*
			 * After a library is loaded, the first stack never comes from the cache,
			 * even if it has the same frames.
			 */
			ts_check(j || ts_stack_counts(&walker).n_cached == n_cached);
			n_cached = ts_stack_counts(&walker).n_cached;
		}
		ts_check_int(dlclose(library.handle), 0);
	}
	if (n_same <= 2)
		ts_skip_emulated("mmap() that uses an address again soon");
	/* Without equal stacks, the test would not have tested anything. */
	ts_check(n_same > 2);
	ts_check(n_cached >= 60);
	check_counts(n_cached, 120 - n_cached, 0);
	fixture_deinit(&f);
}

TS_TEST(nothing_is_kept_past_a_load)
{
	uint64_t generation;
	void *handle;

	set_up(1024 * 1024);
	generation = ts_loader_generation(&walker.watch);
	handle = dlopen(TEST_STACK_LIBRARY, RTLD_NOW);
	ts_check(handle && ts_loader_generation(&walker.watch) != generation);
	generation = ts_loader_generation(&walker.watch);
	/* The library was loaded already, so the generation does not change. */
	ts_check(dlopen(TEST_STACK_LIBRARY, RTLD_NOW) == handle);
	ts_check(ts_loader_generation(&walker.watch) == generation);
	dlclose(handle);
	dlclose(handle);
	ts_check(ts_loader_generation(&walker.watch) != generation);
	ts_loader_watch_check(&walker.watch);
	ts_check(walker.watch.works);
	fixture_deinit(&f);
}

/*
 * If the loader's count is wrong, the shim stops watching libraries, and uses libunwind for all
 * later stacks.
 */
TS_TEST(a_wrong_count_is_noticed)
{
	static const uint64_t wrong = 1;
	int i;

	set_up(1024 * 1024);
	walker.watch.added[0] = &wrong;
	ts_loader_watch_check(&walker.watch);
	ts_check(!walker.watch.works);
	for (i = 0; i < 4; i++)
		recurse(5);
	ts_check_int(count_in(last_id, (void *)recurse), 6);
	check_counts(0, 0, 4);
	fixture_deinit(&f);
}

static NOINLINE int compare(const void *a, const void *b)
{
	int r = *(const int *)a - *(const int *)b;

	capture(NULL);
	KEEP(r);
	return r;
}

TS_TEST(a_callback_through_qsort)
{
	int numbers[40], i, round;
	struct ts_stack_counts counts;

	set_up(1024 * 1024);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 40; i++)
			numbers[i] = i * 7 % 40;
		qsort(numbers, 40, sizeof(numbers[0]), compare);
		ts_check_int(count_in(last_id, (void *)compare), 1);
		ts_check_int(count_in(last_id, (void *)ts_test_run_a_callback_through_qsort), 1);
	}
	counts = ts_stack_counts(&walker);
	ts_check_int(counts.n_differ, 0);
	ts_check_int(counts.n_unwound, 0);
	ts_check(counts.n_cached > counts.n_walked);
	fixture_deinit(&f);
}

static void on_signal(int number)
{
	(void)number;
	recurse(3);
}

static NOINLINE int interrupted(void)
{
	int r = raise(SIGUSR1);

	KEEP(r);
	return r;
}

TS_TEST(a_signal_handler)
{
	static uint8_t other_stack[64 * 1024];
	struct sigaction action = {.sa_handler = on_signal};
	stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	int i;

	set_up(1024 * 1024);
	ts_check_int(sigaltstack(&stack, NULL), 0);
	/* libunwind's first walk in a thread allocates memory, which a handler must not do. */
	recurse(1);
	for (i = 0; i < 8; i++) {
		action.sa_flags = i < 4 ? 0 : SA_ONSTACK;
		sigaction(SIGUSR1, &action, NULL);
		interrupted();
		ts_check_int(count_in(last_id, (void *)recurse), 4);
		ts_check_int(count_in(last_id, (void *)interrupted), 1);
	}
	/* The interrupted function made no call, so no rule for callers applies. */
	check_counts(0, 1, 8);
	fixture_deinit(&f);
}

#if defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; mov x2,x0; mov x0,x1; blr x2; ldp x29,x30,[sp],#16; ret */
static const uint32_t generated_code[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2, 0xaa0103e0,
					  0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#else
/* sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; add $8,%rsp; ret */
static const uint8_t generated_code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
					 0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#endif

TS_TEST(generated_code_without_unwinding_information)
{
	int (*call)(int (*callback)(void *), void *data);
	void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (pages == MAP_FAILED)
		ts_skip("no memory that can be written and run");
	memcpy(pages, generated_code, sizeof(generated_code));
	__builtin___clear_cache((char *)pages, (char *)pages + sizeof(generated_code));
	*(void **)&call = pages;
	set_up(1024 * 1024);
	for (i = 0; i < 6; i++)
		call(capture, NULL);
	check_counts(0, 0, 6);
	munmap(pages, 4096);
	fixture_deinit(&f);
}

TS_TEST(exceptions_in_flight)
{
	int (*call)(int (*callback)(void *), void *data);
	void *library;
	struct ts_stack_counts counts;
	int i;

	if (!*TEST_STACK_THROWS)
		ts_skip("no C++ compiler");
	set_up(1024 * 1024);
	library = dlopen(TEST_STACK_THROWS, RTLD_NOW);
	ts_check(library);
	*(void **)&call = dlsym(library, "throws_call");
	ts_check(call);
	for (i = 0; i < 5; i++) {
		ts_check_int(call(capture, NULL), 0);
		ts_check_int(count_in(last_id, (void *)ts_test_run_exceptions_in_flight), 1);
	}
	/*
	 * Each call captures two stacks. The capture inside the C++ unwinder's call may need
	 * libunwind.
	 */
	counts = ts_stack_counts(&walker);
	ts_check_int(counts.n_differ, 0);
	ts_check_int(counts.n_cached + counts.n_walked + counts.n_unwound, 10);
	ts_check(counts.n_cached >= 3);
	fixture_deinit(&f);
}

static void *thread_main(void *data)
{
	int i;

	for (i = 0; i < 50; i++) {
		recurse(i % 5);
		ts_check_int(count_in(last_id, (void *)thread_main), 1);
	}
	__atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
	return NULL;
}

TS_TEST(threads)
{
	pthread_t threads[8];
	int n_done = 0;
	size_t i;

#if defined(__SANITIZE_THREAD__)
	ts_skip("libunwind takes a lock in a thread's last moments, when ThreadSanitizer has let go of it");
#endif
	set_up(1024 * 1024);
	for (i = 0; i < TS_ARRAY_LEN(threads); i++)
		ts_check_int(pthread_create(&threads[i], NULL, thread_main, &n_done), 0);
	for (i = 0; i < TS_ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	ts_check_int(n_done, TS_ARRAY_LEN(threads));
	check_counts(8 * 40, 8 * 10, 0);
	fixture_deinit(&f);
}

/* The forked child has no mapping of the session, but it still unwinds the same stack. */
TS_TEST(a_forked_child_unwinds_its_own)
{
	volatile int round, i;
	int status;
	pid_t pid = -1;

	for (round = 0; round < 2; round++) {
		set_up(1024 * 1024);
		cache = NULL;
		for (i = 0; i < 4; i++) {
			recurse(7);
			ts_check_int(count_in(last_id, (void *)recurse), 8);
			recurse(9);
			ts_check_int(count_in(last_id, (void *)recurse), 10);
		}
		check_counts(4, 4, 0);
		if (round)
			_exit(0);
		pid = fork();
		ts_check(pid >= 0);
		if (pid)
			break;
	}
	ts_check(waitpid(pid, &status, 0) == pid);
	ts_check_int(status, 0);
	fixture_deinit(&f);
}

/* Two functions that call each other by the bits of a number: each number has its own stack. */
static NOINLINE int by_bits_one(uint32_t number, int n_bits);
static NOINLINE int by_bits_zero(uint32_t number, int n_bits)
{
	int r;

	if (!n_bits)
		r = capture(NULL);
	else if (number & 1)
		r = by_bits_one(number >> 1, n_bits - 1);
	else
		r = by_bits_zero(number >> 1, n_bits - 1);
	KEEP(r);
	return r;
}

static NOINLINE int by_bits_one(uint32_t number, int n_bits)
{
	int r;

	if (!n_bits)
		r = capture(NULL);
	else if (number & 1)
		r = by_bits_one(number >> 1, n_bits - 1);
	else
		r = by_bits_zero(number >> 1, n_bits - 1);
	KEEP(r);
	return r;
}

TS_TEST(a_hundred_thousand_distinct_stacks)
{
	enum {
		N = 100000
	};
	static uint32_t ids[N];
	uint32_t round, i;

	set_up(64 * 1024 * 1024);
	/*
	 * The bits of the number verify the whole stack; only the first round also unwinds in full.
	 */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < N; i++) {
			by_bits_zero(i, 17);
			ts_check(!round || ids[i] == last_id);
			ids[i] = last_id;
		}
		walker.check = false;
	}
	/* Ids are dense: there are as many ids as numbers. */
	for (i = 0; i < N; i++)
		ts_check(ids[i] >= 1 && ids[i] <= N);
	ts_check(!fixture_definition(&f, TS_DEF_STACK, N + 1));
	for (i = 0; i < N; i += 9973)
		ts_check_int(count_in(ids[i], (void *)by_bits_one),
			     (uint32_t)__builtin_popcount(i));
	ts_check_int(ts_stack_counts(&walker).n_differ, 0);
	ts_check_int(ts_stack_counts(&walker).n_unwound, 0);
	fixture_deinit(&f);
}

static uint32_t chance_state;

static uint32_t chance(uint32_t n)
{
	chance_state = chance_state * 1664525 + 1013904223;
	return (chance_state >> 8) % n;
}

static NOINLINE int wander(int depth);

/* A frame whose size is known only at run time: its CFA is computed from the frame pointer. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Walloca"
static NOINLINE int wander_sized(int depth)
{
	size_t n_bytes = 16 * (1 + chance(3));
	volatile char *room = __builtin_alloca(n_bytes);
	int r;

	room[0] = room[n_bytes - 1] = 1;
	r = wander(depth);
	KEEP(r);
	return r + room[0] - 1;
}

#pragma GCC diagnostic pop

/* A frame that aligns its stack: a word in the frame has its CFA. */
static NOINLINE int wander_aligned(int depth)
{
	_Alignas(64) volatile char room[64];
	int r;

	room[0] = 1;
	__asm__ volatile("" : : "r"(room) : "memory");
	r = wander(depth);
	KEEP(r);
	return r + room[0] - 1;
}

/* The frame pointer is a general register in this function. */
static NOINLINE int wander_register(int depth)
{
	int r;

#if defined(__aarch64__)
	__asm__ volatile(""
			 :
			 :
			 : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28");
#elif defined(__x86_64__)
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
#endif
	r = wander(depth);
	KEEP(r);
	return r + (depth == INT_MIN);
}

static NOINLINE int wander(int depth)
{
	int r;

	if (!depth)
		r = capture(NULL);
	else if (chance(4) == 0)
		r = wander_sized(depth - 1);
	else if (chance(3) == 0)
		r = wander_aligned(depth - 1);
	else if (chance(2) == 0)
		r = wander_register(depth - 1);
	else
		r = wander(depth - 1);
	KEEP(r);
	return r;
}

/*
 * Makes frames of every kind in random order, over stale words of earlier frames. Different stacks
 * have equal stack pointers.
 */
TS_TEST(frames_of_all_kinds_by_chance)
{
	struct ts_stack_counts counts;
	uint32_t i;

	set_up(64 * 1024 * 1024);
	for (i = 0; i < 60000; i++) {
		/* Each seed comes many times. */
		chance_state = i * 2654435761u % 3000;
		wander(1 + (int)(chance_state % 9));
	}
	counts = ts_stack_counts(&walker);
	ts_check_int(counts.n_differ, 0);
	ts_check_int(counts.n_unwound, 0);
	ts_check(counts.n_cached > 30000);
	fixture_deinit(&f);
}

static int hold_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	int *step = data;

	(void)info;
	(void)size;
	__atomic_store_n(step, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(step, __ATOMIC_ACQUIRE) == 1)
		usleep(1000);
	return 1;
}

static void *hold_main(void *data)
{
	dl_iterate_phdr(hold_lock, data);
	return NULL;
}

static NOINLINE void recurse_often(int n)
{
	for (; n; n--)
		recurse(12);
}

static void hold_locks(pthread_t *thread, int *step)
{
	ts_check_int(pthread_create(thread, NULL, hold_main, step), 0);
	while (!__atomic_load_n(step, __ATOMIC_ACQUIRE))
		usleep(1000);
	pthread_mutex_lock(&f.definitions.lock);
}

TS_TEST(what_was_seen_needs_no_lock)
{
	pthread_t thread;
	/* Volatile, so that the compiler does not duplicate the call site. */
	volatile int i;
	int step = 0;

	set_up(1024 * 1024);
	walker.check = false;
	for (i = 0; i < 2; i++) {
		/* The second round makes the same call while another thread holds the locks. */
		if (i)
			hold_locks(&thread, &step);
		recurse_often(i ? 100 : 3);
	}
	pthread_mutex_unlock(&f.definitions.lock);
	__atomic_store_n(&step, 2, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	check_counts(101, 2, 0);
	fixture_deinit(&f);
}
