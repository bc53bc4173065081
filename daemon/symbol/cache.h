/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol sets on disk, by build id, for all daemons and all later traces. Each build id has one
 * file, which is replaced as a whole under a lock. A torn or invalid file counts as absent.
 *
 * Thread-safe; several processes may use the same directory.
 */
#pragma once

#include "daemon/symbol/symbol-set.h"

#define TS_SYMBOL_CACHE_ENVIRONMENT "TRACESMITH_SYMBOL_CACHE"
/* limit of the cache's size; beyond it the oldest files are deleted */
#define TS_SYMBOL_CACHE_MAX_BYTES (UINT64_C(1) << 30)

struct ts_symbol_cache;

/*
 * Opens the cache. If `directory` is NULL, it is $TRACESMITH_SYMBOL_CACHE, else
 * /var/cache/tracesmith/symbols for root, else tracesmith/symbols in $XDG_CACHE_HOME or ~/.cache. A
 * missing directory is created. -EACCES: another user owns it or can write it. -ENOENT: no cache is
 * wanted ($TRACESMITH_SYMBOL_CACHE is "") or there is no place for it. -ENOMEM: no memory. Another
 * errno comes from the system calls.
 */
int ts_symbol_cache_new(const char *directory, struct ts_symbol_cache **ret_cache);
void ts_symbol_cache_free(struct ts_symbol_cache *cache); /* NULL is fine */

/*
 * Reads the stored set of a build id. Returns 0, or -ENOENT: no valid set is stored, and `ret_set`
 * is empty.
 */
int ts_symbol_cache_load(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			 struct ts_symbol_set *ret_set);
/*
 * Adds a set to the stored one. A set with debug information replaces one without. An error is not
 * fatal: the stored set stays, and a negative errno is returned.
 */
int ts_symbol_cache_store(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			  const struct ts_symbol_set *set);
