/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows into a program: see emulate.h. replay/report calls ts_emulate_read(). One pass
 * collects calls and the items that they put into streams, joined by operation id. emulate-layout.c
 * completes the program.
 */
#include "replay/emulate/emulate-builder.h"

#include "proto/abi/vendor/cupti_cbid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	 TS_EMULATE_NONE
#define LEFT_OUT (NONE - 1) /* a call outside of the options' selection */
/* Most places that wait for their items. */
#define MAX_RESERVED 65536u
/* Row types that become items. */
#define OP_ROWS (TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))
#define ITEM_ROWS                                                              \
	(OP_ROWS | TS_ROW_BIT(TS_ROW_EVENT) | TS_ROW_BIT(TS_ROW_STREAM_WAIT) | \
	 TS_ROW_BIT(TS_ROW_GRAPH_LAUNCH))

void ts_emulate_builder_free(struct ts_emulate_builder *builder)
{
	if (!builder)
		return;
	ts_emulate_program_free(builder->program);
	ts_emulate_ids_deinit(&builder->call_by_op);
	ts_state_map_deinit(&builder->queue_by_id);
	ts_state_map_deinit(&builder->context_by_id);
	ts_state_map_deinit(&builder->thread_by_id);
	ts_state_map_deinit(&builder->engine_by_id);
	ts_same_devices_deinit(&builder->same);
	for (size_t i = 0; i < builder->n_crowds; i++)
		free(builder->crowds[i].heap);
	free(builder->crowds);
	free(builder->waits);
	free(builder->last_calls);
	free(builder);
}

int ts_emulate_builder_new(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
			   struct ts_emulate_builder **ret_builder)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder =
		calloc(1, sizeof(*builder));
	int r;

	if (!builder)
		return -ENOMEM;
	builder->program = calloc(1, sizeof(*builder->program));
	if (!builder->program)
		return -ENOMEM;
	builder->program->spare = calloc(1, sizeof(*builder->program->spare));
	if (!builder->program->spare)
		return -ENOMEM;
	r = reader ? ts_same_devices_read(&builder->same, reader) : 0;
	if (r)
		return r;
	builder->options = *options;
	builder->reader = reader;
	builder->base_ns = UINT64_MAX;
	*ret_builder = builder;
	builder = NULL;
	return 0;
}

void ts_emulate_program_free(struct ts_emulate_program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->n_contexts; i++)
		free(program->contexts[i].streams);
	free(program->contexts);
	if (!program->is_copy || program->changes & TS_EMULATE_CHANGES_CALLS)
		free(program->calls);
	if (!program->is_copy || program->changes & TS_EMULATE_CHANGES_ITEMS)
		free(program->items);
	if (!program->is_copy) {
		free(program->recorded_calls);
		free(program->recorded_items);
		if (program->spare) {
			free(program->spare->items);
			free(program->spare->calls);
		}
		free(program->spare);
	}
	free(program->durations_ns);
	free(program->gap_edits);
	free(program->joins);
	free(program->queues);
	free(program->threads);
	free(program->engines);
	free(program->by_start);
	free(program);
}

void ts_emulate_doubts(const struct ts_emulate_program *program, struct ts_emulate_doubts *ret)
{
	*ret = program->doubts;
}

/* ---- streams, threads, engines --------------------------------------------------------------- */

/* True if the key is the one that was found last. */
static inline bool is_last(const struct ts_emulate_found *last, uint32_t session, uint64_t key)
{
	return ts_likely(last->key == key && last->session == session && last->at);
}

/* Finds a key that no caller removes or changes. Returns its index, or NONE. */
static uint32_t find(const struct ts_state_map *map, struct ts_emulate_found *last,
		     uint32_t session, uint64_t key)
{
	uint32_t at = ts_state_map_find(map, session, key);

	if (at != NONE)
		*last = (struct ts_emulate_found){key, session, at + 1};
	return at;
}

