/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace file that is finished, cut, or still being written. The bytes are untrusted: the
 * reader checks everything before use and bounds its memory. The reader prints nothing.
 *
 * Threads. A reader and its cursors are used by one thread at a time. Several threads that read one
 * file open it once each; they may do so from one descriptor at the same time. Readers share
 * nothing and use pread(), so the position of the descriptor does not matter and does not change.
 * A cursor that has many rows to read starts threads that read ahead; ts_sbt_cursor_free() ends
 * them. They receive no signals and call none of the caller's functions. After a fork, the child
 * process may only free such a cursor: ts_sbt_cursor_next() returns -ECHILD. The environment
 * variable TRACESMITH_THREADS sets the number of threads (default: the processors that the process
 * may use, at most 16); 1: no further thread.
 *
 * Ownership. Returned strings and stacks are valid until the reader is freed or joined. Rows of
 * sessions, threads, devices and modules are valid until the next ts_sbt_reader_refresh() or
 * ts_sbt_reader_join(), or until the reader is freed.
 *
 * Errors. Functions return 0, a negative errno (the file could not be read, no memory) or
 * TS_SBT_E_* (sbt/error.h). ts_sbt_reader_error() then returns what failed and where. Any function
 * may return TS_SBT_E_CORRUPT or TS_SBT_E_LIMIT for a damaged or hostile file.
 *
 * Units. Times are nanoseconds of CLOCK_MONOTONIC, sizes and offsets are bytes.
 */
#pragma once

#include <stddef.h>

#include "sbt/error.h"
#include "sbt/schema.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Version of the written format, "SBT 1.1". Files of this major version can be read. */
#define TS_SBT_MAJOR 1
#define TS_SBT_MINOR 1

struct ts_sbt_reader;
struct ts_sbt_cursor;

enum ts_sbt_file_state {
	TS_SBT_FINISHED = 1,  /* has its end marker */
	TS_SBT_GROWING = 2,   /* a writer holds the file; its whole blocks can be read */
	TS_SBT_TRUNCATED = 3, /* the writer is gone, or the end was cut off */
};

/*
 * Opens a trace. `fd` must be seekable (-ESPIPE) and stays the caller's; the reader keeps a
 * duplicate. The caller frees *ret_reader. After a failure, *ret_error (if not NULL) has the cause
 * and the offset. TS_SBT_E_NOT_SBT: no trace. TS_SBT_E_VERSION: written by a version that this
 * reader does not know. -EISDIR: a directory. A damaged file can be opened, and its list of blocks
 * ends at the damage: see ts_sbt_reader_state() and ts_sbt_reader_tail_bytes().
 */
int ts_sbt_reader_open(int fd, struct ts_sbt_reader **ret_reader, struct ts_sbt_error *ret_error);

/* Frees the reader. Accepts NULL. The caller frees all cursors first. */
void ts_sbt_reader_free(struct ts_sbt_reader *reader);
TS_DEFINE_CLEANUP(struct ts_sbt_reader *, ts_sbt_reader_freep, ts_sbt_reader_free)

/*
 * Lists the blocks that were appended since the file was opened or last refreshed. Existing cursors
 * do not read them. Does nothing for a finished file, and after ts_sbt_reader_join().
 */
int ts_sbt_reader_refresh(struct ts_sbt_reader *reader);

/*
 * Returns the number and predecessor of this file in a recording of several files (FORMAT.md).
 * TS_SBT_E_NOT_FOUND: the file is the first or the only one.
 */
int ts_sbt_reader_part(const struct ts_sbt_reader *reader, struct ts_row_part *ret_part);

/*
 * Returns true if `before` is the file right before `after` in the same recording. Neither reader
 * may be joined with others.
 */
bool ts_sbt_reader_is_before(const struct ts_sbt_reader *before, const struct ts_sbt_reader *after);

