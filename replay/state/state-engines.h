/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an operation that was called for, and that nothing else held, waited for an engine: for a full device, or a copy engine. No trace
 * says so. It is inferred where another had the engine at the instant, and it began when that was over, or what came one after the other in between.
 * Kernels share a device: by their occupancy it has to have been full all the while. Where that is not known it is taken to have been.
 */
#pragma once

#include "replay/state/state-machine.h"
#include "replay/state/state-map.h"

struct ts_state_engine_user; /* an operation that began by then, and may still hold others up */
struct ts_state_engine_device;

struct ts_state_engines {
	struct ts_state_engine_user *users;
	size_t n_users, n_users_allocated;
	struct ts_state_engine_device *devices;
	size_t n_devices, n_devices_allocated;
	struct ts_state_map device_by_id;
	bool is_lost; /* there were too many users */
};

struct ts_state_engine_found {
	uint64_t op_id,
		since_ns; /* what ran at the instant, and since when; 0: nobody held it up */
	bool is_unsure; /* some of it had room, or too much ran to follow: it may not have waited */
};

void ts_state_engines_deinit(struct ts_state_engines *engines);
/* A device's limits: of the others it is not known how full they are. -ENOMEM. */
int ts_state_engines_device(struct ts_state_engines *engines, uint32_t session,
			    const struct ts_row_device *row);
/* What ran at the instant; then, that there is no more of it. -ENOMEM. */
int ts_state_engines_begin(struct ts_state_engines *engines, const struct ts_state_op *op);
void ts_state_engines_begun(struct ts_state_engines *engines);
/* What began afterwards, in the order of starts. -ENOMEM. */
int ts_state_engines_pass(struct ts_state_engines *engines, const struct ts_state_op *op,
			  struct ts_state_engine_found *ret_found);
