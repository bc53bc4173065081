/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions and answers as JSON: see ask-json.h. Bindings call this file. It reads the options into
 * the message that query.c or query-diff.c expects, and prints or draws the messages of the answer.
 */
#include "replay/report/ask-json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/abi/base.h"
#include "proto/rpc/json-read.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/rows/rowjson.h"

#define DEFAULT_MAX_BYTES ((size_t)1 << 30)

struct asking {
	struct ts_json *answer;
	size_t most;				/* length of the answer's text */
	const struct ts_picture_options *drawn; /* NULL: JSON */
};

static int put(struct asking *asking, const ProtobufCMessage *message)
{
	int r = ts_json_message(asking->answer, message);

	ts_json_raw(asking->answer, "\n");
	r = r ? r : asking->answer->error;
	return !r && asking->answer->n_bytes > asking->most ? TS_ASK_E_LONG : r;
}

static int put_rows(struct asking *asking, const Ts__Rpc__RowList *list)
{
	int r = 0;

	for (size_t i = 0; !r && i < list->n_rows; i++) {
		const ProtobufCMessage *row = ts_rowjson_message(list->rows[i]);

		r = row ? put(asking, row) : -EINVAL;
	}
	return r;
}

static int put_graph(struct asking *asking, const Ts__Rpc__GraphList *list)
{
	int r = 0;

	for (size_t i = 0; !r && i < list->n_nodes; i++)
		r = put(asking, &list->nodes[i]->base);
	for (size_t i = 0; !r && i < list->n_edges; i++)
		r = put(asking, &list->edges[i]->base);
	for (size_t i = 0; !r && i < list->n_steps; i++)
		r = put(asking, &list->steps[i]->base);
	return r || !list->summary ? r : put(asking, &list->summary->base);
}

static int draw(struct asking *asking, unsigned number, const ProtobufCMessage *body)
{
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes = 0;
	int r = number == TS__RPC__ANSWER__BODY_TIMELINE
			? ts_picture_timeline((const Ts__Rpc__TimelineReport *)body, asking->drawn,
					      &svg, &n_bytes)
			: ts_picture_memory((const Ts__Rpc__MemoryReport *)body, asking->drawn,
					    &svg, &n_bytes);

	if (r)
		return r;
	if (n_bytes > asking->most)
		return TS_ASK_E_LONG;
	ts_json_raw(asking->answer, svg);
	return asking->answer->error;
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const struct asking *asking = data;

	if (asking->drawn)
		return draw(data, number, body);
	switch (number) {
	case TS__RPC__ANSWER__BODY_ROWS:
		return put_rows(data, (const Ts__Rpc__RowList *)body);
	case TS__RPC__ANSWER__BODY_GRAPH:
		return put_graph(data, (const Ts__Rpc__GraphList *)body);
	default:
		return put(data, body);
	}
}

static void add_rows(uint32_t n_rows, void *data)
{
	__atomic_fetch_add((uint64_t *)data, n_rows, __ATOMIC_RELAXED);
}

static struct ts_query_options query_options(const struct ts_ask_options *options,
					     struct asking *asking)
{
	return (struct ts_query_options){.give = give,
					 .data = asking,
					 .no_memory = options->no_memory,
					 .cancel = options->cancel,
					 .n_threads = options->n_threads,
					 .device_bytes = options->device_bytes,
					 .progress = options->progress};
}

static int read_options(const char *json, const ProtobufCMessageDescriptor *type,
			ProtobufCMessage **ret_message, char why[TS_ASK_WHY_BYTES])
{
	char reason[TS_JSON_WHY_BYTES];
	int r;

	json = json && *json ? json : "{}";
	r = ts_json_read(json, strlen(json), type, ret_message, reason);
	if (r == -EINVAL) {
		snprintf(why, TS_ASK_WHY_BYTES, "bad options: %s", reason);
		return TS_ASK_E_OPTIONS;
	}
	if (r)
		snprintf(why, TS_ASK_WHY_BYTES, "%s", strerror(-r));
	return r;
}

