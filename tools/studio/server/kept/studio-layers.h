/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of the first trace: the last few emulations. All threads may call these functions. */
#pragma once

#include "replay/report/tiles/tiles.h"

#include <pthread.h>
#include <stdatomic.h>

#define TS_STUDIO_MAX_LAYERS 4u
/* Memory of the layers that are kept while another one is made. */
#define TS_STUDIO_KEPT_BYTES ((size_t)16 << 20)

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
	/* One emulation runs at a time, which bounds the memory. Short ones go first. */
	pthread_cond_t is_free;
	bool is_taken;	   /* an emulation runs, or a window of the long one */
	unsigned n_short;  /* short ones that wait */
	bool has_long;	   /* a long one has begun */
	atomic_ulong done; /* of the long one: rows that were read */
	atomic_ulong all;  /* and all rows; 0: there is no long one */
};

void ts_studio_layers_init(struct ts_studio_layers *layers);
void ts_studio_layers_deinit(struct ts_studio_layers *layers);

/*
 * Keeps a layer instead of the oldest one, and owns it from now on, and its tiles, of which the
 * caller passes a reference. Returns its number, or 0 without memory.
 */
uint32_t ts_studio_layers_add(struct ts_studio_layers *layers, struct ts_studio_trace *trace,
			      struct ts_studio_tiles *tiles, struct ts_tiles_layer *layer);

/*
 * Waits until an emulation may run, and frees layers until those that are left have
 * TS_STUDIO_KEPT_BYTES. Returns 0, or -ECANCELED if another thread has set *cancel. _leave()
 * follows if the result is 0.
 */
int ts_studio_layers_enter(struct ts_studio_layers *layers, const volatile int *cancel);
void ts_studio_layers_leave(struct ts_studio_layers *layers);
/*
 * As above, for an emulation in windows. _pause() lets short emulations run between two windows,
 * and returns -ECANCELED, without the right to run, if *cancel is set.
 */
int ts_studio_layers_enter_long(struct ts_studio_layers *layers, const volatile int *cancel);
int ts_studio_layers_pause(struct ts_studio_layers *layers, const volatile int *cancel);
void ts_studio_layers_leave_long(struct ts_studio_layers *layers, bool is_running);

/* Returns a layer, or NULL if it is gone. ts_studio_layers_put() gives it back. */
struct ts_studio_layer *ts_studio_layers_get(struct ts_studio_layers *layers, uint64_t number);
void ts_studio_layers_put(struct ts_studio_layers *layers, struct ts_studio_layer *layer);
