/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes activity records of every layout between CUDA 11.0 and 13. The shim reads the fields that
 * a version has. It neither reads nor invents fields that the version lacks. Records are packed as
 * closely as that version packs them. The bytes after each record have a poison value, so that a
 * read beyond the record is detected.
 */
#include "inject/cuda/activity.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

static const uint32_t versions[] = {13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 130000, 130001};

static struct fixture f;
static struct ts_cupti cupti;
static struct ts_widen widen;
static struct ts_id_set *objects;
static struct ts_activity activity;
static uint8_t buffer[64 * 1024] __attribute__((aligned(8)));
static size_t used;

static uint32_t next_record(uint8_t *bytes, size_t valid_bytes, struct ts_cupti_activity **record)
{
	uint8_t *at = bytes;

	if (*record)
		at = (uint8_t *)*record + ts_cupti_record_bytes((*record)->kind, cupti.version);
	if (at >= bytes + valid_bytes)
		return TS_CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!((struct ts_cupti_activity *)(void *)at)->kind)
		return TS_CUPTI_ERROR_INVALID_KIND;
	*record = (struct ts_cupti_activity *)(void *)at;
	return TS_CUPTI_SUCCESS;
}

static void begin(uint32_t version)
{
	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	objects = calloc(1, sizeof(*objects));
	/* Times in this test are small numbers. */
	f.control->start_monotonic_ns = 0;
	memset(&cupti, 0, sizeof(cupti));
	cupti.vendor = &ts_pti_vendors[TS_PTI_CUPTI];
	cupti.version = cupti.layout_version = version;
	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.clock = version >= 17 ? TS_CLOCK_MONOTONIC : TS_CLOCK_CUPTI;
	memset(&widen, 0, sizeof(widen));
	ts_activity_init(&activity, &cupti, &f.producer, &widen, objects);
	memset(buffer, 0xee, sizeof(buffer));
	used = 0;
}

static void end(void)
{
	free(objects);
	fixture_deinit(&f);
}

static void put(const void *record)
{
	size_t n_bytes = ts_cupti_record_bytes(((const struct ts_cupti_activity *)record)->kind,
					       cupti.version);

	ts_check(n_bytes);
	memcpy(buffer + used, record, n_bytes);
	used += n_bytes;
}

static void decode(void)
{
	ts_activity_decode(&activity, buffer, used);
}

static struct ts_cupti_activity_kernel a_kernel(uint32_t correlation)
{
	return (struct ts_cupti_activity_kernel){
		.kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.registers_per_thread = 32,
		.start = 1000,
		.end = 2000,
		.device_id = 1,
		.context_id = 2,
		.stream_id = 13,
		.grid_x = 4,
		.grid_y = 5,
		.grid_z = 6,
		.block_x = 128,
		.block_y = 2,
		.block_z = 1,
		.static_shared_memory = 64,
		.dynamic_shared_memory = 4096,
		.local_memory_per_thread = 16,
		.correlation_id = correlation,
		.name = "_Z4gemmPf",
		.launch_type = 1,
		.graph_node_id = 77,
		.graph_id = 9,
		.channel_id = 3,
		.channel_type = 1,
		.cluster_x = 2,
		.cluster_y = 1,
		.cluster_z = 1,
	};
}

