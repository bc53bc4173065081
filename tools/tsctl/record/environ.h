/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a recorded command: the caller's, with the changes that recording needs. The
 * user's entries in LD_PRELOAD and LD_LIBRARY_PATH stay behind TraceSmith's. The runtime of a
 * sanitizer stays before TraceSmith's.
 */
#pragma once

struct ts_environ;

/* Starts with a copy of `base` (like `environ`). Returns 0 or -ENOMEM. */
int ts_environ_new(char *const *base, struct ts_environ **ret_environ);
void ts_environ_free(struct ts_environ *env);
void ts_environ_freep(struct ts_environ **env);

/* Returns NULL if the name is not set. Valid until the next change. */
const char *ts_environ_get(const struct ts_environ *env, const char *name);
/* Sets or replaces a value. Returns 0 or -ENOMEM. */
int ts_environ_set(struct ts_environ *env, const char *name, const char *value);
void ts_environ_unset(struct ts_environ *env, const char *name);
/*
 * Puts `entry` first in a list with `separators` (new entries use the first separator). If the list
 * has the entry, it moves to the front. Returns 0 or -ENOMEM.
 */
int ts_environ_prepend(struct ts_environ *env, const char *name, const char *entry,
		       const char *separators);
/*
 * Puts `library` into LD_PRELOAD: directly behind the last sanitizer's runtime, or first. A
 * sanitizer's functions then precede all others, as without recording. Returns 0 or -ENOMEM.
 */
int ts_environ_preload(struct ts_environ *env, const char *library);
/*
 * If this version of glibc is older than 2.34, puts libpthread.so.0 and libdl.so.2 behind all other
 * entries of LD_PRELOAD. The shim uses both without naming them. Returns 0 or -ENOMEM.
 */
int ts_environ_preload_old(struct ts_environ *env, const char *glibc_version);
/*
 * Lets a program run that is linked with a shared AddressSanitizer. Its runtime refuses to load
 * behind a preloaded library, unless ASAN_OPTIONS has verify_asan_link_order=0. The option also
 * reaches a program behind a script, `env` or a shell. Preloading the runtime instead would affect
 * the other children of the script or shell, and report their leaks. A value that the user set
 * stays. Returns 0 or -ENOMEM.
 */
int ts_environ_allow_asan(struct ts_environ *env);
/* For execve(): a NULL-terminated array. The caller does not free it. */
char **ts_environ_strings(struct ts_environ *env);
