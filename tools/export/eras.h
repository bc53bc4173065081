/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When addresses changed their meaning: only once a module has gone can another lie where it lay. Within one era of a
 * session the same stack has the same names.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/reader.h"

struct ts_eras {
	struct ts_buffer list; /* sorted; of when a module of which session went */
};

/* -ENOMEM. */
int ts_eras_init(struct ts_eras *eras, struct ts_sbt_reader *reader);
void ts_eras_deinit(struct ts_eras *eras);

/* How many modules of any session went before; for the session's own it counts up. */
uint32_t ts_eras_at(const struct ts_eras *eras, uint32_t session, uint64_t time_ns);
