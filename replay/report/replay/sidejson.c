/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes captured operations for verdicts. execjson.c, checkjson.c, schedulejson.c and
 * differencejson.c call this file; this file calls the resolver and stacks/.
 *
 * An operation, its call's API row and its device rows have the same op_id. The API row gives the
 * caller, and the device rows give the stream. These rows do not start before the call, so the
 * search begins shortly before the call's start time.
 */
#include "replay/report/replay/sidejson.h"

#include "proto/abi/base.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/codeplace.h"
#include "replay/report/stacks/stackjson.h"
#include "sbt/error.h"

#include <ctype.h>
#include <inttypes.h>

/*
 * An operation has its call's time. The search begins this much earlier, because two clock
 * conversions may differ.
 */
#define EARLIER_NS UINT64_C(10000000)

/* Facts about an operation, found in the rows of the trace. */
struct facts {
	bool has_call, has_stream;
	struct ts_row_api call;
	uint32_t stream;
};

static struct ts_resolver *resolver_of(struct ts_replay *replay)
{
	const struct ts_resolver_options options = {0};

	if (!replay->resolver && ts_resolver_new(replay->reader, &options, &replay->resolver))
		replay->resolver = NULL;
	return replay->resolver;
}

/* ---- names ----------------------------------------------------------------------------------- */

/*
 * Maps the handle of each function to the operation that created it. If several functions had the
 * same handle, the map keeps the last one.
 */
static void find_functions(struct ts_replay *replay)
{
	const struct ts_exec_program *program = replay->program;

	replay->has_functions = true;
	for (size_t i = 0; i < program->n; i++)
		if (program->operations[i].kind == TS_OPERATION_FUNCTION &&
		    ts_state_map_set(&replay->functions, 0, program->operations[i].object,
				     (uint32_t)i))
			return;
}

/*
 * Returns the operation that created the launched function. NULL if there is none, or if it comes
 * after the launch.
 */
static const struct ts_row_operation *function_of(struct ts_replay *replay,
						  const struct ts_row_operation *launch,
						  uint64_t handle)
{
	uint32_t at;

	if (!replay->has_functions)
		find_functions(replay);
	at = ts_state_map_find(&replay->functions, 0, handle);
	if (at == TS_STATE_MAP_NONE || at + 1 >= launch->sequence)
		return NULL;
	return &replay->program->operations[at];
}

/*
 * Returns the string id of a function's name, or 0. If the handle was derived from another
 * function's, the name is that function's.
 */
static uint32_t name_by_handle(struct ts_replay *replay, const struct ts_row_operation *launch)
{
	const struct ts_row_operation *row = launch;

	if (launch->kind != TS_OPERATION_LAUNCH)
		return 0;
	for (unsigned depth = 0; depth < 4; depth++) {
		row = function_of(replay, launch, depth ? row->parent : row->object);
		if (!row || row->name)
			return row ? row->name : 0;
	}
	return 0;
}

/*
 * Like name_by_handle(). In addition, searches all operations if a later function has the same
 * handle.
 */
static uint32_t kernel_name(struct ts_replay *replay, const struct ts_row_operation *launch)
{
	const struct ts_exec_program *program = replay->program;
	uint64_t function = launch->object;
	uint32_t name = name_by_handle(replay, launch);

	if (name)
		return name;

	for (uint64_t i = launch->kind == TS_OPERATION_LAUNCH ? launch->sequence : 0; i-- > 0;) {
		const struct ts_row_operation *row = &program->operations[i];

		if (row->kind != TS_OPERATION_FUNCTION || row->object != function)
			continue;
		if (row->name)
			return row->name;
		function = row->parent;
	}
	return 0;
}

const char *ts_sidejson_string(struct ts_replay *replay, uint32_t id)
{
	if (!id)
		return NULL;
	return resolver_of(replay) ? ts_resolver_kernel_name(replay->resolver, id)
				   : ts_sbt_reader_string(replay->reader, id, NULL);
}

const char *ts_sidejson_kernel(struct ts_replay *replay, const struct ts_row_operation *launch)
{
	return ts_sidejson_string(replay, kernel_name(replay, launch));
}

const char *ts_sidejson_signature(struct ts_replay *replay, const struct ts_row_operation *launch)
{
	return ts_sidejson_string(replay, name_by_handle(replay, launch));
}

const char *ts_sidejson_function(struct ts_replay *replay, const struct ts_row_operation *launch,
				 const char *name)
{
	uint32_t kernel = launch ? kernel_name(replay, launch) : 0;
	const char *whole = kernel ? ts_sbt_reader_string(replay->reader, kernel, NULL) : NULL;
	size_t n = strlen(name);

	/* The function is the kernel itself. `name` may be truncated. */
	if (whole && !strncmp(whole, name, n) && (!whole[n] || n + 1 >= TS_CHECK_NAME_BYTES))
		return ts_sidejson_kernel(replay, launch);
	return resolver_of(replay) ? ts_resolver_demangle(replay->resolver, name) : name;
}

