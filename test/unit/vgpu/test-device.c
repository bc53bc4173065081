// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the device: streams in order, the legacy default stream, events by version, host functions,
 * engines and multiprocessors by the cost model. Also the limit of pending work, faults, and
 * forking.
 */
#include <pthread.h>
#include <time.h>

#include "replay/vgpu/vgpu.h"
#include "test/unit/harness.h"

#define LOG_MAX 8192

struct log {
	pthread_mutex_t lock;
	struct ts_vgpu_done done[LOG_MAX];
	size_t n;
	size_t n_started;
};

static void on_started(void *userdata, const struct ts_vgpu_done *op)
{
	struct log *log = userdata;

	pthread_mutex_lock(&log->lock);
	log->n_started++;
	pthread_mutex_unlock(&log->lock);
}

static void on_done(void *userdata, const struct ts_vgpu_done *op)
{
	struct log *log = userdata;

	pthread_mutex_lock(&log->lock);
	if (log->n < LOG_MAX)
		log->done[log->n] = *op;
	log->n++;
	pthread_mutex_unlock(&log->lock);
}

static struct ts_vgpu *the_machine;
static struct log the_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A kernel's first parameter is its duration, the second its error. */
struct params {
	uint64_t duration_ns;
	int64_t error;
};

static int run(void *userdata, const struct ts_vgpu_kernel_run *r,
	       struct ts_vgpu_kernel_work *ret_work)
{
	const struct params *p = r->params;

	if (r->params_bytes < sizeof(*p))
		return 0;
	ret_work->least_ns = p->duration_ns;
	return (int)p->error;
}

static struct ts_vgpu *machine(const char *text)
{
	static const struct ts_vgpu_observer observer = {&the_log, on_started, on_done};
	static const struct ts_vgpu_executor executor = {.run = run};
	struct ts_vgpu_spec spec;
	struct ts_vgpu *vgpu;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse(text, &spec, message, sizeof(message)), 0);
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	ts_vgpu_set_observer(vgpu, &observer);
	ts_vgpu_set_executor(vgpu, &executor);
	return vgpu;
}

static struct ts_vgpu_context *context(struct ts_vgpu *vgpu, uint32_t device)
{
	struct ts_vgpu_context *c;

	ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(vgpu, device), &c), 0);
	return c;
}

static struct ts_vgpu_stream *stream(struct ts_vgpu_context *c, uint32_t flags)
{
	struct ts_vgpu_stream *s;

	ts_check_int(ts_vgpu_stream_new(c, flags, 0, &s), 0);
	return s;
}

static int try_kernel(struct ts_vgpu_stream *s, uint64_t tag, uint64_t duration_ns, uint32_t blocks,
		      int error)
{
	struct params p = {duration_ns, error};
	struct ts_vgpu_launch launch = {
		.grid = {blocks, 1, 1},
		.block = {32, 1, 1},
		.params = &p,
		.params_bytes = sizeof(p),
		.tag = tag,
	};

	return ts_vgpu_launch(s, &launch);
}

static void kernel(struct ts_vgpu_stream *s, uint64_t tag, uint64_t duration_ns)
{
	ts_check_int(try_kernel(s, tag, duration_ns, 1, 0), 0);
}

static const struct ts_vgpu_done *op(uint64_t tag)
{
	for (size_t i = 0; i < the_log.n && i < LOG_MAX; i++)
		if (the_log.done[i].tag == tag)
			return &the_log.done[i];
	fprintf(stderr, "operation %" PRIu64 " was not reported\n", tag);
	exit(1);
}

