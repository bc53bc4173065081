/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the slack of the last windows: see studio-slacks.h. request-slack.c calls this module. It
 * calls replay/report/tiles. A page asks again at each zoom, and its window stays the same.
 */
#include "tools/studio/server/kept/studio-slacks.h"

#include "tools/studio/server/studio-call.h"

#include <malloc.h>

void ts_studio_slacks_init(struct ts_studio_slacks *slacks)
{
	*slacks = (struct ts_studio_slacks){0};
	pthread_mutex_init(&slacks->lock, NULL);
	pthread_mutex_init(&slacks->making, NULL);
}

/* Drops a reference; the caller has the lock. */
static void unref(struct ts_studio_slack *slack)
{
	if (!slack || --slack->refs)
		return;
	ts_tiles_slack_free(slack->slack);
	free(slack);
}

void ts_studio_slacks_deinit(struct ts_studio_slacks *slacks)
{
	for (unsigned i = 0; i < TS_STUDIO_MAX_SLACKS; i++)
		unref(slacks->at[i]);
	pthread_mutex_destroy(&slacks->lock);
	pthread_mutex_destroy(&slacks->making);
}

void ts_studio_slacks_put(struct ts_studio_slacks *slacks, struct ts_studio_slack *slack)
{
	pthread_mutex_lock(&slacks->lock);
	unref(slack);
	pthread_mutex_unlock(&slacks->lock);
}

static struct ts_studio_slack *find(struct ts_studio_slacks *slacks,
				    const struct ts_studio_slack *wanted)
{
	struct ts_studio_slack *found = NULL;

	pthread_mutex_lock(&slacks->lock);
	for (unsigned i = 0; !found && i < TS_STUDIO_MAX_SLACKS; i++) {
		struct ts_studio_slack *slack = slacks->at[i];

		if (slack && slack->trace == wanted->trace && slack->session == wanted->session &&
		    slack->n_blocks == wanted->n_blocks && slack->from_ns == wanted->from_ns &&
		    slack->to_ns == wanted->to_ns)
			found = slack;
	}
	if (found)
		found->refs++;
	pthread_mutex_unlock(&slacks->lock);
	return found;
}

/* Keeps the slack instead of an older one; the caller has a reference, too. */
static void keep(struct ts_studio_slacks *slacks, struct ts_studio_slack *slack)
{
	unsigned at;

	pthread_mutex_lock(&slacks->lock);
	at = slacks->n_made++ % TS_STUDIO_MAX_SLACKS;
	unref(slacks->at[at]);
	slacks->at[at] = slack;
	slack->refs = 2;
	pthread_mutex_unlock(&slacks->lock);
}

static struct ts_studio_slack *make(struct ts_studio_slacks *slacks, struct ts_studio_call *call,
				    const struct ts_studio_slack *wanted)
{
	const struct ts_graph_options options = {.session = wanted->session,
						 .from_ns = wanted->from_ns,
						 .to_ns = wanted->to_ns,
						 .max_nodes = TS_STUDIO_SLACK_NODES};
	struct ts_studio_slack *made = malloc(sizeof(*made));
	int r;

	if (!made) {
		ts_call_fail(call, 500, "no memory");
		return NULL;
	}
	*made = *wanted;
	ts_sbt_reader_cancel(call->reader->source.reader, &call->is_cancelled);
	r = ts_tiles_slack_new(call->tiles->tiles, call->reader->source.reader, &options,
			       &made->slack);
	ts_sbt_reader_cancel(call->reader->source.reader, NULL);
	/* The graph's memory, several times that of the slack, goes back to the system. */
	malloc_trim(0);
	if (!r) {
		keep(slacks, made);
		return made;
	}
	free(made);
	if (r == TS_E_GRAPH_NODES)
		ts_call_fail(
			call, 400,
			"the window has more than %u calls and operations; choose a shorter one",
			TS_STUDIO_SLACK_NODES);
	else
		ts_call_fail_with(call, r);
	return NULL;
}

struct ts_studio_slack *ts_studio_slacks_get(struct ts_studio_slacks *slacks,
					     struct ts_studio_call *call, uint64_t trace,
					     uint64_t from_ns, uint64_t to_ns)
{
	const struct ts_studio_slack wanted = {.trace = trace,
					       .session = call->session,
					       .n_blocks = ts_sbt_reader_n_blocks(
						       call->reader->source.reader),
					       .from_ns = from_ns,
					       .to_ns = to_ns};
	struct ts_studio_slack *found = find(slacks, &wanted);

	if (found)
		return found;
	pthread_mutex_lock(&slacks->making);
	found = find(slacks, &wanted);
	if (!found && !ts_call_is_cancelled(call))
		found = make(slacks, call, &wanted);
	else if (!found)
		ts_call_fail_with(call, -ECANCELED);
	pthread_mutex_unlock(&slacks->making);
	return found;
}
