/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that depends on libamdhip64 and librocprofiler-register, so that dlopen() brings both
 * into one scope, as AMD's libamdhip64 brings librocprofiler-register. hip-loads.c loads it.
 */
#include <stdint.h>

int hipDeviceSynchronize(void);
int rocprofiler_register_library_api_table(const char *name, int (*import)(void), uint32_t version,
					   void **tables, uint64_t n_tables, uint64_t *ret_id);

/* References, without which the linker leaves the libraries out. */
__attribute__((visibility("default"))) const void *const hip_linked[] = {
	(const void *)hipDeviceSynchronize,
	(const void *)rocprofiler_register_library_api_table,
};
