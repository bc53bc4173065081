/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as structs, JSON and Perfetto packets, for bench-sbt.c. The Perfetto packets are as small as
 * possible: names and annotations are interned; each thread and stream is a sequence with its own
 * incremental clock and default track; a row is two packets; the operation is a flow; the stack id
 * is an annotation. They lack the launch configuration, which SBT and JSON have.
 *
 * Wire format and field numbers: Perfetto's trace_packet.proto, track_event.proto,
 * debug_annotation.proto, interned_data.proto.
 */

#include "test/bench/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <zstd.h>

#define N_TRACKS 32u

struct sink {
	ZSTD_CCtx *zstd;
	struct ts_bench_size size;
	uint64_t last_ns[N_TRACKS];
	uint8_t out[64 * 1024];
};

static int put(struct sink *sink, const void *bytes, size_t n, bool last)
{
	ZSTD_inBuffer in = {.src = bytes, .size = n};
	size_t left;

	sink->size.plain += n;
	do {
		ZSTD_outBuffer out = {.dst = sink->out, .size = sizeof(sink->out)};

		left = ZSTD_compressStream2(sink->zstd, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -ENOMEM;
		sink->size.compressed += out.pos;
	} while (last ? left : in.pos < in.size);
	return 0;
}

/* ---- structs: the bytes of the columns, without the padding at the row's end */

static int put_struct(struct sink *sink, unsigned type, const void *row)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	const struct ts_column *last = &schema->columns[schema->n_columns - 1];

	return put(sink, row, (size_t)last->offset + last->width, false);
}

/* ---- JSON */

static int put_json(struct sink *sink, unsigned type, const void *row)
{
	const struct ts_row_kernel *k = row;
	const struct ts_row_memcpy *copy = row;
	const struct ts_row_api *api = row;
	char text[1024], name[256] = "Memcpy HtoD (Pinned -> Device)";
	double us = (double)ts_row_start_ns(row) / 1000;
	double duration_us =
		(double)(ts_row_end_ns(ts_row_schema(type), row) - ts_row_start_ns(row)) / 1000;
	int n;

	if (type == TS_ROW_API) {
		n = snprintf(
			text, sizeof(text),
			"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": 1, "
			"\"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"cbid\": %u, "
			"\"correlation\": %" PRIu64 ", \"stack\": %u}},\n",
			api->cbid == 211 ? "cudaLaunchKernel" : "cudaMemcpyAsync",
			1000 + api->thread, us, duration_us, api->cbid, api->op_id, api->stack);
	} else if (type == TS_ROW_KERNEL) {
		ts_training_name(k->name, name, sizeof(name));
		n = snprintf(text, sizeof(text),
			     "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, "
			     "\"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"device\": 0, "
			     "\"context\": 1, \"stream\": %u, \"correlation\": %" PRIu64
			     ", \"registers per thread\": %u, \"shared memory\": %u, "
			     "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]}},\n",
			     name, k->stream, us, duration_us, k->stream, k->op_id,
			     k->registers_per_thread, k->dynamic_shared_bytes, k->grid_x, k->grid_y,
			     k->grid_z, k->block_x, k->block_y, k->block_z);
	} else {
		n = snprintf(
			text, sizeof(text),
			"{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"%s\", \"pid\": 0, "
			"\"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"device\": 0, "
			"\"context\": 1, \"stream\": %u, \"correlation\": %" PRIu64
			", \"bytes\": %" PRIu64 "}},\n",
			name, copy->stream, us, duration_us, copy->stream, copy->op_id,
			copy->bytes);
	}
	return put(sink, text, (size_t)n, false);
}

/* ---- Perfetto: builds a message from its end, so that each length is known when written ---- */

struct message {
	uint8_t bytes[512];
	size_t at; /* offset of the first byte */
};

static void prepend_varint(struct message *m, uint64_t value)
{
	uint8_t bytes[10];
	unsigned n = 0;

	do {
		bytes[n] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
		n++;
	} while (value);
	m->at -= n;
	memcpy(m->bytes + m->at, bytes, n);
}

static void prepend_number(struct message *m, unsigned field, uint64_t value)
{
	prepend_varint(m, value);
	prepend_varint(m, field << 3);
}

static void prepend_fixed64(struct message *m, unsigned field, uint64_t value)
{
	m->at -= 8;
	memcpy(m->bytes + m->at, &value, 8);
	prepend_varint(m, field << 3 | 1);
}

static void prepend_bytes(struct message *m, unsigned field, const void *bytes, size_t n)
{
	m->at -= n;
	memcpy(m->bytes + m->at, bytes, n);
	prepend_varint(m, n);
	prepend_varint(m, field << 3 | 2);
}

/* Makes the bytes between m->at and `end` a field. */
static void wrap(struct message *m, unsigned field, size_t end)
{
	prepend_varint(m, end - m->at);
	prepend_varint(m, field << 3 | 2);
}

enum {
	PACKET = 1, /* Trace.packet; the next are TracePacket's */
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	CLOCK_ID = 58,
	DEFAULTS = 59,

	EVENT_ANNOTATIONS = 4, /* TrackEvent's */
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_FLOWS = 47,
};

