/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the clients of running calls. If a client closes its connection, or the server ends, the
 * call's flag is_cancelled becomes 1.
 */
#pragma once

#include "tools/studio/server/studio-call.h"

struct ts_studio_watch;

/* Starts the watching thread. Returns 0 or a negative errno. */
int ts_studio_watch_new(struct ts_studio *studio, struct ts_studio_watch **ret_watch);
/* Ends the thread. No call may be watched. Accepts NULL. */
void ts_studio_watch_free(struct ts_studio_watch *watch);

void ts_studio_watch_add(struct ts_studio_watch *watch, struct ts_studio_call *call);
void ts_studio_watch_remove(struct ts_studio_watch *watch, struct ts_studio_call *call);
