/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the loop look at everything: soon, or when a deadline may be over. The server's files and dump.c call this;
 * server.c looks.
 */
#include "daemon/serve/loop/server.h"

void ts_server_look(struct ts_server *server)
{
	uint64_t one = 1;

	/* Can only fail by overflow, and then the loop is awake. */
	if (write(server->notify_fd, &one, sizeof(one)) < 0)
		return;
}

/* Deadlines are looked at only while somebody has one. The timer is armed once: a later call does not put the look off. */
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
