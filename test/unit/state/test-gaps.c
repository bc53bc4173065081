/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the gaps of traces whose every nanosecond is known: one trace written by hand, and many
 * random ones. Random traces are compared with a reference that finds the cause of each nanosecond.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/gaps/gaps.h"
#include "sbt/writer.h"

#define SESSION_PID 500
#define MAIN	    1 /* ids of threads */
#define WAKER	    2
#define OTHER	    3
#define CONTEXT	    1

static struct ts_sbt_writer *writer;
static struct ts_sbt_session_writer *session;
static int trace_fd;

static uint32_t string_of(const char *text)
{
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(writer, text, strlen(text), &id), 0);
	return id;
}

static void begin_trace(const char *kernel_events)
{
	const struct ts_row_session row = {.pid = SESSION_PID, .start_ns = 1};

	trace_fd = memfd_create("trace", MFD_CLOEXEC);
	ts_check_int(ts_sbt_writer_new(dup(trace_fd), &writer), 0);
	ts_check_int(ts_sbt_writer_metadata(writer, TS_METADATA_KERNEL_EVENTS, kernel_events), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint32_t id = MAIN; id <= OTHER; id++) {
		struct ts_row_thread thread = {.start_ns = 1, .tid = SESSION_PID + id - 1};
		uint32_t given;

		ts_check_int(ts_sbt_session_writer_add_thread(session, &thread, &given), 0);
		ts_check_int(given, id);
	}
}

static void add(unsigned type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(session, type, row), 0);
}

/* Each stack is its own code: the code's number is the stack's id. */
static int find_code(void *data, uint32_t in, uint32_t stack, uint64_t time_ns,
		     uint32_t *ret_number)
{
	uint64_t *n_asked = data;

	ts_check_int(in, 1);
	ts_check(time_ns);
	++*n_asked;
	*ret_number = stack;
	return 0;
}

static uint64_t n_samples_asked; /* calls of find_code() */
static const struct ts_gaps_code code = {.find = find_code, .data = &n_samples_asked};

static struct ts_gaps *read_gaps_of(uint64_t least_ns, size_t max_longest,
				    const struct ts_gaps_code *code_or_none)
{
	const struct ts_gaps_options options = {.least_ns = least_ns,
						.max_longest = max_longest,
						.code = code_or_none};
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_gaps *gaps;

	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(trace_fd, &reader, NULL), 0);
	close(trace_fd);
	n_samples_asked = 0;
	ts_check_int(ts_gaps_read(reader, &options, &gaps), 0);
	return gaps;
}

static struct ts_gaps *read_gaps(uint64_t least_ns, size_t max_longest)
{
	return read_gaps_of(least_ns, max_longest, &code);
}