static int copy(struct ts_vgpu_stream *s, uint64_t dst, uint64_t src, size_t bytes, bool async,
		uint64_t tag)
{
	struct ts_vgpu_copy c = {
		.src = src,
		.dst = dst,
		.width = bytes,
		.height = 1,
		.depth = 1,
		.async = async,
		.tag = tag,
	};

	return ts_vgpu_copy(s, &c);
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void block(void *arg)
{
	struct timespec ts = {.tv_nsec = 100000};

	while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
		nanosleep(&ts, NULL);
}

/*
 * Holds streams back until a test has queued all its operations, so that the result does not depend
 * on the speed of the test itself.
 */
struct gate {
	struct ts_vgpu_stream *stream;
	struct ts_vgpu_event *event;
	int go;
};

static void gate_close(struct gate *g, struct ts_vgpu *vgpu, struct ts_vgpu_context *c)
{
	*g = (struct gate){.stream = stream(c, TS_VGPU_STREAM_NON_BLOCKING)};
	ts_check_int(ts_vgpu_event_new(vgpu, &g->event), 0);
	ts_check_int(ts_vgpu_host_function(g->stream, block, &g->go, 0), 0);
	ts_check_int(ts_vgpu_event_record(g->event, g->stream, 0), 0);
}

static void gate_hold(struct gate *g, struct ts_vgpu_stream *s)
{
	ts_check_int(ts_vgpu_stream_wait(s, g->event, 0), 0);
}

static void gate_open(struct gate *g)
{
	ts_vgpu_event_free(g->event);
	__atomic_store_n(&g->go, 1, __ATOMIC_RELEASE);
}

TS_TEST(specs_are_read_or_refused_by_name)
{
	static const char *const bad[] = {"h100",
					  "h200:0",
					  "h200:17",
					  "h200:",
					  "h200:2x",
					  "h200:-1",
					  ",",
					  "small:4,",
					  ":2",
					  "h200:9,small:8",
					  "small,clock=",
					  "clock=hosts",
					  "clock=host,",
					  "clock:2",
					  "small,link=",
					  "link=1GB",
					  "link=1e99GB/s",
					  "link=-1GB/s",
					  "link=nanGB/s",
					  "mhz=0",
					  "call-time=1",
					  "call-time=2s",
					  "h2d-engines=9",
					  "multiprocessors=0",
					  "multiprocessors=1025",
					  "multiprocessors= 3",
					  "multiprocessors=1.5",
					  "multiprocessors=0x10",
					  "cores=3",
					  "kernels=fast",
					  "kernels=timed,clock=host",
					  "=",
					  "small,,link=1GB/s",
					  "link=00000000000000000000000000000001GB/s"};
	struct ts_vgpu_spec spec;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse(NULL, &spec, message, sizeof(message)), 0);
	ts_check_int(spec.n_devices, 1);
	ts_check_str(spec.shapes[0].key, "h200");
	ts_check_int(ts_vgpu_spec_parse("small:3,h200", &spec, message, sizeof(message)), 0);
	ts_check_int(spec.n_devices, 4);
	ts_check_str(spec.shapes[2].key, "small");
	ts_check_str(spec.shapes[3].key, "h200");
	ts_check(!spec.host_clock);
	ts_check_int(ts_vgpu_spec_parse("small:2,clock=host,ideal", &spec, message,
					sizeof(message)),
		     0);
	ts_check(spec.host_clock && spec.n_devices == 3);
	ts_check_int(ts_vgpu_spec_parse("mi300:2,hip=6.1", &spec, message, sizeof(message)), 0);
	ts_check(spec.hip_major == 6 && spec.hip_minor == 1 && spec.n_devices == 2);
	ts_check_int(ts_vgpu_spec_parse("hip=6.11", &spec, message, sizeof(message)), -EINVAL);
	ts_check(strstr(message, "'hip=6.11'"));
	ts_check_int(ts_vgpu_spec_parse("clock=model", &spec, message, sizeof(message)), 0);
	ts_check(!spec.host_clock && spec.n_devices == 1);
	ts_check_int(ts_vgpu_spec_parse("kernels=timed,small", &spec, message, sizeof(message)), 0);
	ts_check(spec.timed_kernels && spec.n_devices == 1);
	ts_check_str(spec.shapes[0].name, "TraceSmith Virtual GPU (small shape, timed kernels)");
	ts_check_int(ts_vgpu_spec_parse("kernels=computed", &spec, message, sizeof(message)), 0);
	ts_check(!spec.timed_kernels);
	/* Settings apply to all devices, wherever they are in the text. */
	ts_check_int(ts_vgpu_spec_parse("multiprocessors=66,small:2,link=2.5GB/s,memory=1TB/s,h200,"
					"launch-latency=5us,call-time=0s,d2h-engines=8,mhz=0.5",
					&spec, message, sizeof(message)),
		     0);
	for (uint32_t i = 0; i < 3; i++) {
		ts_check_int(spec.shapes[i].n_sm, 66);
		ts_check_int(spec.shapes[i].link_bytes_per_s, 2500000000);
		ts_check_int(spec.shapes[i].memory_bytes_per_s, 1000000000000);
		ts_check_int(spec.shapes[i].latency_ns, 5000);
		ts_check_int(spec.shapes[i].call_ns, 0);
		ts_check_int(spec.shapes[i].n_h2d_engines, 1);
		ts_check_int(spec.shapes[i].n_d2h_engines, 8);
		ts_check_int(spec.shapes[i].clock_khz, 500);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		message[0] = 0;
		ts_check_int(ts_vgpu_spec_parse(bad[i], &spec, message, sizeof(message)), -EINVAL);
		ts_check(strlen(message) > 10 && !strchr(message, '\n'));
	}
	ts_check(ts_vgpu_shape_at(1) && !ts_vgpu_shape_at(99));
}

TS_TEST(launches_take_what_the_spec_says)
{
	struct ts_vgpu *vgpu = machine("h200,launch-latency=2ms,call-time=3ms");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *a = stream(c, 0), *b = stream(c, 0);
	struct gate gate;
	uint64_t over_ns, ready_ns;

	kernel(a, 1, 1000000);
	ts_vgpu_call_over();
	over_ns = ts_vgpu_now_ns();
	/*
	 * The latency counts from the time an operation is queued: an operation that waits longer
	 * in its stream has no further latency.
	 */
	gate_close(&gate, vgpu, c);
	gate_hold(&gate, b);
	kernel(b, 2, 1000000);
	kernel(b, 3, 1000000);
	ts_vgpu_call_over();
	gate_open(&gate);
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	ts_check_int(op(1)->start_ns, op(1)->queued_ns + 2000000);
	ts_check(over_ns >= op(1)->queued_ns + 3000000);
	ts_check(op(2)->start_ns >= op(2)->queued_ns + 2000000);
	ready_ns = op(3)->queued_ns + 2000000;
	ts_check_int(op(3)->start_ns, op(2)->end_ns > ready_ns ? op(2)->end_ns : ready_ns);
	ts_vgpu_stream_free(a);
	ts_vgpu_stream_free(b);
	ts_vgpu_free(vgpu);
}

