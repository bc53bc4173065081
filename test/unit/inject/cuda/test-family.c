/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries like CUPTI: the table of vendors is sound, each vendor's library is resolved by its own
 * names, its calls are classified, and its records become the ring's records. The libraries are
 * fake-family.c of this folder, built with each vendor's prefix.
 */
#include <dlfcn.h>

#include "inject/cuda/activity.h"
#include "inject/cuda/family-records.h"
#include "inject/cuda/family.h"
#include "proto/abi/record.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip_calls.h"
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

static const struct ts_pti_vendor *const mcpti = &ts_pti_vendors[TS_PTI_MCPTI];
static const struct ts_pti_vendor *const mupti = &ts_pti_vendors[TS_PTI_MUPTI];
static const struct ts_pti_vendor *const mspti = &ts_pti_vendors[TS_PTI_MSPTI];

/* ---- the table ------------------------------------------------------------------------------ */

static void check_fields(const struct ts_pti_record *record)
{
	const size_t n_filled = ts_cupti_record_bytes(record->kind, 15);
	uint8_t from[256] = {0}, to[256] = {0};
	uint32_t i, k;

	for (i = 0; i < record->n_fields; i++) {
		const struct ts_pti_field *field = &record->fields[i];

		ts_check(field->from >= sizeof(uint32_t));
		ts_check(field->from + field->n_from <= (int)record->n_bytes);
		ts_check(field->to + field->n_to <= (int)n_filled);
		ts_check(field->n_from <= sizeof(uint64_t) && field->n_to <= sizeof(uint64_t));
		/* No byte is read twice, and none is written twice. */
		for (k = 0; k < field->n_from; k++)
			ts_check(!from[field->from + k]++);
		for (k = 0; k < field->n_to; k++)
			ts_check(!to[field->to + k]++);
	}
}

