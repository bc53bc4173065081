/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes decided slices as text, in any thread: see kineto-slices.h. kineto.c adds the slices;
 * replay/report/pieces.c calls this file for the text.
 */
#include "tools/export/kineto/kineto-slices.h"

#include <stdio.h>

#include "proto/abi/base.h"

/* An item of type 0: a finished text. It begins like a slice. */
struct finished {
	uint32_t n_bytes, type;
	size_t n_text;
	char text[];
};

TS_ASSERT_FIELD(struct finished, type, offsetof(struct ts_kineto_slice, type));
TS_STATIC_ASSERT(offsetof(struct ts_kineto_slice, row) % 8 == 0, "rows are aligned");

/* Prints how much of a multiprocessor a launch fills, if the device's limits are known. */
static void put_occupancy(struct ts_events *events, const struct ts_kineto_slices *slices,
			  uint32_t session, const struct ts_row_kernel *row)
{
	const struct ts_row_device *device =
		ts_sbt_reader_device(slices->reader, session, row->device);
	double blocks = (double)row->grid_x * row->grid_y * row->grid_z;
	double threads = (double)row->block_x * row->block_y * row->block_z;
	double shared = (double)row->static_shared_bytes + row->dynamic_shared_bytes;
	double warps, limit;

	if (!device || !device->n_multiprocessors || !device->threads_per_warp)
		return;
	blocks /= device->n_multiprocessors;
	warps = threads / device->threads_per_warp;
	ts_events_raw(events, ", \"blocks per SM\": ");
	ts_events_number(events, blocks);
	ts_events_raw(events, ", \"warps per SM\": ");
	ts_events_number(events, blocks * warps);
	if (!device->max_warps_per_multiprocessor || !threads)
		return;
	limit = device->max_warps_per_multiprocessor / warps;
	if (device->max_blocks_per_multiprocessor && limit > device->max_blocks_per_multiprocessor)
		limit = device->max_blocks_per_multiprocessor;
	if (device->max_shared_bytes_per_multiprocessor && shared > 0 &&
	    limit > device->max_shared_bytes_per_multiprocessor / shared)
		limit = device->max_shared_bytes_per_multiprocessor / shared;
	if (device->max_registers_per_multiprocessor && row->registers_per_thread &&
	    limit > device->max_registers_per_multiprocessor /
			    (threads * row->registers_per_thread))
		limit = device->max_registers_per_multiprocessor /
			(threads * row->registers_per_thread);
	limit = (double)(uint64_t)limit;
	if (blocks < limit)
		limit = blocks;
	ts_events_put_uint(events, ", \"est. achieved occupancy %",
			   (uint64_t)(0.5 + 100.0 * limit * warps /
						    device->max_warps_per_multiprocessor));
}

static void put_shape(struct ts_events *events, uint32_t x, uint32_t y, uint32_t z)
{
	ts_events_uint(events, x);
	ts_events_raw(events, ", ");
	ts_events_uint(events, y);
	ts_events_raw(events, ", ");
	ts_events_uint(events, z);
	ts_events_raw(events, "]");
}

static void put_bytes(struct ts_events *events, const struct ts_kineto_slice *slice, uint64_t bytes)
{
	ts_events_put_uint(events, ", \"bytes", bytes);
	ts_events_raw(events, ", \"memory bandwidth (GB/s)\": ");
	if (slice->took_ns)
		ts_events_number(events, (double)bytes / (double)slice->took_ns);
	else
		ts_events_raw(events, "\"N/A\"");
}

static const char *memory_kind(uint32_t kind)
{
	/* Index: CUPTI's number; text: kineto's word. */
	static const char *const names[] = {"Unknown",	     "Pageable",      "Pinned",
					    "Device",	     "Array",	      "Managed",
					    "Device Static", "Managed Static"};

	return kind < TS_ARRAY_LEN(names) ? names[kind] : "Unrecognized";
}