TS_TEST(kernels_of_every_version)
{
	for (size_t v = 0; v < TS_ARRAY_LEN(versions); v++) {
		struct ts_cupti_activity_kernel in = a_kernel(500);
		const struct ts_record_kernel *out;
		const struct ts_definition *name;
		uint32_t version = versions[v];

		begin(version);
		put(&in);
		in.correlation_id = 501;
		in.graph_node_id = 0;
		put(&in);
		decode();
		out = (const struct ts_record_kernel *)fixture_record(&f, 0, 0);
		ts_check(out);
		ts_check_int(out->record.type, TS_RECORD_KERNEL);
		ts_check_int(out->record.clock, cupti.clock);
		ts_check_int(out->record.time, 1000);
		ts_check_int(out->end, 2000);
		ts_check_int(out->op_id, 500);
		ts_check_int(out->place.device, 1);
		ts_check_int(out->place.context, 2);
		ts_check_int(out->place.stream, 13);
		ts_check_int(out->place.graph_node, 77);
		ts_check_int(out->place.graph, version >= 14 ? 9 : 0);
		ts_check_int(out->grid[2], 6);
		ts_check_int(out->block[0], 128);
		ts_check_int(out->dynamic_shared_bytes, 4096);
		ts_check_int(out->registers_per_thread, 32);
		ts_check_int(out->launch_type, 1);
		ts_check_int(out->channel, version >= 17 ? 3 : 0);
		ts_check_int(out->channel_type, version >= 17 ? 1 : 0);
		ts_check_int(out->cluster[0], version >= 18 ? 2 : 0);
		name = fixture_definition(&f, TS_DEF_STRING, out->name);
		ts_check(name && name->n == 9 && !memcmp(name + 1, "_Z4gemmPf", 9));
		out = (const struct ts_record_kernel *)fixture_record(&f, 0, 1);
		ts_check(out && out->op_id == 501);
		ts_check(!fixture_record(&f, 0, 2));
		end();
	}
}

/* A module is unloaded between two buffers, and another name lies at the address of its name. */
TS_TEST(names_change_between_buffers)
{
	struct ts_cupti_activity_kernel in = a_kernel(500);
	const struct ts_record_kernel *out;
	const struct ts_definition *name;
	char text[16] = "first";

	begin(versions[TS_ARRAY_LEN(versions) - 1]);
	in.name = text;
	put(&in);
	put(&in);
	decode();
	strcpy(text, "second");
	decode();
	for (unsigned i = 0; i < 4; i++) {
		out = (const struct ts_record_kernel *)fixture_record(&f, 0, i);
		name = out ? fixture_definition(&f, TS_DEF_STRING, out->name) : NULL;
		ts_check(name && !memcmp(name + 1, i < 2 ? "first" : "second", name->n));
		ts_check_int(name->n, i < 2 ? 5 : 6);
	}
	end();
}

