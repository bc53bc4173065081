/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the ids in a row to names, threads and stacks. Create one object for each pass over a
 * trace. Not thread-safe. Results are valid as long as the resolver.
 */
#pragma once

#include "replay/report/names/launchers.h"
#include "sbt/reader.h"

#include <stdbool.h>

struct ts_resolver;

struct ts_resolver_options {
	bool mangled; /* leave kernel names mangled */
	/* For device rows, resolve the call's thread and stack; this reads the API rows too. */
	bool launchers;
	uint32_t session; /* the pass's session; 0: all */
	uint64_t from_ns; /* the pass's start; rows come in order of start */
};

/*
 * Creates a resolver. The caller keeps the reader, which must outlive the resolver. Returns 0, a
 * negative errno or TS_SBT_E_*.
 */
int ts_resolver_new(struct ts_sbt_reader *reader, const struct ts_resolver_options *options,
		    struct ts_resolver **ret_resolver);
/*
 * Creates a resolver for another thread, which may use it while the caller uses `resolver`. It
 * answers for rows and threads that the caller has passed to ts_resolver_prepare() or
 * ts_resolver_prepare_thread() before, and it knows no call, module, symbol and stack. `resolver`
 * must outlive it. Returns 0 or -ENOMEM.
 */
int ts_resolver_share(const struct ts_resolver *resolver, struct ts_resolver **ret_shared);
void ts_resolver_free(struct ts_resolver *resolver);
void ts_resolver_freep(struct ts_resolver **resolver);

/* Reads the strings that name the row or the thread, or one string, for shared resolvers. */
void ts_resolver_prepare(struct ts_resolver *resolver, const struct ts_sbt_row *row);
void ts_resolver_prepare_string(struct ts_resolver *resolver, uint32_t id);
void ts_resolver_prepare_thread(struct ts_resolver *resolver, uint32_t session, uint32_t thread);

struct ts_sbt_reader *ts_resolver_reader(struct ts_resolver *resolver);

/* Returns a string of the trace; NULL if there is no such string. */
const char *ts_resolver_string(struct ts_resolver *resolver, uint32_t id);
/*
 * Returns the kernel's name, demangled unless options.mangled is set. NULL if the name is unknown.
 */
const char *ts_resolver_kernel_name(struct ts_resolver *resolver, uint32_t id);
/* Demangles a name that is no string of the trace. */
const char *ts_resolver_demangle(struct ts_resolver *resolver, const char *name);
/*
 * Returns the thread of the row. For a device row, this is the thread of its call, if the call
 * began at most a few seconds before. NULL: unknown.
 */
const struct ts_row_thread *ts_resolver_thread(struct ts_resolver *resolver,
					       const struct ts_sbt_row *row);

/*
 * Finds the call that caused a device row. Returns false if the call is unknown. The caller must
 * pass rows in order of time.
 */
bool ts_resolver_launcher(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			  struct ts_launcher *ret_launcher);
/*
 * For a row that the caller prints out of order: sets its call, which the caller has kept from
 * ts_resolver_launcher(). The functions of this header then give the same answers for the row as
 * when it was read.
 */
void ts_resolver_recall(struct ts_resolver *resolver, const struct ts_launcher *launcher);

/*
 * Returns the application's name for the thread; if there is none, the system's name. NULL: the
 * thread has neither.
 */
const char *ts_resolver_thread_name(struct ts_resolver *resolver, uint32_t session,
				    const struct ts_row_thread *thread);
/*
 * Returns the application's name for the row's stream or category. NULL: the row has no stream or
 * category, or the application did not name it.
 */
const char *ts_resolver_stream_name(struct ts_resolver *resolver, const struct ts_sbt_row *row);
const char *ts_resolver_category_name(struct ts_resolver *resolver, const struct ts_sbt_row *row);

#define TS_RESOLVER_NAME_BYTES 1024
/*
 * Returns a short name of the row: a kernel's or function's name, a copy's kind, ... "" if there is
 * no name. The function may write the name to `buffer`.
 */
const char *ts_resolver_name(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			     char buffer[TS_RESOLVER_NAME_BYTES]);

/*
 * Returns the id of the row's stack; for a device row, of the stack of its call, as in
 * ts_resolver_thread(). 0: the row has no stack.
 */
uint32_t ts_resolver_stack(struct ts_resolver *resolver, const struct ts_sbt_row *row);
#define TS_RESOLVER_FRAME_BYTES 2304
/* Writes a Python frame as "function (file:line)". */
void ts_resolver_python(struct ts_resolver *resolver, uint64_t frame,
			char ret_text[TS_RESOLVER_FRAME_BYTES]);
/*
 * Finds the file that contains a frame's address, among the modules mapped at `time_ns`. Returns
 * the file's path and the address relative to the file. False if no module contains the address.
 */
bool ts_resolver_module(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
			uint64_t address, const char **ret_path, uint64_t *ret_file_address);

/*
 * Returns an array of the functions at frame `i` of a stack; frame 0 is the innermost one. The
 * array has *ret_n functions, the innermost inlined one first. *ret_n is 0 if no function is known.
 */
const struct ts_row_symbol *ts_resolver_symbols(struct ts_resolver *resolver, uint32_t session,
						uint64_t time_ns, uint64_t address, uint32_t i,
						size_t *ret_n);