TS_TEST(a_stream_is_in_order_and_streams_overlap)
{
	struct ts_vgpu *vgpu = machine("h200");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *a = stream(c, 0), *b = stream(c, 0);
	struct gate gate;

	gate_close(&gate, vgpu, c);
	gate_hold(&gate, a);
	gate_hold(&gate, b);
	for (uint64_t i = 0; i < 20; i++) {
		kernel(a, 1 + i, 200000);
		kernel(b, 101 + i, 200000);
	}
	ts_check_int(ts_vgpu_stream_query(a), TS_VGPU_E_NOT_READY);
	gate_open(&gate);
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	ts_check_int(ts_vgpu_stream_query(a), 0);
	for (uint64_t i = 0; i < 20; i++) {
		const struct ts_vgpu_done *x = op(1 + i), *y = op(101 + i);

		ts_check(x->start_ns >= x->queued_ns);
		ts_check_int(x->end_ns - x->start_ns, 200000);
		ts_check(x->end_ns <= ts_vgpu_now_ns());
		ts_check(i == 0 || x->start_ns >= op(i)->end_ns);
		/* Two small kernels share the device. */
		ts_check(x->start_ns < y->end_ns && y->start_ns < x->end_ns);
	}
	ts_check(op(1)->stream_id != op(101)->stream_id);
	ts_vgpu_stream_free(a);
	ts_vgpu_stream_free(b);
	ts_vgpu_free(vgpu);
}

TS_TEST(the_legacy_stream_waits_and_is_waited_for)
{
	struct ts_vgpu *vgpu = machine("h200");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *blocking = stream(c, 0), *other = stream(c, 0);
	struct ts_vgpu_stream *free_stream = stream(c, TS_VGPU_STREAM_NON_BLOCKING);
	struct ts_vgpu_stream *legacy = ts_vgpu_context_legacy(c);
	struct gate gate;

	gate_close(&gate, vgpu, c);
	gate_hold(&gate, free_stream);
	gate_hold(&gate, blocking);
	kernel(free_stream, 1, 3000000);
	kernel(blocking, 2, 500000);
	kernel(legacy, 3, 500000);
	kernel(other, 4, 500000);
	kernel(blocking, 5, 500000);
	kernel(legacy, 6, 500000);
	gate_open(&gate);
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	ts_check(op(3)->start_ns >= op(2)->end_ns);
	ts_check(op(4)->start_ns >= op(3)->end_ns);
	ts_check(op(5)->start_ns >= op(3)->end_ns);
	ts_check(op(4)->start_ns < op(5)->end_ns && op(5)->start_ns < op(4)->end_ns);
	ts_check(op(6)->start_ns >= op(4)->end_ns && op(6)->start_ns >= op(5)->end_ns);
	ts_check(op(1)->start_ns < op(2)->end_ns && op(6)->end_ns < op(1)->end_ns);
	ts_check_int(op(3)->stream_id, 7);

	/*
	 * A wait for the legacy stream covers all operations that blocking streams had before the
	 * wait.
	 */
	kernel(blocking, 7, 1000000);
	ts_check_int(ts_vgpu_stream_synchronize(legacy), 0);
	ts_check(op(7)->end_ns);
	ts_vgpu_free(vgpu);
}

TS_TEST(a_wait_means_the_record_of_its_time)
{
	struct ts_vgpu *vgpu = machine("h200");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *a = stream(c, 1), *b = stream(c, 1);
	struct ts_vgpu_event *e, *never;
	uint64_t first, second;
	int go = 0;

	ts_check_int(ts_vgpu_event_new(vgpu, &e), 0);
	ts_check_int(ts_vgpu_event_new(vgpu, &never), 0);
	ts_check_int(ts_vgpu_event_query(never), 0);
	ts_check_int(ts_vgpu_event_synchronize(never), 0);
	ts_check_int(ts_vgpu_event_time(never, &first), TS_VGPU_E_NOT_RECORDED);
	ts_check_int(ts_vgpu_stream_wait(b, never, 0), 0);

	kernel(a, 1, 1000000);
	ts_check_int(ts_vgpu_event_record(e, a, 0), 0);
	ts_check_int(ts_vgpu_stream_wait(b, e, 0), 0);
	kernel(b, 2, 100000);
	/* The host function keeps the stream busy, however slow this thread is. */
	ts_check_int(ts_vgpu_host_function(a, block, &go, 0), 0);
	kernel(a, 3, 1000000);
	ts_check_int(ts_vgpu_event_record(e, a, 0), 0);
	ts_check_int(ts_vgpu_event_version(e), 2);
	ts_check_int(ts_vgpu_event_query(e), TS_VGPU_E_NOT_READY);
	ts_check_int(ts_vgpu_event_time(e, &second), TS_VGPU_E_NOT_READY);
	ts_check_int(ts_vgpu_stream_synchronize(b), 0);
	ts_check_int(ts_vgpu_event_query(e), TS_VGPU_E_NOT_READY);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	ts_check_int(ts_vgpu_event_synchronize(e), 0);
	ts_check_int(ts_vgpu_event_time(e, &second), 0);
	ts_check(op(2)->start_ns >= op(1)->end_ns && op(2)->end_ns < op(3)->end_ns);
	ts_check_int(second, op(3)->end_ns);
	ts_vgpu_event_free(e);
	ts_vgpu_event_free(never);
	ts_vgpu_free(vgpu);
}

