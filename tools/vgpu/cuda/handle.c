/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects behind handles. Programs use handles after destroying them and must get
 * CUDA_ERROR_INVALID_HANDLE, not undefined behaviour. So an object's memory is only reused for
 * objects of the same size. Reading a stale object is safe and finds its kind erased. All files of
 * libcuda call this file.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "tools/vgpu/cuda/driver.h"

/* Free objects by size in steps of 16 bytes; all objects are smaller than the last step. */
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

const char *intern(const char *text)
{
	static struct {
		char **texts;
		size_t n, n_allocated;
		struct ts_hashindex index;
	} interned;
	char *copy = NULL;
	uint64_t seed, hash;

	pthread_mutex_lock(&lock);
	seed = ts_hashindex_seed(&interned.index);
	pthread_mutex_unlock(&lock);
	hash = ts_hash_seeded_text(seed, text);
	pthread_mutex_lock(&lock);
	TS_HASHINDEX_EACH (&interned.index, hash, at)
		if (!strcmp(interned.texts[at.number], text)) {
			copy = interned.texts[at.number];
			break;
		}
	if (!copy && !TS_GROW(interned.texts, interned.n_allocated, interned.n + 1)) {
		copy = strdup(text);
		if (copy && ts_hashindex_add(&interned.index, hash, (uint32_t)interned.n)) {
			free(copy);
			copy = NULL;
		}
		if (copy)
			interned.texts[interned.n++] = copy;
	}
	pthread_mutex_unlock(&lock);
	return copy;
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
