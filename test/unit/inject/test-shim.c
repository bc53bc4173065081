/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the whole shim, preloaded into app.c over the fake libcupti, against a fake daemon. The
 * daemon receives exactly the program's launches, however the program ends. The program ends as it
 * would without the shim.
 */
#include <fcntl.h>

#include "test/unit/inject/fake-daemon.h"

/* Set by meson: APP, LIBRARY, CUPTI and SLOW_SEND are the paths of the files under test. */
static struct fake_daemon fake;
static struct ts_record_event last_event;
static struct ts_record_object last_object;
/* the application's standard input; -1: the application inherits the test's */
static int app_input = -1;
/* true: CUDA_INJECTION64_PATH loads the shim, not LD_PRELOAD */
static bool only_injected;
/* true: slow-send.c delays each message of the shim to the daemon */
static bool slow_send;

static pid_t start(const char *what, const char *n, const char *holder)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	ts_check(pid >= 0);
	if (pid)
		return pid;
	if (!only_injected)
		setenv("LD_PRELOAD", slow_send ? TEST_SLOW_SEND ":" TEST_LIBRARY : TEST_LIBRARY, 1);
	if (app_input >= 0)
		dup2(app_input, 0);
	setenv("FAKE_CUPTI", TEST_CUPTI, 1);
	setenv("TRACESMITH_SOCKET", fake.path, 1);
	unsetenv("CUDA_INJECTION64_PATH");
	if (only_injected)
		setenv("CUDA_INJECTION64_PATH", TEST_LIBRARY, 1);
	if (holder)
		setenv("FAKE_CUPTI_HOLDER", holder, 1);
	execl(TEST_APP, TEST_APP, what, n, (char *)NULL);
	_exit(127);
}

static int finish(pid_t pid)
{
	int status;

	ts_check_int(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* Runs the application to its end. Returns its exit status. */
static int run(const char *what, const char *n)
{
	pid_t pid;
	int status;

	fake_daemon_listen(&fake);
	pid = start(what, n, NULL);
	fake_daemon_accept(&fake);
	fake_daemon_serve(&fake);
	status = finish(pid);
	return status;
}

static void check_all(uint64_t n)
{
	ts_check_int(fake.n_records[TS_RECORD_API] + fake.lost[TS_LOSS_RING_FULL], n);
	ts_check_int(fake.lost[TS_LOSS_RING_FULL], 0);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], n);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	ts_check_int(fake.lost[TS_LOSS_REENTERED], 0);
	ts_check(fake.got_bye);
	ts_check_int(fake.control->state, TS_SESSION_ENDED);
}

/*
 * 16 threads annotate at once. One of them begins the session, and meanwhile the shim adds CUPTI to
 * the session.
 */
TS_TEST(annotations_begin_a_session)
{
	const uint64_t n = 16 * 200;

	ts_check_int(run("annotate", "200"), 0);
	ts_check_int(fake.n_records[TS_RECORD_MARK], n);
	ts_check_int(fake.n_records[TS_RECORD_RANGE_BEGIN], 2 * n);
	ts_check_int(fake.n_records[TS_RECORD_RANGE], 2 * n);
	ts_check(fake.n_records[TS_RECORD_COUNTER] >= n);
	/* The launches after the application paused the recording are not in the ring. */
	ts_check_int(fake.n_records[TS_RECORD_API], 100);
	ts_check_int(fake.n_records[TS_RECORD_PAUSE], 2);
	ts_check_int(fake.lost[TS_LOSS_BAD_ANNOTATION], 0);
	ts_check_int(fake.lost[TS_LOSS_RING_FULL], 0);
	ts_check_int(fake.lost[TS_LOSS_NO_SHARD], 0);
	ts_check(fake.got_bye);
	ts_check_int(fake.control->state, TS_SESSION_ENDED);
	fake_daemon_close(&fake);
}

TS_TEST(every_launch_arrives)
{
	ts_check_int(run("launch", "1000"), 0);
	check_all(1000);
	ts_check_int(fake.n_with_stack, 1000);
	ts_check(fake.n_definitions[TS_DEF_STACK] >= 1 && fake.n_definitions[TS_DEF_STACK] < 10);
	ts_check(fake.n_definitions[TS_DEF_MODULE] >= 3);
	ts_check(fake.n_definitions[TS_DEF_THREAD] >= 1);
	ts_check_str(fake.control->program, "test-inject-app");
	fake_daemon_close(&fake);
}

