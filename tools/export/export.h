/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a trace in other tools' formats. ts_export() has all of them; its caller needs no names
 * and no other option. Perfetto and kineto exports contain rows; folded stacks, profiles and flame
 * graphs contain sums; a page contains answers. Rows as files of Arrow:
 * tools/export/arrow/dataset.h.
 *
 * There are two kinds of sums. The first kind sums the GPU's work by the host stack that launched
 * it. These sums are exact and include every kernel, copy and set of the trace. Work without a
 * stack or without a launching call has its own frame. The second kind sums the time of threads, on
 * and off a processor, by their stack at that time.
 *
 * Not thread-safe. Functions return 0, a negative errno, or TS_SBT_E_* as in sbt/reader.h.
 * ts_export_perfetto() also returns TS_E_LIVE (replay/state/limit.h) if too many allocations are
 * live at once.
 */
#pragma once

#include <stdio.h>

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_export_format {
	TS_EXPORT_FORMAT_PERFETTO,
	TS_EXPORT_FORMAT_JSON, /* trace events, as the PyTorch profiler writes them */
	TS_EXPORT_FORMAT_FOLDED,
	TS_EXPORT_FORMAT_PPROF,
	TS_EXPORT_FORMAT_SVG,  /* a flame graph */
	TS_EXPORT_FORMAT_HTML, /* a page with answers and pictures */
	TS_EXPORT_N_FORMATS
};

/*
 * The summed value. The first three are for GPU work, the others for the time of threads. A
 * profile's samples have the same order.
 */
enum ts_export_weight {
	TS_EXPORT_LAUNCHES, /* count of executed kernels */
	TS_EXPORT_GPU_TIME, /* nanoseconds of kernels, copies and sets */
	TS_EXPORT_BYTES,    /* bytes moved by copies */
	TS_EXPORT_CPU,	    /* nanoseconds on a processor, by samples */
	TS_EXPORT_OFF_CPU,  /* nanoseconds off a processor: blocked or runnable */
	TS_EXPORT_HOST,	    /* OFF_CPU plus CPU */
	TS_EXPORT_N_WEIGHTS
};

#define TS_EXPORT_FIRST_OF_HOST TS_EXPORT_CPU

/*
 * Functions that name a trace's numbers. The result NULL means: print the number. Results are
 * static texts, except for functions with `user`.
 */
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
	/*
	 * Name a kernel (by a string of the trace), a thread, and a row's stream. The result is
	 * valid until the next call.
	 */
	const char *(*kernel)(void *user, uint32_t name);
	const char *(*thread)(void *user, uint32_t session, const struct ts_row_thread *thread);
	const char *(*stream)(void *user, const struct ts_sbt_row *row);
	/*
	 * Names the code position of a stack, with the modules that are mapped at time_ns:
	 * "preprocess (data.py:31)". The result is valid until the next call.
	 */
	const char *(*place)(void *user, uint32_t session, uint32_t stack, uint64_t time_ns);
};

struct ts_export_options {
	uint32_t session; /* 0: all */
	uint64_t types;	  /* GPU work: ORed TS_ROW_BIT of kernel, memcpy, memset; 0: all */
	uint64_t from_ns; /* absolute; a row that overlaps the window counts whole */
	uint64_t to_ns;	  /* 0: no limit */
	enum ts_export_weight weight;

	/* Names of kernels as the compiler made them. Only without `names`. */
	bool mangled;
	bool no_leaf;	/* leave out the operation as the innermost frame */
	bool processes; /* add the process as the outermost frame */
	bool threads;	/* add the thread, below the process */
	bool lines;	/* folded: add file and line to native functions */

	/*
	 * All functions must be set; exports of sums need only `kernel`, `copy_kind`,
	 * `off_cpu_reason`. NULL, for ts_export() and ts_export_fd() only: the names that tsctl
	 * prints.
	 */
	const struct ts_export_names *names;
	/* Called now and then with the count of rows so far. May be NULL. */
	void (*step)(void *user, uint64_t n_rows);
	void *user;

