/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reports of uses of freed memory, and of pools, in small traces whose every call is
 * known. A call's operation id is its place in the order of calls; each call lasts 10 ns.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "proto/abi/vendor/cupti_cbid.h"
#include "replay/state/memory/misuse.h"
#include "replay/state/memory/state-memory.h"
#include "sbt/writer.h"

#define PAGEABLE 1
#define PINNED	 2
#define DEVICE	 3

static struct ts_sbt_writer *writer;
static struct ts_sbt_session_writer *session;
static int trace_fd;

static void begin(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC);

	trace_fd = dup(fd);
	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
}

static void add(unsigned int type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(session, type, row), 0);
}

static void call(uint64_t op_id, uint64_t at_ns, uint32_t thread, int32_t result)
{
	add(TS_ROW_API, &(struct ts_row_api){.start_ns = at_ns,
					     .end_ns = at_ns + 10,
					     .op_id = op_id,
					     .thread = thread,
					     .stack = (uint32_t)op_id + 100,
					     .domain = TS_API_CUDA_DRIVER,
					     .cbid = 1,
					     .result = result});
}

static void memory(unsigned int type, uint64_t op_id, uint64_t at_ns, uint64_t address,
		   uint64_t bytes, unsigned int kind)
{
	add(type, &(struct ts_row_memory){.start_ns = at_ns,
					  .op_id = op_id,
					  .address = address,
					  .bytes = bytes,
					  .stream = TS_NO_DEVICE,
					  .memory_kind = (uint16_t)kind});
}

static void alloc(uint64_t op_id, uint64_t at_ns, uint64_t address, uint64_t bytes,
		  unsigned int kind)
{
	call(op_id, at_ns, 1, 0);
	memory(TS_ROW_ALLOC, op_id, at_ns + 5, address, bytes, kind);
}

static void release(uint64_t op_id, uint64_t at_ns, uint32_t thread, uint64_t address,
		    unsigned int kind)
{
	call(op_id, at_ns, thread, 0);
	memory(TS_ROW_FREE, op_id, at_ns + 5, address, 0, kind);
}

static void name(uint64_t op_id, uint64_t at_ns, uint32_t access, uint64_t dst, uint64_t src,
		 uint64_t bytes, int32_t result)
{
	call(op_id, at_ns, 1, result);
	add(TS_ROW_ACCESS, &(struct ts_row_access){.start_ns = at_ns + 10,
						   .op_id = op_id,
						   .dst = dst,
						   .src = src,
						   .dst_bytes = dst ? bytes : 0,
						   .src_bytes = src ? bytes : 0,
						   .thread = 1,
						   .access = access});
}

static void copied(uint64_t op_id, uint64_t at_ns, unsigned int dst_kind, unsigned int src_kind)
{
	add(TS_ROW_MEMCPY, &(struct ts_row_memcpy){.start_ns = at_ns,
						   .end_ns = at_ns + 5,
						   .op_id = op_id,
						   .dst_kind = (uint8_t)dst_kind,
						   .src_kind = (uint8_t)src_kind});
}

static void finish(void)
{
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
}

static struct ts_misuses *end(size_t max_listed)
{
	struct ts_sbt_reader *reader;
	struct ts_misuses *misuses;

	finish();
	ts_check_int(ts_sbt_reader_open(trace_fd, &reader, NULL), 0);
	ts_check_int(ts_misuses_read(reader, 0, max_listed, &misuses), 0);
	ts_sbt_reader_free(reader);
	close(trace_fd);
	return misuses;
}

/*
 *	0x1000  |=====a=====|f  W(in it)  R(from before it into it)  f(again, fails)
 *	0x5000  |======b=======================  W: live
 */