static int get_context(struct ts_emulate_builder *builder, uint32_t session, uint32_t id,
		       uint32_t *ret)
{
	struct ts_emulate_program *program = builder->program;
	uint32_t found = ts_state_map_find(&builder->context_by_id, session, id);
	int r;

	if (found == NONE) {
		r = ts_largearray_grow(&program->contexts, program->n_contexts,
				       &program->n_contexts_allocated, sizeof(*program->contexts));
		if (!r)
			r = ts_state_map_set(&builder->context_by_id, session, id,
					     (uint32_t)program->n_contexts);
		if (r)
			return r;
		found = (uint32_t)program->n_contexts++;
		program->contexts[found] =
			(struct ts_emulate_context){.session = session, .legacy = NONE};
	}
	*ret = found;
	return 0;
}

static int add_to_context(struct ts_emulate_context *context, uint32_t queue)
{
	size_t n_allocated = context->n_allocated;
	int r = ts_largearray_grow(&context->streams, context->n_streams, &n_allocated,
				   sizeof(*context->streams));

	context->n_allocated = (uint32_t)n_allocated;
	if (!r)
		context->streams[context->n_streams++] = queue;
	return r;
}

int ts_emulate_builder_queue(struct ts_emulate_builder *builder, uint32_t session,
			     uint32_t context_id, uint32_t stream, uint32_t *ret)
{
	struct ts_emulate_program *program = builder->program;
	uint64_t key = (uint64_t)context_id << 32 | stream;
	uint32_t found = find(&builder->queue_by_id, &builder->queue_found, session, key), context;
	int r;

	if (found != NONE) {
		*ret = found;
		return 0;
	}
	if (program->n_queues == TS_MAX_STREAMS)
		return TS_E_STREAMS;
	found = (uint32_t)program->n_queues;
	r = get_context(builder, session, context_id, &context);
	if (!r)
		r = ts_largearray_grow(&program->queues, found, &program->n_queues_allocated,
				       sizeof(*program->queues));
	if (!r)
		r = ts_largearray_grow(&builder->last_calls, found, &builder->n_last_allocated,
				       sizeof(*builder->last_calls));
	if (!r)
		r = add_to_context(&program->contexts[context], found);
	if (!r)
		r = ts_state_map_set(&builder->queue_by_id, session, key, found);
	if (r)
		return r;
	builder->last_calls[found] = NONE;
	program->n_queues++;
	program->queues[found] = (struct ts_emulate_queue){.session = session,
							   .device = TS_NO_DEVICE,
							   .context_id = context_id,
							   .context = context,
							   .stream = stream,
							   .next_part = NONE};
	*ret = found;
	return 0;
}

static int feed_stream(struct ts_emulate_builder *builder, uint32_t session,
		       const struct ts_row_stream *row)
{
	struct ts_emulate_program *program = builder->program;
	struct ts_emulate_queue *queue;
	uint32_t at;
	int r = ts_emulate_builder_queue(builder, session, row->context, row->stream, &at);

	if (r)
		return r;
	queue = &program->queues[at];
	queue->priority = row->priority;
	ts_stream_set_kind(&queue->kind, row->stream_flags);
	if (queue->kind.is_legacy)
		program->contexts[queue->context].legacy = at;
	return 0;
}

int ts_emulate_builder_thread(struct ts_emulate_builder *builder, uint32_t session, uint32_t thread,
			      uint32_t *ret)
{
	struct ts_emulate_program *program = builder->program;
	uint32_t found = find(&builder->thread_by_id, &builder->thread_found, session, thread);
	int r;

	if (found == NONE) {
		r = program->n_threads < TS_MAX_THREADS
			    ? ts_largearray_grow(&program->threads, program->n_threads,
						 &program->n_threads_allocated,
						 sizeof(*program->threads))
			    : TS_E_THREADS;
		if (!r)
			r = ts_state_map_set(&builder->thread_by_id, session, thread,
					     (uint32_t)program->n_threads);
		if (r)
			return r;
		found = (uint32_t)program->n_threads++;
		program->threads[found] = (struct ts_emulate_thread){.session = session,
								     .thread = thread,
								     .first_call = NONE,
								     .last_call = NONE};
	}
	*ret = found;
	return 0;
}

