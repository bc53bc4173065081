/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From ids to names. The one thing here that is more than a look-up is the thread of a device row: the row
 * itself was delivered by some thread of the vendor's, and only its operation id leads to the call. A second
 * cursor over the calls runs ahead of the pass and leaves their threads in a table of fixed size.
 */
#include "replay/report/names/resolve.h"

#include "replay/report/names/labels.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/codeplace.h"
#include "sbt/modules.h"
#include "sbt/symbols.h"

#include <inttypes.h>
#include <stdio.h>

/* A call precedes its device rows by what a stream can hold; twice the largest queue known, in calls. */
#define N_LAUNCHERS (1u << 16)
#define N_KERNELS   256u
/* How far before a window the calls are read. */
#define LOOK_BACK_NS UINT64_C(5000000000)

struct ts_resolver {
	struct ts_sbt_reader *reader;
	struct ts_demangler *demangler; /* NULL: names stay mangled */
	struct ts_sbt_cursor *calls;	/* NULL: not asked for, or at their end */
	struct ts_sbt_row call;		/* the next one, not yet taken */
	struct ts_launcher *launchers;
	struct ts_labels *labels;   /* NULL: the application named nothing */
	struct ts_modules *modules; /* NULL: not asked for yet */
	struct ts_symbols *symbols; /* the same */
	struct {
		uint32_t id; /* 0: none */
		const char *name;
	} kernels[N_KERNELS]; /* the last ones, by their ids' lower bits */
	const struct ts_column *thread_columns[TS_ROW_EVENT_END];
	const struct ts_column *op_columns[TS_ROW_EVENT_END];
	const struct ts_column *stream_columns[TS_ROW_EVENT_END];
	const struct ts_column *context_columns[TS_ROW_EVENT_END];
};

static const struct ts_column *column_of_role(const struct ts_row_schema *schema, enum ts_role role)
{
	for (unsigned int i = 0; schema && i < schema->n_columns; i++)
		if (schema->columns[i].role == role)
			return &schema->columns[i];
	return NULL;
}

static int start_calls(struct ts_resolver *resolver, const struct ts_resolver_options *options)
{
	struct ts_sbt_cursor_options calls = {
		.types = TS_ROW_BIT(TS_ROW_API),
		.session = options->session,
		.from_ns = options->from_ns > LOOK_BACK_NS ? options->from_ns - LOOK_BACK_NS : 0,
	};
	int r;

	resolver->launchers = calloc(N_LAUNCHERS, sizeof(*resolver->launchers));
	if (!resolver->launchers)
		return -ENOMEM;
	r = ts_sbt_cursor_new(resolver->reader, &calls, &resolver->calls);
	if (r)
		return r;
	if (ts_sbt_cursor_next(resolver->calls, &resolver->call)) {
		ts_sbt_cursor_free(resolver->calls);
		resolver->calls = NULL;
	}
	return 0;
}

int ts_resolver_new(struct ts_sbt_reader *reader, const struct ts_resolver_options *options,
		    struct ts_resolver **ret_resolver)
{
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = calloc(1, sizeof(*resolver));
	int r;

	if (!resolver)
		return -ENOMEM;
	resolver->reader = reader;
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);

		resolver->thread_columns[type] = column_of_role(schema, TS_ROLE_THREAD);
		resolver->op_columns[type] = column_of_role(schema, TS_ROLE_OP);
		resolver->stream_columns[type] = column_of_role(schema, TS_ROLE_STREAM);
		resolver->context_columns[type] = column_of_role(schema, TS_ROLE_CONTEXT);
	}
	r = options->mangled ? 0 : ts_demangler_new(&resolver->demangler);
	if (!r && ts_sbt_reader_n_names(reader))
		r = ts_labels_new(reader, &resolver->labels);
	if (!r && options->launchers)
		r = start_calls(resolver, options);
	if (r)
		return r;
	*ret_resolver = ts_take_ptr(resolver);
	return 0;
}

void ts_resolver_free(struct ts_resolver *resolver)
{
	if (!resolver)
		return;
	ts_sbt_cursor_free(resolver->calls);
	ts_demangler_free(resolver->demangler);
	ts_labels_free(resolver->labels);
	ts_modules_free(resolver->modules);
	ts_symbols_free(resolver->symbols);
	free(resolver->launchers);
	free(resolver);
}

void ts_resolver_freep(struct ts_resolver **resolver)
{
	ts_resolver_free(*resolver);
}