/* Like `tsctl --json`, these questions have stacks by default. */
static void add_stacks(Ts__Rpc__Query *query)
{
	if (query->body_case == TS__RPC__QUERY__BODY_STATE && !query->state->has_stacks)
		TS_RPC_SET(query->state, stacks, true);
	if (query->body_case == TS__RPC__QUERY__BODY_GAPS && !query->gaps->has_stacks)
		TS_RPC_SET(query->gaps, stacks, true);
	if (query->body_case == TS__RPC__QUERY__BODY_MEMORY && !query->memory->has_stacks)
		TS_RPC_SET(query->memory, stacks, true);
}

/* Writes the line of a result that is not 0. */
static void explain(const char *path, int r, const struct ts_sbt_error *error,
		    const struct asking *asking, char why[TS_ASK_WHY_BYTES])
{
	if (r == -ECANCELED)
		snprintf(why, TS_ASK_WHY_BYTES, "cancelled");
	else if (r == -EINVAL)
		snprintf(why, TS_ASK_WHY_BYTES, "an option of the call is invalid");
	else if (r == TS_ASK_E_LONG)
		snprintf(why, TS_ASK_WHY_BYTES,
			 "the answer is longer than %zu bytes; ask for less with limit, from or to",
			 asking->most);
	else
		ts_query_why(path, r, error, why);
}

/* Reports the end of an answered question. */
static int report_end(const char *path, const struct ts_query_end *end, char why[TS_ASK_WHY_BYTES])
{
	if (end->is_damaged) {
		snprintf(why, TS_ASK_WHY_BYTES, "%.72s is damaged at byte %" PRIu64 ": %s", path,
			 end->damage.off, end->damage.text);
		return TS_ASK_E_DAMAGED;
	}
	if (end->has_bad_checkpoints)
		snprintf(why, TS_ASK_WHY_BYTES,
			 "the checkpoints of %.72s are damaged; the whole file was read instead",
			 path);
	return 0;
}

static const ProtobufCFieldDescriptor *find_question(const char *question)
{
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(&ts__rpc__query__descriptor,
								question);

	return field && field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF ? field : NULL;
}

static int ask(struct ts_sbt_reader *reader, uint32_t session, Ts__Rpc__Query *query,
	       const struct ts_ask_options *options, struct asking *asking,
	       char why[TS_ASK_WHY_BYTES])
{
	struct ts_query_options wanted = query_options(options, asking);
	struct ts_query_end end;
	int r;

	if (options->n_rows)
		ts_sbt_reader_watch(reader, add_rows, options->n_rows);
	r = ts_query_run(reader, session, query, &wanted, &end);
	if (options->n_rows)
		ts_sbt_reader_watch(reader, NULL, NULL);
	if (!r)
		return report_end(query->path, &end, why);
	explain(query->path, r, ts_sbt_reader_error(reader), asking, why);
	return r;
}

static struct asking asking_of(const struct ts_ask_options *options, struct ts_json *answer)
{
	return (struct asking){.answer = answer,
			       .most = options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES};
}

/* Reads a question and its options. If the result is 0, the caller frees query->state. */
static int read_question(const char *path, const char *question, const char *options_json,
			 Ts__Rpc__Query *ret_query, char why[TS_ASK_WHY_BYTES])
{
	const ProtobufCFieldDescriptor *field = find_question(question);
	ProtobufCMessage *body;
	int r;

	why[0] = '\0';
	if (!field) {
		snprintf(why, TS_ASK_WHY_BYTES, "there is no question of this name");
		return TS_ASK_E_OPTIONS;
	}
	r = read_options(options_json, field->descriptor, &body, why);
	if (r)
		return r;
	ts__rpc__query__init(ret_query);
	ret_query->path = (char *)(uintptr_t)path;
	ret_query->body_case = (Ts__Rpc__Query__BodyCase)field->id;
	/* All members of the union are pointers to messages. */
	ret_query->state = (void *)body;
	return 0;
}

