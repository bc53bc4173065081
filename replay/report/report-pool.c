/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of memory blocks that are freed together. All of replay/report/ and the tools that build
 * messages call this file. A protobuf message is a graph of small allocations; with a pool, no code
 * frees them one by one.
 */
#include "replay/report/report-pool.h"

#include "proto/abi/base.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

struct ts_pool_piece {
	struct ts_pool_piece *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void __attribute__((noreturn)) out_of_memory(const struct ts_pool *pool)
{
	assert(pool->no_memory);
	pool->no_memory();
	__builtin_unreachable();
}

void ts_pool_deinit(struct ts_pool *pool)
{
	while (pool->first) {
		struct ts_pool_piece *piece = pool->first;

		pool->first = piece->next;
		free(piece);
	}
}

void *ts_pool_alloc(struct ts_pool *pool, size_t n, size_t bytes)
{
	struct ts_pool_piece *piece;
	size_t total;

	if (__builtin_mul_overflow(n, bytes, &total) ||
	    __builtin_add_overflow(total, sizeof(*piece), &total))
		out_of_memory(pool);
	piece = calloc(1, total);
	if (!piece)
		out_of_memory(pool);
	piece->next = pool->first;
	pool->first = piece;
	return piece->bytes;
}

char *ts_pool_copy(struct ts_pool *pool, const char *text)
{
	size_t n_bytes;

	if (!text)
		return NULL;
	n_bytes = strlen(text) + 1;
	return memcpy(ts_pool_alloc(pool, 1, n_bytes), text, n_bytes);
}

char *ts_pool_printf(struct ts_pool *pool, const char *format, ...)
{
	ts_cleanup(ts_freep) char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		out_of_memory(pool);
	}
	return ts_pool_copy(pool, text);
}
