/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python interpreters that the shim does not support, imitated by fake-python.c. The shim must
 * refuse each with a reason, and must not read unmapped memory. test-python.py tests the supported
 * interpreters.
 */
#include <sys/mman.h>

#include "proto/abi/python.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"
#include "test/unit/inject/stacks/fake-python.h"

#include "inject/stacks/stack-python.h"

static struct ts_python python;
static struct fixture f;

static void set_table(uint64_t free_threaded)
{
	uint64_t *table = fake_python_runtime();
	size_t i;

	memset(table, 0, FAKE_PYTHON_RUNTIME_BYTES);
	memcpy(table, TS_PYTHON_TABLE_COOKIE, 8);
	table[TS_PYTHON_TABLE_VERSION / 8] = 0x030d0000;
	table[TS_PYTHON_TABLE_FREE_THREADED / 8] = free_threaded;
	for (i = 0; i < TS_ARRAY_LEN(ts_python_table); i++) {
		uint16_t ours;

		memcpy(&ours, (const uint8_t *)&ts_python_layouts[5] + ts_python_table[i].field,
		       sizeof(ours));
		table[ts_python_table[i].at / 8] = ours;
	}
}

static void check_refused(const char *word)
{
	memset(&python, 0, sizeof(python));
	ts_python_look(&python);
	ts_check_int(python.state, TS_PYTHON_OFF);
	ts_check(strstr(python.why, word));
}

TS_TEST(versions_that_are_not_read)
{
	fake_python_set_version("3.7.16 (default, somewhen)");
	check_refused("3.7.16");
	fake_python_set_version("3.14.0 (main, somewhen)");
	check_refused("3.14.0");
	fake_python_set_version("2.7.18 (default)");
	check_refused("2.7.18");
}

TS_TEST(free_threaded_builds)
{
	fake_python_set_version("3.13.0 experimental free-threading build (main)");
	check_refused("free-threading");
	/*
	 * This version text does not show the kind of build. The table of offsets reports a
	 * free-threaded build.
	 */
	fake_python_set_version("3.13.0 (main)");
	set_table(1);
	check_refused("free-threaded");
}

TS_TEST(a_table_that_says_otherwise)
{
	fake_python_set_version("3.13.0 (main)");
	memset(fake_python_runtime(), 0, FAKE_PYTHON_RUNTIME_BYTES);
	check_refused("has no table");
	set_table(0);
	memset(&python, 0, sizeof(python));
	ts_python_look(&python);
	ts_check_int(python.state, TS_PYTHON_FOUND);
	fake_python_runtime()[ts_python_table[3].at / 8] += 8;
	check_refused("unknown layout");
	set_table(0);
	fake_python_runtime()[TS_PYTHON_TABLE_VERSION / 8] = 0x030e0000;
	check_refused("another version");
}

/*
 * Fills the interpreter's state with `word` and reads a stack. The reader must check each value
 * that it finds, because each may be an invalid pointer.
 */
static void check_memory(const char *which, uint64_t word)
{
	static uint64_t state[64];
	struct ts_python_codes *codes = NULL;
	struct ts_python_stack *stack;
	size_t i;

	for (i = 0; i < TS_ARRAY_LEN(state); i++)
		state[i] = word;
	fake_python_set_thread_state(state);
	fake_python_set_version(which);
	set_table(0);
	memset(&python, 0, sizeof(python));
	ts_python_look(&python);
	ts_check_int(python.state, TS_PYTHON_FOUND);
	ts_check(!ts_python_read(&python, &f.definitions, &codes, &stack));
	ts_check_int(python.state, TS_PYTHON_OFF);
	ts_check(strstr(python.why, "do not have the layout of its version"));
}

TS_TEST(memory_that_is_laid_out_otherwise)
{
	static const char *const versions[] = {"3.8.1",	 "3.9.1",  "3.10.1",
					       "3.11.1", "3.12.1", "3.13.1"};
	static uint64_t elsewhere[64];
	size_t i;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	for (i = 0; i < TS_ARRAY_LEN(versions); i++) {
		check_memory(versions[i], 0x123456789abcdef0);
		check_memory(versions[i], 8);
		check_memory(versions[i], 0xfffffffffffffff8);
		check_memory(versions[i], (uintptr_t)elsewhere);
		/* A cycle of words that could be frames. */
		elsewhere[0] = elsewhere[1] = elsewhere[4] = (uintptr_t)elsewhere;
		check_memory(versions[i], (uintptr_t)elsewhere);
	}
	fixture_deinit(&f);
}

TS_TEST(a_thread_without_python)
{
	struct ts_python_codes *codes = NULL;
	struct ts_python_stack *stack;

	fake_python_set_version("3.12.0");
	fake_python_set_thread_state(NULL);
	ts_python_look(&python);
	ts_check(!ts_python_read(&python, &f.definitions, &codes, &stack));
	ts_check_int(python.state, TS_PYTHON_FOUND);
	ts_check(!codes);
}
