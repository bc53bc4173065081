/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the last layers: see studio-layers.h. Requests call this module. A layer that is replaced
 * lives on until its last request has ended.
 */
#include "tools/studio/server/studio.h"

void ts_studio_layers_init(struct ts_studio_layers *layers)
{
	*layers = (struct ts_studio_layers){0};
	pthread_mutex_init(&layers->lock, NULL);
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
	pthread_mutex_destroy(&layers->lock);
}

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
