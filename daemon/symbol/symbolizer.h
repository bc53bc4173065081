/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From addresses of one file to symbols: what the cache knows, and for the rest the file itself, opened here
 * and read by a worker. One thread.
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
	uint32_t deadline_ms; /* of one request; 0: TS_WORKER_DEADLINE_MS */
};

/* What the addresses are of. */
struct ts_symbol_image {
	enum ts_image_kind kind;
	const char *path;
	const uint8_t *build_id;
	size_t n_build_id; /* 0: it is not known; the file at the path is believed */
	struct ts_symbol_view view;
};

/* No cache is no error. 0 or -ENOMEM, -ENOENT: there is no worker. */
int ts_symbolizer_new(const struct ts_symbolizer_options *options, struct ts_symbolizer **ret);
void ts_symbolizer_free(struct ts_symbolizer *symbolizer); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_symbolizer *, ts_symbolizer_freep, ts_symbolizer_free)

/*
 * Ascending addresses. *ret_set, which the caller deinits, has at least those that something is known of, and may have more.
 * `why` says in some words why there is not more; "" where all is well. 0 or -ENOMEM.
 */
#define TS_SYMBOL_WHY_BYTES 256
int ts_symbolize(struct ts_symbolizer *symbolizer, const struct ts_symbol_image *image,
		 const uint64_t *addresses, size_t n, struct ts_symbol_set *ret_set,
		 enum ts_image_result *ret_result, char why[TS_SYMBOL_WHY_BYTES]);

/* For a look: how many files were read by a worker so far. */
unsigned ts_symbolizer_n_read(const struct ts_symbolizer *symbolizer);
struct ts_worker *ts_symbolizer_worker(struct ts_symbolizer *symbolizer);
