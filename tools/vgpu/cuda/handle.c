/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects behind handles. Programs do use handles after destroying them, and have to be told CUDA_ERROR_INVALID_HANDLE
 * rather than be handed undefined behaviour: objects come from memory that only ever holds objects of their
 * size, so that looking at a stale one is safe and finds its kind erased.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/driver.h"

/* Objects by size in steps of 16 bytes: all are smaller than the last. */
#define N_SIZES 32

struct free_object {
	struct handle handle;
	struct free_object *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct free_object *free_objects[N_SIZES];

void *handle_new(enum handle_kind kind, size_t bytes)
{
	size_t step = (bytes + 15) / 16;
	struct free_object *object;

	if (step >= N_SIZES)
		return NULL;
	pthread_mutex_lock(&lock);
	object = free_objects[step];
	if (object)
		free_objects[step] = object->next;
	pthread_mutex_unlock(&lock);
	if (!object)
		object = malloc(step * 16);
	if (!object)
		return NULL;
	memset(object, 0, step * 16);
	object->handle.kind = (uint32_t)kind;
	return object;
}

void handle_free(void *object, size_t bytes)
{
	struct free_object *free_object = object;

	if (!object)
		return;
	free_object->handle.kind = 0;
	pthread_mutex_lock(&lock);
	free_object->next = free_objects[(bytes + 15) / 16];
	free_objects[(bytes + 15) / 16] = free_object;
	pthread_mutex_unlock(&lock);
}

struct interned {
	struct interned *next;
	char text[];
};

#define N_BUCKETS 1024

const char *intern(const char *text)
{
	static struct interned *buckets[N_BUCKETS];
	struct interned **bucket, *entry;
	uint32_t hash = 2166136261u;

	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	bucket = &buckets[hash % N_BUCKETS];
	pthread_mutex_lock(&lock);
	for (entry = *bucket; entry && strcmp(entry->text, text);)
		entry = entry->next;
	if (!entry) {
		entry = malloc(sizeof(*entry) + strlen(text) + 1);
		if (entry) {
			strcpy(entry->text, text);
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	pthread_mutex_unlock(&lock);
	return entry ? entry->text : NULL;
}

int event_get(void *handle, struct event **ret_event)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(handle, HANDLE_EVENT))
		return TS_CU_ERROR_INVALID_HANDLE;
	*ret_event = handle;
	return 0;
}
