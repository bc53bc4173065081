/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule N[:STREAMS] STEP ...: executes the steps N times, on STREAMS streams (default: 8). The
 * arguments fix the operations, their order, and the durations of kernels and host work. So the
 * operations of one run can equal those of another run after an edit.
 * test/integration/test-what-if.py compares `tsctl replay --what-if` of one run with the other run.
 * Steps:
 *
 *     a:S:US b:S:US c:S:US   kernel a, b or c, of US microseconds, into stream S (from 0)
 *     a:S:US:ROUNDS:BLOCKS   the same with BLOCKS blocks (default: 1) that also loop ROUNDS
 *                            times (default: 0); the virtual GPU's cost model counts the
 *                            loop, but not the sleep of a kernel
 *     in:S:KB out:S:KB       a copy to the device or back, pinned
 *     page-in:S:KB page-out:S:KB  the same, pageable
 *     set:S:KB               a memset
 *     record:E:S wait:E:S    event E (0 to 7) is recorded in stream S; stream S waits for it
 *     sync:S event:E device  the host waits for the stream, the event, the device
 *     host:US                the host sleeps US microseconds
 *     { }                    the steps between are captured from stream 0 the first time,
 *                            and launched as a graph
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/apps/gpu.h"

#define N_STREAMS 8
#define N_EVENTS  8
#define N_GRAPHS  8
#define MAX_KB	  64

/*
 * Kernel `name` sleeps until its time has passed, so that concurrent kernels do not compete for the
 * host's CPUs.
 */
#define WORK(name)                                                                         \
	".visible .entry " name "(.param .u64 " name "_ns, .param .u32 " name "_rounds)\n" \
	"{\n"                                                                              \
	"\t.reg .pred %p<2>;\n"                                                            \
	"\t.reg .b32 %r<2>;\n"                                                             \
	"\t.reg .b64 %rd<5>;\n"                                                            \
	"\tld.param.u32 %r1, [" name "_rounds];\n"                                         \
	"\tld.param.u64 %rd1, [" name "_ns];\n"                                            \
	"\tmov.u64 %rd2, %globaltimer;\n"                                                  \
	"$L_" name ":\n"                                                                   \
	"\tmov.u64 %rd3, %globaltimer;\n"                                                  \
	"\tsub.s64 %rd4, %rd3, %rd2;\n"                                                    \
	"\tsetp.lt.u64 %p1, %rd4, %rd1;\n"                                                 \
	"\t@%p1 nanosleep.u32 50000;\n"                                                    \
	"\t@%p1 bra $L_" name ";\n"                                                        \
	"$M_" name ":\n"                                                                   \
	"\tsetp.ne.u32 %p1, %r1, 0;\n"                                                     \
	"\t@%p1 sub.u32 %r1, %r1, 1;\n"                                                    \
	"\t@%p1 bra $M_" name ";\n"                                                        \
	"\tret;\n"                                                                         \
	"}\n"

static const char ptx[] = ".version 7.0\n"
			  ".target sm_70\n"
			  ".address_size 64\n" WORK("warm") WORK("a") WORK("b") WORK("c");

static const char *const names[] = {"warm", "a", "b", "c", NULL};
static const struct gpu_code code = {.names = names, .ptx = ptx, .capability = 70};

static struct gpu_stream streams[N_STREAMS];
static void *events[N_EVENTS], *device[N_STREAMS], *pinned[N_STREAMS];
static char *pageable[N_STREAMS];
static struct gpu_graph graphs[N_GRAPHS];
static int n_graphs, n_streams = N_STREAMS;

static int fail(const char *step)
{
	fprintf(stderr, "schedule: %s: what is that?\n", step);
	exit(2);
}

static void launch(unsigned int which, int stream, uint64_t us, uint32_t rounds, uint32_t blocks)
{
	const struct gpu_shape shape = {{blocks, 1, 1}, {1, 1, 1}, 0};
	uint64_t ns = us * 1000;
	void *arguments[] = {&ns, &rounds};

	gpu_launch(which, shape, arguments, streams[stream]);
}

