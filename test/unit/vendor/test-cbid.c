// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of callback ids, compared with NVIDIA's headers. Each line names one of our
 * declarations and the vendor's; check-coverage.py fails if one of ours has no line.
 */
#include <cupti.h>

#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(values)
{
#define CHECK(name, id, kind) SAME(TS_CUPTI_RUNTIME_CBID_##name, CUPTI_RUNTIME_TRACE_CBID_##name);
	TS_CUPTI_RUNTIME_CBIDS(CHECK)
#undef CHECK
#define CHECK(name, id, kind) SAME(TS_CUPTI_DRIVER_CBID_##name, CUPTI_DRIVER_TRACE_CBID_##name);
	TS_CUPTI_DRIVER_CBIDS(CHECK)
	TS_CUPTI_DRIVER_UNTRACED_CBIDS(CHECK)
#undef CHECK
	SAME(TS_CUPTI_RUNTIME_CBID_INVALID, CUPTI_RUNTIME_TRACE_CBID_INVALID);
	SAME(TS_CUPTI_DRIVER_CBID_INVALID, CUPTI_DRIVER_TRACE_CBID_INVALID);
	SAME(TS_CUPTI_RUNTIME_CBID_SIZE, CUPTI_RUNTIME_TRACE_CBID_SIZE);
	SAME(TS_CUPTI_DRIVER_CBID_SIZE, CUPTI_DRIVER_TRACE_CBID_SIZE);
}
