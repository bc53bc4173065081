/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as JSON. For each type of row a plan is made once: for each field of its message, where the value
 * comes from. Printing a row then walks the plan, without looking at a name again.
 */
#include "replay/report/rows/rowjson.h"

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_FIELDS   48
#define NUMBER_BYTES 24

enum source {
	FROM_NOTHING,
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
	FROM_ARGUMENTS_KERNEL,
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
	const struct ts_column *column; /* FROM_COLUMN, FROM_NAMED_NUMBER, FROM_FLAG */
	const char *(*name)(uint32_t number);
	enum source source;
	uint64_t nothing; /* the column's value that stands for none */
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
	struct ts_pool *pool; /* of stacks; NULL: none are asked for */
	struct plan plans[TS_ROW_EVENT_END];
	union {
		ProtobufCMessage base;
		max_align_t align;
		unsigned char bytes[1024];
	} message;
	/* What the message points to, until the next one. */
	char name[TS_RESOLVER_NAME_BYTES];
	char numbers[MAX_FIELDS][NUMBER_BYTES];
	size_t n_unfilled, n_unshown;
};

static const ProtobufCMessageDescriptor *const descriptors[TS_ROW_EVENT_END] = {
	[TS_ROW_API] = &ts__rpc__api_row__descriptor,
	[TS_ROW_KERNEL] = &ts__rpc__kernel_row__descriptor,
	[TS_ROW_MEMCPY] = &ts__rpc__memcpy_row__descriptor,
	[TS_ROW_MEMSET] = &ts__rpc__memset_row__descriptor,
	[TS_ROW_SYNC] = &ts__rpc__sync_row__descriptor,
	[TS_ROW_ALLOC] = &ts__rpc__memory_row__descriptor,
	[TS_ROW_FREE] = &ts__rpc__memory_row__descriptor,
	[TS_ROW_EVENT] = &ts__rpc__event_row__descriptor,
	[TS_ROW_STREAM_WAIT] = &ts__rpc__event_row__descriptor,
	[TS_ROW_STREAM] = &ts__rpc__object_row__descriptor,
	[TS_ROW_CONTEXT] = &ts__rpc__object_row__descriptor,
	[TS_ROW_GRAPH_LAUNCH] = &ts__rpc__graph_launch_row__descriptor,
	[TS_ROW_MARK] = &ts__rpc__annotation_row__descriptor,
	[TS_ROW_RANGE] = &ts__rpc__annotation_row__descriptor,
	[TS_ROW_COUNTER] = &ts__rpc__counter_row__descriptor,
	[TS_ROW_CLOCK] = &ts__rpc__clock_row__descriptor,
	[TS_ROW_LOSS] = &ts__rpc__loss_row__descriptor,
	[TS_ROW_OVERHEAD] = &ts__rpc__overhead_row__descriptor,
	[TS_ROW_GPU_MODULE] = &ts__rpc__gpu_module_row__descriptor,
	[TS_ROW_YIELD] = &ts__rpc__yield_row__descriptor,
	[TS_ROW_RANGE_BEGIN] = &ts__rpc__annotation_row__descriptor,
	[TS_ROW_PAUSE] = &ts__rpc__pause_row__descriptor,
	[TS_ROW_OFF_CPU] = &ts__rpc__off_cpu_row__descriptor,
	[TS_ROW_PAGE_FAULT] = &ts__rpc__page_fault_row__descriptor,
	[TS_ROW_SYSCALL] = &ts__rpc__syscall_row__descriptor,
	[TS_ROW_ACCESS] = &ts__rpc__access_row__descriptor,
	[TS_ROW_ARGUMENTS] = &ts__rpc__arguments_row__descriptor,
	[TS_ROW_BLOCK_IO] = &ts__rpc__block_io_row__descriptor,
	[TS_ROW_OPERATION] = &ts__rpc__operation_row__descriptor,
	[TS_ROW_PRESSURE] = &ts__rpc__pressure_row__descriptor,
	[TS_ROW_DRIVER] = &ts__rpc__driver_row__descriptor,
	[TS_ROW_SAMPLE] = &ts__rpc__sample_row__descriptor,
};

/* Fields that every row has, or that are not a column of the same name. */
static const struct {
	unsigned int type; /* 0: any */
	const char *field;
	enum source source;
} sources[] = {
	{0, "type", FROM_TYPE},
	{0, "start_ns", FROM_START},
	{0, "end_ns", FROM_END},
	{0, "session", FROM_SESSION},
	{0, "tid", FROM_TID},
	{0, "thread_name", FROM_THREAD_NAME},
	{0, "stack", FROM_STACK},
	{0, "stream_name", FROM_STREAM_NAME},
	{0, "category_name", FROM_CATEGORY_NAME},
	{TS_ROW_RANGE, "end_tid", FROM_END_TID},
	{TS_ROW_COUNTER, "integer", FROM_INTEGER},
	{0, "payload_u64", FROM_PAYLOAD},
	{0, "payload_i64", FROM_PAYLOAD},
	{0, "payload_f64", FROM_PAYLOAD},
	{TS_ROW_API, "name", FROM_ROW_NAME},
	{TS_ROW_API, "expects_device", FROM_API_EXPECTS},
	{TS_ROW_API, "error", FROM_API_ERROR},
	{TS_ROW_KERNEL, "name", FROM_KERNEL_NAME},
	{TS_ROW_SAMPLE, "name", FROM_ROW_NAME},
	{TS_ROW_ARGUMENTS, "kernel", FROM_ARGUMENTS_KERNEL},
};

