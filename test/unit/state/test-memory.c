/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the memory report of a small trace whose every byte is known. */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/memory/state-memory.h"
#include "sbt/writer.h"

#define PINNED 2
#define DEVICE 3
#define STATIC 6

static struct ts_sbt_session_writer *session;

static void add(unsigned int type, uint64_t time_ns, uint64_t address, uint64_t bytes,
		unsigned int kind)
{
	struct ts_row_memory row = {.start_ns = time_ns,
				    .op_id = time_ns,
				    .address = address,
				    .bytes = bytes,
				    .stream = TS_NO_DEVICE,
				    .memory_kind = (uint16_t)kind};
	struct ts_row_api call = {.start_ns = time_ns - 1,
				  .end_ns = time_ns,
				  .op_id = time_ns,
				  .stack = 77};

	ts_check_int(ts_sbt_session_writer_add_row(session, type, &row), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &call), 0);
}

/*
 *	a  100   |=====|
 *	b  200     |===========		never freed
 *	c   50       |=|		pinned: no device memory
 *	a   10             |====	the same address again, never freed
 *	v   40             |====	a module's variable: the program does not free it
 *	x          f			freed, but not allocated
 */
static int write_trace(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	add(TS_ROW_ALLOC, 1100, 0xa0, 100, DEVICE);
	add(TS_ROW_ALLOC, 1200, 0xb0, 200, DEVICE);
	add(TS_ROW_FREE, 1250, 0x90, 0, DEVICE);
	add(TS_ROW_ALLOC, 1300, 0xc0, 50, PINNED);
	add(TS_ROW_FREE, 1400, 0xa0, 100, DEVICE);
	add(TS_ROW_FREE, 1500, 0xc0, 50, PINNED);
	add(TS_ROW_ALLOC, 1600, 0xa0, 10, DEVICE);
	add(TS_ROW_ALLOC, 1600, 0xd0, 40, STATIC);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return copy;
}

static struct ts_memory *read_memory(size_t max_listed)
{
	struct ts_sbt_reader *reader;
	struct ts_memory *memory;
	int fd = write_trace();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_memory_read(reader, 0, max_listed, &memory), 0);
	ts_sbt_reader_free(reader);
	close(fd);
	return memory;
}

TS_TEST(adds_up)
{
	struct ts_memory *memory = read_memory(10);

	ts_check_int(memory->peak_bytes, 300);
	ts_check_int(memory->peak_ns, 1200);
	ts_check_int(memory->at_peak.n, 2);
	ts_check_int(memory->at_peak.largest[0].row.address, 0xb0);
	ts_check_int(memory->at_peak.largest[1].row.bytes, 100);
	ts_check_int(memory->never_freed.n, 2);
	ts_check_int(memory->never_freed.bytes, 210);
	ts_check_int(memory->never_freed.largest[0].row.address, 0xb0);
	ts_check_int(memory->never_freed.largest[0].stack, 77);
	ts_check_int(memory->never_freed.largest[0].call_ns, 1199);
	ts_check_int(memory->never_freed.largest[1].row.start_ns, 1600);
	ts_check_int(memory->n_unknown_frees, 1);
	ts_check(!memory->is_damaged);
	ts_memory_free(memory);
}

TS_TEST(a_curve_has_the_largest_bytes_of_each_part)
{
	static const uint64_t points[] = {100, 300, 300, 300, 200, 250};
	const struct ts_memory_curve *curve;
	struct ts_sbt_reader *reader;
	struct ts_memory *memory;
	int fd = write_trace();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_memory_read_curves(reader, 0, 10, TS_ARRAY_LEN(points), &memory), 0);
	ts_check_int(memory->curves.n_curves, 1);
	curve = &memory->curves.curves[0];
	ts_check_int(curve->device, 0);
	ts_check_int(curve->peak_bytes, 300);
	ts_check_int(curve->peak_ns, 1200);
	ts_check_int(curve->live_bytes, 250);
	ts_check_int(memory->curves.part_ns, 101);
	for (size_t i = 0; i < TS_ARRAY_LEN(points); i++)
		ts_check_int(curve->points[i], points[i]);
	ts_memory_free(memory);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(devices_beyond_the_limit_have_no_curve)
{
	struct ts_memory_curves curves = {0};
	struct ts_sbt_reader *reader;
	int fd = write_trace();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	/* Without parts, nothing is kept. */
	ts_check_int(ts_memory_curves_add(&curves, 1, 0, 5, 7), 0);
	ts_check_int(curves.n_curves, 0);
	ts_check_int(ts_memory_curves_init(&curves, reader, 2, 0, UINT64_MAX), 0);
	for (uint32_t i = 0; i < TS_MEMORY_MAX_CURVES + 3; i++)
		ts_check_int(ts_memory_curves_add(&curves, 1, i, i, UINT64_MAX), 0);
	ts_check_int(curves.n_curves, TS_MEMORY_MAX_CURVES);
	ts_check_int(curves.n_left_out, 3);
	/* A time before the last one, and a free of more than was allocated. */
	ts_check_int(ts_memory_curves_add(&curves, 1, 5, 0, 2), 0);
	ts_check_int(curves.curves[5].live_bytes, 1);
	ts_memory_curves_finish(&curves, UINT64_MAX);
	ts_check_int(curves.curves[5].points[1], 1);
	ts_memory_curves_deinit(&curves);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(is_told_by_kind)
{
	struct ts_memory *memory = read_memory(10);

	ts_check_int(memory->n_groups, 3);
	ts_check_int(memory->groups[0].kind, PINNED);
	ts_check_int(memory->groups[0].peak_bytes, 50);
	ts_check_int(memory->groups[0].live_bytes, 0);
	ts_check_int(memory->groups[1].peak_bytes, 300);
	ts_check_int(memory->groups[1].live_bytes, 210);
	ts_check_int(memory->groups[1].total_bytes, 310);
	ts_check_int(memory->groups[1].n_allocs, 3);
	ts_check_int(memory->groups[1].n_frees, 1);
	ts_memory_free(memory);
}

static void call(uint64_t time_ns, uint64_t op_id, uint64_t address, uint64_t bytes,
		 unsigned int access)
{
	struct ts_row_access row = {.start_ns = time_ns,
				    .op_id = op_id,
				    .dst = address,
				    .dst_bytes = bytes,
				    .access = access};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_ACCESS, &row), 0);
}

