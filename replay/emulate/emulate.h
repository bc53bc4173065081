/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation: what a trace recorded, run again in virtual time, as it was or edited. No GPU, no clock: streams, engines and
 * threads of the host as a discrete-event simulation. Any trace will do; durations are the trace's.
 *
 * A program is made of a trace once (ts_emulate_read()) and run as often as one likes. In it:
 *   host     each thread's calls in order. What it did between two of them is a task of its own length. A thread that begins
 *            is taken to be begun by the session's first thread, and to be waited for by it where it ends within one of its
 *            gaps (both inferred: a trace does not have it)
 *   launch   an operation starts no earlier than its launch latency after its call began
 *   device   nor before what it stands behind, found as the calls are made in virtual time: its stream, events by version,
 *            the legacy default stream's rule, nodes of one launch of a graph; nor before an engine is free: copies by
 *            direction, kernels by the multiprocessors that they take, of several the one of the highest priority first: its
 *            stream's, of a graph's nodes that of the stream it is launched in (others' are not in a trace)
 *   wait     a call that waited in the trace returns when what it waited for is over, and some time to wake up
 * Of each operation the time from the end of what held it up to its start is known for the way in which it was held
 * up in the trace; for the other ways the trace's median is taken, unless the operation itself shows that it was less. So an
 * unedited program ends when the trace did, as far as nothing in it lies.
 *
 * What engines there are is what the trace shows: two copies that ran at once had two of them, and kernels at most as many
 * multiprocessors as the device has, or as they used. Kernels that run at once do not slow one another in other ways than
 * they did when recorded.
 *
 * Times are nanoseconds; those of results count from the program's start. One thread at a time for each program and result. Nothing
 * is printed; ids and times that lie make no cycle, no crash, and no more than `n_broken` and `n_unsure`.
 */
#pragma once

#include "replay/state/graph/state-graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most so many calls and operations: about 250 bytes each. */
#define TS_EMULATE_MAX_ITEMS ((size_t)TS_MAX_EMULATED)

struct ts_emulate_options {
	uint32_t session; /* 0: all */
	bool has_stream, has_ops;
	uint32_t stream;	    /* operations of this stream alone */
	uint64_t first_op, last_op; /* both included */
	uint64_t from_ns, to_ns;    /* absolute; of calls: when they began. 0: no limit */
	/*
	 * Is told how far it is, every few ten thousand rows or events: `done` rows were read, or, when the program is run, so much of
	 * `all` nanoseconds of virtual time, as far as that is known. What it returns, where that is not 0, ends it. Or NULL.
	 */
	int (*step)(void *data, uint64_t done, uint64_t all);
	void *step_data;
};

struct ts_emulate_program;

/* Errors: -ENOMEM, those of sbt/reader.h, TS_E_EMULATED (more items), TS_E_STREAMS, TS_E_THREADS. */
int ts_emulate_read(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
		    struct ts_emulate_program **ret_program);
/*
 * The same from rows that the caller has, in the order of their start; those of other types do nothing. `reader` tells of
 * devices; NULL: nothing is known of them. Once it is finished it can only be freed.
 */
struct ts_emulate_builder;

int ts_emulate_builder_new(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
			   struct ts_emulate_builder **ret_builder);
int ts_emulate_builder_feed(struct ts_emulate_builder *builder, const struct ts_sbt_row *row);
int ts_emulate_builder_finish(struct ts_emulate_builder *builder,
			      struct ts_emulate_program **ret_program);
void ts_emulate_builder_free(struct ts_emulate_builder *builder); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_builder *, ts_emulate_builder_freep, ts_emulate_builder_free)

void ts_emulate_program_free(struct ts_emulate_program *program); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_program *, ts_emulate_program_freep, ts_emulate_program_free)

/* What could not be told for sure of the trace. */
struct ts_emulate_doubts {
	uint64_t n_ops;	  /* operations that run */
	uint64_t n_calls; /* calls that run */
	uint64_t
		n_without_call; /* operations: they run behind what was before them in their stream */
	uint64_t n_without_device; /* calls whose operation is missing */
	uint64_t
		n_without_record; /* waits for an event whose record is missing: nothing is waited for */
	uint64_t
		n_before; /* started before what they had to wait for was over, or before their call */
	uint64_t
		n_not_waited; /* calls that returned before what they seem to have waited for was over */
	uint64_t
		n_backwards; /* calls that began before the thread's last one was over, ends before starts */
	uint64_t n_unexplained; /* nothing that is known held them up for more than a millisecond */
	uint64_t n_joins; /* threads whose begin or end was taken for a dependency of another's */
	bool is_damaged;  /* blocks were left out */
};

void ts_emulate_doubts(const struct ts_emulate_program *program, struct ts_emulate_doubts *ret);

/* ---- what if ------------------------------------------------------------------------------------ */

