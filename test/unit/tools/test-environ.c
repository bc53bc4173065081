/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a recorded command: our library comes first, the user's settings stay. */
#include "test/unit/harness.h"
#include "tools/tsctl/record/environ.h"

static struct ts_environ *make(char *const *base)
{
	struct ts_environ *env = NULL;

	ts_check_int(ts_environ_new(base, &env), 0);
	return env;
}

static size_t count(struct ts_environ *env)
{
	char **strings = ts_environ_strings(env);
	size_t n = 0;

	while (strings[n])
		n++;
	return n;
}

TS_TEST(a_copy_is_a_copy)
{
	char home[] = "HOME=/root", odd[] = "odd";
	char *base[] = {home, odd, NULL};
	struct ts_environ *env = make(base);

	ts_check_int(count(env), 2);
	ts_check_str(ts_environ_get(env, "HOME"), "/root");
	ts_check(!ts_environ_get(env, "HOM"));
	ts_check(!ts_environ_get(env, "odd"));
	home[0] = 'h';
	ts_check_str(ts_environ_get(env, "HOME"), "/root");
	ts_environ_free(env);
}

TS_TEST(set_replaces_and_adds)
{
	char *base[] = {NULL};
	struct ts_environ *env = make(base);

	ts_check_int(ts_environ_set(env, "A", "1"), 0);
	ts_check_int(ts_environ_set(env, "B", "2"), 0);
	ts_check_int(ts_environ_set(env, "A", "3"), 0);
	ts_check_int(count(env), 2);
	ts_check_str(ts_environ_get(env, "A"), "3");
	ts_check_str(ts_environ_get(env, "B"), "2");
	ts_environ_unset(env, "A");
	ts_environ_unset(env, "C");
	ts_check_int(count(env), 1);
	ts_check(!ts_environ_get(env, "A"));
	ts_check_str(ts_environ_get(env, "B"), "2");
	ts_environ_free(env);
}

static void check_prepend(const char *old, const char *want)
{
	char *base[] = {NULL};
	struct ts_environ *env = make(base);

	if (old)
		ts_check_int(ts_environ_set(env, "LIST", old), 0);
	ts_check_int(ts_environ_prepend(env, "LIST", "/x.so", ": "), 0);
	ts_check_str(ts_environ_get(env, "LIST"), want);
	ts_environ_free(env);
}

TS_TEST(prepend_keeps_what_was_there)
{
	check_prepend(NULL, "/x.so");
	check_prepend("", "/x.so");
	check_prepend("/a.so", "/x.so:/a.so");
	check_prepend("/a.so /b.so", "/x.so:/a.so:/b.so");
	check_prepend("/a.so:/b.so", "/x.so:/a.so:/b.so");
	/* A recording inside a recording does not add the library twice. */
	check_prepend("/x.so", "/x.so");
	check_prepend("/a.so:/x.so:/b.so", "/x.so:/a.so:/b.so");
	check_prepend("/x.so.1", "/x.so:/x.so.1");
}

static void check_preload(const char *old, const char *want)
{
	char *base[] = {NULL};
	struct ts_environ *env = make(base);

	if (old)
		ts_check_int(ts_environ_set(env, "LD_PRELOAD", old), 0);
	ts_check_int(ts_environ_preload(env, "/x.so"), 0);
	ts_check_str(ts_environ_get(env, "LD_PRELOAD"), want);
	ts_environ_free(env);
}

TS_TEST(preload_comes_behind_a_sanitizer)
{
	check_preload(NULL, "/x.so");
	check_preload("", "/x.so");
	check_preload("/a.so", "/x.so:/a.so");
	check_preload("libasan.so.8", "libasan.so.8:/x.so");
	check_preload("/usr/lib/libasan.so /a.so", "/usr/lib/libasan.so:/x.so:/a.so");
	check_preload("/a.so:libtsan.so.2", "/a.so:libtsan.so.2:/x.so");
	check_preload("liblsan.so.0:libubsan.so.1:/a.so", "liblsan.so.0:libubsan.so.1:/x.so:/a.so");
	check_preload("/c/libclang_rt.asan-x86_64.so", "/c/libclang_rt.asan-x86_64.so:/x.so");
	check_preload("libhwasan.so", "libhwasan.so:/x.so");
	/* The library is not added twice, wherever it was. */
	check_preload("libasan.so.8:/x.so", "libasan.so.8:/x.so");
	check_preload("/x.so:libasan.so.8", "libasan.so.8:/x.so");
	check_preload("/x.so", "/x.so");
	/* A folder's name is no library's name. */
	check_preload("/libasan.so/a.so", "/x.so:/libasan.so/a.so");
	check_preload("libasan", "/x.so:libasan");
}

static void check_old(const char *version, const char *old, const char *want)
{
	char *base[] = {NULL};
	struct ts_environ *env = make(base);

	ts_check_int(ts_environ_set(env, "LD_PRELOAD", old), 0);
	ts_check_int(ts_environ_preload_old(env, version), 0);
	ts_check_str(ts_environ_get(env, "LD_PRELOAD"), want);
	ts_environ_free(env);
}

TS_TEST(glibc_before_2_34_preloads_its_own_libraries_too)
{
	check_old("2.28", "/x.so", "/x.so:libpthread.so.0:libdl.so.2");
	check_old("2.33", "/x.so /a.so", "/x.so:/a.so:libpthread.so.0:libdl.so.2");
	check_old("2.34", "/x.so", "/x.so");
	check_old("2.36", "/x.so", "/x.so");
	check_old("3.0", "/x.so", "/x.so");
	check_old("odd", "/x.so", "/x.so");
	/* A recording inside a recording does not add them twice. */
	check_old("2.28", "/x.so:libpthread.so.0:libdl.so.2", "/x.so:libpthread.so.0:libdl.so.2");
	check_old("2.28", "libdl.so.2:/x.so", "/x.so:libpthread.so.0:libdl.so.2");
}

static void check_asan(const char *old, const char *want)
{
	char *base[] = {NULL};
	struct ts_environ *env = make(base);

	if (old)
		ts_check_int(ts_environ_set(env, "ASAN_OPTIONS", old), 0);
	ts_check_int(ts_environ_allow_asan(env), 0);
	ts_check_str(ts_environ_get(env, "ASAN_OPTIONS"), want);
	ts_environ_free(env);
}

TS_TEST(asan_may_come_behind_us)
{
	check_asan(NULL, "verify_asan_link_order=0");
	check_asan("", "verify_asan_link_order=0");
	check_asan("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0");
	check_asan("verify_asan_link_order=1:x=2", "verify_asan_link_order=1:x=2");
}

TS_TEST(empty_entries_stay)
{
	/* In LD_LIBRARY_PATH empty entries mean the working directory, so they stay. */
	check_prepend("/a:", "/x.so:/a:");
	check_prepend(":/a", "/x.so::/a");
	check_prepend("/a::/b", "/x.so:/a::/b");
}
