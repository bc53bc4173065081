/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests each edit on a trace so small that its result can be seen by looking at it. A call takes 10
 * ns, and an operation starts 20 ns after its call began. A call that waits returns 10 ns after the
 * operation that it waited for.
 */
#include "test/unit/harness.h"

#include "replay/emulate/emulate.h"

#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define MAX_ROWS 64u
#define BASE_NS	 UINT64_C(1000)
#define LAUNCH	 211u
#define PINNED	 TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED
#define PAGEABLE TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE

static struct ts_sbt_row rows[MAX_ROWS];
static union {
	struct ts_row_api api;
	struct ts_row_kernel kernel;
	struct ts_row_memcpy copy;
	struct ts_row_sync sync;
	struct ts_row_graph_launch launch;
	struct ts_row_event event;
} storage[MAX_ROWS];
static unsigned int n_rows;

static void add(unsigned int type, const void *row, size_t n_bytes)
{
	ts_check(n_rows < MAX_ROWS);
	memcpy(&storage[n_rows], row, n_bytes);
	rows[n_rows] = (struct ts_sbt_row){.type = type,
					   .session = 1,
					   .schema = ts_row_schema(type),
					   .any = &storage[n_rows]};
	n_rows++;
}

static void call(uint64_t op_id, uint32_t cbid, uint64_t start, uint64_t end)
{
	const struct ts_row_api row = {.start_ns = BASE_NS + start,
				       .end_ns = BASE_NS + end,
				       .op_id = op_id,
				       .thread = 1,
				       .context = 1,
				       .domain = TS_API_CUDA_RUNTIME,
				       .cbid = (uint16_t)cbid};

	add(TS_ROW_API, &row, sizeof(row));
}

static void kernel_of(uint64_t op_id, uint32_t stream, uint64_t start, uint64_t end, uint32_t node)
{
	const struct ts_row_kernel row = {.start_ns = BASE_NS + start,
					  .end_ns = BASE_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream,
					  .graph_node = node,
					  .name = (uint32_t)op_id};

	add(TS_ROW_KERNEL, &row, sizeof(row));
}

/* Adds a call and its kernel. */
static void kernel(uint64_t op_id, uint32_t stream, uint64_t called, uint64_t start, uint64_t end)
{
	call(op_id, LAUNCH, called, called + 10);
	kernel_of(op_id, stream, start, end, 0);
}

static void copy(uint64_t op_id, uint32_t stream, uint8_t memory, uint64_t start, uint64_t end)
{
	const struct ts_row_memcpy row = {.start_ns = BASE_NS + start,
					  .end_ns = BASE_NS + end,
					  .op_id = op_id,
					  .context = 1,
					  .stream = stream,
					  .bytes = 1000,
					  .copy_kind = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
					  .src_kind = memory,
					  .dst_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
					  .async = 1};

	add(TS_ROW_MEMCPY, &row, sizeof(row));
}

static void waits(uint64_t op_id, uint32_t type, uint32_t stream, uint64_t start, uint64_t end)
{
	const struct ts_row_sync row = {.start_ns = BASE_NS + start,
					.end_ns = BASE_NS + end,
					.op_id = op_id,
					.sync_type = type,
					.context = 1,
					.stream = stream};

	call(op_id,
	     type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE
		     ? TS_CUPTI_RUNTIME_CBID_cudaDeviceSynchronize_v3020
		     : TS_CUPTI_RUNTIME_CBID_cudaStreamSynchronize_v3020,
	     start, end);
	add(TS_ROW_SYNC, &row, sizeof(row));
}

static void waits_for_all(uint64_t op_id, uint64_t start, uint64_t end)
{
	waits(op_id, TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, TS_NO_DEVICE,
	      start, end);
}

static const char *function_name(void *user, uint32_t name)
{
	(void)user;
	return (name & 0xffff) == TS_CUPTI_RUNTIME_CBID_cudaStreamSynchronize_v3020
		       ? "cudaStreamSynchronize"
	       : (name & 0xffff) == LAUNCH ? "cudaLaunchKernel"
					   : "cudaDeviceSynchronize";
}

static const char *kernel_name(void *user, uint32_t name)
{
	(void)user;
	return name == 1 ? "first" : name > 30 ? "beside" : "other";
}

