/* SPDX-License-Identifier: Apache-2.0 */
/* Compares occupancies with the vendor's calculator, and tests their sums over a small trace. */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/occupancy.h"
#include "sbt/writer.h"

static const struct ts_row_device hopper = {.compute_capability_major = 9,
					    .n_multiprocessors = 132,
					    .threads_per_warp = 32,
					    .max_warps_per_multiprocessor = 64,
					    .max_blocks_per_multiprocessor = 32,
					    .max_shared_bytes_per_multiprocessor = 233472,
					    .max_registers_per_multiprocessor = 65536};
static const struct ts_row_device turing = {.compute_capability_major = 7,
					    .compute_capability_minor = 5,
					    .n_multiprocessors = 40,
					    .threads_per_warp = 32,
					    .max_warps_per_multiprocessor = 32,
					    .max_blocks_per_multiprocessor = 16,
					    .max_shared_bytes_per_multiprocessor = 65536,
					    .max_registers_per_multiprocessor = 65536};

static struct ts_row_kernel kernel(uint32_t grid, uint32_t block, uint16_t registers,
				   uint32_t shared_bytes)
{
	return (struct ts_row_kernel){.grid_x = grid,
				      .grid_y = 1,
				      .grid_z = 1,
				      .block_x = block,
				      .block_y = 1,
				      .block_z = 1,
				      .dynamic_shared_bytes = shared_bytes,
				      .registers_per_thread = registers};
}

TS_TEST(as_the_vendors_calculator)
{
	static const struct {
		const struct ts_row_device *device;
		uint32_t block, registers, shared_bytes, blocks, limit;
	} known[] = {
		{&hopper, 256, 32, 0, 8, TS_OCCUPANCY_FULL},
		{&hopper, 256, 33, 0, 6, TS_OCCUPANCY_REGISTERS},
		{&hopper, 128, 255, 0, 2, TS_OCCUPANCY_REGISTERS},
		{&hopper, 1024, 64, 0, 1, TS_OCCUPANCY_REGISTERS},
		{&hopper, 32, 16, 0, 32, TS_OCCUPANCY_BLOCKS},
		/* 65536 bytes plus 1024 reserved by the system: three blocks. */
		{&hopper, 256, 32, 65536, 3, TS_OCCUPANCY_SHARED},
		{&hopper, 768, 16, 0, 2, TS_OCCUPANCY_WARPS},
		{&hopper, 1, 16, 0, 32, TS_OCCUPANCY_BLOCKS},
		{&turing, 256, 64, 0, 4, TS_OCCUPANCY_FULL},
		{&turing, 256, 65, 0, 3, TS_OCCUPANCY_REGISTERS},
		{&turing, 64, 32, 16384, 4, TS_OCCUPANCY_SHARED},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(known); i++) {
		struct ts_row_kernel row =
			kernel(1000000, known[i].block, (uint16_t)known[i].registers,
			       known[i].shared_bytes);
		struct ts_occupancy occupancy;

		ts_check(ts_occupancy_of(known[i].device, &row, &occupancy));
		ts_check_int(occupancy.blocks, known[i].blocks);
		ts_check_int(occupancy.limit, known[i].limit);
		ts_check(occupancy.share ==
			 (double)occupancy.warps / known[i].device->max_warps_per_multiprocessor);
	}
}

TS_TEST(a_grid_that_does_not_fill_it)
{
	struct ts_row_kernel row = kernel(132, 256, 32, 0);
	struct ts_occupancy occupancy;

	ts_check(ts_occupancy_of(&hopper, &row, &occupancy));
	ts_check_int(occupancy.limit, TS_OCCUPANCY_GRID);
	ts_check(occupancy.share == 0.125 && occupancy.waves == 0.125);
	row.grid_x = 132 * 8 * 3;
	ts_check(ts_occupancy_of(&hopper, &row, &occupancy));
	ts_check(occupancy.share == 1 && occupancy.waves == 3);
}

TS_TEST(nothing_is_made_up)
{
	struct ts_row_device device = hopper;
	struct ts_row_kernel row = kernel(1, 256, 32, 0);
	struct ts_occupancy occupancy;

	ts_check(!ts_occupancy_of(NULL, &row, &occupancy));
	device.max_registers_per_multiprocessor = 0;
	ts_check(!ts_occupancy_of(&device, &row, &occupancy));
	ts_check_int(occupancy.limit, TS_OCCUPANCY_UNKNOWN);
	row.block_x = 2048;
	ts_check(!ts_occupancy_of(&hopper, &row, &occupancy));
	row = kernel(0, 256, 32, 0);
	ts_check(!ts_occupancy_of(&hopper, &row, &occupancy));
	row = kernel(1, 256, UINT16_MAX, UINT32_MAX);
	ts_check(!ts_occupancy_of(&hopper, &row, &occupancy));
	row = kernel(UINT32_MAX, 1024, 0, 0);
	row.grid_y = row.grid_z = UINT32_MAX;
	ts_check(ts_occupancy_of(&hopper, &row, &occupancy));
	ts_check_int(occupancy.limit, TS_OCCUPANCY_FULL);
}

