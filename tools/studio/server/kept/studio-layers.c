/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the last layers, and lets one emulation run at a time: see studio-layers.h. Requests call
 * this module. A layer that is replaced lives on until its last request has ended.
 */
#include "tools/studio/server/studio.h"

/* Time between two looks at whether the client is gone. */
#define PERIOD_NS 50000000L

void ts_studio_layers_init(struct ts_studio_layers *layers)
{
	*layers = (struct ts_studio_layers){0};
	pthread_mutex_init(&layers->lock, NULL);
	ts_studio_wait_init(&layers->is_free);
}

/* Drops a reference; the caller has the lock. */
static void unref(struct ts_studio_layer *layer)
{
	if (!layer || --layer->refs)
		return;
	ts_tiles_layer_free(layer->layer);
	ts_studio_tiles_put(layer->trace, layer->tiles);
	free(layer);
}

void ts_studio_layers_deinit(struct ts_studio_layers *layers)
{
	for (unsigned i = 0; i < TS_STUDIO_MAX_LAYERS; i++)
		unref(layers->at[i]);
	pthread_cond_destroy(&layers->is_free);
	pthread_mutex_destroy(&layers->lock);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Frees the oldest layers until the others are small; the caller has the lock. */
static void make_room(struct ts_studio_layers *layers)
{
	size_t n_bytes = 0;

	/* The newest first: number n_made and those before it. */
	for (uint32_t i = 0; i < TS_STUDIO_MAX_LAYERS && i < layers->n_made; i++) {
		uint32_t at = (layers->n_made - i) % TS_STUDIO_MAX_LAYERS;

		if (!layers->at[at])
			continue;
		n_bytes += ts_tiles_layer_bytes(layers->at[at]->layer);
		if (n_bytes <= TS_STUDIO_KEPT_BYTES)
			continue;
		unref(layers->at[at]);
		layers->at[at] = NULL;
	}
}

/* Waits for the right to run; the caller has the lock. */
static int take(struct ts_studio_layers *layers, const volatile int *cancel, bool is_long)
{
	while (layers->is_taken || (is_long && layers->n_short)) {
		if (__atomic_load_n(cancel, __ATOMIC_RELAXED))
			return -ECANCELED;
		ts_studio_wait(&layers->is_free, &layers->lock, PERIOD_NS);
	}
	layers->is_taken = true;
	make_room(layers);
	return 0;
}

/* Gives up the right to run; the caller has the lock. */
static void give(struct ts_studio_layers *layers)
{
	layers->is_taken = false;
	pthread_cond_broadcast(&layers->is_free);
}

int ts_studio_layers_enter(struct ts_studio_layers *layers, const volatile int *cancel)
{
	int r;

	pthread_mutex_lock(&layers->lock);
	layers->n_short++;
	r = take(layers, cancel, false);
	layers->n_short--;
	if (r)
		pthread_cond_broadcast(&layers->is_free);
	pthread_mutex_unlock(&layers->lock);
	return r;
}

void ts_studio_layers_leave(struct ts_studio_layers *layers)
{
	pthread_mutex_lock(&layers->lock);
	give(layers);
	pthread_mutex_unlock(&layers->lock);
}

int ts_studio_layers_enter_long(struct ts_studio_layers *layers, const volatile int *cancel)
{
	int r = 0;

	pthread_mutex_lock(&layers->lock);
	while (!r && layers->has_long) {
		ts_studio_wait(&layers->is_free, &layers->lock, PERIOD_NS);
		r = __atomic_load_n(cancel, __ATOMIC_RELAXED) ? -ECANCELED : 0;
	}
	if (!r) {
		layers->has_long = true;
		r = take(layers, cancel, true);
		if (r)
			layers->has_long = false;
	}
	pthread_mutex_unlock(&layers->lock);
	return r;
}

int ts_studio_layers_pause(struct ts_studio_layers *layers, const volatile int *cancel)
{
	int r;

	pthread_mutex_lock(&layers->lock);
	give(layers);
	r = take(layers, cancel, true);
	pthread_mutex_unlock(&layers->lock);
	return r;
}

void ts_studio_layers_leave_long(struct ts_studio_layers *layers, bool is_running)
{
	pthread_mutex_lock(&layers->lock);
	atomic_store(&layers->all, 0);
	layers->has_long = false;
	if (is_running)
		layers->is_taken = false;
	pthread_cond_broadcast(&layers->is_free);
	pthread_mutex_unlock(&layers->lock);
}

/* ---- layers ---------------------------------------------------------------------------------- */

uint32_t ts_studio_layers_add(struct ts_studio_layers *layers, struct ts_studio_trace *trace,
			      struct ts_studio_tiles *tiles, struct ts_tiles_layer *layer)
{
	struct ts_studio_layer *added = malloc(sizeof(*added));
	uint32_t number;

	if (!added) {
		ts_tiles_layer_free(layer);
		ts_studio_tiles_put(trace, tiles);
		return 0;
	}
	pthread_mutex_lock(&layers->lock);
	number = ++layers->n_made;
	*added = (struct ts_studio_layer){
		.number = number, .refs = 1, .layer = layer, .trace = trace, .tiles = tiles};
	unref(layers->at[number % TS_STUDIO_MAX_LAYERS]);
	layers->at[number % TS_STUDIO_MAX_LAYERS] = added;
	pthread_mutex_unlock(&layers->lock);
	return number;
}

struct ts_studio_layer *ts_studio_layers_get(struct ts_studio_layers *layers, uint64_t number)
{
	struct ts_studio_layer *found;

	pthread_mutex_lock(&layers->lock);
	found = layers->at[number % TS_STUDIO_MAX_LAYERS];
	if (found && found->number == number)
		found->refs++;
	else
		found = NULL;
	pthread_mutex_unlock(&layers->lock);
	return found;
}

void ts_studio_layers_put(struct ts_studio_layers *layers, struct ts_studio_layer *layer)
{
	pthread_mutex_lock(&layers->lock);
	unref(layer);
	pthread_mutex_unlock(&layers->lock);
}
