/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of keys for tables in memory: they choose where a look-up begins. They are fast rather
 * than good, and no file contains them; hashes of contents are in hash.h. The high bits of a key's
 * hash are the good ones (multiplication by the golden ratio, Knuth 6.4). The low bits of a text's
 * hash are as good (FNV-1a).
 *
 * An attacker can choose texts, or keys of several words, with equal hashes by FNV-1a and by
 * ts_hash_add(), for any start value. Tables of such keys use ts_hash_seeded_bytes() with a random
 * seed.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_HASH_GOLDEN	   UINT64_C(0x9e3779b97f4a7c15)
#define TS_HASH_TEXT_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t ts_hash_key(uint64_t key)
{
	return key * TS_HASH_GOLDEN;
}

/* Adds one more word of a key with several words. */
static inline uint64_t ts_hash_add(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * TS_HASH_GOLDEN;
}

/* Hashes bytes; `hash` is TS_HASH_TEXT_BEGIN or the hash of the bytes before. */
static inline uint64_t ts_hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes)
{
	const uint8_t *at = (const uint8_t *)bytes;

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Multiplies and folds: each bit of the result depends on all bits of both factors. */
static inline uint64_t ts_hash_fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Hashes 8 bytes at a time. Every product includes the seed, so without the seed an attacker cannot
 * know which keys have equal hashes.
 */
static inline uint64_t ts_hash_seeded_bytes(uint64_t seed, const void *bytes, size_t n_bytes)
{
	const uint64_t secret = seed ^ UINT64_C(0xd6e8feb86659fd93);
	const uint8_t *at = (const uint8_t *)bytes;
	uint64_t hash = seed ^ TS_HASH_GOLDEN, word;
	size_t i;

	for (i = 0; i + 8 <= n_bytes; i += 8) {
		memcpy(&word, at + i, 8);
		hash = ts_hash_fold(hash ^ word, secret);
	}
	if (i < n_bytes) {
		word = 0;
		memcpy(&word, at + i, n_bytes - i);
		hash = ts_hash_fold(hash ^ word, secret);
	}
	/* The index multiplies once more. */
	return hash ^ n_bytes;
}

/* Returns the hash of a text; NULL has the hash of the empty text. */
static inline uint64_t ts_hash_seeded_text(uint64_t seed, const char *text)
{
	return ts_hash_seeded_bytes(seed, text, text ? strlen(text) : 0);
}