enum ts_emulate_edit_kind {
	TS_EMULATE_KERNEL = 1, /* kernels of a name take another time */
	TS_EMULATE_COPY,       /* copies of a direction do */
	TS_EMULATE_SET,	       /* memory sets do */
	TS_EMULATE_HOST,       /* the host does what it does between calls in another time */
	TS_EMULATE_CALL,    /* calls of a function take another time, but for what they wait for */
	TS_EMULATE_LAUNCH,  /* the time from a call to the start of what nothing else holds up */
	TS_EMULATE_NO_SYNC, /* calls of a function do not wait, nor are they made */
	TS_EMULATE_NO_SYNC_OP, /* the call with this operation id */
	TS_EMULATE_GRAPH, /* each run of launches in a thread, nothing waited for between, is one launch of a graph */
	TS_EMULATE_MERGE, /* what is put into one stream is put into another */
	TS_EMULATE_SPLIT, /* operations of a stream take turns in several */
	TS_EMULATE_PINNED, /* copies from and to pageable memory are as fast as pinned ones, and asynchronous */
	TS_EMULATE_H2D_ENGINES, /* engines that copy to the device */
	TS_EMULATE_D2H_ENGINES,
	TS_EMULATE_MULTIPROCESSORS,
};

#define TS_EMULATE_TEXT_BYTES 192

struct ts_emulate_edit {
	uint32_t kind; /* enum ts_emulate_edit_kind */
	bool is_time;  /* `time_ns` each, instead of `factor` times as long */
	double factor; /* of a duration */
	uint64_t time_ns;
	uint64_t
		first; /* NO_SYNC_OP: operation id; GRAPH: at most so many launches, 0: all; MERGE, SPLIT: the stream */
	uint64_t
		second; /* MERGE: the other stream; SPLIT: in how many; engines and multiprocessors: how many */
	double bytes_per_s;		     /* PINNED: 0: as the trace's own pinned copies */
	char pattern[TS_EMULATE_TEXT_BYTES]; /* of names, with * and ?; "" is all */
};

/*
 * One edit as a person writes it; `ts_emulate_edit_help` lists the forms. -EINVAL: *ret_message, of TS_EMULATE_TEXT_BYTES, says
 * what is wrong with it.
 */
int ts_emulate_edit_parse(const char *text, struct ts_emulate_edit *ret_edit, char *ret_message);
extern const char *const ts_emulate_edit_help;

/* ---- running it --------------------------------------------------------------------------------- */

/* What names are matched and shown: of kernels by string id, of functions by domain << 16 | cbid. NULL: not known. */
struct ts_emulate_names {
	const char *(*kernel)(void *user, uint32_t name);
	const char *(*function)(void *user, uint32_t name);
	void *user;
};

enum ts_emulate_engine_kind {
	TS_EMULATE_COMPUTE = 0,
	TS_EMULATE_H2D,
	TS_EMULATE_D2H,
	TS_EMULATE_D2D,
	TS_EMULATE_PEER,
	TS_EMULATE_MEMSET,
	TS_EMULATE_ENGINE_KINDS
};

/* "compute", "htod"; NULL for other numbers. */
const char *ts_emulate_engine_name(uint32_t kind);

struct ts_emulate_stream {
	uint32_t session, device, context, stream;
	uint64_t n_ops;
	uint64_t busy_ns; /* at least one operation ran */
};

struct ts_emulate_engine {
	uint32_t session, device,
		kind;	   /* enum ts_emulate_engine_kind, the first of those that share it */
	uint32_t kinds;	   /* bits */
	uint32_t capacity; /* operations at once; compute: multiprocessors; 0: no limit is known */
	uint64_t n_ops;
	uint64_t busy_ns; /* at least one operation had it */
	uint64_t used_ns; /* times as much of it as each took */
};

struct ts_emulate_step {
	uint64_t op_id;
	uint64_t from_ns, to_ns;
	uint32_t part; /* enum ts_graph_part */
	uint32_t session;
	uint32_t type;	 /* TS_ROW_KERNEL, ...; TS_ROW_API: the host's */
	uint32_t name;	 /* as struct ts_graph_node has it */
	uint32_t thread; /* of the host's; 0: not known */
	uint32_t stream; /* of operations; TS_NO_DEVICE */
};

struct ts_emulate_result {
	uint64_t makespan_ns; /* from the first start of a call or an operation to the last end */
	uint64_t n_ops, n_calls;
	uint64_t n_broken; /* what waited for one another in a circle and was let go */
	uint64_t n_edited; /* operations and calls that the edits changed */
	struct ts_emulate_stream *streams; /* with operations */
	size_t n_streams;
	struct ts_emulate_engine *engines; /* with operations */
	size_t n_engines;
	struct ts_emulate_step
		*path; /* the critical path, in the order of time; leaves no time out */
	size_t n_path;
	uint64_t parts_ns[TS_GRAPH_PARTS]; /* of the path */
};

/*
 * Runs the program with the edits made, in their order; none is the program as it was. `names` may be NULL where no edit has
 * a pattern. -EINVAL: an edit fits nothing in the trace, or lacks something; *ret_message, of TS_EMULATE_TEXT_BYTES, says which
 * and why. -ENOMEM.
 */
int ts_emulate_run(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		   size_t n_edits, const struct ts_emulate_names *names,
		   struct ts_emulate_result **ret_result, char *ret_message);
/* The same figures, as they were recorded; it has no path. -ENOMEM. */
int ts_emulate_recorded(const struct ts_emulate_program *program,
			struct ts_emulate_result **ret_result);
void ts_emulate_result_free(struct ts_emulate_result *result); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_result *, ts_emulate_result_freep, ts_emulate_result_free)

#ifdef __cplusplus
}
#endif
