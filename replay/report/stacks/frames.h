/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies frames that do not interest the reader of a stack. They are frames of the tracer, of
 * the vendor's libraries, of a static cudart's stubs and of the C library's thread start. If the
 * stack has Python frames, they include the interpreter's frames. Text output omits all of these
 * frames. Pure functions; thread-safe.
 */
#pragma once

#include <stdbool.h>

/*
 * Part of the name of a function that nvcc generates to launch a kernel: "void
 * __wrapper__device_stub_fill<float>(float*&)".
 */
#define TS_FRAME_STUB "__device_stub_"

/*
 * True if text output omits the frame. `path`: the file mapped at the frame's address, or NULL.
 * `function`: its name, mangled or demangled, or NULL. `python`: the stack has Python frames.
 */
bool ts_frame_is_hidden(const char *path, const char *function, bool python);

/*
 * True for the C or C++ library and the vDSO. Text shows such a frame, but the frame is no code of
 * the program. `path` may be NULL.
 */
bool ts_frame_is_runtime(const char *path);

/*
 * True for the host function that nvcc generates for a kernel, with the kernel's name; it only
 * launches the kernel. Both names are demangled, or NULL. An inlined function may have no
 * parameters in its name.
 */
bool ts_frame_is_stub(const char *function, const char *kernel);
