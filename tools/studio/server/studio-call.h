/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of Studio's interface: a request of the page, and its answer. http.c makes calls; each
 * request has a file request-NAME.c.
 */
#pragma once

#include "tools/studio/server/studio.h"

#include <stdint.h>

struct ts_studio_call {
	struct ts_studio *studio;
	void *connection; /* of libmicrohttpd */
	int socket;	  /* of the client */
	const char *body; /* of a POST, with an end; "" otherwise */
	size_t n_body;
	bool is_question; /* about the trace: it may take long */
	/* The answer. */
	unsigned status;	  /* of HTTP */
	const char *content_type; /* a constant */
	struct ts_json out;	  /* the bytes */
	/* Set by ts_call_reader(). */
	struct ts_studio_trace *trace;
	struct ts_studio_tiles *tiles;
	struct ts_studio_reader *reader;
	uint32_t session;	       /* the session of the file that is read; 0: all */
	struct ts_studio_layer *layer; /* set by ts_call_layer() */
	/* Becomes 1 if the client has closed its connection: studio-watch.h. Atomic. */
	volatile int is_cancelled;
	struct ts_studio_call *next; /* of the watched calls */
};

/* Returns a parameter of the address, or NULL. */
const char *ts_call_parameter(const struct ts_studio_call *call, const char *name);

/* Returns call->is_cancelled; `data` is the call. */
bool ts_call_is_cancelled(void *data);

/*
 * Answers with an error: `status` and one line. A later answer replaces it. Returns -1, for the
 * request's function to return.
 */
int ts_call_fail(struct ts_studio_call *call, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Answers with an error of a reader or of tiles.h. Returns -1. */
int ts_call_fail_with(struct ts_studio_call *call, int r);

/*
 * Writes a name as a string of JSON, at most TS_STUDIO_NAME_BYTES of it. A hostile file of some KiB
 * has hundreds of names of a megabyte.
 */
#define TS_STUDIO_NAME_BYTES 4096u
void ts_call_put_name(struct ts_studio_call *call, const char *name);

/*
 * Borrows tiles and a reader of trace 0 or 1 until the call ends. Returns 0, or -1 after
 * ts_call_fail().
 */
int ts_call_reader(struct ts_studio_call *call, uint64_t trace);
/*
 * Reads the parameter `session` into call->session. Each session numbers its operations by itself,
 * so a trace of several sessions has several operations of one number. A server of one session
 * keeps that one. Call it after ts_call_reader(). Returns 0, or -1 after ts_call_fail().
 */
int ts_call_session(struct ts_studio_call *call);
/* Gives back the reader and the tiles, if the call has them. */
void ts_call_end_reader(struct ts_studio_call *call);

/*
 * Turn a time since the origin into an absolute one, at most UINT64_MAX. The end of a window is
 * never 0, which would be no limit. Call them after ts_call_reader().
 */
uint64_t ts_call_absolute(const struct ts_studio_call *call, uint64_t ns);
uint64_t ts_call_absolute_end(const struct ts_studio_call *call, uint64_t ns);

/*
 * Borrows the layer that the parameter `layer` names, until the call ends: call->layer, or NULL if
 * the parameter is missing or 0. `trace` is the trace of the lanes; only the first one has layers.
 * Returns 0, or -1 after ts_call_fail().
 */
int ts_call_layer(struct ts_studio_call *call, uint64_t trace);

/* Reads a number parameter; `otherwise` if it is missing. Returns 0, or -1 after ts_call_fail(). */
int ts_call_number(struct ts_studio_call *call, const char *name, uint64_t least, uint64_t most,
		   uint64_t *ret_value);
int ts_call_number_or(struct ts_studio_call *call, const char *name, uint64_t least, uint64_t most,
		      uint64_t otherwise, uint64_t *ret_value);

/* Requests. The answer is in the call. Each returns 0, or -1 after ts_call_fail(). */
int ts_request_trace(struct ts_studio_call *call);
int ts_request_tiles(struct ts_studio_call *call);
int ts_request_names(struct ts_studio_call *call);
int ts_request_rows(struct ts_studio_call *call);
int ts_request_row(struct ts_studio_call *call);
int ts_request_content(struct ts_studio_call *call);
int ts_request_ask(struct ts_studio_call *call);
int ts_request_flame(struct ts_studio_call *call);
int ts_request_search(struct ts_studio_call *call);
int ts_request_arrows(struct ts_studio_call *call);
int ts_request_slack(struct ts_studio_call *call);
int ts_request_what_if(struct ts_studio_call *call);
int ts_request_what_if_progress(struct ts_studio_call *call);
int ts_request_live(struct ts_studio_call *call);
int ts_request_control(struct ts_studio_call *call);
