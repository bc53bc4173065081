/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes an untrusted capture with each kind of replay that needs no device. Each replay must end
 * with an answer, whatever the operations and contents are. The fuzzer changes the capture itself
 * (capture.h), so the file's checksums are correct.
 */
#include "proto/abi/base.h"
#include "replay/exec/exec.h"
#include "replay/vgpu/ptx/debug.h"
#include "test/fuzz/capture.h"
#include "test/fuzz/fuzz-ask.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAX_STEPS 64u /* steps of a kernel in the debugger */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a debugger that reads and writes everything --------------------------------------------- */

static void begin(void *userdata, const struct ts_ptx_launch *launch)
{
	(void)launch;
	*(uint32_t *)userdata = 0;
}

static void look_at_lane(struct ts_ptx_warp *warp, uint32_t lane)
{
	struct ts_ptx_register_view view;
	struct ts_ptx_place place;
	uint8_t bytes[16] = {0};

	(void)ts_ptx_debug_lane(warp, lane);
	for (uint32_t level = 0; ts_ptx_debug_place(warp, lane, level, &place); level++)
		for (size_t i = 0; ts_ptx_debug_register(warp, lane, level, i, &view); i++) {
			size_t n =
				ts_ptx_debug_memory(warp, lane, view.value, bytes, sizeof(bytes));

			(void)ts_ptx_debug_write(warp, lane, view.value, bytes, n);
			(void)ts_ptx_debug_shared(warp, view.value, bytes, sizeof(bytes));
			(void)ts_ptx_debug_set_register(warp, lane, level, i, view.value);
		}
}

static int step(void *userdata, struct ts_ptx_warp *warp)
{
	struct ts_ptx_block_view block;
	uint32_t *n = userdata;

	for (size_t i = 0; i < 4 && ts_ptx_debug_block(warp, i, &block); i++)
		(void)ts_ptx_debug_warp(warp, block.index, 1);
	look_at_lane(warp, 0);
	look_at_lane(warp, 31);
	return ++*n == MAX_STEPS;
}

static void end(void *userdata, const struct ts_ptx_fault *fault)
{
	(void)userdata;
	(void)fault;
}

static void debug(struct ts_sbt_reader *reader)
{
	uint32_t n_steps = 0;
	const struct ts_ptx_debugger debugger = {&n_steps, begin, step, end};
	const struct ts_exec_options options = {.n_threads = 1,
						.debugger = &debugger,
						.device_bytes = TS_FUZZ_DEVICE_BYTES,
						.time_ns = TS_FUZZ_MAX_REPLAY_NS};
	ts_cleanup(ts_exec_program_freep) struct ts_exec_program *program = NULL;
	struct ts_exec_results results = {0};
	struct ts_exec_report report;

	if (!ts_exec_program_new(reader, 1, &program))
		(void)ts_exec_run(program, &ts_exec_vgpu, &options, NULL, NULL, &results, &report);
	ts_exec_results_deinit(&results);
}

/* ---- all queries ---------------------------------------------------------------------------- */

static void ask(struct ts_sbt_reader *reader, Ts__Rpc__Query__Replay *replay)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;

	replay->executor = (char *)(uintptr_t) "vgpu";
	TS_RPC_SET(replay, time_limit_ns, TS_FUZZ_MAX_REPLAY_NS);
	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = replay;
	ts_fuzz_ask(reader, &query);
}

static void ask_all(struct ts_sbt_reader *reader)
{
	Ts__Rpc__Query__Replay checked = TS__RPC__QUERY__REPLAY__INIT, points = checked,
			       ordered = checked, part = checked, dry = checked;
	char *all = (char *)(uintptr_t) "all";

	checked.check = &all;
	checked.n_check = 1;
	ask(reader, &checked);
	TS_RPC_SET(&points, compare_every, 1);
	TS_RPC_SET(&points, points, true);
	ask(reader, &points);
	TS_RPC_SET(&ordered, schedules, 3);
	TS_RPC_SET(&ordered, seed, 1);
	TS_RPC_SET(&ordered, unordered_blocks, true);
	ask(reader, &ordered);
	TS_RPC_SET(&part, first_op, 20);
	TS_RPC_SET(&part, last_op, 40);
	TS_RPC_SET(&part, repeat, 2);
	ask(reader, &part);
	TS_RPC_SET(&dry, dry_run, true);
	ask(reader, &dry);
	debug(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ts_sbt_reader *reader = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), writer_fd = fd < 0 ? -1 : dup(fd);

	if (writer_fd >= 0 && !ts_fuzz_capture_write(data, size, writer_fd, NULL, NULL) &&
	    !ts_sbt_reader_open(fd, &reader, NULL)) {
		ask_all(reader);
		ts_sbt_reader_free(reader);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}
