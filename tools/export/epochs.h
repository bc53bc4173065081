/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs of a session's modules. Another module can take the addresses of a module only after the
 * first one was unloaded. Within one epoch of a session, the same stack has the same names.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/reader.h"

struct ts_epochs {
	struct ts_buffer list; /* sorted pairs: session, time of an unload */
};

/* Reads the reader's modules. Returns 0 or -ENOMEM. */
int ts_epochs_init(struct ts_epochs *epochs, struct ts_sbt_reader *reader);
void ts_epochs_deinit(struct ts_epochs *epochs);

/*
 * Returns the epoch of this time: a count of unloaded modules. The count includes sessions with
 * smaller numbers; within a session it ascends.
 */
uint32_t ts_epochs_at(const struct ts_epochs *epochs, uint32_t session, uint64_t time_ns);
