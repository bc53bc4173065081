/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives names to the vendors' calls: see callname.h. replay/report, the exporters, tsctl and
 * bindings call this file. The tables come from proto/abi/vendor at compile time,
 * indexed by id. Numbers from a trace are untrusted, so each look-up checks the table's bounds.
 */
#include "replay/report/names/callname.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/base.h"
#include "proto/abi/record.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/cupti_family.h"
#include "proto/abi/vendor/hip_calls.h"

static const char *const runtime_names[TS_CUPTI_RUNTIME_CBID_SIZE] = {
#define NAME(name, id, kind) [id] = #name,
	TS_CUPTI_RUNTIME_CBIDS(NAME)
#undef NAME
};

static const char *const driver_names[TS_CUPTI_DRIVER_CBID_SIZE] = {
#define NAME(name, id, kind) [id] = #name,
	TS_CUPTI_DRIVER_CBIDS(NAME)
#undef NAME
};

static const char *const hip_names[TS_HIP_CALL_SIZE] = {
#define NAME(name, id, kind) [id] = #name,
	TS_HIP_CALLS(NAME)
#undef NAME
};

/*
 * Names that are made at the first use, because the tables have them in another form. Threads share
 * the tables, which are constant afterwards.
 */
enum {
	NAME_BYTES = 64,
	FIRST_FAMILY = TS_API_MACA,
	N_FAMILIES = TS_API_ACL + 1 - FIRST_FAMILY
};

static char plain_runtime_names[TS_CUPTI_RUNTIME_CBID_SIZE][NAME_BYTES];
static char (*family_names)[TS_CUPTI_DRIVER_CBID_SIZE][NAME_BYTES];
static pthread_once_t plain_runtime_names_made = PTHREAD_ONCE_INIT;
static pthread_once_t family_names_made = PTHREAD_ONCE_INIT;

/* The vendor's name of an id ends in the version of the parameters (cudaMalloc_v3020). */
static void make_runtime_names(void)
{
	for (uint32_t cbid = 0; cbid < TS_CUPTI_RUNTIME_CBID_SIZE; cbid++) {
		const char *name = runtime_names[cbid], *tail = name ? strrchr(name, '_') : NULL;
		size_t n = name ? strlen(name) : 0;

		if (tail && tail[1] == 'v' && isdigit((unsigned char)tail[2]) && strlen(tail) >= 6)
			n = (size_t)(tail - name);
		if (name)
			snprintf(plain_runtime_names[cbid], NAME_BYTES, "%.*s", (int)n, name);
	}
}

static const char *base_name(uint32_t domain, uint32_t cbid)
{
	if (domain == TS_API_CUDA_RUNTIME && cbid < TS_CUPTI_RUNTIME_CBID_SIZE) {
		pthread_once(&plain_runtime_names_made, make_runtime_names);
		return runtime_names[cbid] ? plain_runtime_names[cbid] : NULL;
	}
	if (domain == TS_API_CUDA_DRIVER && cbid < TS_CUPTI_DRIVER_CBID_SIZE)
		return driver_names[cbid];
	return domain == TS_API_HIP && cbid < TS_HIP_CALL_SIZE ? hip_names[cbid] : NULL;
}

/* Returns the calls of a domain of a library like CUPTI; NULL: no such domain. */
static const struct ts_pti_calls *family_calls(uint32_t domain)
{
	for (size_t i = 0; i < TS_PTI_VENDORS; i++)
		for (size_t k = 0; k < TS_ARRAY_LEN(ts_pti_vendors[i].calls); k++)
			if (ts_pti_vendors[i].calls[k].domain &&
			    ts_pti_vendors[i].api_domain[ts_pti_vendors[i].calls[k].base] == domain)
				return &ts_pti_vendors[i].calls[k];
	return NULL;
}

/*
 * A call of a library like CUPTI has the like-named call's number. Its name has another prefix.
 * Without memory there are no names.
 */
static void make_family_names(void)
{
	family_names = calloc(N_FAMILIES, sizeof(*family_names));
	for (uint32_t i = 0; family_names && i < N_FAMILIES; i++) {
		const struct ts_pti_calls *calls = family_calls(FIRST_FAMILY + i);
		size_t n_instead = calls ? strlen(calls->instead) : 0;

		for (uint32_t cbid = 0; calls && cbid < TS_CUPTI_DRIVER_CBID_SIZE; cbid++) {
			const char *name = base_name(calls->base, cbid);

			if (name && !strncmp(name, calls->instead, n_instead))
				snprintf(family_names[i][cbid], NAME_BYTES, "%s%s", calls->prefix,
					 name + n_instead);
		}
	}
}

const char *ts_name_api(uint32_t domain, uint32_t cbid)
{
	const char *name;

	if (domain < TS_API_MACA || domain > TS_API_ACL)
		return base_name(domain, cbid);
	pthread_once(&family_names_made, make_family_names);
	if (!family_names || cbid >= TS_CUPTI_DRIVER_CBID_SIZE)
		return NULL;
	name = family_names[domain - FIRST_FAMILY][cbid];
	return *name ? name : NULL;
}

const char *ts_name_api_domain(uint32_t domain)
{
	static const char *const names[] = {
		[TS_API_CUDA_DRIVER] = "driver",
		[TS_API_CUDA_RUNTIME] = "runtime",
		[TS_API_HIP] = "hip",
		[TS_API_MACA] = "maca",
		[TS_API_MUSA_DRIVER] = "musa_driver",
		[TS_API_MUSA_RUNTIME] = "musa_runtime",
		[TS_API_ACL] = "acl",
	};

	return domain < TS_ARRAY_LEN(names) ? names[domain] : NULL;
}

const char *ts_name_call(uint32_t domain, uint32_t cbid, char buffer[TS_CALL_NAME_BYTES])
{
	const char *name = ts_name_api(domain, cbid), *of = ts_name_api_domain(domain);

	if (name)
		return name;
	snprintf(buffer, TS_CALL_NAME_BYTES, "%s#%u", of ? of : "api", cbid);
	return buffer;
}