struct ts_sbt_reader *ts_resolver_reader(struct ts_resolver *resolver)
{
	return resolver->reader;
}

const char *ts_resolver_string(struct ts_resolver *resolver, uint32_t id)
{
	return id ? ts_sbt_reader_string(resolver->reader, id, NULL) : NULL;
}

const char *ts_resolver_kernel_name(struct ts_resolver *resolver, uint32_t id)
{
	const char *name;

	/* A few names have most rows, and a name can be long. */
	if (id && resolver->kernels[id % N_KERNELS].id == id)
		return resolver->kernels[id % N_KERNELS].name;
	name = ts_resolver_string(resolver, id);
	if (!name)
		return NULL;
	name = ts_demangle(resolver->demangler, name);
	resolver->kernels[id % N_KERNELS].id = id;
	resolver->kernels[id % N_KERNELS].name = name;
	return name;
}

const char *ts_resolver_demangle(struct ts_resolver *resolver, const char *name)
{
	return ts_demangle(resolver->demangler, name);
}

/* Operation ids count up: neighbours never collide. */
static struct ts_launcher *launcher_slot(struct ts_resolver *resolver, uint32_t session,
					 uint64_t op_id)
{
	return &resolver->launchers[(op_id ^ session * UINT64_C(40503)) & (N_LAUNCHERS - 1)];
}

static void take_calls(struct ts_resolver *resolver, uint64_t until_ns)
{
	while (resolver->calls && resolver->call.api->start_ns <= until_ns) {
		const struct ts_row_api *api = resolver->call.api;

		*launcher_slot(resolver, resolver->call.session, api->op_id) =
			(struct ts_launcher){api->op_id, resolver->call.session, api->thread,
					     api->stack};
		if (ts_sbt_cursor_next(resolver->calls, &resolver->call)) {
			ts_sbt_cursor_free(resolver->calls);
			resolver->calls = NULL;
		}
	}
}

bool ts_resolver_launcher(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			  struct ts_launcher *ret_launcher)
{
	const struct ts_column *column = resolver->op_columns[row->type];
	const struct ts_launcher *launcher;
	uint64_t op_id;

	if (!column || !resolver->launchers)
		return false;
	op_id = ts_column_get(column, row->any);
	take_calls(resolver, ts_row_start_ns(row->any));
	launcher = launcher_slot(resolver, row->session, op_id);
	if (!op_id || launcher->op_id != op_id || launcher->session != row->session)
		return false;
	*ret_launcher = *launcher;
	return true;
}

void ts_resolver_recall(struct ts_resolver *resolver, const struct ts_launcher *launcher)
{
	if (resolver->launchers)
		*launcher_slot(resolver, launcher->session, launcher->op_id) = *launcher;
}

const struct ts_row_thread *ts_resolver_thread(struct ts_resolver *resolver,
					       const struct ts_sbt_row *row)
{
	const struct ts_column *column = resolver->thread_columns[row->type];
	struct ts_launcher launcher;

	if (column)
		return ts_sbt_reader_thread(resolver->reader, row->session,
					    (uint32_t)ts_column_get(column, row->any));
	if (!ts_resolver_launcher(resolver, row, &launcher))
		return NULL;
	return ts_sbt_reader_thread(resolver->reader, row->session, launcher.thread);
}

const char *ts_resolver_thread_name(struct ts_resolver *resolver, uint32_t session,
				    const struct ts_row_thread *thread)
{
	uint32_t given = ts_labels_find(resolver->labels, session, TS_NAME_THREAD, 0, thread->tid);

	return ts_resolver_string(resolver, given ? given : thread->name);
}

const char *ts_resolver_stream_name(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	const struct ts_column *stream = resolver->stream_columns[row->type];
	const struct ts_column *context = resolver->context_columns[row->type];

	if (!resolver->labels || !stream)
		return NULL;
	return ts_resolver_string(
		resolver, ts_labels_stream(resolver->labels, row->session,
					   context ? (uint32_t)ts_column_get(context, row->any) : 0,
					   (uint32_t)ts_column_get(stream, row->any)));
}

const char *ts_resolver_category_name(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	uint32_t domain, category;

	switch (row->type) {
	case TS_ROW_MARK:
		domain = row->mark->domain;
		category = row->mark->category;
		break;
	case TS_ROW_RANGE:
		domain = row->range->domain;
		category = row->range->category;
		break;
	case TS_ROW_RANGE_BEGIN:
		domain = row->range_begin->domain;
		category = row->range_begin->category;
		break;
	default:
		return NULL;
	}
	return ts_resolver_string(resolver, ts_labels_find(resolver->labels, row->session,
							   TS_NAME_CATEGORY, domain, category));
}

