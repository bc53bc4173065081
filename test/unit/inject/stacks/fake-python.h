/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of fake-python.c, for test-python.c. */
#pragma once

#include <stdint.h>

#define FAKE_PYTHON_RUNTIME_BYTES 1024

/* The text of Py_GetVersion(). The caller keeps it. */
void fake_python_set_version(const char *text);

/* The result of PyGILState_GetThisThreadState(). */
void fake_python_set_thread_state(void *state);

/* Returns the interpreter's table of offsets, which the caller fills. */
uint64_t *fake_python_runtime(void);
