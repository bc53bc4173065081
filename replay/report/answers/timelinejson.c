/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the timeline of replay/state to messages of proto/rpc. query.c and tsctl call this file.
 */
#include "replay/report/answers/timelinejson.h"
#include "replay/report/answers/doubtsjson.h"

#include "proto/rpc/json.h"

static Ts__Rpc__TimelinePart **make_parts(struct ts_pool *pool, const struct ts_timeline *timeline,
					  const struct ts_timeline_part *from)
{
	Ts__Rpc__TimelinePart *parts = ts_pool_alloc(pool, timeline->n_parts, sizeof(*parts));
	Ts__Rpc__TimelinePart **list = ts_pool_alloc(pool, timeline->n_parts, sizeof(*list));

	for (uint32_t i = 0; i < timeline->n_parts; i++) {
		ts__rpc__timeline_part__init(&parts[i]);
		TS_RPC_SET(&parts[i], compute_ns, from[i].ns[TS_TIMELINE_COMPUTE]);
		TS_RPC_SET(&parts[i], copy_ns, from[i].ns[TS_TIMELINE_COPY]);
		list[i] = &parts[i];
	}
	return list;
}

static Ts__Rpc__TimelineStream *make_stream(struct ts_resolver *resolver, struct ts_pool *pool,
					    const struct ts_timeline *timeline,
					    const struct ts_timeline_stream *stream)
{
	struct ts_row_kernel named = {.context = stream->context, .stream = stream->stream};
	struct ts_sbt_row row = {.type = TS_ROW_KERNEL,
				 .session = stream->session,
				 .kernel = &named};
	Ts__Rpc__TimelineStream *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__timeline_stream__init(message);
	TS_RPC_SET(message, session, stream->session);
	if (stream->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, stream->device);
	TS_RPC_SET(message, context, stream->context);
	if (stream->stream != TS_NO_DEVICE)
		TS_RPC_SET(message, stream, stream->stream);
	message->name = ts_pool_copy(pool, ts_resolver_stream_name(resolver, &row));
	TS_RPC_SET(message, operations, stream->n_ops);
	TS_RPC_SET(message, busy_ns, stream->busy_ns);
	message->parts = make_parts(pool, timeline, stream->parts);
	message->n_parts = timeline->n_parts;
	return message;
}

static void set_idle(struct ts_pool *pool, const struct ts_timeline_device *device,
		     Ts__Rpc__TimelineDevice *message)
{
	Ts__Rpc__TimelineIdle *idle = ts_pool_alloc(pool, TS_TIMELINE_IDLES, sizeof(*idle));

	message->idle = ts_pool_alloc(pool, TS_TIMELINE_IDLES, sizeof(*message->idle));
	message->has_idle_ns = 1;
	for (uint32_t i = 0; i < TS_TIMELINE_IDLES; i++) {
		if (!device->idle_ns[i])
			continue;
		ts__rpc__timeline_idle__init(&idle[i]);
		idle[i].cause = (char *)ts_timeline_idle_name(i);
		TS_RPC_SET(&idle[i], ns, device->idle_ns[i]);
		message->idle_ns += device->idle_ns[i];
		message->idle[message->n_idle++] = &idle[i];
	}
}

