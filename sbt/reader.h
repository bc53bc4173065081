/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace file: finished, cut, or still being written. Bytes from a stranger: everything is
 * checked before use, memory is bounded, nothing is printed.
 *
 * A reader and its cursors are used by one thread at a time. Several threads that read one file open it once each; all of
 * them, at the same time, from one descriptor if they like: readers have nothing in common, and read
 * with pread(): the descriptor's position neither matters nor moves. What a reader hands out (strings,
 * stacks, rows of sessions, threads, devices, modules) stays valid until the reader is freed or, all but
 * strings and stacks, until the next ts_sbt_reader_refresh().
 *
 * Functions return 0, a negative errno (the file could not be read, no memory), or TS_SBT_E_* (sbt/error.h);
 * ts_sbt_reader_error() then says what and where. Any of them may return TS_SBT_E_CORRUPT or
 * TS_SBT_E_LIMIT for a file that is not what it says.
 */
#pragma once

#include <stddef.h>

#include "sbt/error.h"
#include "sbt/schema.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The version of the format that is written, "SBT 1.0"; files of this major version can be read. */
#define TS_SBT_MAJOR 1
#define TS_SBT_MINOR 0

struct ts_sbt_reader;
struct ts_sbt_cursor;

enum ts_sbt_file_state {
	TS_SBT_FINISHED = 1,  /* index and end marker are there */
	TS_SBT_GROWING = 2,   /* a writer holds it: what is whole so far can be read */
	TS_SBT_TRUNCATED = 3, /* its writer is gone without finishing, or its end was cut off */
};

/*
 * Opens a trace. `fd` must be seekable (-ESPIPE) and stays the caller's; the reader keeps a duplicate. On failure
 * *ret_error, where not NULL, says what and where.
 * TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION: as named. Damage does not keep a file from opening: it ends the
 * list of blocks (see ts_sbt_reader_state() and ts_sbt_reader_tail()).
 */
int ts_sbt_reader_open(int fd, struct ts_sbt_reader **ret_reader, struct ts_sbt_error *ret_error);

void ts_sbt_reader_free(struct ts_sbt_reader *reader); /* NULL is fine; free its cursors first */
TS_DEFINE_CLEANUP(struct ts_sbt_reader *, ts_sbt_reader_freep, ts_sbt_reader_free)

/* Looks for what was appended since. Cursors made before do not see it. Nothing, once files were joined. */
int ts_sbt_reader_refresh(struct ts_sbt_reader *reader);

/*
 * A recording in several files (FORMAT.md): which of them this is. TS_SBT_E_NOT_FOUND: the first, or the only one.
 */
int ts_sbt_reader_part(const struct ts_sbt_reader *reader, struct ts_row_part *ret_part);

/* Whether `before` is the file of the same recording that comes right before `after`; neither was joined. */
bool ts_sbt_reader_is_before(const struct ts_sbt_reader *before, const struct ts_sbt_reader *after);

/*
 * Makes one of a recording's files: `before` are those before the reader's, the last one first, without a gap; they belong to
 * it then, whatever comes of it. From now on it reads as if all were one file: their blocks come first. How a file ended, its
 * tail and its format are the reader's own. No cursor may be there. TS_SBT_E_NOT_FOUND: one of them is not the file that comes
 * before; the reader is as it was.
 */
int ts_sbt_reader_join(struct ts_sbt_reader *reader, struct ts_sbt_reader **before,
		       size_t n_before);

/*
 * The name of the file of that number of the recording whose newest file is `path`, to be free()d; NULL: no memory, or
 * `path` has a number itself: then it is read alone.
 */
char *ts_sbt_part_path(const char *path, uint32_t number);

/* The last error of a function that returned one. */
const struct ts_sbt_error *ts_sbt_reader_error(const struct ts_sbt_reader *reader);

/*
 * Definitions that were asked for and could not be read look as if they had never been there. NULL: so far there were
 * none such; else where the first was. Those of sessions, threads, devices, modules and names are read when a file is opened, strings
 * and stacks when they are asked for.
 */
const struct ts_sbt_error *ts_sbt_reader_lost_definitions(const struct ts_sbt_reader *reader);

enum ts_sbt_file_state ts_sbt_reader_state(const struct ts_sbt_reader *reader);

/* Size of the file when last looked at, and how many bytes at its end are in no whole block. */
uint64_t ts_sbt_reader_file_bytes(const struct ts_sbt_reader *reader);
uint64_t ts_sbt_reader_tail_bytes(const struct ts_sbt_reader *reader);

/* "SBT 1.0": the version that the file says. */
const char *ts_sbt_reader_format(const struct ts_sbt_reader *reader);