static const char *or_number(const char *name, const char *what, uint64_t number,
			     char buffer[TS_RESOLVER_NAME_BYTES])
{
	if (name)
		return name;
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s#%llu", what, (unsigned long long)number);
	return buffer;
}

static const char *numbered(const char *what, uint32_t number, char buffer[TS_RESOLVER_NAME_BYTES])
{
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s %u", what, number);
	return buffer;
}

static const char *api_name(const struct ts_row_api *api, char buffer[TS_RESOLVER_NAME_BYTES])
{
	return or_number(ts_name_api(api->domain, api->cbid),
			 ts_name_api_domain(api->domain) ? ts_name_api_domain(api->domain) : "api",
			 api->cbid, buffer);
}

static const char *object_name(uint32_t action, const char *of, uint32_t number,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = ts_name_object_action(action);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s %u %s", of, number, name ? name : "changed");
	return buffer;
}

/* "domain: name", so that one library's ranges are told from another's. */
static const char *annotation_name(struct ts_resolver *resolver, uint32_t domain_id,
				   uint32_t name_id, const char *after,
				   char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *domain = ts_resolver_string(resolver, domain_id);
	const char *name = ts_resolver_string(resolver, name_id);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s%s%s%s", domain ? domain : "",
		 domain ? ": " : "", name ? name : "without a name", after);
	return buffer;
}

/* Events of the vendor's have nothing but their address for a name. */
static const char *event_name(const char *what, uint64_t handle,
			      char buffer[TS_RESOLVER_NAME_BYTES])
{
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s 0x%llx", what, (unsigned long long)handle);
	return buffer;
}

static const char *access_name(const struct ts_row_access *access,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	char number[TS_RESOLVER_NAME_BYTES];
	const char *kind =
		or_number(ts_name_access_kind(access->access), "access", access->access, number);

	if (access->access == TS_ACCESS_COPY)
		snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%.64s 0x%llx from 0x%llx", kind,
			 (unsigned long long)access->dst, (unsigned long long)access->src);
	else
		snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%.64s 0x%llx", kind,
			 (unsigned long long)access->dst);
	return buffer;
}

static const char *memory_name(const struct ts_row_memory *memory,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *kind = ts_name_memory_kind(memory->memory_kind);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s 0x%llx", kind ? kind : "memory",
		 (unsigned long long)memory->address);
	return buffer;
}

static const char *counter_name(struct ts_resolver *resolver, const struct ts_row_counter *counter,
				char buffer[TS_RESOLVER_NAME_BYTES])
{
	char value[32];

	if (counter->value_type == TS_PAYLOAD_I64)
		snprintf(value, sizeof(value), " = %lld", (long long)counter->integer);
	else
		snprintf(value, sizeof(value), " = %g", counter->value);
	return annotation_name(resolver, counter->domain, counter->name, value, buffer);
}

static const char *loss_name(const struct ts_row_loss *loss, char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *reason = ts_name_loss_reason(loss->reason);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%llu %s", (unsigned long long)loss->count,
		 reason ? reason : "lost");
	return buffer;
}

static const char *yield_name(struct ts_resolver *resolver, const struct ts_row_yield *yield,
			      char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *to = ts_resolver_string(resolver, yield->to);

	if (!yield->yielded)
		return "CUPTI taken back";
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "CUPTI yielded%s%s", to ? " to " : "",
		 to ? to : "");
	return buffer;
}

static const char *operation_name(struct ts_resolver *resolver,
				  const struct ts_row_operation *operation,
				  char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *kind = ts_name_operation_kind(operation->kind);
	const char *name = ts_resolver_kernel_name(resolver, operation->name);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s%s%s", kind ? kind : "unknown operation",
		 name ? " " : "", name ? name : "");
	return buffer;
}

static const char *pause_name(const struct ts_row_pause *pause, char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *cause = ts_name_pause_cause(pause->cause);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "recording %s%s%s",
		 pause->paused ? "stopped" : "started", cause ? " by " : "", cause ? cause : "");
	return buffer;
}

