/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of libraries like CUPTI. A vendor's callback ids are its own, so calls are classified by
 * their names: mcMalloc is classified as hipMalloc, musaMalloc as cudaMalloc. shim.c asks for the
 * names once; recorder.c enables the callbacks; the library calls ts_family_handle(), which calls
 * callbacks.c.
 */
#include <dlfcn.h>

#include "inject/calls/call-names.h"
#include "inject/calls/call-table.h"
#include "inject/context.h"
#include "inject/cuda/callbacks.h"
#include "inject/cuda/family-records.h"
#include "inject/cuda/family.h"
#include "proto/abi/record.h"

/* Length of a name without the version of its parameters (cudaMalloc_v3020). */
static size_t length(const char *name)
{
	const char *tail = strrchr(name, '_');
	size_t n = strlen(name);

	if (!tail || tail[1] != 'v' || strlen(tail) < 6 || strspn(tail + 2, "0123456789") < 4)
		return n;
	return (size_t)(tail - name);
}

/*
 * Returns the number of the like-named call in the base table; 0: there is none, or the shim does
 * not watch it.
 */
static uint16_t find_call(const struct ts_pti_calls *calls, const char *name)
{
	const struct ts_call_names base = ts_call_names(calls->base);
	const size_t n_prefix = strlen(calls->prefix), n_base = strlen(base.prefix);
	const char *known = base.names;
	char wanted[128];
	size_t n;

	n = length(name);
	if (strncmp(name, calls->prefix, n_prefix) != 0 || n < n_prefix)
		return 0;
	/* The prefix in the base table may go on behind that of all names there. */
	if ((size_t)snprintf(wanted, sizeof(wanted), "%s%.*s", calls->instead, (int)(n - n_prefix),
			     name + n_prefix) >= sizeof(wanted) ||
	    strncmp(wanted, base.prefix, n_base) != 0)
		return 0;
	for (uint32_t i = 0; i < base.n; i++, known += strlen(known) + 1)
		if (!strcmp(known, wanted + n_base))
			return base.ids[i];
	return 0;
}

typedef uint32_t (*name_fn)(uint32_t domain_or_kind, uint32_t cbid, const char **ret_name);

static name_fn find_name_function(const struct ts_pti_vendor *vendor, void *handle)
{
	char symbol[64];
	name_fn function;

	snprintf(symbol, sizeof(symbol), "%sGetCallbackName", vendor->prefix);
	*(void **)&function = dlsym(handle, vendor->name_function ? vendor->name_function : symbol);
	return function;
}

static void put(struct ts_family *family, uint32_t i, const struct ts_pti_calls *calls,
		uint32_t cbid, const char *name)
{
	const uint16_t id = cbid < TS_FAMILY_IDS ? find_call(calls, name) : 0;

	if (id)
		family->calls[i][cbid] = id;
}

void ts_family_name_calls(struct ts_family *family, struct ts_cupti *cupti, void *handle)
{
	const struct ts_pti_vendor *vendor = cupti->vendor;
	name_fn name_of = find_name_function(vendor, handle);
	uint32_t i, cbid, asked;
	const char *name;

	memset(family, 0, sizeof(*family));
	for (i = 0; i < TS_FAMILY_DOMAINS && vendor->calls[i].domain; i++) {
		const struct ts_pti_calls *calls = &vendor->calls[i];

		for (cbid = 0; cbid < calls->n_known; cbid++)
			put(family, i, calls, calls->known[cbid].cbid, calls->known[cbid].name);
		/* The kinds of record of the runtime and of the driver have CUPTI's numbers. */
		asked = !vendor->name_function		    ? calls->domain
			: calls->base == TS_API_CUDA_DRIVER ? TS_CUPTI_ACTIVITY_KIND_DRIVER
							    : TS_CUPTI_ACTIVITY_KIND_RUNTIME;
		for (cbid = 1; name_of && cbid < TS_FAMILY_IDS; cbid++) {
			name = NULL;
			/* Trap: a library may not check the id, and give any word as a name. */
			if (name_of(asked, cbid, &name) || !name || !ts_family_is_readable(name))
				continue;
			put(family, i, calls, cbid, name);
			if (vendor->probe && !strcmp(name, vendor->probe)) {
				cupti->probe_domain = calls->domain;
				cupti->probe_cbid = cbid;
			}
		}
	}
}

void ts_family_enable_calls(struct ts_shim *shim, uint32_t enable, bool followed)
{
	const struct ts_pti_vendor *vendor = shim->cupti.vendor;
	uint32_t i, cbid, id;

	for (i = 0; i < TS_FAMILY_DOMAINS && vendor->calls[i].domain; i++)
		for (cbid = 1; cbid < TS_FAMILY_IDS; cbid++) {
			id = shim->family.calls[i][cbid];
			if (id && (followed || !ts_call_table_followed(vendor->calls[i].base, id)))
				(void)shim->cupti.cuptiEnableCallback(enable,
								      shim->cupti.subscriber,
								      vendor->calls[i].domain,
								      cbid);
		}
}

/* The words of MSPTI's callback data that the library sets. */
struct bare_data {
	uint32_t callback_site;
	const char *function_name;
};

static struct ts_cupti_callback_data plain_data(const struct ts_pti_vendor *vendor,
						const void *data)
{
	const struct bare_data *bare = data;
	struct ts_cupti_callback_data plain;

	if (vendor->flags & TS_PTI_BARE_CALLBACK)
		return (struct ts_cupti_callback_data){
			.callback_site = bare->callback_site,
			.function_name = bare->function_name,
		};
	plain = *(const struct ts_cupti_callback_data *)data;
	if (!(vendor->flags & TS_PTI_ARGUMENTS))
		plain.function_params = NULL;
	return plain;
}

static void note_id(struct ts_family *family, uint32_t id)
{
	if ((int32_t)(id - __atomic_load_n(&family->newest, __ATOMIC_RELAXED)) > 0)
		__atomic_store_n(&family->newest, id, __ATOMIC_RELAXED);
}

void ts_family_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	struct ts_shim *shim = userdata;
	const struct ts_pti_vendor *vendor = shim->cupti.vendor;
	struct ts_cupti_callback_data plain;
	uint32_t i, id, base;

	for (i = 0; i < TS_FAMILY_DOMAINS && vendor->calls[i].domain; i++) {
		if (vendor->calls[i].domain != domain)
			continue;
		id = cbid < TS_FAMILY_IDS ? shim->family.calls[i][cbid] : 0;
		if (!data || (!id && ts_tls.busy != TS_BUSY_PROBING))
			return;
		base = vendor->calls[i].base;
		plain = plain_data(vendor, data);
		note_id(&shim->family, plain.correlation_id);
		ts_callbacks_handle(userdata, base == TS_API_HIP ? TS_CALLBACKS_LIKE_HIP : base, id,
				    &plain);
		return;
	}
	if (domain == TS_CUPTI_CB_DOMAIN_RESOURCE && vendor->flags & TS_PTI_RESOURCES)
		ts_callbacks_handle(userdata, domain, cbid, data);
}
