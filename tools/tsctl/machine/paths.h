/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the other parts of TraceSmith: beside tsctl in a build tree, in the install, or from the
 * environment. Nothing is cached. PATH is not searched, because a daemon of another version is
 * worse than none.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#define TS_DAEMON_ENVIRONMENT	"TRACESMITH_DAEMON"
#define TS_INJECT_ENVIRONMENT	"TRACESMITH_INJECT"
#define TS_VGPU_DIR_ENVIRONMENT "TRACESMITH_VGPU_DIR"
#define TS_STUDIO_ENVIRONMENT	"TRACESMITH_STUDIO"

/*
 * Each function writes an absolute path. Returns 0, or -ENOENT with the first place that was
 * searched in ret_path, for an error message.
 */
int ts_path_daemon(char ret_path[PATH_MAX]); /* tracesmithd */
int ts_path_inject(char ret_path[PATH_MAX]); /* libtsinject.so */
int ts_path_vgpu(char ret_path[PATH_MAX]);   /* directory of libcuda.so.1 and related libraries */
int ts_path_studio(char ret_path[PATH_MAX]); /* tracesmith-studio */

/* True if the virtual GPU is installed. Messages recommend it only then. */
bool ts_path_has_vgpu(void);
