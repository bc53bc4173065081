/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a call that each callback needs, without a function call: its class, and whether
 * call-table.h knows an effect of it. For the shim's own files.
 */
#pragma once

#include "proto/abi/record.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_cbid.h"

/* Tables of one interface's calls, by id; ids from n on are unknown. */
struct ts_call_facts_table {
	const uint8_t *classes;	   /* enum ts_cupti_class plus 1; 0: unknown */
	const uint8_t *effects_of; /* 0: no effect */
	uint32_t n;
};

/* By interface, enum ts_api_domain; without one, the driver's. */
extern const struct ts_call_facts_table ts_call_facts_tables[TS_API_HIP + 1];

struct ts_call_facts {
	uint8_t class_plus_1;
	bool has_effect;
};

static inline struct ts_call_facts ts_call_facts(uint32_t domain, uint32_t cbid)
{
	const struct ts_call_facts_table *table =
		&ts_call_facts_tables[domain <= TS_API_HIP ? domain : TS_API_CUDA_DRIVER];

	if (ts_unlikely(cbid >= table->n))
		return (struct ts_call_facts){0, false};
	return (struct ts_call_facts){table->classes[cbid], table->effects_of[cbid] != 0};
}

/* True if the call launches a kernel and has no effect that call-table.h knows. */
static inline bool ts_call_facts_is_launch(struct ts_call_facts facts)
{
	return facts.class_plus_1 == TS_CUPTI_CLASS_LAUNCH + 1 && !facts.has_effect;
}

/* True if the call's parameters have launch attributes: call-table.c reads them. */
static inline bool ts_call_has_attributes(uint32_t domain, uint32_t cbid)
{
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		return cbid == TS_CUPTI_RUNTIME_CBID_cudaLaunchKernelExC_v11060 ||
		       cbid == TS_CUPTI_RUNTIME_CBID_cudaLaunchKernelExC_ptsz_v11060;
	return domain == TS_CUPTI_CB_DOMAIN_DRIVER_API &&
	       (cbid == TS_CUPTI_DRIVER_CBID_cuLaunchKernelEx ||
		cbid == TS_CUPTI_DRIVER_CBID_cuLaunchKernelEx_ptsz);
}

/* Returns enum ts_cupti_class. */
static inline unsigned ts_call_facts_class(struct ts_call_facts facts)
{
	return facts.class_plus_1 ? facts.class_plus_1 - 1u : (unsigned)TS_CUPTI_CLASS_OTHER;
}
