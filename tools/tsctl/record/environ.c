/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the environment of a recorded command: see environ.h. cmd-record.c and cmd-benchmark.c
 * call this file. This file leaves tsctl's own environment unchanged, because messages about an
 * empty trace read it.
 */
#include "tools/tsctl/record/environ.h"

#include "proto/abi/base.h"
#include "proto/abi/grow.h"

#include <stdio.h>

#define ASAN_ENVIRONMENT "ASAN_OPTIONS"
#define ASAN_ORDER	 "verify_asan_link_order"

struct ts_environ {
	char **strings; /* n entries, then NULL */
	size_t n, n_allocated;
};

int ts_environ_new(char *const *base, struct ts_environ **ret_environ)
{
	struct ts_environ *env = calloc(1, sizeof(*env));
	size_t n = 0;

	while (base[n])
		n++;
	if (env)
		env->strings = calloc(n + 1, sizeof(*env->strings));
	if (!env || !env->strings)
		goto fail;
	env->n_allocated = n + 1;
	for (; env->n < n; env->n++) {
		env->strings[env->n] = strdup(base[env->n]);
		if (!env->strings[env->n])
			goto fail;
	}
	*ret_environ = env;
	return 0;
fail:
	ts_environ_free(env);
	return -ENOMEM;
}

void ts_environ_free(struct ts_environ *env)
{
	if (!env)
		return;
	for (size_t i = 0; i < env->n; i++)
		free(env->strings[i]);
	free(env->strings);
	free(env);
}

void ts_environ_freep(struct ts_environ **env)
{
	ts_environ_free(*env);
}

/* Returns the index of `name`, or n. */
static size_t find(const struct ts_environ *env, const char *name)
{
	size_t n_name = strlen(name), i;

	for (i = 0; i < env->n; i++)
		if (!strncmp(env->strings[i], name, n_name) && env->strings[i][n_name] == '=')
			break;
	return i;
}

const char *ts_environ_get(const struct ts_environ *env, const char *name)
{
	size_t i = find(env, name);

	return i < env->n ? env->strings[i] + strlen(name) + 1 : NULL;
}

int ts_environ_set(struct ts_environ *env, const char *name, const char *value)
{
	ts_cleanup(ts_freep) char *string = NULL;
	size_t i = find(env, name);

	if (asprintf(&string, "%s=%s", name, value) < 0) {
		string = NULL;
		return -ENOMEM;
	}
	if (i == env->n) {
		if (TS_GROW(env->strings, env->n_allocated, env->n + 2))
			return -ENOMEM;
		env->strings[env->n] = NULL;
		env->strings[++env->n] = NULL;
	}
	free(env->strings[i]);
	env->strings[i] = ts_take_ptr(string);
	return 0;
}

void ts_environ_unset(struct ts_environ *env, const char *name)
{
	size_t i;

	while ((i = find(env, name)) < env->n) {
		free(env->strings[i]);
		memmove(env->strings + i, env->strings + i + 1,
			(env->n - i) * sizeof(*env->strings));
		env->n--;
	}
}

/*
 * Rebuilds a list with `entry` once: directly behind the old entry that ends at `behind`, or first
 * if `behind` is NULL. `behind` points into the old list.
 */
static int place(struct ts_environ *env, const char *name, const char *entry,
		 const char *separators, const char *behind)
{
	const char *old = ts_environ_get(env, name);
	size_t n_entry = strlen(entry);
	ts_cleanup(ts_freep) char *list = malloc(n_entry + (old ? strlen(old) : 0) + 2);
	char *end;

	if (!list)
		return -ENOMEM;
	end = behind ? list : stpcpy(list, entry);
	while (old && *old) {
		size_t n = strcspn(old, separators);

		/* An empty entry of LD_LIBRARY_PATH means the working directory: keep it. */
		if (n != n_entry || strncmp(old, entry, n)) {
			if (end != list)
				*end++ = separators[0];
			end = mempcpy(end, old, n);
		}
		old += n;
		if (old == behind) {
			*end++ = separators[0];
			end = stpcpy(end, entry);
		}
		if (*old && *++old == 0)
			*end++ = separators[0];
	}
	*end = 0;
	return ts_environ_set(env, name, list);
}

int ts_environ_prepend(struct ts_environ *env, const char *name, const char *entry,
		       const char *separators)
{
	return place(env, name, entry, separators, NULL);
}

/* True if an entry of LD_PRELOAD is a sanitizer's runtime, of GCC or Clang. */
static bool is_sanitizer(const char *path, size_t n)
{
	static const char *const prefixes[] = {"libasan.so", "libhwasan.so", "liblsan.so",
					       "libtsan.so", "libubsan.so",  "libclang_rt."};
	const char *slash = memrchr(path, '/', n);
	const char *base = slash ? slash + 1 : path;
	size_t n_base = n - (size_t)(base - path);

	for (size_t i = 0; i < TS_ARRAY_LEN(prefixes); i++) {
		size_t n_prefix = strlen(prefixes[i]);

		if (n_base >= n_prefix && !memcmp(base, prefixes[i], n_prefix))
			return true;
	}
	return false;
}

int ts_environ_preload(struct ts_environ *env, const char *library)
{
	const char *separators = ": ", *behind = NULL;
	const char *at = ts_environ_get(env, "LD_PRELOAD");

	while (at && *at) {
		size_t n = strcspn(at, separators);

		if (is_sanitizer(at, n))
			behind = at + n;
		at += n + (at[n] != 0);
	}
	return place(env, "LD_PRELOAD", library, separators, behind);
}

int ts_environ_preload_old(struct ts_environ *env, const char *glibc_version)
{
	static const char *const libraries[] = {"libpthread.so.0", "libdl.so.2"};
	unsigned int major, minor;
	int r = 0;

	if (sscanf(glibc_version, "%u.%u", &major, &minor) != 2 || major != 2 || minor >= 34)
		return 0;
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(libraries); i++) {
		const char *old = ts_environ_get(env, "LD_PRELOAD");

		r = place(env, "LD_PRELOAD", libraries[i], ": ", old ? old + strlen(old) : NULL);
	}
	return r;
}

int ts_environ_allow_asan(struct ts_environ *env)
{
	const char *old = ts_environ_get(env, ASAN_ENVIRONMENT);
	ts_cleanup(ts_freep) char *options = NULL;

	if (old && strstr(old, ASAN_ORDER))
		return 0;
	if (asprintf(&options, "%s%s" ASAN_ORDER "=0", old ? old : "", old && *old ? ":" : "") <
	    0) {
		options = NULL;
		return -ENOMEM;
	}
	return ts_environ_set(env, ASAN_ENVIRONMENT, options);
}

char **ts_environ_strings(struct ts_environ *env)
{
	return env->strings;
}
