/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts rows to messages and JSON. query.c and `tsctl view` call this file. ts_rowjson_new()
 * makes a plan for each type of row from the generated steps: the source of each field of its
 * message. Printing a row follows the plan and compares no names.
 */
#include "replay/report/rows/rowjson.h"

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_FIELDS    48
#define NUMBER_BYTES  24
#define MESSAGE_BYTES 1024

enum source {
	FROM_COLUMN,
	FROM_TYPE,
	FROM_START,
	FROM_END,
	FROM_SESSION,
	FROM_TID,
	FROM_THREAD_NAME,
	FROM_NAMED_NUMBER,
	FROM_ROW_NAME,
	FROM_API_EXPECTS,
	FROM_API_ERROR,
	FROM_KERNEL_NAME,
	FROM_STACK,
	FROM_STREAM_NAME,
	FROM_CATEGORY_NAME,
	FROM_END_TID,
	FROM_PAYLOAD,
	FROM_INTEGER,
	FROM_FLAG,
};

struct step {
	const ProtobufCFieldDescriptor *field;
	const struct ts_column *column; /* for sources that read one column */
	const char *(*name)(uint32_t number);
	enum source source;
	uint64_t nothing; /* column value that means "absent" */
	bool has_nothing;
	uint32_t flag;
};

struct plan {
	const ProtobufCMessageDescriptor *descriptor; /* NULL: none */
	Ts__Rpc__Row__RowCase row_case;
	struct step steps[MAX_FIELDS];
	unsigned int n_steps;
};

struct ts_rowjson {
	struct ts_resolver *resolver;
	struct ts_pool *pool; /* for stacks; NULL: no stacks */
	struct plan plans[TS_ROW_EVENT_END];
	union {
		ProtobufCMessage base;
		max_align_t align;
		unsigned char bytes[MESSAGE_BYTES];
	} message;
	/* Storage for the message's texts, until the next row. */
	char name[TS_RESOLVER_NAME_BYTES];
	char numbers[MAX_FIELDS][NUMBER_BYTES];
};

/* A generated step: the index of its field in the descriptor and of its column in the schema. */
struct step_spec {
	uint8_t field, column;
	enum source source;
	const char *(*name)(uint32_t number);
	uint64_t nothing;
	bool has_nothing;
	uint32_t flag;
};

#include "replay/report/generated-steps.h"

static const struct ts_column *find_column(const struct ts_row_schema *schema, const char *name)
{
	for (unsigned int i = 0; i < schema->n_columns; i++)
		if (!strcmp(schema->columns[i].name, name))
			return &schema->columns[i];
	return NULL;
}

static void make_plan(struct plan *plan, unsigned int type)
{
	const struct ts_row_schema *schema = ts_row_schema(type);

	plan->descriptor = messages[type].descriptor;
	plan->row_case = messages[type].row_case;
	plan->n_steps = messages[type].n_specs;
	for (unsigned int i = 0; i < plan->n_steps; i++) {
		const struct step_spec *spec = &messages[type].specs[i];

		plan->steps[i] = (struct step){.field = &plan->descriptor->fields[spec->field],
					       .column = &schema->columns[spec->column],
					       .name = spec->name,
					       .source = spec->source,
					       .nothing = spec->nothing,
					       .has_nothing = spec->has_nothing,
					       .flag = spec->flag};
	}
}

int ts_rowjson_new(struct ts_resolver *resolver, struct ts_pool *pool,
		   struct ts_rowjson **ret_rowjson)
{
	ts_cleanup(ts_rowjson_freep) struct ts_rowjson *rowjson = calloc(1, sizeof(*rowjson));

	if (!rowjson)
		return -ENOMEM;
	rowjson->resolver = resolver;
	rowjson->pool = pool;
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type))
		make_plan(&rowjson->plans[type], type);
	*ret_rowjson = ts_take_ptr(rowjson);
	return 0;
}

void ts_rowjson_free(struct ts_rowjson *rowjson)
{
	if (!rowjson)
		return;
	free(rowjson);
}

void ts_rowjson_freep(struct ts_rowjson **rowjson)
{
	ts_rowjson_free(*rowjson);
}

