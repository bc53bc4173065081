/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles C++ names with __cxa_demangle of the C++ library. dlopen() loads the library, so
 * TraceSmith runs without C++. resolver.c and tsctl call this file. Names come from a trace, so
 * their length is bounded.
 */
#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "replay/report/names/names.h"

#include <dlfcn.h>

#define MAX_MANGLED_BYTES (16u * 1024)
#define MAX_KEPT	  (1u << 20)

struct name {
	char *mangled;
	char *shown; /* NULL: same as `mangled` */
};

struct ts_demangler {
	void *library;
	char *(*demangle)(const char *mangled, char *buffer, size_t *n_bytes, int *status);
	struct name *names;
	size_t n_names, n_allocated;
	struct ts_hashindex by_mangled;
};

int ts_demangler_new(struct ts_demangler **ret_demangler)
{
	struct ts_demangler *demangler = calloc(1, sizeof(*demangler));
	void *symbol;

	if (!demangler)
		return -ENOMEM;
	demangler->library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	symbol = demangler->library ? dlsym(demangler->library, "__cxa_demangle") : NULL;
	memcpy(&demangler->demangle, &symbol, sizeof(symbol));
	*ret_demangler = demangler;
	return 0;
}

void ts_demangler_free(struct ts_demangler *demangler)
{
	if (!demangler)
		return;
	for (size_t i = 0; i < demangler->n_names; i++) {
		free(demangler->names[i].mangled);
		free(demangler->names[i].shown);
	}
	free(demangler->names);
	ts_hashindex_deinit(&demangler->by_mangled);
	if (demangler->library)
		dlclose(demangler->library);
	free(demangler);
}

void ts_demangler_freep(struct ts_demangler **demangler)
{
	ts_demangler_free(*demangler);
}

/*
 * Finds the entry of a mangled name, and adds a missing one. Returns NULL if the table is full or
 * memory is short.
 */
static const struct name *find(struct ts_demangler *demangler, const char *mangled)
{
	uint64_t hash = ts_hash_seeded_text(ts_hashindex_seed(&demangler->by_mangled), mangled);
	struct name *name;
	int status;

	TS_HASHINDEX_EACH (&demangler->by_mangled, hash, at)
		if (!strcmp(demangler->names[at.number].mangled, mangled))
			return &demangler->names[at.number];
	if (demangler->n_names == MAX_KEPT ||
	    TS_GROW(demangler->names, demangler->n_allocated, demangler->n_names + 1))
		return NULL;
	name = &demangler->names[demangler->n_names];
	name->mangled = strdup(mangled);
	if (!name->mangled ||
	    ts_hashindex_add(&demangler->by_mangled, hash, (uint32_t)demangler->n_names)) {
		free(name->mangled);
		return NULL;
	}
	name->shown = demangler->demangle(mangled, NULL, NULL, &status);
	demangler->n_names++;
	return name;
}

const char *ts_demangle(struct ts_demangler *demangler, const char *name)
{
	const struct name *kept;

	if (!demangler || !demangler->demangle || strncmp(name, "_Z", 2) ||
	    strnlen(name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return name;
	kept = find(demangler, name);
	return kept && kept->shown ? kept->shown : name;
}
