/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps HIP's allocations by address: open addressing, at most half full, removal by moving later
 * entries of the run back. hip-calls.c calls this file; this file calls only unlocked.c. map.h does
 * not serve here, because it takes its memory from malloc().
 */
#include "inject/hip/hip-allocations.h"

#include <sys/mman.h>

#include "inject/ring/unlocked.h"
#include "proto/abi/tablehash.h"

#define FIRST_SLOTS 1024u

static size_t place(const struct ts_hip_memory *memory, uint64_t address)
{
	return (size_t)(ts_hash_add(address, 0) >> 20) & (memory->n_slots - 1);
}

static void insert(struct ts_hip_memory *memory, const struct ts_hip_allocation *allocation)
{
	size_t i = place(memory, allocation->address);

	while (memory->slots[i].address && memory->slots[i].address != allocation->address)
		i = (i + 1) & (memory->n_slots - 1);
	memory->n_used += !memory->slots[i].address;
	memory->slots[i] = *allocation;
}

/* Makes room for one more allocation. Returns false without memory. */
static bool grow(struct ts_hip_memory *memory)
{
	struct ts_hip_memory larger = {
		.n_slots = memory->n_slots ? memory->n_slots * 2 : FIRST_SLOTS,
	};

	if (2 * (memory->n_used + 1) <= memory->n_slots)
		return true;
	larger.slots = ts_unlocked_map(larger.n_slots * sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < memory->n_slots; i++)
		if (memory->slots[i].address)
			insert(&larger, &memory->slots[i]);
	if (memory->slots)
		munmap(memory->slots, memory->n_slots * sizeof(*memory->slots));
	memory->slots = larger.slots;
	memory->n_slots = larger.n_slots;
	memory->n_used = larger.n_used;
	return true;
}

void ts_hip_memory_add(struct ts_hip_memory *memory, const struct ts_hip_allocation *allocation)
{
	pthread_mutex_lock(&memory->lock);
	if (allocation->address && grow(memory))
		insert(memory, allocation);
	pthread_mutex_unlock(&memory->lock);
}

/* Closes the gap at i, so that a search for a later entry of its run does not end there. */
static void close_gap(struct ts_hip_memory *memory, size_t i)
{
	const size_t mask = memory->n_slots - 1;

	for (size_t k = (i + 1) & mask; memory->slots[k].address; k = (k + 1) & mask) {
		/* An entry may move back to i if its own place is not between i and it. */
		if (((k - place(memory, memory->slots[k].address)) & mask) < ((k - i) & mask))
			continue;
		memory->slots[i] = memory->slots[k];
		i = k;
	}
	memory->slots[i].address = 0;
}

bool ts_hip_memory_remove(struct ts_hip_memory *memory, uint64_t address,
			  struct ts_hip_allocation *ret)
{
	bool found = false;
	size_t i;

	pthread_mutex_lock(&memory->lock);
	if (memory->slots && address) {
		i = place(memory, address);
		while (memory->slots[i].address && memory->slots[i].address != address)
			i = (i + 1) & (memory->n_slots - 1);
		found = memory->slots[i].address;
		if (found) {
			*ret = memory->slots[i];
			close_gap(memory, i);
			memory->n_used--;
		}
	}
	pthread_mutex_unlock(&memory->lock);
	return found;
}
