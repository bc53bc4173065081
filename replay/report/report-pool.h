/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed together: the messages of one answer. What to do when there is none is the program's to say: tsctl
 * complains and exits, the daemon's worker ends and is told of.
 */
#pragma once

#include <stddef.h>

struct ts_pool {
	struct ts_pool_piece *first;
	void (*no_memory)(void); /* never returns */
};

void ts_pool_deinit(struct ts_pool *pool);

/* Zeroed, aligned for anything. */
void *ts_pool_alloc(struct ts_pool *pool, size_t n, size_t bytes);
char *ts_pool_copy(struct ts_pool *pool, const char *text); /* NULL stays NULL */
char *ts_pool_printf(struct ts_pool *pool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