TS_TEST(named_after_it_was_freed)
{
	struct ts_misuses *misuses;

	begin();
	alloc(1, 1100, 0x1000, 0x1000, DEVICE);
	alloc(2, 1200, 0x5000, 0x1000, DEVICE);
	release(3, 1300, 1, 0x1000, DEVICE);
	name(4, 1400, TS_ACCESS_SET, 0x1800, 0, 16, 1);
	name(5, 1500, TS_ACCESS_COPY, 0x5000, 0xff0, 32, 0);
	copied(5, 1600, DEVICE, DEVICE);
	name(6, 1700, TS_ACCESS_FREE, 0x1000, 0, 0, 1);
	name(7, 1800, TS_ACCESS_SET, 0x5000, 0, 0x1000, 0);
	name(8, 1900, TS_ACCESS_FREE, 0x9000, 0, 0, 1);
	misuses = end(10);
	ts_check_int(misuses->n, 3);
	ts_check_int(misuses->n_listed, 3);
	ts_check_int(misuses->list[0].kind, TS_MISUSE_WRITE);
	ts_check_int(misuses->list[0].address, 0x1800);
	ts_check_int(misuses->list[0].bytes, 16);
	ts_check_int(misuses->list[0].block, 0x1000);
	ts_check_int(misuses->list[0].block_bytes, 0x1000);
	ts_check_int(misuses->list[0].use.stack, 104);
	ts_check_int(misuses->list[0].use.result, 1);
	ts_check_int(misuses->list[0].freed.stack, 103);
	ts_check_int(misuses->list[0].allocated.stack, 101);
	ts_check_int(misuses->list[0].unsure, 0);
	ts_check_int(misuses->list[1].kind, TS_MISUSE_READ);
	ts_check_int(misuses->list[1].unsure, 0);
	ts_check_int(misuses->list[2].kind, TS_MISUSE_DOUBLE_FREE);
	ts_check_int(misuses->list[2].use.op_id, 6);
	ts_check_int(misuses->n_unknown_frees, 1);
	ts_check_int(misuses->n_accesses, 5);
	ts_misuses_free(misuses);
}

/* None of these accesses is proven to be wrong, so none is reported. */
/* Another thread gets the block's address before the call that frees it returns. */
static void reuse_while_freed(void)
{
	begin();
	alloc(1, 1100, 0x1000, 0x1000, DEVICE);
	call(2, 1200, 1, 0);
	alloc(3, 1210, 0x1000, 0x1000, DEVICE);
	memory(TS_ROW_FREE, 2, 1250, 0x1000, 0, DEVICE);
}

TS_TEST(the_memory_of_an_address_that_is_reused_while_it_is_freed)
{
	struct ts_sbt_reader *reader;
	struct ts_memory *memory;

	reuse_while_freed();
	finish();
	ts_check_int(ts_sbt_reader_open(trace_fd, &reader, NULL), 0);
	ts_check_int(ts_memory_read(reader, 0, 10, &memory), 0);
	ts_check_int(memory->n_lost_frees, 0);
	ts_check_int(memory->n_unknown_frees, 0);
	ts_check_int(memory->never_freed.bytes, 0x1000);
	ts_memory_free(memory);
	ts_sbt_reader_free(reader);
	close(trace_fd);
}

TS_TEST(an_address_that_is_reused_while_it_is_freed)
{
	struct ts_misuses *misuses;

	reuse_while_freed();
	name(4, 1300, TS_ACCESS_SET, 0x1000, 0, 0x1000, 0);
	release(5, 1400, 1, 0x1000, DEVICE);
	name(6, 1500, TS_ACCESS_SET, 0x1000, 0, 16, 1);
	misuses = end(10);
	/* The second block was used after its own free. */
	ts_check_int(misuses->n, 1);
	ts_check_int(misuses->list[0].use.op_id, 6);
	ts_check_int(misuses->list[0].freed.op_id, 5);
	ts_check_int(misuses->list[0].allocated.op_id, 3);
	ts_misuses_free(misuses);
}

