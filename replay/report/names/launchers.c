/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of device rows, by operation id: see launchers.h. resolver.c and the sums of rows call
 * this file.
 */
#include "replay/report/names/launchers.h"

#include "proto/abi/base.h"

#include <errno.h>

#define PLACE_BITS 64u

int ts_launchers_init(struct ts_launchers *launchers)
{
	launchers->at = calloc(TS_LAUNCHERS, sizeof(*launchers->at));
	launchers->taken = calloc(TS_LAUNCHERS / PLACE_BITS, sizeof(*launchers->taken));
	return launchers->at && launchers->taken ? 0 : -ENOMEM;
}

void ts_launchers_deinit(struct ts_launchers *launchers)
{
	free(launchers->at);
	free(launchers->taken);
	*launchers = (struct ts_launchers){0};
}

/*
 * Returns the place of an operation id. Most ids of a session increase by one, so recent calls have
 * different places. Only the few ids from TS_OP_ID_SHARED on may collide with them.
 */
static uint32_t place_of(uint32_t session, uint64_t op_id)
{
	return (uint32_t)(op_id ^ session * UINT64_C(40503)) & (TS_LAUNCHERS - 1);
}

static bool is_taken(const struct ts_launchers *launchers, uint32_t place)
{
	return launchers->taken[place / PLACE_BITS] >> place % PLACE_BITS & 1;
}

void ts_launchers_add(struct ts_launchers *launchers, const struct ts_launcher *launcher)
{
	uint32_t place = place_of(launcher->session, launcher->op_id);

	launchers->at[place] = *launcher;
	launchers->taken[place / PLACE_BITS] |= UINT64_C(1) << place % PLACE_BITS;
}

bool ts_launchers_find(const struct ts_launchers *launchers, uint32_t session, uint64_t op_id,
		       struct ts_launcher *ret_launcher)
{
	const struct ts_launcher *launcher = &launchers->at[place_of(session, op_id)];

	if (!op_id || launcher->op_id != op_id || launcher->session != session)
		return false;
	*ret_launcher = *launcher;
	return true;
}

bool ts_launchers_has_place(const struct ts_launchers *launchers, uint32_t session, uint64_t op_id)
{
	return is_taken(launchers, place_of(session, op_id));
}

void ts_launchers_merge(struct ts_launchers *launchers, const struct ts_launchers *later)
{
	for (uint32_t place = 0; place < TS_LAUNCHERS; place++)
		if (is_taken(later, place))
			ts_launchers_add(launchers, &later->at[place]);
}
