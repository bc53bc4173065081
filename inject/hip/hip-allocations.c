/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps HIP's allocations by address. hip-calls.c calls this file; this file calls only
 * unlocked-table.c.
 */
#include "inject/hip/hip-allocations.h"

struct slot {
	struct ts_unlocked_slot by_address;
	uint64_t bytes;
	uint32_t kind, device;
};

void ts_hip_memory_add(struct ts_hip_memory *memory, const struct ts_hip_allocation *allocation)
{
	struct slot *slot;

	if (!allocation->address)
		return;
	pthread_mutex_lock(&memory->lock);
	slot = ts_unlocked_table_find(&memory->table, sizeof(*slot), allocation->address);
	if (!slot)
		slot = ts_unlocked_table_add(&memory->table, sizeof(*slot), allocation->address);
	if (slot) {
		slot->bytes = allocation->bytes;
		slot->kind = allocation->kind;
		slot->device = allocation->device;
	}
	pthread_mutex_unlock(&memory->lock);
}

bool ts_hip_memory_remove(struct ts_hip_memory *memory, uint64_t address,
			  struct ts_hip_allocation *ret)
{
	struct slot *slot;

	pthread_mutex_lock(&memory->lock);
	slot = ts_unlocked_table_find(&memory->table, sizeof(*slot), address);
	if (slot) {
		*ret = (struct ts_hip_allocation){address, slot->bytes, slot->kind, slot->device};
		ts_unlocked_table_remove(&memory->table, sizeof(*slot), slot);
	}
	pthread_mutex_unlock(&memory->lock);
	return slot;
}
