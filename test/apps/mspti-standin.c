/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for Ascend's libmspti.so, with the layouts of its public headers (cupti_family.h names
 * them): packed records with 64-bit ids, callbacks without ids, a completion callback without
 * context. ascendcl-standin.c reports its calls here; a tool subscribes, enables kinds and flushes.
 * As with MSPTI, the newest record is delivered only to a client that has unsubscribed. One thread
 * at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "test/apps/mspti-standin.h"

#define EXPORT	      __attribute__((visibility("default")))
#define N_IDS	      64
#define LIMIT_REACHED 3
#define N_RECORDS     4096

struct record {
	uint32_t kind;
	union {
		struct {
			uint64_t start, end;
			uint32_t device, stream;
			uint64_t correlation;
			const char *type, *name;
		} __attribute__((packed)) kernel;
		struct {
			uint32_t copy_kind;
			uint64_t bytes, start, end;
			uint32_t device, stream;
			uint64_t correlation;
			uint8_t is_async;
		} __attribute__((packed)) copy;
	};
} __attribute__((packed, aligned(8)));

/* The same length for both kinds, as in MSPTI. */
_Static_assert(sizeof(struct record) == 56, "MSPTI's length");

struct call_data {
	uint32_t site;
	const char *name;
	/* MSPTI leaves these uninitialised. */
	const void *params, *result;
	const char *symbol;
	uint64_t correlation, reserved[2], *data;
};

typedef void (*callback_fn)(void *userdata, uint32_t domain, uint32_t cbid, const void *data);
typedef void (*requested_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*completed_fn)(uint8_t *buffer, size_t size, size_t valid);

static callback_fn subscriber;
static void *subscriber_data;
static requested_fn requested;
static completed_fn completed;
static bool enabled[N_IDS], kinds[N_IDS];
static struct record records[N_RECORDS];
static uint32_t n_records, n_delivered;
static uint64_t correlation;

static uint64_t realtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

EXPORT int msptiSubscribe(void **ret_subscriber, callback_fn callback, void *userdata)
{
	if (subscriber)
		return 2;
	subscriber = callback;
	subscriber_data = userdata;
	*ret_subscriber = &subscriber;
	return 0;
}

EXPORT int msptiUnsubscribe(void *handle)
{
	(void)handle;
	subscriber = NULL;
	return 0;
}

EXPORT int msptiEnableCallback(uint32_t enable, void *handle, uint32_t domain, uint32_t cbid)
{
	(void)handle;
	if (domain != 1 || cbid >= N_IDS)
		return 1;
	enabled[cbid] = enable;
	return 0;
}

EXPORT int msptiActivityEnable(uint32_t kind)
{
	if (kind >= N_IDS)
		return 1;
	kinds[kind] = true;
	return 0;
}

EXPORT int msptiActivityDisable(uint32_t kind)
{
	if (kind >= N_IDS)
		return 1;
	kinds[kind] = false;
	return 0;
}

EXPORT int msptiActivityRegisterCallbacks(requested_fn request, completed_fn complete)
{
	requested = request;
	completed = complete;
	return 0;
}

EXPORT int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(struct record) : buffer;

	if (next >= buffer + valid)
		return LIMIT_REACHED;
	*record = next;
	return 0;
}

EXPORT int msptiActivityFlushAll(uint32_t flags)
{
	const uint32_t until = subscriber && n_records ? n_records - 1 : n_records;
	size_t size = 0, max_records = 0, n_bytes;
	uint8_t *buffer = NULL;

	(void)flags;
	if (!requested || until <= n_delivered)
		return 0;
	n_bytes = (until - n_delivered) * sizeof(struct record);
	requested(&buffer, &size, &max_records);
	if (!buffer || size < n_bytes)
		return 999;
	memcpy(buffer, &records[n_delivered], n_bytes);
	n_delivered = until;
	completed(buffer, size, n_bytes);
	return 0;
}

static void report(uint32_t site, uint32_t cbid, const char *name)
{
	struct call_data data;

	/* No address, and an id of an earlier call: words of an old stack frame. */
	memset(&data, 0x5a, sizeof(data));
	data.site = site;
	data.name = name;
	data.correlation = 1;
	if (subscriber && enabled[cbid])
		subscriber(subscriber_data, 1, cbid, &data);
}

static struct record *add_record(uint32_t kind)
{
	if (!kinds[kind] || n_records == N_RECORDS)
		return NULL;
	records[n_records].kind = kind;
	return &records[n_records++];
}

EXPORT void mspti_standin_call(uint32_t cbid, const char *name, const char *kernel,
			       uint64_t copied_bytes)
{
	uint64_t start = realtime();
	struct record *record;

	correlation++;
	report(0, cbid, name);
	record = kernel ? add_record(2) : copied_bytes ? add_record(7) : NULL;
	if (record && kernel) {
		record->kernel.start = start;
		record->kernel.end = realtime();
		record->kernel.stream = 5;
		record->kernel.correlation = correlation;
		record->kernel.type = "AI_CORE";
		record->kernel.name = kernel;
	} else if (record) {
		record->copy.copy_kind = 2; /* from the host */
		record->copy.bytes = copied_bytes;
		record->copy.start = start;
		record->copy.end = realtime();
		record->copy.stream = 5;
		record->copy.correlation = correlation;
	}
	report(1, cbid, name);
}
