/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the vendors of libraries like CUPTI: see vendors.h. cmd-devices.c calls it. The list is the
 * shim's table.
 */
#include "tools/tsctl/machine/vendors.h"

#include "proto/abi/base.h"
#include "proto/abi/vendor/cupti_family.h"
#include "proto/rpc/json.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

static const char *state_name(enum ts_pti_state state)
{
	switch (state) {
	case TS_PTI_TRIED:
		return "tested";
	case TS_PTI_REFUSED:
		return "refused";
	default:
		return "untested";
	}
}

static void find(struct ts_pool *pool, const struct ts_pti_vendor *vendor,
		 Ts__Rpc__VendorInfo *info)
{
	uint32_t (*get_version)(uint32_t * ret_version);
	struct link_map *map;
	uint32_t version = 0;
	void *library = NULL;
	char symbol[64];

	for (size_t i = 0; !library && i < TS_ARRAY_LEN(vendor->paths) && vendor->paths[i]; i++)
		library = dlopen(vendor->paths[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	if (!dlinfo(library, RTLD_DI_LINKMAP, &map))
		info->path = ts_pool_copy(pool, map->l_name);
	snprintf(symbol, sizeof(symbol), "%sGetVersion", vendor->prefix);
	*(void **)&get_version = dlsym(library, symbol);
	if (get_version && !get_version(&version))
		TS_RPC_SET(info, version, version);
}

void ts_vendors_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	info->vendors = ts_pool_alloc(pool, TS_PTI_VENDORS, sizeof(*info->vendors));
	for (size_t i = TS_PTI_CUPTI + 1; i < TS_PTI_VENDORS; i++) {
		const struct ts_pti_vendor *vendor = &ts_pti_vendors[i];
		Ts__Rpc__VendorInfo *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__vendor_info__init(message);
		message->name = (char *)(uintptr_t)vendor->name;
		message->maker = (char *)(uintptr_t)vendor->maker;
		message->state = (char *)(uintptr_t)state_name(vendor->state);
		message->missing = (char *)(uintptr_t)vendor->missing;
		message->defects = (char *)(uintptr_t)vendor->defects;
		if (vendor->state != TS_PTI_REFUSED)
			find(pool, vendor, message);
		info->vendors[info->n_vendors++] = message;
	}
}

void ts_vendors_print(const Ts__Rpc__DevicesInfo *info)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;

	if (ts_table_new("llll", &table))
		return;
	puts("\nOther vendors with an interface like CUPTI's (untested: recorded, but never tried on the\n"
	     "vendor's own library; refused: not recorded):");
	ts_table_addf(table, "NAME");
	ts_table_addf(table, "VENDOR");
	ts_table_addf(table, "STATE");
	ts_table_addf(table, "LIBRARY");
	for (size_t i = 0; i < info->n_vendors; i++) {
		const Ts__Rpc__VendorInfo *vendor = info->vendors[i];

		ts_table_addf(table, "%s", vendor->name);
		ts_table_addf(table, "%s", vendor->maker);
		ts_table_addf(table, "%s", vendor->state);
		if (vendor->missing)
			ts_table_addf(table, "%s", vendor->missing);
		else if (vendor->path)
			ts_table_addf(table, "%s, version %u", vendor->path, vendor->version);
		else
			ts_table_addf(table, "not on the loader's path");
	}
	ts_table_print(table, stdout, 2, false);
}
