/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session knows of annotations without any being made: names that were given before, and that NVTX's ranges are another
 * tool's. The shim calls it when a session begins; annotation.c builds upon it.
 */
#pragma once

#include "inject/annotate/annotation-texts.h"
#include "inject/context.h"

/* Whether annotations are recorded: enum ts_gate_mode. */
static inline uint32_t ts_names_gate(const struct ts_shim *shim)
{
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);

	return gate ? __atomic_load_n(&gate->annotations, __ATOMIC_ACQUIRE) : TS_GATE_CLOSED;
}

/* The thread to record on. NULL: nothing is recorded, or it was counted. Ready for what ends, recording or not. */
static inline struct ts_thread *ts_names_thread(struct ts_shim *shim)
{
	uint32_t mode = ts_names_gate(shim);
	struct ts_thread *thread;

	if (ts_unlikely(mode == TS_GATE_CLOSED))
		return NULL;
	thread = ts_producer_thread(&shim->producer);
	if (ts_likely(mode == TS_GATE_OPEN) || !thread)
		return thread;
	ts_thread_count(thread, TS_LOSS_RING_FULL, 1);
	return NULL;
}

/* The id of a domain's name in this session. */
static inline uint32_t ts_names_domain(struct ts_shim *shim, const struct ts_domain *domain)
{
	return domain && domain->name ? ts_texts_id(&shim->definitions, shim->epoch, domain->name)
				      : TS_ID_UNKNOWN;
}

/* A name, as a definition of this session. `data` is the shim. */
void ts_names_publish(void *data, enum ts_name_kind kind, const struct ts_domain *domain,
		      uint64_t object, struct ts_text *text);

/* A session has begun: it is told all names that were given before. */
void ts_names_session_began(struct ts_shim *shim);

/* NVTX's ranges are another tool's, whose library that is: a mark in the trace says so. Called with ts_tls.busy set. */
void ts_names_missing(struct ts_shim *shim, const char *holder);
