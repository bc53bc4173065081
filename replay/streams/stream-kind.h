/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of a stream as the trace has it. Pure; state and emulate call it for each row. */
#pragma once

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/streams/streams.h"

/* As the trace says it: flags of enum ts_cupti_activity_stream_flag. Flags that say nothing leave *kind as it is. */
static inline void ts_stream_set_kind(struct ts_stream_kind *kind, uint32_t flags)
{
	switch (flags & TS_CUPTI_ACTIVITY_STREAM_CREATE_MASK) {
	case TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL:
		*kind = (struct ts_stream_kind){.is_known = true, .is_legacy = true};
		break;
	case TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING:
		kind->is_known = true;
		kind->is_non_blocking = !kind->is_legacy;
		break;
	case TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT:
		kind->is_known = true;
		break;
	default:
		break;
	}
}
