/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what we read, in bytes from the beginning of each structure, on 64-bit systems. A version that is
 * not in the table is not read.
 */
#pragma once

#include "proto/abi/base.h"

enum ts_python_offset {
	TS_PYTHON_OFFSET_BYTES,	  /* an int: the instruction's offset in bytes */
	TS_PYTHON_OFFSET_UNITS,	  /* an int: in units of 2 bytes */
	TS_PYTHON_OFFSET_POINTER, /* the instruction's address */
};

struct ts_python_layout {
	uint8_t minor;
	uint8_t offset; /* enum ts_python_offset */
	bool shims;	/* the evaluator's own frame closes each of its calls */
	bool entries;	/* a flag marks the first frame of each of its calls */
	/* The thread's state: its frame, or (cframe_frame not UINT16_MAX) a C frame that holds it. */
	uint16_t thread_frame, thread_cframe;
	uint16_t cframe_frame, cframe_previous;
	uint16_t frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	uint16_t code_name, code_file, code_first_line, code_lines, code_bytes,
		code_first_traceable;
	uint16_t text_ascii, text_compact; /* where the characters begin */
};

#define TS_PYTHON_OWNED_BY_GENERATOR 1
#define TS_PYTHON_OWNED_BY_C_STACK   3

/* The same in all of these versions. */
#define TS_PYTHON_OBJECT_TYPE  8
#define TS_PYTHON_TEXT_LENGTH  16
#define TS_PYTHON_TEXT_STATE   32
#define TS_PYTHON_BYTES_LENGTH 16
#define TS_PYTHON_BYTES	       32

#define TS_PYTHON_NONE	       UINT16_MAX

static const struct ts_python_layout ts_python_layouts[] = {
	{8,
	 TS_PYTHON_OFFSET_BYTES,
	 false,
	 false,
	 24,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 32,
	 24,
	 104,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 112,
	 104,
	 40,
	 120,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 48,
	 72},
	{9,
	 TS_PYTHON_OFFSET_BYTES,
	 false,
	 false,
	 24,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 32,
	 24,
	 104,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 112,
	 104,
	 40,
	 120,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 48,
	 72},
	{10,
	 TS_PYTHON_OFFSET_UNITS,
	 false,
	 false,
	 24,
	 48,
	 TS_PYTHON_NONE,
	 8,
	 32,
	 24,
	 96,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 112,
	 104,
	 40,
	 120,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 48,
	 72},
	{11,
	 TS_PYTHON_OFFSET_POINTER,
	 false,
	 true,
	 TS_PYTHON_NONE,
	 56,
	 8,
	 16,
	 32,
	 48,
	 56,
	 69,
	 68,
	 120,
	 112,
	 72,
	 136,
	 184,
	 168,
	 48,
	 72},
	{12,
	 TS_PYTHON_OFFSET_POINTER,
	 true,
	 false,
	 TS_PYTHON_NONE,
	 56,
	 0,
	 8,
	 0,
	 8,
	 56,
	 70,
	 TS_PYTHON_NONE,
	 120,
	 112,
	 68,
	 136,
	 192,
	 176,
	 40,
	 56},
	{13,
	 TS_PYTHON_OFFSET_POINTER,
	 true,
	 false,
	 72,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 TS_PYTHON_NONE,
	 0,
	 8,
	 56,
	 70,
	 TS_PYTHON_NONE,
	 120,
	 112,
	 68,
	 136,
	 200,
	 184,
	 40,
	 56},
};

/*
 * From 3.13 on the interpreter says itself where things are, in a table at the beginning of _PyRuntime. The words of 3.13's
 * table that must agree with the layout above.
 */
#define TS_PYTHON_TABLE_COOKIE	      "xdebugpy"
#define TS_PYTHON_TABLE_VERSION	      8
#define TS_PYTHON_TABLE_FREE_THREADED 16

struct ts_python_table_word {
	uint16_t at;	/* in the table */
	uint16_t field; /* in struct ts_python_layout */
};

#define TS_PYTHON_TABLE_WORD(at, field)                      \
	{                                                    \
		at, offsetof(struct ts_python_layout, field) \
	}
static const struct ts_python_table_word ts_python_table[] = {
	TS_PYTHON_TABLE_WORD(184, thread_frame),    TS_PYTHON_TABLE_WORD(232, frame_previous),
	TS_PYTHON_TABLE_WORD(240, frame_code),	    TS_PYTHON_TABLE_WORD(248, frame_instruction),
	TS_PYTHON_TABLE_WORD(264, frame_owner),	    TS_PYTHON_TABLE_WORD(280, code_file),
	TS_PYTHON_TABLE_WORD(288, code_name),	    TS_PYTHON_TABLE_WORD(304, code_lines),
	TS_PYTHON_TABLE_WORD(312, code_first_line), TS_PYTHON_TABLE_WORD(344, code_bytes),
	TS_PYTHON_TABLE_WORD(560, text_ascii),
};
