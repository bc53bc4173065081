/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and loads CUPTI, resolves its functions, and subscribes. shim.c, recorder.c and yield.c
 * call this file. This file calls the dynamic loader and CUPTI.
 *
 * Trap: two copies of CUPTI in one process do not work; the first loaded copy serves all tools. So
 * the application's copy, loaded or to be loaded, comes first. Only one copy is ever loaded.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "inject/cuda/cupti-library.h"
#include "inject/process/loader.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/cupti_cbid.h"

/* The newest version comes first; names_from() skips versions that the driver cannot serve. */
static const char *const library_names[] = {"libcupti.so.13",	"libcupti.so.12",
					    "libcupti.so.11.8", "libcupti.so.11.7",
					    "libcupti.so.11.6", "libcupti.so.11.5",
					    "libcupti.so.11.4", "libcupti.so.11.3",
					    "libcupti.so.11.2", "libcupti.so.11.1",
					    "libcupti.so.11.0", "libcupti.so"};

/*
 * Relative to the directory of libcudart: the directory itself, the toolkit's layout, and the
 * layouts of the Python packages.
 */
static const char *const beside[] = {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/",
				     "../../nvidia/cuda_cupti/lib/"};

/* Places of libcupti in a toolkit, for its several layouts. */
static const char *const in_toolkit[] = {"/extras/CUPTI/lib64/", "/lib64/",
#if defined(__x86_64__)
					 "/targets/x86_64-linux/lib/",
#elif defined(__aarch64__)
					 "/targets/sbsa-linux/lib/", "/targets/aarch64-linux/lib/",
#endif
					 "/lib/"};

struct mapped {
	const char *name; /* prefix of the file's name */
	char path[PATH_MAX];
};

static int find_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
	struct mapped *mapped = data;
	const char *file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	file = file ? file + 1 : info->dlpi_name;
	/* "libcupti.so.13", but also a package's "libcupti-1a2b3c.so". Not "libcuptiutil". */
	if (!file || strncmp(file, mapped->name, strlen(mapped->name)) ||
	    (file[strlen(mapped->name)] != '.' && file[strlen(mapped->name)] != '-'))
		return 0;
	return snprintf(mapped->path, sizeof(mapped->path), "%s", info->dlpi_name) <
	       (int)sizeof(mapped->path);
}

static bool is_mapped(struct mapped *mapped, const char *name)
{
	mapped->name = name;
	return ts_loader_iterate(find_mapped, mapped) != 0;
}

bool ts_cupti_find_mapped(const char *name, char *ret_path)
{
	struct mapped mapped;

	if (!is_mapped(&mapped, name))
		return false;
	memcpy(ret_path, mapped.path, sizeof(mapped.path));
	return true;
}

/*
 * Returns the first index in library_names to try. A CUPTI newer than the driver refuses to work.
 * Earlier indexes are tried last.
 */
static size_t names_from(uint32_t driver_version)
{
	if (driver_version >= 13000 || !driver_version)
		return 0;
	return driver_version >= 12000 ? 1 : 2;
}

static void *load_named(const char *directory, int n_directory, const char *sub, size_t first,
			struct ts_cupti *cupti)
{
	char path[PATH_MAX];
	void *library;
	size_t i;

	for (i = 0; i < TS_ARRAY_LEN(library_names); i++) {
		const char *name = library_names[(first + i) % TS_ARRAY_LEN(library_names)];

		if (snprintf(path, sizeof(path), "%.*s%s%s", n_directory, directory, sub, name) >=
		    (int)sizeof(path))
			return NULL;
		/*
		 * dlopen() opens a name with a slash as a path. access() first is cheaper than a
		 * failing dlopen().
		 */
		if (strchr(path, '/') && access(path, R_OK))
			continue;
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (library)
			return library;
	}
	return NULL;
}

