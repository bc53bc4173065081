/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds and packs the control socket's answers. Each function returns 0 and a packed Answer, which
 * the caller frees with free(), or -ENOMEM. Only the main thread calls them.
 */
#pragma once

#include "daemon/serve/loop/server.h"

int ts_answer_error(int code, const char *message, uint8_t **ret_packed, size_t *ret_n_bytes);
/* Lists the sessions that `asker` may see. */
int ts_answer_status(const struct ts_server *server, const struct ts_identity *asker,
		     uint8_t **ret_packed, size_t *ret_n_bytes);
int ts_answer_sessions(const struct ts_server *server, const struct ts_identity *asker,
		       uint8_t **ret_packed, size_t *ret_n_bytes);
/*
 * Answers a request to open a trace. `number`: the daemon's number of the requested session;
 * `number_in_file`: its number in the file. Both are 0 for a whole recording.
 */
int ts_answer_opened(uint32_t number, uint32_t number_in_file, const struct ts_recording *recording,
		     bool live, uint8_t **ret_packed, size_t *ret_n_bytes);
int ts_answer_cancelled(bool found, uint8_t **ret_packed, size_t *ret_n_bytes);
int ts_answer_flushed(uint32_t n_sessions, uint32_t n_timed_out, uint8_t **ret_packed,
		      size_t *ret_n_bytes);
int ts_answer_switched(uint32_t n_sessions, uint32_t n_changed, uint32_t n_timed_out, bool system,
		       uint8_t **ret_packed, size_t *ret_n_bytes);
/* Builds the summary of a recording. `recording` NULL: nothing was recorded. */
int ts_answer_summary(struct ts_recording *recording, uint8_t **ret_packed, size_t *ret_n_bytes);