/* Begins the slice with the arguments that all GPU slices have. More arguments may follow. */
static void begin_on_device(struct ts_events *events, const struct ts_kineto_slice *slice,
			    const char *category, const char *name, uint32_t device,
			    uint32_t context, uint32_t stream)
{
	ts_events_slice(events, category, name, slice->place, slice->start_ns, slice->took_ns);
	ts_events_put_uint(events, "\"device", device);
	ts_events_put_uint(events, ", \"context", context);
	ts_events_put_uint(events, ", \"stream", stream);
	ts_events_put_uint(events, ", \"correlation", slice->correlation);
}

static void end_slice(struct ts_events *events)
{
	ts_events_raw(events, "}");
	ts_events_end(events);
}

static void end_on_device(struct ts_events *events, const struct ts_kineto_slice *slice,
			  uint64_t op_id)
{
	end_slice(events);
	if (op_id)
		ts_events_flow(events, 'f', slice->correlation, slice->place, slice->start_ns);
}

static void put_kernel(struct ts_events *events, const struct ts_kineto_slices *slices,
		       const struct ts_kineto_slice *slice)
{
	const struct ts_row_kernel *row = (const void *)slice->row;

	begin_on_device(events, slice, "kernel", slice->name ? slice->name : "unknown kernel",
			row->device, row->context, row->stream);
	ts_events_put_uint(events, ", \"queued", slice->queued_ns / 1000);
	ts_events_put_uint(events, ", \"registers per thread", row->registers_per_thread);
	ts_events_put_uint(events, ", \"shared memory",
			   (uint64_t)row->static_shared_bytes + row->dynamic_shared_bytes);
	put_occupancy(events, slices, slice->session, row);
	ts_events_raw(events, ", \"grid\": [");
	put_shape(events, row->grid_x, row->grid_y, row->grid_z);
	ts_events_raw(events, ", \"block\": [");
	put_shape(events, row->block_x, row->block_y, row->block_z);
	if (row->graph_node)
		ts_events_put_uint(events, ", \"graph node id", row->graph_node);
	end_on_device(events, slice, row->op_id);
}

static void put_copy(struct ts_events *events, const struct ts_kineto_slice *slice)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
	const struct ts_row_memcpy *row = (const void *)slice->row;
	char name[96];

	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
		 row->copy_kind < TS_ARRAY_LEN(kinds) ? kinds[row->copy_kind] : "Unrecognized",
		 memory_kind(row->src_kind), memory_kind(row->dst_kind));
	begin_on_device(events, slice, "gpu_memcpy", name, row->device, row->context, row->stream);
	put_bytes(events, slice, row->bytes);
	end_on_device(events, slice, row->op_id);
}

static void put_set(struct ts_events *events, const struct ts_kineto_slice *slice)
{
	const struct ts_row_memset *row = (const void *)slice->row;
	char name[48];

	snprintf(name, sizeof(name), "Memset (%s)", memory_kind(row->memory_kind));
	begin_on_device(events, slice, "gpu_memset", name, row->device, row->context, row->stream);
	put_bytes(events, slice, row->bytes);
	end_on_device(events, slice, row->op_id);
}

static void put_call(struct ts_events *events, const struct ts_kineto_slice *slice)
{
	const struct ts_row_api *row = (const void *)slice->row;
	const char *name = slice->name;
	char number[32];

	if (!name)
		snprintf(number, sizeof(number), "cbid %u", row->cbid);
	ts_events_slice(events,
			ts_api_base(row->domain) == TS_API_CUDA_DRIVER ? "cuda_driver"
								       : "cuda_runtime",
			name ? name : number, slice->place, slice->start_ns, slice->took_ns);
	ts_events_put_uint(events, "\"cbid", row->cbid);
	ts_events_put_uint(events, ", \"correlation", slice->correlation);
	if (row->result) {
		ts_events_raw(events, ", \"result\": ");
		ts_events_int(events, row->result);
	}
	end_slice(events);
	if (!(row->flags & TS_API_EXPECTS_DEVICE) && name && !strstr(name, "GraphLaunch"))
		return;
	ts_events_flow(events, 's', slice->correlation, slice->place, slice->start_ns);
	if (row->nested_op_id && row->nested_op_id != row->op_id)
		ts_events_flow(events, 's', slice->nested, slice->place, slice->start_ns);
}

