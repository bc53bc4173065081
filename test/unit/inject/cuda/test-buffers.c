/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the pool of activity buffers: it gives out zeroed buffers, each to one user at a time, at
 * most a fixed number of them, and never NULL.
 */
#include <sys/mman.h>

#include "inject/cuda/buffers.h"
#include "test/unit/harness.h"

static struct ts_buffers buffers;
static uint8_t *all[TS_BUFFERS_MAX];

static bool is_zero(const uint8_t *buffer, size_t n_bytes)
{
	return !buffer[0] && !memcmp(buffer, buffer + 1, n_bytes - 1);
}

TS_TEST(comes_back_zeroed)
{
	uint8_t *buffer = ts_buffers_take(&buffers);

	ts_check(is_zero(buffer, TS_BUFFER_BYTES));
	memset(buffer, 0xff, 1000);
	ts_buffers_give(&buffers, buffer, 1000);
	ts_check(ts_buffers_take(&buffers) == buffer);
	ts_check(is_zero(buffer, TS_BUFFER_BYTES));
	memset(buffer, 0xff, TS_BUFFER_BYTES);
	ts_buffers_give(&buffers, buffer, TS_BUFFER_BYTES);
	ts_check(is_zero(ts_buffers_take(&buffers), TS_BUFFER_BYTES));
}

TS_TEST(discard_buffers_are_several)
{
	uint8_t *discards[TS_DISCARDS];

	for (uint32_t i = 0; i < TS_BUFFERS_MAX; i++) {
		all[i] = ts_buffers_take(&buffers);
		ts_check(!ts_buffers_is_discard(&buffers, all[i]));
	}
	for (uint32_t i = 0; i < TS_DISCARDS; i++) {
		discards[i] = ts_buffers_take(&buffers);
		ts_check(ts_buffers_is_discard(&buffers, discards[i]));
		for (uint32_t j = 0; j < i; j++)
			ts_check(discards[j] != discards[i]);
	}
	/* If the pool has given out all its buffers, it gives out the discard buffer. */
	ts_check(ts_buffers_is_discard(&buffers, ts_buffers_take(&buffers)));
	memset(discards[5], 0xff, TS_DISCARD_BYTES);
	ts_buffers_give(&buffers, discards[5], TS_DISCARD_BYTES);
	ts_check(ts_buffers_take(&buffers) == discards[5]);
	ts_check(is_zero(discards[5], TS_DISCARD_BYTES));
	/* As soon as a real buffer is returned, the pool gives it out. */
	ts_buffers_give(&buffers, all[7], 0);
	ts_check(!ts_buffers_is_discard(&buffers, ts_buffers_take(&buffers)));
}
