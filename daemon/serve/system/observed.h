/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An observed process: names of its kernels and, after its first call, its session in the
 * recording. Only the observer's thread uses it.
 */
#pragma once

#include "daemon/serve/system/observer.h"
#include "proto/abi/map.h"

struct ts_observed {
	struct ts_observed *next; /* in the observer's table */
	uint32_t pid;
	/* the account of the process's user; NULL: the user is not known yet */
	struct ts_user *user;
	bool excluded; /* the process has its own session (a shim's) and is not observed */
	bool by_shim;  /* excluded because of its shim's session */
	bool has_shim; /* the process maps the shim */
	uint64_t shim_ns;
	/*
	 * Time at which the observer found the process gone, although the kernel had not reported
	 * its exit. 0: the process exists.
	 */
	uint64_t gone_ns;

	struct ts_map kernels; /* handle -> string id of the name */
	struct ts_map threads; /* thread number -> id in the session */
	uint64_t definition_bytes;

	/* the session; NULL: the process has made no call yet */
	struct ts_sbt_session_writer *writer;
	uint32_t number; /* the daemon's session number */
	char program[64];
	struct ts_row_session row;
	uint64_t n_ops;
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	bool dirty;
};

/* Functions that return int return 0 or the writer's error. */

/*
 * Begins the session. Reads /proc while the process exists. Definitions are charged to the
 * process's user; the observer gives the charge back.
 */
int ts_observed_begin(struct ts_observed *observed, struct ts_recording *recording,
		      const struct ts_call_event *event, const char *command_line);
/*
 * Adds the rows of a call. Calls come in the order of their ends. The session's start moves to the
 * earliest start of a call.
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
/* Writes the last rows and ends the session. */
int ts_observed_end(struct ts_observed *observed, enum ts_session_end how);
/* Called if the file is full: drops the unwritten rows and counts them. */
void ts_observed_drop(struct ts_observed *observed);
void ts_observed_free(struct ts_observed *observed);
