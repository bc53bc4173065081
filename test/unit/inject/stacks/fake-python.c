/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with the symbols of a Python interpreter, by which the shim finds one. test-python.c
 * calls the functions of fake-python.h, and the shim all others. The shim does not look for them in
 * its own file, which is the program in that test, so they are in a library.
 */
#include "test/unit/inject/stacks/fake-python.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC const char *Py_GetVersion(void);
PUBLIC void *PyGILState_GetThisThreadState(void);
PUBLIC int PyCode_Addr2Line(void *code, int offset);
PUBLIC int _PyEval_EvalFrameDefault(void);
extern PUBLIC uint64_t PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
extern PUBLIC uint64_t _PyRuntime[FAKE_PYTHON_RUNTIME_BYTES / 8];

uint64_t PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
uint64_t _PyRuntime[FAKE_PYTHON_RUNTIME_BYTES / 8];

static const char *version;
static void *thread_state;

const char *Py_GetVersion(void)
{
	return version;
}

void *PyGILState_GetThisThreadState(void)
{
	return thread_state;
}

int PyCode_Addr2Line(void *code, int offset)
{
	(void)code;
	return offset;
}

int _PyEval_EvalFrameDefault(void)
{
	return 0;
}

PUBLIC void fake_python_set_version(const char *text)
{
	version = text;
}

PUBLIC void fake_python_set_thread_state(void *state)
{
	thread_state = state;
}

PUBLIC uint64_t *fake_python_runtime(void)
{
	return _PyRuntime;
}
