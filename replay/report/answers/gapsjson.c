/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the gaps of replay/state to messages. `tsctl gaps` calls this file; this file calls
 * names/ and stacks/.
 */
#include "replay/report/answers/gapsjson.h"
#include "replay/report/answers/doubtsjson.h"

#include "proto/rpc/json.h"
#include "replay/report/answers/statejson.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>

struct maker {
	struct ts_resolver *resolver;
	const struct ts_codes *codes;
	struct ts_pool *pool;
	/*
	 * The thread that the last search found. Most parts belong to one thread, so find_thread()
	 * tries this thread first.
	 */
	const struct ts_sbt_thread *last;
};

/*
 * Returns the thread with this id, for its name. If the id was reused, returns the last thread with
 * this id.
 */
static const struct ts_sbt_thread *find_thread(struct maker *maker, uint32_t session, uint32_t tid)
{
	struct ts_sbt_reader *reader = ts_resolver_reader(maker->resolver);

	if (maker->last && maker->last->session == session && maker->last->row.tid == tid)
		return maker->last;
	for (size_t i = ts_sbt_reader_n_threads(reader); i--;) {
		maker->last = ts_sbt_reader_thread_at(reader, i);
		if (maker->last->session == session && maker->last->row.tid == tid)
			return maker->last;
	}
	return maker->last = NULL;
}

static char *or_number(struct maker *maker, const char *name, uint32_t number)
{
	return name ? ts_pool_copy(maker->pool, name)
		    : ts_pool_printf(maker->pool, "%" PRIu32, number);
}

static void set_thread(struct maker *maker, const struct ts_gap_key *key, Ts__Rpc__GapPart *message)
{
	const struct ts_sbt_thread *thread = find_thread(maker, key->session, key->tid);

	TS_RPC_SET(message, tid, key->tid);
	if (thread)
		message->thread_name =
			ts_pool_copy(maker->pool,
				     ts_resolver_thread_name(maker->resolver, key->session,
							     &thread->row));
}

static void set_off_cpu(struct maker *maker, const struct ts_gap_part *part,
			Ts__Rpc__GapPart *message)
{
	const struct ts_gap_key *key = &part->key;

	TS_RPC_SET(message, runnable_ns, part->runnable_ns);
	message->reason = or_number(maker, ts_name_off_cpu_reason(key->reason), key->reason);
	if (key->waker_context)
		message->waker_context = or_number(maker, ts_name_waker_context(key->waker_context),
						   key->waker_context);
	if (key->waker_tid)
		TS_RPC_SET(message, waker_tid, key->waker_tid);
	/* Another user's thread has a name and no number. */
	if (key->waker_tid || key->waker)
		message->waker =
			ts_pool_copy(maker->pool, ts_resolver_string(maker->resolver, key->waker));
}

static void set_code(struct maker *maker, const struct ts_gap_part *part, Ts__Rpc__GapPart *message)
{
	struct ts_code code;

	if (part->samples)
		TS_RPC_SET(message, samples, part->samples);
	if (!ts_codes_at(maker->codes, part->key.code, &code))
		return;
	message->function = ts_pool_copy(maker->pool, code.function);
	message->file = ts_pool_copy(maker->pool, code.file);
	if (code.line)
		TS_RPC_SET(message, line, code.line);
}

