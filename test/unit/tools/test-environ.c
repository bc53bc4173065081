/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a recorded command: ours first, the user's kept.
 */
#include "test/unit/harness.h"
#include "tools/tsctl/environ.h"

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
	/* Once is enough: recording inside a recording. */
	check_prepend("/x.so", "/x.so");
	check_prepend("/a.so:/x.so:/b.so", "/x.so:/a.so:/b.so");
	check_prepend("/x.so.1", "/x.so:/x.so.1");
}

TS_TEST(empty_entries_stay)
{
	/* In LD_LIBRARY_PATH they mean the working directory. */
	check_prepend("/a:", "/x.so:/a:");
	check_prepend(":/a", "/x.so::/a");
	check_prepend("/a::/b", "/x.so:/a::/b");
}
