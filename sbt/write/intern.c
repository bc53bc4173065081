/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table with linear probing, at most half full, over one growing run of all contents. Names
 * of kernels repeat a million times and are looked up once each by the daemon, so plain is fast enough.
 */

#include "sbt/intern.h"

void ts_intern_init(struct ts_intern *intern, uint64_t seed)
{
	*intern = (struct ts_intern){.seed = seed};
}

void ts_intern_deinit(struct ts_intern *intern)
{
	free(intern->slots);
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

static struct ts_intern_slot *find(const struct ts_intern *intern, uint64_t hash, const void *bytes,
				   uint32_t n_bytes)
{
	size_t i = hash & (intern->n_slots - 1);

	for (;; i = (i + 1) & (intern->n_slots - 1)) {
		struct ts_intern_slot *slot = &intern->slots[i];

		if (!slot->id)
			return slot;
		if (slot->hash == hash && slot->n_bytes == n_bytes &&
		    (!n_bytes || !memcmp(intern->bytes.bytes + slot->off, bytes, n_bytes)))
			return slot;
	}
}

static int grow(struct ts_intern *intern)
{
	size_t n = intern->n_slots ? intern->n_slots * 2 : 256;
	struct ts_intern_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < intern->n_slots; i++) {
		size_t j = intern->slots[i].hash & (n - 1);

		if (!intern->slots[i].id)
			continue;
		while (slots[j].id)
			j = (j + 1) & (n - 1);
		slots[j] = intern->slots[i];
	}
	free(intern->slots);
	intern->slots = slots;
	intern->n_slots = n;
	return 0;
}

int ts_intern(struct ts_intern *intern, const void *bytes, uint32_t n_bytes, uint32_t *ret_id,
	      bool *ret_is_new)
{
	uint64_t hash = hash_bytes(intern->seed, bytes, n_bytes);
	struct ts_intern_slot *slot;
	int r;

	if (intern->n_used * 2 >= intern->n_slots) {
		r = grow(intern);
		if (r)
			return r;
	}
	slot = find(intern, hash, bytes, n_bytes);
	if (slot->id) {
		*ret_id = slot->id;
		*ret_is_new = false;
		return 0;
	}
	if (intern->last_id == UINT32_MAX)
		return -EOVERFLOW;
	if (intern->bytes.n + n_bytes <= TS_INTERN_MAX_BYTES) {
		uint64_t off = intern->bytes.n;

		r = ts_buffer_append(&intern->bytes, bytes, n_bytes);
		if (r)
			return r;
		*slot = (struct ts_intern_slot){.hash = hash,
						.off = off,
						.n_bytes = n_bytes,
						.id = intern->last_id + 1};
		intern->n_used++;
	}
	*ret_id = ++intern->last_id;
	*ret_is_new = true;
	return 0;
}

void ts_intern_undo(struct ts_intern *intern)
{
	for (size_t i = 0; i < intern->n_slots; i++) {
		struct ts_intern_slot *slot = &intern->slots[i];

		if (slot->id != intern->last_id)
			continue;
		/* Its content ends the run of bytes. What probed past it was put there before it: nothing moves. */
		intern->bytes.n = slot->off;
		*slot = (struct ts_intern_slot){0};
		intern->n_used--;
		break;
	}
	intern->last_id--;
}
