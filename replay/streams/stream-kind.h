/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a stream from a trace's stream row. Pure functions; state and emulate call them for
 * each row.
 */
#pragma once

#include "proto/abi/vendor/cupti_activity.h"
#include "replay/streams/streams.h"

/*
 * Sets the kind from flags of enum ts_cupti_activity_stream_flag. Other flags leave *kind
 * unchanged.
 */
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
