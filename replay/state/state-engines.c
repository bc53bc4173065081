/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers waits for engines: see state-engines.h. state.c calls this file; this file uses
 * occupancy.c.
 *
 * The module keeps each operation that ran at the instant or began later, until SLACK_NS after its
 * end. The free share of a device grows only when an operation ends. The free share is therefore
 * largest just before the next operation begins. The module samples it at this time, and keeps the
 * largest sample since the instant.
 */
#include "replay/state/state-engines.h"

#include "replay/state/occupancy.h"
#include "replay/state/state-builder.h"

#include <errno.h>
#include <stdlib.h>

/* An operation that begins at most SLACK_NS after another one ends counts as its successor. */
#define SLACK_NS    5000u
#define MAX_TICK_NS 1000u
#define MAX_USERS   1024u

/* The share of a whole device, in millionths. */
#define ALL 1000000u

struct ts_state_engine_user {
	uint64_t start_ns, end_ns;
	/*
	 * If this operation waited for the engine: the operation that ran at the instant and had to
	 * end first, directly or through its successors. Its id and start; 0: none.
	 */
	uint64_t root_op_id, root_ns;
	uint32_t session, type, device, copy_kind;
	uint32_t share; /* share of the device; ALL if unknown */
	uint32_t block; /* share of one block */
};

struct ts_state_engine_device {
	struct ts_row_device row;
	uint32_t free_share; /* largest since the instant */
};

void ts_state_engines_deinit(struct ts_state_engines *engines)
{
	free(engines->users);
	free(engines->devices);
	ts_state_map_deinit(&engines->device_by_id);
}

int ts_state_engines_device(struct ts_state_engines *engines, uint32_t session,
			    const struct ts_row_device *row)
{
	struct ts_state_engine_device *device =
		ts_state_append(&engines->devices, &engines->n_devices,
				&engines->n_devices_allocated, sizeof(*device));

	if (!device)
		return -ENOMEM;
	device->row = *row;
	return ts_state_map_set(&engines->device_by_id, session, row->device,
				(uint32_t)(engines->n_devices - 1));
}

static struct ts_state_engine_device *device_of(struct ts_state_engines *engines, uint32_t session,
						uint32_t id)
{
	uint32_t i = ts_state_map_find(&engines->device_by_id, session, id);

	return i == TS_STATE_MAP_NONE ? NULL : &engines->devices[i];
}

static uint32_t at_least_1(double share)
{
	return share < 1 ? 1 : (uint32_t)share;
}

static struct ts_state_engine_user user_of(struct ts_state_engines *engines,
					   const struct ts_state_op *op)
{
	const struct ts_state_engine_device *device = device_of(engines, op->session, op->device);
	struct ts_state_engine_user user = {
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.session = op->session,
		.type = op->type,
		.device = op->device,
		.copy_kind = op->type == TS_ROW_MEMCPY ? op->row.memcpy_.copy_kind : 0,
		.share = ALL,
		.block = ALL,
	};
	struct ts_occupancy occupancy;

	if (op->type != TS_ROW_KERNEL || !device ||
	    !ts_occupancy_of(&device->row, &op->row.kernel, &occupancy))
		return user;
	if (occupancy.waves < 1)
		user.share = at_least_1(occupancy.waves * ALL);
	user.block = at_least_1(ALL / ((double)occupancy.blocks * device->row.n_multiprocessors));
	return user;
}

static bool is_same_engine(const struct ts_state_engine_user *a,
			   const struct ts_state_engine_user *b)
{
	return a->session == b->session && a->type == b->type && a->device == b->device &&
	       a->copy_kind == b->copy_kind;
}

/*
 * True if the user had ended at at_ns, within the conversion error. Each device time is converted
 * separately, so the times of two consecutive operations may overlap by this error.
 */
static bool is_over_at(const struct ts_state_engine_user *user, uint64_t at_ns)
{
	uint64_t tick_ns = (user->end_ns - user->start_ns) / 8;

	return user->end_ns - (tick_ns < MAX_TICK_NS ? tick_ns : MAX_TICK_NS) <= at_ns;
}

static int add_user(struct ts_state_engines *engines, const struct ts_state_engine_user *user)
{
	struct ts_state_engine_user *added;

	if (engines->n_users == MAX_USERS) {
		engines->is_lost = true;
		return 0;
	}
	added = ts_state_append(&engines->users, &engines->n_users, &engines->n_users_allocated,
				sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = *user;
	return 0;
}

/*
 * Samples the device's free share just before `last` ends. If `last` is NULL, samples it just
 * before `user` begins.
 */
static void find_free_share(struct ts_state_engines *engines,
			    const struct ts_state_engine_user *user,
			    const struct ts_state_engine_user *last)
{
	struct ts_state_engine_device *device = device_of(engines, user->session, user->device);
	uint64_t at_ns = last ? last->end_ns : user->start_ns, used = 0;

	if (!device || user->type != TS_ROW_KERNEL)
		return;
	for (size_t i = 0; i < engines->n_users; i++) {
		const struct ts_state_engine_user *other = &engines->users[i];

		if (is_same_engine(other, user) && other->end_ns >= at_ns &&
		    !(last && is_over_at(last, other->start_ns)))
			used += other->share;
	}
	if (used < ALL && ALL - used > device->free_share)
		device->free_share = (uint32_t)(ALL - used);
}

int ts_state_engines_begin(struct ts_state_engines *engines, const struct ts_state_op *op)
{
	struct ts_state_engine_user user = user_of(engines, op);

	user.root_op_id = op->op_id;
	user.root_ns = op->start_ns;
	return add_user(engines, &user);
}

void ts_state_engines_begun(struct ts_state_engines *engines)
{
	for (size_t i = 0; i < engines->n_users; i++) {
		struct ts_state_engine_user now = engines->users[i];

		now.start_ns = 0; /* at the instant all users run */
		find_free_share(engines, &now, NULL);
	}
}

int ts_state_engines_pass(struct ts_state_engines *engines, const struct ts_state_op *op,
			  struct ts_state_engine_found *ret_found)
{
	const struct ts_state_engine_device *device = device_of(engines, op->session, op->device);
	struct ts_state_engine_user user = user_of(engines, op);
	const struct ts_state_engine_user *last = NULL, *rooted = NULL;
	uint32_t free_share;

	for (size_t i = 0; i < engines->n_users;) {
		if (engines->users[i].end_ns + SLACK_NS < user.start_ns)
			engines->users[i] = engines->users[--engines->n_users];
		else
			i++;
	}
	for (size_t i = 0; i < engines->n_users; i++) {
		const struct ts_state_engine_user *other = &engines->users[i];

		if (!is_same_engine(other, &user) || !is_over_at(other, user.start_ns))
			continue;
		if (!last || other->end_ns > last->end_ns)
			last = other;
		if (other->root_op_id && (!rooted || other->end_ns > rooted->end_ns))
			rooted = other;
	}
	find_free_share(engines, &user, last);
	free_share = device && user.type == TS_ROW_KERNEL ? device->free_share : 0;
	if (rooted) {
		user.root_op_id = rooted->root_op_id;
		user.root_ns = rooted->root_ns;
	}
	*ret_found = (struct ts_state_engine_found){.is_unsure = engines->is_lost};
	if (rooted && user.share > free_share) {
		ret_found->op_id = user.root_op_id;
		ret_found->since_ns = user.root_ns;
		ret_found->is_unsure |= user.block <= free_share;
	}
	return add_user(engines, &user);
}