	/* Name of the generating tool. NULL: "TraceSmith" and the version, with `names` none. */
	const char *generator;

	/* Flame graphs and pages only. */
	uint32_t width;	   /* in pixels, of each picture; 0: default */
	const char *title; /* such as the file's name; may be NULL */

	/* If any thread sets *cancel to 1, ts_export() ends with -ECANCELED. May be NULL. */
	const volatile int *cancel;

	/*
	 * Required for a page, as in ts_query_options (replay/report/query.h): called if there is
	 * no memory for an answer; must not return. Other formats do not use it.
	 */
	void (*no_memory)(void);
};

/* Completeness of the export. */
struct ts_export_report {
	uint64_t n_rows;	  /* kernels, copies and sets; samples and off-CPU times */
	uint64_t n_without_call;  /* subset under `[unknown]` */
	uint64_t n_without_stack; /* subset under `[no stack]` */
	uint64_t n_samples;	  /* distinct stacks, operations and, in a profile, labels */
	uint64_t totals[TS_EXPORT_N_WEIGHTS];
	uint64_t n_left_out; /* slices beyond the limit of overlapping lanes */
	bool has_names;	     /* a stack was symbolised, or none needed symbols */
	bool damaged;	     /* a block could not be read: see `damage` */
	struct ts_sbt_error damage;
};

/*
 * Writes the trace to `file` in this format; the caller checks the errors of `file`. Threads of the
 * export may write to `file`, one at a time, so the caller does not lock it. `options` may
 * be NULL: the whole trace, and GPU time for sums. *ret_report is filled if the result is 0. Also
 * returns -EINVAL (no such format or weight), -ENOMEM and -ECANCELED.
 */
int ts_export(struct ts_sbt_reader *reader, enum ts_export_format format,
	      const struct ts_export_options *options, FILE *file,
	      struct ts_export_report *ret_report);
/*
 * Like ts_export(), to a descriptor that the caller keeps. Also returns the negative errno of a
 * failed write.
 */
int ts_export_fd(struct ts_sbt_reader *reader, enum ts_export_format format,
		 const struct ts_export_options *options, int fd,
		 struct ts_export_report *ret_report);
/*
 * Returns the format of this name: "perfetto", "json", "chrome" (the same), "folded", "pprof",
 * "svg", "html"; TS_EXPORT_N_FORMATS for any other name.
 */
enum ts_export_format ts_export_format_of(const char *name);

/*
 * Each function writes the whole export to `file`; the caller checks the errors of `file`.
 * *ret_report is filled if the result is 0.
 *
 * Folded: one line per distinct stack, "outermost;...;innermost WEIGHT", sorted by frames. A stack
 * with weight 0 has no line.
 */
int ts_export_folded(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report);
/*
 * Writes the sums of ts_export_folded() as a picture (SVG): a flame graph with the outermost frames
 * on top.
 */
int ts_export_flame(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    FILE *file, struct ts_export_report *ret_report);
/*
 * Writes a page (HTML) with the answers of `tsctl analyze`, `gaps`, `memory` and `info`, and with
 * pictures. The page needs no script and no other file. It is about the whole trace: -EINVAL if the
 * options have a window or types, or no no_memory.
 */
int ts_export_page(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		   FILE *file, struct ts_export_report *ret_report);
/*
 * Writes a compressed pprof profile with all weights; `weight` is the one that pprof shows first.
 */
int ts_export_pprof(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    FILE *file, struct ts_export_report *ret_report);
/* Writes a trace for Perfetto. The used options are names, window, session and types. */
int ts_export_perfetto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		       FILE *file, struct ts_export_report *ret_report);
/*
 * Writes the same rows as JSON trace events in the form of the PyTorch profiler, without stacks,
 * kernel events and losses.
 */
int ts_export_kineto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report);

#ifdef __cplusplus
}
#endif
