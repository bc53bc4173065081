/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET content: the first bytes of a captured content, such as the arguments of a launch. http.c
 * calls this module; it reads the blob by sbt/reader.h.
 */
#include "proto/abi/hash.h"
#include "proto/abi/record.h"
#include "tools/studio/server/studio-call.h"

/* A kernel has at most 32,764 bytes of arguments; few have more than this. */
#define MAX_BYTES 4096u

static void put_hex(struct ts_json *json, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MAX_BYTES + 1];

	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * n] = '\0';
	ts_json_raw(json, text);
}

int ts_request_content(struct ts_studio_call *call)
{
	uint64_t session, content, trace;
	struct ts_sbt_blob blob;
	struct ts_hash128 hash;
	int r;

	if (ts_call_number(call, "session", 1, UINT32_MAX, &session) ||
	    ts_call_number(call, "content", 1, UINT32_MAX, &content) ||
	    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace) ||
	    ts_call_reader(call, trace))
		return -1;
	if (call->session && call->session != session)
		return ts_call_fail(call, 404, "this server reads another session");
	r = ts_sbt_reader_blob(call->reader->source.reader, (uint32_t)session, (uint32_t)content,
			       &blob);
	if (r == TS_SBT_E_NOT_FOUND)
		return ts_call_fail(call, 404, "there is no such content");
	if (r)
		return ts_call_fail_with(call, r);
	hash = ts_hash128(blob.bytes, blob.n_bytes);
	if (hash.a != blob.hash[0] || hash.b != blob.hash[1])
		return ts_call_fail(call, 500, "the content is damaged");
	if (blob.flags & TS_BLOB_LIST)
		return ts_call_fail(call, 400, "the content is too long to show");
	ts_json_raw(&call->out, "{\"bytes\": ");
	ts_json_uint(&call->out, blob.n_bytes);
	ts_json_raw(&call->out, ", \"hex\": \"");
	put_hex(&call->out, blob.bytes, blob.n_bytes < MAX_BYTES ? blob.n_bytes : MAX_BYTES);
	ts_json_raw(&call->out, "\"}\n");
	return 0;
}
