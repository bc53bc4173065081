/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns strings: equal bytes have equal ids, and ids count from 1. A hash narrows the search; the
 * contents are compared. The hash is seeded, so that untrusted names cannot be chosen to collide.
 * Not thread-safe. Code outside of sbt/ also includes this header, but it is not installed.
 */
#pragma once

#include "proto/abi/map.h"
#include "sbt/buffer.h"

struct ts_intern_string {
	uint64_t hash;
	uint64_t off; /* in `bytes` */
	uint32_t n_bytes;
	uint32_t id;
};

struct ts_intern {
	struct ts_intern_string *strings;
	size_t n, n_allocated;
	struct ts_hashindex index;
	struct ts_buffer bytes;
	uint64_t seed;
	uint32_t last_id;
};

/*
 * Beyond this many bytes, a new string gets an id but is not stored. Memory is bounded; the same
 * string may then get several ids, which is valid in a file.
 */
#define TS_INTERN_MAX_BYTES (256u * 1024 * 1024)

/*
 * Initialises an empty table. `seed` is random. The caller frees the memory with
 * ts_intern_deinit().
 */
void ts_intern_init(struct ts_intern *intern, uint64_t seed);
void ts_intern_deinit(struct ts_intern *intern);

/*
 * Returns the id of the bytes. *ret_is_new is true if the id is new. Returns 0, -ENOMEM (nothing
 * changed), or -EOVERFLOW if no ids are left.
 */
int ts_intern(struct ts_intern *intern, const void *bytes, uint32_t n_bytes, uint32_t *ret_id,
	      bool *ret_is_new);

/* Removes the id returned last. The caller ensures that it was new. */
void ts_intern_undo(struct ts_intern *intern);