TS_TEST(events_cross_devices_and_outlive_streams)
{
	struct ts_vgpu *vgpu = machine("small:2");
	struct ts_vgpu_context *c = context(vgpu, 0), *d = context(vgpu, 1);
	struct ts_vgpu_stream *a = stream(c, 0), *b = stream(d, 0);
	struct ts_vgpu_event *e;

	ts_check_int(ts_vgpu_event_new(vgpu, &e), 0);
	kernel(a, 1, 2000000);
	ts_check_int(ts_vgpu_event_record(e, a, 0), 0);
	ts_vgpu_stream_free(a);
	ts_check_int(ts_vgpu_stream_wait(b, e, 0), 0);
	kernel(b, 2, 1000);
	ts_vgpu_event_free(e);
	ts_check_int(ts_vgpu_stream_synchronize(b), 0);
	/* The first device may still be reporting operations that the second has waited for. */
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	ts_check(op(2)->start_ns >= op(1)->end_ns);
	ts_check_int(op(2)->device, 1);
	ts_check(op(1)->context_uid != op(2)->context_uid);
	ts_vgpu_free(vgpu);
}

struct seen {
	struct ts_vgpu *vgpu;
	uint64_t called_ns;
	int n;
};

static void host(void *arg)
{
	struct seen *seen = arg;
	struct timespec ts = {.tv_nsec = 2000000};

	seen->called_ns = ts_vgpu_now_ns();
	seen->n++;
	nanosleep(&ts, NULL);
}

TS_TEST(host_functions_run_between_what_surrounds_them)
{
	struct ts_vgpu *vgpu = machine("h200");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *a = stream(c, 0), *b = stream(c, 0);
	struct seen seen = {.vgpu = vgpu};
	struct gate gate;

	gate_close(&gate, vgpu, c);
	gate_hold(&gate, a);
	gate_hold(&gate, b);
	kernel(a, 1, 1000000);
	ts_check_int(ts_vgpu_host_function(a, host, &seen, 2), 0);
	kernel(a, 3, 1000);
	kernel(b, 4, 1000);
	gate_open(&gate);
	ts_check_int(ts_vgpu_stream_synchronize(b), 0);
	ts_check_int(ts_vgpu_stream_synchronize(a), 0);
	ts_check_int(seen.n, 1);
	ts_check(seen.called_ns >= op(1)->end_ns);
	ts_check(op(3)->start_ns >= seen.called_ns + 2000000);
	ts_check(op(4)->end_ns < op(2)->end_ns);
	ts_vgpu_free(vgpu);
}

TS_TEST(large_kernels_queue_and_copies_share_engines)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *s[4];
	uint64_t device, device2;
	struct gate gate;
	void *pinned;

	for (int i = 0; i < 4; i++)
		s[i] = stream(c, 1);
	/* Each kernel fills the device, so they run one after the other in any streams. */
	ts_check_int(try_kernel(s[0], 1, 500000, 1000, 0), 0);
	ts_check_int(try_kernel(s[1], 2, 500000, 1000, 0), 0);
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	ts_check(op(2)->start_ns >= op(1)->end_ns || op(1)->start_ns >= op(2)->end_ns);

	ts_check_int(ts_vgpu_alloc(c, 8 << 20, 0, NULL, &device), 0);
	ts_check_int(ts_vgpu_alloc(c, 8 << 20, 0, NULL, &device2), 0);
	ts_check_int(ts_vgpu_alloc_pinned(c, 16 << 20, 0, &pinned), 0);
	gate_close(&gate, vgpu, c);
	for (int i = 0; i < 4; i++)
		gate_hold(&gate, s[i]);
	kernel(s[0], 10, 3000000);
	ts_check_int(copy(s[1], device, at(pinned), 8 << 20, true, 11), 0);
	ts_check_int(copy(s[2], device2, at(pinned), 8 << 20, true, 12), 0);
	ts_check_int(copy(s[3], at(pinned) + (8 << 20), device, 8 << 20, true, 13), 0);
	gate_open(&gate);
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	/* One engine per direction: two uploads queue, a download overlaps them. */
	ts_check(op(12)->start_ns >= op(11)->end_ns || op(11)->start_ns >= op(12)->end_ns);
	ts_check(op(13)->start_ns < op(11)->end_ns || op(13)->start_ns < op(12)->end_ns);
	ts_check(op(11)->start_ns < op(10)->end_ns);
	/* 8 MiB at 12 GB/s. */
	ts_check(op(11)->end_ns - op(11)->start_ns > 690000);
	ts_check(op(11)->end_ns - op(11)->start_ns < 710000);
	ts_check_int(op(11)->u.copy.kind, TS_VGPU_COPY_H2D);
	ts_check_int(op(13)->u.copy.kind, TS_VGPU_COPY_D2H);
	ts_check_int(op(11)->u.copy.src_kind, TS_VGPU_MEMORY_PINNED);
	ts_vgpu_free(vgpu);
}

