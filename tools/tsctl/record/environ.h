/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a recorded command: the caller's own, changed only where recording needs it. What
 * the user had in LD_PRELOAD and LD_LIBRARY_PATH stays, behind ours; a sanitizer's runtime stays before ours.
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
/*
 * Puts `library` into LD_PRELOAD: right behind the last sanitizer's runtime of the list, else first. A sanitizer's
 * functions stand before all others then, as in a run without us. -ENOMEM.
 */
int ts_environ_preload(struct ts_environ *env, const char *library);
/*
 * Lets a program run that is linked with a shared AddressSanitizer: its runtime refuses to come behind a preloaded library
 * unless ASAN_OPTIONS has verify_asan_link_order=0. The option reaches such a program behind a script, `env` or a shell as well; a
 * preloaded runtime would reach their other children, and report those programs' leaks. The user's own word on the option stays. -ENOMEM.
 */
int ts_environ_allow_asan(struct ts_environ *env);
/* For execve(): borrowed, NULL-terminated. */
char **ts_environ_strings(struct ts_environ *env);