static Ts__Rpc__GapPart *make_part(struct maker *maker, const struct ts_gap_part *part)
{
	Ts__Rpc__GapPart *message = ts_pool_alloc(maker->pool, 1, sizeof(*message));
	const struct ts_gap_key *key = &part->key;

	ts__rpc__gap_part__init(message);
	message->cause = ts_pool_copy(maker->pool, ts_gap_cause_name(key->cause));
	TS_RPC_SET(message, ns, part->ns);
	TS_RPC_SET(message, count, part->count);
	/* A part that merges many small parts has neither session nor thread. */
	if (key->session)
		TS_RPC_SET(message, session, key->session);
	if (key->tid)
		set_thread(maker, key, message);
	if (key->cause == TS_GAP_OFF_CPU)
		set_off_cpu(maker, part, message);
	if (key->session && key->syscall != TS_NO_SYSCALL)
		message->syscall = or_number(maker, ts_name_syscall(key->syscall), key->syscall);
	if (key->file)
		message->file =
			ts_pool_copy(maker->pool, ts_resolver_string(maker->resolver, key->file));
	if (key->cause == TS_GAP_PAGE_FAULT) {
		message->fault = or_number(maker, ts_name_fault_kind(key->fault), key->fault);
		message->memory = or_number(maker, ts_name_fault_memory(key->memory), key->memory);
	}
	if (key->cause == TS_GAP_BLOCK_IO) {
		TS_RPC_SET(message, queued_ns, part->queued_ns);
		message->disk =
			ts_pool_copy(maker->pool, ts_resolver_string(maker->resolver, key->disk));
		message->operation =
			or_number(maker, ts_name_block_operation(key->operation), key->operation);
	}
	if (key->cause == TS_GAP_RECLAIM)
		message->reason =
			or_number(maker, ts_name_pressure_kind(key->operation), key->operation);
	if (key->domain)
		message->call = or_number(maker, ts_name_api(key->domain, key->cbid), key->cbid);
	set_code(maker, part, message);
	if (key->op_id)
		TS_RPC_SET(message, op_id, key->op_id);
	if (key->event)
		TS_RPC_SET(message, event, key->event);
	if (key->cause == TS_GAP_DEPENDENCY || key->cause == TS_GAP_DEVICE)
		TS_RPC_SET(message, stream, key->stream);
	return message;
}

/*
 * Makes messages of consecutive parts of depth `depth`, starting with part *i. A deeper part
 * becomes a child of the part that it explains.
 */
static Ts__Rpc__GapPart **make_parts(struct maker *maker, const struct ts_gap_parts *parts,
				     uint32_t depth, size_t *i, size_t *ret_n)
{
	size_t n = 0;
	Ts__Rpc__GapPart **messages;

	for (size_t j = *i; j < parts->n && parts->at[j].depth >= depth; j++)
		n += parts->at[j].depth == depth;
	messages = ts_pool_alloc(maker->pool, n + 1, sizeof(*messages));
	*ret_n = n;
	for (n = 0; *i < parts->n && parts->at[*i].depth >= depth;) {
		messages[n] = make_part(maker, &parts->at[(*i)++]);
		if (*i < parts->n && parts->at[*i].depth > depth)
			messages[n]->waker_did =
				make_parts(maker, parts, depth + 1, i, &messages[n]->n_waker_did);
		n++;
	}
	return messages;
}

static Ts__Rpc__Gap *make_gap(struct maker *maker, const struct ts_gap *gap, bool stacks)
{
	Ts__Rpc__Gap *message = ts_pool_alloc(maker->pool, 1, sizeof(*message));
	const struct ts_row_schema *schema = ts_row_schema(gap->op.type);
	size_t i = 0;

	ts__rpc__gap__init(message);
	TS_RPC_SET(message, start_ns, gap->start_ns);
	TS_RPC_SET(message, end_ns, gap->op.start_ns);
	TS_RPC_SET(message, session, gap->op.session);
	TS_RPC_SET(message, device, gap->op.device);
	TS_RPC_SET(message, context, gap->op.context);
	TS_RPC_SET(message, stream, gap->op.stream);
	TS_RPC_SET(message, before_op_id, gap->before_op_id);
	TS_RPC_SET(message, op_id, gap->op.op_id);
	message->type = ts_pool_copy(maker->pool, schema ? schema->name : NULL);
	message->name = ts_statejson_op_name(maker->resolver, maker->pool, &gap->op);
	if (gap->op.call_ns) {
		message->call =
			or_number(maker, ts_name_api(gap->op.domain, gap->op.cbid), gap->op.cbid);
		TS_RPC_SET(message, call_ns, gap->op.call_ns);
		TS_RPC_SET(message, call_end_ns, gap->op.call_end_ns);
	}
	ts_stackjson_thread(maker->resolver, maker->pool, gap->op.session, gap->op.thread,
			    &message->tid, &message->has_tid, &message->thread_name);
	message->parts = make_parts(maker, &gap->parts, 0, &i, &message->n_parts);
	TS_RPC_SET(message, truncated, gap->parts.is_cut);
	message->n_unsure = ts_statejson_unsure(maker->pool, gap->op.unsure, &message->unsure);
	if (stacks)
		message->stack = ts_stackjson_make(maker->resolver, maker->pool, gap->op.session,
						   gap->op.stack, gap->op.call_ns);
	if (gap->op.type == TS_ROW_KERNEL)
		ts_stackjson_hide_stub(message->stack, message->name);
	return message;
}

