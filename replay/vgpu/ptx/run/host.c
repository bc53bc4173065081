// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's requests to its embedder: memory, and output of kernels. builtin.c and ptx-memory.c
 * call this file.
 */
#include "replay/vgpu/ptx/run/engine.h"

const struct ts_ptx_host *ts_ptx_engine_host(const struct ts_ptx_engine *engine)
{
	return &engine->host;
}

void ts_ptx_print(struct ts_ptx_worker *worker, const char *text, size_t n)
{
	struct ts_ptx_engine *e = worker->engine;

	if (!e->host.print)
		return;
	pthread_mutex_lock(&e->print_lock);
	e->host.print(e->host.userdata, text, n);
	pthread_mutex_unlock(&e->print_lock);
}
