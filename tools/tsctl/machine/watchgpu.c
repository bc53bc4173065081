/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the recent activity of a session's GPUs from its trace: see watchgpu.h. cmd-watch.c calls
 * this file. The trace is opened anew each time, because a recording may continue in another file.
 * The cost depends on the window and not on the trace, except for allocations, which are read from
 * the beginning.
 */
#include "tools/tsctl/machine/watchgpu.h"

#include "proto/abi/clock.h"
#include "proto/rpc/json.h"
#include "replay/report/answers/timelinejson.h"
#include "replay/report/rows/aggregate.h"
#include "replay/state/memory/state-memory.h"
#include "tools/tsctl/trace/source.h"

#include <errno.h>

struct look {
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
	struct ts_pool *pool;
	Ts__Rpc__WatchLine *line;
	uint32_t session;
	uint64_t from_ns, to_ns;
	size_t max_kernels;
};

static int fill_devices(struct look *look)
{
	const struct ts_timeline_options options = {.session = look->session,
						    .n_parts = 1,
						    .from_ns = look->from_ns,
						    .to_ns = look->to_ns};
	ts_cleanup(ts_timeline_freep) struct ts_timeline *timeline = NULL;
	Ts__Rpc__WatchLine *line = look->line;
	int r = ts_timeline_read(look->reader, &options, &timeline);

	if (r)
		return r;
	line->devices = ts_pool_alloc(look->pool, timeline->n_devices + 1, sizeof(*line->devices));
	for (uint32_t i = 0; i < timeline->n_devices; i++) {
		Ts__Rpc__TimelineDevice *device = ts_pool_alloc(look->pool, 1, sizeof(*device));

		ts_timelinejson_device(look->resolver, look->pool, timeline, i, false, device);
		line->devices[line->n_devices++] = device;
	}
	return 0;
}

static int fill_kernels(struct look *look)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL),
						      .session = look->session,
						      .from_ns = look->from_ns,
						      .to_ns = look->to_ns};
	ts_cleanup(ts_aggregates_freep) struct ts_aggregates *aggregates = NULL;
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	Ts__Rpc__WatchLine *line = look->line;
	Ts__Rpc__Aggregate **sums;
	size_t n;
	int r = ts_aggregates_new(false, &aggregates);

	if (!r)
		r = ts_sbt_totals_new(look->reader, &options, &totals);
	for (size_t i = 0; !r && i < ts_sbt_totals_count(totals); i++)
		r = ts_aggregates_add_total(aggregates, look->resolver, ts_sbt_totals_at(totals, i),
					    NULL);
	if (r)
		return r;
	ts_aggregates_messages(aggregates, look->pool, look->max_kernels, &n, &sums);
	line->kernels = ts_pool_alloc(look->pool, n + 1, sizeof(*line->kernels));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__AnalysisKernel *kernel = ts_pool_alloc(look->pool, 1, sizeof(*kernel));

		ts__rpc__analysis_kernel__init(kernel);
		kernel->name = sums[i]->name;
		TS_RPC_SET(kernel, count, sums[i]->count);
		TS_RPC_SET(kernel, ns, sums[i]->total_ns);
		line->kernels[line->n_kernels++] = kernel;
	}
	TS_RPC_SET(line, kernels_ns, ts_aggregates_total_ns(aggregates));
	return 0;
}

static int fill_memory(struct look *look)
{
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = NULL;
	uint64_t live_bytes = 0;
	int r = ts_memory_read(look->reader, look->session, 0, &memory);

	if (r)
		return r;
	for (size_t i = 0; i < memory->n_groups; i++)
		if (ts_memory_is_device(memory->groups[i].kind))
			live_bytes += memory->groups[i].live_bytes;
	TS_RPC_SET(look->line, live_bytes, live_bytes);
	TS_RPC_SET(look->line, peak_bytes, memory->peak_bytes);
	return 0;
}

static int look_at(struct look *look, int fd, const char *path, uint64_t window_ns)
{
	const struct ts_resolver_options names = {.session = look->session};
	uint64_t now_ns = ts_clock_monotonic_ns();
	int r = ts_sbt_reader_open(fd, &look->reader, NULL);

	look->to_ns = now_ns > TS_WATCHGPU_LATE_NS ? now_ns - TS_WATCHGPU_LATE_NS : 1;
	look->from_ns = look->to_ns > window_ns ? look->to_ns - window_ns : 1;
	/* Live memory may have been allocated in an earlier file. */
	if (!r)
		r = ts_source_join(look->reader, path);
	if (!r)
		r = ts_resolver_new(look->reader, &names, &look->resolver);
	if (!r)
		r = fill_devices(look);
	if (!r)
		r = fill_kernels(look);
	if (!r)
		r = fill_memory(look);
	if (!r)
		TS_RPC_SET(look->line, window_ns, look->to_ns - look->from_ns);
	ts_resolver_free(look->resolver);
	ts_sbt_reader_free(look->reader);
	return r;
}

int ts_watchgpu_fill(struct ts_client *client, uint32_t session, uint64_t window_ns,
		     size_t max_kernels, struct ts_pool *pool, Ts__Rpc__WatchLine *line)
{
	struct look look = {.pool = pool, .line = line, .max_kernels = max_kernels};
	ts_cleanup(ts_closep) int fd = -1;
	const char *path;
	Ts__Rpc__Answer *answer;
	int r;

	if (ts_client_open_trace(client, session, 0, &answer, &fd))
		return 0;
	if (answer->body_case == TS__RPC__ANSWER__BODY_TRACE_OPENED && fd >= 0)
		look.session = answer->trace_opened->number_in_file;
	path = look.session ? answer->trace_opened->path : NULL;
	r = path ? look_at(&look, fd, path, window_ns) : 0;
	ts__rpc__answer__free_unpacked(answer, NULL);
	return r == -ENOMEM ? r : 0;
}
