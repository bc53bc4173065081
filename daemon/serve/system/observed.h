/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is seen from outside: what is known of its kernels, and, once it called something, its session in the
 * recording. By the observer's thread.
 */
#pragma once

#include "daemon/serve/system/observer.h"
#include "proto/abi/map.h"

struct ts_observed {
	struct ts_observed *next; /* the observer's */
	uint32_t pid;
	struct ts_user *user; /* whom it counts for; NULL: not known so far */
	bool excluded;	      /* it has a session of its own; nothing is told of it here */
	bool by_shim;	      /* for its shim began one, as far as is known */
	bool has_shim;	      /* it maps one */
	uint64_t shim_ns;
	uint64_t
		gone_ns; /* since when it is known to be gone without the kernel having said so; 0: it is not */

	struct ts_map kernels; /* by handle: the string of its name */
	struct ts_map threads; /* by number: its id in the session */
	uint64_t definition_bytes;

	struct ts_sbt_session_writer *writer; /* NULL: it called nothing so far */
	uint32_t number;		      /* the daemon's */
	char program[64];
	struct ts_row_session row;
	uint64_t n_ops;
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	bool dirty;
};

/* All return 0 or what the writer gave. */

/* Learns which process it is while the process is there. Its definitions count for its user; the observer gives them back to the account. */
int ts_observed_begin(struct ts_observed *observed, struct ts_recording *recording,
		      const struct ts_call_event *event, const char *command_line);
/*
 * Adds the call's rows. Calls come in the order of their ends; the session starts no later than the
 * earliest of them.
 */
int ts_observed_call(struct ts_observed *observed, struct ts_recording *recording,
		     const struct ts_call_event *event);
int ts_observed_name(struct ts_observed *observed, struct ts_recording *recording,
		     const struct ts_call_name *event);
int ts_observed_alias(struct ts_observed *observed, struct ts_recording *recording, uint64_t handle,
		      uint64_t of);
int ts_observed_pause(struct ts_observed *observed, bool paused);
int ts_observed_lose(struct ts_observed *observed, enum ts_loss_reason reason, uint64_t count);
int ts_observed_seal(struct ts_observed *observed);
/* Its last rows; the session is over with that. */
int ts_observed_end(struct ts_observed *observed, enum ts_session_end how);
/* Of a file that takes nothing more: what was not written is counted instead. */
void ts_observed_drop(struct ts_observed *observed);
void ts_observed_free(struct ts_observed *observed);
