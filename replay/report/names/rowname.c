/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the short name of a row (ts_resolver_name()). The resolver finds the names; a sample's
 * name is its place in the code. All answers that print rows call this file.
 */
#include "replay/report/names/names.h"
#include "replay/report/names/resolver.h"
#include "replay/report/stacks/codeplace.h"

#include <inttypes.h>
#include <stdio.h>

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

static const char *object_name(uint32_t action, const char *of, uint32_t number,
			       char buffer[TS_RESOLVER_NAME_BYTES])
{
	const char *name = ts_name_object_action(action);

	snprintf(buffer, TS_RESOLVER_NAME_BYTES, "%s %u %s", of, number, name ? name : "changed");
	return buffer;
}

/* Returns "domain: name", to distinguish ranges of different libraries. */
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

/* Returns a name made of the handle, because an event of CUDA or HIP has no other name. */
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
		return ts_name_call(row->api->domain, row->api->cbid, buffer);
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
