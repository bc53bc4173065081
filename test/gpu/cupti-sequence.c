/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs CUPTI's callbacks and records of a program in the order in which a subscriber receives them:
 * each callback of calls and resources, each returned buffer, each record. When the program ends,
 * the library writes one line for each to the file $TS_SEQUENCE. The driver loads this library by
 * CUDA_INJECTION64_PATH. The library contains no code of the recorder, so it shows the recorder's
 * input.
 *
 * A line begins with the microseconds since the start and the thread, numbered by first appearance.
 * Handles and addresses are left out. "head" lines give the version. A record of a kind without a
 * layout in cupti_activity.h appears with its kind only.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"

#define BUFFER_BYTES (256u * 1024)
#define MAX_LINES    200000u
#define MAX_LINE     640
#define MAX_THREADS  256

#define FUNCTIONS(X)                                                                              \
	X(cuptiGetVersion, (uint32_t * ret_version))                                              \
	X(cuptiSubscribe, (void **ret_subscriber, ts_cupti_callback_fn callback, void *userdata)) \
	X(cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))                \
	X(cuptiActivityEnable, (uint32_t kind))                                                   \
	X(cuptiActivityRegisterCallbacks,                                                         \
	  (ts_cupti_buffer_requested_fn requested, ts_cupti_buffer_completed_fn completed))       \
	X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, void **record))      \
	X(cuptiActivityGetNumDroppedRecords,                                                      \
	  (void *context, uint32_t stream_id, size_t *ret_dropped))                               \
	X(cuptiActivityFlushAll, (uint32_t flags))                                                \
	X(cuptiGetTimestamp, (uint64_t * ret_time))                                               \
	X(cuptiGetContextId, (void *context, uint32_t *ret_id))                                   \
	X(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *ret_id))

