/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a small timeline whose numbers can be counted by hand. Times in the drawing count from
 * BEGIN_NS.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/overview/timeline.h"
#include "sbt/writer.h"

#define BEGIN_NS UINT64_C(1000)

static struct ts_sbt_session_writer *session;

static void call(uint64_t op_id, uint64_t start, uint64_t end)
{
	const struct ts_row_api row = {.start_ns = BEGIN_NS + start,
				       .end_ns = BEGIN_NS + end,
				       .op_id = op_id,
				       .thread = 1,
				       .context = 1,
				       .flags = TS_API_EXPECTS_DEVICE};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &row), 0);
}

static void kernel(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end)
{
	const struct ts_row_kernel row = {.start_ns = BEGIN_NS + start,
					  .end_ns = BEGIN_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &row), 0);
}

static void copy(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end)
{
	const struct ts_row_memcpy row = {.start_ns = BEGIN_NS + start,
					  .end_ns = BEGIN_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream,
					  .copy_kind = 1,
					  .async = 1};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY, &row), 0);
}

/*
 *	host      |1|2|    |3--|
 *	stream 1     [1 kernel 20..60]                 [3 kernel 170..190]
 *	stream 2            [2 copy 40..100]
 *	          0 5 10   120 150
 *
 * Another copy, without a call, runs from 200 to 210.
 */
static struct ts_timeline *read_timeline(uint32_t n_parts, uint64_t from, uint64_t to)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = BEGIN_NS};
	const struct ts_timeline_options options = {.n_parts = n_parts,
						    .device_parts = true,
						    .from_ns = from ? BEGIN_NS + from : 0,
						    .to_ns = to ? BEGIN_NS + to : 0};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy_fd = dup(fd);
	struct ts_timeline *timeline;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	call(1, 0, 5);
	call(2, 5, 10);
	kernel(1, 1, 20, 60);
	copy(2, 2, 40, 100);
	call(3, 120, 150);
	kernel(3, 1, 170, 190);
	copy(9, 2, 200, 210);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy_fd, &reader, NULL), 0);
	ts_check_int(ts_timeline_read(reader, &options, &timeline), 0);
	ts_sbt_reader_free(reader);
	close(copy_fd);
	return timeline;
}

/*
 * Reads the timeline of a trace with one kernel over the whole range of times, or over all but the
 * first `less` ns.
 */
static struct ts_timeline *read_endless(uint32_t n_parts, uint64_t less)
{
	const struct ts_row_session row = {.pid = 1};
	const struct ts_row_kernel endless = {
		.start_ns = less, .end_ns = UINT64_MAX, .op_id = 1, .context = 1, .stream = 1};
	const struct ts_timeline_options options = {.n_parts = n_parts};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy_fd = dup(fd);
	struct ts_timeline *timeline;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &endless), 0);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy_fd, &reader, NULL), 0);
	ts_check_int(ts_timeline_read(reader, &options, &timeline), 0);
	ts_sbt_reader_free(reader);
	close(copy_fd);
	return timeline;
}

/* The parts cover all of the kernel's time, up to the largest time. */
TS_TEST(parts_of_a_device_cover_all_its_streams)
{
	struct ts_timeline *timeline = read_timeline(5, 0, 0);
	const struct ts_timeline_device *device = &timeline->devices[0];
	uint64_t sums[TS_TIMELINE_WORKS] = {0};

	/* From 20 to 210: a part has 39 ns. */
	ts_check_int(timeline->part_ns, 39);
	ts_check_int(device->parts[0].ns[TS_TIMELINE_COMPUTE], 39);
	ts_check_int(device->parts[1].ns[TS_TIMELINE_COMPUTE], 1);
	ts_check_int(device->parts[0].ns[TS_TIMELINE_COPY], 19);
	ts_check_int(device->parts[1].ns[TS_TIMELINE_COPY], 39);
	ts_check_int(device->parts[2].ns[TS_TIMELINE_COPY], 2);
	for (uint32_t i = 0; i < timeline->n_parts; i++)
		for (int work = 0; work < TS_TIMELINE_WORKS; work++)
			sums[work] += device->parts[i].ns[work];
	ts_check_int(sums[TS_TIMELINE_COMPUTE], device->ns[TS_TIMELINE_COMPUTE]);
	ts_check_int(sums[TS_TIMELINE_COPY], device->ns[TS_TIMELINE_COPY]);
	ts_timeline_free(timeline);
}

