/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation runs a recorded trace again in virtual time, unchanged or edited. It needs no GPU and
 * no clock: streams, engines and host threads are a discrete-event simulation. Any trace works;
 * durations come from the trace.
 *
 * ts_emulate_read() makes a program of a trace. The program can run many times. The model:
 *   host     each thread makes its calls in order. The time between two calls is a task of fixed
 *            length. The main thread of a session is the first thread that begins with a real call.
 *            Another thread starts after a call of the main thread. If a thread ends between two
 *            calls of the main thread, the main thread waits for this end. A trace does not record
 *            thread starts and waits, so the emulation infers them
 *   launch   an operation starts no earlier than its launch latency after its call's start
 *   device   an operation waits for its predecessors. The emulation finds them when calls are
 *            made in virtual time: by the operation's stream, versions of events, the legacy
 *            default stream's rule, and the nodes of a graph launch. Then the operation waits for
 *            an engine: a copy for the engine of its direction, a kernel for multiprocessors. A
 *            ready kernel of higher priority goes first. A kernel has the priority of its stream.
 *            A graph node has the priority of the launch's stream, because a trace has no other
 *   wait     a call that waited in the trace returns when its operations are over, plus a wake-up
 *            time
 * The trace shows, for each operation, the cause that delayed it and the time from the end of the
 * cause to the operation's start. For all other causes the emulation uses the trace's median delay,
 * or less if the operation shows less. So an unedited program ends when the trace did, if its times
 * and ids are right.
 *
 * Engines follow from the trace: if two copies ran at once, there are two copy engines. Kernels
 * have the multiprocessors of the device, or as many as they used. Concurrent kernels slow each
 * other as they did in the trace, and not more.
 *
 * Times are nanoseconds; those of results count from the program's start. Programs and results are
 * not thread-safe. The library prints nothing. Wrong ids and times cause neither a hang nor a
 * crash; `n_broken` and the doubts count them.
 */
#pragma once

#include "replay/state/graph/state-graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limit on calls plus operations: about 100 bytes each in a program, 32 more in a run. */
#define TS_EMULATE_MAX_ITEMS ((size_t)TS_MAX_EMULATED)

struct ts_emulate_options {
	uint32_t session; /* 0: all */
	bool has_stream, has_ops;
	uint32_t stream;	    /* only operations of this stream */
	uint64_t first_op, last_op; /* inclusive */
	/* Only calls that start between these absolute times. 0: no limit. */
	uint64_t from_ns, to_ns;
	/*
	 * Reports progress after each TS_EMULATE_STEP rows or events; may be NULL. While reading,
	 * `done` counts rows. While running, `done` is virtual time and `all` its estimated end, in
	 * nanoseconds. A nonzero return value ends the operation, which then returns it.
	 */
	int (*step)(void *data, uint64_t done, uint64_t all);
	void *step_data;
};

struct ts_emulate_program;

/*
 * Makes a program of a trace. Returns 0, -ENOMEM, TS_E_EMULATED (too many items), TS_E_STREAMS,
 * TS_E_THREADS, the value of `step`, or the errors of sbt/reader.h. The caller frees *ret_program.
 */
int ts_emulate_read(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
		    struct ts_emulate_program **ret_program);
/*
 * Makes a program from rows of the caller, in the order of their start. Rows of types that
 * emulation does not use have no effect. `reader` provides devices; NULL: devices are unknown.
 * After _finish() the builder can only be freed.
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

/* Uncertain facts of the trace. */
struct ts_emulate_doubts {
	uint64_t n_ops;	  /* operations that run */
	uint64_t n_calls; /* calls that run */
	/* Operations without a call: each waits only for the previous operation of its stream. */
	uint64_t n_without_call;
	uint64_t n_without_device; /* calls without their operation */
	/* Waits for an event without a record: they wait for nothing. */
	uint64_t n_without_record;
	/*
	 * Operations that started before their call, or before the end of an operation on which
	 * they depend.
	 */
	uint64_t n_before;
	/* Calls that returned before the end of the operations that they seem to wait for. */
	uint64_t n_not_waited;
	/*
	 * Calls that began before the thread's previous call ended, and calls and operations that
	 * ended before their start.
	 */
	uint64_t n_backwards;
	/* Operations delayed for more than a millisecond without a known cause. */
	uint64_t n_unexplained;
	uint64_t n_joins; /* thread starts and joins that emulate-layout.c inferred */
	bool is_damaged;  /* damaged blocks were left out */
};

