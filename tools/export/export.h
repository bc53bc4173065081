/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as other tools' formats. What a GPU did is summed up by the host stack that asked for it; the sums are exact and
 * hold every kernel, copy and set of the trace: what has no stack, or no call that asked for it, is a
 * frame of its own. Or what threads did is summed up, on and off a processor, by where they were then.
 *
 * One thread. Functions return 0, a negative errno, or TS_SBT_E_* as sbt/reader.h does.
 */
#pragma once

#include <stdio.h>

#include "sbt/reader.h"

/* What is summed up: the GPU's work by one of the first, the time of threads by one of the others. The same order in a profile's samples. */
enum ts_export_weight {
	TS_EXPORT_LAUNCHES, /* kernels that ran */
	TS_EXPORT_GPU_TIME, /* nanoseconds that kernels, copies and sets took */
	TS_EXPORT_BYTES,    /* that copies moved */
	TS_EXPORT_CPU,	    /* nanoseconds on a processor, that samples stand for */
	TS_EXPORT_OFF_CPU,  /* nanoseconds off it, blocked or waiting for one */
	TS_EXPORT_HOST,	    /* both */
	TS_EXPORT_N_WEIGHTS
};

#define TS_EXPORT_FIRST_OF_HOST TS_EXPORT_CPU

/* What numbers of a trace are called: NULL as a result is by the number. Static texts, but where there is a user. */
struct ts_export_names {
	const char *(*api)(uint32_t domain, uint32_t cbid);
	const char *(*api_error)(uint32_t domain, uint32_t result);
	const char *(*copy_kind)(uint32_t kind);
	const char *(*memory_kind)(uint32_t kind);
	const char *(*sync_type)(uint32_t type);
	const char *(*overhead_kind)(uint32_t kind);
	const char *(*off_cpu_reason)(uint32_t reason);
	const char *(*syscall)(uint32_t number);
	const char *(*fault_kind)(uint32_t kind);
	const char *(*block_operation)(uint32_t operation);
	const char *(*pressure_kind)(uint32_t kind);
	const char *(*driver_kind)(uint32_t kind);
	/* Of kernels, by the string of the trace; of threads and of a row's stream. Valid until the next call. */
	const char *(*kernel)(void *user, uint32_t name);
	const char *(*thread)(void *user, uint32_t session, const struct ts_row_thread *thread);
	const char *(*stream)(void *user, const struct ts_sbt_row *row);
	/* The place in the code that names a stack, as modules lay then: "preprocess (data.py:31)". Likewise. */
	const char *(*place)(void *user, uint32_t session, uint32_t stack, uint64_t time_ns);
};

struct ts_export_options {
	uint32_t session; /* 0: all */
	uint64_t types;	  /* of GPU work: TS_ROW_BIT(kernel, memcpy, memset), ORed; 0: all three */
	uint64_t from_ns; /* absolute; rows that touch the window count whole, as with a cursor */
	uint64_t to_ns;	  /* 0: no limit */
	enum ts_export_weight weight;

	bool no_leaf;	/* without the operation itself as the innermost frame */
	bool processes; /* the process as the outermost frame */
	bool threads;	/* the thread that launched, or whose time it is, below it */
	bool lines;	/* folded: files and lines behind native functions */

	const struct ts_export_names
		*names; /* all there; of sums `kernel`, `copy_kind`, `off_cpu_reason` */
	/* Now and then, with the number of rows so far. May be NULL. */
	void (*step)(void *user, uint64_t n_rows);
	void *user;

	const char *generator; /* for a profile's comments: what made it */
};

/* How complete it is. */
struct ts_export_report {
	uint64_t n_rows;	  /* kernels, copies and sets; samples and times off a processor */
	uint64_t n_without_call;  /* of these, under `[unknown]` */
	uint64_t n_without_stack; /* of these, under `[no stack]` */
	uint64_t n_samples;	  /* different stacks, operations and, in a profile, labels */
	uint64_t totals[TS_EXPORT_N_WEIGHTS];
	uint64_t n_left_out; /* slices that would have overlapped too many others */
	bool has_names;	     /* some stack was symbolised, or there was none to symbolise */
	bool damaged;	     /* some block could not be read: see `damage` */
	struct ts_sbt_error damage;
};

/*
 * Each writes all of it to `file`, whose errors are the caller's to ask for. *ret_report is filled where 0 is returned.
 *
 * Folded: a line for each different stack, "outermost;...;innermost WEIGHT", in the order of their frames; stacks of
 * no weight have no line.
 */
int ts_export_folded(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report);
/* The same as a profile of pprof's, compressed; with all weights, `weight` being the one that is shown first. */
int ts_export_pprof(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    FILE *file, struct ts_export_report *ret_report);
/* All of it as a trace for Perfetto: of the options it takes names, window, session and types. */
int ts_export_perfetto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		       FILE *file, struct ts_export_report *ret_report);
/* The same rows as trace events in JSON, as the PyTorch profiler writes them; without stacks, kernel events and losses. */
int ts_export_kineto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report);
