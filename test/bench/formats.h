/* SPDX-License-Identifier: Apache-2.0 */
/* What others make of the same rows: written to nowhere, plain and through zstd, and counted. */
#pragma once

#include "sbt/buffer.h"
#include "test/bench/training.h"

struct ts_bench_step {
	uint32_t n_api, n_kernels, n_copies, n_sets;
};

/* Rows of a whole trace, by type, and how many of each a step has. */
struct ts_bench_rows {
	struct ts_buffer steps, api, kernels, copies, sets;
	uint64_t n_launches;
};

enum ts_bench_format {
	TS_BENCH_STRUCTS,  /* the fields of rows, one row after the other; zstd -1 */
	TS_BENCH_JSON,	   /* trace events as the PyTorch profiler writes them; zstd -3 */
	TS_BENCH_PERFETTO, /* interned track events; zstd -3 */
	TS_BENCH_FORMATS
};

struct ts_bench_size {
	uint64_t plain;
	uint64_t compressed;
};

const char *ts_bench_format_name(enum ts_bench_format format);

/* 0 or -ENOMEM. */
int ts_bench_measure(enum ts_bench_format format, const struct ts_bench_rows *rows,
		     struct ts_bench_size *ret_size);
