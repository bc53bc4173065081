/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of HIP's work: its memory, and the search for work without rows. hip-session.c calls
 * this file. It calls only unlocked.c.
 */
#include "inject/hip/hip-work.h"

#include "inject/ring/unlocked.h"

int ts_hip_works_init(struct ts_hip_works *works)
{
	if (!works->slots)
		works->slots = ts_unlocked_map(TS_HIP_WORKS * sizeof(*works->slots));
	return works->slots ? 0 : -ENOMEM;
}

uint64_t ts_hip_works_pending(struct ts_hip_works *works, uint64_t newest_op_id, uint64_t n_calls,
			      bool gives_up)
{
	const uint64_t oldest_op_id =
		newest_op_id - (n_calls < TS_HIP_WORKS ? n_calls : TS_HIP_WORKS);
	struct ts_hip_work_slot *const slots = works->slots;
	uint64_t n = 0;

	for (uint64_t id = newest_op_id; slots && id != oldest_op_id; id--) {
		struct ts_hip_work_slot *slot = &slots[id % TS_HIP_WORKS];

		if (ts_likely(!(__atomic_load_n(&slot->state, __ATOMIC_RELAXED) &
				TS_HIP_WORK_PENDING)))
			continue;
		n++;
		if (gives_up)
			__atomic_fetch_and(&slot->state, ~TS_HIP_WORK_PENDING, __ATOMIC_RELAXED);
	}
	return n;
}