static void add_launch(uint64_t op_id, uint32_t thread, uint64_t call_ns, uint64_t call_end_ns,
		       uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	struct ts_row_api call = {.start_ns = call_ns,
				  .end_ns = call_end_ns,
				  .op_id = op_id,
				  .thread = thread,
				  .context = CONTEXT,
				  .domain = TS_API_CUDA_DRIVER,
				  .cbid = 307,
				  .flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_kernel kernel = {.start_ns = start_ns,
				       .end_ns = end_ns,
				       .op_id = op_id,
				       .context = CONTEXT,
				       .stream = stream};

	add(TS_ROW_API, &call);
	add(TS_ROW_KERNEL, &kernel);
}

static void add_off_cpu(uint32_t thread, uint32_t reason, uint64_t start_ns, uint64_t woken_ns,
			uint64_t end_ns, uint32_t waker_tid)
{
	struct ts_row_off_cpu row = {.start_ns = start_ns,
				     .end_ns = end_ns,
				     .woken_ns = woken_ns,
				     .thread = thread,
				     .reason = reason,
				     .syscall = 202,
				     .waker_context = waker_tid ? TS_WAKER_THREAD : TS_WAKER_NONE,
				     .waker_tid = waker_tid,
				     .waker_pid = waker_tid ? SESSION_PID : 0};

	add(TS_ROW_OFF_CPU, &row);
}

static const struct ts_gap_part *part_of(const struct ts_gap_parts *parts, uint32_t cause,
					 uint32_t depth)
{
	const struct ts_gap_part *found = NULL;

	for (size_t i = 0; i < parts->n; i++)
		if (parts->at[i].key.cause == cause && parts->at[i].depth == depth) {
			ts_check(!found);
			found = &parts->at[i];
		}
	ts_check(found);
	return found;
}

/*
 *	1000  end of the stream's first operation
 *	1000  running			100
 *	1100  off its CPU, a futex	400: OTHER slept from 1050 to 1400 and woke the thread at
 *				1450
 *	1500  reads from a file		300, with a page fault of 50
 *	1800  two page faults		20 and 0
 *	1820  running			80
 *	1900  a call that waits		50
 *	1950  the launch's call		150: during it and until 2100 its dependency runs
 *	2100  dispatch			25
 */
static void make_known_trace(uint32_t file)
{
	const struct ts_row_stream stream = {.start_ns = 10,
					     .context = CONTEXT,
					     .stream = 7,
					     .stream_flags = 1};
	const struct ts_row_event record = {.start_ns = 700,
					    .op_id = 20,
					    .event = 0xe,
					    .context = CONTEXT,
					    .stream = 8,
					    .thread = MAIN};
	const struct ts_row_stream_wait wait = {.start_ns = 710,
						.op_id = 21,
						.event = 0xe,
						.context = CONTEXT,
						.stream = 7,
						.thread = MAIN};
	const struct ts_row_api waits = {.start_ns = 1900,
					 .end_ns = 1950,
					 .op_id = 30,
					 .thread = MAIN,
					 .domain = TS_API_CUDA_DRIVER,
					 .cbid = 17};
	struct ts_row_syscall reads = {
		.start_ns = 1500, .end_ns = 1800, .thread = MAIN, .syscall = 17, .file = file};
	struct ts_row_page_fault fault = {
		.start_ns = 1600, .end_ns = 1650, .thread = MAIN, .fault = 1, .memory = 1};

	add(TS_ROW_STREAM, &stream);
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_launch(2, MAIN, 600, 610, 8, 1200, 2100);
	add(TS_ROW_EVENT, &record);
	add(TS_ROW_STREAM_WAIT, &wait);
	/* Scheduling is known from this event on. */
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_off_cpu(MAIN, TS_OFF_CPU_FUTEX, 1100, 1450, 1500, SESSION_PID + OTHER - 1);
	add_off_cpu(OTHER, TS_OFF_CPU_SLEEP, 1050, 1390, 1400, 0);
	add(TS_ROW_SYSCALL, &reads);
	add(TS_ROW_PAGE_FAULT, &fault);
	fault.start_ns = 1800;
	fault.end_ns = 1820;
	add(TS_ROW_PAGE_FAULT, &fault);
	fault.start_ns = fault.end_ns = 1830;
	add(TS_ROW_PAGE_FAULT, &fault);
	add(TS_ROW_API, &waits);
	add_off_cpu(MAIN, TS_OFF_CPU_PREEMPTED, 1960, 0, 1970, 0);
	add_launch(31, MAIN, 1950, 2000, 7, 2125, 2200);
}

TS_TEST(each_nanosecond_has_one_cause)
{
	const struct ts_gap_part *part;
	struct ts_gaps *gaps;
	struct ts_gap *gap;
	uint64_t ns = 0;
	uint32_t file;

	begin_trace("sched,faults,syscalls");
	file = string_of("data.bin");
	make_known_trace(file);
	gaps = read_gaps(100, 10);
	ts_check_int(gaps->n, 1);
	ts_check_int(gaps->n_streams, 2);
	ts_check_int(gaps->n_longest, 1);
	gap = &gaps->longest[0];
	ts_check_int(gap->start_ns, 1000);
	ts_check_int(gap->op.start_ns, 2125);
	ts_check_int(gap->op.op_id, 31);
	ts_check_int(gap->before_op_id, 1);
	for (size_t i = 0; i < gap->parts.n; i++)
		ns += gap->parts.at[i].depth ? 0 : gap->parts.at[i].ns;
	ts_check_int(ns, 1125);

	/*
	 * The stream waited for the event since long before the call. The gap is first attributed
	 * to the call, then to the dependency.
	 */
	part = part_of(&gap->parts, TS_GAP_DEPENDENCY, 0);
	ts_check_int(part->ns, 150);
	ts_check_int(part->key.op_id, 2);
	ts_check_int(part->key.event, 0xe);
	ts_check_int(part->key.stream, 8);
	ts_check_int(part_of(&gap->parts, TS_GAP_DISPATCH, 0)->ns, 25);
	ts_check_int(part_of(&gap->parts, TS_GAP_CALL, 0)->ns, 50);
	part = part_of(&gap->parts, TS_GAP_OFF_CPU, 0);
	ts_check_int(part->ns, 400);
	ts_check_int(part->count, 1);
	ts_check_int(part->runnable_ns, 50);
	ts_check_int(part->key.reason, TS_OFF_CPU_FUTEX);
	ts_check_int(part->key.waker_tid, SESSION_PID + OTHER - 1);
	/* Activity of OTHER until it woke the thread. */
	part = part_of(&gap->parts, TS_GAP_OFF_CPU, 1);
	ts_check_int(part->ns, 300);
	ts_check_int(part->key.reason, TS_OFF_CPU_SLEEP);
	ts_check_int(part->runnable_ns, 10);
	ts_check_int(part_of(&gap->parts, TS_GAP_RUNNING, 1)->ns, 50);
	part = part_of(&gap->parts, TS_GAP_SYSCALL, 0);
	ts_check_int(part->ns, 250);
	ts_check_int(part->key.file, file);
	/* One page fault is inside the read, and two are outside, so there are two parts. */
	ns = 0;
	for (size_t i = 0; i < gap->parts.n; i++)
		if (gap->parts.at[i].key.cause == TS_GAP_PAGE_FAULT) {
			ns += gap->parts.at[i].ns;
			ts_check_int(gap->parts.at[i].count, gap->parts.at[i].key.file ? 1 : 2);
		}
	ts_check_int(ns, 70);
	ts_check_int(part_of(&gap->parts, TS_GAP_RUNNING, 0)->ns, 180);
	for (size_t i = 0; i < gaps->n_streams; i++)
		ts_check_int(gaps->streams[i].gaps_ns, gaps->streams[i].stream == 7 ? 1125 : 0);
	ts_check_int(gaps->parts.n, gap->parts.n);
	ts_gaps_free(gaps);
}

/* ---- samples --------------------------------------------------------------------------------- */

#define PERIOD_NS 1000u

static void add_sample_of(uint32_t thread, uint64_t start_ns, uint32_t stack, uint64_t period_ns)
{
	struct ts_row_sample row = {.start_ns = start_ns,
				    .period_ns = period_ns,
				    .thread = thread,
				    .stack = stack};

	add(TS_ROW_SAMPLE, &row);
}

static void add_sample(uint32_t thread, uint64_t start_ns, uint32_t stack)
{
	add_sample_of(thread, start_ns, stack, PERIOD_NS);
}

/*
 * Adds a gap: a stream is idle from 1000 to 1000 + ns, and MAIN launches the next operation in the
 * last nanosecond.
 */
static void add_gap(uint64_t ns)
{
	const struct ts_row_stream stream = {.start_ns = 10,
					     .context = CONTEXT,
					     .stream = 7,
					     .stream_flags = 1};

	add(TS_ROW_STREAM, &stream);
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_launch(2, MAIN, 1000 + ns, 1000 + ns, 7, 1000 + ns, 2000 + ns);
}

/*
 * Returns the part with this cause, code and depth and without sub-parts; NULL: the gap has no such
 * part.
 */
static const struct ts_gap_part *code_of(const struct ts_gap_parts *parts, uint32_t cause,
					 uint32_t number, uint32_t depth)
{
	const struct ts_gap_part *found = NULL;

	for (size_t i = 0; i < parts->n; i++) {
		if (parts->at[i].key.cause != cause || parts->at[i].key.code != number ||
		    parts->at[i].depth != depth)
			continue;
		ts_check(!found);
		found = &parts->at[i];
	}
	return found;
}

static void check_code(const struct ts_gap_parts *parts, uint32_t cause, uint32_t number,
		       uint64_t ns, uint64_t n_samples)
{
	const struct ts_gap_part *part = code_of(parts, cause, number, 0);

	ts_check(part);
	ts_check_int(part->ns, ns);
	ts_check_int(part->samples, n_samples);
	ts_check_int(part->key.tid, SESSION_PID + MAIN - 1);
}

/*
 * A gap of 100 us: samples alternate between two functions, 70 in one and 30 in the other; there
 * are no samples outside the gap.
 */
TS_TEST(samples_name_code)
{
	struct ts_gaps *gaps;

	begin_trace("sched");
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_gap(100 * PERIOD_NS);
	for (unsigned i = 0; i < 100; i++) {
		add_sample(MAIN, 1500 + i * PERIOD_NS, i % 10 < 7 ? 1 : 2);
		add_sample(OTHER, 1500 + i * PERIOD_NS, 3);
	}
	add_sample(MAIN, 700, 4);
	add_sample(MAIN, 1100 + 100 * PERIOD_NS, 4);
	gaps = read_gaps(1000, 10);
	ts_check_int(gaps->n, 1);
	ts_check_int(n_samples_asked, 100);
	for (unsigned i = 0; i < 2; i++) {
		const struct ts_gap_parts *parts = i ? &gaps->longest[0].parts : &gaps->parts;

		ts_check_int(parts->n, 2);
		ts_check_int(parts->at[0].key.code, 1);
		check_code(parts, TS_GAP_RUNNING, 1, 70 * PERIOD_NS, 70);
		check_code(parts, TS_GAP_RUNNING, 2, 30 * PERIOD_NS, 30);
	}
	ts_check_int(gaps->streams[0].causes_ns[TS_GAP_RUNNING], 100 * PERIOD_NS);
	ts_gaps_free(gaps);
}

/*
 * The sampler's rate falls in the middle of the gap: samples count by the time that they stand for.
 * Function 1 has the first half of the time, and a quarter of the second one.
 */
TS_TEST(samples_of_two_rates_name_code)
{
	struct ts_gaps *gaps;

	begin_trace("sched");
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_gap(96 * PERIOD_NS);
	for (unsigned i = 0; i < 48; i++)
		add_sample(MAIN, 1500 + i * PERIOD_NS, 1);
	for (unsigned i = 0; i < 12; i++)
		add_sample_of(MAIN, 1500 + (48 + 4 * i) * PERIOD_NS, i % 4 ? 2 : 1, 4 * PERIOD_NS);
	gaps = read_gaps(1000, 10);
	ts_check_int(gaps->n, 1);
	check_code(&gaps->parts, TS_GAP_RUNNING, 1, 60 * PERIOD_NS, 51);
	check_code(&gaps->parts, TS_GAP_RUNNING, 2, 36 * PERIOD_NS, 9);
	ts_gaps_free(gaps);
}

TS_TEST(samples_are_not_looked_at_unless_asked_for)
{
	struct ts_gaps *gaps;

	begin_trace("sched");
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_gap(10 * PERIOD_NS);
	add_sample(MAIN, 2000, 1);
	gaps = read_gaps_of(1000, 10, NULL);
	ts_check_int(gaps->parts.n, 1);
	check_code(&gaps->parts, TS_GAP_RUNNING, 0, 10 * PERIOD_NS, 0);
	ts_gaps_free(gaps);
}

/*
 * A sample in a system call, off the CPU or in a vendor's call is no sample of the thread's own
 * code.
 */
TS_TEST(samples_are_of_own_code)
{
	struct ts_row_syscall reads = {.start_ns = 11000,
				       .end_ns = 31000,
				       .thread = MAIN,
				       .syscall = 17};
	struct ts_row_api waits = {.start_ns = 31000,
				   .end_ns = 51000,
				   .op_id = 30,
				   .thread = MAIN,
				   .domain = TS_API_CUDA_DRIVER,
				   .cbid = 17};
	struct ts_gaps *gaps;

	begin_trace("sched,syscalls");
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_gap(100 * PERIOD_NS);
	add(TS_ROW_SYSCALL, &reads);
	add(TS_ROW_API, &waits);
	add_off_cpu(MAIN, TS_OFF_CPU_SLEEP, 51000, 0, 71000, 0);
	for (unsigned i = 0; i < 100; i++)
		add_sample(MAIN, 1500 + i * PERIOD_NS, 1 + i / 10);
	gaps = read_gaps(1000, 10);
	ts_check_int(n_samples_asked, 40);
	check_code(&gaps->parts, TS_GAP_RUNNING, 1, 10 * PERIOD_NS, 10);
	for (unsigned number = 2; number < 8; number++)
		ts_check(!code_of(&gaps->parts, TS_GAP_RUNNING, number, 0));
	for (unsigned number = 8; number <= 10; number++)
		check_code(&gaps->parts, TS_GAP_RUNNING, number, 10 * PERIOD_NS, 10);
	ts_check(!code_of(&gaps->parts, TS_GAP_RUNNING, 0, 0));
	ts_gaps_free(gaps);
}

/*
 * A thread was sampled in 10 of 100 periods. In the other 90 it did something else, or was not
 * sampled: the time of these periods gets no name.
 */
TS_TEST(few_samples_name_little)
{
	struct ts_gaps *gaps;

	begin_trace("");
	add_gap(100 * PERIOD_NS);
	for (unsigned i = 0; i < 10; i++)
		add_sample(MAIN, 1500 + i * PERIOD_NS, 1 + i / 5);
	gaps = read_gaps(1000, 10);
	check_code(&gaps->parts, TS_GAP_HOST, 0, 90 * PERIOD_NS, 0);
	check_code(&gaps->parts, TS_GAP_HOST, 1, 5 * PERIOD_NS, 5);
	check_code(&gaps->parts, TS_GAP_HOST, 2, 5 * PERIOD_NS, 5);
	ts_gaps_free(gaps);

	/*
	 * With one sample in four periods, the missing samples can be chance, so the code gets the
	 * time of all four periods.
	 */
	begin_trace("");
	add_gap(4 * PERIOD_NS);
	add_sample(MAIN, 3000, 1);
	gaps = read_gaps(1000, 10);
	ts_check_int(gaps->parts.n, 1);
	check_code(&gaps->parts, TS_GAP_HOST, 1, 4 * PERIOD_NS, 1);
	ts_gaps_free(gaps);
}

/* Samples without a known place count for time as well; rounding loses nothing. */
TS_TEST(shares_add_up)
{
	struct ts_gaps *gaps;

	begin_trace("");
	add_gap(6001);
	for (unsigned i = 0; i < 6; i++)
		add_sample(MAIN, 1500 + i * PERIOD_NS, i % 3);
	gaps = read_gaps(1000, 10);
	ts_check_int(gaps->parts.n, 3);
	for (uint32_t number = 0; number < 3; number++)
		ts_check(code_of(&gaps->parts, TS_GAP_HOST, number, 0)->ns / 10 == 200);
	ts_check_int(gaps->parts.at[0].ns + gaps->parts.at[1].ns + gaps->parts.at[2].ns, 6001);
	ts_gaps_free(gaps);
}

/*
 * Gaps of a quarter of a sampling period: one gap in four has a sample. The samples of all gaps
 * name the code for the time of all gaps.
 */
TS_TEST(short_gaps_are_sampled_together)
{
	const struct ts_row_stream stream = {.start_ns = 10,
					     .context = CONTEXT,
					     .stream = 7,
					     .stream_flags = 1};
	uint64_t at_ns = 1000;
	struct ts_gaps *gaps;

	begin_trace("");
	add(TS_ROW_STREAM, &stream);
	for (unsigned i = 0; i < 1000; i++, at_ns += 2 * PERIOD_NS) {
		add_launch(i + 1, MAIN, at_ns, at_ns, 7, at_ns, at_ns + 7 * PERIOD_NS / 4);
		if (i % 4 == 0)
			add_sample(MAIN, at_ns + 19 * PERIOD_NS / 10, i % 40 < 28 ? 1 : 2);
	}
	gaps = read_gaps(100, 1000);
	ts_check_int(gaps->n, 999);
	ts_check_int(gaps->parts.n, 2);
	check_code(&gaps->parts, TS_GAP_HOST, 1, 999 * PERIOD_NS / 4 * 175 / 250, 175);
	ts_check_int(code_of(&gaps->parts, TS_GAP_HOST, 2, 0)->samples, 75);
	for (size_t i = 0; i < gaps->n_longest; i++)
		ts_check_int(gaps->longest[i].parts.n, 1);
	ts_gaps_free(gaps);
}

/* Code of a thread that was waited for is reported below the wait. */
TS_TEST(samples_of_a_waker)
{
	struct ts_gaps *gaps;

	begin_trace("sched");
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_gap(10 * PERIOD_NS);
	add_off_cpu(MAIN, TS_OFF_CPU_FUTEX, 1000, 11000, 11000, SESSION_PID + OTHER - 1);
	for (unsigned i = 0; i < 10; i++)
		add_sample(OTHER, 1500 + i * PERIOD_NS, 1 + i % 2);
	gaps = read_gaps(1000, 10);
	ts_check_int(gaps->parts.n, 3);
	ts_check_int(part_of(&gaps->parts, TS_GAP_OFF_CPU, 0)->ns, 10 * PERIOD_NS);
	for (uint32_t number = 1; number <= 2; number++)
		ts_check_int(code_of(&gaps->parts, TS_GAP_RUNNING, number, 1)->ns, 5 * PERIOD_NS);
	ts_gaps_free(gaps);
}

/* ---- disks ----------------------------------------------------------------------------------- */

static void add_request(uint32_t thread, uint64_t start_ns, uint64_t issued_ns, uint64_t end_ns,
			uint32_t disk)
{
	struct ts_row_block_io row = {.start_ns = start_ns,
				      .end_ns = end_ns,
				      .issued_ns = issued_ns,
				      .thread = thread,
				      .disk = disk,
				      .operation = TS_BLOCK_READ};

	add(TS_ROW_BLOCK_IO, &row);
}

/*
 * The thread waits for I/O from 1100 to 1300. Its requests that complete by 1290, when it is woken,
 * go to disks 1 and 2; the one to disk 2 completes last. Then it waits for 100 ns without a request
 * of its own, and for 100 ns in a futex while a disk works.
 */
TS_TEST(a_disk_is_waited_for)
{
	const struct ts_gap_part *part;
	struct ts_gaps *gaps;
	uint32_t disks[2];

	begin_trace("sched,block");
	disks[0] = string_of("sda");
	disks[1] = string_of("sdb");
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_off_cpu(WAKER, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add_request(MAIN, 1050, 1060, 1090, disks[0]);
	add_request(MAIN, 1060, 1070, 1200, disks[0]);
	add_request(MAIN, 1080, 1120, 1280, disks[1]);
	add_request(MAIN, 1080, 1150, 1295, disks[0]);
	add_request(OTHER, 1080, 1090, 1290, disks[0]);
	add_off_cpu(MAIN, TS_OFF_CPU_IO, 1100, 1290, 1300, 0);
	add_off_cpu(MAIN, TS_OFF_CPU_IO, 1400, 1490, 1500, 0);
	add_request(MAIN, 1550, 1550, 1680, disks[0]);
	add_off_cpu(MAIN, TS_OFF_CPU_FUTEX, 1600, 1690, 1700, 0);
	add_launch(31, MAIN, 1950, 2000, 7, 2000, 2200);
	gaps = read_gaps(100, 10);
	ts_check_int(gaps->n_longest, 1);
	part = part_of(&gaps->longest[0].parts, TS_GAP_BLOCK_IO, 1);
	ts_check_int(part->key.disk, disks[1]);
	ts_check_int(part->key.operation, TS_BLOCK_READ);
	ts_check_int(part->ns, 180);
	ts_check_int(part->queued_ns, 20);
	ts_check_int(part->runnable_ns, 0);
	ts_check_int(part->count, 1);
	for (size_t i = 0; i < gaps->longest[0].parts.n; i++)
		if (&gaps->longest[0].parts.at[i] == part) {
			ts_check_int(part[-1].key.reason, TS_OFF_CPU_IO);
			ts_check_int(part[-1].ns, 300);
		}
	ts_check_int(gaps->streams[0].causes_ns[TS_GAP_BLOCK_IO], 0);
	ts_gaps_free(gaps);
}

/*
 * Reclaim inside a page fault counts as reclaim; reclaim while the thread is off the CPU does not.
 * An OOM kill has no duration.
 */
TS_TEST(freeing_memory)
{
	const struct ts_gap_part *part;
	struct ts_gaps *gaps;
	struct ts_row_pressure row = {.start_ns = 1100,
				      .end_ns = 1300,
				      .thread = MAIN,
				      .kind = TS_PRESSURE_LIMIT};
	struct ts_row_page_fault fault = {.start_ns = 1050, .end_ns = 1400, .thread = MAIN};

	begin_trace("sched,faults,memory");
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_off_cpu(MAIN, TS_OFF_CPU_SLEEP, 300, 0, 350, 0);
	add(TS_ROW_PAGE_FAULT, &fault);
	add(TS_ROW_PRESSURE, &row);
	add_off_cpu(MAIN, TS_OFF_CPU_PREEMPTED, 1150, 0, 1180, 0);
	row = (struct ts_row_pressure){.start_ns = 1500,
				       .end_ns = 1550,
				       .thread = MAIN,
				       .kind = TS_PRESSURE_LIMIT};
	add(TS_ROW_PRESSURE, &row);
	row = (struct ts_row_pressure){.start_ns = 1600,
				       .end_ns = 1600,
				       .thread = MAIN,
				       .kind = TS_PRESSURE_OOM_KILL};
	add(TS_ROW_PRESSURE, &row);
	add_launch(31, MAIN, 1950, 2000, 7, 2000, 2200);
	gaps = read_gaps(100, 10);
	ts_check_int(gaps->n_longest, 1);
	part = part_of(&gaps->longest[0].parts, TS_GAP_RECLAIM, 0);
	ts_check_int(part->key.operation, TS_PRESSURE_LIMIT);
	ts_check_int(part->ns, 170 + 50);
	ts_check_int(part->count, 2);
	part = part_of(&gaps->longest[0].parts, TS_GAP_PAGE_FAULT, 0);
	ts_check_int(part->ns, 150);
	ts_check_int(gaps->streams[0].causes_ns[TS_GAP_RECLAIM], 220);
	ts_check_int(gaps->streams[0].causes_ns[TS_GAP_OFF_CPU], 30);
	ts_gaps_free(gaps);
}

/*
 * An operation of another stream used the engine during the gap. The preemption lies within the
 * launch's call, so it is no cause of the gap.
 */
TS_TEST(a_taken_engine)
{
	const struct ts_row_stream streams[2] = {
		{.start_ns = 10, .context = CONTEXT, .stream = 7, .stream_flags = 2},
		{.start_ns = 10, .context = CONTEXT, .stream = 8, .stream_flags = 2}};
	struct ts_gaps *gaps;
	struct ts_gap *gap;

	begin_trace("sched");
	add(TS_ROW_STREAM, &streams[0]);
	add(TS_ROW_STREAM, &streams[1]);
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_launch(2, MAIN, 600, 610, 8, 700, 20000);
	add_off_cpu(MAIN, TS_OFF_CPU_PREEMPTED, 1060, 0, 1070, 0);
	add_launch(3, MAIN, 1050, 1100, 7, 21000, 22000);
	gaps = read_gaps(1, 10);
	ts_check_int(gaps->n_longest, 1);
	gap = &gaps->longest[0];
	/* From 1000 to 1050, before the call, no row shows the thread's activity. */
	ts_check_int(part_of(&gap->parts, TS_GAP_HOST, 0)->ns, 50);
	ts_check_int(part_of(&gap->parts, TS_GAP_DEVICE, 0)->ns, 18950);
	ts_check_int(part_of(&gap->parts, TS_GAP_DEVICE, 0)->key.op_id, 2);
	ts_check_int(part_of(&gap->parts, TS_GAP_DISPATCH, 0)->ns, 1000);
	ts_check_int(gap->parts.n, 3);
	ts_gaps_free(gaps);
}

TS_TEST(what_is_not_recorded_is_not_told)
{
	const struct ts_row_kernel alone = {
		.start_ns = 3000, .end_ns = 3100, .op_id = 9, .context = CONTEXT, .stream = 7};
	const struct ts_row_loss loss = {.start_ns = 2500,
					 .end_ns = 2600,
					 .count = 1,
					 .reason = TS_LOSS_KERNEL_EVENTS,
					 .context = 1};
	struct ts_gaps *gaps;

	begin_trace("faults");
	add_launch(1, MAIN, 400, 410, 7, 500, 1000);
	add_launch(2, MAIN, 1500, 1510, 7, 1600, 1700);
	add_off_cpu(MAIN, TS_OFF_CPU_PREEMPTED, 100, 0, 110, 0);
	add(TS_ROW_KERNEL, &alone);
	add(TS_ROW_LOSS, &loss);
	gaps = read_gaps(1, 10);
	ts_check_int(gaps->n, 2);
	ts_check_int(part_of(&gaps->longest[0].parts, TS_GAP_UNKNOWN, 0)->ns, 1300);
	ts_check(gaps->longest[0].op.unsure & TS_GAP_UNSURE_LOST);
	ts_check(!(gaps->longest[1].op.unsure & TS_GAP_UNSURE_LOST));
	/* The part is TS_GAP_HOST, because scheduling was not recorded. */
	ts_check_int(part_of(&gaps->longest[1].parts, TS_GAP_HOST, 0)->ns, 500);
	ts_check_int(part_of(&gaps->longest[1].parts, TS_GAP_CALL, 0)->ns, 10);
	ts_check_int(part_of(&gaps->longest[1].parts, TS_GAP_DISPATCH, 0)->ns, 90);
	ts_gaps_free(gaps);
}

TS_TEST(the_longest_are_listed)
{
	struct ts_gaps *gaps;
	uint64_t ns = 0;

	begin_trace("sched");
	for (uint64_t i = 0, at = 1000; i < 200; i++) {
		/* Lengths 101, 138, 175, ...: each once. */
		uint64_t length = 100 + (1 + 37 * i) % 200;

		at += length;
		add_launch(i + 1, MAIN, at - 20, at - 10, 7, at, at + 10);
		at += 10;
		ns += i ? length : 0;
	}
	gaps = read_gaps(110, 5);
	ts_check_int(gaps->n_longest, 5);
	for (size_t i = 0; i < 5; i++)
		ts_check_int(gaps->longest[i].op.start_ns - gaps->longest[i].start_ns, 299 - i);
	/*
	 * Lengths 100 to 299, without the first launch, which ends no gap, and without lengths
	 * below 110.
	 */
	ts_check_int(gaps->n, 200 - 1 - 9);
	ts_check_int(gaps->ns, ns - (100 + 102 + 103 + 104 + 105 + 106 + 107 + 108 + 109));
	ts_gaps_free(gaps);
}

/* ---- the reference --------------------------------------------------------------------------- */

#define LENGTH	 400
#define N_LAYERS 4

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/*
 * Reference: the activity of thread MAIN at each nanosecond, in each layer (call, system call,
 * ...), innermost layer last. Intervals of one layer do not overlap.
 */
struct reference {
	uint8_t in[N_LAYERS][LENGTH + 1];
	uint64_t ns[TS_GAP_CAUSES];
};

static void make_layer(struct reference *reference, unsigned layer)
{
	for (uint64_t at = 1 + below(20); at < LENGTH;) {
		uint64_t end_ns = at + 1 + below(30);

		if (end_ns > LENGTH)
			end_ns = LENGTH;
		for (uint64_t t = at; t < end_ns; t++)
			reference->in[layer][t] = 1;
		if (layer == 0) {
			const struct ts_row_api row = {.start_ns = at,
						       .end_ns = end_ns,
						       .op_id = 1000 + at,
						       .thread = MAIN};
			add(TS_ROW_API, &row);
		} else if (layer == 1) {
			const struct ts_row_syscall row = {.start_ns = at,
							   .end_ns = end_ns,
							   .thread = MAIN};
			add(TS_ROW_SYSCALL, &row);
		} else if (layer == 2) {
			const struct ts_row_page_fault row = {.start_ns = at,
							      .end_ns = end_ns,
							      .thread = MAIN};
			add(TS_ROW_PAGE_FAULT, &row);
		} else {
			add_off_cpu(MAIN, TS_OFF_CPU_POLL, at, 0, end_ns, 0);
		}
		/* Pieces that touch could not be distinguished. */
		at = end_ns + 1 + below(40);
	}
}

static void count_gap(struct reference *reference, uint64_t from_ns, uint64_t call_ns,
		      uint64_t call_end_ns, uint64_t to_ns)
{
	static const uint8_t causes[N_LAYERS] = {TS_GAP_CALL, TS_GAP_SYSCALL, TS_GAP_PAGE_FAULT,
						 TS_GAP_OFF_CPU};

	for (uint64_t t = from_ns; t < to_ns; t++) {
		uint32_t cause = TS_GAP_RUNNING;

		for (unsigned layer = 0; layer < N_LAYERS; layer++)
			if (reference->in[layer][t])
				cause = causes[layer];
		if (t >= call_end_ns && t >= call_ns)
			cause = TS_GAP_DISPATCH;
		reference->ns[cause]++;
	}
}

/*
 * Makes calls of MAIN in the first layer. Each call launches a kernel that begins 5 ns after the
 * call's end.
 */
static void make_launches(struct reference *reference, uint32_t stream)
{
	uint64_t end_ns = 1 + below(30);
	struct ts_row_kernel kernel = {.end_ns = end_ns,
				       .op_id = 1,
				       .context = CONTEXT,
				       .stream = stream};

	add(TS_ROW_KERNEL, &kernel);
	while (true) {
		uint64_t call_ns = end_ns + below(60), start_ns;

		while (call_ns < LENGTH &&
		       !(reference->in[0][call_ns] && !reference->in[0][call_ns - 1]))
			call_ns++;
		start_ns = call_ns;
		while (start_ns < LENGTH && reference->in[0][start_ns])
			start_ns++;
		if (start_ns >= LENGTH - 30)
			return;
		count_gap(reference, end_ns, call_ns, start_ns, start_ns + 5);
		end_ns = start_ns + 6 + below(20);
		kernel.start_ns = start_ns + 5;
		kernel.end_ns = end_ns;
		kernel.op_id = 1000 + call_ns;
		add(TS_ROW_KERNEL, &kernel);
	}
}

TS_TEST(random_traces_against_a_reference)
{
	for (uint32_t i = 0; i < 300; i++) {
		const struct ts_row_stream stream = {.start_ns = 0,
						     .context = CONTEXT,
						     .stream = 7,
						     .stream_flags = 2};
		struct reference reference = {0};
		struct ts_gaps *gaps;
		uint64_t ns = 0;

		seed = i;
		begin_trace("sched,faults,syscalls");
		add(TS_ROW_STREAM, &stream);
		add_off_cpu(OTHER, TS_OFF_CPU_SLEEP, 0, 0, 1, 0);
		for (unsigned layer = 0; layer < N_LAYERS; layer++)
			make_layer(&reference, layer);
		make_launches(&reference, 7);
		gaps = read_gaps(0, 100);
		ts_check_int(gaps->n_streams, 1);
		for (unsigned cause = 0; cause < TS_GAP_CAUSES; cause++)
			ts_check_int(gaps->streams[0].causes_ns[cause], reference.ns[cause]);
		for (size_t j = 0; j < gaps->n_longest; j++)
			for (size_t k = 0; k < gaps->longest[j].parts.n; k++)
				ns += gaps->longest[j].parts.at[k].ns;
		ts_check_int(ns, gaps->ns);
		ts_check_int(gaps->n, gaps->n_longest);
		ts_gaps_free(gaps);
	}
}

/* With any numbers in rows, the analysis ends, and its parts add up. */
TS_TEST(rows_that_lie)
{
	static const uint64_t times[] = {
		0, 1, 500, 1000, 1001, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};

	for (uint32_t i = 0; i < 200; i++) {
		struct ts_gaps *gaps;

		seed = i;
		begin_trace("sched");
		for (unsigned n = 0; n < 60; n++) {
			uint64_t at[5];

			for (size_t j = 0; j < TS_ARRAY_LEN(at); j++)
				at[j] = below(4) ? below(2000) : times[below(TS_ARRAY_LEN(times))];
			if (below(2))
				add_launch(below(20), below(5), at[0], at[1], below(3), at[2],
					   at[3]);
			else if (below(2))
				add_request(below(5), at[0], at[1], at[2], below(3));
			else if (below(2))
				add(TS_ROW_SAMPLE,
				    &(struct ts_row_sample){.start_ns = at[0] ? at[0] : 1,
							    .period_ns = at[1],
							    .thread = below(5),
							    .stack = below(3)});
			else
				add_off_cpu(below(5), below(12), at[0], at[1], at[2],
					    below(2) ? SESSION_PID + below(4) : 0);
		}
		gaps = read_gaps(0, 20);
		for (size_t j = 0; j < gaps->n_longest; j++) {
			const struct ts_gap *gap = &gaps->longest[j];
			uint64_t ns = 0;

			for (size_t k = 0; k < gap->parts.n; k++)
				ns += gap->parts.at[k].depth ? 0 : gap->parts.at[k].ns;
			ts_check(ns == gap->op.start_ns - gap->start_ns);
		}
		ts_gaps_free(gaps);
	}
}
