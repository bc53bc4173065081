/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the live memory of each device: see curves.h. state-memory.c calls this file. A curve is
 * extended only when its own device changes, so the work depends on rows and parts, not on their
 * product.
 */
#include "replay/state/memory/curves.h"

#include "proto/abi/grow.h"

#include <errno.h>
#include <stdlib.h>

int ts_memory_curves_init(struct ts_memory_curves *curves, struct ts_sbt_reader *reader,
			  uint32_t n_parts, uint64_t from_ns, uint64_t to_ns)
{
	*curves = (struct ts_memory_curves){.reader = reader,
					    .n_parts = n_parts,
					    .from_ns = from_ns,
					    .part_ns = (to_ns - from_ns) / n_parts};
	curves->part_ns += curves->part_ns < UINT64_MAX;
	return ts_same_devices_read(&curves->same, reader);
}

void ts_memory_curves_deinit(struct ts_memory_curves *curves)
{
	for (size_t i = 0; i < curves->n_curves; i++)
		free(curves->curves[i].points);
	free(curves->curves);
	ts_same_devices_deinit(&curves->same);
	*curves = (struct ts_memory_curves){0};
}

static size_t part_of(const struct ts_memory_curves *curves, uint64_t ns)
{
	uint64_t part = ns < curves->from_ns ? 0 : (ns - curves->from_ns) / curves->part_ns;

	return part < curves->n_parts ? (size_t)part : curves->n_parts - 1;
}

/* Raises the points up to ns to the level that the device had until then. */
static void extend(const struct ts_memory_curves *curves, struct ts_memory_curve *curve,
		   uint64_t ns)
{
	size_t last = part_of(curves, ns);

	for (size_t i = part_of(curves, curve->last_ns); i <= last; i++)
		if (curve->live_bytes > curve->points[i])
			curve->points[i] = curve->live_bytes;
	if (ns > curve->last_ns)
		curve->last_ns = ns;
}

static int find(struct ts_memory_curves *curves, uint32_t session, uint32_t device,
		struct ts_memory_curve **ret_curve)
{
	uint64_t *points;
	int r;

	/* Memory without a known device is one curve. */
	if (device == TS_NO_DEVICE)
		session = 0;
	else
		ts_same_devices_first(&curves->same, curves->reader, &session, &device);
	*ret_curve = NULL;
	for (size_t i = 0; i < curves->n_curves; i++)
		if (curves->curves[i].session == session && curves->curves[i].device == device) {
			*ret_curve = &curves->curves[i];
			return 0;
		}
	if (curves->n_curves == TS_MEMORY_MAX_CURVES)
		return 0;
	r = TS_GROW(curves->curves, curves->n_allocated, curves->n_curves + 1);
	points = r ? NULL : calloc(curves->n_parts, sizeof(*points));
	if (!points)
		return -ENOMEM;
	*ret_curve = &curves->curves[curves->n_curves++];
	**ret_curve = (struct ts_memory_curve){.session = session,
					       .device = device,
					       .points = points,
					       .last_ns = curves->from_ns};
	return 0;
}

int ts_memory_curves_add(struct ts_memory_curves *curves, uint32_t session, uint32_t device,
			 uint64_t ns, uint64_t change)
{
	struct ts_memory_curve *curve;
	int r;

	if (!curves->n_parts)
		return 0;
	r = find(curves, session, device, &curve);
	if (r)
		return r;
	if (!curve) {
		curves->n_left_out++;
		return 0;
	}
	extend(curves, curve, ns);
	curve->live_bytes += change;
	extend(curves, curve, curve->last_ns);
	if (curve->live_bytes > curve->peak_bytes) {
		curve->peak_bytes = curve->live_bytes;
		curve->peak_ns = ns;
	}
	return 0;
}

void ts_memory_curves_finish(struct ts_memory_curves *curves, uint64_t to_ns)
{
	for (size_t i = 0; i < curves->n_curves; i++)
		extend(curves, &curves->curves[i], to_ns);
}
