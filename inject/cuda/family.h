/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries like CUPTI (proto/abi/vendor/cupti_family.h): finds and loads one, classifies its
 * calls, and passes its callbacks on in CUPTI's form.
 *
 * 	driver -> InitializeInjection(), or program -> entry function (family-entry.c)
 * 	  -> shim.c -> ts_family_load() -> recorder.c, as for CUPTI
 * 	library -> ts_family_handle() -> ts_callbacks_handle()
 * 	library -> buffer -> activity.c -> family-records.c
 */
#pragma once

#include "inject/cuda/cupti-library.h"

struct ts_shim;

/* Room for a vendor's callback ids; later ids are not recorded. */
#define TS_FAMILY_IDS	  1024u
#define TS_FAMILY_DOMAINS 2u

struct ts_family {
	/* The number of the call in the vendor's base table, by vendor's domain and id; 0: none. */
	uint16_t calls[TS_FAMILY_DOMAINS][TS_FAMILY_IDS];
	/* The library's newest id that a callback had, for libraries without a probe. */
	uint32_t newest;
};

/* ---- family-library.c ---- */

/*
 * Returns the vendor whose runtime is in the process, for a driver that called the shim; NULL: none
 * but CUDA's.
 */
const struct ts_pti_vendor *ts_family_find(void);

/* Like ts_cupti_load(), for a vendor of the family. */
enum ts_empty_reason ts_family_load(struct ts_cupti *cupti, const struct ts_pti_vendor *vendor,
				    struct ts_family *family, const struct ts_config *config,
				    char *ret_text, size_t n_text_bytes);

/* ---- family-calls.c ---- */

/*
 * Classifies the vendor's calls by their names, which the library `handle` gives, and finds the
 * probe's callback id.
 */
void ts_family_name_calls(struct ts_family *family, struct ts_cupti *cupti, void *handle);

/* Enables or disables the callbacks of calls, like recorder.c for CUPTI's. */
void ts_family_enable_calls(struct ts_shim *shim, uint32_t enable, bool followed);

/* The callback of a library like CUPTI. `userdata` is the shim. Never fails. */
void ts_family_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);
