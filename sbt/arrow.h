/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a trace by Apache Arrow's C stream interface, without a copy. DuckDB, Polars, pandas
 * and pyarrow read it. The structs are those of Arrow's specification ("The Arrow C data
 * interface", "The Arrow C stream interface"), and their guards let several headers define them.
 *
 * The stream gives one record batch. Its first column is `session`, unless the row type has a
 * column of this name; the others are those of the row type. Numbers keep their width and sign.
 * Times stay nanoseconds of CLOCK_MONOTONIC. A column of strings is dictionary-encoded: the index
 * is the string's id in the file. The dictionary has the texts up to the highest used id; the text
 * of id 0 is empty. Invalid UTF-8 becomes U+FFFD.
 */
#pragma once

#include "sbt/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE	      2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};
#endif

#pragma GCC visibility push(default)

/*
 * Creates a stream of the columns. Call it in the reader's thread, because it reads the texts of
 * strings. The stream holds a reference to the columns and does not need the reader later. The
 * consumer calls its release(). -ENOMEM: no memory. TS_SBT_E_CORRUPT: a row names a string that the
 * trace lacks, or a string up to that one cannot be read. TS_SBT_E_LIMIT: the texts have more than
 * 2 GiB.
 */
int ts_sbt_arrow_stream(struct ts_sbt_reader *reader, struct ts_sbt_columns *columns,
			struct ArrowArrayStream *ret_stream);

#define TS_SBT_CALL_NAME_BYTES 32 /* size of `buffer` */
/* ts_name_call() of replay/report/names/callname.h. */
typedef const char *(*ts_sbt_name_call_fn)(uint32_t domain, uint32_t cbid, char *buffer);

/*
 * Like ts_sbt_arrow_stream(). If the columns have TS_SBT_CALL_COLUMN, the last column is `name`,
 * dictionary-encoded: the names of the calls, as `name_call` returns them. `name_call` is called
 * before this function returns.
 */
int ts_sbt_arrow_stream_named(struct ts_sbt_reader *reader, struct ts_sbt_columns *columns,
			      ts_sbt_name_call_fn name_call, struct ArrowArrayStream *ret_stream);

/*
 * A destructor for a PyCapsule named "arrow_array_stream" whose pointer is a stream from malloc():
 * releases the stream if nobody has consumed it, and frees it. Called by the Python interpreter.
 */
void ts_sbt_arrow_capsule_free(void *capsule);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