void ts_emulate_doubts(const struct ts_emulate_program *program, struct ts_emulate_doubts *ret);

/* ---- what if --------------------------------------------------------------------------------- */

enum ts_emulate_edit_kind {
	TS_EMULATE_KERNEL = 1, /* durations of kernels by name */
	TS_EMULATE_COPY,       /* durations of copies by direction */
	TS_EMULATE_SET,	       /* durations of memory sets */
	TS_EMULATE_HOST,       /* time of the host between calls */
	TS_EMULATE_CALL,       /* durations of calls by function, without their waits */
	TS_EMULATE_LAUNCH,     /* launch latency: from a call to its operation's start */
	/* calls of a function do not wait; a call that only waits is removed */
	TS_EMULATE_NO_SYNC,
	TS_EMULATE_NO_SYNC_OP, /* as NO_SYNC, for the call with this operation id */
	/*
	 * Replaces consecutive launches of a thread by one graph launch, if the thread does not
	 * wait between them.
	 */
	TS_EMULATE_GRAPH,
	TS_EMULATE_MERGE, /* moves the operations of one stream to another */
	TS_EMULATE_SPLIT, /* distributes the operations of a stream over several streams */
	/* Copies of pageable memory become as fast as pinned ones, and asynchronous. */
	TS_EMULATE_PINNED,
	TS_EMULATE_H2D_ENGINES, /* number of engines that copy to the device */
	TS_EMULATE_D2H_ENGINES,
	TS_EMULATE_MULTIPROCESSORS,
};

#define TS_EMULATE_TEXT_BYTES 192

struct ts_emulate_edit {
	uint32_t kind; /* enum ts_emulate_edit_kind */
	bool is_time;  /* `time_ns` is the new duration; else `factor` scales the old one */
	double factor; /* multiplies a duration */
	uint64_t time_ns;
	/*
	 * NO_SYNC_OP: operation id. GRAPH: maximum number of launches per graph, 0: all. MERGE,
	 * SPLIT: the stream.
	 */
	uint64_t first;
	/*
	 * MERGE: the other stream. SPLIT: number of streams. H2D_ENGINES, D2H_ENGINES,
	 * MULTIPROCESSORS: the new number.
	 */
	uint64_t second;
	double bytes_per_s;		     /* PINNED; 0: as the trace's pinned copies */
	char pattern[TS_EMULATE_TEXT_BYTES]; /* names, with * and ?; "": all */
};

/*
 * Parses one edit in the user's notation; `ts_emulate_edit_help` lists the forms. Returns 0, or
 * -EINVAL with a message in *ret_message, which holds TS_EMULATE_TEXT_BYTES.
 */
int ts_emulate_edit_parse(const char *text, struct ts_emulate_edit *ret_edit, char *ret_message);
extern const char *const ts_emulate_edit_help;

/* ---- running it ------------------------------------------------------------------------------ */

/*
 * Names for patterns and output: kernels by string id, functions by domain << 16 | cbid. The
 * functions return NULL for unknown names.
 */
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

/* Returns the engine's name, such as "compute" or "htod"; NULL for other numbers. */
const char *ts_emulate_engine_name(uint32_t kind);

struct ts_emulate_stream {
	uint32_t session, device, context, stream;
	uint64_t n_ops;
	uint64_t busy_ns; /* time with at least one operation */
};