/*
 * Joins the files of a recording: the reader then reads them as one trace, with the blocks of
 * earlier files first. `before` holds the readers of the files before the reader's, the newest
 * first, without a gap. The function frees these readers, also on an error. State, tail and format
 * stay those of the reader's own file. The reader must have no cursor. TS_SBT_E_NOT_FOUND: a file
 * in `before` is not the predecessor of the next newer file; the reader is unchanged.
 * TS_SBT_E_LIMIT: too many blocks.
 */
int ts_sbt_reader_join(struct ts_sbt_reader *reader, struct ts_sbt_reader **before,
		       size_t n_before);

/*
 * Returns the path of file `number` of the recording whose newest file is `path`. The caller frees
 * it. Returns NULL without memory, or if `path` itself has a number; such a file is read alone.
 */
char *ts_sbt_part_path(const char *path, uint32_t number);

/* Returns the last error of a function that failed. The struct belongs to the reader. */
const struct ts_sbt_error *ts_sbt_reader_error(const struct ts_sbt_reader *reader);

/*
 * Returns the error of the first definition that was requested and could not be read, or of a block
 * that is too damaged to know what it had; or NULL. Unreadable definitions look as if they did not
 * exist. Sessions, threads, devices, modules, names
 * and metadata are read on opening; strings and stacks when they are requested.
 */
const struct ts_sbt_error *ts_sbt_reader_lost_definitions(const struct ts_sbt_reader *reader);

/* Returns the state of the file when it was opened or last refreshed. */
enum ts_sbt_file_state ts_sbt_reader_state(const struct ts_sbt_reader *reader);

/*
 * Return the size of the file when it was last read, and the number of bytes at its end that belong
 * to no whole block.
 */
uint64_t ts_sbt_reader_file_bytes(const struct ts_sbt_reader *reader);
uint64_t ts_sbt_reader_tail_bytes(const struct ts_sbt_reader *reader);

/* Returns the version in the file's header, such as "SBT 1.0". The string belongs to the reader. */
const char *ts_sbt_reader_format(const struct ts_sbt_reader *reader);

/* A block. Blocks are listed in file order, with index blocks and blocks of unknown types. */
struct ts_sbt_block {
	uint64_t off;	       /* offset of the block's header in the file */
	uint64_t bytes;	       /* header, payload and padding */
	uint64_t raw_bytes;    /* of the decompressed payload */
	uint64_t earliest_ns;  /* event blocks: earliest start */
	uint64_t latest_ns;    /* event blocks: latest end */
	uint64_t duration_ns;  /* event blocks: sum of end - start */
	uint64_t amount_bytes; /* sum of the type's TS_ROLE_BYTES column */
	uint32_t n_rows;
	uint32_t session; /* 0: the block belongs to the whole file */
	/* strings and stacks: id of the first row; each next row has the next id */
	uint32_t first_id;
	uint16_t type; /* enum ts_row_type, or unknown */
	uint16_t flags;
};

size_t ts_sbt_reader_n_blocks(const struct ts_sbt_reader *reader);
const struct ts_sbt_block *ts_sbt_reader_block(const struct ts_sbt_reader *reader, size_t i);

/*
 * Calls on_rows() with the number of rows of each block that is read from now on. The call comes
 * from the reading thread; its purpose is a progress line. A block that is read twice counts twice.
 * NULL ends the calls.
 */
typedef void (*ts_sbt_rows_fn)(uint32_t n_rows, void *data);
void ts_sbt_reader_watch(struct ts_sbt_reader *reader, ts_sbt_rows_fn on_rows, void *data);

/*
 * While *flag is not 0, each function that reads a block returns -ECANCELED. Any thread or signal
 * handler may set *flag. The caller keeps it; NULL ends this. Returns the flag before, or NULL: a
 * function that sets its own flag for a while restores that one.
 */
const volatile int *ts_sbt_reader_cancel(struct ts_sbt_reader *reader, const volatile int *flag);

/*
 * Decodes block `i` to an array of its type's row struct; events are in order of start_ns. The
 * caller frees *ret_rows. TS_SBT_E_NOT_FOUND: no such block, or its type has no row struct.
 */