/* Numbers that a field shows by name; where the field is called otherwise than the column, both. */
static const struct {
	unsigned int type; /* 0: any */
	const char *field, *column;
	const char *(*name)(uint32_t number);
} named[] = {
	{TS_ROW_API, "domain", "domain", ts_name_api_domain},
	{TS_ROW_MEMCPY, "kind", "copy_kind", ts_name_memcpy_kind},
	{TS_ROW_SYNC, "kind", "sync_type", ts_name_sync_type},
	{TS_ROW_MEMSET, "kind", "memory_kind", ts_name_memory_kind},
	{TS_ROW_ALLOC, "kind", "memory_kind", ts_name_memory_kind},
	{TS_ROW_FREE, "kind", "memory_kind", ts_name_memory_kind},
	{TS_ROW_OVERHEAD, "kind", "overhead_kind", ts_name_overhead_kind},
	{TS_ROW_OPERATION, "kind", "kind", ts_name_operation_kind},
	{TS_ROW_RANGE, "action", "action", ts_name_range_action},
	{TS_ROW_RANGE_BEGIN, "action", "action", ts_name_range_action},
	{TS_ROW_OFF_CPU, "reason", "reason", ts_name_off_cpu_reason},
	{TS_ROW_OFF_CPU, "waker_context", "waker_context", ts_name_waker_context},
	{TS_ROW_PAGE_FAULT, "fault", "fault", ts_name_fault_kind},
	{TS_ROW_PAGE_FAULT, "memory", "memory", ts_name_fault_memory},
	{TS_ROW_BLOCK_IO, "operation", "operation", ts_name_block_operation},
	{TS_ROW_PRESSURE, "kind", "kind", ts_name_pressure_kind},
	{TS_ROW_DRIVER, "kind", "kind", ts_name_driver_kind},
	{0, "syscall", "syscall", ts_name_syscall},
	{0, "action", "action", ts_name_object_action},
	{0, "reason", "reason", ts_name_loss_reason},
	{0, "clock", "clock", ts_name_clock},
	{TS_ROW_PAUSE, "cause", "cause", ts_name_pause_cause},
	{TS_ROW_ACCESS, "access", "access", ts_name_access_kind},
};

/* Bits of the column `flags` that a field tells; it is there where they are set. */
static const struct {
	unsigned int type;
	const char *field;
	uint32_t flag;
} flags[] = {
	{TS_ROW_OFF_CPU, "open", TS_OFF_CPU_OPEN},
	{TS_ROW_BLOCK_IO, "open", TS_BLOCK_IO_OPEN},
	{TS_ROW_BLOCK_IO, "sync", TS_BLOCK_IO_SYNC},
	{TS_ROW_BLOCK_IO, "readahead", TS_BLOCK_IO_READAHEAD},
	{TS_ROW_BLOCK_IO, "metadata", TS_BLOCK_IO_METADATA},
	{TS_ROW_PRESSURE, "open", TS_PRESSURE_OPEN},
	{TS_ROW_DRIVER, "open", TS_DRIVER_OPEN},
	{TS_ROW_SAMPLE, "kernel", TS_SAMPLE_KERNEL},
};

static const struct ts_column *find_column(const struct ts_row_schema *schema, const char *name)
{
	for (unsigned int i = 0; i < schema->n_columns; i++)
		if (!strcmp(schema->columns[i].name, name))
			return &schema->columns[i];
	return NULL;
}

/* Of the kernel's rows, where most columns mean something for some rows only. */
static bool kernel_value_of_nothing(const struct ts_column *column, uint64_t *ret_value)
{
	static const char *const zero_is_some[] = {"result", "cpu",    "end_cpu",   "reason",
						   "fault",  "memory", "operation", "kind"};

	*ret_value = !strcmp(column->name, "syscall") ? TS_NO_SYSCALL
		     : !strcmp(column->name, "fd")    ? UINT64_MAX
						      : 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(zero_is_some); i++)
		if (!strcmp(column->name, zero_is_some[i]))
			return false;
	return true;
}

