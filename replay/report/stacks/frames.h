/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames of a stack belong to nobody who reads it: the tracer's, those of the vendor's libraries and of a static cudart's
 * stubs, the C library's start of a thread, and the interpreter's where Python frames stand beside them. Text leaves them out.
 * Pure functions: thread-safe.
 */
#pragma once

#include <stdbool.h>

/* In the name of a function that nvcc makes for the launch of a kernel: "void __wrapper__device_stub_fill<float>(float*&)". */
#define TS_FRAME_STUB "__device_stub_"

/* `path`: of the file that is mapped there, or NULL. `function`: demangled or not, or NULL. `python`: the stack has Python frames. */
bool ts_frame_is_hidden(const char *path, const char *function, bool python);

/* True for the C or C++ library and the vDSO: text shows such a frame, but it names no code of the program. `path` or NULL. */
bool ts_frame_is_runtime(const char *path);

/*
 * The function for the host that nvcc makes of a kernel, with the kernel's name: it launched nothing of its own. Both demangled, or NULL; a function that is
 * inlined may be known without its parameters.
 */
bool ts_frame_is_stub(const char *function, const char *kernel);
