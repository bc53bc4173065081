/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the error bounds of times in a trace: see state-clocks.h. replay/report, compare/diff.c,
 * graph/state-graph.c and tsctl call this file; this file reads clock rows through sbt.
 *
 * The recorder wrote the bound of a session's host times into the session's row. The bound of its
 * device times adds the largest error of its pairs of vendor clock and host clock. Between two
 * sessions the two bounds add up.
 */
#include "replay/state/state-clocks.h"

#include "proto/abi/clock.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t sum(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* Finds, for each session, the clock pair with the largest error. Session numbers count from 1. */
static int read_pairs(struct ts_sbt_reader *reader, uint32_t session, uint64_t *widest, size_t n,
		      bool *ret_damaged)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_CLOCK),
						      .session = session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			*ret_damaged = true;
			r = 0;
		} else if (!r && row.clock->clock == TS_CLOCK_CUPTI && row.session < n &&
			   row.clock->error_ns > widest[row.session]) {
			widest[row.session] = row.clock->error_ns;
		}
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static void freep(uint64_t **words)
{
	free(*words);
}

int ts_clocks_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_clocks *ret_clocks)
{
	size_t n = ts_sbt_reader_n_sessions(reader), n_numbers = 1;
	ts_cleanup(freep) uint64_t *widest = NULL;
	struct ts_clocks clocks = {0};
	uint64_t most = 0, second = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		if (ts_sbt_reader_session_at(reader, i)->session >= n_numbers)
			n_numbers = (size_t)ts_sbt_reader_session_at(reader, i)->session + 1;
	/*
	 * Sessions are numbered from 1 to n. A session with a larger number is malformed, and its
	 * clock rows are ignored.
	 */
	n_numbers = n_numbers > n + 1 ? n + 1 : n_numbers;
	widest = calloc(n_numbers, sizeof(*widest));
	if (!widest)
		return -ENOMEM;
	r = read_pairs(reader, session, widest, n_numbers, &clocks.is_damaged);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		const struct ts_row_session *row = ts_sbt_reader_session_at(reader, i);
		uint64_t device_ns;

		if (session && row->session != session)
			continue;
		device_ns = sum(row->clock_error_ns,
				row->session < n_numbers ? widest[row->session] : 0);
		clocks.n_sessions++;
		if (row->clock_error_ns > clocks.host_ns)
			clocks.host_ns = row->clock_error_ns;
		if (device_ns > clocks.device_ns)
			clocks.device_ns = device_ns;
		if (device_ns >= most) {
			second = most;
			most = device_ns;
		} else if (device_ns > second) {
			second = device_ns;
		}
	}
	clocks.between_ns = clocks.n_sessions > 1 ? sum(most, second) : 0;
	*ret_clocks = clocks;
	return 0;
}

/* True if a device of the session (0: any session) has the flag. */
static bool has_device(const struct ts_sbt_reader *reader, uint32_t session, uint32_t flag)
{
	for (size_t i = 0; i < ts_sbt_reader_n_devices(reader); i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(reader, i);

		if ((!session || device->session == session) && (device->row.flags & flag))
			return true;
	}
	return false;
}

bool ts_clocks_are_modelled(const struct ts_sbt_reader *reader, uint32_t session)
{
	return has_device(reader, session, TS_DEVICE_MODEL_CLOCK);
}

bool ts_kernels_are_timed(const struct ts_sbt_reader *reader, uint32_t session)
{
	return has_device(reader, session, TS_DEVICE_TIMED_KERNELS);
}

bool ts_clocks_are_hosts(const struct ts_sbt_reader *reader)
{
	for (size_t i = 0; i < ts_sbt_reader_n_devices(reader); i++) {
		uint32_t flags = ts_sbt_reader_device_at(reader, i)->row.flags;

		if ((flags & TS_DEVICE_VIRTUAL) && !(flags & TS_DEVICE_MODEL_CLOCK))
			return true;
	}
	return false;
}