/* Returns the index of the first stream of this device or of a later one. */
static size_t first_stream(const struct ts_timeline *timeline, uint32_t in)
{
	size_t low = 0, high = timeline->n_streams;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (timeline->streams[middle].in < in)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ts_timelinejson_device(struct ts_resolver *resolver, struct ts_pool *pool,
			    const struct ts_timeline *timeline, uint32_t in, bool streams,
			    Ts__Rpc__TimelineDevice *message)
{
	const struct ts_timeline_device *device = &timeline->devices[in];
	const struct ts_row_device *row =
		ts_sbt_reader_device(ts_resolver_reader(resolver), device->session, device->device);
	size_t first, n;

	ts__rpc__timeline_device__init(message);
	TS_RPC_SET(message, session, device->session);
	if (device->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, device->device);
	if (row)
		message->name = ts_pool_copy(pool, ts_resolver_string(resolver, row->name));
	TS_RPC_SET(message, operations, device->n_ops);
	TS_RPC_SET(message, busy_ns, device->busy_ns);
	TS_RPC_SET(message, compute_ns, device->ns[TS_TIMELINE_COMPUTE]);
	TS_RPC_SET(message, copy_ns, device->ns[TS_TIMELINE_COPY]);
	TS_RPC_SET(message, overlap_ns, device->overlap_ns);
	set_idle(pool, device, message);
	TS_RPC_SET(message, max_at_once, device->max_at_once);
	TS_RPC_SET(message, max_at_once_ns, device->max_ns);
	if (device->busy_ns)
		TS_RPC_SET(message, mean_at_once, (double)device->sum_ns / (double)device->busy_ns);
	if (device->parts) {
		message->parts = ts_pool_alloc(pool, 1, sizeof(*message->parts));
		ts__rpc__timeline_parts__init(message->parts);
		message->parts->parts = make_parts(pool, timeline, device->parts);
		message->parts->n_parts = timeline->n_parts;
	}
	if (!streams)
		return;
	first = first_stream(timeline, in);
	n = first_stream(timeline, in + 1) - first;
	message->streams = ts_pool_alloc(pool, n + 1, sizeof(*message->streams));
	for (size_t i = 0; i < n; i++)
		message->streams[message->n_streams++] =
			make_stream(resolver, pool, timeline, &timeline->streams[first + i]);
}

void ts_timelinejson_make(struct ts_resolver *resolver, struct ts_pool *pool,
			  const struct ts_timeline *timeline, Ts__Rpc__TimelineReport *report)
{
	Ts__Rpc__TimelineDevice *devices =
		ts_pool_alloc(pool, timeline->n_devices, sizeof(*devices));

	ts__rpc__timeline_report__init(report);
	TS_RPC_SET(report, start_ns, timeline->from_ns);
	TS_RPC_SET(report, end_ns, timeline->to_ns);
	TS_RPC_SET(report, part_ns, timeline->part_ns);
	TS_RPC_SET(report, damaged, timeline->is_damaged);
	report->doubts = ts_doubtsjson_make(pool, &timeline->doubts);
	report->devices = ts_pool_alloc(pool, timeline->n_devices, sizeof(*report->devices));
	for (uint32_t i = 0; i < timeline->n_devices; i++) {
		ts_timelinejson_device(resolver, pool, timeline, i, true, &devices[i]);
		report->devices[report->n_devices++] = &devices[i];
	}
}

Ts__Rpc__Occupancy *ts_timelinejson_occupancy(struct ts_pool *pool,
					      const struct ts_occupancy_sum *sum)
{
	Ts__Rpc__Occupancy *message;

	if (!sum->known_count)
		return NULL;
	message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__occupancy__init(message);
	TS_RPC_SET(message, share, sum->share);
	TS_RPC_SET(message, share_min, sum->share_min);
	TS_RPC_SET(message, share_max, sum->share_max);
	TS_RPC_SET(message, waves, sum->waves);
	message->limit = ts_pool_copy(pool, ts_occupancy_limit_name(sum->limit));
	if (sum->known_count < sum->count)
		TS_RPC_SET(message, unknown, sum->count - sum->known_count);
	return message;
}

/* Returns the occupancy of a device; NULL if no kernel of this device is known. */
static const struct ts_occupancy_sum *find_occupancy(const struct ts_occupancies *occupancies,
						     uint32_t session, uint32_t device)
{
	size_t low = 0, high = occupancies->n_devices;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ts_occupancy_sum *sum = &occupancies->devices[middle];

		if (sum->session == session && sum->device == device)
			return sum;
		if (sum->session < session || (sum->session == session && sum->device < device))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void ts_timelinejson_occupancies(struct ts_pool *pool, const struct ts_occupancies *occupancies,
				 Ts__Rpc__TimelineDevice *const *devices, size_t n_devices)
{
	for (size_t i = 0; i < n_devices; i++) {
		const struct ts_occupancy_sum *sum =
			devices[i]->has_device ? find_occupancy(occupancies, devices[i]->session,
								devices[i]->device)
					       : NULL;

		if (sum)
			devices[i]->occupancy = ts_timelinejson_occupancy(pool, sum);
	}
}
