// SPDX-License-Identifier: Apache-2.0
/*
 * Tests a machine without worker threads: a thread that waits for work executes it, on all devices,
 * and a query advances the work.
 */
#include <pthread.h>

#include "replay/vgpu/vgpu.h"
#include "test/unit/harness.h"

static void note_thread(void *userdata)
{
	*(pthread_t *)userdata = pthread_self();
}

static int run(void *userdata, const struct ts_vgpu_kernel_run *r,
	       struct ts_vgpu_kernel_work *ret_work)
{
	note_thread(userdata);
	ret_work->least_ns = 1000;
	return 0;
}

static struct ts_vgpu_stream *stream_of(struct ts_vgpu *vgpu, uint32_t device)
{
	struct ts_vgpu_context *context;
	struct ts_vgpu_stream *stream;

	ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(vgpu, device), &context), 0);
	ts_check_int(ts_vgpu_stream_new(context, 0, 0, &stream), 0);
	return stream;
}

static void kernel(struct ts_vgpu_stream *stream)
{
	const struct ts_vgpu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

	ts_check_int(ts_vgpu_launch(stream, &launch), 0);
}

TS_TEST(who_waits_does_the_work)
{
	static pthread_t ran_in, host_ran_in;
	static const struct ts_vgpu_executor executor = {.userdata = &ran_in, .run = run};
	struct ts_vgpu_spec spec;
	char message[160];
	uint32_t host[16] = {0};
	struct ts_vgpu *vgpu;
	struct ts_vgpu_stream *a, *b;
	struct ts_vgpu_event *event;
	uint64_t address;

	ts_check_int(ts_vgpu_spec_parse("small:2", &spec, message, sizeof(message)), 0);
	spec.without_workers = true;
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	ts_vgpu_set_executor(vgpu, &executor);
	ts_check_int(ts_vgpu_event_new(vgpu, &event), 0);
	a = stream_of(vgpu, 0);
	b = stream_of(vgpu, 1);
	ts_check_int(ts_vgpu_alloc(ts_vgpu_stream_context(b), sizeof(host), 0, NULL, &address), 0);

	/* One call executes work on one device that the other device waits for. */
	kernel(a);
	ts_check_int(ts_vgpu_event_record(event, a, 0), 0);
	ts_check_int(ts_vgpu_stream_wait(b, event, 0), 0);
	ts_check_int(ts_vgpu_fill(b, &(struct ts_vgpu_fill){.dst = address,
							    .width = 16,
							    .height = 1,
							    .value = 7,
							    .element_bytes = 4,
							    .async = true}),
		     0);
	ts_check(!ran_in);
	ts_check_int(ts_vgpu_copy(b, &(struct ts_vgpu_copy){.src = address,
							    .dst = (uint64_t)(uintptr_t)host,
							    .width = sizeof(host),
							    .height = 1,
							    .depth = 1}),
		     0);
	ts_check(pthread_equal(ran_in, pthread_self()));
	ts_check_int(host[15], 7);

	/* A query advances the work; host functions still have their own thread. */
	kernel(a);
	ts_check_int(ts_vgpu_host_function(a, note_thread, &host_ran_in, 0), 0);
	while (ts_vgpu_stream_query(a) == TS_VGPU_E_NOT_READY)
		;
	ts_check_int(ts_vgpu_stream_query(a), 0);
	ts_check(host_ran_in && !pthread_equal(host_ran_in, pthread_self()));
	kernel(b);
	ts_check_int(ts_vgpu_event_record(event, b, 0), 0);
	while (ts_vgpu_event_query(event) == TS_VGPU_E_NOT_READY)
		;
	ts_check_int(ts_vgpu_event_synchronize(event), 0);
	ts_vgpu_event_free(event);
	/* Freeing the machine completes work that no thread waited for. */
	kernel(a);
	ts_vgpu_free(vgpu);
}
