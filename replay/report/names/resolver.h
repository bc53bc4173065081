/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ids in a row to what a person or a program wants to see: names, threads, stacks. One for
 * each pass over a trace; one thread. What it hands out lives as long as it does.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

struct ts_resolver;

struct ts_resolver_options {
	bool mangled; /* leave kernel names as they are */
	bool launchers; /* tell the thread and stack of the call for device rows: reads the calls too */
	uint32_t session; /* as the pass itself is limited; 0: all */
	uint64_t from_ns; /* as the pass itself; rows come in order of start */
};

/* The reader stays the caller's and outlives it. Returns 0, a negative errno or TS_SBT_E_*. */
int ts_resolver_new(struct ts_sbt_reader *reader, const struct ts_resolver_options *options,
		    struct ts_resolver **ret_resolver);
void ts_resolver_free(struct ts_resolver *resolver);
void ts_resolver_freep(struct ts_resolver **resolver);

struct ts_sbt_reader *ts_resolver_reader(struct ts_resolver *resolver);

/* NULL where there is no such string. */
const char *ts_resolver_string(struct ts_resolver *resolver, uint32_t id);
/* Demangled, unless asked otherwise. NULL where it is not known. */
const char *ts_resolver_kernel_name(struct ts_resolver *resolver, uint32_t id);
/* The same of a name that is no string of the trace. */
const char *ts_resolver_demangle(struct ts_resolver *resolver, const char *name);
/*
 * The row's own thread; for a row of a device that of the call that caused it, where that is within a few
 * seconds before. NULL: not known.
 */
const struct ts_row_thread *ts_resolver_thread(struct ts_resolver *resolver,
					       const struct ts_sbt_row *row);

/* The call that caused a row of a device. */
struct ts_launcher {
	uint64_t op_id;
	uint32_t session;
	uint32_t thread;
	uint32_t stack;
};

/* False where it is not known. Rows have to come in the order of time. */
bool ts_resolver_launcher(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			  struct ts_launcher *ret_launcher);
/* For a row that is told out of order: the functions here answer as they did when it was read. */
void ts_resolver_recall(struct ts_resolver *resolver, const struct ts_launcher *launcher);

/* What the application calls it, else the system. NULL: neither. */
const char *ts_resolver_thread_name(struct ts_resolver *resolver, uint32_t session,
				    const struct ts_row_thread *thread);
/* What the application calls the row's stream or category. NULL: it has none, or no name. */
const char *ts_resolver_stream_name(struct ts_resolver *resolver, const struct ts_sbt_row *row);
const char *ts_resolver_category_name(struct ts_resolver *resolver, const struct ts_sbt_row *row);

#define TS_RESOLVER_NAME_BYTES 1024
/*
 * What the row is about, in a word: a kernel's or function's name, a copy's kind, ... "" where there is nothing to
 * say. `buffer` serves where the words must be put together.
 */
const char *ts_resolver_name(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			     char buffer[TS_RESOLVER_NAME_BYTES]);

/* The id of the row's stack; for a row of a device that of the call, as of threads. 0: none. */
uint32_t ts_resolver_stack(struct ts_resolver *resolver, const struct ts_sbt_row *row);
#define TS_RESOLVER_FRAME_BYTES 2304
/* A Python frame as "function (file:line)". */
void ts_resolver_python(struct ts_resolver *resolver, uint64_t frame,
			char ret_text[TS_RESOLVER_FRAME_BYTES]);
/*
 * Where a frame's address lies: the file's path and the address in the file's own view, from the modules
 * that were mapped at `time_ns`. False where it is in none.
 */
bool ts_resolver_module(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
			uint64_t address, const char **ret_path, uint64_t *ret_file_address);

/*
 * What a frame is called: frame `i` of a stack, counted from the innermost. *ret_n functions, the innermost first; 0 where
 * nothing is known. NULL texts are not known.
 */
const struct ts_row_symbol *ts_resolver_symbols(struct ts_resolver *resolver, uint32_t session,
						uint64_t time_ns, uint64_t address, uint32_t i,
						size_t *ret_n);