TS_TEST(copies_and_fills_move_bytes)
{
	struct ts_vgpu *vgpu = machine("small:2");
	struct ts_vgpu_context *c = context(vgpu, 0), *d = context(vgpu, 1);
	struct ts_vgpu_stream *s = ts_vgpu_context_legacy(c);
	enum {
		N = 300000
	};
	uint8_t *from = malloc(N), *to = malloc(N);
	uint64_t a, b, other;
	struct ts_vgpu_copy rect;
	struct ts_vgpu_fill fill;

	for (int i = 0; i < N; i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	ts_check_int(ts_vgpu_alloc(c, N, 0, NULL, &a), 0);
	ts_check_int(ts_vgpu_alloc(c, N, 0, NULL, &b), 0);
	ts_check_int(ts_vgpu_alloc(d, N, 0, NULL, &other), 0);
	ts_check_int(copy(s, a, at(from), N, false, 0), 0);
	ts_check_int(copy(s, b, a, N, true, 0), 0);
	ts_check_int(copy(s, other, b, N, true, 5), 0);
	ts_check_int(copy(s, at(to), other, N, false, 0), 0);
	ts_check(!memcmp(from, to, N));
	ts_check_int(op(5)->u.copy.kind, TS_VGPU_COPY_PEER);

	/*
	 * The call of an asynchronous copy from pageable memory returns after it has read the
	 * memory.
	 */
	memset(to, 0x55, 4096);
	ts_check_int(copy(s, a, at(to), 4096, true, 0), 0);
	memset(to, 0, 4096);
	ts_check_int(copy(s, at(to), a, 4096, true, 0), 0);
	ts_check(to[0] == 0x55 && to[4095] == 0x55);

	/* A rectangle from one pitched area into another. */
	rect = (struct ts_vgpu_copy){
		.src = b + 10,
		.dst = at(to),
		.width = 7,
		.height = 5,
		.depth = 2,
		.src_pitch = 100,
		.src_slice = 1000,
		.dst_pitch = 7,
		.dst_slice = 35,
	};
	ts_check_int(ts_vgpu_copy(s, &rect), 0);
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < 5; y++)
			ts_check(!memcmp(to + z * 35 + y * 7, from + 10 + z * 1000 + y * 100, 7));
	rect.src_slice = N;
	ts_check_int(ts_vgpu_copy(s, &rect), TS_VGPU_E_ADDRESS);

	fill = (struct ts_vgpu_fill){
		.dst = a, .value = 0x01020304, .element_bytes = 4, .width = 100, .height = 1};
	ts_check_int(ts_vgpu_fill(s, &fill), 0);
	fill = (struct ts_vgpu_fill){.dst = a + 400,
				     .value = 0xabcd,
				     .element_bytes = 2,
				     .width = 3,
				     .height = 4,
				     .pitch = 10};
	ts_check_int(ts_vgpu_fill(s, &fill), 0);
	fill.dst++;
	ts_check_int(ts_vgpu_fill(s, &fill), -EINVAL);
	ts_check_int(copy(s, at(to), a, 440, false, 0), 0);
	ts_check(to[0] == 4 && to[399] == 1);
	ts_check(to[400] == 0xcd && to[405] == 0xab && to[406] == 0x55 && to[430] == 0xcd);
	free(from);
	free(to);
	ts_vgpu_free(vgpu);
}