int ts_sbt_reader_decode(struct ts_sbt_reader *reader, size_t i, void **ret_rows,
			 uint32_t *ret_n_rows);

/*
 * Returns a string with a terminator. The string may contain NULs: *ret_n_bytes (if not NULL) is
 * its length. Returns NULL if there is no such string (id 0 is none), or if it cannot be read.
 */
const char *ts_sbt_reader_string(struct ts_sbt_reader *reader, uint32_t id, size_t *ret_n_bytes);

struct ts_sbt_stack {
	const uint64_t *frames; /* innermost first, as in proto/abi/record.h */
	uint32_t n_frames;
	uint32_t flags; /* TS_STACK_* */
};

/* Returns a stack. TS_SBT_E_NOT_FOUND: no such stack (id 0 is none). */
int ts_sbt_reader_stack(struct ts_sbt_reader *reader, uint32_t session, uint32_t id,
			struct ts_sbt_stack *ret_stack);

struct ts_sbt_blob {
	const uint8_t *bytes;
	uint32_t n_bytes;
	uint32_t flags; /* TS_BLOB_* */
	/* hash in the file; equals ts_hash128() of the bytes if they are intact */
	uint64_t hash[2];
};

/*
 * Returns a blob. The bytes are valid until the next call of this function, because only about 64
 * MiB of blobs are held. TS_SBT_E_NOT_FOUND: no such blob (0 is none). TS_SBT_E_CORRUPT: the block
 * is damaged.
 */
int ts_sbt_reader_blob(struct ts_sbt_reader *reader, uint32_t session, uint32_t blob,
		       struct ts_sbt_blob *ret_blob);

/* Returns the number of blobs of a session, which is also the highest blob number. */
uint32_t ts_sbt_reader_n_blobs(const struct ts_sbt_reader *reader, uint32_t session);

/*
 * Return sessions: by position in order of their number, or by number (NULL: there is no such
 * session). If a session has several rows, the last one is returned.
 */
size_t ts_sbt_reader_n_sessions(const struct ts_sbt_reader *reader);
const struct ts_row_session *ts_sbt_reader_session_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_session *ts_sbt_reader_session(const struct ts_sbt_reader *reader,
						   uint32_t session);

/* Threads by session, then id. */
struct ts_sbt_thread {
	uint32_t session;
	struct ts_row_thread row;
};
size_t ts_sbt_reader_n_threads(const struct ts_sbt_reader *reader);
const struct ts_sbt_thread *ts_sbt_reader_thread_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_thread *ts_sbt_reader_thread(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t thread);
/* Returns the number of threads of a session. */
size_t ts_sbt_reader_n_threads_of(const struct ts_sbt_reader *reader, uint32_t session);

/* Devices by session, then CUPTI's device id. */
struct ts_sbt_device {
	uint32_t session;
	struct ts_row_device row;
};
size_t ts_sbt_reader_n_devices(const struct ts_sbt_reader *reader);
const struct ts_sbt_device *ts_sbt_reader_device_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_device *ts_sbt_reader_device(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t device);

/* Modules by session, then in file order. */
struct ts_sbt_module {
	uint32_t session;
	struct ts_row_module row;
};
size_t ts_sbt_reader_n_modules(const struct ts_sbt_reader *reader);
const struct ts_sbt_module *ts_sbt_reader_module_at(const struct ts_sbt_reader *reader, size_t i);

/* Names that the application gave to objects, by session, then in file order. */
struct ts_sbt_name {
	uint32_t session;
	struct ts_row_name row;
};
size_t ts_sbt_reader_n_names(const struct ts_sbt_reader *reader);
const struct ts_sbt_name *ts_sbt_reader_name_at(const struct ts_sbt_reader *reader, size_t i);

