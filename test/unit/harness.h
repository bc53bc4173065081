/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit test harness. A test program includes this header once and defines tests:
 *
 *	TS_TEST(name) { ts_check(a == b); ts_check_int(f(), 0); }
 *
 * Each test runs in a forked child with a time limit. A test fails on a failed check, a signal, a
 * sanitizer's report, a time-out, or a file descriptor left open. `prog [-l] [NAME ...]` runs all
 * tests or the named ones. Exit status: 0 all passed, 1 some failed, 77 all that ran were skipped.
 */
#pragma once

#undef NDEBUG
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TS_TEST_SKIPPED 77
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TS_TEST_SANITIZED 1
#else
#define TS_TEST_SANITIZED 0
#endif
/*
 * A hang becomes a failure. The limit is generous for slow and busy machines: there a test with
 * four seconds of computation has taken more than two minutes.
 */
#define TS_TEST_SECONDS	     400
#define TS_TEST_SOAK_SECONDS 7000

struct ts_test {
	const char *name;
	void (*run)(void);
	struct ts_test *next;
};

static struct ts_test *ts_tests;
static struct ts_test **ts_tests_end = &ts_tests;

#define TS_TEST(name_)                                                               \
	static void ts_test_run_##name_(void);                                       \
	static struct ts_test ts_test_##name_ = {#name_, ts_test_run_##name_, NULL}; \
	__attribute__((constructor)) static void ts_test_add_##name_(void)           \
	{                                                                            \
		*ts_tests_end = &ts_test_##name_;                                    \
		ts_tests_end = &ts_test_##name_.next;                                \
	}                                                                            \
	static void ts_test_run_##name_(void)

static void (*ts_test_setup)(void);

/*
 * TS_SETUP { ... } runs once before the tests, in the process that they are forked from. It makes
 * what is costly and what no test changes.
 */
#define TS_SETUP                                                         \
	static void ts_test_run_setup(void);                             \
	__attribute__((constructor)) static void ts_test_set_setup(void) \
	{                                                                \
		ts_test_setup = ts_test_run_setup;                       \
	}                                                                \
	static void ts_test_run_setup(void)

static bool ts_test_has_failed;

/*
 * Ends the test. With TS_TEST_GO_ON the test fails at its end instead, so that one run on a real
 * device shows all differences.
 */
static inline void ts_test_failed(void)
{
	if (!getenv("TS_TEST_GO_ON"))
		exit(1);
	ts_test_has_failed = true;
}

#define ts_check(expr)                                                                       \
	do {                                                                                 \
		if (!(expr)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #expr); \
			ts_test_failed();                                                    \
		}                                                                            \
	} while (0)

#define ts_check_int(got, want)                                                                  \
	do {                                                                                     \
		int64_t ts_got_ = (int64_t)(got), ts_want_ = (int64_t)(want);                    \
		if (ts_got_ != ts_want_) {                                                       \
			fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", __FILE__, \
				__LINE__, #got, ts_got_, ts_want_);                              \
			ts_test_failed();                                                        \
		}                                                                                \
	} while (0)

#define ts_check_str(got, want)                                                                  \
	do {                                                                                     \
		const char *ts_got_ = (got), *ts_want_ = (want);                                 \
		if (!ts_got_ || strcmp(ts_got_, ts_want_)) {                                     \
			fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, \
				#got, ts_got_ ? ts_got_ : "(null)", ts_want_);                   \
			exit(1);                                                                 \
		}                                                                                \
	} while (0)

#define ts_skip(why)                                     \
	do {                                             \
		fprintf(stderr, "skipped: %s\n", (why)); \
		exit(TS_TEST_SKIPPED);                   \
	} while (0)

/*
 * True if the test runs at full size, that is, if the variable TS_SOAK is set. test/soak/run.py
 * sets it.
 */
static inline bool ts_soak(void)
{
	return getenv("TS_SOAK") != NULL;
}

/*
 * The number of random cases to run, of `n`. A sanitizer makes each several times slower. It looks
 * for faults that do not depend on the single case, so a quarter of the cases is enough for it.
 */
static inline unsigned ts_cases(unsigned n)
{
	return TS_TEST_SANITIZED && !ts_soak() ? n / 4 : n;
}

/* True under qemu-user, which is many times slower. packaging/cross/run.sh sets the variable. */
static inline bool ts_emulated(void)
{
	return getenv("TS_EMULATED") != NULL;
}

/* Skips a test that needs a call that qemu-user does not have. */
static inline void ts_skip_emulated(const char *missing)
{
	if (ts_emulated()) {
		fprintf(stderr, "skipped: qemu-user has no %s\n", missing);
		exit(TS_TEST_SKIPPED);
	}
}

/* True for a descriptor that packaging/cross/emulated.c has for shared anonymous memory. */
static inline bool ts_test_is_emulators(int dir, const char *name)
{
	char target[64];
	ssize_t n = ts_emulated() ? readlinkat(dir, name, target, sizeof(target) - 1) : 0;

	target[n > 0 ? n : 0] = '\0';
	return !strncmp(target, "/memfd:anonymous", 16);
}

static inline int ts_test_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	assert(dir);
	while ((entry = readdir(dir)))
		n += !ts_test_is_emulators(dirfd(dir), entry->d_name);
	closedir(dir);
	return n;
}

static inline int ts_test_child(const struct ts_test *test)
{
	int fds = ts_test_count_fds();

	alarm(ts_soak() ? TS_TEST_SOAK_SECONDS : TS_TEST_SECONDS);
	test->run();
	if (ts_test_has_failed)
		return 1;
	if (ts_test_count_fds() != fds) {
		fprintf(stderr, "%s: left %d file descriptors open\n", test->name,
			ts_test_count_fds() - fds);
		return 1;
	}
	return 0;
}

static inline const char *ts_test_one(const struct ts_test *test)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	assert(pid >= 0);
	if (!pid)
		exit(ts_test_child(test));
	while (waitpid(pid, &status, 0) < 0)
		assert(errno == EINTR);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? "timed out" : strsignal(WTERMSIG(status));
	if (WEXITSTATUS(status) == TS_TEST_SKIPPED)
		return "skipped";
	return WEXITSTATUS(status) ? "failed" : NULL;
}

int main(int argc, char **argv)
{
	int n_failed = 0, n_passed = 0, n_skipped = 0;

	if (ts_test_setup && !(argc > 1 && !strcmp(argv[1], "-l")))
		ts_test_setup();
	for (struct ts_test *test = ts_tests; test; test = test->next) {
		bool wanted = argc < 2;
		const char *outcome;

		if (argc > 1 && !strcmp(argv[1], "-l")) {
			puts(test->name);
			continue;
		}
		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], test->name);
		if (!wanted)
			continue;
		outcome = ts_test_one(test);
		printf("%-8s %s%s%s\n",
		       outcome ? (strcmp(outcome, "skipped") ? "FAIL" : "skip") : "ok", test->name,
		       outcome ? ": " : "", outcome ? outcome : "");
		if (!outcome)
			n_passed++;
		else if (!strcmp(outcome, "skipped"))
			n_skipped++;
		else
			n_failed++;
	}
	if (n_failed)
		return 1;
	return n_skipped && !n_passed ? TS_TEST_SKIPPED : 0;
}
