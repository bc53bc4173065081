/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts cumulative counters of losses to rows with a time range. serve/session (session-round.c,
 * session-main.c, session-write.c, session-samples.c, session-kernel.c) and serve/system/observed.c
 * call this module.
 */
#include "daemon/merge/loss.h"

unsigned ts_loss_look(struct ts_loss_seen *seen, const uint64_t *live, uint64_t from_ns,
		      uint64_t to_ns, uint32_t thread, struct ts_row_loss *ret_rows)
{
	unsigned n = 0;

	for (unsigned reason = 1; reason < TS_LOSS_COUNT; reason++) {
		uint64_t count = __atomic_load_n(&live[reason], __ATOMIC_RELAXED);

		if (count > seen->counts[reason]) {
			ret_rows[n] = ts_loss_row((enum ts_loss_reason)reason,
						  count - seen->counts[reason], from_ns, to_ns);
			ret_rows[n++].thread = thread;
		}
		seen->counts[reason] = count;
	}
	return n;
}

void ts_loss_resume(struct ts_loss_seen *seen, const uint64_t *reported, const uint64_t *live)
{
	for (unsigned reason = 1; reason < TS_LOSS_COUNT; reason++) {
		uint64_t count = __atomic_load_n(&reported[reason], __ATOMIC_RELAXED);

		if (count <= __atomic_load_n(&live[reason], __ATOMIC_RELAXED))
			seen->counts[reason] = count;
	}
}

void ts_loss_store(const struct ts_loss_seen *seen, uint64_t *reported)
{
	for (unsigned reason = 1; reason < TS_LOSS_COUNT; reason++)
		if (__atomic_load_n(&reported[reason], __ATOMIC_RELAXED) != seen->counts[reason])
			__atomic_store_n(&reported[reason], seen->counts[reason], __ATOMIC_RELAXED);
}

struct ts_row_loss ts_loss_row(enum ts_loss_reason reason, uint64_t count, uint64_t from_ns,
			       uint64_t to_ns)
{
	return (struct ts_row_loss){
		.start_ns = from_ns,
		.end_ns = to_ns,
		.count = count,
		.reason = reason,
	};
}