TS_TEST(memory_has_bounds)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *s = ts_vgpu_context_legacy(c);
	uint64_t a, b, free_before, free_after, total;
	struct ts_vgpu_range range;
	char local[64];
	void *host_memory, *backing;

	ts_vgpu_device_memory(ts_vgpu_device_at(vgpu, 0), &free_before, &total);
	ts_check_int(free_before, total);
	ts_check_int(total, 1 << 30);
	ts_check_int(ts_vgpu_alloc(c, 0, 0, NULL, &a), -EINVAL);
	ts_check_int(ts_vgpu_alloc(c, (1ull << 30) + 1, 0, NULL, &a), TS_VGPU_E_OUT_OF_MEMORY);
	ts_check_int(ts_vgpu_alloc(c, SIZE_MAX, 0, NULL, &a), TS_VGPU_E_OUT_OF_MEMORY);
	ts_check_int(ts_vgpu_alloc(c, 600 << 20, 0, NULL, &a), 0);
	ts_check_int(ts_vgpu_alloc(c, 600 << 20, 0, NULL, &b), TS_VGPU_E_OUT_OF_MEMORY);
	ts_check_int(ts_vgpu_free_memory(c, a + 512), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_free_memory(c, at(local)), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_free_memory(c, a), 0);
	ts_check_int(ts_vgpu_free_memory(c, a), TS_VGPU_E_NOT_OWNER);

	ts_check_int(ts_vgpu_alloc(c, 100, 0, NULL, &a), 0);
	ts_check_int(ts_vgpu_alloc(c, 100, 0, NULL, &b), 0);
	ts_check(a % 512 == 0 && b % 512 == 0 && a != b);
	ts_check_int(ts_vgpu_range_of(vgpu, a + 99, &range), 0);
	ts_check(range.start == a && range.bytes == 100 && !range.host);
	ts_check_int(range.kind, TS_VGPU_MEMORY_DEVICE);
	ts_check_int(ts_vgpu_range_of(vgpu, a + 100, &range), TS_VGPU_E_ADDRESS);
	ts_check_int(ts_vgpu_resolve(vgpu, a + 50, 50, &backing), 0);
	ts_check_int(ts_vgpu_resolve(vgpu, a + 50, 51, &backing), TS_VGPU_E_ADDRESS);
	/* Addresses beyond or between allocations are not host memory either. */
	ts_check_int(copy(s, a, at(local), 101, false, 0), TS_VGPU_E_ADDRESS);
	ts_check_int(copy(s, a + 200, at(local), 4, false, 0), TS_VGPU_E_ADDRESS);
	ts_check_int(copy(s, 0, at(local), 4, false, 0), TS_VGPU_E_ADDRESS);

	ts_check_int(ts_vgpu_alloc_pinned(c, 5000, 0, &host_memory), 0);
	memset(host_memory, 1, 5000);
	ts_check_int(ts_vgpu_range_of(vgpu, at(host_memory) + 10, &range), 0);
	ts_check_int(range.kind, TS_VGPU_MEMORY_PINNED);
	ts_check_int(ts_vgpu_unregister_host(c, host_memory), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_free_memory(c, at(host_memory)), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_free_pinned(c, host_memory), 0);
	ts_check_int(ts_vgpu_register_host(c, local, sizeof(local), 0), 0);
	ts_check_int(ts_vgpu_register_host(c, local + 8, 8, 0), TS_VGPU_E_REGISTERED);
	ts_check_int(ts_vgpu_free_pinned(c, local), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_unregister_host(c, local), 0);

	ts_check_int(ts_vgpu_alloc_managed(c, 100, 0, &b), 0);
	*(int *)(uintptr_t)b = 42;
	ts_check_int(copy(s, at(local), b, 4, false, 0), 0);
	ts_check_int(*(int *)local, 42);

	/* Freed memory can be allocated again in one piece. */
	ts_vgpu_device_memory(ts_vgpu_device_at(vgpu, 0), &free_after, &total);
	ts_check_int(free_before - free_after, 1024);
	ts_vgpu_context_free(c);
	c = context(vgpu, 0);
	ts_check_int(ts_vgpu_alloc(c, 1 << 30, 0, NULL, &a), 0);
	ts_vgpu_free(vgpu);
}

TS_TEST(memory_is_freed_in_stream_order)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *s = stream(c, 0);
	struct ts_vgpu_range range;
	uint64_t a;

	ts_check_int(ts_vgpu_alloc(c, 1000, 0, NULL, &a), 0);
	kernel(s, 1, ts_emulated() ? 500000000 : 2000000);
	ts_check_int(ts_vgpu_free_async(s, a, 0), 0);
	ts_check_int(ts_vgpu_free_async(s, a, 0), TS_VGPU_E_NOT_OWNER);
	ts_check_int(ts_vgpu_range_of(vgpu, a, &range), 0);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(ts_vgpu_range_of(vgpu, a, &range), TS_VGPU_E_ADDRESS);
	ts_vgpu_free(vgpu);
}

TS_TEST(device_memory_faults_on_the_host)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	uint64_t a;
	int status;
	pid_t pid;

	ts_check_int(ts_vgpu_alloc(c, 4096, 0, NULL, &a), 0);
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)(uintptr_t)a = 1;
		_exit(0);
	}
	ts_check(waitpid(pid, &status, 0) == pid);
	ts_check(WIFSIGNALED(status));
	ts_vgpu_free(vgpu);
}

struct launcher {
	struct ts_vgpu_stream *stream;
	int n;
};

