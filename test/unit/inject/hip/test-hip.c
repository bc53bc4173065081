/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole shim, preloaded into hip-app.c over a fake libamdhip64, against a fake daemon. The
 * daemon receives exactly the program's calls and its work, with the facts of their arguments.
 */
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/hip_calls.h"
#include "test/unit/inject/fake-daemon.h"
#include "test/unit/inject/hip/fake-hip.h"

/* Set by meson: TEST_HIP_APP and TEST_LIBRARY are the paths of the files under test. */
static struct fake_daemon fake;
static uint64_t n_calls[TS_HIP_CALL_SIZE];
static struct ts_record_kernel kernel;
static struct ts_record_memcpy copies[2];
static struct ts_record_memset set;
static struct ts_record_memory memory[2];
static struct ts_record_object streams[3];
static struct ts_record_sync sync_record;
static struct ts_record_api failed;
static uint64_t n_copies, n_streams, n_failed;
static uint64_t n_kernels_of[2];
static struct ts_record_kernel kernels[512];
static uint64_t n_kernels, n_expecting;

static void note(const struct ts_record *record)
{
	const struct ts_record_api *api = (const void *)record;

	switch (record->type) {
	case TS_RECORD_API:
		ts_check_int(api->domain, TS_API_HIP);
		ts_check(api->cbid < TS_HIP_CALL_SIZE);
		n_calls[api->cbid]++;
		ts_check(api->end >= record->time);
		n_expecting += (record->flags & TS_API_EXPECTS_DEVICE) != 0;
		if (api->result) {
			failed = *api;
			n_failed++;
		}
		break;
	case TS_RECORD_KERNEL:
		kernel = *(const struct ts_record_kernel *)record;
		ts_check(kernel.place.device < 2);
		n_kernels_of[kernel.place.device]++;
		ts_check(kernel.end >= record->time);
		kernels[n_kernels++ % TS_ARRAY_LEN(kernels)] = kernel;
		break;
	case TS_RECORD_MEMCPY:
		copies[n_copies++ % 2] = *(const struct ts_record_memcpy *)record;
		break;
	case TS_RECORD_MEMSET:
		set = *(const struct ts_record_memset *)record;
		break;
	case TS_RECORD_ALLOC:
		memory[0] = *(const struct ts_record_memory *)record;
		break;
	case TS_RECORD_FREE:
		memory[1] = *(const struct ts_record_memory *)record;
		break;
	case TS_RECORD_STREAM:
		streams[n_streams++ % 3] = *(const struct ts_record_object *)record;
		break;
	case TS_RECORD_SYNC:
		sync_record = *(const struct ts_record_sync *)record;
		break;
	default:
		break;
	}
}

/* Runs the application to its end, and checks that it saw no difference. */
static void run_to(enum ts_session_state state, const char *what, const char *n)
{
	pid_t pid;
	int status;

	fake_daemon_listen(&fake);
	fake.on_record = note;
	fflush(NULL);
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		setenv("LD_PRELOAD", TEST_LIBRARY, 1);
		setenv("TRACESMITH_SOCKET", fake.path, 1);
		execl(TEST_HIP_APP, TEST_HIP_APP, what, n, (char *)NULL);
		_exit(127);
	}
	fake_daemon_accept(&fake);
	fake_daemon_serve(&fake);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	ts_check(fake.got_bye);
	ts_check_int(fake.control->state, state);
}

static void run(const char *what, const char *n)
{
	run_to(TS_SESSION_ENDED, what, n);
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		ts_check_int(fake.lost[i], 0);
}

TS_TEST(launches_at_the_end)
{
	run("launches", "500");
	ts_check_int(n_calls[TS_HIP_CALL_hipLaunchKernel], 500);
	ts_check_int(fake.n_records[TS_RECORD_API], 500);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 500);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	ts_check_int(fake.n_with_stack, 500);
	ts_check_int(fake.n_definitions[TS_DEF_DEVICE], 2);
	ts_check_int(kernel.grid[0], 3);
	ts_check_int(kernel.grid[1], 2);
	ts_check_int(kernel.block[0], 256);
	ts_check_int(kernel.dynamic_shared_bytes, 1024);
	ts_check_int(kernel.place.device, 0);
	ts_check(kernel.place.stream > 0 && kernel.name);
	fake_daemon_close(&fake);
}

