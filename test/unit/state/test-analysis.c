/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the findings of a small trace: one finding of each kind, and similar cases that are no
 * findings.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/overview/analysis.h"
#include "sbt/writer.h"

#define BEGIN_NS UINT64_C(1000000)
#define PAGEABLE 1
#define PINNED	 2
#define DEVICE	 3

static struct ts_sbt_session_writer *session;

static void add(unsigned int type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(session, type, row), 0);
}

static void call(uint64_t op_id, uint64_t start, uint64_t end, uint32_t stack, uint32_t flags)
{
	add(TS_ROW_API, &(struct ts_row_api){.start_ns = BEGIN_NS + start,
					     .end_ns = BEGIN_NS + end,
					     .op_id = op_id,
					     .thread = 1,
					     .stack = stack,
					     .context = 1,
					     .flags = flags});
}

static void kernel(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end)
{
	call(op_id, start - 10, start - 5, 70, TS_API_EXPECTS_DEVICE);
	add(TS_ROW_KERNEL, &(struct ts_row_kernel){.start_ns = BEGIN_NS + start,
						   .end_ns = BEGIN_NS + end,
						   .op_id = op_id,
						   .context = 1,
						   .stream = stream});
}

static void copy(uint64_t op_id, uint64_t start, uint64_t bytes, uint8_t from, uint8_t to)
{
	call(op_id, start - 10, start - 5, 71, TS_API_EXPECTS_DEVICE);
	add(TS_ROW_MEMCPY, &(struct ts_row_memcpy){.start_ns = BEGIN_NS + start,
						   .end_ns = BEGIN_NS + start + 100,
						   .op_id = op_id,
						   .context = 1,
						   .stream = 7,
						   .bytes = bytes,
						   .src_kind = from,
						   .dst_kind = to,
						   .async = 1});
}

static void waits(uint64_t op_id, uint32_t type, uint64_t start, uint64_t end)
{
	call(op_id, start - 5, end + 5, 72, 0);
	add(TS_ROW_SYNC, &(struct ts_row_sync){.start_ns = BEGIN_NS + start,
					       .end_ns = BEGIN_NS + end,
					       .op_id = op_id,
					       .sync_type = type,
					       .context = 1,
					       .stream = 7});
}

static struct ts_analysis *analyze(void (*write)(void))
{
	const struct ts_row_session row = {.pid = 1, .start_ns = BEGIN_NS};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy_fd = dup(fd);
	struct ts_analysis *analysis;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	write();
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy_fd, &reader, NULL), 0);
	ts_check_int(ts_analysis_read(reader, 0, &analysis), 0);
	ts_sbt_reader_free(reader);
	close(copy_fd);
	return analysis;
}

static const struct ts_analysis_group *group_of(const struct ts_analysis *analysis,
						uint32_t finding)
{
	for (size_t i = 0; i < analysis->n_groups; i++)
		if (analysis->groups[i].finding == finding)
			return &analysis->groups[i];
	ts_check(!"no such finding");
	return NULL;
}

static void write_copies(void)
{
	copy(1, 1000, 64, PINNED, DEVICE);
	copy(2, 2000, 64, DEVICE, DEVICE);
	copy(3, 3000, 1 << 20, PAGEABLE, DEVICE);
	copy(4, 4000, 1 << 20, DEVICE, PINNED);
	copy(5, 5000, 16, DEVICE, PAGEABLE);
}

TS_TEST(copies)
{
	struct ts_analysis *analysis = analyze(write_copies);

	ts_check_int(analysis->copies.count, 5);
	ts_check_int(analysis->findings[TS_ANALYSIS_TINY_COPY].count, 2);
	ts_check_int(analysis->findings[TS_ANALYSIS_TINY_COPY].bytes, 80);
	ts_check_int(analysis->findings[TS_ANALYSIS_TINY_COPY].ns, 200);
	ts_check_int(analysis->findings[TS_ANALYSIS_PAGEABLE_COPY].count, 2);
	ts_check_int(group_of(analysis, TS_ANALYSIS_TINY_COPY)->stack, 71);
	ts_check_int(analysis->findings[TS_ANALYSIS_REDUNDANT_SYNC].count, 0);
	ts_analysis_free(analysis);
}

static void write_syncs(void)
{
	kernel(1, 7, 1000, 2000);
	waits(2, 3, 1500, 2010); /* for a kernel */
	waits(3, 3, 3000, 3100); /* for no operation */
	kernel(4, 7, 5000, 9000);
	waits(5, 2, 4997, 4998); /* a stream waits, not the host */
	call(6, 9500, 9510, 70, TS_API_EXPECTS_DEVICE);
	waits(7, 4, 9600, 9700); /* an operation is in progress */
	kernel(6, 7, 9800, 9900);
	waits(8, 4, 20000, 200000); /* for something unrecorded: the wait took time */
}

TS_TEST(waits_for_nothing)
{
	struct ts_analysis *analysis = analyze(write_syncs);

	ts_check_int(analysis->syncs.count, 4);
	ts_check_int(analysis->findings[TS_ANALYSIS_REDUNDANT_SYNC].count, 1);
	ts_check_int(analysis->findings[TS_ANALYSIS_REDUNDANT_SYNC].ns, 100);
	ts_check_int(group_of(analysis, TS_ANALYSIS_REDUNDANT_SYNC)->stack, 72);
	ts_analysis_free(analysis);
}

TS_TEST(kernels_are_summed_by_name)
{
	struct ts_analysis *analysis = analyze(write_syncs);

	ts_check_int(analysis->kernels.count, 3);
	ts_check_int(analysis->kernels.ns, 5100);
	ts_check_int(group_of(analysis, TS_ANALYSIS_FINDINGS)->sum.count, 3);
	ts_analysis_free(analysis);
}

/*
 *	stream 7    aaaa    cccc	called while b ran: serialised
 *	stream 8        bbbb		called while a ran: serialised
 *	stream 9                dddd	called after c: not serialised
 */
static void write_serial(void)
{
	kernel(1, 7, 1000, 2000);
	call(2, 1400, 1410, 73, TS_API_EXPECTS_DEVICE);
	add(TS_ROW_KERNEL, &(struct ts_row_kernel){.start_ns = BEGIN_NS + 2000,
						   .end_ns = BEGIN_NS + 3000,
						   .op_id = 2,
						   .context = 1,
						   .stream = 8});
	call(3, 2500, 2510, 74, TS_API_EXPECTS_DEVICE);
	add(TS_ROW_KERNEL, &(struct ts_row_kernel){.start_ns = BEGIN_NS + 3000,
						   .end_ns = BEGIN_NS + 4000,
						   .op_id = 3,
						   .context = 1,
						   .stream = 7});
	kernel(4, 9, 5000, 6000);
}

TS_TEST(streams_that_hold_each_other_up)
{
	struct ts_analysis *analysis = analyze(write_serial);
	const struct ts_analysis_group *group = group_of(analysis, TS_ANALYSIS_SERIALISED);

	ts_check_int(analysis->findings[TS_ANALYSIS_SERIALISED].count, 2);
	ts_check_int(analysis->findings[TS_ANALYSIS_SERIALISED].ns, 600 + 500);
	ts_check_int(group->stack, 73);
	ts_check_int(group->sum.ns, 600);
	ts_check_int(group[1].stack, 74);
	ts_analysis_free(analysis);
	analysis = analyze(write_syncs);
	ts_check_int(analysis->findings[TS_ANALYSIS_SERIALISED].count, 0);
	ts_analysis_free(analysis);
}