/* Return a metadata value by its key (NULL: no such key), or an entry by its position. */
const char *ts_sbt_reader_metadata(struct ts_sbt_reader *reader, const char *key);
size_t ts_sbt_reader_n_metadata(const struct ts_sbt_reader *reader);
void ts_sbt_reader_metadata_at(struct ts_sbt_reader *reader, size_t i, const char **ret_key,
			       const char **ret_value);

/*
 * Returns the last checkpoint of a session. The caller frees *ret_bytes. TS_SBT_E_NOT_FOUND: the
 * session has none.
 */
int ts_sbt_reader_checkpoint(struct ts_sbt_reader *reader, uint32_t session, void **ret_bytes,
			     size_t *ret_n_bytes);

/*
 * Returns the items of a TS_ROW_STATE or TS_ROW_STATE_HEAD block: the bytes of all items, and the
 * length of each. The caller frees *ret_bytes and *ret_lengths. TS_SBT_E_NOT_FOUND: a block of
 * another type.
 */
int ts_sbt_reader_items(struct ts_sbt_reader *reader, size_t i, void **ret_bytes,
			uint32_t **ret_lengths, uint32_t *ret_n);

/*
 * Returns the origin of the trace's time: the earliest start of a session or event, without clock
 * and loss rows. Times that a person enters or reads count from the origin.
 */
uint64_t ts_sbt_reader_origin_ns(const struct ts_sbt_reader *reader);

/*
 * Totals of a trace, from the index or the block headers. Only loss rows, which are few, are
 * decoded.
 */
struct ts_sbt_summary {
	uint64_t counts[TS_ROW_COUNT];	     /* rows, by type */
	uint64_t durations_ns[TS_ROW_COUNT]; /* sum of end - start, by type */
	uint64_t bytes[TS_ROW_COUNT];	     /* sum of the bytes column, by type */
	uint64_t stored_bytes[TS_ROW_COUNT]; /* bytes that the file uses for blocks of each type */
	uint64_t lost[TS_LOSS_COUNT];	     /* by enum ts_loss_reason */
	/* start of the earliest event, without clock and loss rows; 0: no such event */
	uint64_t earliest_ns;
	uint64_t latest_ns;
};

/*
 * Returns the totals of a session; 0: of all sessions. The cost for one session is proportional to
 * its own blocks.
 */
int ts_sbt_reader_summary(struct ts_sbt_reader *reader, uint32_t session,
			  struct ts_sbt_summary *ret_summary);

/*
 * Selects the ids in struct ts_sbt_cursor_options that a row must have. Each id is compared with
 * the first column of that role in the row's type.
 */
#define TS_SBT_BY_DEVICE  (1u << 0)
#define TS_SBT_BY_CONTEXT (1u << 1)
#define TS_SBT_BY_STREAM  (1u << 2)
#define TS_SBT_BY_THREAD  (1u << 3)

/*
 * Options of a cursor. The cursor returns rows of these types that touch [from_ns, to_ns], that is
 * start <= to and end >= from. It decodes only blocks that overlap this window. With a filter, it
 * leaves out rows of types that lack a column of the filter. It does not decode most blocks without
 * a row of the filter's stream or thread, because summaries list the streams and threads of a
 * block. Ids of a device, context, stream or thread are unique only within a session.
 */
struct ts_sbt_cursor_options {
	uint64_t types;	  /* TS_ROW_BIT(type) of event types, ORed; 0: all events */
	uint32_t session; /* 0: all */
	uint32_t filter;  /* TS_SBT_BY_*, ORed; 0: no filter */
	uint64_t from_ns; /* absolute, as in the rows */
	uint64_t to_ns;	  /* 0: no limit */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t thread;
	const struct ts_sbt_resume *resume; /* NULL: from the beginning; must outlive the cursor */
};

/*
 * The position at which a caller continues. The caller has read all rows that start before
 * `start_ns`, and `begun` lists the blocks that begin before it and have rows left. The cursor
 * leaves out rows that start earlier, and does not decode other blocks that begin earlier. For the
 * types in early_types, the position is early_ns.
 */