/*
 * Device 0 is a Hopper, device 1 is unknown. 300 ns at one half, 100 ns at one eighth, and one
 * kernel of unknown occupancy.
 */
TS_TEST(sums)
{
	const struct ts_row_session begun = {.pid = 1, .start_ns = 1000};
	struct ts_row_kernel rows[] = {kernel(1000000, 128, 64, 0), kernel(132, 256, 32, 0),
				       kernel(1000000, 128, 64, 0)};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_session_writer *session;
	struct ts_occupancies *found;
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	uint32_t name;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_writer_string(writer, "k", 1, &name), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &begun, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_DEVICE, &hopper), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(rows); i++) {
		rows[i].start_ns = 2000 + 1000 * i;
		rows[i].end_ns = rows[i].start_ns + (i == 0 ? 300 : 100);
		rows[i].device = i == 2;
		rows[i].name = name;
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &rows[i]), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy, &reader, NULL), 0);
	ts_check_int(ts_occupancies_read(reader, 0, 0, 0, &found), 0);
	ts_check_int(found->n_kernels, 1);
	ts_check_int(found->kernels[0].count, 3);
	ts_check_int(found->kernels[0].known_count, 2);
	ts_check_int(found->kernels[0].known_ns, 400);
	ts_check_int(found->kernels[0].limit, TS_OCCUPANCY_REGISTERS);
	ts_check(found->kernels[0].share == (0.5 * 300 + 0.125 * 100) / 400);
	ts_check(found->kernels[0].share_min == 0.125 && found->kernels[0].share_max == 0.5);
	ts_check_int(found->n_devices, 2);
	ts_check_int(found->devices[0].known_count, 2);
	ts_check_int(found->devices[1].known_count, 0);
	ts_occupancies_free(found);
	ts_check_int(ts_occupancies_read(reader, 0, 3000, 3500, &found), 0);
	ts_check_int(found->kernels[0].count, 1);
	ts_check_int(found->kernels[0].limit, TS_OCCUPANCY_GRID);
	ts_occupancies_free(found);
	ts_sbt_reader_free(reader);
	close(copy);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define N_LONG	   310000u
#define N_IN	   275000u /* in each window: enough for threads */
#define SEAL_ROWS  20000u
#define N_NAMES	   5u
#define TIME_OF(i) (UINT64_C(2000) + UINT64_C(1000) * (i))

/* Kernels of two devices, one of them unknown, with changing configurations. */
static struct ts_sbt_reader *make_long(int fd)
{
	const struct ts_row_session begun = {.pid = 1, .start_ns = 1000};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	uint32_t names[N_NAMES];

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (size_t i = 0; i < N_NAMES; i++) {
		const char *name = &"kernel"[i];

		ts_check_int(ts_sbt_writer_string(writer, name, strlen(name), &names[i]), 0);
	}
	ts_check_int(ts_sbt_session_writer_new(writer, &begun, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_DEVICE, &hopper), 0);
	for (uint64_t i = 0; i < N_LONG; i++) {
		const uint64_t dice = i * UINT64_C(0x9e3779b97f4a7c15) >> 32;
		struct ts_row_kernel row = kernel(1 + dice % 3000, 64 + 32 * (dice % 5), 32, 0);

		row.start_ns = TIME_OF(i);
		row.end_ns = row.start_ns + dice % 1700;
		row.device = dice % 64 == 0;
		row.name = names[dice % N_NAMES];
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &row), 0);
		if (i % SEAL_ROWS == 0)
			ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

static void check_same_sums(const struct ts_occupancies *a, const struct ts_occupancies *b)
{
	ts_check_int(a->n_kernels, b->n_kernels);
	ts_check_int(a->n_devices, b->n_devices);
	ts_check(!memcmp(a->kernels, b->kernels, a->n_kernels * sizeof(*a->kernels)));
	ts_check(!memcmp(a->devices, b->devices, a->n_devices * sizeof(*a->devices)));
	ts_check(!a->is_damaged && !b->is_damaged);
}

TS_TEST(sums_do_not_depend_on_threads)
{
	static const char *const threads[] = {"1", "2", "16"};
	static const uint64_t windows[][2] = {{0, 0},
					      {TIME_OF(N_LONG - N_IN) - 500, 0},
					      {TIME_OF(1), TIME_OF(N_IN)}};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_sbt_reader *reader = make_long(fd);

	for (size_t w = 0; w < TS_ARRAY_LEN(windows); w++) {
		struct ts_occupancies *alone = NULL, *found;

		for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++) {
			ts_check_int(setenv("TRACESMITH_THREADS", threads[i], 1), 0);
			ts_check_int(ts_occupancies_read(reader, 0, windows[w][0], windows[w][1],
							 i ? &found : &alone),
				     0);
			if (!i)
				continue;
			check_same_sums(found, alone);
			ts_occupancies_free(found);
		}
		ts_check_int(alone->n_kernels, N_NAMES);
		ts_check_int(alone->n_devices, 2);
		ts_check_int(alone->devices[0].count + alone->devices[1].count, w ? N_IN : N_LONG);
		ts_occupancies_free(alone);
	}
	ts_sbt_reader_free(reader);
	close(fd);
}
