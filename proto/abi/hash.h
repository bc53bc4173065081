/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 128-bit hashes of contents. Different contents have different hashes by chance only: an attacker
 * can construct two contents with equal hashes. The hashes are used within one session only, whose
 * process could lie about its contents anyway.
 *
 * Each step adds 16 bytes of input to the words a and b. For given bytes, each step is a bijection
 * of both words (multiplications by odd numbers, rotations, additions), so no earlier input is
 * lost. The end is padded with zeros; the length in the starting values distinguishes padding from
 * real zeros. Files contain these hashes, so the function never changes.
 */
#pragma once

#include "proto/abi/base.h"

struct ts_hash128 {
	uint64_t a, b;
};

#define TS_HASH_MULTIPLIER_A UINT64_C(0x9fb21c651e98df25)
#define TS_HASH_MULTIPLIER_B UINT64_C(0xd6e8feb86659fd93)

static inline uint64_t ts_hash_rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline uint64_t ts_hash_mix(uint64_t x)
{
	x = (x ^ x >> 32) * TS_HASH_MULTIPLIER_B;
	x = (x ^ x >> 29) * TS_HASH_MULTIPLIER_A;
	return x ^ x >> 32;
}

static inline void ts_hash_step(struct ts_hash128 *hash, uint64_t first, uint64_t second)
{
	hash->a =
		ts_hash_rotate(hash->a ^ first * TS_HASH_MULTIPLIER_A, 29) * TS_HASH_MULTIPLIER_B +
		hash->b;
	hash->b =
		ts_hash_rotate(hash->b ^ second * TS_HASH_MULTIPLIER_B, 35) * TS_HASH_MULTIPLIER_A +
		hash->a;
}

/*
 * Hashes the bytes. With `to`, also copies them, in one pass. Each byte is read once. So the hash
 * is the copy's, even if another thread writes to the source meanwhile.
 */
static inline __attribute__((always_inline)) struct ts_hash128 ts_hash128_pass(void *to,
									       const void *bytes,
									       size_t n_bytes)
{
	struct ts_hash128 hash = {n_bytes * TS_HASH_MULTIPLIER_A, ~(uint64_t)n_bytes};
	const uint8_t *at = (const uint8_t *)bytes;
	uint8_t *out = (uint8_t *)to;
	uint64_t words[2];
	size_t left;

	for (left = n_bytes; left >= sizeof(words); left -= sizeof(words)) {
		uint64_t first, second;

		memcpy(&first, at, sizeof(first));
		memcpy(&second, at + sizeof(first), sizeof(second));
		if (out) {
			/* The compiler must not read the source a second time. */
			__asm__("" : "+r"(first), "+r"(second));
			memcpy(out, &first, sizeof(first));
			memcpy(out + sizeof(first), &second, sizeof(second));
			out += sizeof(words);
		}
		ts_hash_step(&hash, first, second);
		at += sizeof(words);
	}
	if (left) {
		memset(words, 0, sizeof(words));
		memcpy(words, at, left);
		if (out) {
			__asm__("" : "+m"(words));
			memcpy(out, words, left);
		}
		ts_hash_step(&hash, words[0], words[1]);
	}
	hash.a += hash.b;
	hash.a = ts_hash_mix(hash.a);
	hash.b = ts_hash_mix(hash.b + hash.a);
	hash.a += hash.b;
	return hash;
}

static inline struct ts_hash128 ts_hash128(const void *bytes, size_t n_bytes)
{
	return ts_hash128_pass(NULL, bytes, n_bytes);
}

/* Copies the bytes and returns the hash of the copy. */
static inline struct ts_hash128 ts_hash128_copy(void *to, const void *bytes, size_t n_bytes)
{
	return ts_hash128_pass(to, bytes, n_bytes);
}