static int compare_rows(const void *a, const void *b)
{
	const struct ts_sbt_row *x = a, *y = b;
	uint64_t s = ts_row_start_ns(x->any), t = ts_row_start_ns(y->any);

	if (s != t)
		return s < t ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/*
 * Checks that the trace takes `was` ns without edits, and `is` ns with the edits in `texts`.
 * Semicolons separate the edits. If `is` is 0, checks that the run with the edits fails with
 * -EINVAL and a message.
 */
static void check_edit(uint64_t was, const char *texts, uint64_t is)
{
	static const struct ts_emulate_names names = {kernel_name, function_name, NULL};
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *edited = NULL;
	const struct ts_emulate_options options = {0};
	struct ts_emulate_edit edits[8];
	char message[TS_EMULATE_TEXT_BYTES] = "", copied[256], *text, *rest = copied;
	size_t n = 0;
	int r;

	qsort(rows, n_rows, sizeof(rows[0]), compare_rows);
	ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
	for (unsigned int i = 0; i < n_rows; i++)
		ts_check_int(ts_emulate_builder_feed(builder, &rows[i]), 0);
	ts_check_int(ts_emulate_builder_finish(builder, &program), 0);
	ts_check_int(ts_emulate_run(program, NULL, 0, NULL, SIZE_MAX, &result, message), 0);
	ts_check_int(result->makespan_ns, was);
	snprintf(copied, sizeof(copied), "%s", texts);
	while ((text = strsep(&rest, ";")))
		ts_check_int(ts_emulate_edit_parse(text, &edits[n++], message), 0);
	r = ts_emulate_run(program, edits, n, &names, SIZE_MAX, &edited, message);
	ts_check_int(r, is ? 0 : -EINVAL);
	ts_check(is || message[0]);
	if (is)
		ts_check_int(edited->makespan_ns, is);
	/* A copy for edits shares what they do not change: the program is as before. */
	ts_emulate_result_free(result);
	ts_check_int(ts_emulate_run(program, NULL, 0, NULL, SIZE_MAX, &result, message), 0);
	ts_check_int(result->makespan_ns, was);
}

static void record(uint64_t op_id, uint32_t stream, uint64_t event, uint64_t start)
{
	const struct ts_row_event row = {.start_ns = BASE_NS + start + 2,
					 .op_id = op_id,
					 .event = event,
					 .context = 1,
					 .stream = stream};

	call(op_id, LAUNCH, start, start + 2);
	add(TS_ROW_EVENT, &row, sizeof(row));
}

static void waits_for_event(uint64_t op_id, uint32_t number, uint64_t start, uint64_t end)
{
	const struct ts_row_sync row = {
		.start_ns = BASE_NS + start,
		.end_ns = BASE_NS + end,
		.op_id = op_id,
		.sync_type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
		.context = 1,
		.stream = TS_NO_DEVICE,
		.event = number};

	call(op_id, LAUNCH, start, end);
	add(TS_ROW_SYNC, &row, sizeof(row));
}

/*
 *   thread  1 2------------ 3 4------------
 *   1         [=== 1 ===]
 *   2                         [=== 3 ===]
 */
static void make_two(void)
{
	n_rows = 0;
	kernel(1, 1, 0, 20, 120);
	waits(2, TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 1, 10, 130);
	kernel(3, 2, 135, 155, 255);
	waits_for_all(4, 145, 265);
}

TS_TEST(without_a_wait)
{
	make_two();
	/* Call 3 begins 5 ns after call 1. */
	check_edit(265, "no-sync cudaStreamSynchronize", 145);
	check_edit(265, "no-sync op=2", 145);
	check_edit(265, "no-sync cudaStream*;no-sync op=4", 135);
	check_edit(265, "no-sync op=3", 0);
	check_edit(265, "no-sync cudaFree", 0);
}

TS_TEST(faster_and_slower)
{
	make_two();
	check_edit(265, "kernel first=2x", 215);
	check_edit(265, "kernel *=2x", 165);
	check_edit(265, "kernel first=0.5x;kernel other=10ns", 275);
	check_edit(265, "kernel nobody=2x", 0);
	check_edit(265, "launch-latency=0ns", 225);
	check_edit(265, "launch-latency=30ns", 285);
	check_edit(265, "host=5x", 261);
	/* The second of two edits finds the durations of the first. */
	check_edit(265, "host=5x;host=0.2x", 265);
	/* Gaps are the same if the copy of the program has calls of its own. */
	check_edit(265, "host=5x;call cudaLaunchKernel=1x", 261);
	check_edit(265, "host=5x;call cudaLaunchKernel=1x;host=0.2x", 265);
	check_edit(265, "kernel first=2x;kernel first=2x", 190);
	check_edit(265, "kernel first=2x;kernel first=0.5x", 265);
	check_edit(265, "copy htod=2x", 0);
	/* The kernels end later than the calls return, so shorter calls change nothing. */
	check_edit(265, "call cudaLaunchKernel=2x", 265);
	/* No call waits, both kernels run in one stream, and one takes half as long. */
	check_edit(265, "no-sync op=2;merge 1,2;kernel first=2x", 180);
}

TS_TEST(one_graph)
{
	n_rows = 0;
	kernel(1, 1, 0, 20, 22);
	kernel(2, 1, 20, 40, 42);
	kernel(3, 1, 40, 60, 62);
	waits_for_all(4, 50, 72);
	/* All kernels are one graph: they run from 20 on, one after the other. */
	check_edit(72, "graph", 36);
	/* Two kernels in the graph; the third is called at 20. */
	check_edit(72, "graph=2", 52);
	check_edit(72, "graph=1", 0);
	check_edit(72, "host=0.5x;graph", 36);
}

/*
 * A graph has two branches: two consecutive nodes, and one node. The branches start together, and
 * the next operation waits for all nodes.
 */
TS_TEST(nodes_of_a_graph)
{
	const struct ts_row_graph_launch launch = {.start_ns = BASE_NS,
						   .op_id = 1,
						   .context = 1,
						   .stream = 1};

	n_rows = 0;
	call(1, LAUNCH, 0, 10);
	add(TS_ROW_GRAPH_LAUNCH, &launch, sizeof(launch));
	kernel_of(1, 7, 20, 60, 1);
	kernel_of(1, 8, 20, 90, 2);
	kernel_of(1, 7, 60, 80, 3);
	kernel(2, 1, 10, 90, 100);
	waits_for_all(3, 20, 110);
	check_edit(110, "kernel other=0.5x", 120);
	check_edit(110, "kernel first=2x", 75);
}

TS_TEST(streams_made_one_and_two)
{
	n_rows = 0;
	kernel(1, 1, 0, 20, 120);
	kernel(2, 2, 10, 30, 130);
	waits_for_all(3, 20, 140);
	check_edit(140, "merge 1,2", 230);
	check_edit(140, "merge 2,1", 230);
	check_edit(140, "merge 1,5", 0);
}

TS_TEST(a_stream_split)
{
	n_rows = 0;
	kernel(1, 1, 0, 20, 120);
	kernel(2, 1, 10, 120, 220);
	kernel(3, 1, 20, 220, 320);
	waits(4, TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 1, 30, 330);
	/* Each cycle begins with `other`: 1 and 2 are in one stream, 3 is in the other. */
	check_edit(330, "split 1=2,other", 230);
	check_edit(330, "split 1=3,*", 150);
	check_edit(330, "split 9=2", 0);
}

TS_TEST(pinned_copies)
{
	n_rows = 0;
	call(1, LAUNCH, 0, 110);
	copy(1, 1, PAGEABLE, 5, 105);
	call(2, LAUNCH, 110, 120);
	copy(2, 1, PINNED, 130, 180);
	waits_for_all(3, 120, 190);
	/*
	 * The first copy takes 50 like the second, and its call does not wait: 5..55, then 55..105.
	 */
	check_edit(190, "pinned", 115);
	/* 5..15, then 30..80. */
	check_edit(190, "pinned=100GB/s", 90);
	/* The pinned copy takes 25, so the first one does, too: 5..30, then 30..55. */
	check_edit(190, "copy htod=2x;pinned", 65);
	n_rows = 0;
	call(1, LAUNCH, 0, 110);
	copy(1, 1, PAGEABLE, 5, 105);
	check_edit(110, "pinned", 0);
}

TS_TEST(other_engines)
{
	n_rows = 0;
	call(1, LAUNCH, 0, 10);
	copy(1, 1, PINNED, 20, 120);
	call(2, LAUNCH, 10, 20);
	copy(2, 2, PINNED, 120, 220);
	waits_for_all(3, 20, 230);
	check_edit(230, "h2d-engines=2", 140);
	check_edit(230, "h2d-engines=1", 230);
	check_edit(230, "copy htod=2x", 130);
	check_edit(230, "h2d-engines=2;copy htod=2x", 90);
	check_edit(230, "copy htod=2x;h2d-engines=2", 90);
	check_edit(230, "d2h-engines=2", 0);
	check_edit(230, "multiprocessors=2", 0);
}

/*
 * At the first wait both events were over when the call returned. At the second wait only one was,
 * so the host waited for that one.
 */
TS_TEST(which_event_was_waited_for)
{
	n_rows = 0;
	kernel(1, 1, 0, 20, 120);
	record(2, 1, 0xa0, 10);
	kernel(33, 2, 20, 40, 125);
	record(4, 2, 0xb0, 30);
	waits_for_event(5, 7, 32, 130);
	kernel(6, 1, 130, 150, 250);
	record(7, 1, 0xa0, 140);
	kernel(38, 2, 150, 170, 300);
	record(9, 2, 0xb0, 160);
	waits_for_event(10, 7, 162, 260);
	kernel(11, 1, 270, 290, 390);
	waits_for_all(12, 280, 400);
	/* The host does not wait for `beside`: 40..240, then 240..440. */
	check_edit(400, "kernel beside=200ns", 450);
	check_edit(400, "kernel first=2x", 350);
}