/*
 *	a  100  alloc, its call		the usual order: the row, then its call
 *	a	free, its call
 *	b  200  its call, alloc		the order of different clocks
 *	b	its call, free
 *	a   10  its call		the program was killed: no rows, calls only
 *	c   50  its call, its call	pinned, and freed
 *	f   70  its call		failed
 */
static int write_calls(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	add(TS_ROW_ALLOC, 1100, 0xa0, 100, DEVICE);
	call(1101, 1100, 0xa0, 100, TS_ACCESS_ALLOCATED);
	/* The row may have the id of the nested driver call. */
	call(1199, 1198, 0xb0, 200, TS_ACCESS_ALLOCATED);
	add(TS_ROW_ALLOC, 1200, 0xb0, 200, DEVICE);
	add(TS_ROW_FREE, 1300, 0xa0, 100, DEVICE);
	call(1301, 1300, 0xa0, 0, TS_ACCESS_FREED);
	call(1399, 1400, 0xb0, 0, TS_ACCESS_FREED);
	add(TS_ROW_FREE, 1400, 0xb0, 200, DEVICE);
	call(1500, 1500, 0xa0, 10, TS_ACCESS_ALLOCATED);
	call(1600, 1600, 0xc0, 50, TS_ACCESS_ALLOCATED_PINNED);
	call(1700, 1700, 0xc0, 0, TS_ACCESS_FREED);
	call(1800, 1800, 0, 70, TS_ACCESS_ALLOC);
	/* A free that another thread's allocation overtook. */
	call(1900, 1499, 0xa0, 0, TS_ACCESS_FREED);
	call(1950, 1950, 0xe0, 10, 77);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return copy;
}

TS_TEST(calls_say_what_rows_are_missing_of)
{
	struct ts_sbt_reader *reader;
	struct ts_memory *memory;
	int fd = write_calls();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_memory_read(reader, 0, 10, &memory), 0);
	ts_check_int(memory->peak_bytes, 300);
	ts_check_int(memory->never_freed.n, 1);
	ts_check_int(memory->never_freed.bytes, 10);
	ts_check_int(memory->never_freed.largest[0].row.op_id, 1500);
	/* Allocations known only from calls have no device. */
	ts_check_int(memory->n_groups, 3);
	ts_check_int(memory->groups[0].n_allocs, 2);
	ts_check_int(memory->groups[0].n_frees, 2);
	ts_check_int(memory->groups[1].kind, PINNED);
	ts_check_int(memory->groups[1].n_frees, 1);
	ts_check_int(memory->groups[2].n_allocs, 1);
	ts_check_int(memory->n_unknown_frees, 0);
	ts_check_int(memory->n_lost_frees, 0);
	ts_memory_free(memory);
	/* The state at an instant. */
	ts_check_int(ts_memory_read_at(reader, 0, 1250, 10, &memory), 0);
	ts_check_int(memory->peak_bytes, 300);
	ts_check_int(memory->at_peak.n, 2);
	ts_check_int(memory->at_peak.largest[0].stack, 77);
	ts_memory_free(memory);
	ts_check_int(ts_memory_read_at(reader, 0, 1350, 10, &memory), 0);
	ts_check_int(memory->peak_bytes, 200);
	ts_memory_free(memory);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(what_is_live_is_so_while_nothing_happens)
{
	struct ts_memory *memory = read_memory(0);
	uint64_t part_ns = (memory->to_ns - memory->from_ns) / TS_MEMORY_POINTS + 1;

	ts_check_int(memory->points[(1050 - memory->from_ns) / part_ns], 0);
	ts_check_int(memory->points[(1150 - memory->from_ns) / part_ns], 100);
	ts_check_int(memory->points[(1350 - memory->from_ns) / part_ns], 300);
	ts_check_int(memory->points[(1550 - memory->from_ns) / part_ns], 200);
	/* No allocation is listed if none is requested; all are counted. */
	ts_check_int(memory->at_peak.n_largest, 0);
	ts_check_int(memory->never_freed.n, 2);
	ts_memory_free(memory);
}
