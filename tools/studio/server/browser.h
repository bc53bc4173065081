/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the user's browser. The token appears in no process list. */
#pragma once

#include <limits.h>

/*
 * Writes a private page that leads to the address, and opens it in the browser. The page's path is
 * in ret_path, for ts_browser_forget(); "" if there is none. Returns 0 or a negative errno: -ENOENT
 * if there is no program to open a browser.
 */
int ts_browser_open(const char *address, char ret_path[PATH_MAX]);
/* Removes the page. */
void ts_browser_forget(const char *path);
