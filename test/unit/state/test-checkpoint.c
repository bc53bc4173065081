/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state from a checkpoint equals the state from the trace's start. The traces are generated;
 * some have missing halves, graph launches, streams whose kind is reported late, or calls that
 * never end. Instants of every kind are tested, and checkpoints that are damaged, forged, or from
 * another trace.
 */
#include "test/unit/harness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "replay/state/checkpoint/checkpoint.h"
#include "sbt/writer.h"
#include "test/unit/state/program.h"

/*
 * Number of successive programs, with some 13 calls each; a long trace has more calls than the
 * machine keeps.
 */
#define N_PROGRAMS 40
#define N_LONG	   200
#define N_TRACES   10
#define N_INSTANTS 125 /* of each: 1,250 in all */
#define EVERY	   48
#define MAX_BEFORE 8 /* files before the newest one */

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

struct trace {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *sessions[2];
	struct ts_sbt_session_writer *session;
	unsigned int kind; /* defects of the trace */
	uint64_t now_ns, op_id;
	uint64_t first_ns, last_ns;
	int before[MAX_BEFORE]; /* oldest first */
	unsigned int n_before;
};

enum {
	WITH_UNANSWERED = 1, /* device rows are missing now and then */
	WITH_UNCALLED = 2,   /* or API rows */
	WITH_LIES = 4,	     /* repeated ids, times that step back */
	WITH_GRAPHS = 8,
	WITH_SESSIONS = 16,
	LONG = 32,
	IN_FILES = 64,
};

static void add(struct trace *trace, unsigned int type, const void *row)
{
	uint64_t end_ns = ts_row_end_ns(ts_row_schema(type), row);

	ts_check_int(ts_sbt_session_writer_add_row(trace->session, type, row), 0);
	if (end_ns > trace->last_ns)
		trace->last_ns = end_ns;
	if (!below(40))
		ts_check_int(ts_sbt_session_writer_seal(trace->session, NULL, 0), 0);
}

static void add_graph(struct trace *trace, uint64_t op_id, uint32_t stream, uint64_t start_ns)
{
	struct ts_row_graph_launch launch = {.start_ns = start_ns,
					     .op_id = op_id,
					     .context = PROGRAM_CONTEXT,
					     .stream = stream,
					     .graph = 5};

	add(trace, TS_ROW_GRAPH_LAUNCH, &launch);
	for (unsigned int i = 0, n = 1 + below(4); i < n; i++) {
		struct ts_row_kernel node = {.start_ns = start_ns + below(60),
					     .op_id = op_id,
					     .context = PROGRAM_CONTEXT,
					     .stream = 20 + below(3),
					     .graph = 5,
					     .graph_node = 1 + i};

		node.end_ns = node.start_ns + 1 + below(40);
		add(trace, TS_ROW_KERNEL, &node);
	}
}

/*
 * Adds one row of a program, moved by these offsets; sometimes adds another row as well, or no row.
 */