TS_TEST(the_table_is_sound)
{
	uint32_t v, i, k;

	for (v = 0; v < TS_PTI_VENDORS; v++) {
		const struct ts_pti_vendor *vendor = &ts_pti_vendors[v];

		ts_check(vendor->name && vendor->maker && vendor->library && vendor->runtime);
		ts_check(!vendor->missing == (vendor->state != TS_PTI_REFUSED));
		/* CUPTI's own layouts are in another table; a refused vendor has none. */
		ts_check(!vendor->records ==
			 (v == TS_PTI_CUPTI || vendor->state == TS_PTI_REFUSED));
		if (vendor->records)
			ts_check(
				ts_pti_find_kind(vendor, TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
		for (i = 0; i < vendor->n_records; i++) {
			const struct ts_pti_record *record = &vendor->records[i];

			ts_check(ts_pti_find(vendor, record->vendor_kind) == record);
			ts_check(ts_pti_find_kind(vendor, record->kind) == record);
			if (record->fields)
				check_fields(record);
			else
				ts_check_int(record->n_bytes,
					     ts_cupti_record_bytes(record->kind, vendor->version));
		}
		for (i = 0; vendor->records && vendor->calls[i].domain; i++) {
			ts_check(i < TS_FAMILY_DOMAINS);
			ts_check(vendor->api_domain[vendor->calls[i].base]);
			ts_check_int(ts_api_base(vendor->api_domain[vendor->calls[i].base]),
				     vendor->calls[i].base);
			for (k = 0; k < vendor->calls[i].n_known; k++)
				ts_check(vendor->calls[i].known[k].cbid < TS_FAMILY_IDS);
		}
	}
}

/* ---- libraries ------------------------------------------------------------------------------ */

static struct ts_cupti cupti;
static struct ts_family family;
static char text[256];

/* Loads the stand-in of a vendor's library, as the process has it, and resolves it. */
static enum ts_empty_reason load(const struct ts_pti_vendor *vendor, const char *path)
{
	struct ts_config config = {0};

	ts_check(dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL);
	return ts_family_load(&cupti, vendor, &family, &config, text, sizeof(text));
}

TS_TEST(mcpti_by_its_names)
{
	uint64_t time = 0;

	ts_check_int(load(mcpti, TEST_MCPTI), TS_EMPTY_NONE);
	ts_check(strstr(cupti.path, "libmcpti") != NULL);
	ts_check_int(cupti.version, 18);
	ts_check(cupti.cuptiActivityEnable && cupti.cuptiGetContextId);
	ts_check_int(cupti.cuptiGetTimestamp(&time), 0);
	ts_check_int(time, 4711);
	/* Ids that the library names, ids of the table, and ids that are not watched. */
	ts_check_int(family.calls[0][107], TS_HIP_CALL_hipMalloc);
	ts_check_int(family.calls[0][60], TS_HIP_CALL_hipModuleLaunchKernel);
	ts_check_int(family.calls[0][301], TS_HIP_CALL_hipStreamDestroy);
	ts_check_int(family.calls[0][19], 0);
	ts_check_int(family.calls[0][300], 0);
	ts_check(!cupti.cuptiActivityRegisterTimestampCallback);
}

TS_TEST(mupti_by_its_names)
{
	ts_check_int(load(mupti, TEST_MUPTI), TS_EMPTY_NONE);
	ts_check_int(family.calls[0][20], TS_CUPTI_RUNTIME_CBID_cudaMalloc_v3020);
	ts_check_int(family.calls[0][211], TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000);
	ts_check_int(family.calls[1][7], TS_CUPTI_DRIVER_CBID_cuLaunchKernel);
	ts_check_int(family.calls[0][21], 0);
}

TS_TEST(mspti_by_its_names)
{
	uint64_t time = 0;
	size_t n_dropped;

	ts_check_int(load(mspti, TEST_MSPTI), TS_EMPTY_NONE);
	/* It has neither a version, nor a clock, nor a count of dropped records. */
	ts_check_int(cupti.version, 13);
	ts_check_int(cupti.cuptiGetTimestamp(&time), 0);
	ts_check(time > UINT64_C(1600000000) * 1000000000);
	ts_check(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped) != 0);
	ts_check_int(family.calls[0][10], TS_HIP_CALL_hipLaunchKernel);
	ts_check_int(family.calls[0][15], TS_HIP_CALL_hipMalloc);
	ts_check_int(family.calls[0][27], TS_HIP_CALL_hipMemset);
}

TS_TEST(refusals_name_the_vendor)
{
	struct ts_config config = {0};
	uint32_t v;

	for (v = 0; v < TS_PTI_VENDORS; v++) {
		const struct ts_pti_vendor *vendor = &ts_pti_vendors[v];

		/* MSPTI is the only other library that is not searched for. */
		if (vendor->state != TS_PTI_REFUSED && vendor != mspti)
			continue;
		ts_check(ts_family_load(&cupti, vendor, &family, &config, text, sizeof(text)) !=
			 TS_EMPTY_NONE);
		ts_check(strstr(text,
				vendor->state == TS_PTI_REFUSED ? vendor->maker : vendor->library));
	}
}

TS_TEST(a_library_without_a_function)
{
	ts_check_int(load(mspti, TEST_MSPTI_BARE), TS_EMPTY_CUPTI_TOO_OLD);
	ts_check(strstr(text, "msptiActivityEnable") != NULL);
}

/* ---- records -------------------------------------------------------------------------------- */

static struct fixture f;
static struct ts_widen widen;
static struct ts_id_set *objects;
static struct ts_activity activity;
static uint8_t buffer[4096] __attribute__((aligned(8)));
static size_t used;
static uint32_t moves_back; /* next_record() returns the first record twice */

static uint32_t next_record(uint8_t *bytes, size_t valid_bytes, struct ts_cupti_activity **record)
{
	uint8_t *at = bytes;
	uint32_t kind;

	if (*record && !moves_back) {
		memcpy(&kind, *record, sizeof(kind));
		at = (uint8_t *)*record + ts_pti_find(cupti.vendor, kind)->n_bytes;
	}
	if (at >= bytes + valid_bytes)
		return cupti.vendor->limit_reached;
	*record = (struct ts_cupti_activity *)(void *)at;
	return 0;
}

static void begin(const struct ts_pti_vendor *vendor)
{
	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	objects = calloc(1, sizeof(*objects));
	memset(&cupti, 0, sizeof(cupti));
	cupti.vendor = vendor;
	cupti.layout_version = vendor->version;
	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.clock = TS_CLOCK_CUPTI;
	memset(&widen, 0, sizeof(widen));
	ts_activity_init(&activity, &cupti, &f.producer, &widen, objects);
	memset(buffer, 0xee, sizeof(buffer));
	used = 0;
	moves_back = 0;
}

static void finish(void)
{
	free(objects);
	fixture_deinit(&f);
}

static void put(uint32_t kind, const void *record)
{
	size_t n_bytes = ts_pti_find_kind(cupti.vendor, kind)->n_bytes;

	memcpy(buffer + used, record, n_bytes);
	used += n_bytes;
}

static struct ts_cupti_activity_kernel a_kernel(void)
{
	return (struct ts_cupti_activity_kernel){
		.kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = 1000,
		.end = 2000,
		.device_id = 1,
		.context_id = 2,
		.stream_id = 13,
		.grid_x = 4,
		.block_x = 128,
		.correlation_id = 500,
		.name = "_Z4gemmPf",
		.graph_id = 9,
		.channel_id = 3,
		.cluster_x = 2,
	};
}

static const struct ts_record_kernel *kernel_at(uint32_t i)
{
	const struct ts_record_kernel *out =
		(const struct ts_record_kernel *)fixture_record(&f, 0, i);

	ts_check(out);
	ts_check_int(out->record.type, TS_RECORD_KERNEL);
	return out;
}

TS_TEST(records_with_the_layout_of_cupti)
{
	const struct ts_pti_vendor *const vendors[] = {mcpti, mupti};

	for (size_t v = 0; v < TS_ARRAY_LEN(vendors); v++) {
		struct ts_cupti_activity_kernel in = a_kernel();
		const struct ts_record_kernel *out;

		begin(vendors[v]);
		put(in.kind, &in);
		in.correlation_id = 501;
		put(in.kind, &in);
		ts_activity_decode(&activity, buffer, used);
		out = kernel_at(0);
		ts_check_int(out->record.time, 1000);
		ts_check_int(out->record.clock, TS_CLOCK_CUPTI);
		ts_check_int(out->end, 2000);
		ts_check_int(out->op_id, 500);
		ts_check_int(out->place.stream, 13);
		ts_check_int(out->block[0], 128);
		ts_check_int(out->place.graph, 9);
		/* The level of MUPTI has neither channels nor clusters. */
		ts_check_int(out->channel, vendors[v] == mcpti ? 3 : 0);
		ts_check_int(out->cluster[0], vendors[v] == mcpti ? 2 : 0);
		ts_check_int(kernel_at(1)->op_id, 501);
		ts_check(!fixture_record(&f, 0, 2));
		finish();
	}
}

/* MSPTI's structures, as its header declares them. */
struct mspti_kernel {
	uint32_t kind;
	uint64_t start, end;
	uint32_t device, stream;
	uint64_t correlation;
	const char *type, *name;
} __attribute__((packed, aligned(8)));

struct mspti_transfer {
	uint32_t kind, kind_or_value;
	uint64_t bytes, start, end;
	uint32_t device, stream;
	uint64_t correlation;
	uint8_t is_async;
} __attribute__((packed, aligned(8)));

struct mspti_memory {
	uint32_t kind, operation, memory_kind;
	uint64_t correlation, start, end, address, bytes;
	uint32_t process, device, stream;
} __attribute__((packed, aligned(8)));

TS_TEST(records_of_mspti)
{
	const struct mspti_kernel kernel = {2, 1000, 2000, 3, 4, 500, "AI_CORE", "MatMul"};
	const struct mspti_transfer copy = {7, 2, 4096, 3000, 4000, 3, 4, 501, 1};
	const struct mspti_transfer set = {6, 17, 512, 5000, 6000, 3, 4, 502, 0};
	const struct mspti_memory free_it = {5, 1, 1, 503, 7000, 7100, 0xabc0, 64, 1, 3, 4};
	const struct ts_record_memcpy *out_copy;
	const struct ts_record_memset *out_set;
	const struct ts_record_memory *out_free;
	const struct ts_record_kernel *out;

	ts_check_int(sizeof(kernel), ts_pti_find(mspti, 2)->n_bytes);
	ts_check_int(sizeof(copy), ts_pti_find(mspti, 7)->n_bytes);
	ts_check_int(sizeof(free_it), ts_pti_find(mspti, 5)->n_bytes);
	begin(mspti);
	put(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, &kernel);
	put(TS_CUPTI_ACTIVITY_KIND_MEMCPY, &copy);
	put(TS_CUPTI_ACTIVITY_KIND_MEMSET, &set);
	put(TS_CUPTI_ACTIVITY_KIND_MEMORY2, &free_it);
	ts_activity_decode(&activity, buffer, used);

	out = kernel_at(0);
	ts_check_int(out->record.time, 1000);
	ts_check_int(out->end, 2000);
	ts_check_int(out->op_id, 500);
	ts_check_int(out->place.device, 3);
	ts_check_int(out->place.stream, 4);
	ts_check_int(out->place.context, 0);
	ts_check_int(out->grid[0], 0);
	out_copy = (const struct ts_record_memcpy *)fixture_record(&f, 0, 1);
	ts_check_int(out_copy->record.type, TS_RECORD_MEMCPY);
	ts_check_int(out_copy->copy_kind, TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	ts_check_int(out_copy->bytes, 4096);
	ts_check_int(out_copy->end, 4000);
	ts_check_int(out_copy->src_device, TS_NO_DEVICE);
	ts_check_int(out_copy->async, 1);
	out_set = (const struct ts_record_memset *)fixture_record(&f, 0, 2);
	ts_check_int(out_set->record.type, TS_RECORD_MEMSET);
	ts_check_int(out_set->value, 17);
	ts_check_int(out_set->async, 0);
	out_free = (const struct ts_record_memory *)fixture_record(&f, 0, 3);
	ts_check_int(out_free->record.type, TS_RECORD_FREE);
	ts_check_int(out_free->address, 0xabc0);
	ts_check_int(out_free->memory_kind, TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	ts_check(!fixture_record(&f, 0, 4));
	finish();
}

static uint64_t n_lost(enum ts_loss_reason reason)
{
	return f.control->lost[reason] + fixture_shard(&f, 0)->lost[reason];
}

TS_TEST(a_wrong_layout_is_rejected)
{
	struct ts_cupti_activity_kernel in = a_kernel();

	begin(mupti);
	/* More than an hour; a name that cannot be read; no time. */
	in.end = in.start + UINT64_C(3601) * 1000000000;
	put(in.kind, &in);
	in = a_kernel();
	in.name = (const char *)(uintptr_t)16;
	put(in.kind, &in);
	in = a_kernel();
	in.start = in.end = 0;
	put(in.kind, &in);
	ts_activity_decode(&activity, buffer, used);
	ts_check(!fixture_record(&f, 0, 0));
	ts_check_int(n_lost(TS_LOSS_BAD_TIME), 1);
	ts_check_int(n_lost(TS_LOSS_BAD_RECORD), 1);
	ts_check_int(n_lost(TS_LOSS_ZERO_TIMESTAMP), 1);
	finish();
}

TS_TEST(a_place_that_repeats_ends_the_buffer)
{
	struct ts_cupti_activity_kernel in = a_kernel();

	begin(mcpti);
	put(in.kind, &in);
	put(in.kind, &in);
	moves_back = 1;
	ts_activity_decode(&activity, buffer, used);
	ts_check(fixture_record(&f, 0, 0));
	ts_check(!fixture_record(&f, 0, 1));
	ts_check_int(n_lost(TS_LOSS_BAD_RECORD), 1);
	/* A record that the buffer's end cuts off. */
	ts_check(!ts_family_is_next(mcpti, buffer, used - 1, buffer, buffer + 200));
	ts_check(!ts_family_is_next(mcpti, buffer, used, buffer, buffer));
	ts_check(!ts_family_is_next(mcpti, buffer + 8, used - 8, NULL, buffer));
	ts_check(ts_family_is_next(mcpti, buffer, used, buffer, buffer + 200));
	finish();
}