struct ts_sbt_resume {
	uint64_t start_ns;
	uint64_t early_types; /* TS_ROW_BIT(type), ORed: these resume at early_ns */
	uint64_t early_ns;
	const uint64_t *begun; /* numbers of blocks, ascending */
	size_t n_begun;
};

struct ts_sbt_row {
	uint32_t type; /* enum ts_row_type */
	uint32_t session;
	const struct ts_row_schema *schema;
	union {
		const void *any;
		const struct ts_row_api *api;
		const struct ts_row_kernel *kernel;
		const struct ts_row_memcpy *memcpy_;
		const struct ts_row_memset *memset_;
		const struct ts_row_sync *sync;
		const struct ts_row_memory *memory;
		const struct ts_row_event *event;
		const struct ts_row_stream_wait *stream_wait;
		const struct ts_row_stream *stream;
		const struct ts_row_context *context;
		const struct ts_row_graph_launch *graph_launch;
		const struct ts_row_mark *mark;
		const struct ts_row_range *range;
		const struct ts_row_counter *counter;
		const struct ts_row_clock *clock;
		const struct ts_row_loss *loss;
		const struct ts_row_overhead *overhead;
		const struct ts_row_gpu_module *gpu_module;
		const struct ts_row_yield *yield;
		const struct ts_row_range_begin *range_begin;
		const struct ts_row_pause *pause;
		const struct ts_row_access *access;
		const struct ts_row_off_cpu *off_cpu;
		const struct ts_row_page_fault *page_fault;
		const struct ts_row_syscall *syscall;
		const struct ts_row_arguments *arguments;
		const struct ts_row_block_io *block_io;
		const struct ts_row_pressure *pressure;
		const struct ts_row_driver *driver;
		const struct ts_row_sample *sample;
		const struct ts_row_operation *operation;
	};
};

/*
 * Creates a cursor. A cursor returns rows of several types and sessions in order of start_ns; rows
 * with the same start are in order of type, then of their position in the file. Blocks are
 * decompressed when their rows are due. The cursor holds about 128 MiB of them at most, however
 * many overlap. `options` NULL: all events. The cursor refers to the reader.
 */
int ts_sbt_cursor_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_cursor **ret_cursor);

/*
 * Sets the limit for the bytes of open blocks, instead of 128 MiB. The memory that the present row
 * needs is held in any case.
 */
void ts_sbt_cursor_limit(struct ts_sbt_cursor *cursor, uint64_t max_bytes);

/* Frees the cursor. Accepts NULL. */
void ts_sbt_cursor_free(struct ts_sbt_cursor *cursor);
TS_DEFINE_CLEANUP(struct ts_sbt_cursor *, ts_sbt_cursor_freep, ts_sbt_cursor_free)

/*
 * Returns the next row; it is valid until the next call. TS_SBT_E_END: there are no more rows.
 * TS_SBT_E_CORRUPT: a block is damaged (see ts_sbt_reader_error()); its remaining rows are left
 * out, and the next call continues with other blocks. A block that is too damaged to know what it
 * had may have had rows for any cursor: the first call reports it. TS_SBT_E_LIMIT: more than 16,384
 * blocks overlap at this time; each further call returns the same.
 */
int ts_sbt_cursor_next(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row);

/* Returns the number of the block that holds the last returned row. */
size_t ts_sbt_cursor_block(const struct ts_sbt_cursor *cursor);

/* Returns the number of blocks decoded so far. A block that was decoded twice counts twice. */
uint64_t ts_sbt_cursor_decoded(const struct ts_sbt_cursor *cursor);

/* The types whose rows can be summed by name. */
#define TS_SBT_TOTAL_TYPES                                                                \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | \
	 TS_ROW_BIT(TS_ROW_MEMSET) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_RANGE))

/* Sum of the rows of one name. */
struct ts_sbt_total {
	uint32_t type; /* enum ts_row_type */
	uint32_t reserved;
	uint64_t key; /* the name, see ts_sbt_total_row() */
	uint64_t count;
	uint64_t duration_ns; /* sum of end - start; saturated, like `bytes` */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bytes;
};