/*
 * Writes the first packets of a sequence: its clock and track, and the names, because each sequence
 * interns them itself.
 */
static int put_sequence(struct sink *sink, unsigned track, uint64_t ns)
{
	struct message m;
	size_t end;
	char name[256];
	int r = 0;

	for (unsigned i = 1; !r && i <= TS_TRAINING_NAMES; i++) {
		ts_training_name(i, name, sizeof(name));
		m.at = end = sizeof(m.bytes);
		prepend_bytes(&m, 2, name, strlen(name));
		prepend_number(&m, 1, i);
		wrap(&m, 2, end);
		wrap(&m, INTERNED_DATA, end);
		if (i == 1) {
			size_t defaults = m.at;

			prepend_number(&m, EVENT_TRACK, track + 1);
			wrap(&m, 11, defaults);
			prepend_number(&m, CLOCK_ID, 64);
			wrap(&m, DEFAULTS, defaults);
			prepend_number(&m, TIMESTAMP, ns);
		}
		prepend_number(&m, SEQUENCE_FLAGS, i == 1 ? 1 : 2);
		prepend_number(&m, SEQUENCE_ID, track + 1);
		wrap(&m, PACKET, end);
		r = put(sink, m.bytes + m.at, end - m.at, false);
	}
	return r;
}

static int put_edge(struct sink *sink, unsigned track, uint64_t ns, unsigned type, uint32_t name,
		    uint64_t op_id, uint32_t stack)
{
	struct message m = {.at = sizeof(m.bytes)};
	size_t end = m.at, event;

	if (type == 1) {
		prepend_fixed64(&m, EVENT_FLOWS, op_id);
		if (stack) {
			event = m.at;
			prepend_number(&m, 3, stack);
			prepend_number(&m, 1, 1);
			wrap(&m, EVENT_ANNOTATIONS, event);
		}
		prepend_number(&m, EVENT_NAME_IID, name);
	}
	prepend_number(&m, EVENT_TYPE, type);
	wrap(&m, TRACK_EVENT, end);
	prepend_number(&m, SEQUENCE_ID, track + 1);
	prepend_number(&m, TIMESTAMP, ns - sink->last_ns[track]);
	wrap(&m, PACKET, end);
	sink->last_ns[track] = ns;
	return put(sink, m.bytes + m.at, end - m.at, false);
}

static int put_perfetto(struct sink *sink, unsigned type, const void *row)
{
	const struct ts_row_api *api = row;
	const struct ts_row_kernel *kernel = row;
	bool is_call = type == TS_ROW_API;
	unsigned track = is_call ? api->thread : 8 + kernel->stream % 16;
	uint32_t name = is_call			? 30 + (api->cbid == 211)
			: type == TS_ROW_KERNEL ? kernel->name
						: 29;
	int r = 0;

	if (!sink->last_ns[track]) {
		r = put_sequence(sink, track, api->start_ns);
		sink->last_ns[track] = api->start_ns;
	}
	r = r
		    ?: put_edge(sink, track, api->start_ns, 1, name, api->op_id,
				is_call ? api->stack : 0);
	return r ?: put_edge(sink, track, api->end_ns, 2, 0, 0, 0);
}

/* ---- */

static const struct {
	const char *name;
	int level;
	int (*put)(struct sink *sink, unsigned type, const void *row);
} formats[TS_BENCH_FORMATS] = {
	[TS_BENCH_STRUCTS] = {"structs", 1, put_struct},
	[TS_BENCH_JSON] = {"json", 3, put_json},
	[TS_BENCH_PERFETTO] = {"perfetto", 3, put_perfetto},
};

const char *ts_bench_format_name(enum ts_bench_format format)
{
	return formats[format].name;
}

static int put_rows(struct sink *sink, enum ts_bench_format format, unsigned type,
		    const uint8_t **row, uint32_t n)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++, *row += ts_row_schema(type)->row_bytes)
		r = formats[format].put(sink, type, *row);
	return r;
}

int ts_bench_measure(enum ts_bench_format format, const struct ts_bench_rows *rows,
		     struct ts_bench_size *ret_size)
{
	const struct ts_bench_step *step = (const void *)rows->steps.bytes;
	const uint8_t *api = rows->api.bytes, *kernels = rows->kernels.bytes,
		      *copies = rows->copies.bytes, *sets = rows->sets.bytes;
	struct sink *sink = calloc(1, sizeof(*sink));
	int r = sink ? 0 : -ENOMEM;

	if (r)
		return r;
	sink->zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, formats[format].level);
	for (size_t i = 0; !r && i < rows->steps.n / sizeof(*step); i++, step++) {
		r = put_rows(sink, format, TS_ROW_API, &api, step->n_api);
		r = r ?: put_rows(sink, format, TS_ROW_KERNEL, &kernels, step->n_kernels);
		r = r ?: put_rows(sink, format, TS_ROW_MEMCPY, &copies, step->n_copies);
		r = r ?: put_rows(sink, format, TS_ROW_MEMSET, &sets, step->n_sets);
	}
	r = r ?: put(sink, NULL, 0, true);
	*ret_size = sink->size;
	ZSTD_freeCCtx(sink->zstd);
	free(sink);
	return r;
}
