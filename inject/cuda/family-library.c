/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, loads and resolves a library like CUPTI. shim.c calls it in place of cupti-library.c. It
 * calls the dynamic loader. A function that the vendor lacks, and that the recorder can do without,
 * gets a stand-in here.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "inject/cuda/family.h"
#include "inject/process/loader.h"
#include "inject/shim-debug.h"
#include "proto/abi/clock.h"

static uint32_t no_count(void *context, uint32_t stream, size_t *ret_dropped)
{
	return TS_CUPTI_ERROR_NOT_SUPPORTED;
}

static uint32_t realtime(uint64_t *ret_time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*ret_time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return TS_CUPTI_SUCCESS;
}

const struct ts_pti_vendor *ts_family_find(void)
{
	char path[PATH_MAX];
	size_t i;

	if (ts_cupti_find_mapped(ts_pti_vendors[TS_PTI_CUPTI].runtime, path))
		return NULL;
	for (i = TS_PTI_CUPTI + 1; i < TS_PTI_VENDORS; i++)
		if (ts_cupti_find_mapped(ts_pti_vendors[i].runtime, path))
			return &ts_pti_vendors[i];
	return NULL;
}

static void *find_probe(const struct ts_pti_vendor *vendor)
{
	char path[PATH_MAX];
	void *library, *function;

	if (!vendor->probe || !ts_cupti_find_mapped(vendor->runtime, path))
		return NULL;
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return NULL;
	function = dlsym(library, vendor->probe);
	dlclose(library);
	return function;
}

/* Loads the library that lies beside the vendor's runtime. */
static void *load_beside(const struct ts_pti_vendor *vendor)
{
	char path[PATH_MAX], *slash;
	size_t n;

	if (!ts_cupti_find_mapped(vendor->runtime, path))
		return NULL;
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	n = (size_t)(slash + 1 - path);
	if ((size_t)snprintf(slash + 1, sizeof(path) - n, "%s", vendor->paths[0]) >=
	    sizeof(path) - n)
		return NULL;
	return access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *load(const struct ts_pti_vendor *vendor, const struct ts_config *config)
{
	char path[PATH_MAX];
	void *library = NULL;
	size_t i;

	if (ts_cupti_find_mapped(vendor->library, path))
		return dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	/* It works only if the loader put it before the runtime. */
	if (vendor->flags & TS_PTI_PRELOADED)
		return NULL;
	library = load_beside(vendor);
	for (i = 0; !library && i < TS_ARRAY_LEN(vendor->paths) && vendor->paths[i]; i++)
		library = dlopen(vendor->paths[i], RTLD_NOW | RTLD_LOCAL);
	if (!library && *config->cupti)
		library = dlopen(config->cupti, RTLD_NOW | RTLD_LOCAL);
	return library;
}

static void *find_function(const struct ts_pti_vendor *vendor, void *library, const char *name)
{
	const size_t n_cupti = strlen(ts_pti_vendors[TS_PTI_CUPTI].prefix);
	char symbol[96];
	void *function;

	snprintf(symbol, sizeof(symbol), "%s%s", vendor->prefix, name + n_cupti);
	function = dlsym(library, symbol);
	if (!function && vendor->other_prefix) {
		snprintf(symbol, sizeof(symbol), "%s%s", vendor->other_prefix, name + n_cupti);
		function = dlsym(library, symbol);
	}
	return function;
}

/* Returns the name of a missing function, or NULL. */
static const char *resolve(struct ts_cupti *cupti, void *library)
{
	const struct ts_pti_vendor *vendor = cupti->vendor;

#define TS_FAMILY_RESOLVE_(name) *(void **)&cupti->name = find_function(vendor, library, #name);
	TS_CUPTI_REQUIRED(TS_FAMILY_RESOLVE_)
	TS_CUPTI_OPTIONAL(TS_FAMILY_RESOLVE_)
#undef TS_FAMILY_RESOLVE_
	cupti->version = vendor->version;
	if (cupti->cuptiGetVersion)
		(void)cupti->cuptiGetVersion(&cupti->version);
	if (vendor->flags & TS_PTI_REALTIME)
		cupti->cuptiGetTimestamp = realtime;
	/* Its arguments differ where the completion callback's differ. */
	if (!cupti->cuptiActivityGetNumDroppedRecords || vendor->flags & TS_PTI_SHORT_COMPLETION)
		cupti->cuptiActivityGetNumDroppedRecords = no_count;
	/* These have CUPTI's own numbers of attributes and types. */
	cupti->cuptiActivitySetAttribute = NULL;
	cupti->cuptiActivityGetAttribute = NULL;
	cupti->cuptiSetThreadIdType = NULL;
	cupti->cuptiGetThreadIdType = NULL;
	/* The vendor's clock converts by pairs, at any rate. */
	cupti->cuptiActivityRegisterTimestampCallback = NULL;
	cupti->cuptiSubscribe_v2 = NULL;
#define TS_FAMILY_REQUIRE_(name)                                                     \
	if (!cupti->name && (void *)&cupti->name != (void *)&cupti->cuptiGetVersion) \
		return &#name[5];
	TS_CUPTI_REQUIRED(TS_FAMILY_REQUIRE_)
#undef TS_FAMILY_REQUIRE_
	return NULL;
}

enum ts_empty_reason ts_family_load(struct ts_cupti *cupti, const struct ts_pti_vendor *vendor,
				    struct ts_family *family, const struct ts_config *config,
				    char *ret_text, size_t n_text_bytes)
{
	const char *missing;
	void *library;

	memset(cupti, 0, sizeof(*cupti));
	cupti->vendor = vendor;
	if (vendor->state == TS_PTI_REFUSED) {
		snprintf(ret_text, n_text_bytes, "%s is not recorded: %s", vendor->maker,
			 vendor->missing);
		return TS_EMPTY_NO_CUPTI;
	}
	library = load(vendor, config);
	if (!library) {
		snprintf(
			ret_text, n_text_bytes,
			vendor->flags & TS_PTI_PRELOADED
				? "%s.so was not loaded when the process started; add it to LD_PRELOAD"
				: "%s.so was not found in the process, beside its runtime or in the loader's path",
			vendor->library);
		return TS_EMPTY_NO_CUPTI;
	}
	(void)ts_cupti_find_mapped(vendor->library, cupti->path);
	cupti->layout_version = vendor->version;
	missing = resolve(cupti, library);
	if (missing) {
		snprintf(ret_text, n_text_bytes, "%.120s: lacks %s%s", cupti->path, vendor->prefix,
			 missing);
		return TS_EMPTY_CUPTI_TOO_OLD;
	}
	ts_family_name_calls(family, cupti, library);
	*(void **)&cupti->driver_get_version = find_probe(vendor);
	ts_debug(config, "%s %u at %s", vendor->name, cupti->version, cupti->path);
	return TS_EMPTY_NONE;
}