/*
 * The shim's threads are silent while CUPTI's destructor runs, because after DONE the shim must not
 * detach from a half-dismantled CUPTI.
 */
TS_TEST(nothing_is_called_once_it_is_torn_down)
{
	setenv("FAKE_CUPTI_SLOW_END", "600000", 1);
	ts_check_int(run("launch", "100"), 0);
	check_all(100);
	fake_daemon_close(&fake);
}

/*
 * Launches in the application's last exit handlers are recorded by a flush that is not forced; the
 * forced flush comes only once.
 */
TS_TEST(launches_after_our_own_handler)
{
	ts_check_int(run("late", "100"), 0);
	check_all(150);
	fake_daemon_close(&fake);
}

TS_TEST(injected_by_the_driver_alone)
{
	only_injected = true;
	ts_check_int(run("launch", "100"), 0);
	check_all(100);
	fake_daemon_close(&fake);
	/* The library's destructor may run after the driver's, so it flushes nothing. */
	ts_check_int(run("late", "100"), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 150);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 100);
	fake_daemon_close(&fake);
}

/*
 * CUPTI ends itself after a fatal error. The application and the shim continue, and no longer call
 * CUPTI.
 */
TS_TEST(cupti_ends_itself)
{
	ts_check_int(run("fatal", "100"), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 100);
	ts_check_int(fake.control->state, TS_SESSION_REFUSED);
	ts_check(strstr(fake.control->reason_text, "out of cheese"));
	fake_daemon_close(&fake);
}

static void check_yielded(const char *what)
{
	ts_check_int(run(what, "100"), 0);
	check_all(100);
	ts_check_int(fake.n_records[TS_RECORD_YIELD], 1);
	ts_check_int(fake.lost[TS_LOSS_LATE], 0);
	fake_daemon_close(&fake);
}

TS_TEST(yields_to_the_applications_profiler)
{
	check_yielded("profiler");
}

/*
 * The shim also yields to a profiler that ignores the result of cuptiSubscribe() and replaces the
 * shim's buffers.
 */
TS_TEST(yields_to_a_stubborn_profiler)
{
	check_yielded("stubborn-profiler");
}

/*
 * The shim subscribes once the application's profiler is done with CUPTI, in the order that CUPTI
 * wants.
 */
TS_TEST(waits_for_the_applications_profiler)
{
	ts_check_int(run("profiler-first", "100"), 0);
	check_all(100);
	ts_check_int(fake.n_records[TS_RECORD_YIELD], 2);
	ts_check_int(fake.control->reason, TS_EMPTY_NONE);
	fake_daemon_close(&fake);
}

TS_TEST(from_four_threads)
{
	ts_check_int(run("threads", "5000"), 0);
	check_all(20000);
	fake_daemon_close(&fake);
}

TS_TEST(from_more_threads_than_shards)
{
	int ends[2];
	char byte;
	pid_t pid;

	fake_daemon_listen(&fake);
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	app_input = ends[0];
	pid = start("many-threads", "20", NULL);
	fake_daemon_accept(&fake);
	for (int i = 0; i < 20; i++) {
		ts_check_int(read(ends[1], &byte, 1), 1);
		fake_daemon_drain(&fake);
		ts_check_int(write(ends[1], "", 1), 1);
	}
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	close(ends[0]);
	close(ends[1]);
	ts_check_int(fake.n_records[TS_RECORD_API] + fake.lost[TS_LOSS_NO_SHARD], 6400);
	ts_check_int(fake.lost[TS_LOSS_NO_SHARD], 0);
	ts_check(fake.control->n_claimed < 64);
	fake_daemon_close(&fake);
}

TS_TEST(ends_by__exit)
{
	ts_check_int(run("_exit", "100"), 5);
	check_all(100);
	fake_daemon_close(&fake);
}

/* The process exits only after its BYE is sent, even if sending takes long. */
TS_TEST(ends_when_the_farewell_is_late)
{
	slow_send = true;
	ts_check_int(run("_exit", "100"), 5);
	check_all(100);
	fake_daemon_close(&fake);
}

TS_TEST(ends_by_quick_exit)
{
	ts_check_int(run("quick_exit", "100"), 6);
	check_all(100);
	fake_daemon_close(&fake);
}