static const char *off_cpu_name(const struct ts_row_off_cpu *row,
				char buffer[TS_RESOLVER_NAME_BYTES])
{
	char number[24];

	if (row->reason != TS_OFF_CPU_SYSCALL && row->reason != TS_OFF_CPU_IO)
		return or_number(ts_name_off_cpu_reason(row->reason), "reason", row->reason,
				 buffer);
	snprintf(number, sizeof(number), "syscall#%" PRIu32, row->syscall);
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s%s",
		 row->reason == TS_OFF_CPU_IO ? "io in " : "",
		 row->syscall == TS_NO_SYSCALL	 ? "the kernel"
		 : ts_name_syscall(row->syscall) ? ts_name_syscall(row->syscall)
						 : number);
	return buffer;
}

static const char *page_fault_name(const struct ts_row_page_fault *row,
				   char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *kind = ts_name_fault_kind(row->fault);
	const char *memory = ts_name_fault_memory(row->memory);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s, %s memory", kind ? kind : "unknown",
		 memory ? memory : "unknown");
	return buffer;
}

static const char *syscall_name(struct ts_resolver *resolver, const struct ts_row_syscall *row,
				char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = ts_name_syscall(row->syscall);
	const char *file = ts_resolver_string(resolver, row->file);
	char number[24];

	snprintf(number, sizeof(number), "syscall#%" PRIu32, row->syscall);
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s%s%s", name ? name : number, file ? " " : "",
		 file ? file : "");
	return buffer;
}

static const char *arguments_name(struct ts_resolver *resolver, const struct ts_row_arguments *row,
				  char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *kernel = ts_resolver_kernel_name(resolver, row->kernel);

	if (kernel || !row->function)
		return kernel ? kernel : "";
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "kernel 0x%" PRIx64, row->function);
	return buffer;
}

static const char *block_io_name(struct ts_resolver *resolver, const struct ts_row_block_io *row,
				 char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = ts_name_block_operation(row->operation);
	const char *disk = ts_resolver_string(resolver, row->disk);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s %s", name ? name : "other", disk ? disk : "?");
	return buffer;
}

static const char *pressure_name(const struct ts_row_pressure *row)
{
	const char *name = ts_name_pressure_kind(row->kind);

	return name ? name : "other";
}

static const char *driver_name(struct ts_resolver *resolver, const struct ts_row_driver *row,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = ts_name_driver_kind(row->kind);
	const char *ring = ts_resolver_string(resolver, row->ring);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s%s%s", name ? name : "other", ring ? " " : "",
		 ring ? ring : "");
	return buffer;
}

static const char *sample_name(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	char text[TS_CODEPLACE_BYTES];
	struct ts_codeplace place;

	if (!ts_codeplace_of(resolver, row->session, row->sample->stack, row->sample->start_ns,
			     NULL, &place))
		return "unknown place";
	ts_codeplace_text(&place, text);
	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%.*s", TS_RESOLVER_NAME_BYTES - 1, text);
	return buffer;
}