static void put_item(struct ts_events *events, const struct ts_kineto_slices *slices,
		     const struct ts_kineto_slice *slice)
{
	switch (slice->type) {
	case TS_ROW_API:
		put_call(events, slice);
		break;
	case TS_ROW_KERNEL:
		put_kernel(events, slices, slice);
		break;
	case TS_ROW_MEMCPY:
		put_copy(events, slice);
		break;
	case TS_ROW_MEMSET:
		put_set(events, slice);
		break;
	default:
		ts_events_text(events, ((const struct finished *)slice)->text,
			       ((const struct finished *)slice)->n_text);
	}
}

/* The owner of the file checks its errors. */
static int write_text(void *data, const char *text, size_t n_bytes)
{
	const struct ts_kineto_slices *slices = data;

	fwrite(text, 1, n_bytes, slices->file);
	return 0;
}

/* Bounds the text after an item. */
static int bound(struct ts_events *events, void *data, bool in_order, struct ts_json *text)
{
	int r = ts_events_close(events);

	r = r ? r : ts_pieces_bound(in_order, write_text, data, text);
	return r ? r : ts_events_open(events, text);
}

static int put_items(void *data, bool in_order, const uint8_t *items, size_t n_bytes,
		     struct ts_json *text)
{
	/* The track of a slice is introduced before it, so a slice is never the first event. */
	struct ts_events events = {.has_event = true};
	int r = ts_events_open(&events, text);

	for (size_t at = 0; !r && at < n_bytes;) {
		const struct ts_kineto_slice *slice = (const void *)(items + at);

		put_item(&events, data, slice);
		at += slice->n_bytes;
		if ((size_t)(events.at - text->data) >= TS_PIECES_TEXT_BYTES)
			r = bound(&events, data, in_order, text);
	}
	r = r ? r : ts_events_close(&events);
	ts_events_deinit(&events);
	return r;
}

static int format(void *data, void *state, const uint8_t *items, size_t n_bytes,
		  struct ts_json *text)
{
	return put_items(data, false, items, n_bytes, text);
}

static int format_in_order(void *data, void *state, const uint8_t *items, size_t n_bytes,
			   struct ts_json *text)
{
	return put_items(data, true, items, n_bytes, text);
}

int ts_kineto_slices_new(struct ts_kineto_slices *slices, struct ts_pieces **ret_pieces)
{
	const struct ts_pieces_kind kind = {.format = format,
					    .format_in_order = format_in_order,
					    .write = write_text,
					    .writes_anywhere = true,
					    .data = slices};

	return ts_pieces_new(&kind, ret_pieces);
}

int ts_kineto_slices_add(struct ts_pieces *pieces, const struct ts_sbt_row *row,
			 struct ts_kineto_slice **ret_slice)
{
	const uint32_t n_row = row->schema->row_bytes;
	const size_t n_bytes = ts_align_up(offsetof(struct ts_kineto_slice, row) + n_row, 8);
	struct ts_kineto_slice *slice;
	void *item;
	int r = ts_pieces_add(pieces, n_bytes, &item);

	if (r)
		return r;
	slice = item;
	slice->n_bytes = (uint32_t)n_bytes;
	slice->type = row->type;
	slice->session = row->session;
	slice->reserved = 0;
	memcpy(slice->row, row->any, n_row);
	*ret_slice = slice;
	return 0;
}

int ts_kineto_slices_add_text(struct ts_pieces *pieces, const struct ts_json *text)
{
	const size_t n_bytes = ts_align_up(offsetof(struct finished, text) + text->n_bytes, 8);
	struct finished *finished;
	void *item;
	int r = n_bytes > UINT32_MAX ? -EOVERFLOW : ts_pieces_add(pieces, n_bytes, &item);

	if (r)
		return r;
	finished = item;
	finished->n_bytes = (uint32_t)n_bytes;
	finished->type = 0;
	finished->n_text = text->n_bytes;
	memcpy(finished->text, text->data, text->n_bytes);
	return 0;
}
