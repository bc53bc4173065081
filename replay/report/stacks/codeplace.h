/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the frame of a stack that interests a person. For a Python program, it is the innermost
 * Python frame outside installed packages. Otherwise it is the innermost frame that is neither
 * hidden (frames.h) nor in the C or C++ library. If there is none, it is the innermost frame that
 * is not hidden. Not thread-safe: the functions call a resolver.
 */
#pragma once

#include "replay/report/names/resolver.h"

/* The reader owns the texts, which are valid as long as the reader. */
struct ts_codeplace {
	const char *function; /* NULL: not known */
	int function_bytes;
	const char *file; /* the source file's path; NULL: not known */
	uint32_t line;
	/* for native code: path of the ELF file; NULL: the address is in no file */
	const char *module;
	uint64_t offset; /* offset in that ELF file; if `module` is NULL, the address */
};

/*
 * Chooses the frame of a stack. Returns false if there is no such stack or the stack is empty. Uses
 * the modules mapped at `time_ns`. `kernel` is demangled, or NULL; the host stub of that name,
 * which nvcc generates, is skipped.
 */
bool ts_codeplace_of(struct ts_resolver *resolver, uint32_t session, uint32_t stack,
		     uint64_t time_ns, const char *kernel, struct ts_codeplace *ret_place);

/*
 * Returns the frame of ts_codeplace_of(), followed by its callers, without hidden frames: at most
 * `max` frames. Inlined functions count as frames, except the stub and templates of a vendor's
 * header. For a Python program, only Python frames. Returns the number of frames; 0: no such stack.
 */
size_t ts_codeplace_chain(struct ts_resolver *resolver, uint32_t session, uint32_t stack,
			  uint64_t time_ns, const char *kernel, struct ts_codeplace *ret_places,
			  size_t max);

#define TS_CODEPLACE_BYTES 2304
/*
 * Prints "function (file:line)", or "library+0x12" if the trace has no symbols. Paths are cut to
 * their last part.
 */
void ts_codeplace_text(const struct ts_codeplace *place, char ret_text[TS_CODEPLACE_BYTES]);

/* Returns the last part of a path; NULL if `path` is NULL. */
const char *ts_codeplace_base(const char *path);