static struct {
#define MEMBER(name, arguments) uint32_t(*name) arguments;
	FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;

static const uint32_t kinds[] = {
	TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, TS_CUPTI_ACTIVITY_KIND_MEMCPY,
	TS_CUPTI_ACTIVITY_KIND_MEMCPY2,		  TS_CUPTI_ACTIVITY_KIND_MEMSET,
	TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,	  TS_CUPTI_ACTIVITY_KIND_MEMORY2,
	TS_CUPTI_ACTIVITY_KIND_OVERHEAD,	  TS_CUPTI_ACTIVITY_KIND_DEVICE,
	TS_CUPTI_ACTIVITY_KIND_CONTEXT,		  TS_CUPTI_ACTIVITY_KIND_STREAM,
	TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT,
};

static const char *const resources[] = {
	"INVALID",
	"CONTEXT_CREATED",
	"CONTEXT_DESTROY_STARTING",
	"STREAM_CREATED",
	"STREAM_DESTROY_STARTING",
	"CU_INIT_FINISHED",
	"MODULE_LOADED",
	"MODULE_UNLOAD_STARTING",
	"MODULE_PROFILED",
	"GRAPH_CREATED",
	"GRAPH_DESTROY_STARTING",
	"GRAPH_CLONED",
	"GRAPHNODE_CREATE_STARTING",
	"GRAPHNODE_CREATED",
	"GRAPHNODE_DESTROY_STARTING",
	"GRAPHNODE_DEPENDENCY_CREATED",
	"GRAPHNODE_DEPENDENCY_DESTROY_STARTING",
	"GRAPHEXEC_CREATE_STARTING",
	"GRAPHEXEC_CREATED",
	"GRAPHEXEC_DESTROY_STARTING",
	"GRAPHNODE_CLONED",
	"STREAM_ATTRIBUTE_CHANGED",
	"GRAPH_NODE_UPDATED",
	"GRAPH_NODE_SET_PARAMS",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lines[MAX_LINES];
static unsigned n_lines, n_left_out, n_threads;
static pid_t threads[MAX_THREADS];
static struct timespec began;

static unsigned thread_number(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	unsigned i;

	for (i = 0; i < n_threads && threads[i] != tid; i++)
		;
	if (i == n_threads && n_threads < MAX_THREADS)
		threads[n_threads++] = tid;
	return i + 1;
}

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	char line[MAX_LINE];
	struct timespec now;
	va_list arguments;
	double us;
	int n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	us = (double)(now.tv_sec - began.tv_sec) * 1e6 +
	     (double)(now.tv_nsec - began.tv_nsec) / 1e3;
	pthread_mutex_lock(&lock);
	n = snprintf(line, sizeof(line), "%.1f t%u ", us, thread_number());
	va_start(arguments, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, arguments);
	va_end(arguments);
	if (n_lines < MAX_LINES)
		lines[n_lines++] = strdup(line);
	else
		n_left_out++;
	pthread_mutex_unlock(&lock);
}

static void on_call(const char *domain, uint32_t cbid, const struct ts_cupti_callback_data *call)
{
	if (call->callback_site == TS_CUPTI_API_ENTER)
		say("enter %s %s %u #%u context %u%s%s", domain, call->function_name, cbid,
		    call->correlation_id, call->context_uid, call->symbol_name ? " symbol " : "",
		    call->symbol_name ? call->symbol_name : "");
	else
		say("exit %s %s %u #%u context %u result %u", domain, call->function_name, cbid,
		    call->correlation_id, call->context_uid,
		    call->function_return_value ? *(const uint32_t *)call->function_return_value
						: 0xffffffff);
}

static void on_resource(uint32_t cbid, const struct ts_cupti_resource_data *resource)
{
	const char *name = cbid < sizeof(resources) / sizeof(resources[0]) ? resources[cbid] : "?";
	uint32_t context = 0, stream = 0;

	if (!resource) {
		say("resource %s without data", name);
		return;
	}
	if (resource->context)
		cupti.cuptiGetContextId(resource->context, &context);
	if (cbid == TS_CUPTI_CBID_RESOURCE_STREAM_CREATED ||
	    cbid == TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING) {
		cupti.cuptiGetStreamIdEx(resource->context, resource->resource_handle.stream, 0,
					 &stream);
		say("resource %s context %u stream %u", name, context, stream);
	} else if (cbid == TS_CUPTI_CBID_RESOURCE_MODULE_LOADED ||
		   cbid == TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
		const struct ts_cupti_module_data *module = resource->resource_descriptor;

		if (!module)
			say("resource %s context %u without a descriptor", name, context);
		else
			say("resource %s context %u module %u bytes %zu magic %s", name, context,
			    module->module_id, module->cubin_size,
			    module->cubin && module->cubin_size > 4 &&
					    !memcmp(module->cubin, "\177ELF", 4)
				    ? "ELF"
				    : "other");
	} else if (cbid >= TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED &&
		   cbid <= TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
		const struct ts_cupti_graph_data *graph = resource->resource_descriptor;

		say("resource %s context %u node type %d%s%s%s", name, context,
		    graph ? graph->node_type : -1,
		    graph && graph->original_graph ? " of original graph" : "",
		    graph && graph->original_node ? " of original node" : "",
		    graph && graph->graph_exec ? " exec" : "");
	} else {
		say("resource %s context %u", name, context);
	}
}

static void on_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata;
	if (!data && domain != TS_CUPTI_CB_DOMAIN_RESOURCE) {
		say("domain %u callback %u without data", domain, cbid);
		return;
	}
	switch (domain) {
	case TS_CUPTI_CB_DOMAIN_DRIVER_API:
		on_call("driver", cbid, data);
		break;
	case TS_CUPTI_CB_DOMAIN_RUNTIME_API:
		on_call("runtime", cbid, data);
		break;
	case TS_CUPTI_CB_DOMAIN_RESOURCE:
		on_resource(cbid, data);
		break;
	case TS_CUPTI_CB_DOMAIN_SYNCHRONIZE:
		say("synchronized %u", cbid);
		break;
	case TS_CUPTI_CB_DOMAIN_STATE:
		say("state %u: result %u: %s", cbid,
		    ((const struct ts_cupti_state_data *)data)->result,
		    ((const struct ts_cupti_state_data *)data)->message);
		break;
	default:
		say("domain %u callback %u", domain, cbid);
	}
}

/* Converts a record's time to us since the logger's start on CUPTI's clock. 0 stays 0. */
static uint64_t clock_began;

static double since(uint64_t ns)
{
	return ns ? ((double)ns - (double)clock_began) / 1e3 : 0;
}