/* Blocks, in the order of the file; the index and blocks of unknown types are among them. */
struct ts_sbt_block {
	uint64_t off;	       /* of its header in the file */
	uint64_t bytes;	       /* header, payload and padding */
	uint64_t raw_bytes;    /* of the payload when decompressed */
	uint64_t earliest_ns;  /* event blocks: earliest start */
	uint64_t latest_ns;    /* event blocks: latest end */
	uint64_t duration_ns;  /* event blocks: sum of end - start */
	uint64_t amount_bytes; /* sum of the type's TS_ROLE_BYTES column */
	uint32_t n_rows;
	uint32_t session;  /* 0: the whole file's */
	uint32_t first_id; /* strings and stacks: id of the first row; the others follow */
	uint16_t type;	   /* enum ts_row_type, or unknown */
	uint16_t flags;
};

size_t ts_sbt_reader_n_blocks(const struct ts_sbt_reader *reader);
const struct ts_sbt_block *ts_sbt_reader_block(const struct ts_sbt_reader *reader, size_t i);

/*
 * Calls on_rows() for each block that is read from now on, in the thread that reads, with the
 * number of rows in it: for a line that shows progress. A block that is read twice counts twice.
 * NULL: no more.
 */
typedef void (*ts_sbt_rows_fn)(uint32_t n_rows, void *data);
void ts_sbt_reader_watch(struct ts_sbt_reader *reader, ts_sbt_rows_fn on_rows, void *data);

/*
 * Decodes block i to an array of its type's row struct, to be free()d; events are in order of
 * start_ns. TS_SBT_E_NOT_FOUND: a type without a row struct.
 */
int ts_sbt_reader_decode(struct ts_sbt_reader *reader, size_t i, void **ret_rows,
			 uint32_t *ret_n_rows);

/*
 * Strings, terminated (and possibly with NULs inside: *ret_n_bytes, where not NULL, is the length).
 * NULL where there is no such string (id 0 is none) or it cannot be read.
 */
const char *ts_sbt_reader_string(struct ts_sbt_reader *reader, uint32_t id, size_t *ret_n_bytes);

struct ts_sbt_stack {
	const uint64_t *frames; /* innermost first, as in proto/abi/record.h */
	uint32_t n_frames;
	uint32_t flags; /* TS_STACK_* */
};

/* TS_SBT_E_NOT_FOUND: no such stack (id 0 is none). */
int ts_sbt_reader_stack(struct ts_sbt_reader *reader, uint32_t session, uint32_t id,
			struct ts_sbt_stack *ret_stack);

struct ts_sbt_blob {
	const uint8_t *bytes;
	uint32_t n_bytes;
	uint32_t flags;	  /* TS_BLOB_* */
	uint64_t hash[2]; /* as the file says: ts_hash128() of the bytes where it is right */
};

/*
 * A blob; its bytes are valid until the next call of this function: some 64 MiB of blobs are held. TS_SBT_E_NOT_FOUND: no such
 * blob (0 is none). TS_SBT_E_CORRUPT: its block is damaged.
 */
int ts_sbt_reader_blob(struct ts_sbt_reader *reader, uint32_t session, uint32_t blob,
		       struct ts_sbt_blob *ret_blob);

/* How many a session has, the highest number that there is. */
uint32_t ts_sbt_reader_n_blobs(const struct ts_sbt_reader *reader, uint32_t session);

/* Sessions, in order of their number; each as its last row tells. */
size_t ts_sbt_reader_n_sessions(const struct ts_sbt_reader *reader);
const struct ts_row_session *ts_sbt_reader_session_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_session *ts_sbt_reader_session(const struct ts_sbt_reader *reader,
						   uint32_t session); /* NULL: no such one */

/* Threads, by session, then id. */
struct ts_sbt_thread {
	uint32_t session;
	struct ts_row_thread row;
};
size_t ts_sbt_reader_n_threads(const struct ts_sbt_reader *reader);
const struct ts_sbt_thread *ts_sbt_reader_thread_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_thread *ts_sbt_reader_thread(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t thread);
/* How many a session has. */
size_t ts_sbt_reader_n_threads_of(const struct ts_sbt_reader *reader, uint32_t session);

/* Devices, by session, then CUPTI's id. */
struct ts_sbt_device {
	uint32_t session;
	struct ts_row_device row;
};
size_t ts_sbt_reader_n_devices(const struct ts_sbt_reader *reader);
const struct ts_sbt_device *ts_sbt_reader_device_at(const struct ts_sbt_reader *reader, size_t i);
const struct ts_row_device *ts_sbt_reader_device(const struct ts_sbt_reader *reader,
						 uint32_t session, uint32_t device);

/* Modules, by session, in the order of the file. */
struct ts_sbt_module {
	uint32_t session;
	struct ts_row_module row;
};
size_t ts_sbt_reader_n_modules(const struct ts_sbt_reader *reader);
const struct ts_sbt_module *ts_sbt_reader_module_at(const struct ts_sbt_reader *reader, size_t i);