/* Returns NULL if the device is unknown. */
static const struct ts_row_device *device_of(struct ts_emulate_builder *builder, uint32_t session,
					     uint32_t device)
{
	if (!builder->reader)
		return NULL;
	if (!builder->has_device || builder->device != device ||
	    builder->device_session != session) {
		builder->has_device = true;
		builder->device = device;
		builder->device_session = session;
		builder->device_row = ts_sbt_reader_device(builder->reader, session, device);
	}
	return builder->device_row;
}

int ts_emulate_builder_engine(struct ts_emulate_builder *builder, uint32_t session, uint32_t device,
			      uint32_t kind, uint32_t *ret)
{
	struct ts_emulate_program *program = builder->program;
	uint64_t key = (uint64_t)device << 8 | kind;
	uint32_t found = find(&builder->engine_by_id, &builder->engine_found, session, key);
	uint32_t its_session = session, its_device = device;
	uint64_t its_key;
	int r = 0;

	if (found != NONE) {
		*ret = found;
		return 0;
	}
	if (builder->reader)
		ts_same_devices_first(&builder->same, builder->reader, &its_session, &its_device);
	its_key = (uint64_t)its_device << 8 | kind;
	found = ts_state_map_find(&builder->engine_by_id, its_session, its_key);
	if (found == NONE) {
		r = program->n_engines < TS_MAX_STREAMS
			    ? ts_largearray_grow(&program->engines, program->n_engines,
						 &program->n_engines_allocated,
						 sizeof(*program->engines))
			    : TS_E_STREAMS;
		if (!r)
			r = ts_largearray_grow(&builder->crowds, builder->n_crowds,
					       &builder->n_crowds_allocated,
					       sizeof(*builder->crowds));
		if (r)
			return r;
		builder->crowds[builder->n_crowds++] = (struct ts_emulate_crowd){0};
		found = (uint32_t)program->n_engines++;
		program->engines[found] = (struct ts_emulate_engine){.session = its_session,
								     .device = its_device,
								     .kind = kind,
								     .kinds = 1u << kind};
		r = ts_state_map_set(&builder->engine_by_id, its_session, its_key, found);
	}
	if (!r)
		r = ts_state_map_set(&builder->engine_by_id, session, key, found);
	*ret = found;
	return r;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* As the functions above; fast if the last row had the same stream, thread or engine. */
static inline int get_queue(struct ts_emulate_builder *builder, uint32_t session, uint32_t context,
			    uint32_t stream, uint32_t *ret)
{
	if (!is_last(&builder->queue_found, session, (uint64_t)context << 32 | stream))
		return ts_emulate_builder_queue(builder, session, context, stream, ret);
	*ret = builder->queue_found.at - 1;
	return 0;
}

static inline int get_thread(struct ts_emulate_builder *builder, uint32_t session, uint32_t thread,
			     uint32_t *ret)
{
	if (!is_last(&builder->thread_found, session, thread))
		return ts_emulate_builder_thread(builder, session, thread, ret);
	*ret = builder->thread_found.at - 1;
	return 0;
}

static inline int get_engine(struct ts_emulate_builder *builder, uint32_t session, uint32_t device,
			     uint32_t kind, uint32_t *ret)
{
	if (!is_last(&builder->engine_found, session, (uint64_t)device << 8 | kind))
		return ts_emulate_builder_engine(builder, session, device, kind, ret);
	*ret = builder->engine_found.at - 1;
	return 0;
}

static bool is_full(const struct ts_emulate_builder *builder)
{
	return builder->program->n_calls + builder->n_items >= TS_EMULATE_MAX_ITEMS;
}

static inline int append_call(struct ts_emulate_builder *builder,
			      const struct ts_emulate_call *call,
			      const struct ts_emulate_recorded_call *recorded)
{
	struct ts_emulate_program *program = builder->program;
	size_t n = program->n_calls;
	int r = is_full(builder) ? TS_E_EMULATED
				 : ts_largearray_grow(&program->calls, n,
						      &builder->n_calls_allocated, sizeof(*call));

	if (!r)
		r = ts_largearray_grow(&program->recorded_calls, n,
				       &builder->n_recorded_calls_allocated, sizeof(*recorded));
	if (r)
		return r;
	builder->base_ns = ts_emulate_less(builder->base_ns, recorded->start_ns);
	builder->end_ns = ts_emulate_more(builder->end_ns, recorded->end_ns);
	builder->has_late_calls |=
		n && ts_emulate_compare_calls(&program->recorded_calls[n - 1], recorded) > 0;
	program->calls[n] = *call;
	program->recorded_calls[n] = *recorded;
	program->n_calls++;
	return 0;
}

int ts_emulate_builder_add_call(struct ts_emulate_builder *builder,
				const struct ts_emulate_call *call,
				const struct ts_emulate_recorded_call *recorded)
{
	return append_call(builder, call, recorded);
}

static bool is_asked(const struct ts_emulate_options *options, uint64_t op_id, uint64_t time_ns)
{
	if (options->has_ops && (op_id < options->first_op || op_id > options->last_op))
		return false;
	return time_ns >= options->from_ns && (!options->to_ns || time_ns <= options->to_ns);
}

/*
 * True for calls that free memory: they wait until no operation uses the memory, though the vendor
 * does not record a wait.
 */
static bool is_free(uint32_t domain, uint32_t cbid)
{
	domain = ts_api_base(domain);
	if (domain == TS_API_CUDA_RUNTIME)
		return cbid == TS_CUPTI_RUNTIME_CBID_cudaFree_v3020 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaFreeArray_v3020 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaFreeHost_v3020 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaHostUnregister_v4000;
	return domain == TS_API_CUDA_DRIVER && (cbid == TS_CUPTI_DRIVER_CBID_cuMemFree ||
						cbid == TS_CUPTI_DRIVER_CBID_cuMemFree_v2 ||
						cbid == TS_CUPTI_DRIVER_CBID_cuMemFreeHost ||
						cbid == TS_CUPTI_DRIVER_CBID_cuArrayDestroy ||
						cbid == TS_CUPTI_DRIVER_CBID_cuMemHostUnregister);
}

/* Takes the next place for an item of the call. */
static int take_place(struct ts_emulate_builder *builder, uint32_t call, uint32_t *ret_place)
{
	struct ts_emulate_program *program = builder->program;
	size_t n = builder->n_places;
	int r = ts_largearray_grow(&program->items, n, &builder->n_items_allocated,
				   sizeof(*program->items));

	if (!r)
		r = ts_largearray_grow(&program->recorded_items, n,
				       &builder->n_recorded_items_allocated,
				       sizeof(*program->recorded_items));
	if (r)
		return r;
	builder->is_scattered |= call < builder->last_placed;
	builder->last_placed = call;
	/* A place without an item has no kind. */
	program->items[n].kind = 0;
	*ret_place = (uint32_t)builder->n_places++;
	return 0;
}

/*
 * False if many calls have no item yet, because then many will never get one, and their places
 * waste memory.
 */
static bool may_reserve(const struct ts_emulate_builder *builder)
{
	return builder->n_places - builder->n_items < MAX_RESERVED;
}

static int feed_call(struct ts_emulate_builder *builder, uint32_t session,
		     const struct ts_row_api *row)
{
	struct ts_emulate_program *program = builder->program;
	uint32_t at = is_asked(&builder->options, row->op_id, row->start_ns)
			      ? (uint32_t)program->n_calls
			      : LEFT_OUT;
	struct ts_emulate_recorded_call recorded = {
		.start_ns = row->start_ns,
		.end_ns = row->end_ns,
		.op_id = row->op_id,
	};
	struct ts_emulate_call call = {
		.next = NONE,
		.join = NONE,
		.wait_of = NONE,
		.name = (uint32_t)row->domain << 16 | row->cbid,
		.flags = row->flags & TS_API_EXPECTS_DEVICE ? TS_EMULATE_CALL_AWAITED : 0,
	};
	uint32_t place = NONE;
	int r = ts_emulate_ids_set(&builder->call_by_op, session, row->op_id, at);

	if (!r && row->nested_op_id && row->nested_op_id != row->op_id)
		r = ts_emulate_ids_set(&builder->call_by_op, session, row->nested_op_id, at);
	if (r || at == LEFT_OUT)
		return r;
	if (recorded.end_ns < recorded.start_ns) {
		recorded.end_ns = recorded.start_ns;
		program->doubts.n_backwards++;
	}
	r = get_thread(builder, session, row->thread, &call.thread);
	if (!r && is_free(row->domain, row->cbid)) {
		call.wait = TS_EMULATE_WAIT_CONTEXT;
		call.flags |= TS_EMULATE_CALL_GUESSED;
		r = get_context(builder, session, row->context, &call.wait_of);
	}
	if (!r && call.flags & TS_EMULATE_CALL_AWAITED && may_reserve(builder))
		r = take_place(builder, at, &place);
	if (r)
		return r;
	/* A reserved place + 1; 0: none. */
	call.first_item = place != NONE ? place + 1 : 0;
	return append_call(builder, &call, &recorded);
}

/* Lists the operation in `by_start`, in the order of the rows. */
static int list_op(struct ts_emulate_builder *builder, const struct ts_emulate_row_item *item,
		   uint32_t place)
{
	struct ts_emulate_program *program = builder->program;
	uint64_t start_ns = item->recorded.start_ns, end_ns = item->recorded.end_ns;
	bool is_tied = start_ns == builder->last_op_ns, is_empty = start_ns == end_ns;
	int r = ts_largearray_grow(&program->by_start, program->n_ops,
				   &builder->n_by_start_allocated, sizeof(*program->by_start));

	if (r)
		return r;
	builder->base_ns = ts_emulate_less(builder->base_ns, start_ns);
	builder->end_ns = ts_emulate_more(builder->end_ns, end_ns);
	builder->has_late_ops |= start_ns < builder->last_op_ns;
	builder->has_empty_ties |= is_tied && (is_empty || builder->is_empty_run);
	builder->is_empty_run = is_empty || (is_tied && builder->is_empty_run);
	builder->last_op_ns = start_ns;
	program->by_start[program->n_ops++] =
		place | (is_tied ? TS_EMULATE_START_TIED : 0) |
		(item->its.type != TS_ROW_KERNEL ? TS_EMULATE_START_COPY : 0);
	return ts_emulate_crowd_join(&builder->crowds[item->its.engine], start_ns, end_ns,
				     item->its.demand);
}

/*
 * Appends an item to its call's list. While the program is made, `first_item` holds the first of
 * the list and `join` the last.
 */
static inline int append_item(struct ts_emulate_builder *builder,
			      const struct ts_emulate_row_item *item)
{
	struct ts_emulate_program *program = builder->program;
	struct ts_emulate_call *call = &program->calls[item->its.call];
	uint32_t at;
	int r = is_full(builder) ? TS_E_EMULATED : 0;

	if (!call->n_items && call->first_item)
		at = call->first_item - 1;
	else
		r = r ? r : take_place(builder, item->its.call, &at);
	if (!r && item->its.kind == TS_EMULATE_OP)
		r = list_op(builder, item, at);
	if (r)
		return r;
	builder->n_items++;
	builder->n_opens += item->its.kind == TS_EMULATE_OPEN;
	if (call->n_items++)
		program->items[call->join].other = at;
	else
		call->first_item = at;
	call->join = at;
	program->items[at] = item->its;
	program->recorded_items[at] = item->recorded;
	return 0;
}

int ts_emulate_builder_add_item(struct ts_emulate_builder *builder,
				const struct ts_emulate_row_item *item)
{
	return append_item(builder, item);
}

static uint64_t warps_of(const struct ts_row_device *device, const struct ts_row_kernel *row)
{
	uint64_t threads = (uint64_t)row->block_x * row->block_y * row->block_z;
	uint64_t warp = device->threads_per_warp ? device->threads_per_warp : 32;

	return (threads + warp - 1) / warp;
}

/* Returns the number of a kernel's blocks that fit on a multiprocessor; 0: unknown. */
static uint32_t blocks_each(const struct ts_row_device *device, const struct ts_row_kernel *row)
{
	uint64_t warp = device->threads_per_warp ? device->threads_per_warp : 32;
	uint64_t warps = warps_of(device, row);
	uint64_t shared = (uint64_t)row->static_shared_bytes + row->dynamic_shared_bytes;
	uint64_t registers = row->registers_per_thread * warp * warps;
	uint64_t n = device->max_blocks_per_multiprocessor;

	if (!warps || !device->max_warps_per_multiprocessor || !n)
		return 0;
	n = ts_emulate_less(n, device->max_warps_per_multiprocessor / warps);
	if (shared && device->max_shared_bytes_per_multiprocessor)
		n = ts_emulate_less(n, device->max_shared_bytes_per_multiprocessor / shared);
	if (registers && device->max_registers_per_multiprocessor)
		n = ts_emulate_less(n, device->max_registers_per_multiprocessor / registers);
	return n ? (uint32_t)n : 1;
}

static void size_kernel(struct ts_emulate_builder *builder, uint32_t session,
			const struct ts_row_kernel *row, struct ts_emulate_row_item *item)
{
	const struct ts_row_device *device = device_of(builder, session, row->device);
	uint64_t blocks = (uint64_t)row->grid_x * row->grid_y;
	uint64_t each, taken;

	item->its.name = row->name;
	if (__builtin_mul_overflow(blocks, row->grid_z, &blocks) || blocks > UINT32_MAX)
		blocks = UINT32_MAX;
	item->recorded.blocks = (uint32_t)blocks;
	if (!device || !device->n_multiprocessors)
		return;
	builder->program->engines[item->its.engine].capacity = device->n_multiprocessors;
	each = item->recorded.blocks_each = blocks_each(device, row);
	if (!each)
		return;
	if (2 * each * warps_of(device, row) >= device->max_warps_per_multiprocessor)
		item->its.flags |= TS_EMULATE_ITEM_DENSE;
	taken = (blocks + each - 1) / each;
	item->its.demand =
		(uint32_t)ts_emulate_more(ts_emulate_less(taken, device->n_multiprocessors), 1);
}

struct place {
	uint64_t op_id, graph_node;
	uint32_t device, context, stream, graph;
};

static void place_of(const struct ts_sbt_row *row, struct place *place,
		     struct ts_emulate_row_item *read)
{
	struct ts_emulate_item *item = &read->its;

	if (row->type == TS_ROW_KERNEL) {
		*place = (struct place){row->kernel->op_id,  row->kernel->graph_node,
					row->kernel->device, row->kernel->context,
					row->kernel->stream, row->kernel->graph};
	} else if (row->type == TS_ROW_MEMCPY) {
		*place = (struct place){row->memcpy_->op_id,  row->memcpy_->graph_node,
					row->memcpy_->device, row->memcpy_->context,
					row->memcpy_->stream, row->memcpy_->graph};
		read->recorded.bytes = row->memcpy_->bytes;
		item->copy_kind = row->memcpy_->copy_kind;
		item->name = item->copy_kind;
		if (row->memcpy_->async)
			item->flags |= TS_EMULATE_ITEM_ASYNC;
		if (row->memcpy_->src_kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
		    row->memcpy_->dst_kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
			item->flags |= TS_EMULATE_ITEM_PAGEABLE;
	} else {
		*place = (struct place){row->memset_->op_id,  row->memset_->graph_node,
					row->memset_->device, row->memset_->context,
					row->memset_->stream, row->memset_->graph};
		read->recorded.bytes = row->memset_->bytes;
		item->flags |= TS_EMULATE_ITEM_ASYNC;
	}
	if (place->graph || place->graph_node)
		item->flags |= TS_EMULATE_ITEM_NODE;
}

static int add_pseudo(struct ts_emulate_builder *builder, uint32_t session, uint32_t queue,
		      uint64_t time_ns, uint32_t *ret_call)
{
	struct ts_emulate_recorded_call recorded = {.start_ns = time_ns, .end_ns = time_ns};
	struct ts_emulate_call call = {.next = NONE,
				       .join = NONE,
				       .wait_of = NONE,
				       .flags = TS_EMULATE_CALL_PSEUDO};
	/* The id of this pseudo thread is above the thread ids of every valid trace. */
	int r = ts_emulate_builder_thread(builder, session, UINT32_MAX - queue, &call.thread);

	*ret_call = (uint32_t)builder->program->n_calls;
	builder->program->n_pseudo++;
	return r ? r : ts_emulate_builder_add_call(builder, &call, &recorded);
}

static int feed_op(struct ts_emulate_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_emulate_row_item read = {.its = {.kind = TS_EMULATE_OP,
						   .type = (uint8_t)row->type,
						   .demand = 1,
						   .other = NONE,
						   .inner = NONE}};
	struct ts_emulate_item *item = &read.its;
	uint64_t start_ns = ts_row_start_ns(row->any);
	struct place place;
	int r;

	place_of(row, &place, &read);
	read.recorded.op_id = place.op_id;
	read.recorded.start_ns = start_ns;
	read.recorded.end_ns = ts_row_end_ns(row->schema, row->any);
	item->call = ts_emulate_ids_find(&builder->call_by_op, row->session, place.op_id);
	if (item->call == LEFT_OUT ||
	    (builder->options.has_stream && place.stream != builder->options.stream) ||
	    (item->call == NONE && !is_asked(&builder->options, place.op_id, start_ns)))
		return 0;
	if (read.recorded.end_ns < start_ns) {
		read.recorded.end_ns = start_ns;
		builder->program->doubts.n_backwards++;
	}
	r = get_queue(builder, row->session, place.context, place.stream, &item->stream);
	if (!r)
		r = get_engine(builder, row->session, place.device,
			       ts_emulate_engine_of(row->type, item->copy_kind), &item->engine);
	if (r)
		return r;
	builder->program->queues[item->stream].device = place.device;
	if (row->type == TS_ROW_KERNEL)
		size_kernel(builder, row->session, row->kernel, &read);
	if (item->call == NONE) {
		item->flags |= TS_EMULATE_ITEM_ORPHAN;
		item->flags &= (uint8_t)~TS_EMULATE_ITEM_NODE;
		builder->program->doubts.n_without_call++;
		item->call = builder->last_calls[item->stream];
		if (item->call == NONE)
			r = add_pseudo(builder, row->session, item->stream, start_ns, &item->call);
	}
	builder->last_calls[item->stream] = item->call;
	return r ? r : append_item(builder, &read);
}

/*
 * Adds items for event records, waits for events, and graph launches. The nodes of a launch have
 * rows of their own; this row gives the launch's stream.
 */
static int feed_point(struct ts_emulate_builder *builder, uint32_t session, uint64_t op_id,
		      uint32_t context, uint32_t stream, uint64_t handle, uint8_t kind)
{
	struct ts_emulate_row_item point = {.its = {.kind = kind, .other = NONE, .inner = NONE},
					    .recorded = {.op_id = op_id, .bytes = handle}};
	uint32_t call = ts_emulate_ids_find(&builder->call_by_op, session, op_id);
	int r;

	point.its.call = call;
	if (call == NONE || call == LEFT_OUT || stream == TS_NO_DEVICE ||
	    (builder->options.has_stream && stream != builder->options.stream))
		return 0;
	r = get_queue(builder, session, context, stream, &point.its.stream);
	return r ? r : ts_emulate_builder_add_item(builder, &point);
}

static int feed_sync(struct ts_emulate_builder *builder, uint32_t session,
		     const struct ts_row_sync *row)
{
	struct ts_emulate_waited waited = {
		.call = ts_emulate_ids_find(&builder->call_by_op, session, row->op_id),
		.type = row->sync_type,
		.context = row->context,
		.stream = row->stream,
		.session = session,
		.event = row->event,
	};
	int r;

	if (waited.call == NONE || waited.call == LEFT_OUT ||
	    row->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
		return 0;
	r = ts_largearray_grow(&builder->waits, builder->n_waits, &builder->n_waits_allocated,
			       sizeof(*builder->waits));
	if (!r)
		builder->waits[builder->n_waits++] = waited;
	return r;
}

int ts_emulate_builder_feed(struct ts_emulate_builder *builder, const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		return feed_call(builder, row->session, row->api);
	case TS_ROW_KERNEL:
	case TS_ROW_MEMCPY:
	case TS_ROW_MEMSET:
		return feed_op(builder, row);
	case TS_ROW_EVENT:
		return feed_point(builder, row->session, row->event->op_id, row->event->context,
				  row->event->stream, row->event->event, TS_EMULATE_RECORD);
	case TS_ROW_STREAM_WAIT:
		return feed_point(builder, row->session, row->stream_wait->op_id,
				  row->stream_wait->context, row->stream_wait->stream,
				  row->stream_wait->event, TS_EMULATE_WAIT);
	case TS_ROW_GRAPH_LAUNCH:
		return feed_point(builder, row->session, row->graph_launch->op_id,
				  row->graph_launch->context, row->graph_launch->stream, 0,
				  TS_EMULATE_OPEN);
	case TS_ROW_STREAM:
		return feed_stream(builder, row->session, row->stream);
	case TS_ROW_SYNC:
		return feed_sync(builder, row->session, row->sync);
	default:
		return 0;
	}
}

/*
 * Allocates room for all rows that the blocks announce, so that arrays are rarely moved. Unused
 * pages cost nothing. If this fails, the arrays grow.
 */
static void reserve(struct ts_emulate_builder *builder)
{
	const struct ts_emulate_options *options = &builder->options;
	struct ts_emulate_program *program = builder->program;
	uint64_t n_calls = 0, n_items = 0, n_ops = 0;

	if (options->has_ops || options->has_stream || options->from_ns || options->to_ns)
		return;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(builder->reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(builder->reader, i);

		if (options->session && block->session != options->session)
			continue;
		if (block->type == TS_ROW_API)
			n_calls += block->n_rows;
		else if (block->type < 64 && TS_ROW_BIT(block->type) & ITEM_ROWS)
			n_items += block->n_rows;
		if (block->type < 64 && TS_ROW_BIT(block->type) & OP_ROWS)
			n_ops += block->n_rows;
		/* A graph launch is one row and becomes two items. */
		if (block->type == TS_ROW_GRAPH_LAUNCH)
			n_items += block->n_rows;
	}
	n_calls = ts_emulate_less(n_calls, TS_EMULATE_MAX_ITEMS);
	n_items = ts_emulate_less(n_items, TS_EMULATE_MAX_ITEMS - n_calls);
	n_ops = ts_emulate_less(n_ops, n_items);
	if (n_calls) {
		(void)ts_largearray_resize(&program->calls, n_calls, &builder->n_calls_allocated,
					   sizeof(*program->calls));
		(void)ts_largearray_resize(&program->recorded_calls, n_calls,
					   &builder->n_recorded_calls_allocated,
					   sizeof(*program->recorded_calls));
		ts_emulate_ids_reserve(&builder->call_by_op, n_calls);
	}
	if (n_items) {
		n_items += MAX_RESERVED;
		(void)ts_largearray_resize(&program->items, n_items, &builder->n_items_allocated,
					   sizeof(*program->items));
		(void)ts_largearray_resize(&program->recorded_items, n_items,
					   &builder->n_recorded_items_allocated,
					   sizeof(*program->recorded_items));
	}
	if (n_ops)
		(void)ts_largearray_resize(&program->by_start, n_ops,
					   &builder->n_by_start_allocated,
					   sizeof(*program->by_start));
}

static int read_rows(struct ts_emulate_builder *builder)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_STATE_MACHINE_ROWS | TS_ROW_BIT(TS_ROW_SYNC),
		.session = builder->options.session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_sbt_cursor_new(builder->reader, &options, &cursor);

	reserve(builder);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			builder->program->doubts.is_damaged = true;
			r = 0;
			continue;
		}
		if (!r)
			r = ts_emulate_builder_feed(builder, &row);
		if (!r && ++n % TS_EMULATE_STEP == 0 && builder->options.step)
			r = builder->options.step(builder->options.step_data, n, 0);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_emulate_read(struct ts_sbt_reader *reader, const struct ts_emulate_options *options,
		    struct ts_emulate_program **ret_program)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	int r = ts_emulate_builder_new(reader, options, &builder);

	if (!r)
		r = read_rows(builder);
	r = r ? r : ts_emulate_builder_finish(builder, ret_program);
	if (!r) {
		(*ret_program)->step = options->step;
		(*ret_program)->step_data = options->step_data;
	}
	return r;
}
