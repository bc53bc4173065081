/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies definitions from a session's arena to its trace. session-round.c calls this module in each
 * round. This module calls ts_arena_read() (ingest/arena.c) with a sink, whose functions add each
 * definition to the file.
 */
#include "daemon/generated-definitions.h"
#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"

/*
 * The memory of a string, beyond its bytes and DEFINITION_BYTES: a slot in the file's string table,
 * and up to three free slots for each used one.
 */
#define STRING_BYTES 48u

/*
 * Converts the result of a sink function. A full file accepts no definition, but the peer is not at
 * fault. So SESSION_E_FULL becomes 0 here, and ts_session_read_arena() checks s->full after it has
 * read the arena.
 */
static int sink_failed(struct ts_session *s, int r)
{
	r = r < 0 ? ts_session_write_failed(s, r) : r;
	return r == SESSION_E_FULL ? 0 : r;
}

/* Writes the pending definitions if there are many, because they use the daemon's memory. */
static int sink_added(struct ts_session *s, int r)
{
	if (!r && ts_sbt_session_writer_pending_bytes(s->writer) >= SESSION_PENDING_BYTES) {
		/*
		 * An earlier write during this reading has cleared s->dirty. Set it again, because
		 * this definition is not written yet.
		 */
		ts_session_dirty(s);
		r = ts_session_write(s);
	}
	return sink_failed(s, r);
}

static bool sink_grant(void *data, uint64_t n_bytes)
{
	struct ts_session *s = data;
	bool granted = ts_session_grant(s, n_bytes);

	s->dropped_definitions += !granted;
	return granted;
}

static int sink_rest(void *data)
{
	return ts_session_account(data);
}

static int sink_string(void *data, const char *bytes, uint32_t n_bytes, uint32_t *ret_id)
{
	struct ts_session *s = data;

	*ret_id = TS_ID_UNKNOWN;
	if (!ts_session_charge(s, n_bytes + STRING_BYTES))
		return 0;
	return sink_failed(s, ts_sbt_writer_string(s->recording->writer, bytes, n_bytes, ret_id));
}

static int sink_stack(void *data, const uint64_t *frames, uint32_t n_frames, uint32_t flags,
		      uint32_t *ret_id)
{
	struct ts_session *s = data;

	*ret_id = TS_ID_UNKNOWN;
	/*
	 * The frames go to the file at once, so only the fixed cost of the definition is charged.
	 */
	if (!ts_session_charge(s, 0))
		return 0;
	return sink_added(s, ts_sbt_session_writer_add_stack(s->writer, frames, n_frames,
							     flags & TS_STACK_TRUNCATED, ret_id));
}

static uint64_t host_time(struct ts_session *s, uint64_t ticks)
{
	if (!ticks || s->memory.host_clock == TS_CLOCK_MONOTONIC)
		return ticks;
	return ts_clock_table_convert(&s->host_clock, ticks);
}

static int sink_thread(void *data, const struct ts_definition_thread *thread, uint32_t name,
		       uint32_t *ret_id)
{
	struct ts_session *s = data;
	struct ts_row_thread row;
	int r;

	*ret_id = TS_ID_UNKNOWN;
	if (!ts_session_charge(s, 0))
		return 0;
	definition_thread(thread, host_time(s, thread->time), name, &row);
	r = ts_sbt_session_writer_add_thread(s->writer, &row, ret_id);
	if (!r)
		ts_session_kernel_thread(s, thread->tid, *ret_id);
	return sink_added(s, r);
}

static int sink_device(void *data, const struct ts_definition_device *device, uint32_t name)
{
	struct ts_row_device row;

	definition_device(device, name, &row);
	return sink_added(data, ts_session_add_row(data, TS_ROW_DEVICE, &row));
}

static int sink_module(void *data, const struct ts_definition_module *module, uint32_t path)
{
	struct ts_session *s = data;
	struct ts_row_module row;

	definition_module(module, host_time(s, module->time), path, &row);
	return sink_added(s, ts_session_add_row(s, TS_ROW_MODULE, &row));
}

static int sink_name(void *data, const struct ts_definition_name *definition, uint32_t domain,
		     uint32_t name)
{
	struct ts_session *s = data;
	struct ts_row_name row;

	definition_name(definition, host_time(s, definition->time), domain, name, &row);
	return sink_added(s, ts_session_add_row(s, TS_ROW_NAME, &row));
}

static int kernel_facts_begin(struct ts_session *s)
{
	const struct ts_kernel_facts_options options = {
		.pid = (pid_t)s->row.pid,
		.uid = s->row.uid,
	};

	return s->kernel_facts ? 0 : ts_kernel_facts_new(&options, &s->kernel_facts);
}

static int sink_code(void *data, const struct ts_definition_code *code, const char *path,
		     const char *target, const uint8_t *bytes)
{
	struct ts_session *s = data;
	int r = kernel_facts_begin(s);

	return r ?: ts_kernel_facts_add_code(s->kernel_facts, code, path, target, bytes);
}

static int sink_function(void *data, const struct ts_definition_function *function,
			 const char *name)
{
	struct ts_session *s = data;
	int r = kernel_facts_begin(s);

	return r ?: ts_kernel_facts_add_function(s->kernel_facts, function, name);
}

int ts_session_fill_kernel(struct ts_session *s, uint32_t function, struct ts_row_kernel *row)
{
	const struct ts_kernel_numbers *numbers;
	const char *why;
	int r = 0;

	if (!s->kernel_facts)
		return 0;
	numbers = ts_kernel_facts_find(s->kernel_facts, function);
	if (numbers) {
		row->registers_per_thread = (uint16_t)numbers->registers_per_thread;
		row->static_shared_bytes = numbers->static_shared_bytes;
		row->local_bytes_per_thread = numbers->local_bytes_per_thread;
	} else if (!s->code_reported && ts_kernel_facts_unread(s->kernel_facts, &why)) {
		s->code_reported = true;
		r = ts_sbt_writer_metadata(s->recording->writer, TS_METADATA_UNREAD_CODE, why);
	}
	return r ? ts_session_write_failed(s, r) : 0;
}

int ts_session_read_arena(struct ts_session *s)
{
	const struct ts_arena_sink sink = {
		.data = s,
		.string = sink_string,
		.stack = sink_stack,
		.thread = sink_thread,
		.device = sink_device,
		.module = sink_module,
		.name = sink_name,
		.code = sink_code,
		.function = sink_function,
		.grant = sink_grant,
		.rest = sink_rest,
	};
	const struct ts_arena *arena = ts_memory_arena(&s->memory);
	/* Pairs with the producer's release of `published`. */
	uint64_t published = __atomic_load_n(&arena->published, __ATOMIC_ACQUIRE);
	int r;

	if (published == s->arena.position || s->arena_bad)
		return 0;
	ts_session_dirty(s);
	r = ts_arena_read(&s->arena, s->memory.fd, ts_memory_definitions_off(&s->memory),
			  s->memory.arena_bytes, published, &sink);
	if ((r == -EBADMSG || r == -EIO) && !s->write_error) {
		s->arena_bad = true;
		return ts_session_bad(s, "its definitions are malformed");
	}
	if (r || s->full)
		return r ? r : SESSION_E_FULL;
	r = ts_session_lose(s, TS_LOSS_ARENA_FULL, s->dropped_definitions, s->loss_ns);
	s->dropped_definitions = 0;
	if (r)
		return r;
	return ts_session_lose(s, TS_LOSS_BAD_DEFINITION, s->arena.n_bad - s->bad_definitions,
			       s->loss_ns)
		       ?: (s->bad_definitions = s->arena.n_bad, 0);
}
