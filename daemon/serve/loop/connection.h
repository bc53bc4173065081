/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the control socket, as connection.c (bytes), control.c and question.c (requests) share it.
 */
#pragma once

#include "daemon/serve/loop/server.h"
#include "proto/rpc/frame.h"

struct connection_answer; /* connection.c's */
struct control_pending;	  /* control.c's: a request that waits */

/* Handlers of a client's requests: control.c defines them, listen.c passes them. */
struct ts_client_handlers {
	/* A whole request, whose descriptors are the client's first ones. */
	void (*request)(struct ts_client_connection *client, const struct ts_frame *frame);
	/* Answers requests that waited long enough, or for what has come. */
	void (*check)(struct ts_client_connection *client, uint64_t now_ns);
	/* The client has room again. */
	void (*resume)(struct ts_client_connection *client);
	/* Whether a question of the client's is not over. */
	bool (*is_asked)(const struct ts_client_connection *client);
	/* The client goes: nothing waits for it any more. */
	void (*leave)(struct ts_client_connection *client);
};

struct ts_client_connection {
	struct ts_server *server;
	const struct ts_client_handlers *handlers;
	struct ts_client_connection *next;
	int fd;
	uint64_t connection; /* the porter's number of it */
	sd_event_source *source;
	struct ts_identity credentials;
	struct ts_user *user;
	struct ts_frame_parser parser;
	struct connection_answer *answers; /* the oldest first */
	uint32_t n_answers;
	size_t n_queued_bytes;
	uint64_t active_ns;  /* end of the last request or answer */
	uint64_t stalled_ns; /* since when the oldest answer could not be sent; 0: not */
	uint64_t partial_ns; /* since when a request is not whole; 0: none is */
	struct control_pending *pending;
	uint32_t n_pending;
	unsigned n_fds; /* files that the porter holds: of requests that are not whole yet */
	bool owner;	/* the recording is this client's, and ends with it */
	bool broken;	/* to be freed by the next check */
};

/* Takes over `packed` and `fd` (-1: none goes with it); `r` is what building the answer returned. */
void ts_client_connection_answer_built(struct ts_client_connection *client, uint32_t request_id,
				       int r, uint8_t *packed, size_t n_bytes, int fd);
