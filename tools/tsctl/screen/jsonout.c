/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints messages as JSON on standard output. The commands call this file for --json.
 * proto/rpc/json.c works from descriptors, so a new field of a message needs no change here.
 */
#include "tools/tsctl/screen/jsonout.h"

#include "tools/tsctl/tsctl.h"

#include <stdio.h>

int ts_json_print(const ProtobufCMessage *message)
{
	struct ts_json json = {0};
	int r = ts_json_message(&json, message);

	if (!r) {
		fwrite(json.data, 1, json.n_bytes, stdout);
		putchar('\n');
	}
	ts_json_deinit(&json);
	if (r) {
		ts_complain("could not print %s as JSON: error %d", message->descriptor->name, -r);
		return TS_EXIT_BAD;
	}
	return ts_finish_output(TS_EXIT_OK);
}