/* What the application calls things, by session, in the order of the file. */
struct ts_sbt_name {
	uint32_t session;
	struct ts_row_name row;
};
size_t ts_sbt_reader_n_names(const struct ts_sbt_reader *reader);
const struct ts_sbt_name *ts_sbt_reader_name_at(const struct ts_sbt_reader *reader, size_t i);

/* Metadata: by key (NULL: no such one), or one after the other. */
const char *ts_sbt_reader_metadata(struct ts_sbt_reader *reader, const char *key);
size_t ts_sbt_reader_n_metadata(const struct ts_sbt_reader *reader);
void ts_sbt_reader_metadata_at(struct ts_sbt_reader *reader, size_t i, const char **ret_key,
			       const char **ret_value);

/*
 * The session's last checkpoint, to be free()d. TS_SBT_E_NOT_FOUND: it has none.
 */
int ts_sbt_reader_checkpoint(struct ts_sbt_reader *reader, uint32_t session, void **ret_bytes,
			     size_t *ret_n_bytes);

/*
 * The items of a block of type TS_ROW_STATE or TS_ROW_STATE_HEAD, to be free()d: their bytes, one after the other, and how many each has.
 * TS_SBT_E_NOT_FOUND: a block of another type.
 */
int ts_sbt_reader_items(struct ts_sbt_reader *reader, size_t i, void **ret_bytes,
			uint32_t **ret_lengths, uint32_t *ret_n);

/*
 * Where the trace's time begins: the earliest start of a session or of an event (clock and loss rows do not count).
 * Times that a person gives or reads count from here.
 */
uint64_t ts_sbt_reader_origin_ns(const struct ts_sbt_reader *reader);

/* Totals. From the index (or the block headers) alone, but for losses, whose few rows are decoded. */
struct ts_sbt_summary {
	uint64_t counts[TS_ROW_COUNT];	     /* rows, by type */
	uint64_t durations_ns[TS_ROW_COUNT]; /* sum of end - start, by type */
	uint64_t bytes[TS_ROW_COUNT];	     /* sum of the bytes column, by type */
	uint64_t stored_bytes[TS_ROW_COUNT]; /* of the file, by type of block */
	uint64_t lost[TS_LOSS_COUNT];	     /* by enum ts_loss_reason */
	uint64_t earliest_ns; /* of events other than clock and loss rows; 0 where there are none */
	uint64_t latest_ns;
};

/* Of one session, or of all (0). One session costs what its own blocks do. */
int ts_sbt_reader_summary(struct ts_sbt_reader *reader, uint32_t session,
			  struct ts_sbt_summary *ret_summary);

/* Which of the ids in struct ts_sbt_cursor_options a row must have: of its type's first column of that role. */
#define TS_SBT_BY_DEVICE  (1u << 0)
#define TS_SBT_BY_CONTEXT (1u << 1)
#define TS_SBT_BY_STREAM  (1u << 2)
#define TS_SBT_BY_THREAD  (1u << 3)

/*
 * What a cursor yields: rows of these types that touch [from_ns, to_ns]: start <= to and end >= from. Only blocks that overlap
 * the window are decoded. With a filter, rows of types without such a column are left out, and so are, undecoded, most
 * blocks that have no row of that stream or thread: a file says of its blocks what they have. These ids are a session's.
 */
struct ts_sbt_cursor_options {
	uint64_t types;	  /* TS_ROW_BIT(type) of event types, ORed; 0: all events */
	uint32_t session; /* 0: all */
	uint32_t filter;  /* TS_SBT_BY_*, ORed; 0: rows of all */
	uint64_t from_ns; /* absolute, as in the rows */
	uint64_t to_ns;	  /* 0: no limit */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t thread;
	const struct ts_sbt_resume *resume; /* NULL: from the beginning; as long as the cursor is */
};

/*
 * Where somebody goes on who read all rows before once, and noted which blocks had rows left: rows that start earlier are left
 * out, and so are, undecoded, all blocks that begin earlier and are not among those noted. One type may begin earlier than the others.
 */
struct ts_sbt_resume {
	uint64_t start_ns;
	uint64_t early_types; /* TS_ROW_BIT(type), ORed: of these, from early_ns */
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
 * A cursor yields rows of several types and sessions in order of start_ns (at the same instant: by type, then in
 * the order of the file). Blocks are decompressed when their time comes; at most about 128 MiB of
 * them are held, however many overlap. `options` NULL: everything. It holds a pointer to the reader.
 */
int ts_sbt_cursor_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_cursor **ret_cursor);

/*
 * How many bytes of opened blocks the cursor may hold, where 128 MiB are not right. The few that the
 * row at hand needs are held in any case.
 */
