/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings lie in one growing run of all contents, found by an index over their hashes. Names of kernels repeat a million times
 * and are looked up once each by the daemon, so plain is fast enough.
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

/* Multiply and fold, 8 bytes at a time. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_bytes(uint64_t seed, const uint8_t *p, size_t n)
{
	uint64_t hash = seed ^ 0x9e3779b97f4a7c15u, word;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, p + i, 8);
		hash = fold(hash ^ word, 0xd6e8feb86659fd93u) + seed;
	}
	word = n;
	if (i < n)
		memcpy(&word, p + i, n - i);
	hash = fold(hash ^ word, 0xd6e8feb86659fd93u ^ seed);
	return fold(hash ^ n, 0x2545f4914f6cdd1du);
}

int ts_intern(struct ts_intern *intern, const void *bytes, uint32_t n_bytes, uint32_t *ret_id,
	      bool *ret_is_new)
{
	uint64_t hash = hash_bytes(intern->seed, bytes, n_bytes);
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
		/* Its content ends the run of bytes. */
		intern->bytes.n = last->off;
		intern->n--;
		ts_hashindex_remove(&intern->index, last->hash, (uint32_t)intern->n);
	}
	intern->last_id--;
}
