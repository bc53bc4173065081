/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a fuzz target's corpus, for unit tests. meson.build defines TEST_CORPUS, the folder. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/unit/harness.h"

#define TS_CORPUS_BYTES 65536u

/* Reads a file into `bytes`. Returns its size. */
static inline size_t ts_corpus_read(const char *name, uint8_t bytes[TS_CORPUS_BYTES])
{
	char path[512];
	FILE *stream;
	size_t n;

	snprintf(path, sizeof(path), TEST_CORPUS "/%s", name);
	stream = fopen(path, "rb");
	ts_check(stream);
	n = fread(bytes, 1, TS_CORPUS_BYTES, stream);
	fclose(stream);
	ts_check(n);
	return n;
}

/* Returns a file in a heap block of exactly its size, so that a sanitizer sees its end. */
static inline uint8_t *ts_corpus_file(const char *name, size_t *ret_n)
{
	uint8_t *bytes = malloc(TS_CORPUS_BYTES);

	ts_check(bytes);
	*ret_n = ts_corpus_read(name, bytes);
	return realloc(bytes, *ret_n);
}
