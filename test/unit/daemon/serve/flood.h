/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that write until the service stops them, and their traces. test-retention.c and
 * test-floor.c use them.
 */
#pragma once

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "test/unit/daemon/serve/world.h"

/* A process writes rows that do not compress until it receives STOP. */
#define FLOOD_REFUSED 3 /* its exit status: the disk was full before it began */
static inline pid_t flood_as(uid_t uid, const struct world *w)
{
	pid_t pid = fork();
	struct producer p;
	uint64_t state;
	int fd;

	ts_check(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	producer_init(&p, 1, true);
	producer_claim(&p, 0, 1, "main");
	if (!session_as(uid, w, &p, &fd))
		_exit(FLOOD_REFUSED);
	state = (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
	for (struct pollfd poll_fd = {.fd = fd, .events = POLLIN}; !poll(&poll_fd, 1, 0);) {
		struct ts_record_api api = {
			.record = PRODUCER_HEADER(struct ts_record_api, TS_RECORD_API,
						  TS_CLOCK_MONOTONIC, ts_clock_monotonic_ns()),
		};

		state = state * 6364136223846793005u + 1442695040888963407u;
		api.op_id = state;
		api.end = api.record.time + (state >> 33);
		if (!ts_ring_reserve(&p.rings[0], sizeof(api))) {
			usleep(200);
			continue;
		}
		producer_put(&p, 0, &api, sizeof(api));
	}
	_exit(producer_hear(fd, NULL) != TS_HANDSHAKE_STOP);
}

static inline void check_flooded(pid_t pid)
{
	int status;

	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
}

/* Opens the trace of a session; -1: there is none. */
static inline int trace_open(const struct world *w, uint32_t session)
{
	struct ts_client *client = client_as(0, w);
	Ts__Rpc__Answer *answer;
	int file = -1;

	if (!ts_client_open_trace(client, session, 0, &answer, &file))
		ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	return file;
}
