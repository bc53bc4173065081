/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools of `tsctl mcp`: each is a question about traces, which a command of tsctl answers in a
 * process of its own. One thread.
 */
#pragma once

#include <json-c/json_object.h>
#include <stddef.h>

/* The folders whose traces a client may ask about. The words stay the caller's. */
struct ts_mcp_folders {
	char **paths;
	size_t n;
};

/* Returns the list of tools for tools/list, or NULL without memory. The caller frees it. */
struct json_object *ts_mcp_tools_list(void);

/*
 * Runs a tool and returns the result of tools/call: texts, and isError if the tool failed.
 * `arguments` is the client's object, or NULL. Returns NULL if there is no tool of this name or no
 * memory. The caller frees it.
 */
struct json_object *ts_mcp_tools_call(const struct ts_mcp_folders *folders, const char *name,
				      struct json_object *arguments);