TS_TEST(ends_in_a_signal_handler)
{
	ts_check_int(run("signal", "100"), 7);
	check_all(100);
	fake_daemon_close(&fake);
}

TS_TEST(ends_inside_a_call)
{
	ts_check_int(run("exit-inside-call", "100"), 8);
	check_all(100);
	fake_daemon_close(&fake);
}

TS_TEST(killed)
{
	ts_check_int(run("kill", "100"), 256 + SIGKILL);
	ts_check(!fake.got_bye);
	/* All committed records are there; records that CUPTI held are lost. */
	ts_check_int(fake.n_records[TS_RECORD_API], 100);
	fake_daemon_close(&fake);
}

TS_TEST(forked_children_leave_no_trace)
{
	ts_check_int(run("fork", "50"), 0);
	check_all(100);
	fake_daemon_close(&fake);
}

/*
 * The shim has no descriptor, not even one that libunwind would open. A frame that libunwind does
 * not know is no obstacle.
 */
TS_TEST(no_descriptor_of_ours)
{
	ts_check_int(run("descriptors", "0"), 0);
	ts_check_int(fake.n_with_stack, 2);
	fake_daemon_close(&fake);
}

TS_TEST(nothing_is_flushed_without_work)
{
	ts_check_int(run("idle", "0"), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 0);
	ts_check(fake.got_bye);
	fake_daemon_close(&fake);
}

static void on_stream_records(const struct ts_record *record)
{
	if (record->type == TS_RECORD_EVENT || record->type == TS_RECORD_STREAM_WAIT)
		memcpy(&last_event, record, sizeof(last_event));
	if (record->type == TS_RECORD_STREAM &&
	    ((const struct ts_record_object *)record)->action == TS_OBJECT_CREATED)
		memcpy(&last_object, record, sizeof(last_object));
}

TS_TEST(streams_events_and_waits)
{
	pid_t pid;

	fake_daemon_listen(&fake);
	fake.on_record = on_stream_records;
	pid = start("streams", "0", NULL);
	fake_daemon_accept(&fake);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 5);
	ts_check_int(fake.n_records[TS_RECORD_STREAM], 2);
	/* The failed call makes no event. */
	ts_check_int(fake.n_records[TS_RECORD_EVENT], 1);
	ts_check_int(fake.n_records[TS_RECORD_STREAM_WAIT], 1);
	ts_check_int(last_event.stream, 7);
	ts_check_int(last_event.stream_handle, 0);
	ts_check_int(last_object.priority, -2);
	ts_check_int(last_object.object_flags, 2);
	ts_check_int(last_object.context, 1);
	fake_daemon_close(&fake);
}

/* The shim's two threads do not inherit the application's scheduling. */
TS_TEST(threads_of_ours)
{
	ts_check_int(run("batch", "0"), 0);
	fake_daemon_close(&fake);
}

TS_TEST(setting_the_device_is_no_work)
{
	ts_check_int(run("set-device", "50"), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 50);
	ts_check_int(fake.n_with_stack, 0);
	fake_daemon_close(&fake);
}

TS_TEST(missed_ways_out)
{
	ts_check_int(run("missed-exits", "50"), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 101);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 100);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	ts_check_int(fake.lost[TS_LOSS_UNFINISHED], 2);
	fake_daemon_close(&fake);
}

/* Calls in a pause are not recorded; their effect on later calls is kept. */
TS_TEST(a_pause)
{
	uint32_t command;
	int ends[2];
	char byte;
	pid_t pid;

	fake_daemon_listen(&fake);
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fake.on_record = on_stream_records;
	app_input = ends[0];
	pid = start("pause", "0", NULL);
	fake_daemon_accept(&fake);
	while (!fake.n_records[TS_RECORD_API])
		fake_daemon_drain(&fake);
	command = fake.control->command;
	__atomic_store_n(&fake.control->command, command & ~TS_COMMAND_RECORD, __ATOMIC_SEQ_CST);
	ts_check_int(write(ends[1], "1", 1), 1);
	/* The application writes this byte when it has made all its calls in the pause. */
	ts_check_int(read(ends[1], &byte, 1), 1);
	__atomic_store_n(&fake.control->command, command, __ATOMIC_SEQ_CST);
	ts_check_int(write(ends[1], "2", 1), 1);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	ts_check_int(fake.n_records[TS_RECORD_API], 4);
	ts_check_int(fake.n_records[TS_RECORD_STREAM], 0);
	ts_check_int(fake.n_records[TS_RECORD_EVENT], 1);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	ts_check(last_event.stream && last_event.stream != TS_NO_DEVICE);
	close(ends[0]);
	close(ends[1]);
	fake_daemon_close(&fake);
}