static void add_moved(struct trace *trace, const struct ts_sbt_row *row, uint64_t by_ns,
		      uint64_t by_op)
{
	_Alignas(8) uint8_t bytes[TS_ROW_MAX_BYTES];
	struct ts_row_api *api = (void *)bytes;
	struct ts_row_kernel *kernel = (void *)bytes;

	if (row->type == TS_ROW_STREAM ||
	    (row->type == TS_ROW_KERNEL && trace->kind & WITH_UNANSWERED && !below(30)) ||
	    (row->type == TS_ROW_API && trace->kind & WITH_UNCALLED && !below(30)))
		return;
	memcpy(bytes, row->any, row->schema->row_bytes);
	for (unsigned int c = 0; c < row->schema->n_columns; c++) {
		const struct ts_column *column = &row->schema->columns[c];
		uint64_t value;

		memcpy(&value, bytes + column->offset, column->width < 8 ? 0 : 8);
		if (column->role == TS_ROLE_TIME_START || column->role == TS_ROLE_TIME_END)
			value += by_ns;
		else if (!strcmp(column->name, "op_id"))
			value += by_op;
		else
			continue;
		memcpy(bytes + column->offset, &value, 8);
	}
	if (row->type == TS_ROW_API) {
		api->thread = 1 + below(3);
		api->stack = below(9);
		/* Now and then a long call. */
		if (!below(60))
			api->end_ns += below(20000);
		if (!below(20)) {
			/*
			 * CUPTI times a synchronisation by another clock than its API row, so the
			 * synchronisation may seem to begin before the call.
			 */
			struct ts_row_sync sync = {.start_ns = api->start_ns - below(3) * 20,
						   .end_ns = api->end_ns,
						   .op_id = api->op_id,
						   .context = PROGRAM_CONTEXT,
						   .stream = below(4),
						   .sync_type = 1 + below(4)};

			add(trace, TS_ROW_SYNC, &sync);
		}
	}
	if (row->type == TS_ROW_KERNEL) {
		if (!below(90))
			kernel->end_ns += below(9000);
		if (trace->kind & WITH_LIES && !below(25))
			kernel->op_id -= below(40);
		if (trace->kind & WITH_LIES && !below(25))
			kernel->start_ns -= below(60);
		if (trace->kind & WITH_GRAPHS && !below(12)) {
			add_graph(trace, kernel->op_id, kernel->stream, kernel->start_ns);
			return;
		}
	}
	add(trace, row->type, bytes);
}

static void generate(struct program *program)
{
	uint64_t now = 1;

	program->n_items = 2 + below(PROGRAM_MAX_ITEMS - 1);
	for (unsigned int i = 0; i < program->n_items; i++) {
		static const enum item_kind kinds[] = {ITEM_OP,	  ITEM_OP,     ITEM_OP,
						       ITEM_OP,	  ITEM_RECORD, ITEM_WAIT,
						       ITEM_WAIT, ITEM_ALLOC,  ITEM_FREE,
						       ITEM_HOST};
		struct item *item = &program->items[i];

		*item = (struct item){.kind = kinds[below(TS_ARRAY_LEN(kinds))],
				      .stream = below(PROGRAM_STREAMS),
				      .object = below(PROGRAM_EVENTS),
				      .call_ns = now + 1 + below(6),
				      .latency_ns = 1 + below(8),
				      .duration_ns = 1 + below(30)};
		item->call_end_ns = item->call_ns + 1 + below(5);
		now = item->call_end_ns;
	}
}

static void add_streams(struct trace *trace)
{
	static const uint32_t flags[PROGRAM_STREAMS] = {3, 1, 1, 2};

	for (unsigned int i = 0; i < PROGRAM_STREAMS; i++) {
		struct ts_row_stream row = {.start_ns = trace->last_ns + 1,
					    .context = PROGRAM_CONTEXT,
					    .stream = i,
					    .stream_flags = flags[i]};

		add(trace, TS_ROW_STREAM, &row);
	}
}

static void add_program(struct trace *trace)
{
	static struct program program;

	generate(&program);
	program_run(&program);
	program_trace(&program);
	trace->session = trace->sessions[trace->kind & WITH_SESSIONS ? below(2) : 0];
	for (unsigned int i = 0; i < program.n_rows; i++)
		add_moved(trace, &program.rows[i], trace->now_ns, trace->op_id);
	/* The next program begins before this one is over. */
	trace->now_ns += 20 + below(200);
	trace->op_id += program.n_items;
}

/* Continues the trace in another file; returns its descriptor. */
static int go_on(struct trace *trace, int newest)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	trace->before[trace->n_before++] = newest;
	ts_check_int(ts_sbt_writer_continue(trace->writer, dup(fd), trace->n_before), 0);
	return fd;
}

