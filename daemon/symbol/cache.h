/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was resolved once, kept on disk by build id for every daemon and every trace to come: a file per build id,
 * replaced as a whole under a lock. A file that is torn, wrong or somebody else's counts as absent.
 *
 * Thread-safe; so is the directory among processes.
 */
#pragma once

#include "daemon/symbol/symbol-set.h"

#define TS_SYMBOL_CACHE_ENVIRONMENT "TRACESMITH_SYMBOL_CACHE"
#define TS_SYMBOL_CACHE_MAX_BYTES   (UINT64_C(1) << 30) /* then the oldest files go */

struct ts_symbol_cache;

/*
 * `directory` NULL: $TRACESMITH_SYMBOL_CACHE ("" is none), for root /var/cache/tracesmith/symbols, else
 * $XDG_CACHE_HOME or ~/.cache, and tracesmith/symbols in it. Made where it is missing. The directory must be
 * ours and nobody else's to write (-EACCES). -ENOENT: there is to be none.
 */
int ts_symbol_cache_new(const char *directory, struct ts_symbol_cache **ret_cache);
void ts_symbol_cache_free(struct ts_symbol_cache *cache); /* NULL is fine */

/* 0, or -ENOENT: nothing is known; `ret_set` is then empty. */
int ts_symbol_cache_load(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			 struct ts_symbol_set *ret_set);
/*
 * Adds to what is there by now. What was found with debug information replaces what was found without. Not fatal:
 * returns what went wrong, and the set is as good as before.
 */
int ts_symbol_cache_store(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			  const struct ts_symbol_set *set);