static void copy(const char *what, int stream, size_t n_kb)
{
	size_t n_bytes = n_kb * 1024;

	if (n_kb > MAX_KB)
		fail(what);
	if (!strcmp(what, "in"))
		gpu_h2d_async(device[stream], pinned[stream], n_bytes, streams[stream]);
	else if (!strcmp(what, "out"))
		gpu_d2h_async(pinned[stream], device[stream], n_bytes, streams[stream]);
	else if (!strcmp(what, "page-in"))
		gpu_h2d_async(device[stream], pageable[stream], n_bytes, streams[stream]);
	else if (!strcmp(what, "page-out"))
		gpu_d2h_async(pageable[stream], device[stream], n_bytes, streams[stream]);
	else if (!strcmp(what, "set"))
		gpu_set_async(device[stream], 1, n_bytes, streams[stream]);
	else
		fail(what);
}

static void idle(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&time, &time))
		;
}

static void do_step(const char *step)
{
	char what[16];
	int first = 0, second = 0, rounds = 0, blocks = 1;
	int n = sscanf(step, "%15[^:]:%d:%d:%d:%d", what, &first, &second, &rounds, &blocks);

	if (n < 1 || first < 0 || second < 0 || rounds < 0 || blocks < 1 ||
	    (strcmp(what, "host") && first >= n_streams))
		fail(step);
	if (n >= 3 && !what[1] && what[0] >= 'a' && what[0] <= 'c')
		launch(1 + (unsigned int)(what[0] - 'a'), first, (uint64_t)second, (uint32_t)rounds,
		       (uint32_t)blocks);
	else if (n == 3 && !strcmp(what, "record") && second < n_streams)
		gpu_event_record(events[first], streams[second]);
	else if (n == 3 && !strcmp(what, "wait") && second < n_streams)
		gpu_stream_wait(streams[second], events[first]);
	else if (n == 3)
		copy(what, first, (size_t)second);
	else if (n == 2 && !strcmp(what, "sync"))
		gpu_stream_sync(streams[first]);
	else if (n == 2 && !strcmp(what, "event"))
		gpu_event_sync(events[first]);
	else if (n == 2 && !strcmp(what, "host"))
		idle(first);
	else if (n == 1 && !strcmp(what, "device"))
		gpu_device_sync();
	else
		fail(step);
}

/* Returns the index of the closing brace. */
static int do_graph(int argc, char **argv, int i, bool first_time, int which)
{
	int end = i + 1;

	if (which >= N_GRAPHS)
		fail("{");
	while (end < argc && strcmp(argv[end], "}"))
		end++;
	if (first_time) {
		gpu_capture_begin(streams[0]);
		for (i++; i < end; i++)
			do_step(argv[i]);
		graphs[which] = gpu_capture_end(streams[0]);
		n_graphs++;
	}
	gpu_graph_launch(graphs[which], streams[0]);
	return end;
}

static void open_all(void)
{
	gpu_open(&code);
	for (int i = 0; i < n_streams; i++) {
		streams[i] = gpu_stream_create(false);
		events[i] = gpu_event_create();
		device[i] = gpu_malloc(MAX_KB * 1024);
		pinned[i] = gpu_host_malloc(MAX_KB * 1024);
		pageable[i] = malloc(MAX_KB * 1024);
		memset(pinned[i], 1, MAX_KB * 1024);
		memset(pageable[i], 1, MAX_KB * 1024);
		/*
		 * Warms up each stream, so that no step is slow because it is the first. The
		 * operations do not overlap, so that no edit confuses them with steps.
		 */
		gpu_h2d_async(device[i], pinned[i], 1024, streams[i]);
		gpu_device_sync();
		launch(0, i, 10, 1, 1);
		gpu_device_sync();
	}
}

static void close_all(void)
{
	gpu_device_sync();
	for (int i = 0; i < n_graphs; i++)
		gpu_graph_destroy(graphs[i]);
	for (int i = 0; i < n_streams; i++) {
		gpu_stream_destroy(streams[i]);
		gpu_event_destroy(events[i]);
		gpu_free(device[i]);
		gpu_host_free(pinned[i]);
		free(pageable[i]);
	}
}

int main(int argc, char **argv)
{
	int n_times = 0;

	if (argc < 2 || sscanf(argv[1], "%d:%d", &n_times, &n_streams) < 1 || n_streams < 1 ||
	    n_streams > N_STREAMS)
		fail("N");
	open_all();
	for (int time = 0; time < n_times; time++) {
		int which = 0;

		for (int i = 2; i < argc; i++) {
			if (strcmp(argv[i], "{"))
				do_step(argv[i]);
			else
				i = do_graph(argc, argv, i, !time, which++);
		}
	}
	close_all();
	return gpu_close();
}
