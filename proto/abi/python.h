/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of CPython's memory. The shim reads it in its own process; the daemon's sampler reads it
 * from outside.
 *
 * The table holds field offsets in bytes from the start of each structure, on 64-bit systems. A
 * version that the table lacks is not read.
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
	/* each call of the evaluator begins with a frame of its own, without a function */
	bool shims;
	bool entries; /* a flag marks the first frame of each call of the evaluator */
	/*
	 * Thread state: offset of its frame, or (if cframe_frame is not UINT16_MAX) of a C frame
	 * that holds the frame.
	 */
	uint16_t thread_frame, thread_cframe;
	uint16_t cframe_frame, cframe_previous;
	uint16_t frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	uint16_t code_name, code_file, code_first_line, code_lines, code_bytes,
		code_first_traceable;
	uint16_t text_ascii, text_compact; /* start of the characters */
	/* Path from _PyRuntime to the threads; NONE: the table below has these offsets (3.13). */
	uint16_t runtime_interpreters, interpreter_next, interpreter_threads;
	uint16_t thread_next, thread_id; /* thread_id: pthread_self() */
};

#define TS_PYTHON_OWNED_BY_GENERATOR 1
#define TS_PYTHON_OWNED_BY_C_STACK   3

/* Equal in all versions of the table. */
#define TS_PYTHON_OBJECT_TYPE  8
#define TS_PYTHON_TEXT_LENGTH  16
#define TS_PYTHON_TEXT_STATE   32
#define TS_PYTHON_BYTES_LENGTH 16
#define TS_PYTHON_BYTES	       32

#define TS_PYTHON_NONE	       UINT16_MAX

/* 3.8 and 3.9 have the same layout. */
#define TS_PYTHON_LAYOUT_3_8(minor_)                                                          \
	{                                                                                     \
		.minor = minor_, .offset = TS_PYTHON_OFFSET_BYTES, .thread_frame = 24,        \
		.thread_cframe = TS_PYTHON_NONE, .cframe_frame = TS_PYTHON_NONE,              \
		.cframe_previous = TS_PYTHON_NONE, .frame_code = 32, .frame_previous = 24,    \
		.frame_instruction = 104, .frame_owner = TS_PYTHON_NONE,                      \
		.frame_is_entry = TS_PYTHON_NONE, .code_name = 112, .code_file = 104,         \
		.code_first_line = 40, .code_lines = 120, .code_bytes = TS_PYTHON_NONE,       \
		.code_first_traceable = TS_PYTHON_NONE, .text_ascii = 48, .text_compact = 72, \
		.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,  \
		.thread_next = 8, .thread_id = 176,                                           \
	}

static const struct ts_python_layout ts_python_layouts[] = {
	TS_PYTHON_LAYOUT_3_8(8),
	TS_PYTHON_LAYOUT_3_8(9),
	{
		.minor = 10,
		.offset = TS_PYTHON_OFFSET_UNITS,
		.thread_frame = 24,
		.thread_cframe = 48,
		.cframe_frame = TS_PYTHON_NONE,
		.cframe_previous = 8,
		.frame_code = 32,
		.frame_previous = 24,
		.frame_instruction = 96,
		.frame_owner = TS_PYTHON_NONE,
		.frame_is_entry = TS_PYTHON_NONE,
		.code_name = 112,
		.code_file = 104,
		.code_first_line = 40,
		.code_lines = 120,
		.code_bytes = TS_PYTHON_NONE,
		.code_first_traceable = TS_PYTHON_NONE,
		.text_ascii = 48,
		.text_compact = 72,
		.runtime_interpreters = 32,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.thread_next = 8,
		.thread_id = 176,
	},
	{
		.minor = 11,
		.offset = TS_PYTHON_OFFSET_POINTER,
		.entries = true,
		.thread_frame = TS_PYTHON_NONE,
		.thread_cframe = 56,
		.cframe_frame = 8,
		.cframe_previous = 16,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_instruction = 56,
		.frame_owner = 69,
		.frame_is_entry = 68,
		.code_name = 120,
		.code_file = 112,
		.code_first_line = 72,
		.code_lines = 136,
		.code_bytes = 184,
		.code_first_traceable = 168,
		.text_ascii = 48,
		.text_compact = 72,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 16,
		.thread_next = 8,
		.thread_id = 152,
	},
	{
		.minor = 12,
		.offset = TS_PYTHON_OFFSET_POINTER,
		.shims = true,
		.thread_frame = TS_PYTHON_NONE,
		.thread_cframe = 56,
		.cframe_frame = 0,
		.cframe_previous = 8,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.frame_is_entry = TS_PYTHON_NONE,
		.code_name = 120,
		.code_file = 112,
		.code_first_line = 68,
		.code_lines = 136,
		.code_bytes = 192,
		.code_first_traceable = 176,
		.text_ascii = 40,
		.text_compact = 56,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 72,
		.thread_next = 8,
		.thread_id = 136,
	},
	{
		.minor = 13,
		.offset = TS_PYTHON_OFFSET_POINTER,
		.shims = true,
		.thread_frame = 72,
		.thread_cframe = TS_PYTHON_NONE,
		.cframe_frame = TS_PYTHON_NONE,
		.cframe_previous = TS_PYTHON_NONE,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.frame_is_entry = TS_PYTHON_NONE,
		.code_name = 120,
		.code_file = 112,
		.code_first_line = 68,
		.code_lines = 136,
		.code_bytes = 200,
		.code_first_traceable = 184,
		.text_ascii = 40,
		.text_compact = 56,
		.runtime_interpreters = TS_PYTHON_NONE,
		.interpreter_next = TS_PYTHON_NONE,
		.interpreter_threads = TS_PYTHON_NONE,
		.thread_next = 8,
		.thread_id = 152,
	},
};
#undef TS_PYTHON_LAYOUT_3_8

/*
 * Since 3.13 the interpreter exports its offsets in a table at the start of _PyRuntime. These words
 * of 3.13's table must equal the layout above.
 */
#define TS_PYTHON_TABLE_COOKIE	      "xdebugpy"
#define TS_PYTHON_TABLE_VERSION	      8
#define TS_PYTHON_TABLE_FREE_THREADED 16
#define TS_PYTHON_TABLE_INTERPRETERS  40 /* in _PyRuntime */
#define TS_PYTHON_TABLE_NEXT	      64 /* in an interpreter */
#define TS_PYTHON_TABLE_THREADS	      72 /* in an interpreter */
#define TS_PYTHON_TABLE_BYTES	      568

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