/* Logs a record of an object or of CUPTI's overhead. */
static void on_object(const struct ts_cupti_activity *record)
{
	switch (record->kind) {
	case TS_CUPTI_ACTIVITY_KIND_OVERHEAD: {
		const struct ts_cupti_activity_overhead *o = (const void *)record;

		say("record OVERHEAD #%u kind %x object %u start %.3f end %.3f data %s",
		    o->correlation_id, o->overhead_kind, o->object_kind, since(o->start),
		    since(o->end), o->overhead_data ? "yes" : "no");
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_DEVICE: {
		const struct ts_cupti_activity_device *d = (const void *)record;

		say("record DEVICE %u %s flags %u bandwidth %llu memory %llu constant %u l2 %u warp %u clock %u engines %u multiprocessors %u ipc %u "
		    "warps %u blocks %u shared %u/%u registers %u/%u capability %u.%u ecc %u visible %u mig %u numa %u/%u",
		    d->id, d->name, d->flags, (unsigned long long)d->global_memory_bandwidth,
		    (unsigned long long)d->global_memory_size, d->constant_memory_size,
		    d->l2_cache_size, d->num_threads_per_warp, d->core_clock_rate,
		    d->num_memcpy_engines, d->num_multiprocessors, d->max_ipc,
		    d->max_warps_per_multiprocessor, d->max_blocks_per_multiprocessor,
		    d->max_shared_memory_per_multiprocessor, d->max_shared_memory_per_block,
		    d->max_registers_per_multiprocessor, d->max_registers_per_block,
		    d->compute_capability_major, d->compute_capability_minor, d->ecc_enabled,
		    d->is_cuda_visible, d->is_mig_enabled, d->is_numa_node, d->numa_id);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_CONTEXT: {
		const struct ts_cupti_activity_context *c = (const void *)record;

		say("record CONTEXT %u device %u api %u null stream %u parent %u green %u multiprocessors %u cig %u",
		    c->context_id, c->device_id, c->compute_api_kind, c->null_stream_id,
		    c->parent_context_id, c->is_green_context, c->num_multiprocessors, c->cig_mode);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_STREAM: {
		const struct ts_cupti_activity_stream *s = (const void *)record;

		say("record STREAM %u context %u priority %d flag %u #%u", s->stream_id,
		    s->context_id, (int)s->priority, s->flag, s->correlation_id);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
		const struct ts_cupti_activity_cuda_event *e = (const void *)record;

		say("record CUDA_EVENT #%u event %u context %u stream %u device %u sync %llu",
		    e->correlation_id, e->event_id, e->context_id, e->stream_id, e->device_id,
		    (unsigned long long)e->cuda_event_sync_id);
		break;
	}
	default:
		say("record kind %u", record->kind);
	}
}

static void on_record(const struct ts_cupti_activity *record)
{
	switch (record->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const struct ts_cupti_activity_kernel *k = (const void *)record;

		say("record CONCURRENT_KERNEL #%u %s start %.3f end %.3f completed %.3f queued %.3f submitted %.3f device %u context %u "
		    "stream %u grid %d,%d,%d block %d,%d,%d registers %u shared %d+%d executed %u local %u total %u/%llu graph %u node %llx "
		    "grid_id %lld launch %u channel %u type %u cluster %u,%u,%u policy %u max %u,%u device_launched %u cache %u config %u "
		    "carveout %u/%u limit %u partitioned %u/%u",
		    k->correlation_id, k->name, since(k->start), since(k->end), since(k->completed),
		    since(k->queued), since(k->submitted), k->device_id, k->context_id,
		    k->stream_id, k->grid_x, k->grid_y, k->grid_z, k->block_x, k->block_y,
		    k->block_z, k->registers_per_thread, k->static_shared_memory,
		    k->dynamic_shared_memory, k->shared_memory_executed, k->local_memory_per_thread,
		    k->local_memory_total, (unsigned long long)k->local_memory_total_v2,
		    k->graph_id, (unsigned long long)k->graph_node_id, (long long)k->grid_id,
		    k->launch_type, k->channel_id, k->channel_type, k->cluster_x, k->cluster_y,
		    k->cluster_z, k->cluster_scheduling_policy, k->max_potential_cluster_size,
		    k->max_active_clusters, k->is_device_launched, k->cache_config,
		    k->shared_memory_config, k->is_shared_memory_carveout_requested,
		    k->shared_memory_carveout_requested, k->shmem_limit_config,
		    k->partitioned_global_cache_requested, k->partitioned_global_cache_executed);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY: {
		const struct ts_cupti_activity_memcpy *c = (const void *)record;

		say("record MEMCPY #%u runtime #%u copy %u %u>%u flags %u bytes %llu start %.3f end %.3f device %u context %u stream %u "
		    "graph %u node %llx channel %u type %u device_launched %u count %llu",
		    c->correlation_id, c->runtime_correlation_id, c->copy_kind, c->src_kind,
		    c->dst_kind, c->flags, (unsigned long long)c->bytes, since(c->start),
		    since(c->end), c->device_id, c->context_id, c->stream_id, c->graph_id,
		    (unsigned long long)c->graph_node_id, c->channel_id, c->channel_type,
		    c->is_device_launched, (unsigned long long)c->copy_count);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY2: {
		const struct ts_cupti_activity_memcpy_ptop *c = (const void *)record;

		say("record MEMCPY2 #%u copy %u %u>%u flags %u bytes %llu start %.3f end %.3f device %u context %u stream %u from %u/%u to %u/%u",
		    c->correlation_id, c->copy_kind, c->src_kind, c->dst_kind, c->flags,
		    (unsigned long long)c->bytes, since(c->start), since(c->end), c->device_id,
		    c->context_id, c->stream_id, c->src_device_id, c->src_context_id,
		    c->dst_device_id, c->dst_context_id);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_MEMSET: {
		const struct ts_cupti_activity_memset *m = (const void *)record;

		say("record MEMSET #%u value %u bytes %llu kind %u flags %u start %.3f end %.3f device %u context %u stream %u graph %u node %llx "
		    "channel %u type %u",
		    m->correlation_id, m->value, (unsigned long long)m->bytes, m->memory_kind,
		    m->flags, since(m->start), since(m->end), m->device_id, m->context_id,
		    m->stream_id, m->graph_id, (unsigned long long)m->graph_node_id, m->channel_id,
		    m->channel_type);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
		const struct ts_cupti_activity_synchronization *s = (const void *)record;

		say("record SYNCHRONIZATION #%u type %u start %.3f end %.3f context %u stream %u event %u sync %llu result %u",
		    s->correlation_id, s->type, since(s->start), since(s->end), s->context_id,
		    s->stream_id, s->cuda_event_id, (unsigned long long)s->cuda_event_sync_id,
		    s->return_value);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_MEMORY2: {
		const struct ts_cupti_activity_memory *m = (const void *)record;

		say("record MEMORY2 #%u operation %u kind %u bytes %llu at %.3f device %u context %u stream %u async %u pool %u threshold %llu size "
		    "%llu used %llu name %s source %s",
		    m->correlation_id, m->memory_operation_type, m->memory_kind,
		    (unsigned long long)m->bytes, since(m->timestamp), m->device_id, m->context_id,
		    m->stream_id, m->is_async, m->memory_pool_config.memory_pool_type,
		    (unsigned long long)m->memory_pool_config.release_threshold,
		    (unsigned long long)m->memory_pool_config.pool.size,
		    (unsigned long long)m->memory_pool_config.utilized_size,
		    m->name ? m->name : "-", m->source ? m->source : "-");
		break;
	}
	default:
		on_object(record);
	}
}

static void on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
	say("buffer requested");
}

static void on_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid_bytes)
{
	size_t dropped = 0;
	void *record = NULL;
	const uint8_t *last = buffer;

	cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
	say("buffer completed context %s stream %u valid %zu of %zu dropped %zu",
	    context ? "some" : "none", stream, valid_bytes, size, dropped);
	while (!cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		if (record != last)
			say("step %zu", (size_t)((const uint8_t *)record - last));
		last = record;
		on_record(record);
	}
	free(buffer);
}

static void on_crash(int signal)
{
	void *frames[40];

	backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
	if (!pthread_mutex_trylock(&lock))
		for (unsigned i = n_lines > 20 ? n_lines - 20 : 0; i < n_lines; i++)
			dprintf(STDERR_FILENO, "%s\n", lines[i]);
	_exit(128 + signal);
}

static void finish(void)
{
	const char *path = getenv("TS_SEQUENCE");
	FILE *stream;
	unsigned i;

	say("end");
	cupti.cuptiActivityFlushAll(1);
	say("flushed");
	stream = path ? fopen(path, "w") : stderr;
	if (!stream)
		return;
	for (i = 0; i < n_lines; i++)
		fprintf(stream, "%s\n", lines[i]);
	fprintf(stream, "left out %u\n", n_left_out);
	if (path)
		fclose(stream);
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *path = getenv("TS_CUPTI");
	void *library = dlopen(path ? path : "libcupti.so.13", RTLD_NOW), *subscriber;
	uint32_t domain, version = 0, result;
	unsigned i;

	clock_gettime(CLOCK_MONOTONIC, &began);
	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	if (!library) {
		fprintf(stderr, "cupti-sequence: %s\n", dlerror());
		return 1;
	}
#define RESOLVE(name, arguments) *(void **)&cupti.name = dlsym(library, #name);
	FUNCTIONS(RESOLVE)
#undef RESOLVE
	cupti.cuptiGetVersion(&version);
	result = cupti.cuptiSubscribe(&subscriber, on_callback, NULL);
	cupti.cuptiGetTimestamp(&clock_began);
	say("head version %u subscribe %u", version, result);
	cupti.cuptiActivityRegisterCallbacks(on_requested, on_completed);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		say("head kind %u enabled %u", kinds[i], cupti.cuptiActivityEnable(kinds[i]));
	for (domain = TS_CUPTI_CB_DOMAIN_DRIVER_API; domain <= TS_CUPTI_CB_DOMAIN_STATE; domain++)
		say("head domain %u enabled %u", domain,
		    cupti.cuptiEnableDomain(1, subscriber, domain));
	atexit(finish);
	return 1;
}
