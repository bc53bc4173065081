/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a stack that a person wants to read: of a Python program the innermost Python frame outside of installed packages,
 * else the innermost frame that is neither hidden (frames.h) nor of the C or C++ library; where there is none, the innermost
 * that is not hidden. Not thread-safe: it asks a resolver.
 */
#pragma once

#include "replay/report/names/resolver.h"

/* Texts are the reader's, and live as long as it. */
struct ts_codeplace {
	const char *function; /* NULL: not known */
	int function_bytes;
	const char *file; /* the source file's path; NULL: not known */
	uint32_t line;
	const char *module; /* native: path of the ELF file; NULL: in none */
	uint64_t offset;    /* in that file's own view; without a module the address */
};

/*
 * False: there is no such stack, or it is empty. As modules lay at `time_ns`. `kernel`: demangled, or NULL. The host stub of that name, which nvcc
 * generates, launched nothing of its own: it is passed over.
 */
bool ts_codeplace_of(struct ts_resolver *resolver, uint32_t session, uint32_t stack,
		     uint64_t time_ns, const char *kernel, struct ts_codeplace *ret_place);

/*
 * The same frame, and behind it those that called it, outwards, hidden ones left out: at most `max`. Inlined functions count as
 * frames, but for the stub and templates of a vendor's header. Of a Python program only Python frames. Returns how many; 0: there is no such stack.
 */
size_t ts_codeplace_chain(struct ts_resolver *resolver, uint32_t session, uint32_t stack,
			  uint64_t time_ns, const char *kernel, struct ts_codeplace *ret_places,
			  size_t max);

#define TS_CODEPLACE_BYTES 2304
/* "function (file:line)", or "library+0x12" where the trace has no symbols. Files by their last part. */
void ts_codeplace_text(const struct ts_codeplace *place, char ret_text[TS_CODEPLACE_BYTES]);

/* The last part of a path; NULL stays NULL. */
const char *ts_codeplace_base(const char *path);