TS_TEST(what_is_not_proven_is_not_told)
{
	struct ts_misuses *misuses;

	begin();
	/* Memory that is allocated again, also with a late row, and only in part. */
	alloc(1, 1100, 0x1000, 0x1000, DEVICE);
	release(2, 1200, 1, 0x1000, DEVICE);
	alloc(3, 1300, 0x1000, 0x800, DEVICE);
	name(4, 1400, TS_ACCESS_SET, 0x1000, 0, 0x800, 0);
	release(5, 1500, 1, 0x1000, DEVICE);
	call(6, 1600, 1, 0);
	name(7, 1620, TS_ACCESS_SET, 0x1400, 0, 16, 0);
	memory(TS_ROW_ALLOC, 6, 1640, 0x1400, 16, DEVICE);
	/* Freed host memory may belong to any other object when the copy runs. */
	alloc(8, 1700, 0x8000, 64, PINNED);
	release(9, 1720, 1, 0x8000, PINNED);
	name(10, 1740, TS_ACCESS_COPY, 0x1400, 0x8000, 16, 0);
	copied(10, 1745, DEVICE, PAGEABLE);
	/* The copy's row shows that this former device address is host memory now. */
	name(11, 1800, TS_ACCESS_COPY, 0x1400, 0x1800, 16, 0);
	copied(11, 1805, DEVICE, PAGEABLE);
	/* Another thread freed the memory during the call. */
	alloc(12, 1900, 0x20000, 64, DEVICE);
	release(13, 2000, 2, 0x20000, DEVICE);
	name(14, 2005, TS_ACCESS_SET, 0x20000, 0, 64, 0);
	misuses = end(10);
	ts_check_int(misuses->n, 0);
	ts_misuses_free(misuses);
}

TS_TEST(nothing_is_judged_across_what_was_not_recorded)
{
	struct ts_misuses *misuses;

	begin();
	alloc(1, 1100, 0x1000, 64, DEVICE);
	release(2, 1200, 1, 0x1000, DEVICE);
	add(TS_ROW_PAUSE, &(struct ts_row_pause){.start_ns = 1300, .paused = 1});
	add(TS_ROW_PAUSE, &(struct ts_row_pause){.start_ns = 1350});
	name(3, 1400, TS_ACCESS_SET, 0x1000, 0, 64, 0);
	alloc(4, 1500, 0x2000, 64, DEVICE);
	release(5, 1600, 1, 0x2000, DEVICE);
	add(TS_ROW_LOSS, &(struct ts_row_loss){.start_ns = 1550,
					       .end_ns = 1650,
					       .count = 1,
					       .reason = TS_LOSS_RING_FULL});
	name(6, 1700, TS_ACCESS_SET, 0x2000, 0, 64, 0);
	/* A free is not unsure because of a loss after the free. */
	alloc(7, 1800, 0x3000, 64, DEVICE);
	release(8, 1900, 1, 0x3000, DEVICE);
	add(TS_ROW_LOSS, &(struct ts_row_loss){.start_ns = 1910,
					       .end_ns = 1920,
					       .count = 1,
					       .reason = TS_LOSS_NO_STACK});
	name(9, 2000, TS_ACCESS_SET, 0x3000, 0, 64, 0);
	misuses = end(10);
	ts_check_int(misuses->n, 1);
	ts_check_int(misuses->list[0].block, 0x3000);
	ts_check_int(misuses->list[0].unsure, 0);
	ts_misuses_free(misuses);
}

TS_TEST(what_is_not_sure_is_marked)
{
	struct ts_misuses *misuses;

	begin();
	alloc(1, 1100, 0x1000, 64, DEVICE);
	release(2, 1200, 1, 0x1000, DEVICE);
	/* No device row shows the kind of this memory. */
	name(3, 1300, TS_ACCESS_COPY, 0x1000, 0x7000, 64, 0);
	/* The call was not recorded. */
	add(TS_ROW_ACCESS, &(struct ts_row_access){.start_ns = 1400,
						   .op_id = 4,
						   .dst = 0x1000,
						   .dst_bytes = 8,
						   .access = TS_ACCESS_SET});
	add(TS_ROW_API, &(struct ts_row_api){.start_ns = 1500,
					     .end_ns = 1510,
					     .op_id = 5,
					     .thread = 1,
					     .domain = TS_API_CUDA_DRIVER,
					     .cbid = TS_CUPTI_DRIVER_CBID_cuMemMap});
	name(6, 1600, TS_ACCESS_SET, 0x1000, 0, 8, 0);
	misuses = end(2);
	ts_check_int(misuses->n, 3);
	ts_check_int(misuses->n_listed, 2);
	ts_check_int(misuses->list[0].unsure, TS_MISUSE_UNSURE_DEVICE);
	ts_check_int(misuses->list[1].unsure, TS_MISUSE_UNSURE_CALL);
	ts_misuses_free(misuses);
}

