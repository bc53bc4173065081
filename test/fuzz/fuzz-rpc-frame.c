/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the control socket's framing and messages (proto/rpc): bytes as a client may send them.
 * The first byte gives the size of each piece. Each frame's message is unpacked as a request and as
 * an answer, and printed as JSON.
 */
#include "proto/rpc/body.h"
#include "proto/rpc/frame.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Checks that the parts of a message lie within the message, and that the split ends. */
static void fuzz_parts(const struct ts_frame *frame)
{
	size_t n_bytes = frame->header.n_bytes, at = 0, n, off;
	uint32_t number;

	if (!ts_body_find(frame->data, n_bytes, &number, &off) && (off > n_bytes || !number))
		abort();
	while ((n = ts_body_part(frame->data + at, n_bytes - at, 16))) {
		if (n > n_bytes - at)
			abort();
		at += n;
	}
}

static void fuzz_message(const struct ts_frame *frame)
{
	Ts__Rpc__Request *request =
		ts__rpc__request__unpack(NULL, frame->header.n_bytes, frame->data);
	Ts__Rpc__Answer *answer = ts__rpc__answer__unpack(NULL, frame->header.n_bytes, frame->data);
	struct ts_json json = {0};

	fuzz_parts(frame);
	if (request) {
		ts_json_message(&json, &request->base);
		ts__rpc__request__free_unpacked(request, NULL);
	}
	if (answer) {
		ts_json_message(&json, &answer->base);
		ts__rpc__answer__free_unpacked(answer, NULL);
	}
	ts_json_deinit(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct ts_frame_parser parser;
	size_t step;
	int r = 0;

	if (!n_bytes)
		return 0;
	step = data[0] + (size_t)1;
	ts_frame_parser_init(&parser, TS_FRAME_REQUEST, TS_FRAME_REQUEST_MAX_BYTES);
	for (size_t at = 1; at < n_bytes && r >= 0; at += step) {
		struct ts_frame frame;

		r = ts_frame_parser_feed(&parser, data + at,
					 n_bytes - at < step ? n_bytes - at : step);
		while (!r) {
			r = ts_frame_parser_next(&parser, &frame);
			if (!r)
				fuzz_message(&frame);
		}
	}
	ts_frame_parser_deinit(&parser);
	return 0;
}