struct ts_sbt_totals;

/*
 * Sums the rows that a cursor with these options would return, by type and name. Names are: kernels
 * by name, API calls by function, copies by kind, all memsets together, synchronisations by kind,
 * ranges by domain and name. Types that cannot be summed are left out.
 *
 * The sums come from summaries. A block is decoded only if it lies partly outside the window, or if
 * it has no valid summary. With a filter, each block that may have rows for the filter is decoded.
 * The caller frees *ret_totals. TS_SBT_E_LIMIT: more than 1 Mi names.
 */
int ts_sbt_totals_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_totals **ret_totals);
/* Frees the totals. Accepts NULL. The reader may be freed before. */
void ts_sbt_totals_free(struct ts_sbt_totals *totals);
TS_DEFINE_CLEANUP(struct ts_sbt_totals *, ts_sbt_totals_freep, ts_sbt_totals_free)

/*
 * Return the number of totals, and total `i` in ascending order of type and key; NULL: `i` is out
 * of range.
 */
size_t ts_sbt_totals_count(const struct ts_sbt_totals *totals);
const struct ts_sbt_total *ts_sbt_totals_at(const struct ts_sbt_totals *totals, size_t i);

/*
 * Return the number of decoded blocks, and the number of blocks that could not be decoded. No total
 * has the rows of a block that could not be decoded; ts_sbt_reader_error() describes the last such
 * block.
 */
uint64_t ts_sbt_totals_decoded(const struct ts_sbt_totals *totals);
uint64_t ts_sbt_totals_damaged(const struct ts_sbt_totals *totals);

/*
 * Fills `row`, the type's struct, with the fields that all rows of a total share. These are a
 * kernel's `name`, a call's `domain` and `cbid`, a copy's `copy_kind`, a synchronisation's
 * `sync_type`, or a range's `domain` and `name`. All other fields are 0.
 */
void ts_sbt_total_row(const struct ts_sbt_total *total, void *row);

/* Bytes of one column of one row type, summed over all blocks of this type. */
struct ts_sbt_size {
	const char *type_name;	 /* NULL: this reader does not know the type */
	const char *column_name; /* NULL: `column` is 0, or unknown to this reader */
	uint16_t type;
	/*
	 * Id of the column. 0: block headers, column directories, padding, and blocks whose
	 * columns could not be read.
	 */
	uint16_t column;
	uint32_t reserved;
	uint64_t n_rows; /* number of rows in the blocks that have the column */
	uint64_t encoded_bytes;
	uint64_t stored_bytes; /* the column's share of the blocks' bytes in the file */
};

struct ts_sbt_sizes;

/*
 * Measures the bytes of a file by type and column. All blocks of the session (0: of all sessions)
 * are read but not decoded. The stored bytes of a compressed block are shared out in proportion to
 * the columns' bytes before compression. The sum of all entries equals the sum of the blocks'
 * bytes. The caller frees *ret_sizes.
 */
int ts_sbt_sizes_new(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_sbt_sizes **ret_sizes);
/* Frees the sizes. Accepts NULL. The reader may be freed before. */
void ts_sbt_sizes_free(struct ts_sbt_sizes *sizes);
TS_DEFINE_CLEANUP(struct ts_sbt_sizes *, ts_sbt_sizes_freep, ts_sbt_sizes_free)

/*
 * Return the number of entries, and entry `i` in ascending order of type and column; NULL: `i` is
 * out of range.
 */
size_t ts_sbt_sizes_count(const struct ts_sbt_sizes *sizes);
const struct ts_sbt_size *ts_sbt_sizes_at(const struct ts_sbt_sizes *sizes, size_t i);

/* Returns the number of blocks whose columns could not be read. */
uint64_t ts_sbt_sizes_damaged(const struct ts_sbt_sizes *sizes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