TS_TEST(every_kind_of_call)
{
	run("kinds", "10");
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 10);
	ts_check_int(n_calls[TS_HIP_CALL_hipLaunchKernel], 11);
	/* The launch and the allocation that failed. */
	ts_check_int(n_failed, 2);
	ts_check_int(failed.cbid, TS_HIP_CALL_hipLaunchKernel);
	ts_check_int(failed.result, 1);
	ts_check_int(kernel.place.device, 1);
	ts_check_int(fake.n_records[TS_RECORD_MEMCPY], 2);
	ts_check_int(copies[0].copy_kind, TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	ts_check_int(copies[0].src_device, TS_NO_DEVICE);
	ts_check_int(copies[0].dst_device, 1);
	ts_check_int(copies[1].copy_kind, TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
	ts_check_int(copies[1].dst_device, TS_NO_DEVICE);
	ts_check_int(copies[1].bytes, 64);
	ts_check_int(fake.n_records[TS_RECORD_MEMSET], 1);
	ts_check_int(set.bytes, 32);
	ts_check_int(set.value, 7);
	ts_check_int(set.async, 1);
	/* The kernels and the set ran in the created stream, the copies in the null stream. */
	ts_check_int(n_streams, 3);
	ts_check_int(streams[0].action, TS_OBJECT_SEEN);
	ts_check_int(streams[0].object_flags, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
	ts_check_int(streams[1].action, TS_OBJECT_CREATED);
	ts_check_int(streams[2].action, TS_OBJECT_DESTROYED);
	ts_check_int(streams[1].object_flags, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	ts_check_int(streams[1].stream, streams[2].stream);
	ts_check_int(streams[2].device, 1);
	ts_check_int(kernel.place.stream, streams[1].stream);
	ts_check_int(set.place.stream, streams[1].stream);
	ts_check_int(copies[0].place.stream, streams[0].stream);
	/* The allocation that succeeded, and its free; the failed one makes no row. */
	ts_check_int(fake.n_records[TS_RECORD_ALLOC], 1);
	ts_check_int(fake.n_records[TS_RECORD_FREE], 1);
	ts_check_int(memory[0].bytes, 64);
	ts_check(memory[0].address == memory[1].address);
	ts_check_int(fake.n_records[TS_RECORD_SYNC], 1);
	ts_check_int(sync_record.sync_type,
		     TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
	ts_check_int(fake.n_records[TS_RECORD_CONTEXT], 2);
	fake_daemon_close(&fake);
}

/* The shim looks at the clock again after a second. Later times are lost. */
TS_TEST(times_are_checked)
{
	run_to(TS_SESSION_ENDED, "ahead", "0");
	ts_check_int(n_calls[TS_HIP_CALL_hipLaunchKernel], 4);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 3);
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		ts_check_int(fake.lost[i], i == TS_LOSS_BAD_TIME);
	fake_daemon_close(&fake);
}

TS_TEST(eight_threads)
{
	run("threads", "300");
	ts_check_int(fake.n_records[TS_RECORD_API], 8 * 300);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 8 * 300);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	fake_daemon_close(&fake);
}

TS_TEST(forked_child_passes_through)
{
	run("fork", "20");
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 40);
	ts_check_int(n_calls[TS_HIP_CALL_hipMalloc], 0);
	fake_daemon_close(&fake);
}

/* A runtime whose record of a call is not known reports no work: pairs of events time it. */
static void run_untraced(const char *what, const char *n, uint64_t n_untimed)
{
	setenv("FAKE_HIP_VERSION", "90000000", 1);
	run_to(TS_SESSION_ENDED, what, n);
	ts_check_int(fake.control->hip_version, 90000000);
	ts_check_int(fake.control->interfaces, TS_INTERFACE_HIP_TABLES | TS_INTERFACE_HIP_EVENTS);
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		ts_check_int(fake.lost[i], i == TS_LOSS_UNTIMED ? n_untimed : 0);
}

TS_TEST(events_time_launches)
{
	const char *path = "fake-hip-truth";
	struct fake_hip_kernel truth[20];
	uint64_t n_exact = 0, error;
	FILE *file;

	unlink(path);
	setenv("FAKE_HIP_TRUTH", path, 1);
	run_untraced("timed", "10", 0);
	file = fopen(path, "r");
	ts_check(file);
	ts_check_int(fread(truth, sizeof(*truth), 20, file), 20);
	fclose(file);
	unlink(path);
	ts_check_int(n_kernels, 20);
	ts_check_int(fake.op_ids_of_api, fake.op_ids_of_kernel);
	ts_check(kernel.name && kernel.grid[0] == 3);
	/* A float's error, and that of the runtime's difference of clocks. */
	error = fake.control->hip_time_error_ns + 2000;
	ts_check(error > 2000);
	for (unsigned i = 0; i < 20; i++) {
		const struct ts_record_kernel *row = &kernels[i];

		/* The pair encloses the kernel. */
		ts_check(row->record.time <= truth[i].start + error);
		ts_check(row->end + error >= truth[i].end);
		/* Between kernels that follow each other, nothing lies but events. */
		if (!truth[i].is_behind || (i + 1 < 20 && !truth[i + 1].is_behind))
			continue;
		ts_check(row->record.time + error >= truth[i].start);
		ts_check(row->end <= truth[i].end + error);
		n_exact++;
	}
	ts_check(n_exact > 0);
	fake_daemon_close(&fake);
}

/* Five of the launches in a second have times; the trace has the number of the others. */
TS_TEST(events_time_a_sample)
{
	setenv("TRACESMITH_TIMED_LAUNCHES", "5", 1);
	setenv("FAKE_HIP_VERSION", "90000000", 1);
	run_to(TS_SESSION_ENDED, "launches", "400");
	ts_check_int(fake.n_records[TS_RECORD_API], 400);
	ts_check(n_kernels >= 5 && n_kernels < 200);
	ts_check_int(fake.lost[TS_LOSS_UNTIMED], 400 - n_kernels);
	ts_check_int(n_expecting, n_kernels);
	fake_daemon_close(&fake);
}

TS_TEST(events_switched_off)
{
	setenv("TRACESMITH_TIMED_LAUNCHES", "0", 1);
	setenv("FAKE_HIP_VERSION", "90000000", 1);
	run_to(TS_SESSION_ENDED, "launches", "20");
	ts_check_int(fake.n_records[TS_RECORD_API], 20);
	ts_check_int(n_kernels, 0);
	ts_check_int(n_expecting, 0);
	ts_check_int(fake.lost[TS_LOSS_UNTIMED], 20);
	ts_check_int(fake.control->interfaces, TS_INTERFACE_HIP_TABLES);
	fake_daemon_close(&fake);
}

TS_TEST(events_keep_every_kind_of_call)
{
	/* The application has not read the error of its call before the first copy. */
	run_untraced("kinds", "10", 1);
	ts_check_int(n_kernels, 10);
	ts_check_int(n_failed, 2);
	ts_check_int(fake.n_records[TS_RECORD_MEMCPY], 1);
	ts_check_int(copies[0].copy_kind, TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
	ts_check_int(copies[0].bytes, 64);
	ts_check_int(fake.n_records[TS_RECORD_MEMSET], 1);
	ts_check_int(set.bytes, 32);
	ts_check_int(n_streams, 3);
	ts_check_int(kernel.place.stream, streams[0].stream);
	ts_check_int(kernel.place.device, 1);
	fake_daemon_close(&fake);
}

/* The shim's own calls are not recorded, and change no order of the application's streams. */
TS_TEST(events_keep_the_order_of_streams)
{
	run_untraced("streams", "10", 10);
	ts_check_int(fake.n_records[TS_RECORD_API], 30 + 3);
	ts_check_int(fake.n_records[TS_RECORD_EVENT], 0);
	ts_check_int(n_kernels, 20);
	fake_daemon_close(&fake);
}

TS_TEST(events_stay_out_of_stream_captures)
{
	run_untraced("captured", "10", 0);
	ts_check_int(n_calls[TS_HIP_CALL_hipLaunchKernel], 30);
	ts_check_int(n_kernels, 20);
	fake_daemon_close(&fake);
}

TS_TEST(events_in_a_forked_child)
{
	run_untraced("fork", "20", 0);
	ts_check_int(n_kernels, 40);
	ts_check_int(n_calls[TS_HIP_CALL_hipMalloc], 0);
	fake_daemon_close(&fake);
}

/* A kernel outlasts the process. After the runtime's exit handler, nothing asks for its pair. */
TS_TEST(events_of_work_without_an_end)
{
	setenv("FAKE_HIP_ENDLESS", "1", 1);
	setenv("FAKE_HIP_VERSION", "90000000", 1);
	run_to(TS_SESSION_ENDED, "launches", "1");
	ts_check_int(n_kernels, 0);
	ts_check_int(fake.lost[TS_LOSS_UNFINISHED], 1);
	fake_daemon_close(&fake);
}

TS_TEST(events_of_eight_threads)
{
	setenv("FAKE_HIP_VERSION", "90000000", 1);
	run_to(TS_SESSION_ENDED, "threads", "40");
	ts_check_int(fake.n_records[TS_RECORD_API], 8 * 40);
	ts_check_int(n_kernels + fake.lost[TS_LOSS_UNTIMED], 8 * 40);
	ts_check(n_kernels > 0);
	ts_check_int(n_expecting, n_kernels);
	fake_daemon_close(&fake);
}

/* The calls after one that longjmp() left are recorded; that one is counted. */
TS_TEST(call_left_by_longjmp)
{
	run_to(TS_SESSION_ENDED, "jump", "20");
	ts_check_int(n_calls[TS_HIP_CALL_hipSetDevice], 0);
	ts_check_int(n_calls[TS_HIP_CALL_hipLaunchKernel], 20);
	ts_check_int(fake.n_records[TS_RECORD_KERNEL], 20);
	ts_check_int(fake.lost[TS_LOSS_UNFINISHED], 1);
	fake_daemon_close(&fake);
}

TS_TEST(contexts_choose_the_device)
{
	run("contexts", "7");
	ts_check_int(n_kernels_of[0], 1);
	ts_check_int(n_kernels_of[1], 7);
	fake_daemon_close(&fake);
}

/* The second stream of a handle keeps its id, and the second allocation of an address its size. */
TS_TEST(handles_are_reused_at_once)
{
	n_streams = 0;
	run("reused", "5");
	ts_check_int(n_streams, 3);
	ts_check_int(kernel.place.stream, 2);
	ts_check_int(memory[1].bytes, 48);
	fake_daemon_close(&fake);
}

/* Without the flush thread nothing is recorded, and the trace gives the reason. */
TS_TEST(no_flush_thread)
{
	run_to(TS_SESSION_REFUSED, "no-threads", "5");
	ts_check_int(fake.n_records[TS_RECORD_API], 0);
	ts_check_int(fake.control->reason, TS_EMPTY_NO_MEMORY);
	ts_check(strstr(fake.control->reason_text, "flush thread"));
	fake_daemon_close(&fake);
}

/* The stream makes a record of its own at its first use: not inside that of the wait. */
TS_TEST(wait_for_an_idle_stream)
{
	run("idle-stream", "0");
	ts_check_int(fake.n_records[TS_RECORD_API], 1);
	ts_check_int(fake.n_records[TS_RECORD_SYNC], 1);
	ts_check_int(n_streams, 1);
	ts_check_int(sync_record.stream, streams[0].stream);
	fake_daemon_close(&fake);
}

TS_TEST(no_work)
{
	run("nothing", "0");
	ts_check_int(fake.n_records[TS_RECORD_API], 0);
	fake_daemon_close(&fake);
}