const char *ts_resolver_name(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			     char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = NULL;

	switch (row->type) {
	case TS_ROW_API:
		return api_name(row->api, buffer);
	case TS_ROW_KERNEL:
		name = ts_resolver_kernel_name(resolver, row->kernel->name);
		return name ? name : "unknown kernel";
	case TS_ROW_MEMCPY:
		return or_number(ts_name_memcpy_kind(row->memcpy_->copy_kind), "kind",
				 row->memcpy_->copy_kind, buffer);
	case TS_ROW_MEMSET:
		return numbered("memset to", row->memset_->value, buffer);
	case TS_ROW_SYNC:
		return or_number(ts_name_sync_type(row->sync->sync_type), "sync",
				 row->sync->sync_type, buffer);
	case TS_ROW_ALLOC:
	case TS_ROW_FREE:
		return memory_name(row->memory, buffer);
	case TS_ROW_EVENT:
		return event_name("event", row->event->event, buffer);
	case TS_ROW_STREAM_WAIT:
		return event_name("for event", row->stream_wait->event, buffer);
	case TS_ROW_STREAM:
		return object_name(row->stream->action, "stream", row->stream->stream, buffer);
	case TS_ROW_CONTEXT:
		return object_name(row->context->action, "context", row->context->context, buffer);
	case TS_ROW_GRAPH_LAUNCH:
		return numbered("graph", row->graph_launch->graph, buffer);
	case TS_ROW_GPU_MODULE:
		return object_name(row->gpu_module->action, "module", row->gpu_module->module,
				   buffer);
	case TS_ROW_MARK:
		return annotation_name(resolver, row->mark->domain, row->mark->name, "", buffer);
	case TS_ROW_RANGE:
		return annotation_name(resolver, row->range->domain, row->range->name, "", buffer);
	case TS_ROW_RANGE_BEGIN:
		return annotation_name(resolver, row->range_begin->domain, row->range_begin->name,
				       " (open)", buffer);
	case TS_ROW_COUNTER:
		return counter_name(resolver, row->counter, buffer);
	case TS_ROW_CLOCK:
		return or_number(ts_name_clock(row->clock->clock), "clock", row->clock->clock,
				 buffer);
	case TS_ROW_LOSS:
		return loss_name(row->loss, buffer);
	case TS_ROW_OVERHEAD:
		return or_number(ts_name_overhead_kind(row->overhead->overhead_kind), "overhead",
				 row->overhead->overhead_kind, buffer);
	case TS_ROW_YIELD:
		return yield_name(resolver, row->yield, buffer);
	case TS_ROW_PAUSE:
		return pause_name(row->pause, buffer);
	case TS_ROW_ACCESS:
		return access_name(row->access, buffer);
	case TS_ROW_OPERATION:
		return operation_name(resolver, row->operation, buffer);
	case TS_ROW_OFF_CPU:
		return off_cpu_name(row->off_cpu, buffer);
	case TS_ROW_PAGE_FAULT:
		return page_fault_name(row->page_fault, buffer);
	case TS_ROW_SYSCALL:
		return syscall_name(resolver, row->syscall, buffer);
	case TS_ROW_ARGUMENTS:
		return arguments_name(resolver, row->arguments, buffer);
	case TS_ROW_BLOCK_IO:
		return block_io_name(resolver, row->block_io, buffer);
	case TS_ROW_PRESSURE:
		return pressure_name(row->pressure);
	case TS_ROW_DRIVER:
		return driver_name(resolver, row->driver, buffer);
	case TS_ROW_SAMPLE:
		return sample_name(resolver, row, buffer);
	default:
		return "";
	}
}

uint32_t ts_resolver_stack(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	struct ts_launcher launcher;

	switch (row->type) {
	case TS_ROW_API:
		return row->api->stack;
	case TS_ROW_MARK:
		return row->mark->stack;
	case TS_ROW_RANGE:
		return row->range->stack;
	case TS_ROW_RANGE_BEGIN:
		return row->range_begin->stack;
	case TS_ROW_OFF_CPU:
		return row->off_cpu->stack;
	case TS_ROW_SAMPLE:
		return row->sample->stack;
	default:
		return ts_resolver_launcher(resolver, row, &launcher) ? launcher.stack : 0;
	}
}

bool ts_resolver_module(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
			uint64_t address, const char **ret_path, uint64_t *ret_file_address)
{
	const struct ts_row_module *found;

	/* Only who asks for stacks pays for it. */
	if (!resolver->modules && ts_modules_new(resolver->reader, &resolver->modules))
		return false;
	found = ts_modules_find(resolver->modules, session, address, time_ns);
	if (!found)
		return false;
	*ret_path = ts_resolver_string(resolver, found->path);
	*ret_file_address = address - found->bias;
	return *ret_path != NULL;
}

void ts_resolver_python(struct ts_resolver *resolver, uint64_t frame,
			char ret_text[TS_RESOLVER_FRAME_BYTES])
{
	const char *function = ts_resolver_string(resolver, TS_FRAME_STRING(frame));
	const char *file = function ? strchr(function, '\n') : NULL;

	if (file)
		snprintf(ret_text, TS_RESOLVER_FRAME_BYTES, "%.*s (%s:%u)", (int)(file - function),
			 function, file + 1, TS_FRAME_LINE(frame));
	else
		snprintf(ret_text, TS_RESOLVER_FRAME_BYTES, "unknown Python function");
}

const struct ts_row_symbol *ts_resolver_symbols(struct ts_resolver *resolver, uint32_t session,
						uint64_t time_ns, uint64_t address, uint32_t i,
						size_t *ret_n)
{
	const struct ts_row_module *module;

	*ret_n = 0;
	if ((!resolver->modules && ts_modules_new(resolver->reader, &resolver->modules)) ||
	    (!resolver->symbols && ts_symbols_new(resolver->reader, &resolver->symbols)))
		return NULL;
	address = ts_symbols_call(address, i);
	module = ts_modules_find(resolver->modules, session, address, time_ns);
	return ts_symbols_find(resolver->symbols, session, module, address, ret_n, NULL);
}
