/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed together: the messages of one answer. If memory is short, the pool calls the
 * program's no_memory(): tsctl prints an error and exits; the daemon's worker exits, and the daemon
 * reports this to the client.
 */
#pragma once

#include <stddef.h>

struct ts_pool {
	struct ts_pool_piece *first;
	void (*no_memory)(void); /* required; must not return */
};

/* Frees all blocks. The pool may be used again. */
void ts_pool_deinit(struct ts_pool *pool);

/*
 * Allocates memory for n objects, zeroed and aligned for any type. If the size overflows or memory
 * is short, the pool calls no_memory(). The pool owns the result. Not thread-safe.
 */
void *ts_pool_alloc(struct ts_pool *pool, size_t n, size_t bytes);
char *ts_pool_copy(struct ts_pool *pool, const char *text); /* NULL stays NULL */
char *ts_pool_printf(struct ts_pool *pool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
