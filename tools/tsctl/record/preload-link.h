/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths for the loader's lists. LD_PRELOAD separates its entries by blanks and colons,
 * LD_LIBRARY_PATH by colons and semicolons, and neither list can quote them.
 */
#pragma once

#include <limits.h>

#define TS_PRELOAD_SEPARATORS	   " :"
#define TS_LIBRARY_PATH_SEPARATORS ":;"

/*
 * If the path of a directory contains one of the separators, replaces it by the path of a symbolic
 * link to it. The links are in $XDG_CACHE_HOME/tracesmith or ~/.cache/tracesmith and stay there:
 * processes of a recorded command may outlive tsctl and start others. Returns 0 or a negative
 * errno: -EINVAL if the cache's path contains a separator or is not known.
 */
int ts_preload_link(char directory[PATH_MAX], const char *separators);
/* The same for the directory of a file. */
int ts_preload_link_file(char path[PATH_MAX], const char *separators);
