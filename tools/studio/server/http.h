/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server: permission, static pages, and the table of requests. The rules of security are
 * in tools/studio/API.md.
 */
#pragma once

#include "tools/studio/server/studio.h"

struct ts_studio_http;

/*
 * Serves the listening socket, which it owns from now on, in threads of its own. Returns 0 or a
 * negative errno.
 */
int ts_studio_http_new(struct ts_studio *studio, int fd, struct ts_studio_http **ret_http);
/* Ends all connections and threads. Accepts NULL. */
void ts_studio_http_free(struct ts_studio_http *http);
