/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the addresses in a trace's stacks. Images and symbols are copied and sorted, so that
 * queries are fast. Used by one thread at a time. The struct has the symbols that the reader had at
 * the struct's creation.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_symbols;

/*
 * Reads all images and symbols. The caller frees *ret_symbols. Returns 0, a negative errno,
 * TS_SBT_E_CORRUPT if a block is damaged, or TS_SBT_E_LIMIT if there are too many.
 */
int ts_symbols_new(struct ts_sbt_reader *reader, struct ts_symbols **ret_symbols);
void ts_symbols_free(struct ts_symbols *symbols); /* accepts NULL */
TS_DEFINE_CLEANUP(struct ts_symbols *, ts_symbols_freep, ts_symbols_free)

/* Returns true if the trace has any image, that is, if it was symbolised. */
bool ts_symbols_any(const struct ts_symbols *symbols);

/*
 * Returns the address to look up for a frame of a stack. Frame 0 is the innermost. The address of
 * an outer frame is a return address, so the call lies before it.
 */
static inline uint64_t ts_symbols_call(uint64_t address, uint32_t frame)
{
	return frame && address ? address - 1 : address;
}

/*
 * Returns the image of a module's file, or NULL. If a file has several images, the last one is
 * returned.
 */
const struct ts_row_image *ts_symbols_image(const struct ts_symbols *symbols,
					    const struct ts_row_module *module);

/*
 * Returns the frames of an address, innermost first; *ret_n is their number, 0 if unknown. `module`
 * is the module mapped at the address. If `module` is NULL, the perf maps and JIT dumps of the
 * session are searched. `address` is the process's, from ts_symbols_call(). If `ret_image` is not
 * NULL, *ret_image is the image of the frames, or the module's image; NULL if there is none. The
 * rows belong to *symbols.
 */
const struct ts_row_symbol *ts_symbols_find(const struct ts_symbols *symbols, uint32_t session,
					    const struct ts_row_module *module, uint64_t address,
					    size_t *ret_n, const struct ts_row_image **ret_image);

/*
 * Return the number of images, and image `i`; NULL: `i` is out of range. The images are sorted by
 * file, and each file has one.
 */
size_t ts_symbols_n_images(const struct ts_symbols *symbols);
const struct ts_row_image *ts_symbols_image_at(const struct ts_symbols *symbols, size_t i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
