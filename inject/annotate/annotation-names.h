/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of annotations that works before the application makes its first annotation. It
 * publishes names that the application gave before the session began. It also records that NVTX's
 * ranges go to another tool. The shim (inject/shim.c) calls it when a session begins; annotation.c
 * builds upon it.
 */
#pragma once

#include "inject/annotate/annotation-texts.h"
#include "inject/context.h"

/*
 * Returns the gate of annotations, an enum ts_gate_mode. The gate is closed before and after a
 * session. A fork wipes the gate in the child, which reads it as closed.
 */
static inline uint32_t ts_names_gate(const struct ts_shim *shim)
{
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);

	return gate ? __atomic_load_n(&gate->annotations, __ATOMIC_ACQUIRE) : TS_GATE_CLOSED;
}

/*
 * Returns the calling thread's struct for recording. Returns NULL if the gate is closed, or if the
 * record cannot be made; the loss is then counted. The end of a range is recorded even if the
 * application stopped the recording.
 */
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

/* Returns the id of a domain's name in this session. */
static inline uint32_t ts_names_domain(struct ts_shim *shim, const struct ts_domain *domain)
{
	return domain && domain->name ? ts_texts_id(&shim->definitions, shim->epoch, domain->name)
				      : TS_ID_UNKNOWN;
}

/* Publishes a name as a definition of this session. `data` is the shim. */
void ts_names_publish(void *data, enum ts_name_kind kind, const struct ts_domain *domain,
		      uint64_t object, struct ts_text *text);

/* Publishes all earlier names in a session that has just begun. */
void ts_names_session_began(struct ts_shim *shim);

/*
 * Records a mark that reports that NVTX's ranges belong to another tool, whose library is `holder`.
 * The caller has set ts_tls.busy.
 */
void ts_names_missing(struct ts_shim *shim, const char *holder);
/* Records a mark of TraceSmith's own domain: what the trace lacks, and why. */
void ts_names_note(struct ts_shim *shim, const char *text);
