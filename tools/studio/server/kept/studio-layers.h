/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of the first trace: the last few emulations. All threads may call these functions. */
#pragma once

#include "replay/report/tiles/tiles.h"

#include <pthread.h>

#define TS_STUDIO_MAX_LAYERS 4u

struct ts_studio_trace;
struct ts_studio_tiles;

struct ts_studio_layer {
	uint32_t number; /* from 1; 0: none */
	unsigned refs;
	struct ts_tiles_layer *layer;
	struct ts_studio_trace *trace; /* of the tiles, which live as long as the layer */
	struct ts_studio_tiles *tiles;
};

struct ts_studio_layers {
	pthread_mutex_t lock;
	uint32_t n_made;
	struct ts_studio_layer *at[TS_STUDIO_MAX_LAYERS];
};

void ts_studio_layers_init(struct ts_studio_layers *layers);
void ts_studio_layers_deinit(struct ts_studio_layers *layers);

/*
 * Keeps a layer instead of the oldest one, and owns it from now on, and its tiles, of which the
 * caller passes a reference. Returns its number, or 0 without memory.
 */
uint32_t ts_studio_layers_add(struct ts_studio_layers *layers, struct ts_studio_trace *trace,
			      struct ts_studio_tiles *tiles, struct ts_tiles_layer *layer);

/* Returns a layer, or NULL if it is gone. ts_studio_layers_put() gives it back. */
struct ts_studio_layer *ts_studio_layers_get(struct ts_studio_layers *layers, uint64_t number);
void ts_studio_layers_put(struct ts_studio_layers *layers, struct ts_studio_layer *layer);
