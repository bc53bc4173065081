/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds definitions of the same thread, so that it has one lane. tile-lanes.c calls this module.
 *
 * The daemon defines a thread when a kernel event or a sample first names it. If the application
 * later records a call of that thread, its own definition follows, with another number. A number
 * that has no calls and no ranges is such an early definition. The next definition of the same
 * session and thread id is the same thread. Two numbers that both have calls are two threads: the
 * kernel gave the second one the id of a dead one.
 */
#include "replay/report/tiles/tiles-internal.h"

static uint64_t key_of(uint32_t session, uint32_t number)
{
	return (uint64_t)session << 32 | number;
}

uint32_t ts_tile_thread_first(const struct ts_tiles *tiles, uint32_t session, uint32_t number)
{
	uint64_t first = ts_map_get(&tiles->first_of_thread, key_of(session, number));

	return first ? (uint32_t)first : number;
}

uint32_t ts_tile_thread_last(const struct ts_tiles *tiles, uint32_t session, uint32_t number)
{
	uint64_t last = ts_map_get(&tiles->last_of_thread, key_of(session, number));

	return last ? (uint32_t)last : number;
}

/* Definitions with the same session and tid so far. */
struct same {
	struct ts_map first; /* session and tid: the thread's first number */
	const struct ts_map *with_calls;
};

static int add(struct ts_tiles *tiles, struct same *same, uint32_t session, uint32_t number,
	       uint32_t tid)
{
	uint64_t key = key_of(session, tid);
	uint32_t first = (uint32_t)ts_map_get(&same->first, key);
	bool has_calls = ts_map_get(same->with_calls, key_of(session, number));
	uint32_t last = first ? ts_tile_thread_last(tiles, session, first) : 0;

	if (!first || (has_calls && ts_map_get(same->with_calls, key_of(session, last))))
		return ts_map_set(&same->first, key, number) ? -ENOMEM : 0;
	if (ts_map_set(&tiles->first_of_thread, key_of(session, number), first))
		return -ENOMEM;
	/* An early definition knows the name that the thread had when it began. */
	return has_calls || !ts_map_get(same->with_calls, key_of(session, last))
		       ? ts_map_set(&tiles->last_of_thread, key_of(session, first), number)
		       : 0;
}

int ts_tile_threads_read(struct ts_tiles *tiles, const struct ts_sbt_reader *reader,
			 const struct ts_map *with_calls)
{
	struct same same = {.with_calls = with_calls};
	int r = 0;

	for (size_t i = 0; !r && i < ts_sbt_reader_n_threads(reader); i++) {
		const struct ts_sbt_thread *thread = ts_sbt_reader_thread_at(reader, i);

		if (thread->row.tid && thread->row.thread)
			r = add(tiles, &same, thread->session, thread->row.thread, thread->row.tid);
	}
	ts_map_deinit(&same.first);
	return r;
}

int ts_tile_thread_has_calls(struct ts_map *with_calls, uint32_t session, uint32_t number)
{
	return ts_map_set(with_calls, key_of(session, number), 1);
}
