/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling by the C++ library's own __cxa_demangle, taken by dlopen() so that no C++ is needed to
 * run. It reads strings from a trace, which is why the length it is given is bounded.
 */
#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"
#include "replay/report/names/names.h"

#include <dlfcn.h>

#define MAX_MANGLED_BYTES (16u * 1024)
#define MAX_KEPT	  (1u << 20)

struct name {
	char *mangled;
	char *shown; /* NULL: as it is */
};

struct ts_demangler {
	void *library;
	char *(*demangle)(const char *mangled, char *buffer, size_t *n_bytes, int *status);
	struct name *names; /* open addressing; n_slots is a power of two */
	size_t n_slots, n_names;
};

int ts_demangler_new(struct ts_demangler **ret_demangler)
{
	struct ts_demangler *demangler = calloc(1, sizeof(*demangler));
	void *symbol;

	if (!demangler)
		return -ENOMEM;
	demangler->n_slots = 1024;
	demangler->names = calloc(demangler->n_slots, sizeof(*demangler->names));
	if (!demangler->names) {
		free(demangler);
		return -ENOMEM;
	}
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
	for (size_t i = 0; i < demangler->n_slots; i++) {
		free(demangler->names[i].mangled);
		free(demangler->names[i].shown);
	}
	free(demangler->names);
	if (demangler->library)
		dlclose(demangler->library);
	free(demangler);
}

void ts_demangler_freep(struct ts_demangler **demangler)
{
	ts_demangler_free(*demangler);
}

static struct name *find(struct name *names, size_t n_slots, const char *mangled)
{
	size_t hash = ts_hash_text(TS_HASH_TEXT_BEGIN, mangled);

	for (;; hash++) {
		struct name *name = &names[hash & (n_slots - 1)];

		if (!name->mangled || !strcmp(name->mangled, mangled))
			return name;
	}
}

static int grow(struct ts_demangler *demangler)
{
	size_t n_slots = 2 * demangler->n_slots;
	struct name *names = calloc(n_slots, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < demangler->n_slots; i++)
		if (demangler->names[i].mangled)
			*find(names, n_slots, demangler->names[i].mangled) = demangler->names[i];
	free(demangler->names);
	demangler->names = names;
	demangler->n_slots = n_slots;
	return 0;
}

const char *ts_demangle(struct ts_demangler *demangler, const char *name)
{
	struct name *kept;
	int status;

	if (!demangler || !demangler->demangle || strncmp(name, "_Z", 2) ||
	    strnlen(name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return name;
	if (2 * demangler->n_names >= demangler->n_slots && grow(demangler))
		return name;
	kept = find(demangler->names, demangler->n_slots, name);
	if (!kept->mangled) {
		if (demangler->n_names == MAX_KEPT)
			return name;
		kept->mangled = strdup(name);
		if (!kept->mangled)
			return name;
		kept->shown = demangler->demangle(name, NULL, NULL, &status);
		demangler->n_names++;
	}
	return kept->shown ? kept->shown : name;
}
