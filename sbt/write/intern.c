/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns strings: all contents lie in one growing buffer, found by an index over their hashes.
 * Writer, append, copy, the daemon, replay/state and exports call this module. The daemon looks
 * each kernel name up once, not for each launch, so a plain structure is fast enough.
 */

#include "sbt/intern.h"

#include "proto/abi/grow.h"

void ts_intern_init(struct ts_intern *intern, uint64_t seed)
{
	*intern = (struct ts_intern){.seed = seed};
}

void ts_intern_deinit(struct ts_intern *intern)
{
	free(intern->strings);
	ts_hashindex_deinit(&intern->index);
	ts_buffer_deinit(&intern->bytes);
	*intern = (struct ts_intern){0};
}

int ts_intern(struct ts_intern *intern, const void *bytes, uint32_t n_bytes, uint32_t *ret_id,
	      bool *ret_is_new)
{
	uint64_t hash = ts_hash_seeded_bytes(intern->seed, bytes, n_bytes);
	int r;

	TS_HASHINDEX_EACH (&intern->index, hash, at) {
		const struct ts_intern_string *string = &intern->strings[at.number];

		if (string->hash == hash && string->n_bytes == n_bytes &&
		    (!n_bytes || !memcmp(intern->bytes.bytes + string->off, bytes, n_bytes))) {
			*ret_id = string->id;
			*ret_is_new = false;
			return 0;
		}
	}
	if (intern->last_id == UINT32_MAX)
		return -EOVERFLOW;
	if (intern->bytes.n + n_bytes <= TS_INTERN_MAX_BYTES) {
		uint64_t off = intern->bytes.n;

		r = TS_GROW(intern->strings, intern->n_allocated, intern->n + 1);
		r = r ?: ts_hashindex_reserve(&intern->index, 1);
		r = r ?: ts_buffer_append(&intern->bytes, bytes, n_bytes);
		if (r)
			return r;
		(void)ts_hashindex_add(&intern->index, hash, (uint32_t)intern->n);
		intern->strings[intern->n++] = (struct ts_intern_string){
			.hash = hash,
			.off = off,
			.n_bytes = n_bytes,
			.id = intern->last_id + 1,
		};
	}
	*ret_id = ++intern->last_id;
	*ret_is_new = true;
	return 0;
}

void ts_intern_undo(struct ts_intern *intern)
{
	const struct ts_intern_string *last = intern->n ? &intern->strings[intern->n - 1] : NULL;

	if (last && last->id == intern->last_id) {
		/* The string is the last content in the buffer. */
		intern->bytes.n = last->off;
		intern->n--;
		ts_hashindex_remove(&intern->index, last->hash, (uint32_t)intern->n);
	}
	intern->last_id--;
}
