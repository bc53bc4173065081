/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the addresses in a trace's stacks are called: its images and symbols, made ready for many questions. One thread;
 * needs its reader as long as it lives, and sees what the reader had when it was made.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_symbols;

/* Returns 0, a negative errno, or TS_SBT_E_* where a block is damaged. */
int ts_symbols_new(struct ts_sbt_reader *reader, struct ts_symbols **ret_symbols);
void ts_symbols_free(struct ts_symbols *symbols); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_symbols *, ts_symbols_freep, ts_symbols_free)

/* Whether the trace was symbolised at all. */
bool ts_symbols_any(const struct ts_symbols *symbols);

/* The address that a frame is looked up by: frame 0 is the innermost. */
static inline uint64_t ts_symbols_call(uint64_t address, uint32_t frame)
{
	return frame && address ? address - 1 : address;
}

/* The image that counts of a module; NULL: it has none. */
const struct ts_row_image *ts_symbols_image(const struct ts_symbols *symbols,
					    const struct ts_row_module *module);

/*
 * The frames of an address, innermost first; *ret_n 0 where nothing is known. `module` is what was mapped there, NULL
 * for none (then perf maps and JIT dumps of the session are asked); the address is the process's, as
 * ts_symbols_call() gives it. *ret_image, where not NULL, is where they are from, or would be; NULL: nowhere.
 */
const struct ts_row_symbol *ts_symbols_find(const struct ts_symbols *symbols, uint32_t session,
					    const struct ts_row_module *module, uint64_t address,
					    size_t *ret_n, const struct ts_row_image **ret_image);

/* All images that count, in the order of their numbers. */
size_t ts_symbols_n_images(const struct ts_symbols *symbols);
const struct ts_row_image *ts_symbols_image_at(const struct ts_symbols *symbols, size_t i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
