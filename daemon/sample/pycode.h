/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects of another process's Python: function, file and line of a frame. remote-python.c calls it. One thread. */
#pragma once

#include "daemon/sample/remote-python.h"

struct ts_remote_codes;

/* `text` as for ts_remote_python_new(). 0 or -ENOMEM. */
int ts_remote_codes_new(pid_t pid, ts_remote_python_text *text, void *data,
			struct ts_remote_codes **ret_codes);
void ts_remote_codes_free(struct ts_remote_codes *codes); /* NULL is fine */

/* The interpreter: before the first frame. `type`: where PyCode_Type is. */
void ts_remote_codes_set(struct ts_remote_codes *codes, const struct ts_python_layout *layout,
			 uint64_t type);

/*
 * The frame (TS_FRAME_PYTHON_AT) of a code object at an offset in its code, in bytes. *ret_is_code is false if there is none at that
 * address, or no more. What `text` returns other than 0 is handed on.
 */
int ts_remote_codes_frame(struct ts_remote_codes *codes, uint64_t address, int32_t offset,
			  uint64_t now_ns, uint64_t *ret_frame, bool *ret_is_code);