static void *member(struct ts_rowjson *rowjson, unsigned int offset)
{
	return rowjson->message.bytes + offset;
}

static void set_text(struct ts_rowjson *rowjson, const ProtobufCFieldDescriptor *field,
		     const char *text)
{
	/* protobuf-c's fields have no const; no code writes through this pointer. */
	memcpy(member(rowjson, field->offset), &text, sizeof(text));
}

static void set_number(struct ts_rowjson *rowjson, const ProtobufCFieldDescriptor *field,
		       uint64_t value)
{
	const protobuf_c_boolean yes = 1, flag = value != 0;
	const uint32_t word = (uint32_t)value;

	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		memcpy(member(rowjson, field->offset), &flag, sizeof(flag));
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
		memcpy(member(rowjson, field->offset), &word, sizeof(word));
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_DOUBLE:
		memcpy(member(rowjson, field->offset), &value, sizeof(value));
		break;
	default:
		return;
	}
	memcpy(member(rowjson, field->quantifier_offset), &yes, sizeof(yes));
}

static void set_column(struct ts_rowjson *rowjson, const struct step *step, const void *row)
{
	uint64_t value = ts_column_get(step->column, row);

	if (step->column->role == TS_ROLE_STRING)
		set_text(rowjson, step->field,
			 ts_resolver_string(rowjson->resolver, (uint32_t)value));
	else if (!step->has_nothing || value != step->nothing)
		set_number(rowjson, step->field, value);
}

static void set_named(struct ts_rowjson *rowjson, const struct step *step, size_t i,
		      const void *row)
{
	uint32_t number = (uint32_t)ts_column_get(step->column, row);
	const char *name = step->name(number);

	if (step->has_nothing && number == (uint32_t)step->nothing)
		return;
	if (!name) {
		snprintf(rowjson->numbers[i], NUMBER_BYTES, "%" PRIu32, number);
		name = rowjson->numbers[i];
	}
	set_text(rowjson, step->field, name);
}

static void set_stack(struct ts_rowjson *rowjson, const struct step *step,
		      const struct ts_sbt_row *row)
{
	Ts__Rpc__Stack *message;

	if (!rowjson->pool)
		return;
	message = ts_stackjson_make(rowjson->resolver, rowjson->pool, row->session,
				    ts_resolver_stack(rowjson->resolver, row),
				    ts_row_start_ns(row->any));
	if (row->type == TS_ROW_KERNEL)
		ts_stackjson_hide_stub(message, ts_resolver_kernel_name(rowjson->resolver,
									row->kernel->name));
	if (message)
		memcpy(member(rowjson, step->field->offset), &message, sizeof(message));
}

static void set_thread(struct ts_rowjson *rowjson, const struct step *step,
		       const struct ts_sbt_row *row)
{
	const struct ts_row_thread *thread = ts_resolver_thread(rowjson->resolver, row);

	if (!thread)
		return;
	if (step->source == FROM_TID)
		set_number(rowjson, step->field, thread->tid);
	else
		set_text(rowjson, step->field,
			 ts_resolver_thread_name(rowjson->resolver, row->session, thread));
}

static void set_end_tid(struct ts_rowjson *rowjson, const struct step *step,
			const struct ts_sbt_row *row)
{
	const struct ts_row_thread *thread =
		ts_sbt_reader_thread(ts_resolver_reader(rowjson->resolver), row->session,
				     row->range->end_thread);

	if (thread)
		set_number(rowjson, step->field, thread->tid);
}

/* Sets the payload field that matches the payload's type. */
static void set_payload(struct ts_rowjson *rowjson, const struct step *step,
			const struct ts_sbt_row *row)
{
	const struct ts_column *type = find_column(row->schema, "payload_type");
	const struct ts_column *payload = find_column(row->schema, "payload");
	ProtobufCType shown;

	if (!type || !payload)
		return;
	switch (ts_column_get(type, row->any)) {
	case TS_PAYLOAD_U64:
	case TS_PAYLOAD_U32:
		shown = PROTOBUF_C_TYPE_UINT64;
		break;
	case TS_PAYLOAD_I64:
	case TS_PAYLOAD_I32:
		shown = PROTOBUF_C_TYPE_SINT64;
		break;
	case TS_PAYLOAD_F64:
	case TS_PAYLOAD_F32:
		shown = PROTOBUF_C_TYPE_DOUBLE;
		break;
	default:
		return;
	}
	if (step->field->type == shown)
		set_number(rowjson, step->field, ts_column_get(payload, row->any));
}