struct ts_emulate_engine {
	uint32_t session, device, kind; /* enum ts_emulate_engine_kind, the first of `kinds` */
	/* bit set of the kinds of operations that share the engine */
	uint32_t kinds;
	/* Concurrent operations; for compute, multiprocessors. 0: no known limit. */
	uint32_t capacity;
	uint64_t n_ops;
	uint64_t busy_ns; /* time with at least one operation */
	uint64_t used_ns; /* sum over operations of duration * demand */
};

struct ts_emulate_step {
	uint64_t op_id;
	uint64_t from_ns, to_ns;
	uint32_t part; /* enum ts_graph_part */
	uint32_t session;
	uint32_t type;	 /* TS_ROW_KERNEL, ...; TS_ROW_API: the host */
	uint32_t name;	 /* as in struct ts_graph_node */
	uint32_t thread; /* for a step of the host; 0: unknown */
	uint32_t stream; /* for an operation; else TS_NO_DEVICE */
};

struct ts_emulate_result {
	uint64_t makespan_ns; /* from the first start to the last end */
	uint64_t n_ops, n_calls;
	uint64_t n_broken;		   /* waits in a cycle that were released */
	uint64_t n_edited;		   /* operations and calls changed by edits */
	struct ts_emulate_stream *streams; /* with operations */
	size_t n_streams;
	struct ts_emulate_engine *engines; /* with operations */
	size_t n_engines;
	/* The critical path, without gaps: time and number of steps by part, and all steps. */
	uint64_t parts_ns[TS_GRAPH_PARTS], n_steps[TS_GRAPH_PARTS];
	uint64_t n_path;
	/* The longest steps, in time order; of equally long ones the earliest. */
	struct ts_emulate_step *longest;
	size_t n_longest;
};

/*
 * Applies the edits in their order to a copy of the program, and runs it. Without edits, runs the
 * program as recorded. `names` may be NULL if no edit has a pattern. The result has at most
 * `max_steps` steps of the path; SIZE_MAX: all. Returns 0, -ENOMEM, a value of `step`, or -EINVAL:
 * an edit matches nothing in the trace or lacks information. Then *ret_message, of
 * TS_EMULATE_TEXT_BYTES, explains it. The caller frees *ret_result.
 */
int ts_emulate_run(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		   size_t n_edits, const struct ts_emulate_names *names, size_t max_steps,
		   struct ts_emulate_result **ret_result, char *ret_message);
/* A call or an operation of a run. */
struct ts_emulate_time {
	uint64_t start_ns, end_ns; /* absolute, as if the run began when the program did */
	uint64_t op_id;
	uint32_t session;
	uint32_t type;			  /* TS_ROW_KERNEL, _MEMCPY, _MEMSET, or TS_ROW_API */
	uint32_t name;			  /* as in struct ts_graph_node */
	uint32_t copy_kind;		  /* MEMCPY */
	uint32_t device, context, stream; /* of an operation */
	uint32_t thread;		  /* of a call */
};

/*
 * Like ts_emulate_run(). Passes each call and each operation of the run to `take`, in no order, and
 * computes no path. A value of `take` other than 0 ends the function, which then returns it.
 */
int ts_emulate_run_times(const struct ts_emulate_program *program,
			 const struct ts_emulate_edit *edits, size_t n_edits,
			 const struct ts_emulate_names *names,
			 int (*take)(void *data, const struct ts_emulate_time *time), void *data,
			 struct ts_emulate_result **ret_result, char *ret_message);
/* Computes the same figures from the recorded times, without a path. Returns 0 or -ENOMEM. */
int ts_emulate_recorded(const struct ts_emulate_program *program,
			struct ts_emulate_result **ret_result);
void ts_emulate_result_free(struct ts_emulate_result *result); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_emulate_result *, ts_emulate_result_freep, ts_emulate_result_free)

#ifdef __cplusplus
}
#endif
