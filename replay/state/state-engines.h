/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers whether a ready operation waited for an engine: a full device or a copy engine. A trace
 * does not record this wait. The inference has two conditions. First, another operation occupied
 * the engine at the instant. Second, the waiting operation began when that operation ended, or when
 * the last of its successors on the engine ended.
 *
 * Kernels share a device. A kernel waited only if occupancy shows that the device was full all the
 * time. If the occupancy is unknown, the device counts as full.
 */
#pragma once

#include "replay/state/state-machine.h"
#include "replay/state/state-map.h"

struct ts_state_engine_user; /* an operation that may still occupy an engine */
struct ts_state_engine_device;

struct ts_state_engines {
	struct ts_state_engine_user *users;
	size_t n_users, n_users_allocated;
	struct ts_state_engine_device *devices;
	size_t n_devices, n_devices_allocated;
	struct ts_state_map device_by_id;
	bool is_lost; /* there were more users than MAX_USERS */
};

struct ts_state_engine_found {
	/*
	 * The operation that occupied the engine at the instant, and its start. 0: the operation
	 * does not wait for an engine.
	 */
	uint64_t op_id, since_ns;
	/* the wait is unsure: the device had room for a block, or users were lost */
	bool is_unsure;
};

void ts_state_engines_deinit(struct ts_state_engines *engines);
/*
 * Adds the limits of a device. If a device is missing, its occupancy is unknown. Returns 0 or
 * -ENOMEM.
 */
int ts_state_engines_device(struct ts_state_engines *engines, uint32_t session,
			    const struct ts_row_device *row);
/*
 * First call _begin() for each operation that runs at the instant, then _begun() once. Returns 0 or
 * -ENOMEM.
 */
int ts_state_engines_begin(struct ts_state_engines *engines, const struct ts_state_op *op);
void ts_state_engines_begun(struct ts_state_engines *engines);
/* Then call _pass() for each operation that began later, ordered by start. Returns 0 or -ENOMEM. */
int ts_state_engines_pass(struct ts_state_engines *engines, const struct ts_state_op *op,
			  struct ts_state_engine_found *ret_found);