int ts_ask_json(struct ts_sbt_reader *reader, uint32_t session, const char *path,
		const char *question, const char *options_json,
		const struct ts_ask_options *options, struct ts_json *answer,
		char ret_why[TS_ASK_WHY_BYTES])
{
	struct asking asking = asking_of(options, answer);
	Ts__Rpc__Query query;
	int r = read_question(path, question, options_json, &query, ret_why);

	if (r)
		return r;
	add_stacks(&query);
	r = ask(reader, session, &query, options, &asking, ret_why);
	protobuf_c_message_free_unpacked((ProtobufCMessage *)query.state, NULL);
	return r;
}

int ts_ask_picture(struct ts_sbt_reader *reader, uint32_t session, const char *path,
		   const char *question, const char *options_json, uint32_t width,
		   const struct ts_ask_options *options, struct ts_json *answer,
		   char ret_why[TS_ASK_WHY_BYTES])
{
	const char *slash = strrchr(path, '/');
	const struct ts_picture_options drawn = {.width = width,
						 .title = slash && slash[1] ? slash + 1 : path,
						 .origin_ns = ts_sbt_reader_origin_ns(reader)};
	struct asking asking = asking_of(options, answer);
	Ts__Rpc__Query query;
	int r = read_question(path, question, options_json, &query, ret_why);

	if (r)
		return r;
	asking.drawn = &drawn;
	switch (query.body_case) {
	case TS__RPC__QUERY__BODY_TIMELINE:
		TS_RPC_SET(query.timeline, parts, ts_picture_parts(width));
		TS_RPC_SET(query.timeline, device_parts, true);
		r = ask(reader, session, &query, options, &asking, ret_why);
		break;
	case TS__RPC__QUERY__BODY_MEMORY:
		TS_RPC_SET(query.memory, points, ts_picture_parts(width));
		r = ask(reader, session, &query, options, &asking, ret_why);
		break;
	default:
		snprintf(ret_why, TS_ASK_WHY_BYTES, "there is no picture of this question");
		r = TS_ASK_E_OPTIONS;
	}
	protobuf_c_message_free_unpacked((ProtobufCMessage *)query.state, NULL);
	return r;
}

static void watch_all(const struct ts_query_side sides[2], ts_sbt_rows_fn on_rows, void *data)
{
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			ts_sbt_reader_watch(sides[side].readers[i], on_rows, data);
}

int ts_ask_json_diff(const struct ts_query_side sides[2], const char *options_json,
		     const struct ts_ask_options *options, struct ts_json *answer,
		     char ret_why[TS_ASK_WHY_BYTES])
{
	struct asking asking = asking_of(options, answer);
	struct ts_query_options wanted = query_options(options, &asking);
	struct ts_query_end end;
	ProtobufCMessage *query;
	const char *path = "a trace";
	unsigned side;
	size_t run;
	int r;

	ret_why[0] = '\0';
	r = read_options(options_json, &ts__rpc__diff_query__descriptor, &query, ret_why);
	if (r)
		return r;
	if (options->n_rows)
		watch_all(sides, add_rows, options->n_rows);
	r = ts_query_diff(sides, (const Ts__Rpc__DiffQuery *)query, &wanted, &end, &side, &run);
	if (options->n_rows)
		watch_all(sides, NULL, NULL);
	protobuf_c_message_free_unpacked(query, NULL);
	if (!run && sides[side].path)
		path = sides[side].path;
	if (!r)
		return report_end(path, &end, ret_why);
	explain(path, r, sides[side].n ? ts_sbt_reader_error(sides[side].readers[run]) : NULL,
		&asking, ret_why);
	return r;
}
