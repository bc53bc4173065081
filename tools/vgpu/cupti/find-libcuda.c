// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the virtual GPU's libcuda: the process's copy, else the one that the loader finds.
 * cupti-hooks.c calls this file. The unit test replaces this file, so the function is not in
 * attach.c.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "tools/vgpu/cupti/cupti-internal.h"

const struct ts_vgpu_hooks *ts_cupti_find_hooks(void)
{
	int (*get_export_table)(const void **table, const struct ts_cu_uuid *id);
	const void *table = NULL;
	void *library;

	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr,
			"tracesmith: the virtual GPU's libcupti.so.13 found no libcuda.so.1: "
			"put the folder of both first in LD_LIBRARY_PATH\n");
		return NULL;
	}
	*(void **)&get_export_table = dlsym(library, "cuGetExportTable");
	if (!get_export_table || get_export_table(&table, &ts_vgpu_hooks_uuid) != TS_CU_SUCCESS)
		table = NULL;
	if (!table)
		fprintf(stderr,
			"tracesmith: the virtual GPU's libcupti.so.13 was loaded beside another "
			"libcuda.so.1: put the virtual GPU's folder first in LD_LIBRARY_PATH, or "
			"remove this folder from it\n");
	return table;
}
