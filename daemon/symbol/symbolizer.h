/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the symbols of addresses in one file. Looks in the cache first; a worker finds the missing
 * symbols in the file itself. This module opens the file; the worker reads it. Not thread-safe.
 */
#pragma once

#include "daemon/symbol/cache.h"
#include "daemon/symbol/files.h"
#include "daemon/worker/worker-client.h"
#include "sbt/schema.h"

struct ts_symbolizer;

struct ts_symbolizer_options {
	struct ts_worker_options worker;
	const char *cache; /* directory; NULL: see ts_symbol_cache_new() */
	bool no_cache;
	uint32_t deadline_ms; /* limit of each request of a worker; 0: TS_WORKER_DEADLINE_MS */
};

/* The file or JIT output to which the addresses belong. */
struct ts_symbol_image {
	enum ts_image_kind kind;
	const char *path;
	const uint8_t *build_id;
	size_t n_build_id; /* 0: not known; any file at the path is accepted */
	struct ts_symbol_view view;
};

/*
 * Creates a symbolizer. A missing cache is no error. Returns 0, -ENOMEM, or -ENOENT: there is no
 * worker.
 */
int ts_symbolizer_new(const struct ts_symbolizer_options *options, struct ts_symbolizer **ret);
void ts_symbolizer_free(struct ts_symbolizer *symbolizer); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_symbolizer *, ts_symbolizer_freep, ts_symbolizer_free)

/*
 * Finds the symbols of ascending addresses. *ret_set, which the caller deinits, has at least the
 * addresses that were resolved, and may have more. `why` gets the reason why some are missing, or
 * "". Returns 0, -ENOMEM, or -E2BIG: the set would be too large.
 */
#define TS_SYMBOL_WHY_BYTES 256
int ts_symbolize(struct ts_symbolizer *symbolizer, const struct ts_symbol_image *image,
		 const uint64_t *addresses, size_t n, struct ts_symbol_set *ret_set,
		 enum ts_image_result *ret_result, char why[TS_SYMBOL_WHY_BYTES]);

/* For tests: return the number of files that the worker has read so far, and the worker. */
unsigned ts_symbolizer_n_read(const struct ts_symbolizer *symbolizer);
struct ts_worker *ts_symbolizer_worker(struct ts_symbolizer *symbolizer);