static void *load_beside(const char *neighbour, size_t first, struct ts_cupti *cupti)
{
	struct mapped mapped;
	const char *slash;
	void *library;
	size_t i;

	if (!is_mapped(&mapped, neighbour))
		return NULL;
	slash = strrchr(mapped.path, '/');
	if (!slash)
		return NULL;
	for (i = 0; i < TS_ARRAY_LEN(beside); i++) {
		library = load_named(mapped.path, (int)(slash + 1 - mapped.path), beside[i], first,
				     cupti);
		if (library)
			return library;
	}
	return NULL;
}

static void *load_from_toolkit(const char *toolkit, size_t first, struct ts_cupti *cupti)
{
	void *library = NULL;
	size_t i;

	/*
	 * Absolute paths only: a relative one could load a library from the application's directory
	 * by mistake.
	 */
	for (i = 0; *toolkit == '/' && !library && i < TS_ARRAY_LEN(in_toolkit); i++)
		library = load_named(toolkit, (int)strlen(toolkit), in_toolkit[i], first, cupti);
	return library;
}

static uint32_t driver_version(struct ts_cupti *cupti)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int value = 0;

	if (!library)
		return 0;
	*(void **)&cupti->driver_get_version = dlsym(library, "cuDriverGetVersion");
	/*
	 * Trap: InitializeInjection() and callbacks must not call CUDA. cuDriverGetVersion() is the
	 * exception: it works before cuInit() and takes no lock.
	 */
	if (cupti->driver_get_version)
		cupti->driver_get_version(&value);
	dlclose(library);
	return value > 0 ? (uint32_t)value : 0;
}

void *ts_cupti_mapped(void)
{
	struct mapped mapped;
	size_t i;

	for (i = 0; i < TS_PTI_VENDORS; i++)
		if ((i == TS_PTI_CUPTI || ts_pti_vendors[i].other_prefix) &&
		    is_mapped(&mapped, ts_pti_vendors[i].library))
			return dlopen(mapped.path, RTLD_NOW | RTLD_NOLOAD);
	return NULL;
}

static void *find(struct ts_cupti *cupti, const struct ts_config *config)
{
	size_t first = names_from(cupti->driver_version);
	struct mapped mapped;
	void *library = NULL;

	if (is_mapped(&mapped, "libcupti"))
		library = dlopen(mapped.path, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = load_beside("libcudart", first, cupti);
	/*
	 * A program that uses only the driver has no libcudart. A CUPTI beside libcuda belongs to
	 * this libcuda.
	 */
	if (!library)
		library = load_beside("libcuda", first, cupti);
	if (!library)
		library = load_named("", 0, "", first, cupti);
	if (!library && *config->cupti)
		library = dlopen(config->cupti, RTLD_NOW | RTLD_LOCAL);
	/* Most programs link libcudart statically, so nothing shows the place of their toolkit. */
	if (!library)
		library = load_from_toolkit(config->cuda_home, first, cupti);
	if (!library)
		library = load_from_toolkit("/usr/local/cuda", first, cupti);
	return library;
}

const char *ts_cupti_resolve(struct ts_cupti *cupti, void *library)
{
#define TS_CUPTI_RESOLVE_(name) *(void **)&cupti->name = dlsym(library, #name);
	TS_CUPTI_REQUIRED(TS_CUPTI_RESOLVE_)
	TS_CUPTI_OPTIONAL(TS_CUPTI_RESOLVE_)
#undef TS_CUPTI_RESOLVE_
#define TS_CUPTI_REQUIRE_(name) \
	if (!cupti->name)       \
		return #name;
	TS_CUPTI_REQUIRED(TS_CUPTI_REQUIRE_)
#undef TS_CUPTI_REQUIRE_
	return NULL;
}

enum ts_empty_reason ts_cupti_load(struct ts_cupti *cupti, const struct ts_config *config,
				   char *ret_text, size_t n_text_bytes)
{
	struct mapped mapped;
	const char *missing;
	void *library;

	memset(cupti, 0, sizeof(*cupti));
	cupti->vendor = &ts_pti_vendors[TS_PTI_CUPTI];
	cupti->probe_domain = TS_CUPTI_CB_DOMAIN_DRIVER_API;
	cupti->probe_cbid = TS_CUPTI_DRIVER_CBID_cuDriverGetVersion;
	cupti->driver_version = driver_version(cupti);
	library = find(cupti, config);
	if (!library) {
		snprintf(
			ret_text, n_text_bytes,
			"libcupti was not found in the process, beside libcudart, in the loader's path or in CUDA_HOME; set TRACESMITH_CUPTI to its path");
		return TS_EMPTY_NO_CUPTI;
	}
	if (is_mapped(&mapped, "libcupti"))
		snprintf(cupti->path, sizeof(cupti->path), "%s", mapped.path);
	missing = ts_cupti_resolve(cupti, library);
	if (missing || cupti->cuptiGetVersion(&cupti->version) ||
	    cupti->version < TS_CUPTI_API_VERSION_CUDA_11_0) {
		snprintf(ret_text, n_text_bytes,
			 "%.120s: version %u, lacks %s; CUDA 11.0 or newer is needed", cupti->path,
			 cupti->version, missing ? missing : "records of CUDA 11");
		return TS_EMPTY_CUPTI_TOO_OLD;
	}
	cupti->layout_version = cupti->version;
	ts_debug(config, "CUPTI %u at %s, driver %u", cupti->version, cupti->path,
		 cupti->driver_version);
	return TS_EMPTY_NONE;
}

const char *ts_cupti_result(const struct ts_cupti *cupti, uint32_t result)
{
	const char *text = NULL;

	if (cupti->cuptiGetResultString && !cupti->cuptiGetResultString(result, &text) && text)
		return text;
	return "unknown error";
}

static void ignore_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
}

