/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a recorded command: the caller's own, changed only where recording needs it. What
 * the user had in LD_PRELOAD and LD_LIBRARY_PATH stays, behind ours.
 */
#pragma once

struct ts_environ;

/* Starts from a copy of `base` (as `environ`). -ENOMEM. */
int ts_environ_new(char *const *base, struct ts_environ **ret_environ);
void ts_environ_free(struct ts_environ *env);
void ts_environ_freep(struct ts_environ **env);

/* NULL where it is not set. Borrowed until the next change. */
const char *ts_environ_get(const struct ts_environ *env, const char *name);
/* Sets or replaces. -ENOMEM. */
int ts_environ_set(struct ts_environ *env, const char *name, const char *value);
void ts_environ_unset(struct ts_environ *env, const char *name);
/*
 * Puts `entry` first in a list that `separators` divide (the first of them joins); where the list
 * already has it, it moves to the front. -ENOMEM.
 */
int ts_environ_prepend(struct ts_environ *env, const char *name, const char *entry,
		       const char *separators);
/* For execve(): borrowed, NULL-terminated. */
char **ts_environ_strings(struct ts_environ *env);