static Ts__Rpc__GapStream *make_stream(struct maker *maker, const struct ts_gap_stream *stream)
{
	Ts__Rpc__GapStream *message = ts_pool_alloc(maker->pool, 1, sizeof(*message));

	ts__rpc__gap_stream__init(message);
	TS_RPC_SET(message, session, stream->session);
	TS_RPC_SET(message, device, stream->device);
	TS_RPC_SET(message, context, stream->context);
	TS_RPC_SET(message, stream, stream->stream);
	TS_RPC_SET(message, operations, stream->n_ops);
	TS_RPC_SET(message, span_ns, stream->to_ns - stream->from_ns);
	TS_RPC_SET(message, busy_ns, stream->busy_ns);
	TS_RPC_SET(message, gaps, stream->n_gaps);
	TS_RPC_SET(message, gaps_ns, stream->gaps_ns);
	message->causes = ts_pool_alloc(maker->pool, TS_GAP_CAUSES, sizeof(*message->causes));
	for (unsigned cause = 0; cause < TS_GAP_CAUSES; cause++) {
		Ts__Rpc__GapPart *part;

		if (!stream->causes_ns[cause])
			continue;
		part = ts_pool_alloc(maker->pool, 1, sizeof(*part));
		ts__rpc__gap_part__init(part);
		part->cause = ts_pool_copy(maker->pool, ts_gap_cause_name(cause));
		TS_RPC_SET(part, ns, stream->causes_ns[cause]);
		message->causes[message->n_causes++] = part;
	}
	return message;
}

void ts_gapsjson_make(struct ts_resolver *resolver, const struct ts_codes *codes,
		      const struct ts_gaps *gaps, uint64_t least_ns, bool stacks,
		      struct ts_pool *pool, Ts__Rpc__GapsReport *ret_report)
{
	struct maker maker = {.resolver = resolver, .codes = codes, .pool = pool};
	size_t i = 0;

	ts__rpc__gaps_report__init(ret_report);
	TS_RPC_SET(ret_report, least_ns, least_ns);
	TS_RPC_SET(ret_report, gaps, gaps->n);
	TS_RPC_SET(ret_report, gaps_ns, gaps->ns);
	ret_report->streams =
		ts_pool_alloc(pool, gaps->n_streams + 1, sizeof(*ret_report->streams));
	while (ret_report->n_streams < gaps->n_streams) {
		ret_report->streams[ret_report->n_streams] =
			make_stream(&maker, &gaps->streams[ret_report->n_streams]);
		ret_report->n_streams++;
	}
	ret_report->parts = make_parts(&maker, &gaps->parts, 0, &i, &ret_report->n_parts);
	ret_report->longest =
		ts_pool_alloc(pool, gaps->n_longest + 1, sizeof(*ret_report->longest));
	while (ret_report->n_longest < gaps->n_longest) {
		ret_report->longest[ret_report->n_longest] =
			make_gap(&maker, &gaps->longest[ret_report->n_longest], stacks);
		ret_report->n_longest++;
	}
	TS_RPC_SET(ret_report, truncated, gaps->parts.is_cut);
	TS_RPC_SET(ret_report, not_looked_at, gaps->n_left);
	TS_RPC_SET(ret_report, not_looked_at_ns, gaps->left_ns);
	TS_RPC_SET(ret_report, damaged, gaps->is_damaged);
	ret_report->doubts = ts_doubtsjson_make(pool, &gaps->doubts);
}
