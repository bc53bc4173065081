/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When addresses changed their meaning: only once a module has gone can another lie where it lay. Within one epoch of a
 * session the same stack has the same names.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/reader.h"

struct ts_epochs {
	struct ts_buffer list; /* sorted; of when a module of which session went */
};

/* -ENOMEM. */
int ts_epochs_init(struct ts_epochs *epochs, struct ts_sbt_reader *reader);
void ts_epochs_deinit(struct ts_epochs *epochs);

/* How many modules of any session went before; for the session's own it counts up. */
uint32_t ts_epochs_at(const struct ts_epochs *epochs, uint32_t session, uint64_t time_ns);