TS_TEST(another_tool_holds_cupti)
{
	pid_t pid;

	fake_daemon_listen(&fake);
	pid = start("launch", "10", "CUPTI for another tool");
	fake_daemon_accept(&fake);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	ts_check_int(fake.control->state, TS_SESSION_REFUSED);
	ts_check_int(fake.control->reason, TS_EMPTY_CUPTI_HELD);
	ts_check(strstr(fake.control->reason_text, "another tool"));
	ts_check_int(fake.n_records[TS_RECORD_API], 0);
	fake_daemon_close(&fake);
}

/*
 * After STOP the shim detaches. The application sees that CUPTI has no subscriber, and runs on to
 * its end.
 */
TS_TEST(stopped_by_the_daemon)
{
	pid_t pid;

	fake_daemon_listen(&fake);
	pid = start("paced", "0", NULL);
	fake_daemon_accept(&fake);
	while (fake.n_records[TS_RECORD_API] < 5) {
		fake_daemon_drain(&fake);
		usleep(1000);
	}
	fake_daemon_say(&fake, TS_HANDSHAKE_STOP);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	/* The records that CUPTI still held were flushed: each call has its kernel. */
	ts_check(fake.n_records[TS_RECORD_KERNEL] >= fake.n_records[TS_RECORD_API]);
	fake_daemon_close(&fake);
}

/* The daemon dies, and another daemon continues on the same memory where the first one stopped. */
TS_TEST(a_new_daemon_goes_on)
{
	uint64_t before;
	pid_t pid;

	fake_daemon_listen(&fake);
	pid = start("paced", "0", NULL);
	fake_daemon_accept(&fake);
	while (fake.n_records[TS_RECORD_API] < 5) {
		fake_daemon_drain(&fake);
		usleep(1000);
	}
	before = fake.n_records[TS_RECORD_API];
	close(fake.socket);
	fake_daemon_accept(&fake);
	while (fake.n_records[TS_RECORD_API] < before + 50) {
		fake_daemon_drain(&fake);
		usleep(1000);
	}
	fake_daemon_say(&fake, TS_HANDSHAKE_STOP);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	ts_check_int(fake.lost[TS_LOSS_RING_FULL], 0);
	fake_daemon_close(&fake);
}

/* The daemon requests a flush; the flush is not due by time. */
TS_TEST(flush_on_request)
{
	pid_t pid;
	int i;

	fake_daemon_listen(&fake);
	pid = start("paced", "0", NULL);
	fake_daemon_accept(&fake);
	__atomic_store_n(&fake.control->flush_request, 41, __ATOMIC_RELEASE);
	for (i = 0; i < 60000; i++) {
		fake_daemon_drain(&fake);
		if (__atomic_load_n(&fake.control->flushes_done, __ATOMIC_ACQUIRE) == 41)
			break;
		usleep(1000);
	}
	ts_check(i < 60000);
	fake_daemon_say(&fake, TS_HANDSHAKE_STOP);
	fake_daemon_serve(&fake);
	ts_check_int(finish(pid), 0);
	fake_daemon_close(&fake);
}

/*
 * A program that locks all its memory pays for the session's used memory, not for the session's
 * maximum size.
 */
TS_TEST(locked_memory_is_what_was_used)
{
	static const char *const whats[] = {"locked-before", "locked-after", "locked-limited"};

	/*
	 * CUPTI allocates on the flush thread, and so does the fake. glibc reserves 64 MiB for each
	 * thread that allocates.
	 */
	setenv("MALLOC_ARENA_MAX", "1", 1);
	for (size_t i = 0; i < sizeof(whats) / sizeof(*whats); i++) {
		ts_check_int(run(whats[i], "1000"), 0);
		check_all(2000);
		ts_check_int(fake.lost[TS_LOSS_NO_SHARD], 0);
		fake_daemon_close(&fake);
	}
}