static void *launch_many(void *arg)
{
	struct launcher *l = arg;

	for (int i = 0; i < TS_VGPU_MAX_PENDING + 10; i++) {
		kernel(l->stream, 1, 0);
		__atomic_store_n(&l->n, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

TS_TEST(pending_work_is_bounded)
{
	struct ts_vgpu *vgpu = machine("ideal");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct launcher l = {.stream = stream(c, 0)};
	struct timespec ts = {.tv_nsec = 10000000};
	pthread_t thread;
	int go = 0;

	ts_check_int(ts_vgpu_host_function(l.stream, block, &go, 0), 0);
	ts_check_int(pthread_create(&thread, NULL, launch_many, &l), 0);
	while (__atomic_load_n(&l.n, __ATOMIC_ACQUIRE) < TS_VGPU_MAX_PENDING - 1)
		nanosleep(&ts, NULL);
	nanosleep(&ts, NULL);
	ts_check_int(__atomic_load_n(&l.n, __ATOMIC_ACQUIRE), TS_VGPU_MAX_PENDING - 1);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ts_check_int(ts_vgpu_stream_synchronize(l.stream), 0);
	ts_check_int(the_log.n, TS_VGPU_MAX_PENDING + 11);
	ts_vgpu_free(vgpu);
}

TS_TEST(a_fault_ends_a_context_only)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0), *d = context(vgpu, 0);
	struct ts_vgpu_stream *s = stream(c, 0), *t = stream(d, 0);

	ts_check_int(try_kernel(s, 1, 1000, 1, 77), 0);
	ts_check_int(ts_vgpu_stream_synchronize(s), TS_VGPU_E_FAULTED);
	ts_check_int(ts_vgpu_context_error(c), 77);
	ts_check_int(try_kernel(s, 2, 1000, 1, 0), TS_VGPU_E_FAULTED);
	kernel(t, 3, 1000);
	ts_check_int(ts_vgpu_stream_synchronize(t), 0);
	ts_vgpu_free(vgpu);
}

/*
 * True if a kernel of half a second was reported before its end. A busy machine sometimes notices
 * too late.
 */
static bool is_reported_when_it_starts(struct ts_vgpu_stream *s, unsigned number)
{
	struct timespec ts = {.tv_nsec = 1000000};
	bool started = false, early = false;

	kernel(s, number, 500000000);
	while (!started) {
		nanosleep(&ts, NULL);
		pthread_mutex_lock(&the_log.lock);
		started = the_log.n_started == number;
		early = the_log.n < number;
		pthread_mutex_unlock(&the_log.lock);
	}
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(the_log.n, number);
	return early;
}

TS_TEST(long_kernels_are_reported_when_they_start)
{
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *s = stream(c, 0);
	unsigned n = 1;

	while (!is_reported_when_it_starts(s, n) && n < 20)
		n++;
	ts_check(n < 20);
	/* An observer that was removed gets no reports. */
	ts_vgpu_set_observer(vgpu, NULL);
	kernel(s, n + 1, 1000);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(the_log.n, n);
	ts_vgpu_free(vgpu);
}

TS_TEST(a_child_is_told)
{
	struct ts_vgpu *vgpu = machine("small");
	int status;
	pid_t pid;

	context(vgpu, 0);
	ts_check(!ts_vgpu_forked());
	pid = fork();
	ts_check(pid >= 0);
	if (!pid)
		_exit(ts_vgpu_forked() ? 0 : 1);
	ts_check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	ts_vgpu_free(vgpu);
}

static void *mix(void *arg)
{
	struct ts_vgpu_context *c = arg;
	struct ts_vgpu_stream *s = stream(c, 0), *t = stream(c, 0);
	struct ts_vgpu_stream *legacy = ts_vgpu_context_legacy(c);
	char from[256], to[256];
	struct ts_vgpu_event *e;
	uint64_t a;

	for (int i = 0; i < 200; i++) {
		memset(from, i, sizeof(from));
		ts_check_int(ts_vgpu_alloc(c, 256, 0, NULL, &a), 0);
		ts_check_int(ts_vgpu_event_new(the_machine, &e), 0);
		ts_check_int(copy(s, a, at(from), 256, true, 0), 0);
		ts_check_int(ts_vgpu_event_record(e, s, 0), 0);
		ts_check_int(ts_vgpu_stream_wait(t, e, 0), 0);
		kernel(t, 0, 100);
		if (i % 5 == 0)
			kernel(legacy, 0, 100);
		ts_check_int(copy(t, at(to), a, 256, true, 0), 0);
		ts_check(!memcmp(from, to, 256));
		ts_vgpu_event_free(e);
		ts_check_int(i % 2 ? ts_vgpu_free_async(t, a, 0) : ts_vgpu_free_memory(c, a), 0);
	}
	ts_check_int(ts_vgpu_stream_synchronize(t), 0);
	ts_vgpu_stream_free(s);
	ts_vgpu_stream_free(t);
	return NULL;
}

TS_TEST(threads_and_devices_mix)
{
	pthread_t threads[6];
	struct ts_vgpu_context *c[2];

	the_machine = machine("ideal:2");
	for (uint32_t i = 0; i < 2; i++)
		c[i] = context(the_machine, i);
	for (int i = 0; i < 6; i++)
		ts_check_int(pthread_create(&threads[i], NULL, mix, c[i % 2]), 0);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	ts_vgpu_free(the_machine);
}

struct edge {
	uint64_t time_ns;
	int change;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* At equal times an end comes before a start. */
	return x->change - y->change;
}

/* Returns the maximum use of a resource at one time by operations of a kind. */
static int peak(enum ts_vgpu_op_kind kind, int (*weight)(const struct ts_vgpu_done *))
{
	static struct edge edges[2 * LOG_MAX];
	int now = 0, most = 0;
	size_t n = 0;

	for (size_t i = 0; i < the_log.n; i++) {
		const struct ts_vgpu_done *d = &the_log.done[i];

		if (d->kind != kind || !weight(d))
			continue;
		edges[n++] = (struct edge){d->start_ns, weight(d)};
		edges[n++] = (struct edge){d->end_ns, -weight(d)};
	}
	qsort(edges, n, sizeof(edges[0]), by_time);
	for (size_t i = 0; i < n; i++) {
		now += edges[i].change;
		most = now > most ? now : most;
	}
	return most;
}

/*
 * Returns the number of multiprocessors that a kernel uses. Its blocks have one warp each: in the
 * small shape, a multiprocessor runs 16 of them, and there are 4 multiprocessors.
 */
static int n_sm(const struct ts_vgpu_done *d)
{
	uint32_t n = (d->u.kernel.grid.x + 15) / 16;

	return n > 4 ? 4 : (int)n;
}

static int is_upload(const struct ts_vgpu_done *d)
{
	return d->u.copy.kind == TS_VGPU_COPY_H2D;
}

static int is_download(const struct ts_vgpu_done *d)
{
	return d->u.copy.kind == TS_VGPU_COPY_D2H;
}

TS_TEST(any_timeline_keeps_order_and_capacity)
{
	enum {
		N = 3000,
		N_STREAMS = 6
	};
	struct ts_vgpu *vgpu = machine("small");
	struct ts_vgpu_context *c = context(vgpu, 0);
	struct ts_vgpu_stream *s[N_STREAMS];
	struct ts_vgpu_event *e[4];
	uint64_t last_end[64] = {0}, device;
	unsigned seed = 12345, n_jobs = 0;
	void *pinned;

	for (int i = 0; i < N_STREAMS; i++)
		s[i] = i ? stream(c, i % 2) : ts_vgpu_context_legacy(c);
	for (int i = 0; i < 4; i++)
		ts_check_int(ts_vgpu_event_new(vgpu, &e[i]), 0);
	ts_check_int(ts_vgpu_alloc(c, 65536, 0, NULL, &device), 0);
	ts_check_int(ts_vgpu_alloc_pinned(c, 65536, 0, &pinned), 0);
	for (int i = 0; i < N; i++) {
		unsigned what = (seed = seed * 1103515245 + 12345) >> 16 & 7;
		unsigned more = (seed = seed * 1103515245 + 12345) >> 16;
		struct ts_vgpu_stream *on = s[more % N_STREAMS];

		if (what < 4)
			ts_check_int(try_kernel(on, 1, more % 20000, 1 + more % 100, 0), 0);
		else if (what == 4)
			ts_check_int(copy(on, device, at(pinned), 1 + more % 65536, true, 1), 0);
		else if (what == 5)
			ts_check_int(copy(on, at(pinned), device, 1 + more % 65536, true, 1), 0);
		else if (what == 6)
			ts_check_int(ts_vgpu_event_record(e[more & 3], on, 0), 0);
		else
			ts_check_int(ts_vgpu_stream_wait(on, e[more & 3], 0), 0);
		n_jobs += what < 6;
	}
	ts_check_int(ts_vgpu_context_synchronize(c), 0);
	for (size_t i = 0; i < the_log.n; i++) {
		const struct ts_vgpu_done *d = &the_log.done[i];

		ts_check(d->queued_ns <= d->start_ns && d->start_ns <= d->end_ns);
		ts_check(d->start_ns >= last_end[d->stream_id]);
		last_end[d->stream_id] = d->end_ns;
		n_jobs -= d->tag == 1;
	}
	ts_check_int(n_jobs, 0);
	ts_check_int(peak(TS_VGPU_OP_KERNEL, n_sm), 4);
	ts_check_int(peak(TS_VGPU_OP_COPY, is_upload), 1);
	ts_check_int(peak(TS_VGPU_OP_COPY, is_download), 1);
	/* Compares the legacy stream's kernels with those of blocking streams. */
	for (size_t i = 0; i < the_log.n; i++) {
		const struct ts_vgpu_done *x = &the_log.done[i];

		for (size_t k = 0; x->stream_id == 7 && k < the_log.n; k++) {
			const struct ts_vgpu_done *y = &the_log.done[k];

			/* Streams 14 and 16 are the blocking ones. */
			if (y->stream_id == 14 || y->stream_id == 16)
				ts_check(x->end_ns <= y->start_ns || y->end_ns <= x->start_ns);
		}
	}
	for (int i = 0; i < 4; i++)
		ts_vgpu_event_free(e[i]);
	ts_vgpu_free(vgpu);
}

static void *churn(void *arg)
{
	struct ts_vgpu_context *c;
	uint64_t a;

	for (int i = 0; i < 50; i++) {
		c = context(the_machine, 0);
		kernel(ts_vgpu_context_legacy(c), 0, 20000);
		ts_check_int(ts_vgpu_alloc(c, 1000, 0, NULL, &a), 0);
		if (i % 2)
			ts_check_int(ts_vgpu_free_memory(c, a), 0);
		ts_vgpu_context_free(c);
	}
	return NULL;
}

TS_TEST(contexts_come_and_go)
{
	pthread_t threads[4];
	uint64_t free_bytes, total;

	the_machine = machine("small");
	for (int i = 0; i < 4; i++)
		ts_check_int(pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ts_vgpu_device_memory(ts_vgpu_device_at(the_machine, 0), &free_bytes, &total);
	ts_check_int(free_bytes, total);
	ts_vgpu_free(the_machine);
}