TS_TEST(copies_of_every_version)
{
	for (size_t v = 0; v < TS_ARRAY_LEN(versions); v++) {
		struct ts_cupti_activity_memcpy in = {
			.kind = TS_CUPTI_ACTIVITY_KIND_MEMCPY,
			.copy_kind = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
			.src_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
			.dst_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.flags = TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC,
			.bytes = 4096,
			.start = 10,
			.end = 20,
			.device_id = 1,
			.context_id = 1,
			.stream_id = 7,
			.correlation_id = 3,
			.graph_id = 5,
			.channel_id = 8,
			.copy_count = 4,
		};
		struct ts_cupti_activity_memcpy_ptop peer = {
			.kind = TS_CUPTI_ACTIVITY_KIND_MEMCPY2,
			.copy_kind = TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
			.bytes = 100,
			.start = 30,
			.end = 40,
			.device_id = 1,
			.src_device_id = 1,
			.dst_device_id = 2,
			.correlation_id = 4,
			.graph_id = 6,
		};
		const struct ts_record_memcpy *out;
		uint32_t version = versions[v];

		begin(version);
		put(&in);
		put(&peer);
		in.copy_kind = TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
		in.flags = 0;
		put(&in);
		decode();
		out = (const struct ts_record_memcpy *)fixture_record(&f, 0, 0);
		ts_check_int(out->record.type, TS_RECORD_MEMCPY);
		ts_check_int(out->bytes, 4096);
		ts_check_int(out->src_device, TS_NO_DEVICE);
		ts_check_int(out->dst_device, 1);
		ts_check_int(out->async, 1);
		ts_check_int(out->src_kind, TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
		ts_check_int(out->place.graph, version >= 14 ? 5 : 0);
		ts_check_int(out->channel, version >= 17 ? 8 : 0);
		ts_check_int(out->copy_count, version >= 26 ? 4 : 1);
		out = (const struct ts_record_memcpy *)fixture_record(&f, 0, 1);
		ts_check_int(out->src_device, 1);
		ts_check_int(out->dst_device, 2);
		ts_check_int(out->op_id, 4);
		ts_check_int(out->place.graph, version >= 14 ? 6 : 0);
		out = (const struct ts_record_memcpy *)fixture_record(&f, 0, 2);
		ts_check_int(out->src_device, 1);
		ts_check_int(out->dst_device, TS_NO_DEVICE);
		ts_check_int(out->async, 0);
		end();
	}
}

TS_TEST(sets_waits_and_memory_of_every_version)
{
	for (size_t v = 0; v < TS_ARRAY_LEN(versions); v++) {
		struct ts_cupti_activity_memset set = {
			.kind = TS_CUPTI_ACTIVITY_KIND_MEMSET,
			.value = 0xab,
			.bytes = 64,
			.start = 1,
			.end = 2,
			.correlation_id = 1,
			.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.flags = TS_CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC,
			.graph_id = 5,
		};
		struct ts_cupti_activity_synchronization sync = {
			.kind = TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
			.type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
			.start = 3,
			.end = 4,
			.correlation_id = 2,
			.context_id = 1,
			.stream_id = TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE,
			.cuda_event_id = TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE,
			.return_value = 700,
		};
		struct ts_cupti_activity_memory memory = {
			.kind = TS_CUPTI_ACTIVITY_KIND_MEMORY2,
			.memory_operation_type = TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
			.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.correlation_id = 3,
			.address = 0x7f0000000000,
			.bytes = 1 << 20,
			.timestamp = 5,
			.stream_id = 9,
			.is_async = 1,
		};
		const struct ts_record_memset *set_out;
		const struct ts_record_sync *sync_out;
		const struct ts_record_memory *memory_out;
		uint32_t version = versions[v];

		begin(version);
		put(&set);
		put(&sync);
		if (version >= 15)
			put(&memory);
		decode();
		set_out = (const struct ts_record_memset *)fixture_record(&f, 0, 0);
		ts_check_int(set_out->record.type, TS_RECORD_MEMSET);
		ts_check_int(set_out->value, 0xab);
		ts_check_int(set_out->async, 1);
		ts_check_int(set_out->place.graph, version >= 14 ? 5 : 0);
		sync_out = (const struct ts_record_sync *)fixture_record(&f, 0, 1);
		ts_check_int(sync_out->record.type, TS_RECORD_SYNC);
		ts_check_int(sync_out->stream, TS_NO_DEVICE);
		ts_check_int(sync_out->event, 0);
		ts_check_int(sync_out->result, version >= 26 ? 700 : 0);
		memory_out = (const struct ts_record_memory *)fixture_record(&f, 0, 2);
		ts_check(!memory_out == (version < 15));
		if (memory_out) {
			ts_check_int(memory_out->record.type, TS_RECORD_FREE);
			ts_check_int(memory_out->bytes, 1 << 20);
			ts_check_int(memory_out->stream, 9);
			ts_check_int(memory_out->async, 1);
			ts_check_int(memory_out->pool, 0);
		}
		end();
	}
}

TS_TEST(rows_without_times_are_counted)
{
	struct ts_cupti_activity_kernel in = a_kernel(1);
	const struct ts_shard *shard;

	begin(TS_CUPTI_API_VERSION);
	in.start = in.end = 0;
	put(&in);
	in.start = 5;
	put(&in);
	in.end = 6;
	in.correlation_id = 3;
	put(&in);
	decode();
	shard = fixture_shard(&f, 0);
	ts_check_int(shard->lost[TS_LOSS_ZERO_TIMESTAMP], 1);
	ts_check_int(shard->lost[TS_LOSS_UNFINISHED], 1);
	ts_check_int(((const struct ts_record_kernel *)fixture_record(&f, 0, 0))->op_id, 3);
	ts_check(!fixture_record(&f, 0, 1));
	end();
}

TS_TEST(devices_are_defined_once)
{
	struct ts_cupti_activity_device in = {
		.kind = TS_CUPTI_ACTIVITY_KIND_DEVICE,
		.id = 2,
		.name = "TraceSmith Virtual GPU (test)",
		.global_memory_size = UINT64_C(80) << 30,
		.num_multiprocessors = 132,
		.compute_capability_major = 9,
	};
	const struct ts_definition_device *out;

	begin(TS_CUPTI_API_VERSION);
	put(&in);
	put(&in);
	in.id = 3;
	in.name = "NVIDIA H200";
	put(&in);
	in.id = 4;
	in.name = "TraceSmith Virtual GPU (test, host clock)";
	put(&in);
	in.id = 5;
	in.name = "TraceSmith Virtual GPU (test, timed kernels)";
	put(&in);
	decode();
	ts_check_int(f.definitions.last_id[TS_DEF_DEVICE], 4);
	out = (const struct ts_definition_device *)fixture_definition(&f, TS_DEF_DEVICE, 1);
	ts_check_int(out->device, 2);
	ts_check_int(out->n_multiprocessors, 132);
	ts_check_int(out->memory_bytes >> 30, 80);
	ts_check_int(out->definition.flags, TS_DEVICE_VIRTUAL | TS_DEVICE_MODEL_CLOCK);
	ts_check_int(fixture_definition(&f, TS_DEF_DEVICE, 2)->flags, 0);
	ts_check_int(fixture_definition(&f, TS_DEF_DEVICE, 3)->flags, TS_DEVICE_VIRTUAL);
	ts_check_int(fixture_definition(&f, TS_DEF_DEVICE, 4)->flags,
		     TS_DEVICE_VIRTUAL | TS_DEVICE_MODEL_CLOCK | TS_DEVICE_TIMED_KERNELS);
	end();
}

TS_TEST(what_callbacks_told_of_is_not_told_again)
{
	struct ts_cupti_activity_context context = {.kind = TS_CUPTI_ACTIVITY_KIND_CONTEXT,
						    .context_id = 1};
	struct ts_cupti_activity_stream stream = {.kind = TS_CUPTI_ACTIVITY_KIND_STREAM,
						  .context_id = 1,
						  .stream_id = 13,
						  .priority = (uint32_t)-5};
	const struct ts_record_object *out;

	begin(TS_CUPTI_API_VERSION);
	ts_check(ts_id_set_add(objects, ts_activity_object(1, TS_NO_DEVICE)));
	put(&context);
	put(&stream);
	put(&stream);
	decode();
	out = (const struct ts_record_object *)fixture_record(&f, 0, 0);
	ts_check_int(out->record.type, TS_RECORD_STREAM);
	ts_check_int(out->action, TS_OBJECT_SEEN);
	ts_check_int(out->priority, -5);
	ts_check_int(out->stream, 13);
	ts_check(!fixture_record(&f, 0, 1));
	end();
}

TS_TEST(unknown_kinds_are_stepped_over)
{
	struct ts_cupti_activity_external_correlation other = {
		.kind = TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
	struct ts_cupti_activity_kernel in = a_kernel(1);

	begin(TS_CUPTI_API_VERSION);
	put(&other);
	put(&in);
	decode();
	ts_check_int(fixture_record(&f, 0, 0)->type, TS_RECORD_KERNEL);
	end();
}

TS_TEST(streams_by_handle)
{
	static struct ts_stream_table streams;
	uint32_t id = 99;
	uint64_t i;

	ts_check(!ts_stream_table_find(&streams, 1, 0x1000, &id));
	ts_stream_table_add(&streams, 1, 0x1000, 13);
	ts_stream_table_add(&streams, 2, 0x1000, 14);
	ts_check(ts_stream_table_find(&streams, 1, 0x1000, &id) && id == 13);
	ts_check(ts_stream_table_find(&streams, 2, 0x1000, &id) && id == 14);
	/* A stream that is created again with the same handle is another stream. */
	ts_stream_table_remove(&streams, 1, 0x1000);
	ts_check(!ts_stream_table_find(&streams, 1, 0x1000, &id));
	ts_stream_table_add(&streams, 1, 0x1000, 15);
	ts_check(ts_stream_table_find(&streams, 1, 0x1000, &id) && id == 15);
	/*
	 * If there are more streams than slots, the table may lack some, but never returns a wrong
	 * one.
	 */
	for (i = 0; i < 2 * TS_STREAM_TABLE_SLOTS; i++)
		ts_stream_table_add(&streams, 3, 0x100000 + i * 64, (uint32_t)i);
	for (i = 0; i < 2 * TS_STREAM_TABLE_SLOTS; i++)
		if (ts_stream_table_find(&streams, 3, 0x100000 + i * 64, &id))
			ts_check_int(id, i);
}

/*
 * A forced flush may leave an incomplete record. The shim stops reading the buffer there, and
 * counts the remaining records as lost.
 */
TS_TEST(a_torn_buffer_is_counted)
{
	struct ts_cupti_activity_kernel in = a_kernel(500);

	begin(18);
	put(&in);
	put(&in);
	memset(buffer + used, 0, 64);
	used += 64;
	decode();
	ts_check(fixture_record(&f, 0, 1) && !fixture_record(&f, 0, 2));
	ts_check_int(f.control->lost[TS_LOSS_BAD_RECORD], 1);
	ts_check_int(ts_activity_count(&activity, buffer, used), 3);
	end();
}

/*
 * The shim rejects a record with an impossible time: a single such row would stretch a timeline of
 * seconds to days.
 */
TS_TEST(times_that_cannot_be)
{
	const uint64_t second = 1000000000, now = ts_clock_monotonic_ns();
	const struct {
		uint64_t start, end;
		bool good;
	} times[] = {
		{now, now + 10, true},
		{now, now, true},
		{now + 10, now, false},
		{now - 50 * second, now - 49 * second, true},
		{now - 101 * second - 1, now, true},
		{now - 102 * second, now, false},
		{now, now + 60 * second, false},
		{now + UINT64_C(100000) * second, now + UINT64_C(100001) * second, false},
		{5, 6, false},
	};
	uint32_t n_good = 0, n_bad = 0;

	if (now < 200 * second)
		ts_skip("the machine started just now");
	begin(18);
	f.control->start_monotonic_ns = now - 100 * second - second / 2;
	for (size_t i = 0; i < TS_ARRAY_LEN(times); i++) {
		struct ts_cupti_activity_kernel in = a_kernel(500);

		in.start = times[i].start;
		in.end = times[i].end;
		put(&in);
		n_good += times[i].good;
		n_bad += !times[i].good;
	}
	decode();
	ts_check(fixture_record(&f, 0, n_good - 1) && !fixture_record(&f, 0, n_good));
	ts_check_int(fixture_shard(&f, 0)->lost[TS_LOSS_BAD_TIME], n_bad);
	end();
	/* Times of CUPTI's own clock have no known range; only their order can be checked. */
	begin(13);
	for (size_t i = 0; i < TS_ARRAY_LEN(times); i++) {
		struct ts_cupti_activity_kernel in = a_kernel(500);

		in.start = times[i].start;
		in.end = times[i].end;
		put(&in);
	}
	decode();
	ts_check_int(fixture_shard(&f, 0)->lost[TS_LOSS_BAD_TIME], 1);
	end();
}
