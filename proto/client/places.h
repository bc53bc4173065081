/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where daemons that are no service have their control sockets: a recording's (`tsctl record`), a private one's (the
 * preload's alone). Each in a directory of its own, which its user alone can enter: PARENT/tracesmith-XXXXXX/control.sock.
 * Who looks for them asks in every parent.
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
#define TS_PLACES_INJECT    "inject.sock" /* a recording's, for its processes */
#define TS_PLACES_N_PARENTS 3u
#define TS_PLACES_BYTES	    108u /* of a path, its end included: that of a socket */

/*
 * $XDG_RUNTIME_DIR, /run/user/UID, /tmp: those that may hold such directories, each once, in the order in which they
 * are tried. Returns how many there are.
 */
size_t ts_places_parents(char ret_parents[TS_PLACES_N_PARENTS][TS_PLACES_BYTES]);

/*
 * Makes a directory with room in its name for a socket's, in the first parent that takes it. 0 or a negative errno. It
 * is the caller's to remove.
 */
int ts_places_new(char ret_directory[TS_PLACES_BYTES]);

/* Removes the sockets and the directory, as far as they are there. */
void ts_places_remove(const char *directory);

/*
 * The path of the calling process's executable file. If /proc is not mounted, it is the path that the process was started by: call it before
 * the working directory changes. 0 or a negative errno.
 */
int ts_places_self(char ret_path[PATH_MAX]);
/* Whether /proc is mounted and shows this process. */
bool ts_places_has_proc(void);

#ifdef __cplusplus
}
#endif
