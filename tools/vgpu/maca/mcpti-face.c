// SPDX-License-Identifier: Apache-2.0
/*
 * MetaX's face of the virtual CUPTI: the record sizes of proto/abi/vendor/cupti_family.h, MetaX's
 * names and ids of calls, and a clock of its own. The files of tools/vgpu/cupti call it.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/cupti_family.h"
#include "tools/vgpu/cupti/cupti-internal.h"
#include "tools/vgpu/maca/maca.h"

static const struct ts_pti_vendor *const vendor = &ts_pti_vendors[TS_PTI_MCPTI];

static const char *const names[TS_MACA_IDS] = {
#define NAME(name, id, domain, cuda) [id] = #name,
	TS_MACA_CALLS(NAME)
#undef NAME
};

#define IN_RUNTIME(id, cuda) [TS_CUPTI_RUNTIME_CBID_##cuda] = id,
#define IN_DRIVER(id, cuda)
static const uint16_t of_runtime[TS_CUPTI_RUNTIME_CBID_SIZE] = {
#define ID(name, id, domain, cuda) IN_##domain(id, cuda)
	TS_MACA_CALLS(ID)};
#undef IN_RUNTIME
#undef IN_DRIVER
#define IN_RUNTIME(id, cuda)
#define IN_DRIVER(id, cuda) [TS_CUPTI_DRIVER_CBID_##cuda] = id,
static const uint16_t of_driver[TS_CUPTI_DRIVER_CBID_SIZE] = {TS_MACA_CALLS(ID)};

size_t ts_cupti_face_bytes(uint32_t kind)
{
	const struct ts_pti_record *record = ts_pti_find(vendor, kind);

	return record ? record->n_bytes : 0;
}

bool ts_cupti_face_call(const struct ts_vgpu_api *call, struct ts_cupti_face_call *ret_call)
{
	uint32_t id;

	/* MetaX's runtime is one library: the calls inside one of its calls are none of its own. */
	if (call->outer)
		return false;
	if (call->domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		id = call->cbid < TS_CUPTI_RUNTIME_CBID_SIZE ? of_runtime[call->cbid] : 0;
	else
		id = call->cbid < TS_CUPTI_DRIVER_CBID_SIZE ? of_driver[call->cbid] : 0;
	if (!id)
		return false;
	*ret_call = (struct ts_cupti_face_call){vendor->calls[0].domain, id, names[id]};
	return true;
}

uint32_t ts_cupti_face_ids(uint32_t domain)
{
	return domain == vendor->calls[0].domain ? TS_MACA_IDS : 0;
}

uint32_t ts_cupti_face_version(void)
{
	return vendor->version;
}

/* A clock that began with the process's first question, and runs fast by a thousandth. */
static uint64_t own_ticks(uint64_t device_ns)
{
	static _Atomic uint64_t began;
	uint64_t none = 0, ns;

	/* A millisecond less: work that runs at the first question has begun before. */
	if (!atomic_load(&began))
		atomic_compare_exchange_strong(&began, &none, device_ns - 1000000);
	ns = device_ns - atomic_load(&began);
	return ns + ns / 1024;
}

uint64_t (*const ts_cupti_face_ticks)(uint64_t device_ns) = own_ticks;

const struct ts_vgpu_hooks *ts_cupti_find_hooks(void)
{
	void *library = dlopen("libmcruntime.so", RTLD_NOW | RTLD_NOLOAD);
	const void *(*hooks)(void) = NULL;

	if (library)
		*(void **)&hooks = dlsym(library, "ts_maca_hooks");
	if (!hooks)
		fprintf(stderr,
			"tracesmith: the virtual GPU's libmcpti.so found no libmcruntime.so "
			"of the virtual GPU in the process\n");
	return hooks ? hooks() : NULL;
}