static size_t length_of_word(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$')
		n++;
	return n;
}

char *ts_sidejson_text(struct ts_replay *replay, const char *text)
{
	char *whole = ts_pool_copy(&replay->pool, "");
	const char *name;

	while (resolver_of(replay) && (name = strstr(text, "_Z"))) {
		size_t n = length_of_word(name);
		char *word = ts_pool_printf(&replay->pool, "%.*s", (int)n, name);

		whole = ts_pool_printf(&replay->pool, "%s%.*s%s", whole, (int)(name - text), text,
				       ts_resolver_demangle(replay->resolver, word));
		text = name + n;
	}
	return ts_pool_printf(&replay->pool, "%s%s", whole, text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_of(const struct ts_row_operation *operation, const struct ts_sbt_row *row,
		  uint32_t *ret_stream)
{
	uint64_t op_id = operation->op_id;

	if (row->type == TS_ROW_KERNEL && operation->kind == TS_OPERATION_LAUNCH &&
	    row->kernel->op_id == op_id) {
		*ret_stream = row->kernel->stream;
		return true;
	}
	if (row->type == TS_ROW_MEMCPY && operation->kind == TS_OPERATION_COPY &&
	    row->memcpy_->op_id == op_id) {
		*ret_stream = row->memcpy_->stream;
		return true;
	}
	if (row->type == TS_ROW_MEMSET && operation->kind == TS_OPERATION_FILL &&
	    row->memset_->op_id == op_id) {
		*ret_stream = row->memset_->stream;
		return true;
	}
	return false;
}

static bool is_on_device(const struct ts_row_operation *operation)
{
	return operation->kind == TS_OPERATION_LAUNCH || operation->kind == TS_OPERATION_COPY ||
	       operation->kind == TS_OPERATION_FILL;
}

static void find_rows(struct ts_replay *replay, const struct ts_row_operation *operation,
		      uint64_t from_ns, struct facts *facts)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) |
			 TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET),
		.session = replay->program->session,
		.from_ns = from_ns,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	bool needs_stream = is_on_device(operation);
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(replay->reader, &options, &cursor);

	while (!r && !(facts->has_call && (facts->has_stream || !needs_stream))) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			r = 0;
		} else if (!r && row.type == TS_ROW_API) {
			if (row.api->op_id == operation->op_id && !facts->has_call) {
				facts->call = *row.api;
				facts->has_call = true;
			}
		} else if (!r && !facts->has_stream) {
			facts->has_stream = is_of(operation, &row, &facts->stream);
		}
	}
}

/*
 * Finds the stream's number: that of the last stream created with the same handle before the
 * operation. If all were created later, uses the first of them.
 */
static void find_stream(struct ts_replay *replay, const struct ts_row_operation *operation,
			struct facts *facts)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_STREAM),
						      .session = replay->program->session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(replay->reader, &options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT)
			r = 0;
		else if (!r && row.stream->handle == operation->stream_handle &&
			 row.stream->stream != TS_NO_DEVICE &&
			 (!facts->has_stream || row.stream->start_ns <= operation->start_ns)) {
			facts->has_stream = true;
			facts->stream = row.stream->stream;
		}
	}
}

static void find_facts(struct ts_replay *replay, const struct ts_row_operation *operation,
		       struct facts *facts)
{
	/*
	 * This operation has no call: the shim made it to restore memory at the start of a capture
	 * window.
	 */
	if (!operation->op_id)
		return;
	find_rows(replay, operation,
		  operation->start_ns > EARLIER_NS ? operation->start_ns - EARLIER_NS : 0, facts);
	if (!facts->has_call)
		find_rows(replay, operation, 0, facts);
	if (!facts->has_stream && is_on_device(operation) &&
	    operation->stream_handle > TS_OPERATION_STREAM_PER_THREAD)
		find_stream(replay, operation, facts);
}

/* ---- messages -------------------------------------------------------------------------------- */

