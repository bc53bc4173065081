/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of keys for tables in memory: where a look-up begins. Quick rather than good, and in no file: those of contents are in hash.h.
 * A key's high bits are the good ones (multiplication by the golden ratio, Knuth 6.4); a text's low bits are as good (FNV-1a).
 */
#pragma once

#include "proto/abi/base.h"

#define TS_HASH_GOLDEN	   UINT64_C(0x9e3779b97f4a7c15)
#define TS_HASH_TEXT_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t ts_hash_key(uint64_t key)
{
	return key * TS_HASH_GOLDEN;
}

/* Takes in one more word of a key that has several. */
static inline uint64_t ts_hash_add(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * TS_HASH_GOLDEN;
}

/* From TS_HASH_TEXT_BEGIN, or from the hash of what comes before. */
static inline uint64_t ts_hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes)
{
	const uint8_t *at = (const uint8_t *)bytes;

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* NULL is as empty. */
static inline uint64_t ts_hash_text(uint64_t hash, const char *text)
{
	return ts_hash_bytes(hash, text, text ? strlen(text) : 0);
}