void ts_sbt_cursor_limit(struct ts_sbt_cursor *cursor, uint64_t max_bytes);

void ts_sbt_cursor_free(struct ts_sbt_cursor *cursor);
TS_DEFINE_CLEANUP(struct ts_sbt_cursor *, ts_sbt_cursor_freep, ts_sbt_cursor_free)

/*
 * The next row; valid until the next call. TS_SBT_E_END: there is none. TS_SBT_E_CORRUPT: a block is
 * damaged (ts_sbt_reader_error()); it is left out from there on and the next call goes on with the others.
 * TS_SBT_E_LIMIT: more than 16,384 blocks overlap where it stands; it says so again if called again.
 */
int ts_sbt_cursor_next(struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row);

/* The number of the block that has the row handed out last. */
size_t ts_sbt_cursor_block(const struct ts_sbt_cursor *cursor);

/* How many blocks it has decoded so far; one counts again where it had to be decoded again. */
uint64_t ts_sbt_cursor_decoded(const struct ts_sbt_cursor *cursor);

/* Rows of these types can be summed by what they are called. */
#define TS_SBT_TOTAL_TYPES                                                                \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | \
	 TS_ROW_BIT(TS_ROW_MEMSET) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_RANGE))

/* The rows of one name. */
struct ts_sbt_total {
	uint32_t type; /* enum ts_row_type */
	uint32_t reserved;
	uint64_t key; /* the name: see ts_sbt_total_row() */
	uint64_t count;
	uint64_t duration_ns; /* sum of end - start, saturated, as are the bytes */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bytes;
};

struct ts_sbt_totals;

/*
 * Totals of the rows that a cursor with these options would yield, by type and name: kernels by name, API calls by function,
 * copies by kind, sets, waits by kind, ranges by domain and name. Types that cannot be summed are left out. Costs what is said
 * of the blocks beside them; decoded are those that lie partly outside the window, and those of which nothing is said. With a
 * filter all are decoded that may have such rows. TS_SBT_E_LIMIT: more than 1 Mi names.
 */
int ts_sbt_totals_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_totals **ret_totals);
void ts_sbt_totals_free(struct ts_sbt_totals *totals); /* NULL is fine; the reader may go before */
TS_DEFINE_CLEANUP(struct ts_sbt_totals *, ts_sbt_totals_freep, ts_sbt_totals_free)

/* In ascending order of type and key. NULL: there is none of that number. */
size_t ts_sbt_totals_count(const struct ts_sbt_totals *totals);
const struct ts_sbt_total *ts_sbt_totals_at(const struct ts_sbt_totals *totals, size_t i);

/* How many blocks were decoded; how many could not be (ts_sbt_reader_error() names the last): their rows are in no total. */
uint64_t ts_sbt_totals_decoded(const struct ts_sbt_totals *totals);
uint64_t ts_sbt_totals_damaged(const struct ts_sbt_totals *totals);

/* What all rows of a total have in common, to `row`, the type's struct: a kernel's `name`, a call's `domain` and `cbid`,
 * a copy's `copy_kind`, a wait's `sync_type`, a range's `domain` and `name`. All else is 0. */
void ts_sbt_total_row(const struct ts_sbt_total *total, void *row);

/* What a column takes, in all blocks of its type. */
struct ts_sbt_size {
	const char *type_name;	 /* NULL: a type that is not known, and not looked into */
	const char *column_name; /* NULL: not known, or no column's */
	uint16_t type;
	uint16_t
		column; /* its id; 0: headers, directories of columns, padding, and what could not be looked into */
	uint32_t reserved;
	uint64_t n_rows; /* of the blocks that have it */
	uint64_t encoded_bytes;
	uint64_t stored_bytes; /* its part of what the blocks take in the file */
};

struct ts_sbt_sizes;

/*
 * Where the bytes of a file go, by type and column: all blocks (of one session, or 0: of all) are read, not decoded. A compressed
 * block's bytes are shared out as the columns' are before compression. The sum of all is that of the blocks' bytes.
 */
int ts_sbt_sizes_new(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_sbt_sizes **ret_sizes);
void ts_sbt_sizes_free(struct ts_sbt_sizes *sizes); /* NULL is fine; the reader may go before */
TS_DEFINE_CLEANUP(struct ts_sbt_sizes *, ts_sbt_sizes_freep, ts_sbt_sizes_free)

/* In ascending order of type and column. NULL: there is none of that number. */
size_t ts_sbt_sizes_count(const struct ts_sbt_sizes *sizes);
const struct ts_sbt_size *ts_sbt_sizes_at(const struct ts_sbt_sizes *sizes, size_t i);

/* Blocks that could not be looked into. */
uint64_t ts_sbt_sizes_damaged(const struct ts_sbt_sizes *sizes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