TS_TEST(all_time)
{
	static const uint32_t parts[] = {1, 2, 7, 100, 512};

	for (size_t i = 0; i < 2 * sizeof(parts) / sizeof(*parts); i++) {
		uint64_t from_ns = i % 2 * 1000, sum_ns = 0;
		struct ts_timeline *timeline = read_endless(parts[i / 2], from_ns);
		const struct ts_timeline_stream *stream = &timeline->streams[0];

		ts_check_int(timeline->n_streams, 1);
		for (uint32_t part = 0; part < parts[i / 2]; part++) {
			ts_check(stream->parts[part].ns[TS_TIMELINE_COMPUTE] <= timeline->part_ns);
			sum_ns += stream->parts[part].ns[TS_TIMELINE_COMPUTE];
		}
		ts_check(sum_ns == UINT64_MAX - from_ns);
		ts_timeline_free(timeline);
	}
}

TS_TEST(adds_up)
{
	struct ts_timeline *timeline = read_timeline(19, 0, 0);
	const struct ts_timeline_device *device = &timeline->devices[0];

	ts_check_int(timeline->n_devices, 1);
	ts_check_int(timeline->from_ns, BEGIN_NS + 20);
	ts_check_int(timeline->to_ns, BEGIN_NS + 210);
	ts_check_int(device->n_ops, 4);
	ts_check_int(device->ns[TS_TIMELINE_COMPUTE], 60);
	ts_check_int(device->ns[TS_TIMELINE_COPY], 70);
	ts_check_int(device->busy_ns, 110);
	ts_check_int(device->overlap_ns, 20);
	ts_check_int(device->sum_ns, 130);
	ts_check_int(device->max_at_once, 2);
	ts_check_int(device->max_ns, BEGIN_NS + 40);
	ts_timeline_free(timeline);
}

/*
 * From 100 to 170 the device waits for the third launch; the cause of the idle time from 190 to 200
 * is not recorded.
 */
TS_TEST(idle_time_has_a_cause)
{
	struct ts_timeline *timeline = read_timeline(10, 0, 220);
	const struct ts_timeline_device *device = &timeline->devices[0];
	uint64_t sum_ns = device->busy_ns;

	ts_check_int(device->idle_ns[TS_TIMELINE_HOST], 20);
	ts_check_int(device->idle_ns[TS_TIMELINE_CALL], 30);
	ts_check_int(device->idle_ns[TS_TIMELINE_DISPATCH], 20);
	ts_check_int(device->idle_ns[TS_TIMELINE_UNKNOWN], 10);
	ts_check_int(device->idle_ns[TS_TIMELINE_END], 10);
	for (size_t i = 0; i < TS_TIMELINE_IDLES; i++)
		sum_ns += device->idle_ns[i];
	ts_check_int(sum_ns, timeline->to_ns - timeline->from_ns);
	ts_timeline_free(timeline);
}

TS_TEST(parts_are_of_streams)
{
	struct ts_timeline *timeline = read_timeline(19, 0, 0);
	uint64_t sums[2][TS_TIMELINE_WORKS] = {{0}};

	ts_check_int(timeline->n_streams, 2);
	ts_check_int(timeline->streams[0].stream, 1);
	ts_check_int(timeline->streams[0].busy_ns, 60);
	ts_check_int(timeline->streams[1].busy_ns, 70);
	for (uint32_t stream = 0; stream < 2; stream++)
		for (uint32_t part = 0; part < timeline->n_parts; part++)
			for (uint32_t work = 0; work < TS_TIMELINE_WORKS; work++) {
				uint64_t ns = timeline->streams[stream].parts[part].ns[work];

				ts_check(ns <= timeline->part_ns);
				sums[stream][work] += ns;
			}
	ts_check_int(sums[0][TS_TIMELINE_COMPUTE], 60);
	ts_check_int(sums[0][TS_TIMELINE_COPY], 0);
	ts_check_int(sums[1][TS_TIMELINE_COPY], 70);
	/* The first part contains only the kernel. */
	ts_check_int(timeline->streams[0].parts[0].ns[TS_TIMELINE_COMPUTE], timeline->part_ns);
	ts_timeline_free(timeline);
}

TS_TEST(a_window_cuts)
{
	struct ts_timeline *timeline = read_timeline(4, 50, 80);
	const struct ts_timeline_device *device = &timeline->devices[0];

	ts_check_int(device->n_ops, 2);
	ts_check_int(device->ns[TS_TIMELINE_COMPUTE], 10);
	ts_check_int(device->ns[TS_TIMELINE_COPY], 30);
	ts_check_int(device->busy_ns, 30);
	ts_check_int(device->overlap_ns, 10);
	ts_timeline_free(timeline);
}