static int write_trace(struct trace *trace, unsigned int kind)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);

	*trace = (struct trace){.kind = kind, .now_ns = 1000, .first_ns = 1000};
	ts_check_int(ts_sbt_writer_new(fd, &trace->writer), 0);
	for (int i = 0; i < 2; i++)
		ts_check_int(ts_sbt_session_writer_new(trace->writer, &row, &trace->sessions[i]),
			     0);
	for (unsigned int i = 0; i < (kind & LONG ? N_LONG : N_PROGRAMS); i++) {
		if (kind & IN_FILES && trace->n_before < MAX_BEFORE && !below(8))
			copy = go_on(trace, copy);
		add_program(trace);
	}
	for (int i = 0; i < 2; i++) {
		trace->session = trace->sessions[i];
		add_streams(trace);
		ts_check_int(ts_sbt_session_writer_seal(trace->session, NULL, 0), 0);
		ts_sbt_session_writer_free(trace->session);
	}
	ts_check_int(ts_sbt_writer_finish(trace->writer), 0);
	ts_sbt_writer_free(trace->writer);
	return copy;
}

static int copy_of(int fd)
{
	int copy = memfd_create("copy", MFD_CLOEXEC);
	struct stat status;
	uint8_t *bytes;

	ts_check_int(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	ts_check_int(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
	ts_check_int(pwrite(copy, bytes, (size_t)status.st_size, 0), status.st_size);
	free(bytes);
	return copy;
}

static struct ts_sbt_reader *open_trace(int fd)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

/* Joins the reader with n_before earlier files. */
static void join(struct ts_sbt_reader *reader, const struct trace *trace, unsigned int n_before)
{
	struct ts_sbt_reader *before[MAX_BEFORE];

	for (unsigned int i = 0; i < n_before; i++)
		before[i] = open_trace(trace->before[trace->n_before - 1 - i]);
	ts_check_int(ts_sbt_reader_join(reader, before, n_before), 0);
}

static void close_all(struct trace *trace, int fd)
{
	while (trace->n_before)
		close(trace->before[--trace->n_before]);
	close(fd);
}

static void add_checkpoints(const struct trace *trace, int fd, struct ts_state_checkpoints *made)
{
	struct ts_sbt_append *append;
	struct ts_sbt_error error;

	ts_check_int(ts_sbt_append_new(fd, &append, &error), 0);
	join(ts_sbt_append_reader(append), trace, trace->n_before);
	ts_check_int(ts_state_checkpoints_add(append, EVERY, made), 0);
	ts_check_int(ts_sbt_append_commit(append, &error), 0);
	ts_sbt_append_free(append);
}

/* ---- comparison ----------------------------------------------------------------------------- */

static void check_op(const struct ts_state_current *a, const struct ts_state_current *b)
{
	ts_check_int(a->phase, b->phase);
	ts_check_int(a->cause, b->cause);
	ts_check_int(a->by_op_id, b->by_op_id);
	ts_check_int(a->by_event, b->by_event);
	ts_check_int(a->since_ns, b->since_ns);
	ts_check_int(a->op.op_id, b->op.op_id);
	ts_check_int(a->op.number, b->op.number);
	ts_check_int(a->op.stream_number, b->op.stream_number);
	ts_check_int(a->op.call_ns, b->op.call_ns);
	ts_check_int(a->op.call_end_ns, b->op.call_end_ns);
	ts_check_int(a->op.start_ns, b->op.start_ns);
	ts_check_int(a->op.end_ns, b->op.end_ns);
	ts_check_int(a->op.session, b->op.session);
	ts_check_int(a->op.type, b->op.type);
	ts_check_int(a->op.thread, b->op.thread);
	ts_check_int(a->op.stack, b->op.stack);
	ts_check_int(a->op.device, b->op.device);
	ts_check_int(a->op.context, b->op.context);
	ts_check_int(a->op.stream, b->op.stream);
	ts_check_int(a->op.unsure, b->op.unsure);
	if (a->phase != TS_STATE_RUNNING) {
		ts_check_int(a->op.host_op_id, b->op.host_op_id);
		ts_check_int(a->op.host_over_ns, b->op.host_over_ns);
	}
	ts_check_int(a->op.n_dependencies, b->op.n_dependencies);
	for (uint32_t i = 0; i < a->op.n_dependencies; i++) {
		const struct ts_state_dependency *x = &a->op.dependencies[i];
		const struct ts_state_dependency *y = &b->op.dependencies[i];

		ts_check_int(x->op_id, y->op_id);
		ts_check_int(x->number, y->number);
		ts_check_int(x->end_ns, y->end_ns);
		ts_check_int(x->event, y->event);
		ts_check_int(x->kind, y->kind);
		ts_check_int(x->stream, y->stream);
	}
	if (a->op.type != TS_ROW_API)
		ts_check(!memcmp(&a->op.row, &b->op.row, ts_row_schema(a->op.type)->row_bytes));
}

static void check_same(const struct ts_state *a, const struct ts_state *b)
{
	ts_check_int(a->n_ops, b->n_ops);
	for (size_t i = 0; i < a->n_ops; i++)
		check_op(&a->ops[i], &b->ops[i]);
	ts_check_int(a->n_threads, b->n_threads);
	for (size_t i = 0; i < a->n_threads; i++) {
		ts_check_int(a->threads[i].session, b->threads[i].session);
		ts_check_int(a->threads[i].thread, b->threads[i].thread);
		ts_check(!memcmp(&a->threads[i].call, &b->threads[i].call,
				 sizeof(a->threads[i].call)));
		ts_check(!memcmp(&a->threads[i].sync, &b->threads[i].sync,
				 sizeof(a->threads[i].sync)));
	}
	ts_check_int(a->n_allocations, b->n_allocations);
	for (size_t i = 0; i < a->n_allocations; i++) {
		ts_check_int(a->allocations[i].session, b->allocations[i].session);
		ts_check(!memcmp(&a->allocations[i].row, &b->allocations[i].row,
				 sizeof(a->allocations[i].row)));
	}
	ts_check_int(a->n_events, b->n_events);
	for (size_t i = 0; i < a->n_events; i++) {
		ts_check_int(a->events[i].session, b->events[i].session);
		ts_check_int(a->events[i].stream, b->events[i].stream);
		ts_check_int(a->events[i].event, b->events[i].event);
		ts_check_int(a->events[i].recorded_ns, b->events[i].recorded_ns);
		ts_check_int(a->events[i].by_op_id, b->events[i].by_op_id);
		ts_check_int(a->events[i].due_ns, b->events[i].due_ns);
		ts_check_int(a->events[i].host_op_id, b->events[i].host_op_id);
	}
	ts_check_int(a->n_bad_frees, b->n_bad_frees);
	ts_check_int(a->is_cut, b->is_cut);
	ts_check_int(a->is_damaged, b->is_damaged);
}

static void check_instant(struct ts_sbt_reader *plain, struct ts_sbt_reader *reader, uint64_t at_ns)
{
	ts_cleanup(ts_state_freep) struct ts_state *a = NULL, *b = NULL;

	if (getenv("TS_TEST_VERBOSE"))
		fprintf(stderr, "at %" PRIu64 "\n", at_ns);
	ts_check_int(ts_state_at(plain, 0, at_ns, &a), 0);
	ts_check_int(ts_state_at(reader, 0, at_ns, &b), 0);
	ts_check(!a->is_checkpoint_bad);
	ts_check(!b->is_checkpoint_bad);
	check_same(b, a);
}

static void check_kind(unsigned int kind)
{
	struct ts_state_checkpoints made, found;
	struct ts_sbt_reader *plain, *reader;
	struct trace trace;
	int fd = write_trace(&trace, kind), copy = copy_of(fd);

	add_checkpoints(&trace, fd, &made);
	ts_check(made.n > 8);
	ts_check(!(kind & (WITH_UNANSWERED | WITH_LIES)) == !made.n_unanswered);
	plain = open_trace(copy);
	reader = open_trace(fd);
	join(plain, &trace, trace.n_before);
	join(reader, &trace, trace.n_before);
	ts_check_int(ts_state_checkpoints_find(plain, &found), TS_SBT_E_NOT_FOUND);
	ts_check_int(ts_state_checkpoints_find(reader, &found), 0);
	ts_check_int(found.n, made.n);
	for (unsigned int i = 0; i < ts_cases(N_INSTANTS); i++)
		check_instant(plain, reader,
			      trace.first_ns +
				      below((unsigned int)(trace.last_ns - trace.first_ns + 9)));
	ts_sbt_reader_free(plain);
	ts_sbt_reader_free(reader);
	close_all(&trace, fd);
	close(copy);
}

TS_TEST(the_state_from_a_checkpoint_is_that_from_the_start)
{
	static const unsigned int kinds[N_TRACES] = {
		LONG | WITH_GRAPHS,
		0,
		WITH_GRAPHS,
		WITH_GRAPHS | WITH_SESSIONS,
		WITH_UNANSWERED | WITH_GRAPHS,
		WITH_UNCALLED,
		WITH_LIES | WITH_SESSIONS,
		WITH_LIES | WITH_GRAPHS | WITH_SESSIONS,
		LONG | IN_FILES | WITH_GRAPHS,
		IN_FILES | WITH_LIES | WITH_SESSIONS,
	};

	for (unsigned int i = 0; i < N_TRACES; i++) {
		seed = i;
		if (getenv("TS_TEST_VERBOSE"))
			fprintf(stderr, "trace %u\n", i);
		check_kind(kinds[i]);
	}
}

/*
 * Checkpoints cover all files that were joined. If the oldest file is missing, or the newest is
 * read alone, the checkpoints belong to another trace.
 */
TS_TEST(those_of_other_files_are_not_used)
{
	struct ts_state_checkpoints made, found;
	struct trace trace;
	int fd;

	seed = 1;
	fd = write_trace(&trace, IN_FILES);
	ts_check(trace.n_before > 1);
	add_checkpoints(&trace, fd, &made);
	for (unsigned int n = 0; n <= trace.n_before; n++) {
		struct ts_sbt_reader *reader = open_trace(fd);

		join(reader, &trace, n);
		ts_check_int(ts_state_checkpoints_find(reader, &found),
			     n == trace.n_before ? 0 : TS_SBT_E_NOT_FOUND);
		ts_sbt_reader_free(reader);
	}
	close_all(&trace, fd);
}

/* ---- bad checkpoints ------------------------------------------------------------------------ */

static size_t find_block(const struct ts_sbt_reader *reader, unsigned int type)
{
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (ts_sbt_reader_block(reader, i)->type == type)
			return i;
	ts_check(!"there is such a block");
	return 0;
}

TS_TEST(one_that_is_damaged_is_not_used_and_that_is_said)
{
	static const unsigned int types[] = {TS_ROW_STATE, TS_ROW_STATE_HEAD};

	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++) {
		ts_cleanup(ts_state_freep) struct ts_state *a = NULL, *b = NULL;
		struct ts_state_checkpoints made;
		struct ts_sbt_reader *plain, *reader;
		struct trace trace;
		uint64_t at_ns, off;
		int fd = write_trace(&trace, 0), copy = copy_of(fd);
		uint8_t byte;

		add_checkpoints(&trace, fd, &made);
		plain = open_trace(copy);
		reader = open_trace(fd);
		/*
		 * Changes a byte in the middle of the block. The instant is that of the first
		 * checkpoint.
		 */
		off = ts_sbt_reader_block(reader, find_block(reader, types[i]))->off;
		off += ts_sbt_reader_block(reader, find_block(reader, types[i]))->bytes / 2;
		at_ns = ts_sbt_reader_block(reader, find_block(reader, TS_ROW_STATE))->earliest_ns;
		ts_check_int(pread(fd, &byte, 1, (off_t)off), 1);
		byte ^= 4;
		ts_check_int(pwrite(fd, &byte, 1, (off_t)off), 1);
		ts_check_int(ts_state_at(plain, 0, at_ns, &a), 0);
		ts_check_int(ts_state_at(reader, 0, at_ns, &b), 0);
		ts_check(b->is_checkpoint_bad);
		check_same(b, a);
		ts_sbt_reader_free(plain);
		ts_sbt_reader_free(reader);
		close(fd);
		close(copy);
	}
}

/* Copies of a trace's checkpoints. */
struct kept {
	uint8_t *head, *states;
	uint32_t *head_lengths, *lengths, n_heads, n;
	uint64_t time_ns;
};

static void keep(int fd, struct kept *kept)
{
	struct ts_sbt_reader *reader = open_trace(fd);
	size_t i = find_block(reader, TS_ROW_STATE);

	kept->time_ns = ts_sbt_reader_block(reader, i)->earliest_ns;
	ts_check_int(ts_sbt_reader_items(reader, i, (void **)(void *)&kept->states, &kept->lengths,
					 &kept->n),
		     0);
	i = find_block(reader, TS_ROW_STATE_HEAD);
	ts_check_int(ts_sbt_reader_items(reader, i, (void **)(void *)&kept->head,
					 &kept->head_lengths, &kept->n_heads),
		     0);
	ts_sbt_reader_free(reader);
}

/* Writes the first checkpoint with changed bytes, as if it had been made so. */
static void forge(int plain, const struct kept *kept, bool head_too)
{
	uint8_t *state = malloc(kept->lengths[0]), *head = malloc(kept->head_lengths[0]);
	int fd = copy_of(plain);
	struct ts_state *told = NULL;
	struct ts_sbt_append *append;
	struct ts_sbt_reader *reader;
	uint32_t n = kept->lengths[0];

	memcpy(state, kept->states, n);
	memcpy(head, kept->head, kept->head_lengths[0]);
	for (unsigned int k = 0, n_changed = 1 + below(4); k < n_changed; k++)
		state[below(n)] = below(3) ? (uint8_t)below(256) : 0xff;
	/* Version and fingerprint stay valid. */
	if (head_too)
		head[6 + below(kept->head_lengths[0] - 6)] = (uint8_t)below(256);
	if (!below(8))
		n = below(n);
	ts_check_int(ts_sbt_append_new(fd, &append, NULL), 0);
	ts_check_int(ts_sbt_append_item(append, TS_ROW_STATE, kept->time_ns, state, n), 0);
	ts_check_int(ts_sbt_append_item(append, TS_ROW_STATE_HEAD, kept->time_ns, head,
					kept->head_lengths[0]),
		     0);
	ts_check_int(ts_sbt_append_commit(append, NULL), 0);
	ts_sbt_append_free(append);
	reader = open_trace(fd);
	ts_check_int(ts_state_at(reader, 0, kept->time_ns + below(40), &told), 0);
	ts_state_free(told);
	ts_sbt_reader_free(reader);
	free(state);
	free(head);
	close(fd);
}

TS_TEST(one_that_was_made_up_does_no_harm)
{
	struct ts_state_checkpoints made;
	struct kept kept;
	struct trace trace;
	int fd, copy;

	seed = 1;
	fd = write_trace(&trace, WITH_GRAPHS | WITH_UNANSWERED);
	copy = copy_of(fd);
	add_checkpoints(&trace, fd, &made);
	keep(fd, &kept);
	for (unsigned int i = 0; i < ts_cases(400); i++)
		forge(copy, &kept, i % 4 == 0);
	free(kept.states);
	free(kept.lengths);
	free(kept.head);
	free(kept.head_lengths);
	close(fd);
	close(copy);
}

TS_TEST(those_of_another_trace_are_not_used)
{
	struct ts_state_checkpoints made, found;
	struct ts_sbt_append *append;
	struct ts_sbt_reader *reader;
	struct kept kept;
	struct trace trace;
	int fd, other;

	seed = 1;
	fd = write_trace(&trace, 0);
	other = write_trace(&trace, 0);
	add_checkpoints(&trace, fd, &made);
	keep(fd, &kept);
	ts_check_int(ts_sbt_append_new(other, &append, NULL), 0);
	ts_check_int(ts_sbt_append_item(append, TS_ROW_STATE, kept.time_ns, kept.states,
					kept.lengths[0]),
		     0);
	ts_check_int(ts_sbt_append_item(append, TS_ROW_STATE_HEAD, kept.time_ns, kept.head,
					kept.head_lengths[0]),
		     0);
	ts_check_int(ts_sbt_append_commit(append, NULL), 0);
	ts_sbt_append_free(append);
	reader = open_trace(other);
	ts_check_int(ts_state_checkpoints_find(reader, &found), TS_SBT_E_NOT_FOUND);
	ts_sbt_reader_free(reader);
	free(kept.states);
	free(kept.lengths);
	free(kept.head);
	free(kept.head_lengths);
	close(fd);
	close(other);
}