/* 0 and TS_NO_DEVICE often stand for nothing; such a number is not shown. */
static bool value_of_nothing(const struct ts_row_schema *schema, const struct ts_column *column,
			     uint64_t *ret_value)
{
	static const char *const zero_is_none[] = {"graph",	   "graph_node", "pool",
						   "handle",	   "range_id",	 "event",
						   "color",	   "category",	 "payload",
						   "payload_type", "value_type"};

	*ret_value = 0;
	/* Of each only some columns mean anything. */
	if (schema->type == TS_ROW_OPERATION)
		return strcmp(column->name, "kind") != 0;
	if (TS_ROW_BIT(schema->type) & TS_ROW_KERNELS)
		return kernel_value_of_nothing(column, ret_value);
	if (schema->type == TS_ROW_ARGUMENTS)
		return true;
	switch (column->role) {
	case TS_ROLE_DEVICE:
	case TS_ROLE_STREAM:
		*ret_value = TS_NO_DEVICE;
		return true;
	case TS_ROLE_CONTEXT:
	case TS_ROLE_OP:
	case TS_ROLE_TIME:
		return true;
	default:
		break;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(zero_is_none); i++)
		if (!strcmp(column->name, zero_is_none[i]))
			return true;
	return false;
}

static void plan_step(struct step *step, const struct ts_row_schema *schema)
{
	const char *name = step->field->name;

	for (size_t i = 0; i < TS_ARRAY_LEN(sources); i++) {
		if (strcmp(sources[i].field, name) ||
		    (sources[i].type && sources[i].type != schema->type))
			continue;
		step->source = sources[i].source;
		return;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(named); i++) {
		if (strcmp(named[i].field, name) ||
		    (named[i].type && named[i].type != schema->type))
			continue;
		step->column = find_column(schema, named[i].column);
		step->name = named[i].name;
		step->source = step->column ? FROM_NAMED_NUMBER : FROM_NOTHING;
		if (step->column)
			step->has_nothing = value_of_nothing(schema, step->column, &step->nothing);
		return;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(flags); i++) {
		if (strcmp(flags[i].field, name) || flags[i].type != schema->type)
			continue;
		step->column = find_column(schema, "flags");
		step->flag = flags[i].flag;
		step->source = FROM_FLAG;
		return;
	}
	step->column = find_column(schema, name);
	if (!step->column)
		return;
	step->source = FROM_COLUMN;
	step->has_nothing = value_of_nothing(schema, step->column, &step->nothing);
}

/* A column is shown by the field of its name; these are shown by others. */
static bool is_shown_otherwise(const struct ts_column *column)
{
	return column->role == TS_ROLE_THREAD || !strcmp(column->name, "flags");
}

static void make_plan(struct ts_rowjson *rowjson, unsigned int type)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	struct plan *plan = &rowjson->plans[type];
	const ProtobufCMessageDescriptor *descriptor = descriptors[type];

	if (!schema || !descriptor || descriptor->n_fields > MAX_FIELDS ||
	    descriptor->sizeof_message > sizeof(rowjson->message))
		return;
	plan->descriptor = descriptor;
	for (unsigned int i = 0; i < ts__rpc__row__descriptor.n_fields; i++)
		if (ts__rpc__row__descriptor.fields[i].descriptor == descriptor)
			plan->row_case =
				(Ts__Rpc__Row__RowCase)ts__rpc__row__descriptor.fields[i].id;
	rowjson->n_unfilled += !plan->row_case;
	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		struct step step = {.field = &descriptor->fields[i]};

		plan_step(&step, schema);
		if (step.source != FROM_NOTHING)
			plan->steps[plan->n_steps++] = step;
		/* Messages that two types share have fields of either. */
		else if (descriptor != &ts__rpc__object_row__descriptor &&
			 descriptor != &ts__rpc__annotation_row__descriptor)
			rowjson->n_unfilled++;
	}
	for (unsigned int i = 0; i < schema->n_columns; i++)
		if (!is_shown_otherwise(&schema->columns[i]) &&
		    !protobuf_c_message_descriptor_get_field_by_name(descriptor,
								     schema->columns[i].name))
			rowjson->n_unshown++;
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
		make_plan(rowjson, type);
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

size_t ts_rowjson_n_unfilled(const struct ts_rowjson *rowjson)
{
	return rowjson->n_unfilled;
}

size_t ts_rowjson_n_unshown(const struct ts_rowjson *rowjson)
{
	return rowjson->n_unshown;
}

static void *member(struct ts_rowjson *rowjson, unsigned int offset)
{
	return rowjson->message.bytes + offset;
}

static void set_text(struct ts_rowjson *rowjson, const ProtobufCFieldDescriptor *field,
		     const char *text)
{
	/* protobuf-c has no const; nothing is written through it. */
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

/* In the one of its fields that its type says. */
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
			 ts_resolver_kernel_name(rowjson->resolver, row->kernel->name));
		break;
	case FROM_ARGUMENTS_KERNEL:
		set_text(rowjson, step->field,
			 ts_resolver_kernel_name(rowjson->resolver, row->arguments->kernel));
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
	case FROM_NOTHING:
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
