/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets environment variables when the library is loaded; preload.c calls it. setenv() needs
 * malloc(), whose set-up costs a program that would not use it three system calls and five page
 * faults. So the environment's array moves to memory of this library instead, as setenv() would
 * move it to the heap. A later setenv() of the program moves the array once more.
 */
#include "inject/process/process-environment.h"

#include <stdlib.h>
#include <unistd.h>

#include "inject/process/at-load.h"
#include "proto/abi/base.h"

/* The process of a larger environment uses setenv(). */
#define MAX_VARIABLES  128u
#define MAX_TEXT_BYTES 512u

TS_WRITTEN_AT_LOAD static struct {
	char *variables[MAX_VARIABLES]; /* the environment, with its NULL */
	char texts[MAX_TEXT_BYTES];	/* of the variables that were set here */
	size_t n_text_bytes;
} moved;

TS_CALLED_AT_LOAD static bool is_named(const char *variable, const char *name, size_t n_name)
{
	return !strncmp(variable, name, n_name) && variable[n_name] == '=';
}

TS_CALLED_AT_LOAD void ts_environment_set(const char *name, const char *value)
{
	size_t n_name = strlen(name), n_value = strlen(value), n = 0, place = 0;
	char *text = moved.texts + moved.n_text_bytes;

	while (environ && environ[n])
		n++;
	if (!environ || n + 2 > MAX_VARIABLES ||
	    n_name + n_value + 2 > MAX_TEXT_BYTES - moved.n_text_bytes) {
		setenv(name, value, 1);
		return;
	}
	memcpy(text, name, n_name);
	text[n_name] = '=';
	memcpy(text + n_name + 1, value, n_value + 1);
	moved.n_text_bytes += n_name + n_value + 2;
	if (environ != moved.variables) {
		memcpy(moved.variables, environ, (n + 1) * sizeof(*environ));
		environ = moved.variables;
	}
	while (place < n && !is_named(environ[place], name, n_name))
		place++;
	if (place == n)
		environ[n + 1] = NULL;
	environ[place] = text;
}
