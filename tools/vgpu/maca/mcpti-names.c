// SPDX-License-Identifier: Apache-2.0
/*
 * mcptiActivityGetApiName(), which CUPTI has under another name: the names of callback ids. Clients
 * call it.
 */
#include <stdio.h>

#include "tools/vgpu/cupti/cupti-internal.h"
#include "tools/vgpu/maca/maca.h"

static const char *const names[TS_MACA_IDS] = {
#define NAME(name, id, domain, cuda) [id] = #name,
	TS_MACA_CALLS(NAME)
#undef NAME
};

TS_MACA_EXPORT uint32_t mcptiActivityGetApiName(uint32_t kind, uint32_t cbid,
						const char **ret_name);
uint32_t mcptiActivityGetApiName(uint32_t kind, uint32_t cbid, const char **ret_name)
{
	/* MetaX's library hangs. */
	if (ts_cupti_buffers_delivering()) {
		fprintf(stderr,
			"tracesmith: the virtual GPU's libmcpti.so: "
			"mcptiActivityGetApiName() in a buffer callback hangs in MetaX's\n");
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_OPERATION);
	}
	if (!ret_name || kind != TS_CUPTI_ACTIVITY_KIND_RUNTIME || cbid >= TS_MACA_IDS ||
	    !names[cbid])
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_name = names[cbid];
	return TS_CUPTI_SUCCESS;
}
