/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes a trace's rows in the formats of other tools. Counts the bytes, plain and compressed by
 * zstd, and discards them. Implemented by formats.c; bench-sbt.c calls it.
 */
#pragma once

#include "sbt/buffer.h"
#include "test/bench/training.h"

struct ts_bench_step {
	uint32_t n_api, n_kernels, n_copies, n_sets;
};

/* Rows of a whole trace, by type; `steps` holds the number of rows of each step. */
struct ts_bench_rows {
	struct ts_buffer steps, api, kernels, copies, sets;
	uint64_t n_launches;
};

enum ts_bench_format {
	TS_BENCH_STRUCTS,  /* fields of a row, one row after the other; zstd -1 */
	TS_BENCH_JSON,	   /* trace events in the PyTorch profiler's form; zstd -3 */
	TS_BENCH_PERFETTO, /* interned track events; zstd -3 */
	TS_BENCH_FORMATS
};

struct ts_bench_size {
	uint64_t plain;
	uint64_t compressed;
};

const char *ts_bench_format_name(enum ts_bench_format format);

/* Encodes all rows in `format` and counts the bytes. Returns 0 or -ENOMEM. */
int ts_bench_measure(enum ts_bench_format format, const struct ts_bench_rows *rows,
		     struct ts_bench_size *ret_size);
