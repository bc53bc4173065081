/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads code objects of another process's Python, to find the function, file and line of a frame.
 * remote-python.c calls this module. Not thread-safe.
 */
#pragma once

#include "daemon/sample/remote-python.h"

struct ts_remote_codes;

/* Creates a reader of code objects. `text` as in ts_remote_python_new(). Returns 0 or -ENOMEM. */
int ts_remote_codes_new(pid_t pid, ts_remote_python_text *text, void *data,
			struct ts_remote_codes **ret_codes);
void ts_remote_codes_free(struct ts_remote_codes *codes); /* NULL is fine */

/* Sets the interpreter. Call it before the first frame. `type` is the address of PyCode_Type. */
void ts_remote_codes_set(struct ts_remote_codes *codes, const struct ts_python_layout *layout,
			 uint64_t type);

/*
 * Returns the frame (TS_FRAME_PYTHON_AT) of a code object at an offset in its code, in bytes.
 * *ret_is_code is false if that address has no code object, or no longer has one. If `text` returns
 * a value other than 0, that value is returned.
 */
int ts_remote_codes_frame(struct ts_remote_codes *codes, uint64_t address, int32_t offset,
			  uint64_t now_ns, uint64_t *ret_frame, bool *ret_is_code);
