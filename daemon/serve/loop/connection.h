/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a control client, shared by connection.c (bytes), control.c and question.c
 * (requests).
 */
#pragma once

#include "daemon/serve/loop/server.h"
#include "proto/rpc/frame.h"

struct connection_answer; /* in connection.c */
struct control_pending;	  /* a request that waits for sessions (control.c) */

/* Handlers of a client's requests. control.c defines them, listen.c passes them. */
struct ts_client_handlers {
	/*
	 * Handles a complete request. The request's descriptors are the first ones that the porter
	 * holds for the client.
	 */
	void (*request)(struct ts_client_connection *client, const struct ts_frame *frame);
	/*
	 * Answers the client's waiting requests whose sessions have finished, or whose deadline has
	 * passed.
	 */
	void (*check)(struct ts_client_connection *client, uint64_t now_ns);
	/* Called when the client's send queue has room again. */
	void (*resume)(struct ts_client_connection *client);
	/* True if the client has a question that is not answered yet. */
	bool (*is_asked)(const struct ts_client_connection *client);
	/* Called when the client disconnects: drops its waiting requests and questions. */
	void (*leave)(struct ts_client_connection *client);
};

struct ts_client_connection {
	struct ts_server *server;
	const struct ts_client_handlers *handlers;
	struct ts_client_connection *next;
	int fd;
	uint64_t connection; /* the porter's id of this connection */
	sd_event_source *source;
	struct ts_identity credentials;
	struct ts_user *user;
	struct ts_frame_parser parser;
	struct connection_answer *answers; /* oldest first */
	uint32_t n_answers;
	size_t n_queued_bytes;
	uint64_t active_ns; /* end of the last request or answer */
	/* time since which the oldest answer could not be sent; 0: not stalled */
	uint64_t stalled_ns;
	/* time of the first byte of an incomplete request; 0: no request is incomplete */
	uint64_t partial_ns;
	struct control_pending *pending;
	uint32_t n_pending;
	/*
	 * Number of files that the client has sent for incomplete requests. The porter holds the
	 * files.
	 */
	unsigned n_fds;
	bool owner;  /* the recording belongs to this client and ends with it */
	bool broken; /* the next check frees this client */
};

/*
 * Sends an answer. Takes ownership of `packed` and `fd` (-1: none). `r` is the result of the
 * function that built the answer; if it is an error, the client is dropped.
 */
void ts_client_connection_answer_built(struct ts_client_connection *client, uint32_t request_id,
				       int r, uint8_t *packed, size_t n_bytes, int fd);
