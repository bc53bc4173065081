/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a POST: a question with its options. */
#pragma once

#include "proto/abi/base.h"
#include "tools/studio/server/studio-call.h"

struct json_object;

/*
 * Parses the call's body, an object of JSON. The caller puts *ret_body. Returns 0, or -1 after
 * ts_call_fail().
 */
int ts_asking_body(struct ts_studio_call *call, struct json_object **ret_body);

struct ts_studio_asking {
	char *question;
	char *options; /* an object of JSON */
	uint64_t trace;
	uint32_t session; /* only this session of the trace; 0: all */
};

/* Reads the call's body. Returns 0, or -1 after ts_call_fail(). The caller frees the asking. */
int ts_asking_read(struct ts_studio_call *call, struct ts_studio_asking *ret_asking);
void ts_asking_deinit(struct ts_studio_asking *asking);
