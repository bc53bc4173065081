/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of control sockets for daemons that are not the service: the daemon of a recording
 * (`tsctl record`) and a private daemon (started by the preload alone). Each daemon has its own
 * directory, which only its user can enter: PARENT/tracesmith-XXXXXX/control.sock. A search for
 * daemons visits all parents.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PLACES_PREFIX    "tracesmith-"
#define TS_PLACES_CONTROL   "control.sock"
#define TS_PLACES_INJECT    "inject.sock" /* socket of a recording for its processes */
#define TS_PLACES_N_PARENTS 3u
#define TS_PLACES_BYTES	    108u /* limit of a path with its end: that of a socket */

/*
 * Lists $XDG_RUNTIME_DIR, /run/user/UID and /tmp: the parents that can hold such directories,
 * without duplicates, in search order. Returns the count.
 */
size_t ts_places_parents(char ret_parents[TS_PLACES_N_PARENTS][TS_PLACES_BYTES]);

/*
 * Makes a directory, whose path leaves room for a socket's name, in the first parent that permits
 * it. Returns 0 or a negative errno. The caller removes the directory.
 */
int ts_places_new(char ret_directory[TS_PLACES_BYTES]);

/* Removes the sockets and the directory if they exist. */
void ts_places_remove(const char *directory);

/*
 * Returns the path of the calling process's executable file. If /proc is not mounted, it is the
 * path that started the process, which may be relative; call this function before the working
 * directory changes. Returns 0 or a negative errno.
 */
int ts_places_self(char ret_path[PATH_MAX]);
/* Returns whether /proc is mounted and shows this process. */
bool ts_places_has_proc(void);

#ifdef __cplusplus
}
#endif