/* Gets the name of the tool that holds CUPTI. CUPTI reports it since CUDA 13.0; before, "". */
static void name_holder(struct ts_cupti *cupti, char *ret_name, size_t n_bytes)
{
	struct ts_cupti_subscriber_params params = {
		.struct_size = sizeof(params),
		.old_subscriber_name = ret_name,
		.old_subscriber_size = n_bytes,
	};
	void *subscriber = NULL;

	ret_name[0] = '\0';
	if (!cupti->cuptiSubscribe_v2)
		return;
	/*
	 * Trap: CUPTI's functions with and without _v2 do not mix. CUPTI is held, so this call is
	 * expected to fail and to return the holder's name. If it succeeds, unsubscribe at once.
	 */
	if (!cupti->cuptiSubscribe_v2(&subscriber, ignore_callback, NULL, &params))
		cupti->cuptiUnsubscribe(subscriber);
	ret_name[n_bytes - 1] = '\0';
	/* CUPTI's own words for a subscriber that gave no name, like compute-sanitizer. */
	if (!strcmp(ret_name, "<not provided>"))
		ret_name[0] = '\0';
}

enum ts_empty_reason ts_cupti_subscribe(struct ts_cupti *cupti, ts_cupti_callback_fn callback,
					void *userdata, char *ret_text, size_t n_text_bytes)
{
	char holder[2 * TS_CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
	uint32_t result = cupti->cuptiSubscribe(&cupti->subscriber, callback, userdata);

	if (!result) {
		__atomic_store_n(&cupti->held, 1, __ATOMIC_RELEASE);
		return TS_EMPTY_NONE;
	}
	cupti->subscriber = NULL;
	if (result == cupti->vendor->multiple_subscribers ||
	    result == cupti->vendor->limit_reached) {
		/*
		 * Debuggers and sanitizers for CUDA subscribe to CUPTI as well. Old versions of
		 * CUPTI return MAX_LIMIT_REACHED to a second subscriber.
		 */
		name_holder(cupti, holder, sizeof(holder));
		snprintf(ret_text, n_text_bytes, "another tool holds %s: %s",
			 cupti->vendor->id == TS_PTI_CUPTI ? "CUPTI" : cupti->vendor->name,
			 *holder ? holder : "its name is unknown");
		return TS_EMPTY_CUPTI_HELD;
	}
	snprintf(ret_text, n_text_bytes, "%sSubscribe: %s (%u)", cupti->vendor->prefix,
		 ts_cupti_result(cupti, result), result);
	return TS_EMPTY_CUPTI_ERROR;
}
