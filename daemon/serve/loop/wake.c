/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakes the main loop: at once, or when a deadline may be over. The server's files and
 * recording/dump.c call this module; server.c then checks peers and clients.
 */
#include "daemon/serve/loop/server.h"

void ts_server_look(struct ts_server *server)
{
	uint64_t one = 1;

	/* This write fails only on overflow of the eventfd. The loop is awake in that case. */
	if (write(server->notify_fd, &one, sizeof(one)) < 0)
		return;
}

/* Arms the timer while a deadline is pending. A later call does not postpone an armed timer. */
void ts_server_watch(struct ts_server *server)
{
	if (sd_event_source_get_enabled(server->timer, NULL) > 0)
		return;
	if (ts_users_have(server->users, TS_RESOURCE_CONNECTIONS) || server->clients ||
	    server->questions || server->finishing || server->dumping) {
		sd_event_source_set_time_relative(server->timer, TS_SERVER_LOOK_US);
		sd_event_source_set_enabled(server->timer, SD_EVENT_ONESHOT);
	}
}
