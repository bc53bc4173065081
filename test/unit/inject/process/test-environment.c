/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the variables that the constructor sets: libc's functions see them, and go on to work with
 * an environment that moved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/unit/harness.h"

#include "inject/process/process-environment.h"

static size_t count_variables(void)
{
	size_t n = 0;

	while (environ && environ[n])
		n++;
	return n;
}

/* Counts the variables that begin with `start`. */
static size_t count_named(const char *start)
{
	size_t n = 0;

	for (size_t i = 0; environ[i]; i++)
		n += !strncmp(environ[i], start, strlen(start));
	return n;
}

TS_TEST(sets_as_setenv_does)
{
	size_t n;

	setenv("TS_EMPTY_ONE", "", 1);
	setenv("TS_NEW_ONE_TOO", "kept", 1);
	n = count_variables();
	ts_environment_set("TS_NEW_ONE", "/a/path");
	ts_environment_set("TS_EMPTY_ONE", "/another");
	ts_check_str(getenv("TS_NEW_ONE"), "/a/path");
	ts_check_str(getenv("TS_EMPTY_ONE"), "/another");
	ts_check_str(getenv("TS_NEW_ONE_TOO"), "kept");
	ts_check_int(count_variables(), n + 1);
	ts_check_int(count_named("TS_EMPTY_ONE="), 1);
	/* The same variable again. */
	ts_environment_set("TS_NEW_ONE", "/b");
	ts_check_str(getenv("TS_NEW_ONE"), "/b");
	ts_check_int(count_variables(), n + 1);
}

TS_TEST(the_program_changes_the_environment_afterwards)
{
	static char put[] = "TS_PUT=1";
	char name[32];
	size_t n;

	ts_environment_set("TS_NEW_ONE", "/a/path");
	n = count_variables();
	ts_check_int(setenv("TS_NEW_ONE", "replaced", 1), 0);
	ts_check_str(getenv("TS_NEW_ONE"), "replaced");
	ts_check_int(putenv(put), 0);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "TS_MANY_%u", i);
		ts_check_int(setenv(name, "x", 1), 0);
	}
	ts_check_int(count_variables(), n + 301);
	ts_check_int(unsetenv("TS_NEW_ONE"), 0);
	ts_check(!getenv("TS_NEW_ONE"));
	ts_check_int(count_variables(), n + 300);
	ts_check_int(clearenv(), 0);
	ts_check(!getenv("TS_PUT"));
	/* There is no environment now. */
	ts_environment_set("TS_NEW_ONE", "/a/path");
	ts_check_str(getenv("TS_NEW_ONE"), "/a/path");
	ts_check_int(count_variables(), 1);
}

/* Fills the environment up to n variables. */
static void fill(size_t n)
{
	char name[32];

	clearenv();
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "TS_MANY_%zu", i);
		setenv(name, "x", 1);
	}
}

TS_TEST(large_environments_and_long_values)
{
	char value[600];

	for (size_t n = 120; n < 136; n++) {
		fill(n);
		ts_environment_set("TS_NEW_ONE", "/a/path");
		ts_environment_set("TS_NEW_TOO", "/a/path");
		ts_check_int(count_variables(), n + 2);
		ts_check_int(count_named("TS_MANY_"), n);
		ts_check_str(getenv("TS_NEW_ONE"), "/a/path");
		ts_check_str(getenv("TS_NEW_TOO"), "/a/path");
	}
	fill(3);
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	ts_environment_set("TS_LONG", value);
	ts_check_str(getenv("TS_LONG"), value);
	/* The texts of four of them do not fit. */
	value[200] = '\0';
	ts_environment_set("TS_LONG_A", value);
	ts_environment_set("TS_LONG_B", value);
	ts_environment_set("TS_LONG_C", value);
	ts_environment_set("TS_LONG_D", value);
	ts_check_int(count_variables(), 8);
	ts_check_str(getenv("TS_LONG_D"), value);
	ts_check_str(getenv("TS_LONG_A"), value);
}