static Ts__Rpc__ReplaySide *make_side(struct ts_replay *replay, const struct ts_row_operation *row)
{
	Ts__Rpc__ReplaySide *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	struct facts facts = {0};
	struct ts_codeplace place;
	char site[TS_CODEPLACE_BYTES];

	ts__rpc__replay_side__init(to);
	TS_RPC_SET(to, sequence, row->sequence);
	TS_RPC_SET(to, op_id, row->op_id);
	to->kind = ts_pool_copy(&replay->pool, ts_name_operation_kind(row->kind));
	TS_RPC_SET(to, stream_handle, row->stream_handle);
	to->name = ts_pool_copy(&replay->pool, ts_sidejson_kernel(replay, row));
	find_facts(replay, row, &facts);
	if (facts.has_stream)
		TS_RPC_SET(to, stream, facts.stream);
	if (!facts.has_call)
		return to;
	to->call = ts_pool_copy(&replay->pool, ts_name_api(facts.call.domain, facts.call.cbid));
	if (!resolver_of(replay))
		return to;
	to->stack = ts_stackjson_make(replay->resolver, &replay->pool, replay->program->session,
				      facts.call.stack, facts.call.start_ns);
	if (ts_codeplace_of(replay->resolver, replay->program->session, facts.call.stack,
			    facts.call.start_ns, to->name, &place)) {
		ts_codeplace_text(&place, site);
		to->site = ts_pool_copy(&replay->pool, site);
	}
	return to;
}

Ts__Rpc__ReplaySide *ts_sidejson_make(struct ts_replay *replay, uint64_t sequence, bool with_stack)
{
	const Ts__Rpc__ReplaySide **made = &replay->sides[sequence % TS_REPLAY_SIDES];
	Ts__Rpc__ReplaySide *to;

	if (!sequence || sequence > replay->program->n)
		return NULL;
	/* Uses a cache, because many decisions refer to the same operation. */
	if (!*made || (*made)->sequence != sequence)
		*made = make_side(replay, &replay->program->operations[sequence - 1]);
	to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	*to = **made;
	if (!with_stack)
		to->stack = NULL;
	return to;
}

const char *ts_sidejson_prefix(const Ts__Rpc__ReplaySide *side)
{
	return side->call && !strncmp(side->call, "cu", 2) && strncmp(side->call, "cuda", 4) != 0
		       ? "cu"
		       : "cuda";
}

const char *ts_sidejson_stream(struct ts_replay *replay, const Ts__Rpc__ReplaySide *side)
{
	if (side->has_stream)
		return ts_pool_printf(&replay->pool, "%sstream %" PRIu32,
				      side->stream_handle <= TS_OPERATION_STREAM_PER_THREAD
					      ? "default "
					      : "",
				      side->stream);
	if (side->stream_handle <= TS_OPERATION_STREAM_PER_THREAD)
		return "the default stream";
	return ts_pool_printf(&replay->pool, "the stream with handle 0x%" PRIx64,
			      side->stream_handle);
}

/*
 * Returns the remedy to create the other stream without the non-blocking flag, so that it waits for
 * the default stream. NULL unless exactly one of the two streams is a default stream.
 */
static char *without_flag(struct ts_replay *replay, const Ts__Rpc__ReplaySide *earlier,
			  const Ts__Rpc__ReplaySide *later)
{
	bool is_earlier = earlier->stream_handle == TS_OPERATION_STREAM_LEGACY;
	bool is_later = later->stream_handle == TS_OPERATION_STREAM_LEGACY;
	const Ts__Rpc__ReplaySide *other = is_earlier ? later : earlier;

	if (is_earlier == is_later)
		return NULL;
	return ts_pool_printf(&replay->pool,
			      "%s created without %s, so that it waits for the default stream",
			      ts_sidejson_stream(replay, other),
			      strcmp(ts_sidejson_prefix(other), "cu") ? "cudaStreamNonBlocking"
								      : "CU_STREAM_NON_BLOCKING");
}

size_t ts_sidejson_remedies(struct ts_replay *replay, const Ts__Rpc__ReplaySide *earlier,
			    const Ts__Rpc__ReplaySide *later, char ***ret_remedies)
{
	const char *from = ts_sidejson_stream(replay, earlier);
	const char *to = ts_sidejson_stream(replay, later);
	const char *prefix = ts_sidejson_prefix(later);
	char **remedies = ts_pool_alloc(&replay->pool, 3, sizeof(*remedies));

	remedies[0] = ts_pool_printf(&replay->pool,
				     "%sStreamWaitEvent(%s, event recorded in %s after operation "
				     "%" PRIu64 ") before operation %" PRIu64,
				     prefix, to, from, earlier->op_id, later->op_id);
	remedies[1] = ts_pool_printf(&replay->pool,
				     "%sStreamSynchronize(%s) after operation %" PRIu64
				     " and before operation %" PRIu64,
				     prefix, from, earlier->op_id, later->op_id);
	remedies[2] = without_flag(replay, earlier, later);
	*ret_remedies = remedies;
	return remedies[2] ? 3 : 2;
}