static void pooled(unsigned int type, uint64_t op_id, uint64_t address, uint64_t bytes,
		   uint64_t pool_bytes, uint64_t used)
{
	add(type, &(struct ts_row_memory){.start_ns = 1000 + 10 * op_id,
					  .op_id = op_id,
					  .address = address,
					  .bytes = bytes,
					  .pool = 0xbeef,
					  .pool_bytes = pool_bytes,
					  .pool_used_bytes = used,
					  .stream = 7,
					  .memory_kind = DEVICE,
					  .async = 1});
}

/*
 *	pages of the pool	1 2 3 4 5 6 7 8
 *	allocated		a b c d e f g h		eight growths
 *	freed			. b . . e f . h		four pages are free, in holes of 1, 2 and 1
 *	allocated		three pages: four are free, but the pool grows
 */
TS_TEST(a_pool_in_pieces)
{
	struct ts_misuses *misuses;
	uint64_t op = 1;

	begin();
	for (uint64_t i = 0; i < 8; i++)
		pooled(TS_ROW_ALLOC, op++, 0x100 * (i + 1), 0x100, 0x100 * (i + 1),
		       0x100 * (i + 1));
	pooled(TS_ROW_FREE, op++, 0x100, 0x100, 0x800, 0x700);
	pooled(TS_ROW_FREE, op++, 0x300, 0x100, 0x800, 0x600);
	pooled(TS_ROW_FREE, op++, 0x400, 0x100, 0x800, 0x500);
	pooled(TS_ROW_FREE, op++, 0x700, 0x100, 0x800, 0x400);
	pooled(TS_ROW_ALLOC, op++, 0x900, 0x300, 0xb00, 0x700);
	/* An allocation that could not fit, and a pool that shrinks. */
	pooled(TS_ROW_ALLOC, op++, 0xc00, 0x500, 0x1000, 0xc00);
	pooled(TS_ROW_FREE, op++, 0xc00, 0x500, 0xb00, 0x700);
	misuses = end(10);
	ts_check_int(misuses->n_pools, 1);
	ts_check_int(misuses->pools[0].pool, 0xbeef);
	ts_check_int(misuses->pools[0].peak_bytes, 0x1000);
	ts_check_int(misuses->pools[0].peak_used_bytes, 0xc00);
	ts_check_int(misuses->pools[0].n_growths, 10);
	ts_check_int(misuses->pools[0].n_growths_with_room, 1);
	ts_check_int(misuses->pools[0].wasted_bytes, 0x400);
	ts_check_int(misuses->pools[0].asked_bytes, 0x300);
	ts_check_int(misuses->pools[0].wasted_ns, 1000 + 10 * 13);
	ts_check_int(misuses->pools[0].n_holes, 3);
	ts_check_int(misuses->pools[0].hole_bytes, 0x400);
	ts_check_int(misuses->pools[0].largest_hole_bytes, 0x200);
	ts_check_int(misuses->n, 0);
	ts_misuses_free(misuses);
}

/*
 * With any values in rows, the module does not crash, and its list is never longer than its count.
 */
TS_TEST(rows_that_lie)
{
	static const unsigned int types[] = {TS_ROW_ALLOC, TS_ROW_FREE,	  TS_ROW_ACCESS,
					     TS_ROW_API,   TS_ROW_MEMCPY, TS_ROW_LOSS};
	uint64_t random = 88172645463325252u;

	for (int round = 0; round < 200; round++) {
		struct ts_misuses *misuses;

		begin();
		for (int i = 0; i < 60; i++) {
			union {
				struct ts_row_kernel largest;
				uint64_t words[sizeof(struct ts_row_kernel) / 8];
			} row;
			unsigned int type;

			for (size_t w = 0; w < TS_ARRAY_LEN(row.words); w++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				row.words[w] = random & 8 ? random % 40 : random;
			}
			type = types[random / 64 % TS_ARRAY_LEN(types)];
			row.words[0] = 1000 + (unsigned)i * 10 + random % 30;
			row.words[1] =
				type == TS_ROW_ALLOC || type == TS_ROW_FREE || type == TS_ROW_ACCESS
					? random % 20
					: row.words[0] + random % 20;
			add(type, &row);
		}
		misuses = end(5);
		ts_check(misuses->n_listed <= 5 && misuses->n_listed <= misuses->n);
		ts_misuses_free(misuses);
	}
}