static void run_step(struct ts_rowjson *rowjson, const struct step *step, size_t i,
		     const struct ts_sbt_row *row, char name[TS_RESOLVER_NAME_BYTES])
{
	switch (step->source) {
	case FROM_COLUMN:
		set_column(rowjson, step, row->any);
		break;
	case FROM_TYPE:
		set_text(rowjson, step->field, row->schema->name);
		break;
	case FROM_START:
		set_number(rowjson, step->field, ts_row_start_ns(row->any));
		break;
	case FROM_END:
		set_number(rowjson, step->field, ts_row_end_ns(row->schema, row->any));
		break;
	case FROM_SESSION:
		set_number(rowjson, step->field, row->session);
		break;
	case FROM_TID:
	case FROM_THREAD_NAME:
		set_thread(rowjson, step, row);
		break;
	case FROM_NAMED_NUMBER:
		set_named(rowjson, step, i, row->any);
		break;
	case FROM_ROW_NAME:
		set_text(rowjson, step->field, ts_resolver_name(rowjson->resolver, row, name));
		break;
	case FROM_API_EXPECTS:
		set_number(rowjson, step->field, row->api->flags & TS_API_EXPECTS_DEVICE);
		break;
	case FROM_API_ERROR:
		if (row->api->result)
			set_text(rowjson, step->field,
				 ts_name_api_error(row->api->domain, (uint32_t)row->api->result));
		break;
	case FROM_KERNEL_NAME:
		set_text(rowjson, step->field,
			 ts_resolver_kernel_name(rowjson->resolver,
						 (uint32_t)ts_column_get(step->column, row->any)));
		break;
	case FROM_STACK:
		set_stack(rowjson, step, row);
		break;
	case FROM_STREAM_NAME:
		set_text(rowjson, step->field, ts_resolver_stream_name(rowjson->resolver, row));
		break;
	case FROM_CATEGORY_NAME:
		set_text(rowjson, step->field, ts_resolver_category_name(rowjson->resolver, row));
		break;
	case FROM_END_TID:
		set_end_tid(rowjson, step, row);
		break;
	case FROM_PAYLOAD:
		set_payload(rowjson, step, row);
		break;
	case FROM_INTEGER:
		if (row->counter->value_type == TS_PAYLOAD_I64)
			set_number(rowjson, step->field, (uint64_t)row->counter->integer);
		break;
	case FROM_FLAG:
		if (ts_column_get(step->column, row->any) & step->flag)
			set_number(rowjson, step->field, 1);
		break;
	}
}

static const struct plan *fill(struct ts_rowjson *rowjson, const struct ts_sbt_row *row)
{
	const struct plan *plan;

	if (!ts_row_is_event(row->type) || !rowjson->plans[row->type].descriptor)
		return NULL;
	plan = &rowjson->plans[row->type];
	if (rowjson->pool)
		ts_pool_deinit(rowjson->pool);
	plan->descriptor->message_init(&rowjson->message.base);
	for (size_t i = 0; i < plan->n_steps; i++)
		run_step(rowjson, &plan->steps[i], i, row, rowjson->name);
	return plan;
}

int ts_rowjson_append(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		      struct ts_json *json)
{
	return fill(rowjson, row) ? ts_json_message(json, &rowjson->message.base) : -ENOTSUP;
}

int ts_rowjson_make(struct ts_rowjson *rowjson, const struct ts_sbt_row *row,
		    Ts__Rpc__Row *ret_message)
{
	const struct plan *plan = fill(rowjson, row);

	if (!plan)
		return -ENOTSUP;
	ts__rpc__row__init(ret_message);
	ret_message->row_case = plan->row_case;
	/* All members of the union are pointers to messages. */
	ret_message->api = (void *)&rowjson->message;
	return 0;
}

const ProtobufCMessage *ts_rowjson_message(const Ts__Rpc__Row *row)
{
	return row->row_case ? &row->api->base : NULL;
}
