/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: the same bytes give the same id, ids count up from 1. Contents are compared, hashes only
 * narrow the search; the hash is seeded, so that names chosen by a stranger cannot be made to
 * collide. Not thread-safe.
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

/* Beyond this, new strings get ids but are not remembered: memory is bounded, the file is not wrong. */
#define TS_INTERN_MAX_BYTES (256u * 1024 * 1024)

void ts_intern_init(struct ts_intern *intern, uint64_t seed);
void ts_intern_deinit(struct ts_intern *intern);

/*
 * *ret_is_new: the id was not given before. 0, -ENOMEM (nothing changed), or -EOVERFLOW: no ids are left.
 */
int ts_intern(struct ts_intern *intern, const void *bytes, uint32_t n_bytes, uint32_t *ret_id,
	      bool *ret_is_new);

/* Takes back the id that was given last, where it was new. */
void ts_intern_undo(struct ts_intern *intern);
